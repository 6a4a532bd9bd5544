"""The opponent's replies in a pre-endgame, while tiles are left in the bag.

It moves without knowing them, by a *model*:

``rational``     the reply that is best on average over what it does not see, the same in all cases
                 that it can't tell apart. The best few by static equity, and a pass, are compared,
                 each by a short look at a sample of the racks that we may hold.
``pessimistic``  the reply worst for us, as if it knew everything; the same few are compared.
``static``       the reply of the highest equity.

If the bag is not empty after that, both sides make static moves until it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Generator as Steps
from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from engine.movegen.generator import Generator, RankedMove, passing
from engine.rules.position import Position
from engine.rules.rules import used_tiles

from .bounds import Branch
from .scenarios import FullPosition, list_scenarios, orders_of, played_statically

Model: TypeAlias = Literal["rational", "pessimistic", "static"]
MODELS: Final[tuple[Model, ...]] = get_args(Model)

_REPLIES = 4  # compared, besides a pass
_GUESSES = 6  # most racks of ours that it considers
_GUESS_NODES = 32
_STATIC_MOVE = 30  # nodes that take as long as a static move

Search: TypeAlias = Callable[[Branch, int], Iterator[int]]
"""Searches an endgame for some nodes; yields those of each step."""


class Opponent:
    """The opponent in a pre-endgame; methods are generators that yield the nodes of each step.

    ``generator`` is for static moves of both sides, ``seed`` for the racks and orders considered.
    """

    def __init__(self, model: Model, generator: Generator, search: Search, seed: int) -> None:
        self._model, self._generator = model, generator
        self._search, self._seed = search, seed
        self._chosen: dict[Position, RankedMove] = {}

    @property
    def is_static(self) -> bool:
        """Whether its replies need no search."""
        return self._model == "static"

    def static_branches(self, full: FullPosition) -> Steps[int, None, list[Branch]]:
        """Play on with the static reply of the player on turn."""
        (reply,) = self._generator.best(full.position)
        yield _STATIC_MOVE
        return [(yield from self._branch(full, reply, 1 - full.position.on_turn))]

    def branches(self, full: FullPosition) -> Steps[int, None, list[Branch]]:
        """Play on with the replies that the model may choose."""
        if self.is_static:
            return (yield from self.static_branches(full))
        seat = full.position.on_turn
        seen = full.position.with_rack(1 - seat, ())
        replies = [*self._generator.best(seen, _REPLIES), passing(seen)]
        yield _STATIC_MOVE
        if self._model == "rational":
            if seen not in self._chosen:
                self._chosen[seen] = yield from self._choose(seen, replies)
            replies = [self._chosen[seen]]
        branches = []
        for reply in replies:
            branches.append((yield from self._branch(full, reply, 1 - seat)))
        return branches

    def _branch(self, full: FullPosition, reply: RankedMove, seat: int) -> Steps[int, None, Branch]:
        full = full.after(reply.move, reply.score, self._generator.rules, self._seed)
        is_exact = self.is_static and (full.over or not full.bag)
        for after in played_statically(full, self._generator, self._seed):
            full = after
            yield _STATIC_MOVE
        return Branch(full, seat, is_exact=is_exact)

    def _choose(self, seen: Position, replies: list[RankedMove]) -> Steps[int, None, RankedMove]:
        rules, seat = self._generator.rules, seen.on_turn
        cases, _ = list_scenarios(seen, rules, None, self._seed, _GUESSES)
        worths = []
        for reply in replies:
            together = len(used_tiles(reply.move))
            wins, spread = 0.0, 0.0
            for nth, case in enumerate(cases):
                ((bag, _),), _ = orders_of(case.bag, together, 1, self._seed + nth)
                full = FullPosition(seen.with_rack(1 - seat, case.rack), bag)
                branch = yield from self._branch(full, reply, seat)
                yield from self._search(branch, _GUESS_NODES)
                wins += case.weight * (np.sign(branch.final) + 1) / 2
                spread += case.weight * branch.final
            worths.append((round(wins, 9), spread))
        return replies[max(range(len(replies)), key=worths.__getitem__)]
