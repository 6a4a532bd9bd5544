"""Compilation of kernels: the decorators and settings that all of them share.

A kernel is a function that numba compiles without the interpreter lock (``nogil``), with C's
division rules and, when ``TILEWIRE_BOUNDSCHECK=1``, with every index checked. Its annotations are
its types, so that it can be compiled before anything calls it: an array of ``lexicons.arrays`` has
one dimension, ``Annotated[U8, 2]`` two, ``Annotated[Any, SEARCH_STATE]`` is an array of records,
``READ_ONLY`` marks arrays that the caller may not write; tuples and named tuples have the types of
their fields, ``int`` is int64. Compiled kernels are kept on disk (``kernel_cache``).

``load()`` loads all kernels of the imported modules, compiling those that are not kept, and
``freeze()`` then refuses compilation, which would otherwise stop a game for seconds.

With ``NUMBA_DISABLE_JIT=1`` kernels are plain Python functions on numpy's integers, for debugging.
So kernels widen narrow integers where they read them, and use ``lexicons.bits`` for arithmetic that
wraps around modulo 2⁶⁴.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from .arrays import READ_ONLY
from .kernel_cache import BOUNDSCHECK, KernelName, compiling, keep_kernel, read_kernel
from .lean_numba import (
    CompileResult,
    compile_helper,
    compile_kernel,
    dumps,
    from_dtype,
    normalize_signature,
    rtsys,
    types,
)

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")  # whether kernels run uncompiled

_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": BOUNDSCHECK,
}
_SCALARS = {
    int: types.int64,
    float: types.float64,
    bool: types.boolean,
    np.uint64: types.uint64,
}

_OURS = frozenset({"lexicons", "engine", "bot", "harness"})

_kernels: list[Any] = []


def kernel(function: _F) -> _F:
    """Compile a function at its first call with each combination of types; keep it on disk."""
    dispatcher: Any = compile_kernel(function, **_OPTIONS)
    if not PLAIN:
        dispatcher._cache = _KernelCache(function)
        _kernels.append(dispatcher)
    compiled: _F = dispatcher
    return compiled


def helper(function: _F) -> _F:
    """Compile a function that only kernels call; its code is a part of theirs."""
    compiled: _F = compile_helper(function, **_OPTIONS)
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


def types_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return numba's types of a kernel's arguments, by its annotations.

    Raises:
        TypeError: an annotation has no type, or ``Any``.
    """
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    return tuple(_type_of(hint, f"{function.__name__}: {name}") for name, hint in hints.items())


def _type_of(hint: Any, where: str) -> Any:
    """Return the type that an annotation stands for."""
    marks = getattr(hint, "__metadata__", ())
    base = hint.__origin__ if marks else hint
    writable = READ_ONLY not in marks
    for mark in marks:
        if isinstance(mark, np.dtype):
            return types.Array(from_dtype(mark), 1, "C", readonly=not writable)
    if get_origin(base) is np.ndarray:
        scalar = get_args(get_args(base)[1])[0]
        dimensions = next((mark for mark in marks if isinstance(mark, int)), 1)
        return types.Array(from_dtype(np.dtype(scalar)), dimensions, "C", readonly=not writable)
    if get_origin(base) is tuple:
        return types.BaseTuple.from_types([_type_of(part, where) for part in get_args(base)])
    if hasattr(base, "_fields"):
        fields = get_type_hints(base, include_extras=True)
        parts = [_type_of(fields[name], f"{where}.{name}") for name in base._fields]
        return types.BaseTuple.from_types(parts, base)
    if base not in _SCALARS:
        raise TypeError(f"{where}: a kernel can't be compiled for {hint}")
    return _SCALARS[base]


def load() -> None:
    """Load our kernels of all imported modules; compile those that are not kept."""
    for dispatcher in _kernels:
        if dispatcher.py_func.__module__.partition(".")[0] not in _OURS:
            continue
        if (declared := types_of(dispatcher.py_func)) not in dispatcher.overloads:
            dispatcher.compile(declared)


def kernel_modules() -> list[str]:
    """Name the imported modules that have kernels."""
    return sorted({dispatcher.py_func.__module__ for dispatcher in _kernels})


def compile_alone(module: str, name: str, *, wait: bool) -> str:
    """Compile a kernel of ours into the cache; return ``compiled``, or ``loaded`` if it is there.

    Return ``busy`` while another process compiles it, unless ``wait`` is true.
    """
    dispatcher = getattr(import_module(module), name)
    file = KernelName(Path(dispatcher.py_func.__code__.co_filename).resolve(), name).file
    if file is not None and not wait:
        with compiling(file, wait=False) as has_lock:
            if not has_lock:
                return "busy"
    dispatcher.compile(types_of(dispatcher.py_func))
    return "loaded" if dispatcher.stats.cache_hits else "compiled"


def freeze(frozen: bool = True) -> None:
    """Refuse new types to every kernel that is loaded; ``False`` allows them again."""
    for dispatcher in _kernels:
        if dispatcher.signatures:
            dispatcher.disable_compile(frozen)


class _KernelCache:
    """One kernel's compiled code on disk, as numba asks for it.

    It loads kernels without the compiler's tables: 0.1 s less per process. Between a vain
    ``load_overload`` and ``save_overload`` this process holds the lock on the kernel.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = KernelName(Path(function.__code__.co_filename).resolve(), function.__name__)
        self.cache_path = str(self._name.file)
        self._locks = ExitStack()

    def load_overload(self, signature: Any, target_context: Any) -> CompileResult | None:
        """Load a compiled kernel; None: it is to be compiled."""
        rtsys.initialize(target_context)
        file = self._file(signature)
        if file is None:
            return None
        if (payload := read_kernel(file)) is None:
            self._locks.enter_context(compiling(file))
            payload = read_kernel(file)  # another process may have compiled it meanwhile
            if payload is None:
                return None
            self._locks.close()
        loaded: CompileResult = CompileResult._rebuild(target_context, *pickle.loads(payload))
        return loaded

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel, if the disk takes it."""
        file = self._file(signature)
        with self._locks, suppress(OSError):
            if file is not None and not compiled.library.has_dynamic_globals:
                keep_kernel(file, dumps(compiled._reduce()))

    @cached_property
    def _declared(self) -> tuple[Any, ...] | None:
        """The types by its annotations; None if these are not complete, as in a test's kernel."""
        with suppress(TypeError):
            return types_of(self._function)
        return None

    def _file(self, signature: Any) -> Path | None:
        """Return the file for these types; by the kernel's name alone if they are the declared."""
        file = self._name.file
        arguments = normalize_signature(signature)[0]
        if file is None or arguments == self._declared:
            return file
        digest = hashlib.sha256(str(arguments).encode()).hexdigest()[:16]
        return file.with_name(f"{file.stem}-{digest}.kernel")
