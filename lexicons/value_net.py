"""A network that values positions after a move, in a file (NumPy's ``.npz``).

``engine.kernels.value_net`` describes how it computes values; here is what each weight is for. A
net is for one lexicon, alphabet and board. Its manifest is beside it (``lexicons.manifest``).

It sees two things:

- the *lines* of the board, rows and columns. Of each square it sees the content: a letter, whether
  or not by a blank; or, if tiles cross an empty square, a class of the letters that fit and of the
  points of these tiles. Lines with the same premiums are of one kind, and share their weights;
- *counts*: of each tile that the mover keeps, of each that it does not see, the tiles in the bag
  after the draw, the scoreless turns in a row.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .alphabet import TileDistribution
from .arrays import DAMAGED, F32, I16, I32, I64, READ_ONLY, read_only
from .cache import replacing
from .files import read_bounded
from .layout import BoardLayout
from .leaves import RACK_SIZE

OUTPUTS = 4
REPLY, VALUE, LEAD, SCALE = range(OUTPUTS)
"""Outputs, in units of ``UNIT`` points beyond the leave's worth: the mover's gain in the next turn,
which is easier to learn; in the next two turns, which decides its choice; to the end of the game;
and the logarithm of the scale of the last, taken to have a logistic distribution."""
TURNS = 2
"""Number of the first outputs, which are the gains in the next 1, 2 … turns."""
UNIT = 20.0

FIT_LIMITS = (0, 25, 65, 150, 350)
"""Upper limits of the classes of letters that fit, in thousandths of a full bag's letters."""
SCORE_LIMITS = (2, 5)
"""Upper limits of the classes of the crossing tiles' points."""
CROSSINGS = (len(FIT_LIMITS) + 1) * (len(SCORE_LIMITS) + 1)
KEPT_COUNTS = RACK_SIZE + 1
UNSEEN_COUNTS = 16  # the last stands for all greater counts too; likewise below
BAG_COUNTS = 128
SCORELESS_COUNTS = 8

MOST_WIDE = 64
MOST_HIDDEN = 32

_FORMAT = "tilewire value net 2"
_MOST_BYTES = 1 << 26


class Sights(NamedTuple):
    """What a net sees of a board and tiles, for kernels."""

    kinds: I32  # [2 × side] of the board's lines, rows first; −1 off it; side = longest + 2
    places: int  # squares of the longest line
    shares: I32  # [letters + 1] of each letter in a full bag, in thousandths of all letters
    begins: I64  # [counts + 1] the first row of weights of each count, and the end


class NetArrays(NamedTuple):
    """A network for kernels."""

    sights: Sights
    lines: Annotated[I16, 4, READ_ONLY]
    """[kinds, places, contents, width + OUTPUTS] in parts of ``unit``"""
    start: Annotated[I32, 2, READ_ONLY]  # [kinds, width + OUTPUTS] in parts of ``unit``
    counts: Annotated[I16, 2, READ_ONLY]  # [rows, width + OUTPUTS] in parts of ``unit``
    unit: float
    second: Annotated[F32, 2, READ_ONLY]  # [width, hidden]
    second_start: Annotated[F32, READ_ONLY]  # [hidden]
    last: Annotated[F32, 2, READ_ONLY]  # [OUTPUTS, hidden]
    last_start: Annotated[F32, READ_ONLY]  # [OUTPUTS]


def sights_of(layout: BoardLayout, distribution: TileDistribution) -> Sights:
    """Return what a net sees of a board and tiles."""
    side = max(layout.rows, layout.columns) + 2
    premiums = list(zip(layout.word_multipliers, layout.letter_multipliers, strict=True))
    known: dict[Any, int] = {}
    kinds = np.full(2 * side, -1, np.int32)
    for row in range(layout.rows):
        line = premiums[row * layout.columns : (row + 1) * layout.columns]
        kinds[row + 1] = known.setdefault(tuple(line), len(known))
    for column in range(layout.columns):
        line = premiums[column :: layout.columns]
        kinds[side + column + 1] = known.setdefault(tuple(line), len(known))
    counts = np.array(distribution.counts, np.int64)
    shares = np.zeros(len(counts), np.int32)
    shares[1:] = 1000 * counts[1:] // max(int(counts[1:].sum()), 1)
    rows = [KEPT_COUNTS] * len(counts) + [UNSEEN_COUNTS] * len(counts)
    rows += [BAG_COUNTS, SCORELESS_COUNTS]
    begins = np.concatenate(([0], np.cumsum(rows))).astype(np.int64)
    return Sights(kinds, side - 2, shares, begins)


