"""One table of a ladder: who is there, what they have played, how they are rated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice, takewhile
from random import Random
from statistics import fmean
from typing import NamedTuple

import numpy as np

from harness.matches.rating_list import CENTRE, SPREAD, WIDTH, RatingList
from lexicons.arrays import F32
from protocol.parts import TimeControl

from .history import History
from .matchmaking import Look, Match, Present, matches
from .rating_process import RatingTask

MOST_PATIENCE_S = 30.0
DAYS_AT_ONCE = 20


class Rating(NamedTuple):
    """A player's rating, Elo."""

    rating: float
    error: float
    """Half the width of the 95 % interval; 0 for an anchor."""


class Day(NamedTuple):
    """Ratings at the end of a day (UTC)."""

    day: date
    games: int
    ratings: F32
    errors: F32


@dataclass(slots=True)
class LatestRatings:
    """The ratings that were computed last."""

    listed: RatingList
    games: int
    at: float
    """When, in seconds since 1970."""


class RatedTable:
    """Players of one time control, by number in its history.

    Only ``pair`` has to do with pairing, and only ``task`` and ``take_ratings`` with computing.
    """

    def __init__(
        self,
        name: str,
        time: TimeControl,
        anchors: Mapping[str, float],
        owners: Callable[[str], frozenset[str]],
    ) -> None:
        self.name, self.time, self.anchors = name, time, anchors
        self._owners = owners
        self.history = History()
        self.latest: LatestRatings | None = None
        self.days: list[Day] = []
        self._present: dict[int, Present] = {}

    @property
    def patience_s(self) -> float:
        """Longest time that a player waits for a better opponent."""
        return min(MOST_PATIENCE_S, self.time.initial_ms / 10_000)

    def begin_with(self, history: History) -> None:
        """Take the games of the journal."""
        self.history = history
        for name in self.anchors:
            self.come(name, 0.0)

    # --- who is there ---------------------------------------------------------------------------

    def come(self, name: str, now_s: float) -> None:
        """Add a player that waits for a game, since ``now_s`` (monotonic seconds)."""
        player = self.history.player(name)
        rating = self.rating(player)
        record = self.history.records[player]
        self._present[player] = Present(
            player,
            rating.rating,
            rating.error / WIDTH,
            record.lead,
            record.recent,
            since_s=now_s,
            chooses=name not in self.anchors,
            owners=frozenset() if name in self.anchors else self._owners(name),
        )

    def remove(self, name: str) -> None:
        """Remove a player from those present."""
        player = self.history.find(name)
        if player is not None:
            self._present.pop(player, None)

    def mark_busy(self, name: str) -> None:
        """Note that a player has a game, after which it may come again."""
        player = self.history.find(name)
        if player in self._present:
            self._present[player].waits = False

    def plays(self, name: str) -> None:
        """Note that a player has a game from before the server's start."""
        if self.history.find(name) not in self._present:
            self.come(name, 0.0)
        self.mark_busy(name)

    def waits(self) -> bool:
        """Return whether a player waits that is not an anchor."""
        return any(player.waits and player.chooses for player in self._present.values())

    def state(self, player: int) -> str:
        """Return what a player does: ``plays``, ``waits``, or is ``away``."""
        present = self._present.get(player)
        if present is None:
            return "away"
        return "waits" if present.waits else "plays"

    def pair(self, places: int, now_s: float, random: Random) -> list[Match]:
        """Return the games to begin now."""
        present = list(self._present.values())
        return matches(Look(present, now_s, self.patience_s, random), places)

    def is_rated(self, match: Match) -> bool:
        """Return whether two who are present may have a rated game: they are not one owner's."""
        return not self._present[match.first].is_kin(self._present[match.second])

    # --- ratings --------------------------------------------------------------------------------

    def rating(self, player: int) -> Rating:
        """Return a player's rating; if it is not in the last list, the expected one."""
        anchor = self.anchors.get(self.history.records[player].name)
        if anchor is not None:
            return Rating(anchor, 0.0)
        listed = None if self.latest is None else self.latest.listed
        if listed is None:
            return Rating(fmean(self.anchors.values() or [CENTRE]), SPREAD * WIDTH)
        if player < listed.ratings.size:
            return Rating(float(listed.ratings[player]), float(listed.errors[player]))
        return Rating(float(listed.ratings.mean()), listed.spread * WIDTH)

    def met(self, player: int) -> tuple[int, float]:
        """Return how many opponents a player's rating comes from, and the share of the largest."""
        listed = None if self.latest is None else self.latest.listed
        if listed is None or player >= listed.ratings.size:
            return 0, 0.0
        return int(listed.opponents[player]), float(listed.largest[player])

    def task(self, today: date) -> RatingTask | None:
        """Return what is to be computed, if anything: the list now, and those of past days."""
        unrated = self.history.days[len(self.days) :]
        days = [*islice(takewhile(lambda end: end.day < today, unrated), DAYS_AT_ONCE)]
        rated_games = 0 if self.latest is None else self.latest.games
        if self.history.games == rated_games and not days:
            return None
        held = np.full(len(self.history.records), math.nan)
        for name, rating in self.anchors.items():
            held[self.history.player(name)] = rating
        start = None
        if self.latest is not None:
            start = np.full(held.size, math.nan)
            start[: self.latest.listed.ratings.size] = self.latest.listed.ratings
        return RatingTask(self.history.meetings(), held, start, days)

    def take_ratings(self, task: RatingTask, lists: list[RatingList], at: float) -> None:
        """Take what was computed for a task."""
        self.latest = LatestRatings(lists[0], task.games.first.size, at)
        for listed, end in zip(lists[1:], task.days, strict=True):
            short = (each.astype(np.float32) for each in listed[:2])
            self.days.append(Day(*end, *short))
        for player, present in self._present.items():
            rating = self.rating(player)
            present.rating, present.deviation = rating.rating, rating.error / WIDTH

    def over_time(self, player: int) -> Iterator[tuple[date, Rating]]:
        """Yield a player's rating at the end of each day with games, once it has played."""
        record = self.history.records[player]
        for day in self.days if record.games else ():
            if record.first < day.games:
                yield day.day, Rating(float(day.ratings[player]), float(day.errors[player]))
