"""The rated games of one table of a ladder: derived from the journal, and kept small.

A game takes 29 bytes here: its name, who played, and how it ended. All else is in the journal,
which can't be asked for what lists need: there, players and results are text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from harness.arbiter.records import Ended
from harness.matches.rating_list import Meetings
from lexicons.arrays import I64
from protocol.parts import OUTCOMES

from .matchmaking import REMEMBERED

_GAME = np.dtype(
    [
        ("game", "S16"),
        ("first", "u4"),
        ("second", "u4"),
        ("halves", "u1"),  # half points of the first: 2, 1 or 0
        ("spread", "i4"),  # its score less that of the second
    ]
)
_ROOM = 1_024
"""Least number of games for which room is made at once."""


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
    def points(self) -> float | None:
        """Rated points of the player that moved first; None: the game doesn't count.

        A player that alone failed to come loses, even if the opponent had not come either by then.
        If a bot of the server fails to play, nobody wins by that.
        """
        winner = self.ended.winner
        absent = {fault.seat for fault in self.ended.faults if fault.code == "no_show"}
        if OUTCOMES[self.ended.outcome].won_by == "nobody":
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


class OpponentRecord(Struct, frozen=True):
    """A player's games against one other."""

    name: str
    games: int
    wins: int
    losses: int
    ties: int
    spread: int
    """Own scores less the opponent's."""


class DayEnd(NamedTuple):
    """The end of a day (UTC) with games, or of today so far."""

    day: date
    games: int
    """Games of the table by then."""


class Numbered(NamedTuple):
    """A game, by its number among those of a table and by its name."""

    number: int
    game: str


class History:
    """Players by number, and their games in the order in which they ended."""

    def __init__(self) -> None:
        self.records: list[PlayerRecord] = []
        self.days: list[DayEnd] = []
        """The earliest first; the last may be today."""
        self.games = 0
        """Games that count."""
        self._rows: npt.NDArray[Any] = np.zeros(_ROOM, _GAME)
        """These games, and room for more."""
        self._index: dict[str, int] = {}

    def player(self, name: str) -> int:
        """Return the number of a player, known or new."""
        index = self._index.setdefault(name, len(self.records))
        if index == len(self.records):
            self.records.append(PlayerRecord(name))
        return index

    def find(self, name: str) -> int | None:
        """Return the number of a player; None if it is unknown."""
        return self._index.get(name)

    def add(self, game: RatedGame) -> None:
        """Add a game; if it does not count, note only its players' faults and when it ended."""
        players = self.player(game.players[0]), self.player(game.players[1])
        for seat, player in enumerate(players):
            record = self.records[player]
            record.faults.update(fault.code for fault in game.ended.faults if fault.seat == seat)
            record.last = game.at
        points = game.points
        if points is None:
            return
        for seat, player in enumerate(players):
            record = self.records[player]
            if not record.games:
                record.first = self.games
            record.games += 1
            record.points += points if seat == 0 else 1 - points
            record.lead += 1 if seat == 0 else -1
            record.recent = (players[1 - seat], *record.recent[: REMEMBERED - 1])
            if OUTCOMES[game.ended.outcome].won_by == "opponent" and points == seat:
                record.forfeits[game.ended.outcome] += 1
        if self.games == self._rows.size:
            self._rows = np.append(self._rows, np.zeros(_ROOM + self.games // 16, _GAME))
        first_score, second_score = game.ended.scores
        spread = first_score - second_score
        self._rows[self.games] = (game.game.encode(), *players, int(2 * points), spread)
        self.games += 1
        day = datetime.fromtimestamp(game.at, UTC).date()
        if self.days and self.days[-1].day >= day:  # a later day: the clock was put back
            day = self.days.pop().day
        self.days.append(DayEnd(day, self.games))

    def meetings(self) -> Meetings:
        """Return all games, in the order in which they ended."""
        rows = self._rows[: self.games]
        first, second = rows["first"].astype(np.int64), rows["second"].astype(np.int64)
        return Meetings(first, second, rows["halves"] / 2)

    def latest(self, before: int, most: int, player: int | None = None) -> list[Numbered]:
        """Return games numbered below ``before``, the latest first, all or those of a player.

        Another thread may add games meanwhile.
        """
        rows = self._rows[: min(before, self.games)]
        numbers = np.arange(rows.size) if player is None else _games_of(player, rows)
        latest = numbers[::-1][:most].tolist()
        return [Numbered(number, rows["game"][number].decode()) for number in latest]

    def opponents(self, player: int) -> list[OpponentRecord]:
        """Return a player's opponents, the most frequent first.

        Another thread may add games meanwhile.
        """
        own = self._rows[_games_of(player, self._rows[: self.games])]
        began = own["first"] == player
        others, which = np.unique(np.where(began, own["second"], own["first"]), return_inverse=True)
        halves = np.where(began, own["halves"], 2 - own["halves"])
        spreads = np.where(began, own["spread"], -own["spread"])
        wins, losses, ties, spread = (
            np.bincount(which, weights=column, minlength=others.size).astype(np.int64)
            for column in (halves == 2, halves == 0, halves == 1, spreads)
        )
        rows = zip(others, wins + losses + ties, wins, losses, ties, spread, strict=True)
        table = [OpponentRecord(self.records[other].name, *map(int, row)) for other, *row in rows]
        return sorted(table, key=lambda row: (-row.games, row.name))


def _games_of(player: int, rows: npt.NDArray[Any]) -> I64:
    """Return the numbers of a player's games."""
    return np.flatnonzero((rows["first"] == player) | (rows["second"] == player))
