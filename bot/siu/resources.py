"""What a search works with, loaded: words, leaves, win probabilities, and what they are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.movegen.generator import Generator
from engine.rules.rules import Rules
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import (
    TRAINED,
    leaves_for,
    leaves_name,
    load_leaves,
    load_win_probabilities,
    win_probabilities_for,
)
from lexicons.trained import TRAINED_ON
from lexicons.win_probability import WinProbabilities
from protocol.siu.answers import Provenance

from .data_folders import name_of
from .settings import Settings

__all__ = ["Kit", "load_kit"]


@dataclass(frozen=True, eq=False)
class Kit:
    """What a search works with."""

    rules: Rules
    lexicon: Lexicon
    leaves: LeaveTable
    win_probabilities: WinProbabilities | None
    provenance: Provenance

    def generator(self) -> Generator:
        """Make a generator, which one search at a time may use."""
        return Generator(self.lexicon, self.rules, self.leaves)


def load_kit(settings: Settings, rules: Rules, engine: str, progress: Callable[[str], None]) -> Kit:
    """Load what settings name, for games by some rules.

    Args:
        settings: say what; the rules say which tiles.
        rules: those of the game.
        engine: what we are called where figures come from.
        progress: told in a sentence what takes time.

    Raises:
        ValueError: what is wrong with a file, or that it is for other tiles.
        OSError: a file can't be read.
    """
    tiles, leaves, table = rules.distribution, settings.leaves, settings.win_probabilities
    lexicon = load_lexicon(settings.lexicon, tiles, progress)
    chances = (
        win_probabilities_for(tiles) if table is None else load_win_probabilities(table, tiles)
    )
    kit = Kit(
        rules,
        lexicon,
        leaves_for(tiles) if leaves is None else load_leaves(leaves, tiles),
        chances,
        Provenance(
            engine,
            _identified(leaves_name(leaves, tiles).partition(" ")[0]),
            "none" if chances is None else _identified(table or TRAINED),
            _word(lexicon.name),
        ),
    )
    kit.generator()  # sees that all are for the same tiles
    return kit


def _identified(name: str) -> str:
    """Say which table it is in a word; what was trained depends on the words it was trained on."""
    return f"{TRAINED}-{TRAINED_ON}" if name == TRAINED else _word(name_of(name))


def _word(text: str) -> str:
    return "_".join(text.split()) or "unnamed"
