"""Board layouts: size, premium squares and start square.

A layout is a UTF-8 text file, one line per row, one character per square:

=====  ==================  =====  ==================
``.``  plain
``'``  2 × letter          ``-``  2 × word
``"``  3 × letter          ``=``  3 × word
``^``  4 × letter          ``~``  4 × word
=====  ==================  =====  ==================

Blank lines and lines that begin with ``#`` are left out. A line ``start 8H`` names the square that
the first play covers: its row, from 1, and its column, from A. By default it is the centre.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .text import read_named

MAX_SIDE = 26  # move text names a column by one letter
_MIN_SIDE = 2

_LETTER = {"'": 2, '"': 3, "^": 4}
_WORD = {"-": 2, "=": 3, "~": 4}
_SQUARES = frozenset(".") | _LETTER.keys() | _WORD.keys()
_START = re.compile(r"start\s+(\d{1,2})([A-Za-z])\s*")


@dataclass(frozen=True)
class BoardLayout:
    """A board without tiles.

    The multipliers, 1 on a plain square, are row-major; ``start`` is row and column, from 0.
    """

    name: str
    rows: int
    columns: int
    letter_multipliers: tuple[int, ...]
    word_multipliers: tuple[int, ...]
    start: tuple[int, int]

    def __post_init__(self) -> None:
        for side in (self.rows, self.columns):
            if not _MIN_SIDE <= side <= MAX_SIDE:
                raise ValueError(
                    f"{self.name}: {self.rows}×{self.columns} squares; a side has "
                    f"{_MIN_SIDE} to {MAX_SIDE}"
                )
        squares = self.rows * self.columns
        if len(self.letter_multipliers) != squares or len(self.word_multipliers) != squares:
            raise ValueError(
                f"{self.name}: {len(self.letter_multipliers)} letter and "
                f"{len(self.word_multipliers)} word multipliers for {squares} squares"
            )
        row, column = self.start
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise ValueError(f"{self.name}: the start square {self.start} is not on the board")


def load_layout(name_or_path: str | Path = "standard") -> BoardLayout:
    """Read an embedded board layout by name, or a text file.

    Raises:
        ValueError: names the file, the line and what is wrong with it.
        FileNotFoundError: neither an embedded name nor a file.
    """
    form = "a text file with a line for each row and a character for each square"
    return parse_layout(*read_named(name_or_path, ".txt", "board layout", form))


def parse_layout(name: str, text: str, source: str) -> BoardLayout:
    """Read a board layout from text; ``source`` names it in errors (ValueError)."""
    rows: list[str] = []
    start: tuple[str, str] | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        where = f"{source}, line {number}"
        if line.startswith("start"):
            start = line, where
            continue
        _check_row(line, rows, where)
        rows.append(line)
    if not rows:
        raise ValueError(f"{source}: no rows of squares")
    squares = "".join(rows)
    return BoardLayout(
        name=name,
        rows=len(rows),
        columns=len(rows[0]),
        letter_multipliers=tuple(_LETTER.get(square, 1) for square in squares),
        word_multipliers=tuple(_WORD.get(square, 1) for square in squares),
        start=_parse_start(*start, rows) if start else (len(rows) // 2, len(rows[0]) // 2),
    )


def layout_rows(layout: BoardLayout) -> tuple[str, ...]:
    """Return a layout's squares as its file has them, one string per row."""
    letter = {times: square for square, times in _LETTER.items()}
    word = {times: square for square, times in _WORD.items()}
    squares = "".join(
        letter.get(letters) or word.get(words) or "."
        for letters, words in zip(layout.letter_multipliers, layout.word_multipliers, strict=True)
    )
    width = layout.columns
    return tuple(squares[at : at + width] for at in range(0, len(squares), width))


def _parse_start(line: str, where: str, rows: list[str]) -> tuple[int, int]:
    match = _START.fullmatch(line)
    if match is None:
        raise ValueError(f"{where}: {line!r}; a start square is written like 'start 8H'")
    row, column = int(match[1]) - 1, ord(match[2].upper()) - ord("A")
    if not (0 <= row < len(rows) and column < len(rows[0])):
        raise ValueError(
            f"{where}: the start square {match[1]}{match[2]} is not on the board of "
            f"{len(rows)}×{len(rows[0])} squares"
        )
    return row, column


def _check_row(line: str, rows: list[str], where: str) -> None:
    for at, square in enumerate(line, start=1):
        if square not in _SQUARES:
            known = " ".join(sorted(_SQUARES))
            raise ValueError(f"{where}: {square!r} at column {at} is no square; known are {known}")
    if rows and len(line) != len(rows[0]):
        raise ValueError(f"{where}: {len(line)} squares where the first row has {len(rows[0])}")
