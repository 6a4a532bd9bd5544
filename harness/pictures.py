"""Figures in PNG files, all in one style."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lexicons.cache import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS = 110  # an inch


@contextmanager
def picture(path: str | Path, width: float, height: float) -> Iterator[Figure]:
    """Yield an empty figure, measured in inches; a PNG file is written or replaced after the block.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    yield figure
    with replacing(Path(path)) as temporary:
        figure.savefig(temporary, format="png", dpi=_DOTS)
