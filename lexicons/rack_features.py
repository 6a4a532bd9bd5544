"""The rack heuristic: what a leave is worth by a few of its features, each with a learned weight.

The features are those of *RH*, a player of a student project (CS221, Stanford 2016):

* each kind of tile, the blank included: 1 if present, however often;
* doubles and triples: the number of kinds present twice, and three times or more;
* imbalance: the difference between vowels and consonants; a blank is neither;
* a Q without a U: 1, where the alphabet has both.

A file (JSON) has the letters of the alphabet, a weight in points for each feature by name, and how
they were made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .alphabet import BLANK, TileDistribution
from .arrays import I64
from .files import parse_json, read_bounded, write_json
from .leaves import LeaveMatrix, LeaveTable, table_of

MAX_WEIGHT = 500  # points, either way; keeps leaves within ``leaves.MAX_WORTH``
_FORMAT = "tilewire rack weights 1"
_SHIPPED = {"rh": "scowl.rack.json", "mc+rh": "scowl.mc-rack.json"}
_MOST_BYTES = 1 << 16  # the largest alphabet needs 4 KiB

Trained: TypeAlias = Literal["rh", "mc+rh"]


@dataclass(frozen=True)
class RackWeights:
    """Weights of the features for an alphabet.

    Raises:
        ValueError: not one weight for each feature, or a weight beyond ``MAX_WEIGHT``.
    """

    letters: tuple[str, ...]  # by tile number, the blank first
    points: tuple[float, ...]  # by feature, in the order of ``feature_names``
    made: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """From what and by which command, for people to read; text and numbers."""

    def __post_init__(self) -> None:
        features = len(feature_names(self.letters))
        if len(self.points) != features:
            raise ValueError(f"{len(self.points)} weights for {features} features")
        for name, points in self.by_name().items():
            if not abs(points) <= MAX_WEIGHT:
                raise ValueError(
                    f"{name!r} weighs {points}; a weight is a number of points up to {MAX_WEIGHT} "
                    "either way"
                )

    def by_name(self) -> dict[str, float]:
        """Return the weights by the names of their features."""
        return dict(zip(feature_names(self.letters), self.points, strict=True))


def feature_names(letters: Sequence[str]) -> tuple[str, ...]:
    """Name the features of leaves in this alphabet: its tiles come first, each by its letter."""
    q_without_u = ("Q without U",) if {"Q", "U"} <= set(letters) else ()
    return (*letters, "doubles", "triples", "imbalance", *q_without_u)


def tile_counts(tiles: npt.NDArray[np.integer[Any]], kinds: int) -> I64:
    """Count each row's tiles by kind, [rows, kinds]; ``kinds`` itself stands for no tile."""
    rows = np.arange(len(tiles))[:, np.newaxis]
    places = (rows * (kinds + 1) + tiles.astype(np.int64)).ravel()
    counted = np.bincount(places, minlength=len(tiles) * (kinds + 1))
    return counted.reshape(len(tiles), kinds + 1)[:, :kinds]


def leave_features(counts: I64, distribution: TileDistribution) -> I64:
    """Return the features, [leaves, features], of leaves given as counts of their tiles."""
    letters = distribution.alphabet.letters
    present = counts > 0
    vowels = np.array(distribution.vowels)
    sides = np.where(vowels, 1, -1)
    sides[BLANK] = 0
    columns = [
        *present.T,
        np.count_nonzero(counts == 2, axis=1),
        np.count_nonzero(counts > 2, axis=1),
        np.abs(counts @ sides),
    ]
    if "Q without U" in feature_names(letters):
        columns.append(present[:, letters.index("Q")] & ~present[:, letters.index("U")])
    return np.column_stack(columns).astype(np.int64, copy=False)


@lru_cache(maxsize=4)
def leave_table(weights: RackWeights, distribution: TileDistribution) -> LeaveTable:
    """Return the leave table of weights; takes half a second, once per process.

    Raises:
        ValueError: the weights are for another alphabet.
    """
    if weights.letters != distribution.alphabet.letters:
        raise ValueError(
            f"the rack weights are for other letters than those of {distribution.name} tiles "
            "(`tilewire train features` learns some)"
        )
    thousandths = np.rint(np.array(weights.points) * 1000).astype(np.int64)

    def worths(leaves: LeaveMatrix) -> I64:
        counts = tile_counts(leaves, len(weights.letters))
        worths: I64 = leave_features(counts, distribution) @ thousandths
        return worths

    return table_of(distribution, worths)


def read_rack_weights(path: str | Path) -> RackWeights:
    """Read weights.

    Raises:
        ValueError: names the file and what is wrong with it.
        OSError: the file cannot be read.
    """
    path = Path(path)
    return _parse(read_bounded(path, _MOST_BYTES, "file of rack weights"), str(path))


@lru_cache(maxsize=2)
def shipped_rack_weights(player: Trained = "rh") -> RackWeights:
    """Return the built-in weights: for English tiles, trained on the embedded lexicon."""
    name = _SHIPPED[player]
    return _parse((files("lexicons") / "embedded" / name).read_bytes(), name)


def write_rack_weights(path: str | Path, weights: RackWeights) -> None:
    """Write weights, to a thousandth of a point, atomically; OSError if that fails."""
    content = {
        "made": dict(weights.made),
        "letters": weights.letters,
        "weights": {name: round(points, 3) for name, points in weights.by_name().items()},
    }
    write_json(Path(path), _FORMAT, content)


def _parse(content: bytes, source: str) -> RackWeights:
    data = parse_json(content, source, _FORMAT, "rack weights")
    letters, weights, made = (data.get(key) for key in ("letters", "weights", "made"))
    if not isinstance(letters, list) or not all(isinstance(text, str) for text in letters):
        raise ValueError(f'{source}: "letters" is a list of texts, the blank first')
    if not isinstance(weights, dict) or not all(map(_is_number, weights.values())):
        raise ValueError(f'{source}: "weights" is a number of points for each feature by name')
    names = feature_names(letters)
    for name in names:
        if name not in weights:
            raise ValueError(f"{source}: no weight for {name!r}; each feature has one")
    for name in weights:
        if name not in names:
            raise ValueError(f"{source}: a weight for {name!r}, which is no feature here")
    points = tuple(weights[name] for name in names)
    try:
        return RackWeights(tuple(letters), points, made if isinstance(made, dict) else {})
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
