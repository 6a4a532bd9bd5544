"""Compiled kernels on disk: where each is kept, whether it is there, and who is compiling it.

The file of a kernel is ``kernels/MODULE-HASH/NAME.kernel`` in the user's cache. The hash is that of
the kernel's source file and of all files of ours that it imports, directly or not, of the versions
of Python and numba, of the bounds check and of the processor. So a second environment, or the next
version, compiles only what differs, and two versions share a cache. A file begins with the digest
of the rest: one that was cut short counts as missing.

A process compiles a kernel under a lock on ``NAME.lock``, which ends with the process, so that
others wait for the kernel instead of compiling it again. This module needs no numba, so that a
command knows in milliseconds whether its kernels are there.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import os
import platform
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from .cache import remove_unused, replacing, user_cache

BOUNDSCHECK = os.environ.get("TILEWIRE_BOUNDSCHECK", "") == "1"

_ROOT = Path(__file__).resolve().parent.parent
_OURS = frozenset({"lexicons", "engine", "bot", "harness"})
_DEFINITION = re.compile(rb"^(?:@\w|def \w+\(|class \w+[(:])", re.MULTILINE)
_KERNEL = re.compile(rb"^@kernel\ndef (\w+)\(", re.MULTILINE)
_PROCESSOR = re.compile(r"^(?:model name|flags|Features|CPU part)\b.*", re.MULTILINE)


class KernelName(NamedTuple):
    """A kernel, by its source file and its name there."""

    source: Path
    name: str

    @property
    def module(self) -> str:
        """The module that it is in."""
        return ".".join(self.source.relative_to(_ROOT).with_suffix("").parts)

    @property
    def file(self) -> Path | None:
        """Where it is kept; None if there is no cache that can be used."""
        folder = _folder(self.source)
        return None if folder is None else folder / f"{self.name}.kernel"

    @property
    def effort(self) -> int:
        """Roughly how long it takes to compile: the size of its source and of what that imports."""
        return sum(path.stat().st_size for path in _closure(self.source))

    @property
    def is_kept(self) -> bool:
        """Whether it is there, ready to be loaded."""
        return self.file is not None and self.file.exists()


def kernels_of(modules: Iterable[str]) -> list[KernelName]:
    """List the kernels in modules of ours and in all that they import as they are imported."""
    sources = {path for name in modules for path in _closure(_source(name))}
    return [
        KernelName(source, name.decode())
        for source in sorted(sources)
        for name in _KERNEL.findall(source.read_bytes())
    ]


def read_kernel(file: Path) -> bytes | None:
    """Return what was kept in a kernel's file; None if it is missing or damaged."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    digest, payload = content[:size], content[size:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def keep_kernel(file: Path, payload: bytes) -> None:
    """Write a kernel's file; raise OSError if that is not possible."""
    with replacing(file) as temporary:
        temporary.write_bytes(hashlib.sha256(payload).digest() + payload)


@contextmanager
def compiling(file: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock on compiling a kernel; yield False, without it, if it is taken or can't be had.

    ``wait`` says whether to wait while another process holds it.
    """
    try:
        handle = os.open(file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # taken, or a file system without locks
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def cache_problem() -> str:
    """Return why compiled kernels can't be kept, as a sentence; empty if they can."""
    try:
        folder = user_cache() / "kernels"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        return f"compiled kernels can't be kept, so each process compiles them anew: {error}"
    if _only_ours(folder):
        return ""
    status = folder.stat()
    if status.st_uid != os.getuid():
        reason = "belongs to another user"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = "may be written by other users, who could put code there"
    else:
        reason = "can't be written"
    return (
        f"compiled kernels can't be kept, so each process compiles them anew: {folder} {reason}; "
        "set TILEWIRE_CACHE to a folder of your own"
    )


def forget_folders() -> None:
    """Look anew for the cache, whose place has changed."""
    _folder.cache_clear()


@cache
def _folder(source: Path) -> Path | None:
    """Return the folder for the kernels of one file, made if need be; None if it can't be used."""
    digest = hashlib.sha256()
    for part in (
        sys.implementation.cache_tag,
        version("numba"),
        str(BOUNDSCHECK),
        _describe_processor(),
    ):
        digest.update(part.encode() + b"\0")
    try:
        for path in sorted(_closure(source)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
        folder = user_cache() / "kernels" / f"{source.stem}-{digest.hexdigest()[:20]}"
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_new:
            remove_unused(folder.parent, "*")
        else:
            os.utime(folder)
    except OSError:
        return None
    return folder if _only_ours(folder.parent) and _only_ours(folder) else None


@cache
def _describe_processor() -> str:
    """Describe the processor and what it can do, and what numba is told to assume instead."""
    assumed = [os.environ.get(f"NUMBA_CPU_{what}", "") for what in ("NAME", "FEATURES")]
    try:
        described = _PROCESSOR.findall(Path("/proc/cpuinfo").read_text())
    except OSError:
        described = [platform.processor()]
    return "\n".join((platform.machine(), *assumed, *sorted(set(described))))


def _only_ours(folder: Path) -> bool:
    """Return whether this user alone can write there, since what is loaded from it is executed."""
    status = folder.stat()
    return (
        status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        and os.access(folder, os.W_OK)
    )


def _source(module: str) -> Path:
    return next(_module_files({module}))


@cache
def _closure(source: Path) -> frozenset[Path]:
    """Return a file and all files of ours that it imports, directly or not."""
    visited: set[Path] = set()
    waiting = [source.resolve()]
    while waiting:
        path = waiting.pop()
        if path not in visited:
            visited.add(path)
            waiting.extend(_imports(path))
    return frozenset(visited)


@cache
def _imports(source: Path) -> tuple[Path, ...]:
    names: set[str] = set()
    head = _DEFINITION.split(source.read_bytes(), maxsplit=1)[0]  # imports stand above
    for node in ast.parse(head).body:  # a kernel itself can't import
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _imported_module(node, source)
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return tuple(_module_files(names))


def _imported_module(node: ast.ImportFrom, source: Path) -> str:
    if not node.level or not source.is_relative_to(_ROOT):
        return node.module or ""
    package = source.relative_to(_ROOT).parts[: -node.level]
    return ".".join((*package, node.module) if node.module else package)


def _module_files(names: set[str]) -> Iterator[Path]:
    for name in names:
        if name.partition(".")[0] in _OURS:
            module = _ROOT.joinpath(*name.split("."))
            for path in (module.with_suffix(".py"), module / "__init__.py"):
                if path.is_file():
                    yield path