@dataclass(frozen=True, eq=False)
class ValueNet:
    """A network of these tiles and this board; arrays are read-only."""

    layout: BoardLayout
    distribution: TileDistribution
    lines: I16
    start: I32
    counts: I16
    unit: float
    second: F32
    second_start: F32
    last: F32
    last_start: F32
    lexicon_checksum: str
    """Of the words that it was trained on."""

    def __post_init__(self) -> None:
        sights = sights_of(self.layout, self.distribution)
        width, hidden = self.second.shape
        if not (0 < width <= MOST_WIDE and 0 < hidden <= MOST_HIDDEN):
            raise ValueError(
                f"a net {width} and {hidden} wide; at most {MOST_WIDE} and {MOST_HIDDEN}"
            )
        kinds, contents = int(sights.kinds.max()) + 1, len(sights.shares) + CROSSINGS
        shapes = {
            "lines": (kinds, sights.places, contents, width + OUTPUTS),
            "start": (kinds, width + OUTPUTS),
            "counts": (int(sights.begins[-1]), width + OUTPUTS),
            "second": (width, hidden),
            "second_start": (hidden,),
            "last": (OUTPUTS, hidden),
            "last_start": (OUTPUTS,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape:
                raise ValueError(f"{name!r} of the net has {array.shape} weights, not {shape}")
            object.__setattr__(self, name, read_only(array, _TYPES[name]))

    def check(self, layout: BoardLayout, distribution: TileDistribution) -> None:
        """Raise ValueError unless the net is for this board and these tiles."""
        _check(_of_tiles(self.distribution), _of_board(self.layout), layout, distribution)

    @cached_property
    def arrays(self) -> NetArrays:
        """The net as kernels take it."""
        return NetArrays(
            sights_of(self.layout, self.distribution),
            self.lines,
            self.start,
            self.counts,
            self.unit,
            self.second,
            self.second_start,
            self.last,
            self.last_start,
        )


_TYPES = {
    "lines": np.int16,
    "start": np.int32,
    "counts": np.int16,
    "second": np.float32,
    "second_start": np.float32,
    "last": np.float32,
    "last_start": np.float32,
}


def write_value_net(path: str | Path, net: ValueNet) -> None:
    """Write a net, atomically; OSError if that fails."""
    about = [_FORMAT, net.lexicon_checksum, _of_tiles(net.distribution), _of_board(net.layout)]
    arrays = {name: getattr(net, name) for name in _TYPES}
    about.append(_digest(about, net.unit, arrays))
    with replacing(Path(path)) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, about=np.array(about), unit=np.float64(net.unit), **arrays)


def read_value_net(
    path: str | Path, layout: BoardLayout, distribution: TileDistribution
) -> ValueNet:
    """Read a net for this board and these tiles.

    Raises:
        ValueError: names the file and what is wrong with it, or that it is for another board or
            other tiles.
        OSError: the file cannot be read.
    """
    path = Path(path)
    content = read_bounded(path, _MOST_BYTES, "value net")
    return parse_value_net(content, str(path), layout, distribution)


def parse_value_net(
    content: bytes, source: str, layout: BoardLayout, distribution: TileDistribution
) -> ValueNet:
    """Read a net from a file's content, named ``source`` in errors; raises ValueError."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as file:
            about = file["about"].tolist()
            unit = float(file["unit"])
            arrays = {name: file[name] for name in _TYPES}
    except DAMAGED as error:
        raise ValueError(f"{source}: no value net, or damaged or cut short: {error}") from None
    if not isinstance(about, list) or len(about) != 5 or about[0] != _FORMAT:
        raise ValueError(f"{source}: no value net; expected {_FORMAT!r}")
    _, checksum, tiles, board, digest = about
    if digest != _digest(about[:-1], unit, arrays):
        raise ValueError(f"{source}: damaged: its checksum does not match")
    if not (np.isfinite(unit) and unit > 0):
        raise ValueError(f"{source}: the unit of its weights is {unit}; it must be above 0")
    for name, array in arrays.items():
        if array.dtype != _TYPES[name] or not np.isfinite(array).all():
            raise ValueError(f"{source}: {name!r} is {array.dtype}, or has NaN or infinite values")
    try:
        _check(tiles, board, layout, distribution)
        return ValueNet(layout, distribution, unit=unit, lexicon_checksum=str(checksum), **arrays)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _digest(about: list[str], unit: float, arrays: dict[str, npt.NDArray[Any]]) -> str:
    digest = hashlib.sha256(repr((about, unit)).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def _check(tiles: str, board: str, layout: BoardLayout, distribution: TileDistribution) -> None:
    if tiles != _of_tiles(distribution):
        raise ValueError(f"this value net is for other tiles than {distribution.name}")
    if board != _of_board(layout):
        raise ValueError(f"this value net is for another board than {layout.name}")


def _of_tiles(distribution: TileDistribution) -> str:
    letters = distribution.alphabet.letters, distribution.counts, distribution.points
    return hashlib.sha256(repr(letters).encode()).hexdigest()


def _of_board(layout: BoardLayout) -> str:
    squares = layout.rows, layout.columns, layout.letter_multipliers, layout.word_multipliers
    return hashlib.sha256(repr((squares, layout.start)).encode()).hexdigest()
