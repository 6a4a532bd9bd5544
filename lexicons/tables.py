"""Tables by name, by path, or by default.

Leave tables and win probabilities have two names: ``trained`` comes with the embedded lexicon, for
its own tiles only, ``formula`` is that of ``lexicons.formula_leaves`` or
``lexicons.win_probability``. The default is the trained one for the tiles it was trained for, else
the formula. A file with such a name is reached by ``./trained``.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from .alphabet import TileDistribution, load_distribution
from .formula_leaves import formula_leaves
from .klv import parse_klv, read_klv
from .leaves import LeaveTable, cached_leaves
from .manifest import Manifest, manifest_path, parse_manifest, read_manifest
from .store import Lexicon
from .text import embedded_names
from .win_probability import (
    WinProbabilities,
    formula_win_probabilities,
    parse_win_probabilities,
    read_win_probabilities,
)

FORMULA = "formula"
TRAINED = "trained"
TABLE_NAMES = (FORMULA, TRAINED)
TRAINED_ON = "scowl"  # the embedded lexicon that the trained tables were trained on

_FILES = {
    "leaves": f"{TRAINED_ON}.klv2",
    "winprob": f"{TRAINED_ON}.winprob.csv",
    "luck": f"{TRAINED_ON}.luck.json",
}
_WINPROB = "table of win probabilities"


def leaves_for(distribution: TileDistribution) -> LeaveTable:
    """Return the leave table that players use by default for these tiles."""
    return load_leaves(_own_table(distribution), distribution)


def win_probabilities_for(distribution: TileDistribution) -> WinProbabilities:
    """Return the win probabilities that players use by default for these tiles."""
    return load_win_probabilities(_own_table(distribution), distribution)


def load_leaves(name_or_path: str, distribution: TileDistribution) -> LeaveTable:
    """Load a leave table, once per process.

    Raises:
        ValueError: names the file and what is wrong with it, or that it is for other tiles.
        OSError: the file cannot be read; the message names it.
    """
    if name_or_path == TRAINED:
        return trained_leaves(distribution)
    if name_or_path == FORMULA:
        return formula_leaves(distribution)
    _check_there("leave table", name_or_path)
    return _read_leaves(name_or_path, distribution)


def load_win_probabilities(name_or_path: str, distribution: TileDistribution) -> WinProbabilities:
    """Load a table of win probabilities, once per process; raises as ``load_leaves``."""
    if name_or_path == TRAINED:
        return trained_win_probabilities(distribution)
    if name_or_path == FORMULA:
        return formula_win_probabilities(distribution.total)
    _check_there(_WINPROB, name_or_path)
    return _read_win_probabilities(name_or_path)


_read_win_probabilities = lru_cache(maxsize=4)(read_win_probabilities)


def table_name(named: str | None, distribution: TileDistribution) -> str:
    """Return the name of a leave table or win probabilities, for people: ``trained (scowl)``."""
    name = _own_table(distribution) if named is None else named
    return f"{name} ({TRAINED_ON})" if name == TRAINED else name


def table_location(named: str | None) -> str | None:
    """Return a path as absolute; names of tables stay as they are."""
    return named if named is None or named in TABLE_NAMES else str(Path(named).resolve())


def leave_table_warnings(named: str | None, lexicon: Lexicon) -> list[str]:
    """Return a warning if a leave table was trained on other words than those played.

    Raises:
        ValueError: the table's manifest is invalid; names the file.
        OSError: the table or its manifest cannot be read.
    """
    name = _own_table(lexicon.distribution) if named is None else named
    if name == FORMULA:
        return []
    called = "the players' own leave table" if named is None else f"the leave table {named}"
    return _doubts(called, "leaves", name, lexicon)


def win_probability_warnings(named: str | None, lexicon: Lexicon) -> list[str]:
    """Return a warning if win probabilities were learned from games with other words.

    The default never warns: win probabilities depend on the words far less than leaves do. Raises
    as ``leave_table_warnings``.
    """
    if named is None or named == FORMULA:
        return []
    called = f"the table of win probabilities {named}"
    return _doubts(called, "winprob", named, lexicon)


def untrained(
    leaves: str | None, win_probabilities: str | None, distribution: TileDistribution
) -> list[str]:
    """Return a sentence on the tables that are formulas, if none is trained for these tiles."""
    if are_trained_for(distribution):
        return []
    lacks = []
    if leaves is None:
        lacks.append("what leaves are worth is by a formula (`tilewire train leaves`)")
    if win_probabilities is None:
        lacks.append("chances of winning are by a formula (`tilewire train winprob`)")
    if not lacks:
        return []
    return [f"no table comes with {distribution.name} tiles: {'; '.join(lacks)}"]


def _doubts(called: str, kind: str, named: str, lexicon: Lexicon) -> list[str]:
    manifest = trained_manifest(kind) if named == TRAINED else read_manifest(named)
    if manifest is None or manifest.lexicon_checksum == lexicon.checksum:
        return []
    if named != TRAINED and not manifest.is_of(Path(named).read_bytes()):
        return [f"{manifest_path(named)} is of another table than the one beside it; remove it"]
    return [
        f"{called} was trained on {manifest.lexicon} (checksum "
        f"{manifest.lexicon_checksum[:12]}…), and {lexicon.name} ({lexicon.checksum[:12]}…) has "
        f"other words; `tilewire train {kind} --lexicon …` makes one for it"
    ]


@lru_cache(maxsize=4)
def are_trained_for(distribution: TileDistribution) -> bool:
    """Return whether the trained tables are for these tiles, whatever their name."""
    ours = load_distribution()
    return (ours.alphabet.letters, ours.counts, ours.points) == (
        distribution.alphabet.letters,
        distribution.counts,
        distribution.points,
    )


@lru_cache(maxsize=4)
def trained_leaves(distribution: TileDistribution) -> LeaveTable:
    """Return the trained leave table (cached), for racks of seven.

    Raises:
        ValueError: the tiles are not those that it is trained for.
    """
    _check_trained_for("leave table", distribution)
    name = _FILES["leaves"]
    packed = _embedded(f"{name}.xz")

    def unpack() -> LeaveTable:
        return parse_klv(lzma.decompress(packed), name, distribution)

    what = ("trained leaves 1", hashlib.sha256(packed).hexdigest())
    return cached_leaves(what, unpack, distribution)


@lru_cache(maxsize=4)
def trained_win_probabilities(distribution: TileDistribution) -> WinProbabilities:
    """Return the trained win probabilities (cached); raises as ``trained_leaves``."""
    _check_trained_for(_WINPROB, distribution)
    name = _FILES["winprob"]
    return parse_win_probabilities(lzma.decompress(_embedded(f"{name}.xz")), name)


class LuckWeights(NamedTuple):
    """How much of a game's luck its result follows (``harness.matches.luck``)."""

    points: float
    wins: float


