"""The statistics of a match, and how far they can be trusted.

**Units.** The two games of a pair share an opening or the luck of the bag, so a pair, not a game,
is the unit of every error, interval and test here. Games with the same ``pair`` number are one
unit; an incomplete pair is a unit of one game. With units i of nᵢ games, N = Σ nᵢ in all, a mean
over all games has the standard error of a mean of clusters,

    se² = U / (U − 1) · Σᵢ (Σ over unit i of (x − mean))² / N²,

which for game points is the pentanomial error (pairs score 0, ½, 1, 1½ or 2). The interval of the
Elo difference takes Student's t with U − 1 degrees of freedom, 95 % two-sided. The interval of the
spread and its p-value come from one test, so that they never contradict each other: signs of units
are flipped, which needs no normal distribution and holds for few units. With fewer than six units
no interval is given: even winning all six is luck one time in 32.

**What counts.** Void games (the host's fault, or nobody came) count only in ``void`` and, if nobody
came, in ``faults``. A forfeit (time, illegal moves, crash, hang, resignation, no-show) is a whole
loss for wins, win rate and Elo. Mean scores and spread use its score at the end, but the spread is
at best 0 for who lost. Means of scores, bingos and times leave out games to which a side did not
come. Games lost 2× and score ratios are taken from games played to their end.

**Unknown is None.** Nothing here is nan or infinite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import UNSET

from harness.figures import DASH, counted, duration, number, share, tally
from protocol.parts import OUTCOMES

from .results import GameResult
from .significance import (
    Interval,
    elo_difference,
    mean_and_error,
    sign_flip_interval,
    sign_flip_p_value,
)

PROMISED_KEYS = (
    *("a", "b", "games", "wins", "losses", "ties", "mean_score", "opponent_mean_score"),
    *("mean_spread", "spread_ci95", "p_value", "elo", "elo_error", "faults"),
)
"""The first keys of the JSON object; the others follow in the order of the fields."""

Section: TypeAlias = Literal["scores", "time", "faults"]


class Row(NamedTuple):
    """A row of the final table, with a cell for each side."""

    section: Section
    label: str
    write: Callable[..., str]
    """Writes the statistic, and what stands ``beside`` it."""
    optional: bool
    """Whether the row is omitted if the statistic is 0 or empty on both sides."""
    beside: tuple[str, ...]


def _shown(
    section: Section,
    label: str,
    write: Callable[..., str],
    *,
    optional: bool = False,
    beside: tuple[str, ...] = (),
) -> Any:
    return field(metadata={"row": Row(section, label, write, optional, beside)})


@dataclass(frozen=True, kw_only=True)
class SideStatistics:
    """One side's play over a match; means are None without a denominator.

    A field is a key of the JSON object and, if ``_shown``, a row of the table.
    """

    name: str
    forfeits: Mapping[str, int] = _shown("faults", "games forfeited", tally, optional=True)
    """Games lost by other means than the score, by outcome."""
    faults: Mapping[str, int] = _shown("faults", "faults", tally, optional=True)
    """Faults by code, including those of games that neither side came to."""
    moves: int
    move_ms_mean: float | None = _shown("time", "time a move", duration)
    move_ms_longest: int | None = _shown("time", "longest move", duration)
    clock_used_ms_mean: float | None = _shown("time", "time a game", duration)
    overtime_games: int = _shown(
        "time",
        "overtime",
        lambda games, off: f"{counted(games, 'game')}, {number(-off, 0)} points" if games else DASH,
        optional=True,
        beside=("time_penalty",),
    )
    time_penalty: int
    mean_score: float | None = _shown("scores", "mean score, points", number)
    bingos_mean: float | None = _shown("scores", "bingos a game", partial(number, decimals=2))
    challenges: Mapping[str, int] = _shown("scores", "challenges", tally, optional=True)
    """How many challenges of this side were won and lost; empty where none can be made."""
    lost_double: float | None = _shown("scores", "lost 2× or worse", share)
    """Share of the games played to the end in which the opponent scored at least twice as much."""
    largest_ratio: float | None = _shown(
        "scores", "heaviest loss", lambda ratio: f"1 : {ratio:.2f}" if (ratio or 0) > 1 else DASH
    )
    """The largest ratio of the opponent's score to this side's own, both positive."""


@dataclass(frozen=True)
class MatchStatistics:
    """A match from side a's view; each field but ``sides`` is a key of the JSON object."""

    games: int
    units: int
    """Independent units among them: pairs, and single games."""
    paired: bool
    """Whether any unit has more than one game."""
    void: int
    wins: int
    losses: int
    ties: int
    win_rate: float | None
    """Points per game: a win is 1, a tie ½."""
    mean_spread: float | None
    spread_ci95: Interval
    """What the same test does not reject; unknown below ``FEWEST_UNITS``."""
    p_value: float | None
    """Two-sided, of the sign-flip test on spread: see ``sign_flip_p_value``; None after an early
    stop, since it is the chance of what was seen in a fixed number of games."""
    elo: float | None
    """Logistic Elo difference; None if every game was won, or every game lost."""
    elo_error: float | None
    """Half the width of the 95 % interval."""
    elo_ci95: Interval
    """``elo ± elo_error``; with every game won or lost, a one-sided bound."""
    stopped_early: bool
    """Whether a sequential test ended the match, which puts spread and Elo too far towards what it
    accepted, and their intervals with them (Whitehead 1986, *Biometrika* 73, 573-581)."""
    seconds: float
    """Duration of the games, one after the other."""
    sides: tuple[SideStatistics, SideStatistics]
    """By side, a first."""


