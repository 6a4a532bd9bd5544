"""The tables that come with the embedded lexicon: trained on its words, for its tiles.

``embedded/scowl.klv2.xz`` holds leave values, ``embedded/scowl.winprob.csv.xz`` win
probabilities; each has its manifest beside it. ``tilewire train`` makes them.
"""

from __future__ import annotations

import hashlib
import lzma
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from .alphabet import TileDistribution, load_distribution
from .manifest import Manifest, parse_manifest

if TYPE_CHECKING:  # these bring numba in, which a manifest does not need
    from .leaves import LeaveTable
    from .win_probability import WinProbabilities

__all__ = [
    "TRAINED_ON",
    "are_trained_for",
    "trained_leaves",
    "trained_leaves_manifest",
    "trained_win_probabilities",
    "trained_win_probabilities_manifest",
]

TRAINED_ON = "scowl"
"""The embedded lexicon that they were trained on."""
_LEAVES = "scowl.klv2"
_WIN_PROBABILITIES = "scowl.winprob.csv"


def are_trained_for(distribution: TileDistribution) -> bool:
    """Return whether the tables are for these tiles, whatever they are called."""
    ours = load_distribution()
    return (ours.alphabet.letters, ours.counts, ours.points) == (
        distribution.alphabet.letters,
        distribution.counts,
        distribution.points,
    )


@lru_cache(maxsize=4)
def trained_leaves(distribution: TileDistribution) -> LeaveTable | None:
    """Return the trained leave table, for racks of seven; None for other tiles than its own.

    It takes half a second to unpack, so it is kept in the user's cache.
    """
    if not are_trained_for(distribution):
        return None
    from .cached_leaves import cached_leaves
    from .klv import parse_klv

    packed = _embedded(f"{_LEAVES}.xz").read_bytes()
    digest = hashlib.sha256(packed).hexdigest()

    def unpack() -> LeaveTable:
        return parse_klv(lzma.decompress(packed), _LEAVES, distribution)

    return cached_leaves(("trained leaves 1", digest), unpack, distribution)


@lru_cache(maxsize=4)
def trained_win_probabilities(distribution: TileDistribution) -> WinProbabilities | None:
    """Return the trained win probabilities; None for other tiles than their own."""
    if not are_trained_for(distribution):
        return None
    from .win_probability import parse_win_probabilities

    packed = _embedded(f"{_WIN_PROBABILITIES}.xz").read_bytes()
    return parse_win_probabilities(lzma.decompress(packed), _WIN_PROBABILITIES)


def trained_leaves_manifest() -> Manifest:
    """Return the manifest of the trained leave table."""
    return _manifest(_LEAVES)


def trained_win_probabilities_manifest() -> Manifest:
    """Return the manifest of the trained win probabilities."""
    return _manifest(_WIN_PROBABILITIES)


def _manifest(table: str) -> Manifest:
    return parse_manifest(_embedded(f"{table}.json").read_bytes(), f"{table}.json")


def _embedded(name: str) -> Traversable:
    return files("lexicons") / "embedded" / name
