"""Rows of results: dataclasses whose fields define their own headings and formats.

A field annotated with a ``Column`` is in the table; others appear in JSON only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, get_type_hints

from harness import figures

Tables: TypeAlias = Mapping[str, Sequence[Any]]
"""Rows by the name of their table; the rows of a table are of one class."""


class Column(NamedTuple):
    """Marks a field of a row as a column of the table, within ``typing.Annotated``."""

    heading: str
    error: str = ""
    """The field with the value's error, printed after ±."""
    decimals: int = 1
    """Of a float; integers have none."""
    times: int = 1
    """Factor on the value and its error."""
    sign: bool = False
    unit: str = ""
    most: float | None = None
    """Of a value from 0 to this, whose interval is cut there."""


def percent(heading: str, *, error: str = "", decimals: int = 1) -> Column:
    """Return a column of shares, printed as percentages."""
    return Column(heading, error=error, decimals=decimals, times=100, unit=" %")


def table(rows: Sequence[Any], width: int | None = None) -> str:
    """Format rows of one class, at least one, as a table; a mapping has a column per key.

    Columns that don't fit into ``width`` characters follow below, as ``figures.folded`` says.
    """
    lines = [list(cells(row)) for row in rows]
    heads = [heading for heading, _ in lines[0]]
    return figures.folded(heads, [[text for _, text in line] for line in lines], width)


def cells(row: Any) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each of a row's columns."""
    for name, hint in get_type_hints(type(row), include_extras=True).items():
        for shown in getattr(hint, "__metadata__", ()):
            value = getattr(row, name)
            if isinstance(value, Mapping):
                for key, entry in value.items():
                    yield f"{shown.heading} {key}".strip(), _text(entry, shown)
            else:
                error = getattr(row, shown.error) if shown.error else None
                yield shown.heading, _text(value, shown, error)


def as_text(tables: Tables, width: int | None = None) -> str:
    """Format tables one below the other, skipping empty ones; ``width`` is as for ``table``."""
    return "\n\n".join(table(rows, width) for rows in tables.values() if rows)


def figures_text(row: Any) -> str:
    """Format one row as a table with a line per column, or per field if it has no columns."""
    lines = list(cells(row)) or figures.figure_rows(dataclasses.asdict(row))
    return figures.table(("figure", "value"), lines)


def _text(value: Any, shown: Column, error: float | None = None) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and shown.times == 1:
        return f"{value:,}{shown.unit}"
    if value is None or error is None:
        number = value and shown.times * value
        return figures.number(number, shown.decimals, shown.sign, shown.unit)
    middle = figures.number(shown.times * value, shown.decimals, shown.sign)
    if shown.most is not None and not error <= value <= shown.most - error:
        ends = max(value - error, 0), min(value + error, shown.most)
        low, high = (figures.number(shown.times * end, shown.decimals) for end in ends)
        return f"{middle}{shown.unit} ({low} to {high})"
    return f"{middle} ± {figures.number(shown.times * error, shown.decimals)}{shown.unit}"
