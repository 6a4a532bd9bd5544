"""Compilation of kernels: the decorators and settings that all of them share.

A kernel is a function that numba compiles without the interpreter lock (``nogil``), with C's
division rules and, when ``TILEWIRE_BOUNDSCHECK=1``, with every index checked. Compiled kernels are
kept on disk. numba does not notice a change of a file that the kernel's file imports; so the
directory is named by a hash of the kernel's file and of all files of ours that it imports, directly
or not, of the numba version, of the bounds check and of the CPU: a second environment, or the next
version, compiles only what differs.

``warm_up()`` compiles (or loads) what the imported modules registered with ``on_warm_up``, and
``freeze()`` then refuses compilation, which would otherwise stop a game for seconds.

With ``NUMBA_DISABLE_JIT=1`` kernels are plain Python functions on numpy's integers, for debugging.
So kernels widen narrow integers where they read them, and use ``lexicons.bits`` for arithmetic that
wraps around modulo 2⁶⁴.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numpy as np

from .cache import remove_unused, user_cache
from .lean_numba import CompileResultCacheImpl, FunctionCache, numba, rtsys

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")  # whether kernels run uncompiled
BOUNDSCHECK = os.environ.get("TILEWIRE_BOUNDSCHECK", "") == "1"

_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": BOUNDSCHECK,
}
_ROOT = Path(__file__).resolve().parent.parent
_OURS = frozenset({"lexicons", "engine", "bot", "harness"})

_DEFINITION = re.compile(rb"^(?:@\w|def \w+\(|class \w+[(:])", re.MULTILINE)

_COMPILING = (
    "compiling the search kernels (once for each kind of bot on this machine), 20 s to a minute"
)
_BUILDING = ("lexicons.build", "lexicons.cells")  # take seconds; the list is announced

_kernels: list[Any] = []
_warm_ups: list[Callable[[], object]] = []


def kernel(function: _F) -> _F:
    """Compile a function at its first call with each combination of types; keep it on disk."""
    dispatcher = helper(function)
    if not PLAIN:
        kept: Any = dispatcher
        if _cache_directory(_file_of(function)) is not None:
            kept._cache = _KernelCache(function)  # type: ignore[no-untyped-call]
        _kernels.append(kept)
    return dispatcher


def helper(function: _F) -> _F:
    """Compile a function that only kernels call; its code is kept as part of theirs."""
    compiled: _F = numba.njit(**_OPTIONS)(function)
    return compiled


def record_dtype(fields: Sequence[tuple[Any, ...]]) -> np.dtype[Any]:
    """Return a record type whose fields, nested too, are attributes in compiled and plain code.

    Raises:
        ValueError: a field is called like an attribute of every numpy record, such as ``size``.
    """
    taken = [field[0] for field in fields if hasattr(np.record, field[0])]
    if taken:
        raise ValueError(f"{taken[0]!r} is an attribute of every numpy record; name it otherwise")
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


def on_warm_up(function: _F) -> _F:
    """Register a function that calls kernels with the types they meet in games."""
    _warm_ups.append(function)
    return function


def warm_up() -> None:
    """Run the registered functions, in order."""
    for function in _warm_ups:
        function()


def waiting_for_warm_up() -> list[str]:
    """Name the modules that registered functions for ``warm_up``."""
    return sorted({function.__module__ for function in _warm_ups})


def announce_compilation(told: Callable[[str], None]) -> None:
    """Call ``told`` once with a sentence when search kernels compile (not when they are loaded)."""
    numba.core.event.register("numba:compile", _Teller(told))  # type: ignore[no-untyped-call]


class _Teller(numba.core.event.Listener):
    def __init__(self, told: Callable[[str], None]) -> None:
        self._told: Callable[[str], None] | None = told

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"]
        ours = any(function is dispatcher for dispatcher in _kernels)
        if ours and self._told is not None and function.py_func.__module__ not in _BUILDING:
            told, self._told = self._told, None
            told(_COMPILING)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


def freeze(frozen: bool = True) -> None:
    """Refuse new types to every kernel called so far; ``False`` allows them again."""
    for dispatcher in _kernels:
        if dispatcher.signatures:
            dispatcher.disable_compile(frozen)


def _file_of(function: Callable[..., Any]) -> Path:
    return Path(function.__code__.co_filename)


class _Locator:
    """Where numba keeps a kernel: by the content of its source files, not by their paths."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_file = str(_file_of(function))  # named in numba's warnings
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        return cls(function)

    def ensure_cache_path(self) -> None:
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True, mode=0o700)

    def get_cache_path(self) -> str:
        return str(_cache_directory(Path(self._py_file)))

    def get_source_stamp(self) -> str:
        return ""  # the directory's name has the hash of the source

    def get_disambiguator(self) -> str:
        return str(self._line)


class _KeptKernel(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012 (numba declares it so)


class _KernelCache(FunctionCache):
    """Cache that loads kernels without the compiler's tables: 0.1 s less per process."""

    _impl_class = _KeptKernel

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a compiled kernel, or return None."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


@cache
def _cache_directory(source: Path) -> Path | None:
    """Name the cache directory for the kernels of one file; None if it cannot be written."""
    digest = hashlib.sha256()
    for part in (numba.__version__, str(BOUNDSCHECK), llvmlite.binding.get_host_cpu_name()):
        digest.update(part.encode() + b"\0")
    try:
        for path in sorted(_with_imports(source)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
        directory = user_cache() / "kernels" / f"{source.stem}-{digest.hexdigest()[:20]}"
        is_new = not directory.exists()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.utime(directory)
        if is_new:
            remove_unused(directory.parent, "*")
    except OSError:
        return None
    return directory if _only_ours(directory) else None


def _only_ours(directory: Path) -> bool:
    """Return whether this user alone can write there, since numba executes what it finds."""
    status = directory.stat()
    return (
        status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        and os.access(directory, os.W_OK)
    )


def _with_imports(source: Path) -> set[Path]:
    visited: set[Path] = set()
    waiting = [source.resolve()]
    while waiting:
        path = waiting.pop()
        if path not in visited:
            visited.add(path)
            waiting.extend(_imports(path))
    return visited


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
