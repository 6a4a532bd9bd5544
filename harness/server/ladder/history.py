"""The rated games of one table of a ladder: derived from the journal, and kept small.

Games are counted by pair of players. Of a single game only its name and its players are kept; all
else is in the journal.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from harness.arbiter.records import Ended

from .game_names import GameNames
from .matchmaking import REMEMBERED
from .tally import Sums, Tally, joined


class RatedGame(NamedTuple):
    """A game that is over, as the journal has it."""

    game: str
    table: str
    players: tuple[str, str]
    """By seat; seat 0 moved first."""
    anchors: frozenset[str]
    """Those of them that were bots of the server."""
    at: float
    """When it ended, in seconds since 1970."""
    ended: Ended

    @property
    def turns(self) -> int:
        """Turns taken."""
        return max(0, self.ended.seq - 1)

    @property
    def points(self) -> float | None:
        """Rated points of the player that moved first; None: the game doesn't count.

        A player that alone failed to come loses, even if the opponent had not come either by then.
        If a bot of the server fails to play, nobody wins by that.
        """
        winner = self.ended.winner
        absent = {fault.seat for fault in self.ended.faults if fault.code == "no_show"}
        if self.ended.outcome == "host_error":
            return None
        if self.ended.outcome == "no_show" and winner is None:
            if len(absent) != 1:
                return None
            winner = 1 - absent.pop()
        if winner is None:
            return 0.5
        failed = self.ended.outcome in ("no_show", "crash", "stall")
        if failed and self.players[1 - winner] in self.anchors:
            return None
        return float(winner == 0)


@dataclass(slots=True, eq=False)
class PlayerRecord:
    """What a player has done so far; ``games`` are those that count."""

    name: str
    games: int = 0
    first: int = 0
    """The number of its first game that counts."""
    points: float = 0.0
    lead: int = 0
    """Games in which it moved first, less those in which it moved second."""
    recent: tuple[int, ...] = ()
    """Its last opponents, the latest first."""
    last: float = 0.0
    """When its last game ended, whether or not it counts."""
    faults: Counter[str] = field(default_factory=Counter)
    forfeits: Counter[str] = field(default_factory=Counter)
    """Games that it lost otherwise than by the score, by outcome."""


class Opponent(NamedTuple):
    """A player's games against one other."""

    player: int
    games: int
    wins: int
    losses: int
    ties: int
    spread: int
    """Own scores less the opponent's."""


@dataclass(slots=True, eq=False)
class OpenDay:
    """A day (UTC) with games, for whose end no ratings are computed yet."""

    day: date
    games: int = 0
    """Games of the table by the end of the day, or by now."""
    tally: Tally = field(default_factory=Tally)


class History:
    """Players by number, and their games in the order in which they ended."""

    def __init__(self) -> None:
        self.records: list[PlayerRecord] = []
        self.open_days: list[OpenDay] = []
        """The earliest first; the last may be today."""
        self.played = GameNames()
        self._settled = Tally()
        """Games of the days before."""
        self._index: dict[str, int] = {}

    @property
    def games(self) -> int:
        """Games that count."""
        return self.played.games

    def player(self, name: str) -> int:
        """Return the number of a player, known or new."""
        at = self._index.setdefault(name, len(self.records))
        if at == len(self.records):
            self.records.append(PlayerRecord(name))
        return at

    def find(self, name: str) -> int | None:
        """Return the number of a player; None if it is unknown."""
        return self._index.get(name)

    def take(self, game: RatedGame) -> None:
        """Add a game."""
        first, second = players = self.player(game.players[0]), self.player(game.players[1])
        for seat, player in enumerate(players):
            record = self.records[player]
            record.faults.update(it.code for it in game.ended.faults if it.seat == seat)
            record.last = game.at
        points = game.points
        if points is None:
            return
        for seat, player in enumerate(players):
            record = self.records[player]
            record.first = record.first if record.games else self.games
            record.games += 1
            record.points += points if seat == 0 else 1 - points
            record.lead += 1 if seat == 0 else -1
            record.recent = (players[1 - seat], *record.recent[: REMEMBERED - 1])
            if game.ended.outcome not in ("out", "zeroes") and points == seat:
                record.forfeits[game.ended.outcome] += 1
        self.played.add(game.game, players)
        own, others = game.ended.scores
        day = self._day(datetime.fromtimestamp(game.at, UTC).date())
        day.games = self.games
        day.tally.take(first, second, points, own - others)

    def _day(self, day: date) -> OpenDay:
        """Return a day, or the latest if that is later: the clock was put back."""
        if not self.open_days or self.open_days[-1].day < day:
            if self.open_days:
                self.open_days[-1].tally.sums()  # packed for good
            self.open_days.append(OpenDay(day))
        return self.open_days[-1]

    def settle(self, days: int) -> None:
        """Add the earliest open days to those before: their ratings are computed."""
        for each in self.open_days[:days]:
            self._settled.add(each.tally)
        del self.open_days[:days]

    def sums(self) -> tuple[Sums, list[int]]:
        """Return all games, and how many rows there were by the end of each open day."""
        parts = self._sums()
        _, *ends = accumulate(part.pair.size for part in parts)
        return joined(parts), ends

    def _sums(self) -> list[Sums]:
        return [tally.sums() for tally in (self._settled, *(it.tally for it in self.open_days))]

    def opponents(self, player: int) -> list[Opponent]:
        """Return a player's opponents, the most frequent first."""
        own = joined(sums.having(player) for sums in self._sums())
        began = own.first == player
        others, which = np.unique(np.where(began, own.second, own.first), return_inverse=True)
        wins, ties, losses, spread = (
            np.bincount(which, weights=column, minlength=others.size).astype(np.int64)
            for column in (
                np.where(began, own.counts[:, 0], own.counts[:, 2]),
                own.counts[:, 1],
                np.where(began, own.counts[:, 2], own.counts[:, 0]),
                np.where(began, own.spread, -own.spread),
            )
        )
        rows = zip(others, wins + losses + ties, wins, losses, ties, spread, strict=True)
        table = [Opponent(*map(int, row)) for row in rows]
        return sorted(table, key=lambda row: (-row.games, self.records[row.player].name))
