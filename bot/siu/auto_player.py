"""``champion`` as the player of ``go auto``, following a game from positions.

The player is kept while each position continues the last one of the same game for the same player
on turn, so that inferences are not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.player import ExchangedCount, Observed, View
from bot.players.champion import compose
from bot.search.late_game import Solvers
from bot.search.strategy import Strategy
from engine.rules.moves import Exchange
from engine.rules.position import bag_count

from .modes import Task
from .position import Situation, Turn
from .resources import Kit

__all__ = ["Follower"]


class Follower:
    """Keeps the player of one game informed."""

    def __init__(self) -> None:
        self._solvers = Solvers()
        self._player = compose(self._solvers)
        self._of: tuple[object, ...] | None = None
        self._told: tuple[Turn, ...] = ()

    def player(self, task: Task, kit: Kit) -> tuple[Strategy, View]:
        """Return the player, told of all turns, and its view.

        Raises:
            ValueError: there is no memory for its endgame solver.
        """
        situation = task.situation
        of = (task.game, kit, situation.seat, situation.key[0], task.settings.seed, task.threads)
        told = len(self._told)
        if of != self._of or self._told != situation.turns[:told]:
            self._player = compose(self._solvers)
            self._of, told = None, 0
            start = kit.view(task, 0)
            try:
                self._player.make_room(start)
            except MemoryError as error:
                raise ValueError(f"auto: {error}") from None
            self._player.new_game(start)
            self._of = of
        history = list(_history(situation))
        for at, observed in enumerate(history[told:], told + 1):
            if observed is not None:
                self._player.observe(kit.view(task, at, history[:at]), observed)
        self._told = situation.turns
        view = kit.view(task, history=history)
        if self._player.opponent is not None:
            is_whole = bool(view.position.racks[view.opponent])
            self._player.opponent.known = situation.known if view.bag and not is_whole else ()
        return self._player, view


def _history(situation: Situation) -> Iterator[Observed | None]:
    """Yield turns as a player at the table sees them; None if challenged off."""
    for at, turn in enumerate(situation.turns):
        if turn.phony:
            yield None
            continue
        after = situation.seen(at + 1)
        move = turn.move
        if isinstance(move, Exchange) and turn.seat != situation.seat:
            move = len(move.tiles)
        yield Observed(
            seq=at + 1,
            seat=turn.seat,
            move=ExchangedCount(move) if isinstance(move, int) else move,
            score=turn.score,
            scores=after.scores,
            bag=bag_count(after, situation.rules),
            think_ms=0,
        )
