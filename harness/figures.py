"""How numbers, times and names are written where people read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

if TYPE_CHECKING:
    from rich.console import RenderableType

DASH = "–"
"""Stands for an unknown value."""


def plain(name: str) -> str:
    """Make a name safe to print."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name
    )


def shortened(name: str, most: int) -> str:
    """Cut a name in its middle, since versions of a bot differ at the end.

    ``most`` is a number of terminal cells.
    """
    if cell_len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{_first(name, most - 1 - end)}…{_first(name[::-1], end)[::-1]}"


def _first(text: str, cells: int) -> str:
    """Return as much of a text as fits into terminal cells; some characters take two."""
    while cell_len(text) > cells:
        text = text[:-1]
    return text


def once(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that tells each sentence once, and at most 20 sentences.

    A sentence may come from anybody, so it is made safe to print and cut to 200 characters.
    """
    sent: set[str] = set()

    def tell_once(sentence: str) -> None:
        safe = plain(sentence)[:200]
        if safe not in sent and len(sent) < 20:
            sent.add(safe)
            tell(safe)

    return tell_once


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Write a count and its noun; ``plural`` is for an irregular noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def some(names: Sequence[str]) -> str:
    """Write the first three names, and how many more there are."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def number(value: float | None, decimals: int = 1, sign: bool = False, unit: str = "") -> str:
    """Write a number with a true minus; a dash if it is unknown."""
    if value is None:
        return DASH
    rounded = round(value, decimals) + 0.0  # no "-0.0"
    text = f"{rounded:+,.{decimals}f}" if sign and rounded else f"{rounded:,.{decimals}f}"
    return text.replace("-", "−") + unit


def share(value: float | None) -> str:
    """Write a share (0 to 1) as a percentage."""
    return number(None if value is None else 100 * value, unit=" %")


def duration(ms: float | None) -> str:
    """Write a time given in milliseconds: in ms, in s, or as ``minutes`` does."""
    if ms is None:
        return DASH
    if round(ms, 1) < 10:
        return f"{ms:.1f} ms"
    if round(ms) < 1_000:
        return f"{ms:.0f} ms"
    seconds = ms / 1_000
    return f"{seconds:.2f} s" if round(seconds, 2) < 60 else minutes(seconds)


def minutes(seconds: float) -> str:
    """Write seconds as m:ss or h:mm:ss."""
    whole, rest = divmod(round(seconds), 60)
    hours, whole = divmod(whole, 60)
    return f"{hours}:{whole:02}:{rest:02}" if hours else f"{whole}:{rest:02}"


def moment(at: float) -> str:
    """Write seconds since 1970 as a time by ISO 8601, in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def tally(counts: Mapping[str, int]) -> str:
    """Write counts by code in one line."""
    return ", ".join(f"{plain(code)} {count}" for code, count in counts.items()) or DASH


def rate(games: int, seconds: float) -> str:
    """Write games per second, per minute or, if both are below 1, per hour."""
    if not games or seconds <= 0:
        return DASH
    for unit, length in (("s", 1), ("min", 60)):
        if games * length >= seconds:
            return f"{games * length / seconds:.1f}/{unit}"
    return f"{games * 3600 / seconds:.1f}/h"


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Write rows as CSV; text that spreadsheets take for a formula gets an apostrophe."""
    out, formula = io.StringIO(), tuple("=+-@\t\r")
    csv.writer(out, lineterminator="\n").writerows(
        [f"'{cell}" if isinstance(cell, str) and cell.startswith(formula) else cell for cell in row]
        for row in rows
    )
    return out.getvalue()


def figure_rows(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return rows of figures by name; a mapping has a row for each key."""
    rows = []
    for name, value in figures.items():
        if isinstance(value, Mapping):
            rows += [(_words(f"{name}: {part}"), _text(figure)) for part, figure in value.items()]
        else:
            rows.append((_words(name), _text(value)))
    return rows


def _words(name: str) -> str:
    return name.replace("_", " ").replace(" per s", " a second")


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def fitting(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None,
    drop: Sequence[str],
    gap: int = 2,
) -> list[int]:
    """Return which columns of a table to show in ``width`` characters; None is no limit.

    Columns of ``drop``, by their heads, are left out one after another until the rest fit.
    """
    widths = [width + gap for width in _widths(head, rows)]
    shown = list(range(len(head)))
    for name in drop:
        if width is None or sum(widths[column] for column in shown) - gap <= width:
            break
        shown.remove(head.index(name))
    return shown


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    drop: Sequence[str] = (),
) -> str:
    """Write rows under a head, each column as wide as it needs, in plain text.

    Columns of ``drop`` are left out as ``fitting`` says.
    """
    shown = fitting(head, rows, width, drop)
    lines = [[line[column] for column in shown] for line in (head, *rows)]
    widths = _widths(lines[0], lines[1:])
    texts = [
        "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([texts[0], "  ".join("─" * width for width in widths), *texts[1:]])


def folded(head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> str:
    """Write rows under a head as ``table`` does, in ``width`` characters; None is no limit.

    Columns that don't fit follow in a table below, which has the first column too.
    """
    return "\n\n".join(
        table([head[column] for column in part], [[row[column] for column in part] for row in rows])
        for part in parts(head, rows, width)
    )


def parts(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, gap: int = 2
) -> list[list[int]]:
    """Return the columns of each table that ``width`` characters make of one; None is no limit.

    The first column is in all of them, and one without a head stays with the column before.
    """
    column_groups, widths = [[0]], [width + gap for width in _widths(head, rows)]
    groups: list[list[int]] = []
    for column, name in enumerate(head[1:], start=1):
        if name or not groups:
            groups.append([])
        groups[-1].append(column)
    for group in groups:
        shown = [*column_groups[-1], *group]
        if (
            width is None
            or sum(widths[column] for column in shown) - gap <= width
            or column_groups == [[0]]
        ):
            column_groups[-1] = shown
        else:
            column_groups.append([0, *group])
    return column_groups


def _widths(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column, in cells of a terminal."""
    return [max(cell_len(line[column]) for line in (head, *rows)) for column in range(len(head))]


def plain_text(view: RenderableType, width: int = 80) -> str:
    """Render a view as plain text, without colour and without spaces at line ends."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, color_system=None, legacy_windows=False).print(view)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
