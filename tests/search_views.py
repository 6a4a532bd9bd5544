"""Views of positions to be searched, and clocks that go by how often they are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rollout_positions import RULES, scowl

from bot.player import Budget, Choice, View
from engine.rules.position import Board, Position, bag_count
from protocol.parts import TimeControl


class Clock:
    """A clock on which so much time goes by each time it is read."""

    def __init__(self, step_ms: int = 0) -> None:
        self.now_ms = 0
        self._step_ms = step_ms

    def __call__(self) -> int:
        self.now_ms += self._step_ms
        return self.now_ms


class Offers(Budget):
    """A budget that keeps every offer, and may be told to end after one of them."""

    def __init__(self, until: Callable[[list[Choice]], bool] = lambda _: False) -> None:
        super().__init__(10**15)
        self.offers: list[Choice] = []
        self._ends = until

    def offer(self, choice: Choice) -> None:
        super().offer(choice)
        self.offers.append(choice)
        if self._ends(self.offers):
            self.cancel()


def unlimited() -> Budget:
    """Give as much time as a search wants."""
    return Budget(10**15)


def opening(rack: str) -> Position:
    """Give a first turn."""
    tiles = tuple(sorted(RULES.distribution.alphabet.tiles(rack)))
    return Position(Board.empty(RULES.layout), (tiles, ()), (0, 0))


def view_at(position: Position, **changes: Any) -> View:
    """Give what the player sees whose rack is known."""
    seat = 0 if position.racks[0] else 1
    given: dict[str, Any] = {
        "game": "g",
        "seat": seat,
        "players": ("me", "you"),
        "position": position,
        "bag": bag_count(position, RULES),
        "clocks": (900_000, 900_000),
        "time": TimeControl(),
        "rules": RULES,
        "lexicon": scowl(),
        "seed": 1,
    }
    return View(**given | changes)