@lru_cache(maxsize=1)
def luck_weights() -> LuckWeights:
    """Return the weights measured with the embedded lexicon; other words change them little."""
    return LuckWeights(**json.loads(_embedded(_FILES["luck"]))["weights"])


def trained_manifest(kind: str) -> Manifest:
    """Return the manifest of the trained table of a kind, as ``Manifest.kind``."""
    name = f"{_FILES[kind]}.json"
    return parse_manifest(_embedded(name), name)


def _embedded(name: str) -> bytes:
    return (files("lexicons") / "embedded" / name).read_bytes()


def _own_table(distribution: TileDistribution) -> str:
    return TRAINED if are_trained_for(distribution) else FORMULA


def _check_trained_for(what: str, distribution: TileDistribution) -> None:
    if not are_trained_for(distribution):
        raise ValueError(
            f"the {what} {TRAINED!r} is for the tiles of {TRAINED_ON}; {distribution.name} tiles "
            "are others"
        )


def _check_there(what: str, path: str) -> None:
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no {what} {path}")


@lru_cache(maxsize=4)
def _read_leaves(path: str, distribution: TileDistribution) -> LeaveTable:
    manifest = read_manifest(path)
    # Names of users' own files do not tell tiles apart; then what is in the table has to.
    other_names = embedded_names(".csv").keys() - {distribution.name}
    if manifest and manifest.tiles in other_names:
        named = load_distribution(manifest.tiles)
        differs = (named.alphabet.letters, named.counts) != (
            distribution.alphabet.letters,
            distribution.counts,
        )
        if differs and manifest.is_of(Path(path).read_bytes()):
            raise ValueError(
                f"the leave table {path} is for {manifest.tiles} tiles, says its manifest; the "
                f"game is played with {distribution.name} tiles"
            )
    return read_klv(path, distribution)
