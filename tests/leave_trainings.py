"""Trainings of leave tables that take seconds, and workers that do and do not do their work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from engine.rules.rules import Rules
from harness.lab.training.leaves import Goal, LeaveTraining, RoundDone, TableMade
from harness.workers import Workers
from lexicons.alphabet import Alphabet, TileDistribution
from lexicons.build import build_word_graph
from lexicons.layout import load_layout
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

Common = TypeVar("Common")
Work = TypeVar("Work")
Result = TypeVar("Result")

LETTERS = ("?", *"ABCDQ")
TILES = TileDistribution(
    name="few",
    alphabet=Alphabet(LETTERS, tuple("?abcdq")),
    counts=(2, 14, 8, 12, 6, 1),
    points=(0, 1, 3, 2, 2, 10),
    vowels=(False, True, False, False, False, False),
)
RULES = Rules(TILES, load_layout("standard"), rack_size=5)
WORDS = ["AB", "AC", "BAC", "CAB", "DAC", "ABACA", "BA", "CAD", "ADA", "CABAL", "QAB", "ACDAB"]
GAMES = 2_400


def lexicon_of(words: list[str]) -> Lexicon:
    known = [word for word in words if set(word) <= set(LETTERS)]
    graph = build_word_graph([TILES.alphabet.tiles(word) for word in known])
    return Lexicon("few", TILES, graph, "checksum of " + " ".join(known))


@cache
def few() -> Lexicon:
    return lexicon_of(WORDS)


class Backwards(Workers):
    """Has the last share done first."""

    def work_through(
        self, function: Callable[[Common, Work], Result], common: Common, shares: Iterable[Work]
    ) -> Iterator[tuple[Work, Result]]:
        return super().work_through(function, common, reversed(list(shares)))


class Stopped(Exception):
    """The training is killed."""


@dataclass
class Mortal(Workers):
    """Workers that are killed in their second round, with half of it done."""

    rounds: int = 0

    def work_through(
        self, function: Callable[[Common, Work], Result], common: Common, shares: Iterable[Work]
    ) -> Iterator[tuple[Work, Result]]:
        self.rounds += 1
        given = list(shares)
        for share in given if self.rounds == 1 else given[: len(given) // 2]:
            yield share, function(common, share)
        if self.rounds > 1:
            raise Stopped


@dataclass
class Recorder(Workers):
    """Workers that keep what they were asked for, and play a number of shares of each round."""

    most: int = 1_000
    asked: list[tuple[Any, list[Any]]] = field(default_factory=list)

    def work_through(
        self, function: Callable[[Common, Work], Result], common: Common, shares: Iterable[Work]
    ) -> Iterator[tuple[Work, Result]]:
        given = list(shares)
        self.asked.append((common, given))
        return super().work_through(function, common, given[: self.most])


def ignore(_news: object) -> None:
    pass


def ticking(seconds: float) -> Callable[[], float]:
    """Give a clock on which so many seconds pass from one look at it to the next."""
    looks = count()
    return lambda: next(looks) * seconds


def training(goal: Goal | None = None, checkpoint: Path | None = None) -> LeaveTraining:
    return LeaveTraining(few(), RULES, goal or Goal(games=GAMES, seed=1, floor=20), checkpoint)


@cache
def undisturbed() -> tuple[LeaveTable, int, list[dict[str, float]], list[RoundDone | TableMade]]:
    """Train to the end at one go: the table, the games, the tables' facts and all that was told."""
    told: list[RoundDone | TableMade] = []
    one = training()
    table = one.run(Workers(), told.append, ticking(1.0))
    return table, one.games, one.progress.tables, told


def assert_same(one: LeaveTraining, table: LeaveTable) -> None:
    expected, games, tables, _ = undisturbed()
    assert (table.values == expected.values).all()
    assert one.games == games
    assert one.progress.tables == tables
