"""A network that values positions after a move, in a file (NumPy's ``.npz``).

How it values is told in ``engine.kernels.value_net``; here is what each number is for. A net is for
one lexicon, alphabet and board. What it was trained with lies beside it (``lexicons.manifest``).

Its *features* are each there or not, and numbered in six parts:

- letters: of a tile on a square, also of a blank;
- crossings: in each direction, an empty square's class of letters that make a word across, and of
  the points of the crossing tiles;
- kept: how many of a tile the mover keeps (not of none);
- unseen: how many of a tile the mover does not see;
- the tiles in the bag after the draw;
- the scoreless turns in a row.
"""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .alphabet import TileDistribution
from .arrays import F32, I16, I32, I64, read_only
from .cache import replacing
from .layout import BoardLayout
from .leaves import RACK_SIZE

OUTPUTS = 3
VALUE, LEAD, SCALE = range(OUTPUTS)
"""Outputs, in units of ``UNIT`` points beyond the leave's worth: what the mover gains in the next
turns, by which it chooses; what it gains to the end of the game; and the logarithm of the scale of
that, which is taken to have a logistic distribution."""
UNIT = 50.0

FIT_LIMITS = (0, 25, 65, 150, 350)
"""Classes of the letters that fit: up to so many thousandths of the letters of a full bag."""
SCORE_LIMITS = (2, 5)
"""Classes of the points of crossing tiles: up to so many."""
CROSSINGS = (len(FIT_LIMITS) + 1) * (len(SCORE_LIMITS) + 1)
KEPT_COUNTS = RACK_SIZE + 1
UNSEEN_COUNTS = 16  # the last: so many or more; likewise below
BAG_COUNTS = 128
SCORELESS_COUNTS = 8

MOST_WIDE = 256
MOST_HIDDEN = 64

_FORMAT = "tilewire value net 1"
_MOST_BYTES = 1 << 26
_MOST_FEATURES = 1 << 16  # a feature is listed in 16 bits


class FeatureMap(NamedTuple):
    """Which number each feature has, for kernels."""

    squares: (
        I32  # [2 × side²] number of the square, from 0, and −1 off the board, side = longest + 2
    )
    shares: I32  # [letters + 1] of each letter in a full bag, in thousandths of all letters
    begins: I64  # [7] first feature of each part, and the end


class NetArrays(NamedTuple):
    """A network for kernels."""

    features: FeatureMap
    first: I16  # [features, width + OUTPUTS] in parts of ``unit``
    start: I32  # [width + OUTPUTS] in parts of ``unit``
    unit: float
    second: F32  # [width, hidden]
    second_start: F32  # [hidden]
    last: F32  # [OUTPUTS, hidden]
    last_start: F32  # [OUTPUTS]


def feature_map(layout: BoardLayout, distribution: TileDistribution) -> FeatureMap:
    """Number the features of a board and tiles.

    Raises:
        ValueError: there are more than a net can have.
    """
    rows, columns = layout.rows, layout.columns
    side = max(rows, columns) + 2
    numbers = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    squares = np.full((2, side, side), -1, np.int32)
    squares[0, 1 : rows + 1, 1 : columns + 1] = numbers
    squares[1, 1 : columns + 1, 1 : rows + 1] = numbers.T
    counts = np.array(distribution.counts, np.int64)
    letters = len(counts) - 1
    shares = np.zeros(letters + 1, np.int32)
    shares[1:] = 1000 * counts[1:] // max(int(counts[1:].sum()), 1)
    sizes = (
        numbers.size * letters,
        2 * numbers.size * CROSSINGS,
        (letters + 1) * KEPT_COUNTS,
        (letters + 1) * UNSEEN_COUNTS,
        BAG_COUNTS,
        SCORELESS_COUNTS,
    )
    begins = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    if begins[-1] > _MOST_FEATURES:
        raise ValueError(
            f"{layout.name} and {distribution.name} tiles have {begins[-1]:,} features; a net has "
            f"{_MOST_FEATURES:,} at most"
        )
    return FeatureMap(squares.reshape(-1), shares, begins)


@dataclass(frozen=True, eq=False)
class ValueNet:
    """A network of these tiles and this board; arrays are read-only."""

    layout: BoardLayout
    distribution: TileDistribution
    first: I16
    start: I32
    unit: float
    second: F32
    second_start: F32
    last: F32
    last_start: F32
    lexicon_checksum: str
    """Of the words that it was trained on."""

    def __post_init__(self) -> None:
        features = int(feature_map(self.layout, self.distribution).begins[-1])
        width, hidden = self.second.shape
        if not (0 < width <= MOST_WIDE and 0 < hidden <= MOST_HIDDEN):
            raise ValueError(
                f"a net {width} and {hidden} wide; at most {MOST_WIDE} and {MOST_HIDDEN}"
            )
        shapes = {
            "first": (features, width + OUTPUTS),
            "start": (width + OUTPUTS,),
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
            feature_map(self.layout, self.distribution),
            self.first,
            self.start,
            self.unit,
            self.second,
            self.second_start,
            self.last,
            self.last_start,
        )


_TYPES = {
    "first": np.int16,
    "start": np.int32,
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
        ValueError: names the file and what is wrong with it, or that it is for others.
        OSError: the file cannot be read.
    """
    path = Path(path)
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise ValueError(f"{path}: {size:,} bytes; no value net has over {_MOST_BYTES:,}")
    return parse_value_net(path.read_bytes(), str(path), layout, distribution)


def parse_value_net(
    content: bytes, source: str, layout: BoardLayout, distribution: TileDistribution
) -> ValueNet:
    """Read a net from a file's content, named ``source`` in errors; raises ValueError."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as file:
            about = file["about"].tolist()
            unit = float(file["unit"])
            arrays = {name: file[name] for name in _TYPES}
    except (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{source}: no value net, or damaged or cut short: {error}") from None
    if not isinstance(about, list) or len(about) != 5 or about[0] != _FORMAT:
        raise ValueError(f"{source}: no value net; those say {_FORMAT!r}")
    _, checksum, tiles, board, digest = about
    if digest != _digest(about[:-1], unit, arrays):
        raise ValueError(f"{source}: damaged; its checksum is another")
    if not (np.isfinite(unit) and unit > 0):
        raise ValueError(f"{source}: its weights count in parts of {unit}; that is above 0")
    for name, array in arrays.items():
        if array.dtype != _TYPES[name] or not np.isfinite(array).all():
            raise ValueError(f"{source}: {name!r} is {array.dtype}, or has numbers that are none")
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
