"""What a seat plays with: named on a command line, and loaded.

``Equipment`` goes from a command to the processes that its seats live in; it brings in nothing
heavy. ``Resources`` are what a player gets of it for a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lexicons.alphabet import TileDistribution
    from lexicons.leaves import LeaveTable
    from lexicons.store import Lexicon
    from lexicons.win_probability import WinProbabilities

__all__ = ["Equipment", "Resources", "Tables", "load_tables"]


@dataclass(frozen=True)
class Equipment:
    """What a seat is given, by name.

    Raises:
        ValueError: no thread at all.
    """

    lexicon: str = "scowl"
    """An embedded lexicon's name, or the path of a word list or word graph."""
    leaves: str | None = None
    """A leave table (KLV2); None: the players' own."""
    win_probabilities: str | None = None
    """A table by spread and unseen tiles (CSV); None: the players' own."""
    threads: int = 1
    """How many a player may search with at once."""

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
        return written


@dataclass(frozen=True)
class Resources:
    """What a player has for one game, loaded."""

    lexicon: Lexicon
    leaves: LeaveTable | None = None
    win_probabilities: WinProbabilities | None = None
    threads: int = 1


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
    _check_there("leave table", leaves)
    _check_there("table of win probabilities", winprob)
    return Tables(
        None if leaves is None else _leaves(leaves, distribution),
        None if winprob is None else _win_probabilities(winprob),
    )


def _check_there(what: str, path: str | None) -> None:
    if path is not None and not Path(path).is_file():
        raise FileNotFoundError(f"there is no {what} {path}")


@lru_cache(maxsize=4)
def _leaves(path: str, distribution: TileDistribution) -> LeaveTable:
    from lexicons.klv import read_klv  # brings numba in

    return read_klv(path, distribution)


@lru_cache(maxsize=4)
def _win_probabilities(path: str) -> WinProbabilities:
    from lexicons.win_probability import read_win_probabilities

    return read_win_probabilities(path)
