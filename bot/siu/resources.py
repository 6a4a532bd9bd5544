"""The loaded data of a search (words, leaves, win probabilities), and its game as a view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bot.equipment import Equipment, Resources, load_tables
from bot.player import Observed, View
from bot.search.static_choice import generator_for
from engine.movegen.candidates import best_candidates, with_asked
from engine.movegen.generator import Generator, RankedMove
from engine.rules.moves import Move
from engine.rules.rules import Rules
from lexicons.store import load_lexicon
from lexicons.tables import TRAINED, TRAINED_ON, leaves_for, table_name
from lexicons.text import name_of
from protocol.siu.answers import Provenance

from .modes import SearchTask
from .settings import SiuSettings


@dataclass(frozen=True, eq=False)
class Kit:
    """The loaded data of a search."""

    resources: Resources
    provenance: Provenance

    def view(
        self, task: SearchTask, turn: int | None = None, history: Iterable[Observed | None] = ()
    ) -> View:
        """Return the view, before ``turn``, of the player that is on turn at the end.

        ``turn`` None is the end. ``history`` has the turns before it; None if challenged off.
        """
        situation = task.situation
        is_end = turn is None or turn == len(situation.turns)
        position = situation.position if is_end else situation.seen(turn or 0)
        resources = replace(self.resources, threads=task.threads)
        view = View.of(position, situation.rules, resources, task.settings.seed)
        return replace(view, seat=situation.seat, history=tuple(filter(None, history)))


def load_kit(
    settings: SiuSettings, rules: Rules, engine: str, progress: Callable[[str], None]
) -> Kit:
    """Load the data that settings name, for games by some rules.

    ``engine`` is our name in the provenance; ``progress`` takes a sentence before slow work.

    Raises:
        ValueError: a file is invalid, or for other tiles.
        OSError: a file can't be read.
    """
    tiles, leaves, winprob = rules.distribution, settings.leaves, settings.win_probabilities
    lexicon = load_lexicon(settings.lexicon, tiles, progress)
    tables = load_tables(Equipment(leaves=leaves, win_probabilities=winprob), tiles)
    Generator(lexicon, rules, tables.leaves or leaves_for(tiles))  # checks that they fit
    provenance = Provenance(
        engine,
        _identified(table_name(leaves, tiles).partition(" ")[0]),
        _identified(table_name(winprob, tiles).partition(" ")[0]),
        _word(lexicon.name),
    )
    return Kit(Resources(lexicon, *tables), provenance)


def _identified(name: str) -> str:
    """Return a table's name as one word; for the trained table, with its lexicon."""
    return f"{TRAINED}-{TRAINED_ON}" if name == TRAINED else _word(name_of(name))


def _word(text: str) -> str:
    return "_".join(text.split()) or "unnamed"


def chosen(
    view: View, count: int, only: Sequence[Move] = (), also: Sequence[Move] = ()
) -> list[RankedMove]:
    """Return the moves to compare, each once, the highest equity first.

    They are the moves of ``only``, if given, else the ``count`` best; and those of ``also``. The
    words of given moves are not checked.
    """
    generator = generator_for(view)
    best = [] if only else best_candidates(generator, view.position, count)
    return with_asked(generator, view.position, best, (*only, *also))
