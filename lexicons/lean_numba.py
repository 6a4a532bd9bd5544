"""numba, leaner: imported without optional modules, and without compiling helpers twice.

The import saves each process 0.07 s of processor time. numba makes machine code of each function
that a kernel calls, with what that calls in turn, and then again as part of the kernel. Helpers
are only called by kernels, so ``compile_helper`` stops at LLVM's language, and the kernel is
optimized once, with all of its helpers: half of the time.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = [
    "CompileResult",
    "compile_helper",
    "compile_kernel",
    "dumps",
    "from_dtype",
    "intrinsic",
    "normalize_signature",
    "numba",
    "rtsys",
    "types",
]

_NEEDLESS = (
    "coverage",  # marks compiled lines as reached; a coverage run has loaded it before
    "scipy.linalg",  # tells whether there is a BLAS; numba has an inner product without
    "yaml",  # reads a file of settings in the current folder
)
"""Modules that numba imports if they are installed, and does without if not."""

_hidden = [name for name in _NEEDLESS if name not in sys.modules]
_collects = gc.isenabled()
gc.disable()
sys.modules.update(dict.fromkeys(_hidden))  # type: ignore[arg-type]  # None hides a module
try:
    import numba
    import numba.core.event
    import numba.np.arraymath
    from numba import types
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler, CompileResult
    from numba.core.compiler_machinery import register_pass
    from numba.core.runtime.nrt import rtsys
    from numba.core.serialize import dumps
    from numba.core.sigutils import normalize_signature
    from numba.core.typed_passes import NativeLowering
    from numba.extending import intrinsic
    from numba.np.numpy_support import from_dtype
finally:
    for _name in _hidden:
        del sys.modules[_name]
    gc.freeze()  # numba's 90,000 objects stay, so that collections can skip them
    if _collects:
        gc.enable()


def compile_kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Return numba's dispatcher of a function that Python calls."""
    options["no_cfunc_wrapper"] = True  # nobody calls it from C
    return numba.njit(pipeline_class=_KernelCompiler, **options)(function)


def compile_helper(function: Callable[..., Any], **options: Any) -> Any:
    """Return numba's dispatcher of a function that only kernels and helpers call."""
    options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    dispatcher = numba.njit(pipeline_class=_HelperCompiler, **options)(function)
    if hasattr(dispatcher, "overloads"):  # it is no dispatcher where the JIT is off

        def compile_once(signature: Any) -> Any:
            """Compile for a signature, without what numba does to call it from Python."""
            arguments, returned = normalize_signature(signature)
            done = dispatcher.overloads.get(tuple(arguments))
            if done is None:
                done = dispatcher._compiler.compile(arguments, returned)
                dispatcher.overloads[tuple(arguments)] = done
            return done.entry_point

        dispatcher.compile = compile_once
    return dispatcher


class _HelperLibrary(JITCodeLibrary):
    """The LLVM code of one helper, which is optimized as a part of kernels."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True


class _KernelLibrary(JITCodeLibrary):
    """The code of a kernel and all helpers that it calls, directly or not, each once."""

    def finalize(self) -> None:
        every: dict[Any, None] = {}
        waiting = list(self._linking_libraries)
        while waiting:
            library = waiting.pop(0)
            if library not in every:
                every[library] = None
                if isinstance(library, _HelperLibrary):
                    waiting.extend(library._linking_libraries)
        self._linking_libraries = list(every)
        super().finalize()


class _Helper:
    """Stands for the compiled helper in numba's tables."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: object) -> NoReturn:
        raise TypeError(f"{self._name} is a helper: only kernels can call it")


@register_pass(mutates_CFG=True, analysis_only=False)
class _HelperLowering(NativeLowering):
    _name = "helper_lowering"

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        state.library = _HelperLibrary(state.targetctx.codegen(), name)
        state.flags.no_compile = True
        super().run_pass(state)
        helper = _Helper(name)
        state["cr"] = state["cr"]._replace(cfunc=helper)
        state.targetctx.insert_user_function(helper, state["cr"].fndesc, [state.library])
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        super().run_pass(state)
        return True


class _KernelCompiler(Compiler):
    lowering: type[NativeLowering] = _KernelLowering

    def define_pipelines(self) -> Any:
        (pipeline,) = super().define_pipelines()
        pipeline.passes = [
            (self.lowering if each is NativeLowering else each, what)
            for each, what in pipeline.passes
        ]
        pipeline._finalized = False
        pipeline.finalize()
        return [pipeline]


class _HelperCompiler(_KernelCompiler):
    lowering = _HelperLowering
