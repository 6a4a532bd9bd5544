"""numba, imported without what it loads besides: 0.07 s of processor less for each process."""

from __future__ import annotations

import gc
import sys

__all__ = ["CompileResultCacheImpl", "FunctionCache", "intrinsic", "numba", "rtsys", "types"]

_NEEDLESS = (
    "coverage",  # to mark compiled lines as reached; whoever measures has it loaded before
    "scipy.linalg",  # to learn whether there is a BLAS; without it numba has an inner product
    "yaml",  # for a file of settings in the current folder
)
"""What numba imports if it is installed, and does without if it isn't."""

_hidden = [name for name in _NEEDLESS if name not in sys.modules]
_collects = gc.isenabled()
gc.disable()
sys.modules.update(dict.fromkeys(_hidden))  # type: ignore[arg-type]  # None: there is none
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
    gc.freeze()  # numba's 90,000 objects stay: no collection need look at them
    if _collects:
        gc.enable()
