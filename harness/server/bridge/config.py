"""What a bridge may do: which pages may come, and which engines it starts. Read from a TOML file.

    origins = ["https://woogles.io"]      # pages that may connect; there is no other key it needs
    port = 8485
    tokens = "bridge.tokens"              # beside this file, if nothing is said
    max_engines = 4                       # at once

    [[engine]]
    id = "magpie"
    command = ["/opt/magpie/bin/magpie", "-mode", "siu"]
    folder = "/opt/magpie"                # its working directory
    environment = { OMP_NUM_THREADS = "2" }
    memory = 4096                         # MiB
    cores = 2

Paths are relative to the file, and ``~`` is the user's home. All is checked when the bridge starts.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from harness.seats.engines.process import Limits

__all__ = ["TILEWIRE", "BridgeConfig", "Launch", "read_config", "tokens_of"]

DEFAULT_PORT = 8485

_ROOT = Path(__file__).resolve().parents[3]
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from harness.cli import main; main()"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Launch:
    """The command of an engine and its limits."""

    id: str
    command: tuple[str, ...]
    folder: Path | None = None
    """Its working directory, by default the bridge's own."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the bridge's own."""
    limits: Limits = field(default_factory=Limits)


TILEWIRE = Launch(
    "tilewire", (sys.executable, "-P", "-c", _START, str(_ROOT), "siu", "--names-only")
)
"""tilewire itself, offered by every bridge without access to files of this machine; a configured
engine of the same id replaces it."""


@dataclass(frozen=True)
class BridgeConfig:
    """A checked configuration."""

    origins: frozenset[str]
    """Of the pages that may connect, as in the browsers' header ``Origin``."""
    tokens: Path
    engines: Mapping[str, Launch] = field(default_factory=lambda: {TILEWIRE.id: TILEWIRE})
    port: int = DEFAULT_PORT
    """0 for any free one."""
    max_engines: int = 4


class _Engine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    id: str
    command: tuple[str, ...]
    folder: str | None = None
    environment: dict[str, str] = {}
    memory: int = 0
    cores: int = 0

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", self.id):
            raise ValueError(f"id {self.id!r} is no word of 1 to 64 letters, digits, '.', '_', '-'")
        if not self.command or not self.command[0]:
            raise ValueError("command is empty; it is a program and its arguments")
        if any("=" in name or not name for name in self.environment):
            raise ValueError("environment has a name that is empty or has '=' in it")
        if "\0" in "".join((*self.command, *self.environment, *self.environment.values())):
            raise ValueError("no program can be given a text with a NUL in it")


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    origins: tuple[str, ...]
    port: int = DEFAULT_PORT
    tokens: str | None = None
    max_engines: int = 4
    engine: tuple[_Engine, ...] = ()

    def __post_init__(self) -> None:
        if not self.origins:
            raise ValueError('origins is empty; name a page, as in ["https://woogles.io"]')
        for origin in self.origins:
            _check_origin(origin)
        if not 0 <= self.port < 1 << 16:
            raise ValueError(f"port {self.port} is not in 0 to 65535")
        if self.max_engines < 1:
            raise ValueError(f"max_engines {self.max_engines} is less than 1")


def read_config(path: Path) -> BridgeConfig:
    """Read and check a configuration.

    Raises:
        ValueError: names the file, the key, and the fault.
        OSError: the file can't be read.
    """
    file = _read(path)
    here = path.absolute().parent
    engines = {TILEWIRE.id: TILEWIRE}
    for number, entry in enumerate(file.engine):
        where = f"{path}: engine[{number}] {entry.id!r}"
        if entry.id in (earlier.id for earlier in file.engine[:number]):
            raise ValueError(f"{where}: id is another engine's already")
        engines[entry.id] = _launch(entry, here, where)
    return BridgeConfig(
        origins=frozenset(file.origins),
        tokens=_tokens(path, file),
        engines=engines,
        port=file.port,
        max_engines=file.max_engines,
    )


def tokens_of(path: Path) -> Path:
    """Read a bridge's token path, whether or not its engines exist.

    Raises:
        ValueError: names the file, the key, and the fault.
        OSError: the file can't be read.
    """
    return _tokens(path, _read(path))


def _read(path: Path) -> _File:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File)
    except ValueError as error:
        sentence, _, where = str(error).partition(" - at `$.")
        key = where.rstrip("`")
        raise ValueError(f"{path}: {f'{key}: ' if key else ''}{sentence}") from None


def _tokens(path: Path, file: _File) -> Path:
    return _beside(path.absolute().parent, file.tokens or f"{path.stem}.tokens")


def _launch(entry: _Engine, here: Path, where: str) -> Launch:
    program, *arguments = entry.command
    if "/" in program:
        program = str(_beside(here, program))
    if shutil.which(program) is None:
        why = "may not be run" if Path(program).is_file() else "is not there"
        raise ValueError(f"{where}: command: {program} {why}")
    folder = None if entry.folder is None else _beside(here, entry.folder)
    if folder is not None and not folder.is_dir():
        raise ValueError(f"{where}: folder: {folder} is no folder")
    try:
        limits = Limits(entry.memory, entry.cores)
    except ValueError as error:
        raise ValueError(f"{where}: memory or cores: {error}") from None
    return Launch(entry.id, (program, *arguments), folder, entry.environment, limits)


def _beside(folder: Path, text: str) -> Path:
    return folder / Path(text).expanduser()


def _check_origin(origin: str) -> None:
    """Check that an origin is in browsers' form and can't be impersonated.

    Plain HTTP can be altered on the way, so only this machine's pages may use it. ``null`` is the
    origin of any file and any sandboxed frame.
    """
    try:
        parts = urlsplit(origin)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(f"origins: {origin!r} is no origin") from None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        raise ValueError(f"origins: {origin!r} is no origin such as https://woogles.io")
    name = f"[{host}]" if ":" in host else host
    suffix = "" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}"
    written = f"{parts.scheme}://{name}{suffix}"
    if origin != written or not written.isascii() or not re.fullmatch(r"[a-z0-9._:\[\]-]+", name):
        raise ValueError(f"origins: {origin!r} is never sent; browsers write {written!r}")
    if parts.scheme == "http" and host not in _LOCAL:
        raise ValueError(f"origins: {origin!r} can be forged on the way; only https can't")
