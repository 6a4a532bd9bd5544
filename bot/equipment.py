"""What a seat plays with: named on a command line, and loaded.

``Equipment`` goes from a command to the processes that its seats live in; it brings in nothing
heavy. ``Resources`` are what a player gets of it for a game.
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
        ValueError: no thread at all.
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
    """How many a player may search with at once."""
    ponder: bool = False
    """Whether a player may use the time in which its opponent thinks; it needs cores of its own."""

    def __post_init__(self) -> None:
        """Check the number of threads; files are checked when they are loaded."""
        if self.threads < 1:
            raise ValueError(f"{self.threads} threads; a player searches with 1 or more")

    def arguments(self) -> list[str]:
        """Write it as the options of a worker."""
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

    Tables are there if the player was given them. Else it has its own: ``lexicons.tables`` gives
    them (``leaves_for``, ``win_probabilities_for``) when they are first wanted.
    """

    lexicon: Lexicon
    leaves: LeaveTable | None = None
    win_probabilities: WinProbabilities | None = None
    threads: int = 1
    ponder: bool = False


class Tables(NamedTuple):
    """The tables of an equipment, loaded; None where it names none."""

    leaves: LeaveTable | None
    win_probabilities: WinProbabilities | None


def load_tables(equipment: Equipment, distribution: TileDistribution) -> Tables:
    """Load the tables that an equipment names, for games with these tiles; each once a process.

    Raises:
        ValueError: names the file and what is wrong with it, or that it is for other tiles.
        OSError: a file cannot be read; the sentence names it.
    """
    leaves, winprob = equipment.leaves, equipment.win_probabilities
    return Tables(
        None if leaves is None else load_leaves(leaves, distribution),
        None if winprob is None else load_win_probabilities(winprob, distribution),
    )


def doubts_about_tables(equipment: Equipment, lexicon: Lexicon) -> list[str]:
    """Say in sentences which tables were trained on other words than those that are played.

    Raises:
        ValueError: a manifest that is no manifest; names the file.
        OSError: a table or its manifest cannot be read.
    """
    return [
        *leave_table_warnings(equipment.leaves, lexicon),
        *win_probability_warnings(equipment.win_probabilities, lexicon),
    ]
