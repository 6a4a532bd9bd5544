"""Charts as SVG, drawn from numbers: columns and ranges, coloured by the page's style sheet.

Names are escaped; text stays text. A chart is ``WIDTH`` units wide, which is its smallest size on a
screen, in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

WIDTH = 320
LEFT, RIGHT = 44, 8
"""Margins beside the drawing; the scale of columns stands at its left."""
TOP, HEIGHT, BELOW = 8, 96, 20
"""Heights of a chart of columns: the space above, the columns, and their labels."""
ROW = 34
"""Height of a range and its name."""
LETTER = 7
"""Width of a digit; labels that would touch are left out."""

Write = Callable[[float], str]


class Bar(NamedTuple):
    """A column of a chart."""

    label: str
    value: float
    told: str
    """Text that is read aloud, or shown under the mouse."""
    below: bool = False
    """Whether it is drawn as a loss."""


class Range(NamedTuple):
    """A range with its middle, and a box about it; None is unknown, or an open end."""

    name: str
    low: float | None
    middle: float | None
    high: float | None
    told: str
    box: tuple[float, float] | None = None


def columns(
    title: str, bars: Sequence[Bar], write: Write, *, zero: int | None = None, least: float = 0.0
) -> Markup:
    """Draw columns from 0.

    With ``zero``, the index of the column that begins at 0, labels are the lower edges of columns,
    as in a histogram. Lines of the scale are at least ``least`` apart.
    """
    top = max((bar.value for bar in bars), default=0.0) or 1.0
    step = (WIDTH - LEFT - RIGHT) / max(len(bars), 1)
    base = TOP + HEIGHT
    parts = []
    for tick in ticks(0, top, 3, least):
        y = base - HEIGHT * tick / top
        line = Markup('<path class="grid" d="M{} {:.1f}H{}"/>').format(LEFT, y, WIDTH - RIGHT)
        parts += [line, _text(LEFT - 4, y + 4, write(tick), "end")]
    for index, bar in enumerate(bars):
        height = HEIGHT * bar.value / top
        parts.append(
            Markup(
                '<rect class="bar{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">'
                "<title>{}</title></rect>"
            ).format(
                " loss" if bar.below else "",
                *(LEFT + index * step + 0.5, base - height, max(step - 1, 0.5), height, bar.told),
            )
        )
    if zero is not None:
        parts.append(_upright(LEFT + zero * step, TOP, base, "zero"))
    free = 0.0
    for index, bar in enumerate(bars):
        middle = LEFT + (index + 0.5 * (zero is None)) * step  # an edge, or the column itself
        half = len(bar.label) * LETTER / 2
        if bar.label and middle - half >= free:
            parts.append(_text(middle, base + 14, bar.label, "middle"))
            free = middle + half + LETTER
    return _svg(title, base + BELOW, parts)


def ranges(title: str, rows: Sequence[Range], write: Write) -> Markup:
    """Draw ranges on one scale, each under its name; an open end has an arrow."""
    ends = [end for row in rows for end in (row.low, row.middle, row.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = (high - low or 1.0) * 0.06
    low, high = low - room, high + room
    inside = WIDTH - 2 * RIGHT

    def x(value: float) -> float:
        return RIGHT + inside * (value - low) / (high - low)

    base = ROW * len(rows)
    parts = []
    for tick in ticks(low, high, 5):
        parts.append(_upright(x(tick), 0, base, "grid"))
        half = len(write(tick)) * LETTER / 2
        if half <= x(tick) <= WIDTH - half:
            parts.append(_text(x(tick), base + 14, write(tick), "middle"))
    for index, row in enumerate(rows):
        parts.append(_range(row, ROW * index, x))
    return _svg(title, base + BELOW, parts)


def _range(row: Range, top: float, x: Callable[[float], float]) -> Markup:
    line = top + 24
    left = RIGHT if row.low is None else x(row.low)
    right = WIDTH - RIGHT if row.high is None else x(row.high)
    parts = [Markup("<title>{}</title>").format(row.told), _text(RIGHT, top + 12, row.name)]
    if row.low is not None or row.high is not None:
        path = Markup('<path class="range" d="M{:.1f} {}H{:.1f}"/>')
        parts.append(path.format(left, line, right))
    for end, edge, way in ((row.low, left, -1), (row.high, right, 1)):
        if end is not None:
            parts.append(_upright(edge, line - 4, line + 4, "range"))
        elif row.low is not None or row.high is not None:
            head = Markup('<path class="range" d="M{0:.1f} {1}L{2:.1f} {3}L{0:.1f} {4}"/>')
            parts.append(head.format(edge - 5 * way, line - 4, edge, line, line + 4))
    if row.box is not None:
        low, high = map(x, row.box)
        box = Markup('<rect class="box" x="{:.1f}" y="{}" width="{:.1f}" height="12"/>')
        parts.append(box.format(low, line - 6, max(high - low, 1)))
    if row.middle is not None:
        parts.append(
            _upright(x(row.middle), line - 6, line + 6, "middle")
            if row.box
            else Markup('<circle class="dot" cx="{:.1f}" cy="{}" r="4"/>').format(
                x(row.middle), line
            )
        )
    return Markup("<g>{}</g>").format(Markup("").join(parts))


def ticks(low: float, high: float, most: int, least: float = 0.0) -> list[float]:
    """Return round numbers from low to high, at most ``most`` + 1, ``least`` apart or more."""
    rough = max((high - low) / most, least)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * index for index in range(first, last + 1)]


def _svg(title: str, height: float, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg viewBox="0 0 {} {:.0f}" role="img" aria-label="{}"><g>{}</g></svg>').format(
        WIDTH, height, title, Markup("").join(parts)
    )


def _upright(x: float, top: float, bottom: float, kind: str) -> Markup:
    return Markup('<path class="{}" d="M{:.1f} {}V{}"/>').format(kind, x, top, bottom)


def _text(x: float, y: float, text: str, anchor: str = "start") -> Markup:
    shown = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
    return shown.format(x, y, anchor, text)
