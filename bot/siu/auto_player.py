"""``champion`` as the player of ``go auto``: told of a game as positions come in.

The player lives as long as each position goes on from the last one of the same game and it is the
same player's turn, so that what was inferred is not inferred again.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.equipment import Resources
from bot.player import Budget, ExchangedCount, Observed, View
from bot.players.champion import ChampionPlayer
from engine.rules.moves import Exchange
from engine.rules.position import Rack, bag_count
from engine.simulation.rollout_input import Belief

from .modes import Task
from .position import Situation, Turn
from .resources import Kit
from .simulating import reveal

__all__ = ["Follower"]


class _Champion(ChampionPlayer):
    """The champion, who may also know for certain some of what the opponent holds."""

    known: Rack = ()

    def inherit(self, other: ChampionPlayer) -> None:
        """Take over the solver of an earlier game, for the memory that it has got."""
        self._solver = other._solver

    def prepare(self, view: View, budget: Budget) -> None:
        """Take in what was noted, and what is certain."""
        super().prepare(view, budget)
        if self.known and self._opponent is not None:
            held = min(view.rules.rack_size, sum(view.unseen))
            reveal(self._opponent.tracker, self.known, view.unseen, held)

    def belief(self, view: View) -> Belief | None:
        """Say what the opponent may hold; nothing where his rack is in the position."""
        if self._opponent is None or view.position.racks[view.opponent]:
            return None
        return self._opponent.belief(view, 0.0) if self.known else super().belief(view)


class Follower:
    """Keeps the player of one game, and tells it what has happened since."""

    def __init__(self) -> None:
        self._player = _Champion()
        self._of: tuple[object, ...] | None = None
        self._told: tuple[Turn, ...] = ()

    def player(self, task: Task, kit: Kit) -> tuple[ChampionPlayer, View]:
        """Give the player, told of all turns, and what it sees now.

        Raises:
            ValueError: there is no memory for what it solves endgames with.
        """
        situation = task.situation
        of = (task.game, kit, situation.seat, situation.key[0], task.settings.seed, task.threads)
        told = len(self._told)
        if of != self._of or self._told != situation.turns[:told]:
            before, self._player = self._player, _Champion()
            if self._of is not None and (self._of[1], self._of[-1]) == (kit, task.threads):
                self._player.inherit(before)
            del before  # whose memory is free before another is asked for
            self._of, told = None, 0
            start = _view(task, kit, 0, ())
            try:
                self._player.make_room(start)
            except MemoryError as error:
                raise ValueError(f"auto: {error}") from None
            self._player.new_game(start)
            self._of = of
        history = list(_history(situation))
        for at in range(told, len(situation.turns)):
            if (observed := history[at]) is not None:
                after = _view(task, kit, at + 1, _so_far(history, at + 1))
                self._player.observe(after, observed)
        self._told = situation.turns
        whole = bool(situation.position.racks[1 - situation.seat])
        self._player.known = situation.known if situation.bag and not whole else ()
        return self._player, _view(task, kit, len(history), _so_far(history, len(history)))


def _view(task: Task, kit: Kit, turn: int, history: tuple[Observed, ...]) -> View:
    """Give what the player on turn at the end sees before a turn, or at the end."""
    situation = task.situation
    end = turn == len(situation.turns)
    position = situation.position if end else situation.seen(turn)
    resources = Resources(kit.lexicon, kit.leaves, kit.win_probabilities, task.threads)
    return View.at(
        position,
        situation.seat,
        situation.rules,
        resources,
        bag=bag_count(position, situation.rules),
        game="siu",
        history=history,
        seed=task.settings.seed,
    )


def _history(situation: Situation) -> Iterator[Observed | None]:
    """Give turns as a player at the table sees them.

    What was challenged off is none: it tells what was shown, and nothing of what would be played.
    """
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


def _so_far(history: list[Observed | None], count: int) -> tuple[Observed, ...]:
    return tuple(one for one in history[:count] if one is not None)
