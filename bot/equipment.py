"""What a seat plays with: ``Equipment`` by name, importing nothing heavy; ``Resources`` loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lexicons.tables import (
    leaves_for,
    load_leaves,
    load_win_probabilities,
    win_probabilities_for,
)

if TYPE_CHECKING:
    from lexicons.alphabet import TileDistribution
    from lexicons.leaves import LeaveTable
    from lexicons.store import Lexicon
    from lexicons.win_probability import WinProbabilities


@dataclass(frozen=True)
class Equipment:
    """A seat's equipment, by name; ValueError if the number of threads is below 1."""

    lexicon: str = "scowl"
    """An embedded lexicon's name, or the path of a word list or word graph."""
    leaves: str | None = None
    """``trained``, ``formula`` or a leave table (KLV2); None: the trained table if the tiles are
    those of its training, else the formula."""
    win_probabilities: str | None = None
    """``trained``, ``formula`` or a table by spread and unseen tiles (CSV); None: the trained table
    if the tiles are those of its training, else the formula."""
    threads: int = 1
    ponder: bool = False
    """Whether a player may search while its opponent thinks, on separate cores."""
    rules: str = "english"
    """The rule set of the games to come, by name or path. A process loads the words and tables for
    its tiles before the first game."""

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ValueError(f"{self.threads} threads; a player searches with 1 or more")


@dataclass(frozen=True)
class Resources:
    """A player's words and tables for one game, loaded; a table of None means its default."""

    lexicon: Lexicon
    leaves: LeaveTable | None = None
    win_probabilities: WinProbabilities | None = None
    threads: int = 1
    ponder: bool = False


class Tables(NamedTuple):
    """The loaded tables of an equipment; None if not named."""

    leaves: LeaveTable | None
    win_probabilities: WinProbabilities | None


def load_tables(equipment: Equipment, distribution: TileDistribution) -> Tables:
    """Load the tables named by an equipment for these tiles, each once per process.

    Raises:
        ValueError: a file is broken or for other tiles; the message names it.
        OSError: a file cannot be read; the message names it.
    """
    leaves, winprob = equipment.leaves, equipment.win_probabilities
    return Tables(
        None if leaves is None else load_leaves(leaves, distribution),
        None if winprob is None else load_win_probabilities(winprob, distribution),
    )


def tables_for(
    equipment: Equipment, distribution: TileDistribution
) -> tuple[LeaveTable, WinProbabilities]:
    """Return the tables named by an equipment, else the defaults; raises as ``load_tables``."""
    tables = load_tables(equipment, distribution)
    return (
        tables.leaves or leaves_for(distribution),
        tables.win_probabilities or win_probabilities_for(distribution),
    )
