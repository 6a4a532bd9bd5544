"""Players for the tests of bots: one that keeps what it is told, and one that waits."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.player import Budget, Choice, Observed, Player, Result, View
from engine.rules.moves import PASS, Move
from engine.rules.rules import Rules
from lexicons.store import Lexicon


class Passes(Player):
    """Somebody else's player: passes; keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.seen: list[tuple[View, Observed]] = []
        self.start: View | None = None
        self.results: list[Result] = []
        self.over = threading.Event()

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        self.told.append("warm_up")

    def new_game(self, view: View) -> None:
        self.told.append("new_game")
        self.start = view

    def observe(self, view: View, play: Observed) -> None:
        self.told.append("observe")
        self.seen.append((view, play))

    def choose(self, view: View, budget: Budget) -> Choice:
        self.told.append("choose")
        return Choice(PASS)

    def refused(self, view: View, move: Move, message: str) -> None:
        self.told.append("refused")

    def game_over(self, view: View, result: Result) -> None:
        self.told.append("game_over")
        self.results.append(result)
        self.over.set()


class Waits(Player):
    """Thinks until it is let go; offers what it has been given to offer."""

    def __init__(self, offer: Callable[[View], Choice] | None = None) -> None:
        self.go = threading.Event()
        self.thinking = threading.Event()
        self.offer = offer
        self.calls = 0
        self.budget: Budget | None = None

    def choose(self, view: View, budget: Budget) -> Choice:
        self.calls += 1
        self.budget = budget
        if self.offer is not None:
            budget.offer(self.offer(view))
        self.thinking.set()
        self.go.wait(30)
        return Choice(PASS)
