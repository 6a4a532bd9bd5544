"""What a bridge may do: which pages may come, and which engines it starts. Read from a TOML file.

    origins = ["https://woogles.io"]      # pages that may connect; the only key that is required
    port = 8485
    tokens = "bridge.tokens"              # beside this file, if nothing is said
    max_engines = 4                       # at once

    [[engine]]
    id = "strong"
    command = ["/opt/strong/engine", "siu"]   # any program that speaks SIU
    folder = "/opt/strong"                # its working directory
    environment = { OMP_NUM_THREADS = "2" }
    memory = 4096                         # MiB
    cores = 2

Paths are relative to the file, and ``~`` is the user's home. All is checked when the bridge starts.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from bot.seat.child_process import Limits
from harness.arbiter.clock import is_loopback
from harness.config_file import read_config_file

_ROOT = Path(__file__).resolve().parents[3]
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tilewire import main; main()"
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """The command of an engine and its limits."""

    id: str
    command: tuple[str, ...]
    folder: str | None = None
    """Its working directory, by default the bridge's own."""
    environment: dict[str, str] = {}
    """Added to the bridge's own."""
    memory: int = 0
    """Most address space, in MiB; 0: unlimited."""
    cores: int = 0
    """Number of cores; 0: all."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", self.id):
            raise ValueError(f"id {self.id!r} must be 1 to 64 letters, digits, '.', '_' or '-'")
        if not self.command or not self.command[0]:
            raise ValueError("command is empty; it is a program and its arguments")
        if any("=" in name or not name for name in self.environment):
            raise ValueError("environment has a name that is empty or has '=' in it")
        if "\0" in "".join((*self.command, *self.environment, *self.environment.values())):
            raise ValueError("no program can be given a text with a NUL in it")

    def found(self, here: Path) -> Launch:
        """Return this with absolute paths; relative ones are in ``here``.

        Raises:
            ValueError: the program or folder is missing, or the limits can't be set.
        """
        program, *arguments = self.command
        if "/" in program:
            program = _beside(here, program)
        if shutil.which(program) is None:
            why = "may not be run" if Path(program).is_file() else "is not there"
            raise ValueError(f"command: {program} {why}")
        folder = None if self.folder is None else _beside(here, self.folder)
        if folder is not None and not Path(folder).is_dir():
            raise ValueError(f"folder: {folder} is no folder")
        try:
            Limits(self.memory, self.cores)
        except ValueError as error:
            raise ValueError(f"memory or cores: {error}") from None
        return msgspec.structs.replace(self, command=(program, *arguments), folder=folder)


TILEWIRE = Launch(
    id="tilewire", command=(sys.executable, "-P", "-c", _START, str(_ROOT), "siu", "--names-only")
)
"""tilewire itself, offered by every bridge without access to files of this machine; a configured
engine of the same id replaces it."""


class BridgeConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration; ``read_config`` makes its paths absolute."""

    origins: tuple[str, ...]
    """Origins of the pages that may connect, as in the browsers' header ``Origin``."""
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8485
    """0 for any free port."""
    tokens: str = ""
    max_engines: Annotated[int, Meta(ge=1)] = 4
    engine: tuple[Launch, ...] = ()

    def __post_init__(self) -> None:
        if not self.origins:
            raise ValueError('origins is empty; name a page, as in ["https://woogles.io"]')
        for origin in self.origins:
            _check_origin(origin)

    @property
    def engines(self) -> dict[str, Launch]:
        """All engines by id."""
        return {launch.id: launch for launch in (TILEWIRE, *self.engine)}


def read_config(path: Path) -> BridgeConfig:
    """Read and check a configuration.

    Raises:
        ValueError: names the file, the key, and the fault.
    """
    config = _read(path)
    engines: dict[str, Launch] = {}
    for number, launch in enumerate(config.engine):
        where = f"{path}: engine[{number}] {launch.id!r}"
        if launch.id in engines:
            raise ValueError(f"{where}: id is another engine's already")
        try:
            engines[launch.id] = launch.found(path.absolute().parent)
        except (ValueError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise ValueError(f"{where}: {why}") from None
    return msgspec.structs.replace(config, engine=tuple(engines.values()))


def tokens_of(path: Path) -> Path:
    """Read a bridge's token path, whether or not its engines exist.

    Raises:
        ValueError: names the file, the key, and the fault.
    """
    return Path(_read(path).tokens)


def _read(path: Path) -> BridgeConfig:
    """Read a configuration without looking for its engines."""
    config = read_config_file(path, BridgeConfig)
    tokens = _beside(path.absolute().parent, config.tokens or f"{path.stem}.tokens")
    return msgspec.structs.replace(config, tokens=tokens)


def _beside(folder: Path, text: str) -> str:
    try:
        return str(folder / Path(text).expanduser())
    except RuntimeError:
        raise ValueError(f"{text[:80]!r}: nobody of that name has a home here") from None


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
        raise ValueError(f"origins: {origin!r} is not how browsers write it; write {written!r}")
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError(f"origins: {origin!r} can be forged on the way; only https can't")
