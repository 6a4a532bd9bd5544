"""numba, imported without optional modules: saves each process 0.07 s of processor time."""

from __future__ import annotations

import gc
import sys

__all__ = ["CompileResultCacheImpl", "FunctionCache", "intrinsic", "numba", "rtsys", "types"]

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
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
    from numba.core.runtime.nrt import rtsys
    from numba.extending import intrinsic
finally:
    for _name in _hidden:
        del sys.modules[_name]
    gc.freeze()  # numba's 90,000 objects stay, so that collections can skip them
    if _collects:
        gc.enable()
