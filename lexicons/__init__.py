"""Tiles, boards and words: the data of crossword games; importing it does not import numba."""

from __future__ import annotations

from .alphabet import Alphabet, TileDistribution, load_distribution
from .kwg import WordGraph
from .layout import BoardLayout, load_layout
from .store import Lexicon, lexicon_names, load_lexicon

__all__ = [
    "Alphabet",
    "BoardLayout",
    "Lexicon",
    "TileDistribution",
    "WordGraph",
    "lexicon_names",
    "load_distribution",
    "load_layout",
    "load_lexicon",
]
