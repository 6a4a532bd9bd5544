"""The rated games of one table of a ladder: derived from the journal, and kept small.

A game takes some fifty bytes here. All else of it is in the journal.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt

from harness.arbiter.records import Ended
from harness.matches.rating_list import Meetings
from harness.matches.significance import Ints
from protocol.parts import Outcome

from .matchmaking import REMEMBERED

OUTCOMES = get_args(Outcome)

_ROW = np.dtype(
    [
        ("game", "S16"),
        ("at", "f8"),
        ("players", "u4", 2),
        ("scores", "i4", 2),
        ("points", "f4"),
        ("turns", "u2"),
        ("outcome", "u1"),
    ]
)
"""``points`` are those of who moved first."""
_GROWTH = 1.25
_FEWEST_ROWS = 256


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
        """Points of who moved first as they are rated; None: the game doesn't count.

        Who alone failed to come loses, even if the opponent had not come either by then. A bot of
        the server that fails to play is no win of anybody.
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
class Record:
    """What a player has done so far; ``games`` are those that count."""

    name: str
    rows: array[int] = field(default_factory=lambda: array("I"))
    """Of its games."""
    points: float = 0.0
    lead: int = 0
    """Games that it has begun less those that it has not."""
    recent: tuple[int, ...] = ()
    """Its last opponents, the latest first."""
    last: float = 0.0
    """When its last game ended, whether or not it counts."""
    faults: Counter[str] = field(default_factory=Counter)
    forfeits: Counter[str] = field(default_factory=Counter)
    """Games that it lost otherwise than by the score, by outcome."""

    @property
    def games(self) -> int:
        """Games that count."""
        return len(self.rows)


class Opponent(NamedTuple):
    """A player's games against one other."""

    player: int
    games: int
    wins: int
    losses: int
    ties: int
    spread: int
    """Own scores less the opponent's."""


class History:
    """Players by number, and their games in the order in which they ended."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._index: dict[str, int] = {}
        self._rows = np.zeros(_FEWEST_ROWS, _ROW)
        self.games = 0

    def player(self, name: str) -> int:
        """Return the number of a player, known or new."""
        at = self._index.setdefault(name, len(self.records))
        if at == len(self.records):
            self.records.append(Record(name))
        return at

    def find(self, name: str) -> int | None:
        """Return the number of a player that is known."""
        return self._index.get(name)

    def take(self, game: RatedGame) -> None:
        """Add a game."""
        players = [self.player(name) for name in game.players]
        for seat, player in enumerate(players):
            record = self.records[player]
            record.faults.update(it.code for it in game.ended.faults if it.seat == seat)
            record.last = game.at
        points = game.points
        if points is None:
            return
        if self.games == self._rows.size:
            more = np.zeros(int(self.games * _GROWTH) - self.games, _ROW)
            self._rows = np.concatenate((self._rows, more))
        outcome = game.ended.outcome
        self._rows[self.games] = (
            *(game.game.encode(), game.at, players, game.ended.scores),
            *(points, min(game.turns, 65_535), OUTCOMES.index(outcome)),
        )
        for seat, player in enumerate(players):
            record = self.records[player]
            record.rows.append(self.games)
            record.points += points if seat == 0 else 1 - points
            record.lead += 1 if seat == 0 else -1
            record.recent = (players[1 - seat], *record.recent[: REMEMBERED - 1])
            if outcome not in ("out", "zeroes") and points == seat:
                record.forfeits[outcome] += 1
        self.games += 1

    def meetings(self, games: int) -> Meetings:
        """Return the first so many games."""
        rows = self._rows[:games]
        first, second = rows["players"].astype(np.int64).T
        return Meetings(first, second, rows["points"].astype(np.float64))

    def games_by(self, at: float) -> int:
        """Return how many games had ended by a time."""
        return int(np.searchsorted(self._rows["at"][: self.games], at, side="right"))

    def day(self, number: int) -> date:
        """Return the day on which a game ended (UTC)."""
        return datetime.fromtimestamp(float(self._rows["at"][number]), UTC).date()

    def opponents(self, player: int) -> list[Opponent]:
        """Return whom a player has met, whom it met most first."""
        rows = self._rows[np.array(self.records[player].rows, dtype=np.int64)]
        seat = (rows["players"][:, 1] == player).astype(np.int64)
        others, which = np.unique(_of(rows["players"], 1 - seat), return_inverse=True)
        points = np.where(seat == 0, rows["points"], 1 - rows["points"])
        spread = _of(rows["scores"], seat) - _of(rows["scores"], 1 - seat)
        sums = [
            np.bincount(which, weights=each, minlength=others.size).astype(np.int64)
            for each in (np.ones(which.size), points == 1, points == 0, points == 0.5, spread)
        ]
        table = [Opponent(*map(int, row)) for row in zip(others, *sums, strict=True)]
        return sorted(table, key=lambda row: (-row.games, self.records[row.player].name))

    def latest(self, before: int, most: int, player: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield games numbered below ``before``, the latest first, all or those of a player."""
        if player is None:
            chosen: Sequence[int] = range(*slice(max(0, before - most), before).indices(self.games))
        else:
            rows = self.records[player].rows
            end = int(np.searchsorted(np.array(rows, dtype=np.int64), before))
            chosen = rows[max(0, end - most) : end]
        for number in reversed(chosen):
            yield self._listed(number)

    def _listed(self, number: int) -> dict[str, Any]:
        row = cast("Any", self._rows[number])
        return {
            "number": number,
            "game": row["game"].decode(),
            "ended": float(row["at"]),
            "players": [self.records[player].name for player in row["players"]],
            "scores": row["scores"].tolist(),
            "points": float(row["points"]),
            "outcome": OUTCOMES[row["outcome"]],
            "turns": int(row["turns"]),
        }


def _of(columns: npt.NDArray[Any], seat: Ints) -> Ints:
    """Return each row's value of a seat; ``columns`` are [rows, 2]."""
    return columns[np.arange(seat.size), seat].astype(np.int64)
