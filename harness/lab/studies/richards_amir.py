"""What knowing or guessing the opponent's rack is worth: the tables of Richards and Amir (2007).

M. Richards, E. Amir, "Opponent Modeling in Scrabble", IJCAI 2007. Their games were Quackle's, with
the words of North American tournaments (TWL06), and not in pairs; ours are turn by turn
(``games``). Every figure of theirs is in ``PUBLISHED``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.matches.significance import mean_and_error

from .games import FULL_KNOWLEDGE

__all__ = ["PUBLISHED", "Contest", "Limit", "Published", "Strength", "strength_of"]


@dataclass(frozen=True)
class Published:
    """What the paper prints of one player against another; None: it does not say."""

    difference: float
    """Points a game that the player is ahead."""
    games: int | None = None
    wins: int | None = None
    losses: int | None = None
    mean: float | None = None
    """Points of the player in a game."""
    opponent_mean: float | None = None
    where: str = "text"
    """In the paper."""

    @property
    def adds_up(self) -> bool:
        """Whether there are as many wins and losses as games."""
        return self.wins is None or self.losses is None or self.wins + self.losses == self.games


PUBLISHED = {
    (FULL_KNOWLEDGE, "sim"): Published(37, 127, 87, 61, 438, 401, "Table 1"),
    ("infer", "sim"): Published(5.2, 630, 324, 306, 427, 422, "Table 2"),
}
"""By the names of player and opponent. Wins and losses of Table 1 are as printed."""


@dataclass(frozen=True)
class Limit:
    """How long players search that do."""

    time_ms: int = 150
    """Of a turn, what inference takes included; or …"""
    iterations: int | None = None
    """… so many rollouts of each candidate, however long they take: then inference is for free."""

    def seat(self, name: str, **options: str | None) -> str:
        """Write a seat with this limit and what other options are given."""
        time, counted = f"time={self.time_ms}ms", f"iterations={self.iterations}"
        given = [time if self.iterations is None else counted]
        given += [f"{key}={value}" for key, value in options.items() if value is not None]
        return f"{name}?{'&'.join(given)}"


@dataclass(frozen=True)
class Contest:
    """Who meets whom, and what the paper says of the like of them."""

    seats: tuple[str, str]
    published: Published

    @classmethod
    def table1(cls, limit: Limit) -> Contest:
        """Let one who sees the opponent's rack meet one who does not."""
        return cls._of((FULL_KNOWLEDGE, "sim"), limit)

    @classmethod
    def table2(cls, limit: Limit, memory: str | None = None, model: str | None = None) -> Contest:
        """Let one who guesses the opponent's rack meet one who does not.

        Args:
            limit: of both.
            memory: ``game`` or ``last``, as the player's option; None: as usual.
            model: as the player's option; None: as usual.
        """
        seats = limit.seat("infer", memory=memory, model=model), limit.seat("sim")
        return cls(seats, PUBLISHED["infer", "sim"])

    @classmethod
    def _of(cls, names: tuple[str, str], limit: Limit) -> Contest:
        player, opponent = (
            one if one in ("static", "greedy") else limit.seat(one) for one in names
        )
        return cls((player, opponent), PUBLISHED[names])


@dataclass(frozen=True)
class Strength:
    """What came of the games of a contest; None: there are too few to say."""

    player: str
    opponent: str
    games: int
    wins: int
    losses: int
    ties: int
    win_rate: float | None
    """A tie is half a win."""
    win_rate_error: float | None
    """Half the width of its 95 % interval, over pairs; so are the other errors."""
    mean: float | None
    """Points of the player in a game."""
    mean_error: float | None
    opponent_mean: float | None
    opponent_mean_error: float | None
    difference: float | None
    """Points a game that the player is ahead."""
    error: float | None
    deviation: float | None
    """The standard deviation of one game's difference."""
    largest_win: int | None
    """By how many points the player won, where it is most; so the opponent lost by as many."""
    largest_loss: int | None
    published: Published


def strength_of(contest: Contest, records: Sequence[dict[str, Any]]) -> Strength:
    """Add up games (``games.played``), of which the second of a pair may be missing."""
    scores = np.array([one["scores"] for one in records], np.int64).reshape(-1, 2)
    _, pairs = np.unique([one["number"] // 2 for one in records], return_inverse=True)
    units = int(pairs.max(initial=-1)) + 1
    ahead = scores[:, 0] - scores[:, 1]
    wins, losses = int((ahead > 0).sum()), int((ahead < 0).sum())

    def over_pairs(values: Any) -> tuple[float | None, float | None]:
        return mean_and_error(np.asarray(values, np.float64), pairs, units)

    win_rate, win_rate_error = over_pairs((np.sign(ahead) + 1) / 2)
    mean, mean_error = over_pairs(scores[:, 0])
    opponent_mean, opponent_mean_error = over_pairs(scores[:, 1])
    difference, error = over_pairs(ahead)
    return Strength(
        player=contest.seats[0],
        opponent=contest.seats[1],
        games=len(ahead),
        wins=wins,
        losses=losses,
        ties=len(ahead) - wins - losses,
        win_rate=win_rate,
        win_rate_error=win_rate_error,
        mean=mean,
        mean_error=mean_error,
        opponent_mean=opponent_mean,
        opponent_mean_error=opponent_mean_error,
        difference=difference,
        error=error,
        deviation=float(ahead.std(ddof=1)) if len(ahead) > 1 else None,
        largest_win=int(ahead.max()) if wins else None,
        largest_loss=int(-ahead.min()) if losses else None,
        published=contest.published,
    )
