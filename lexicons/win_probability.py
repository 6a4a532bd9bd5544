"""Win probabilities by spread and unseen tiles, in a file (CSV, laid out as Macondo's winpct.csv).

The first line has an ignored cell, then counts of unseen tiles (bag and opponent's rack together),
each one more than the last. Every other line has the spread of the player on turn, the value of its
leave included, then for each count the probability, 0 to 1, that it wins; a tie counts half.
Spreads go up by one, or down by one, throughout.

Where no table is trained for the tiles, a formula is used. It takes the points still to come to be
normally distributed: being on turn is worth half a turn's points, and the variance grows with the
tiles that are left. Its numbers are fitted to the table that is trained for English tiles. The
formula follows that table while there are tiles in the bag. With an empty bag, where single points
decide, it is up to 0.3 off; there endgames are solved or played out instead.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .arrays import I32, read_only
from .cache import replacing
from .files import read_bounded
from .text import decode_text

_MOST_BYTES = 1 << 24  # 601 spreads by 94 counts take half a megabyte
_MOST_DIGITS = 6  # of a spread or a count

FORMULA_MOST_SPREAD = 300
ON_TURN = 21.0  # points that being on turn is worth
VARIANCE_A_TILE = 100.0  # of the points to come, for each unseen tile
VARIANCE = 600.0  # of the points to come, whatever is left


@dataclass(frozen=True, eq=False)
class WinProbabilities:
    """How likely the player on turn is to win; all three arrays are read-only."""

    spreads: I32  # [spreads] points ahead, ascending by one
    unseen: I32  # [counts] tiles in the bag and on the opponent's rack, ascending by one
    values: npt.NDArray[np.float32]  # [spreads, counts] from 0 to 1

    def __post_init__(self) -> None:
        if not self.values.size or self.values.shape != (len(self.spreads), len(self.unseen)):
            raise ValueError(
                f"win probabilities of {self.values.shape} values for {len(self.spreads)} spreads "
                f"and {len(self.unseen)} counts of unseen tiles"
            )
        for name, dtype in (("spreads", np.int32), ("unseen", np.int32), ("values", np.float32)):
            object.__setattr__(self, name, read_only(getattr(self, name), dtype))

    def __reduce__(self) -> tuple[type[WinProbabilities], tuple[object, object, object]]:
        return WinProbabilities, (self.spreads, self.unseen, self.values)

    def at(self, spread: int, unseen: int) -> float:
        """Return a probability; beyond the table, that of the nearest row and column."""
        row = min(max(spread - int(self.spreads[0]), 0), len(self.spreads) - 1)
        column = min(max(unseen - int(self.unseen[0]), 0), len(self.unseen) - 1)
        return float(self.values[row, column])


@lru_cache(maxsize=4)
def formula_win_probabilities(tiles: int) -> WinProbabilities:
    """Return the formula's table (cached) for games with ``tiles`` tiles."""
    spreads = np.arange(-FORMULA_MOST_SPREAD, FORMULA_MOST_SPREAD + 1, dtype=np.int32)
    unseen = np.arange(1, tiles + 1, dtype=np.int32)
    deviations = np.sqrt(VARIANCE + VARIANCE_A_TILE * unseen)
    scaled = (spreads[:, np.newaxis] + ON_TURN) / (deviations * math.sqrt(2))
    # Importing scipy's functions takes longer than computing all of these.
    values = [[math.erfc(-value) / 2 for value in row] for row in scaled.tolist()]
    return WinProbabilities(spreads, unseen, np.array(values, np.float32))


def read_win_probabilities(path: str | Path) -> WinProbabilities:
    """Read a table.

    Raises:
        ValueError: names the file, the line and what is wrong there.
        OSError: the file cannot be read.
    """
    path = Path(path)
    content = read_bounded(path, _MOST_BYTES, "table of win probabilities")
    return parse_win_probabilities(content, str(path))


def parse_win_probabilities(content: bytes, source: str) -> WinProbabilities:
    """Read a table from a file's content, named ``source`` in errors; raises ValueError."""
    lines = _lines(decode_text(content, source), source)
    where, head = next(lines, (f"{source}, line 1", []))
    unseen = [_whole(cell, "count of unseen tiles", where) for cell in head[1:]]
    if not unseen:
        raise ValueError(f"{where}: a first cell and then counts of unseen tiles have to be here")
    for previous, count in pairwise(unseen):
        if count != previous + 1:
            raise ValueError(f"{where}: {count} unseen tiles after {previous}; each is one more")
    if unseen[0] < 0:
        raise ValueError(f"{where}: {unseen[0]} unseen tiles; there are 0 or more")
    spreads: list[int] = []
    rows: list[list[float]] = []
    for where, (first, *cells) in lines:
        spread = _whole(first, "spread", where)
        steps = {spreads[1] - spreads[0]} if len(spreads) > 1 else {1, -1}
        if spreads and spread - spreads[-1] not in steps:
            raise ValueError(
                f"{where}: spread {spread} after {spreads[-1]}; from line to line it goes up by "
                "one, or down by one all the way"
            )
        if len(cells) != len(unseen):
            raise ValueError(
                f"{where}: {len(cells)} probabilities for {len(unseen)} counts of unseen tiles"
            )
        spreads.append(spread)
        rows.append([_probability(*pair, where) for pair in zip(cells, unseen, strict=True)])
    if not rows:
        raise ValueError(f"{where}: no line of probabilities follows")
    values = np.array(rows, np.float32)
    if spreads[-1] < spreads[0]:
        spreads, values = spreads[::-1], values[::-1]
    return WinProbabilities(np.array(spreads, np.int32), np.array(unseen, np.int32), values)


def write_win_probabilities(path: str | Path, table: WinProbabilities) -> None:
    """Write a table, the greatest spread first, to five decimals, atomically; may raise OSError."""
    with replacing(Path(path)) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(",".join(["", *map(str, table.unseen.tolist())]) + "\n")
        for spread, values in zip(table.spreads[::-1], table.values[::-1].tolist(), strict=True):
            file.write(",".join([str(spread), *(f"{value:.5f}" for value in values)]) + "\n")


def _lines(text: str, source: str) -> Iterator[tuple[str, list[str]]]:
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield f"{source}, line {reader.line_num}", [cell.strip() for cell in cells]
    except csv.Error as error:
        raise ValueError(f"{source}, line {reader.line_num}: {error}") from None


def _probability(cell: str, count: int, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise ValueError(
            f"{where}: {cell[:20]!r}, for {count} unseen tiles, is no probability from 0 to 1"
        )
    return value


def _whole(cell: str, what: str, where: str) -> int:
    digits = cell[1:] if cell[:1] in ("+", "-") else cell
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise ValueError(f"{where}: {cell[:20]!r} is no {what}")
    return int(cell)
