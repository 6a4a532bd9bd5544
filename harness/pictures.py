"""Figures in PNG files, all in one style; matplotlib, which draws them, is an extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from harness.writing import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS = 110  # an inch


def why_no_pictures() -> str:
    """Return why pictures can't be drawn here, and what to install; '' if they can."""
    if find_spec("matplotlib"):
        return ""
    return (
        "pictures take matplotlib: pip install 'tilewire[plots]', or in a clone "
        ".venv/bin/pip install -e '.[plots]'"
    )


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
