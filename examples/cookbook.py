"""Six bots, from the highest score to simulation, for ``docs/players.md``.

tilewire match "examples/cookbook.py:Lookahead?racks=30" examples/cookbook.py:Defensive
"""

from __future__ import annotations

import random

from bot.player import (
    Budget,
    Choice,
    Considered,
    ExchangedCount,
    Move,
    Observed,
    Player,
    Rack,
    View,
)
from bot.search.simulating import SimulationSearch, SimulationSettings


class HighestScore(Player):
    """Plays the highest score, whatever that leaves on the rack."""

    def choose(self, view: View, budget: Budget) -> Choice:
        best = view.legal_moves()[0]
        return Choice(best.move, score=best.score)


class BestEquity(Player):
    """Plays the highest equity: score, leave value and the engine's adjustments."""

    def choose(self, view: View, budget: Budget) -> Choice:
        ranked = view.ranked_moves(5)
        best = ranked[0]
        return Choice(
            best.move,
            score=best.score,
            equity=best.equity,
            text=f"keeps {view.text(best.leave) or 'nothing'}",
            candidates=tuple(
                Considered(one.move, score=one.score, equity=one.equity) for one in ranked
            ),
        )


class Defensive(Player):
    """Gives up points rather than open a triple word square to the opponent."""

    def __init__(self, cost: float = 8.0) -> None:
        self.cost = cost  # points for each square opened

    def choose(self, view: View, budget: Budget) -> Choice:
        ranked = view.ranked_moves(30)
        best = max(ranked, key=lambda one: one.equity - self.cost * self.opened(view, one.move))
        return Choice(best.move, score=best.score, equity=best.equity)

    def opened(self, view: View, move: Move) -> int:
        """Count the empty triple word squares within three squares of the tiles laid."""
        laid = view.squares(move)
        reached = {
            (row + down, column + right)
            for row, column in laid
            for step in range(-3, 4)
            for down, right in ((step, 0), (0, step))
        }
        return sum(
            view.premium(*square)[1] == 3 and not view.at(*square) for square in reached - set(laid)
        )


class Lookahead(Player):
    """Plays what is best after the opponent's best answer, over racks that it may hold."""

    def __init__(self, moves: int = 8, racks: int = 15) -> None:
        self.moves, self.racks = moves, racks

    def choose(self, view: View, budget: Budget) -> Choice:
        ranked = view.ranked_moves(self.moves)
        best = Choice(ranked[0].move, text="no time to look ahead")
        chance = random.Random(f"{view.seed} {len(view.history)}")
        gains = [0.0] * len(ranked)
        for done in range(1, self.racks + 1):
            rack = self.guess(view, chance)
            for at, one in enumerate(ranked):
                if budget.expired:  # what was begun is not comparable
                    return best
                goes_out = not view.bag and not one.leave
                answer = 0 if goes_out else self.answer(view, one.move, rack)
                gains[at] += one.equity - answer
            leader = max(range(len(ranked)), key=gains.__getitem__)
            best = Choice(ranked[leader].move, equity=gains[leader] / done, text=f"{done} racks")
            budget.offer(best)
        return best

    def answer(self, view: View, move: Move, rack: Rack) -> int:
        return view.opponent_view(move, rack).ranked_moves(1)[0].score

    def guess(self, view: View, chance: random.Random) -> Rack:
        """Draw a rack for the opponent; with an empty bag it is what is unseen."""
        held = min(len(view.unseen_tiles), view.rules.rack_size)
        return tuple(sorted(chance.sample(view.unseen_tiles, held)))


class Simulating(Player):
    """Rolls the best moves out with tilewire's engine."""

    def __init__(self, candidates: int = 10, iterations: int = 100) -> None:
        self.settings = SimulationSettings(candidates=candidates, iterations=iterations)

    def choose(self, view: View, budget: Budget) -> Choice:
        search = SimulationSearch(view, self.settings, seed=view.seed + len(view.history))
        return search.run(budget)  # offers its best so far, and ends in time


class Watchful(Lookahead):
    """Looks ahead against what the opponent is likely to have kept when it exchanged."""

    kept = 0  # tiles of its rack that it chose to keep

    def observe(self, view: View, play: Observed) -> None:  # after a restart, each turn again
        if play.seat == view.opponent:
            exchanged = play.move.count if isinstance(play.move, ExchangedCount) else None
            self.kept = 0 if exchanged is None else view.rules.rack_size - exchanged

    def guess(self, view: View, chance: random.Random) -> Rack:
        """Of five draws take the kept tiles that are worth most; the rest is drawn blindly."""
        left = list(view.unseen_tiles)
        if not self.kept or len(left) <= view.rules.rack_size:
            return super().guess(view, chance)
        draws = [sorted(chance.sample(left, self.kept)) for _ in range(5)]
        kept = max(draws, key=view.leave_value)
        for tile in kept:
            left.remove(tile)
        return tuple(sorted([*kept, *chance.sample(left, view.rules.rack_size - self.kept)]))
