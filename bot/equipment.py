"""What a seat plays with, as named on a command line and as loaded.

``Equipment`` goes from a command to the processes of its seats, and imports nothing heavy.
``Resources`` are what a player gets for a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lexicons.tables import (
    leave_table_warnings,
    load_leaves,
    load_win_probabilities,
    win_probability_warnings,
)

if TYPE_CHECKING:
    from lexicons.alphabet import TileDistribution
    from lexicons.leaves import LeaveTable
    from lexicons.store import Lexicon
    from lexicons.win_probability import WinProbabilities

__all__ = ["Equipment", "Resources", "Tables", "doubts_about_tables", "load_tables"]


@dataclass(frozen=True)
class Equipment:
    """What a seat is given, by name.

    Raises:
        ValueError: the number of threads is below 1.
    """

    lexicon: str = "scowl"
    """An embedded lexicon's name, or the path of a word list or word graph."""
    leaves: str | None = None
    """``trained``, ``formula`` or a leave table (KLV2); None: the players' own, which is the
    trained one where the tiles are those it was trained for, and else the formula."""
    win_probabilities: str | None = None
    """``trained`` or a table by spread and unseen tiles (CSV); None: the players' own, which is the
    trained one, or, with other tiles, none."""
    threads: int = 1
    """Number of threads that a player may search with at once."""
    ponder: bool = False
    """Whether a player may search while its opponent thinks, on cores of its own."""

    def __post_init__(self) -> None:
        """Check the number of threads. Files are checked when they are loaded."""
        if self.threads < 1:
            raise ValueError(f"{self.threads} threads; a player searches with 1 or more")

    def arguments(self) -> list[str]:
        """Return the options of a worker that say the same."""
        written = ["--lexicon", self.lexicon, "--threads", str(self.threads)]
        if self.leaves is not None:
            written += ["--leaves", self.leaves]
        if self.win_probabilities is not None:
            written += ["--winprob", self.win_probabilities]
        if self.ponder:
            written.append("--ponder")
        return written


@dataclass(frozen=True)
class Resources:
    """What a player has for one game, loaded.

    A table is None if the player was given none: it then uses its own (``leaves_for`` and
    ``win_probabilities_for`` of ``lexicons.tables``).
    """

    lexicon: Lexicon
    leaves: LeaveTable | None = None
    win_probabilities: WinProbabilities | None = None
    threads: int = 1
    ponder: bool = False


class Tables(NamedTuple):
    """The tables of an equipment, loaded; None if it names none."""

    leaves: LeaveTable | None
    win_probabilities: WinProbabilities | None


def load_tables(equipment: Equipment, distribution: TileDistribution) -> Tables:
    """Load the tables that an equipment names, for games with these tiles.

    Each table is loaded once in a process.

    Raises:
        ValueError: a file is broken, or for other tiles; the message names it.
        OSError: a file cannot be read; the sentence names it.
    """
    leaves, winprob = equipment.leaves, equipment.win_probabilities
    return Tables(
        None if leaves is None else load_leaves(leaves, distribution),
        None if winprob is None else load_win_probabilities(winprob, distribution),
    )


def doubts_about_tables(equipment: Equipment, lexicon: Lexicon) -> list[str]:
    """Return a sentence for each table that was trained on other words than are played.

    Raises:
        ValueError: a manifest is broken; the message names it.
        OSError: a table or its manifest cannot be read.
    """
    return [
        *leave_table_warnings(equipment.leaves, lexicon),
        *win_probability_warnings(equipment.win_probabilities, lexicon),
    ]
