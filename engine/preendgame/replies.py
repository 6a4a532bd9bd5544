"""The opponent's reply in a pre-endgame, if tiles are left in the bag when it is on turn.

``perfect``   it sees everything, our rack and what is drawn, and so do we from then on: published
              values of pre-endgames take both sides so.
``rational``  it knows what it sees, and makes the reply that wins most often over what it does not
              see, the same in all cases that it can't tell apart. The best few by static equity,
              and a pass, are compared, each by a short look at a sample of the racks that we may
              hold.
``static``    the reply of the highest equity.

After the reply both sides see everything. But after two passes, by the last two models, we still
don't know what is in the bag, and make one move for all cases (``solver``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Generator as Steps
from typing import Final, Literal, TypeAlias, get_args

from engine.movegen.generator import Generator, RankedMove, passing
from engine.rules.position import Position
from engine.rules.rules import used_tiles

from .bounds import Trial
from .scenarios import FullPosition, list_scenarios, orders_of

Model: TypeAlias = Literal["perfect", "rational", "static"]
MODELS: Final[tuple[Model, ...]] = get_args(Model)

STATIC_MOVE = 30
"""Nodes that take as long as a static move."""
_REPLIES = 4  # compared, besides a pass
_GUESSES = 6  # most racks of ours that it considers
_GUESS_NODES = 32

Search: TypeAlias = Callable[[Trial, int, int], Iterator[int]]
"""Searches what a trial asks, for a seat and for some nodes; yields the nodes of each step."""


class Opponent:
    """The opponent in a pre-endgame, by the model ``rational`` or ``static``.

    ``generator`` is for static moves, ``seed`` for the racks and orders considered.
    """

    def __init__(self, model: Model, generator: Generator, search: Search, seed: int) -> None:
        self._model, self._generator = model, generator
        self._search, self._seed = search, seed
        self._chosen: dict[Position, RankedMove] = {}

    def reply(self, full: FullPosition) -> Steps[int, None, RankedMove]:
        """Choose the reply of the player on turn; yields the nodes of each step."""
        seat = full.position.on_turn
        seen = full.position.with_rack(1 - seat, ())
        if seen not in self._chosen:
            yield STATIC_MOVE
            replies = self._generator.best(seen, 1 if self._model == "static" else _REPLIES)
            if self._model == "rational":
                chosen = yield from self._best_of([*replies, passing(seen)], seen)
                self._chosen[seen] = chosen
            else:
                self._chosen[seen] = replies[0]
        return self._chosen[seen]

    def _best_of(self, replies: list[RankedMove], seen: Position) -> Steps[int, None, RankedMove]:
        rules, seat = self._generator.rules, seen.on_turn
        cases, _ = list_scenarios(seen, rules, None, self._seed, _GUESSES)
        worths = []
        for reply in replies:
            together = len(used_tiles(reply.move))
            wins, spread = 0.0, 0.0
            for nth, case in enumerate(cases):
                ((bag, _),), _ = orders_of(case.bag, together, 1, self._seed + nth)
                full = FullPosition(seen.with_rack(1 - seat, case.rack), bag)
                guess = Trial(full, case.weight)
                guess.ask(full, reply, rules, seat, seed=self._seed)
                yield from self._search(guess, seat, _GUESS_NODES)
                wins += case.weight * ((guess.final > 0) + (guess.final == 0) / 2)
                spread += case.weight * guess.final
            worths.append((round(wins, 9), spread))
        return replies[max(range(len(replies)), key=worths.__getitem__)]
