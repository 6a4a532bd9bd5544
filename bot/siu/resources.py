"""What a search works with, loaded: words, leaves and win probabilities; and a game as a view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.player import Observed, View
from engine.movegen.candidates import best_candidates, ranked_moves
from engine.movegen.generator import Generator, RankedMove
from engine.rules.moves import Move
from engine.rules.position import Position, bag_count
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
from protocol.parts import TimeControl
from protocol.siu.answers import Provenance

from .data_folders import name_of
from .modes import Task
from .settings import Settings

__all__ = ["Kit", "chosen", "load_kit", "view_at", "with_asked"]


@dataclass(frozen=True, eq=False)
class Kit:
    """What a search works with."""

    rules: Rules
    lexicon: Lexicon
    leaves: LeaveTable
    win_probabilities: WinProbabilities | None
    provenance: Provenance

    def generator(self) -> Generator:
        """Return a new generator, for one search at a time."""
        return Generator(self.lexicon, self.rules, self.leaves)


def load_kit(settings: Settings, rules: Rules, engine: str, progress: Callable[[str], None]) -> Kit:
    """Load what settings name, for games by some rules.

    Args:
        settings: name what is loaded.
        rules: those of the game, with its tiles.
        engine: our name in the provenance of figures.
        progress: takes a sentence about what takes time.

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
    """Name a table in one word; a trained one with the lexicon that it was trained on."""
    return f"{TRAINED}-{TRAINED_ON}" if name == TRAINED else _word(name_of(name))


def _word(text: str) -> str:
    return "_".join(text.split()) or "unnamed"


def view_at(
    task: Task, kit: Kit, turn: int | None = None, history: tuple[Observed, ...] = ()
) -> View:
    """Return what the player on turn at the end sees before a turn, or at the end.

    Args:
        task: the search, with the game and the settings.
        kit: what it works with.
        turn: by number, from 0; None: the end.
        history: the turns until then.
    """
    situation = task.situation
    is_end = turn is None or turn == len(situation.turns)
    position = situation.position if is_end else situation.seen(turn or 0)
    return View(
        game="siu",
        seat=situation.seat,
        players=("first", "second"),
        position=position,
        bag=bag_count(position, situation.rules),
        clocks=(0, 0),
        time=TimeControl(),
        rules=situation.rules,
        lexicon=kit.lexicon,
        history=history,
        seed=task.settings.seed,
        leaves=kit.leaves,
        win_probabilities=kit.win_probabilities,
        threads=task.threads,
    )


# --- moves to compare -----------------------------------------------------------------------------


def chosen(
    generator: Generator,
    position: Position,
    count: int,
    only: Sequence[Move] = (),
    also: Sequence[Move] = (),
) -> list[RankedMove]:
    """Return the moves that are to be compared, each once, the highest equity first.

    Args:
        generator: finds and ranks them.
        position: with the rack of the player on turn.
        count: the number of the best moves …
        only: … or these alone, whatever words they make.
        also: beside the others.
    """
    best = [] if only else best_candidates(generator, position, count)
    return with_asked(generator, position, best, (*only, *also))


def with_asked(
    generator: Generator, position: Position, best: Sequence[RankedMove], asked: Sequence[Move]
) -> list[RankedMove]:
    """Return moves with those that are asked for, each once, the highest equity first."""
    there = {ranked.move for ranked in best}
    others = [move for move in dict.fromkeys(asked) if move not in there]
    ranked = ranked_moves(generator, position, others) if others else []
    return sorted((*best, *ranked), key=lambda ranked: -ranked.equity)