def match_statistics(
    results: Sequence[GameResult], names: tuple[str, str], *, stopped_early: bool = False
) -> MatchStatistics:
    """Compute the statistics of a match, from side a's view; results may be in any order.

    Raises:
        ValueError: two games that count have the same number.
    """
    finished = [result for result in results if not result.void]
    times = Counter(result.number for result in finished)
    for game, count in sorted(times.items()):
        if count > 1:
            raise ValueError(f"game {game} has {count} results; remove all but one")
    pair_of = np.array([result.pair for result in finished], dtype=np.int64)
    pairs, unit_of = np.unique(pair_of, return_inverse=True)
    units = len(pairs)
    spreads = np.array([result.spread for result in finished], dtype=np.float64)
    points = np.array([result.points for result in finished], dtype=np.float64)
    win_rate, rate_error = mean_and_error(points, unit_of)
    elo, elo_error, elo_ci95 = elo_difference(win_rate, rate_error, units)
    # Exact: whole numbers.
    sums = np.bincount(unit_of, weights=spreads, minlength=units).astype(np.int64)
    sides = _side(names[0], results, finished, 0), _side(names[1], results, finished, 1)
    return MatchStatistics(
        games=len(finished),
        units=units,
        paired=units < len(finished),
        void=len(results) - len(finished),
        wins=int(np.count_nonzero(points == 1.0)),
        losses=int(np.count_nonzero(points == 0.0)),
        ties=int(np.count_nonzero(points == 0.5)),
        win_rate=win_rate,
        mean_spread=float(spreads.mean()) if finished else None,
        spread_ci95=sign_flip_interval(sums, np.bincount(unit_of, minlength=units)),
        p_value=None if stopped_early else sign_flip_p_value(sums),
        elo=elo,
        elo_error=elo_error,
        elo_ci95=elo_ci95,
        stopped_early=stopped_early,
        seconds=math.fsum(result.seconds for result in finished),
        sides=sides,
    )


def _side(
    name: str, results: Sequence[GameResult], finished: Sequence[GameResult], side: int
) -> SideStatistics:
    own = [result.sides[side] for result in finished if result.was_played]
    games, moves = len(own), sum(seat.moves for seat in own)
    think_ms = sum(seat.think_ms for seat in own)
    # Own score and the opponent's.
    scores = [(r.sides[side].score, r.sides[1 - side].score) for r in finished if not r.forfeit]
    forfeits = (r.outcome for r in finished if r.forfeit and r.winner == 1 - side)
    judged = (r for r in results if OUTCOMES[r.outcome].won_by != "nobody")
    faults = (code for result in judged for code in result.sides[side].faults)
    counts = [seat.challenges for seat in own if seat.challenges is not UNSET]
    won, lost = (sum(count[index] for count in counts) for index in (0, 1))
    return SideStatistics(
        name=name,
        mean_score=_ratio(sum(seat.score for seat in own), games),
        moves=moves,
        move_ms_mean=_ratio(think_ms, moves),
        move_ms_longest=max((seat.longest_ms for seat in own if seat.moves), default=None),
        clock_used_ms_mean=_ratio(think_ms, games) if moves else None,
        overtime_games=sum(seat.overtime_ms > 0 for seat in own),
        time_penalty=sum(seat.time_penalty for seat in own),
        bingos_mean=_ratio(sum(seat.bingos for seat in own), games),
        challenges={"won": won, "lost": lost} if counts else {},
        lost_double=_ratio(
            sum(theirs > ours and theirs >= 2 * ours for ours, theirs in scores), len(scores)
        ),
        largest_ratio=max(
            (theirs / ours for ours, theirs in scores if ours > 0 and theirs > 0), default=None
        ),
        forfeits=dict(Counter(forfeits).most_common()),
        faults=dict(Counter(faults).most_common()),
    )


def _ratio(total: int, count: int) -> float | None:
    return total / count if count else None


def rows(stats: MatchStatistics, section: Section) -> list[tuple[str, str, str]]:
    """Return the rows of a section of the table: a label, and both sides' cells."""
    shown = []
    for statistic in fields(SideStatistics):
        row: Row | None = statistic.metadata.get("row")
        if row is None or row.section != section:
            continue
        names = (statistic.name, *row.beside)
        a, b = ([getattr(side, name) for name in names] for side in stats.sides)
        if not row.optional or a[0] or b[0]:
            shown.append((row.label, row.write(*a), row.write(*b)))
    return shown


def as_json_object(stats: MatchStatistics) -> dict[str, Any]:
    """Return the statistics as a JSON object; its keys ``a`` and ``b`` are the sides' names.

    Unknown numbers are null; an interval is always a list of two. Means, shares and ratios of
    scores have a key for each side, from a's view; each side's other statistics are an object with
    the keys ``a`` and ``b``.
    """
    a, b = stats.sides
    of_match = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(stats).items()
        if name != "sides"
    }
    seconds = of_match.pop("seconds")
    fields: dict[str, Any] = {
        "a": a.name,
        "b": b.name,
        **of_match,
        "mean_score": a.mean_score,
        "opponent_mean_score": b.mean_score,
        "lost_double": a.lost_double,
        "won_double": b.lost_double,
        "largest_ratio": a.largest_ratio,
        "largest_ratio_won": b.largest_ratio,
        "seconds": seconds,
    }
    for name, value in vars(a).items():
        if name != "name" and name not in fields:
            fields[name] = {"a": value, "b": getattr(b, name)}
    return {key: fields[key] for key in PROMISED_KEYS} | fields
