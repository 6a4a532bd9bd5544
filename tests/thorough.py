"""How much tests look at: a part each time, and all of it with ``TILEWIRE_THOROUGH=1``."""

from __future__ import annotations

import os


def some(usual: int, thorough: int) -> int:
    """Return how many games, histories or frames are looked at now."""
    return thorough if os.environ.get("TILEWIRE_THOROUGH") else usual
