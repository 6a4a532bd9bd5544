"""Set before anything of ours is imported: kernels check their array bounds under test."""

from __future__ import annotations

import os

os.environ.setdefault("TILEWIRE_BOUNDSCHECK", "1")
