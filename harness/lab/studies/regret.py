"""What it costs to choose a move by a short simulation, as a long one sees it.

In each position a long simulation with equal samples says what every candidate is worth: the
*reference*. Then each rule of allocation gets each time, with chance of its own. Its *regret* is
the reference's value of the best candidate less that of the one it chose.

The reference errs too, and the best of several values that err is too high by a little: so regret
by it is too high. It is made of two halves with chance of their own. If one half names the best
and the other says what it is worth, there is no such reward for luck; but that best is not always
the best there is, and regret comes out too low. The truth lies between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from harness.matches.significance import mean_and_error

from .searches import Floats, Ground, Searches, Values, search_for, utilities

__all__ = ["Question", "RegretRow", "regret_rows", "regrets_in"]

_EQUAL = "equal"
_STATIC = "static"


class Question(NamedTuple):
    """What is asked in each position."""

    ground: Ground
    rules: tuple[str, ...]
    times_ms: tuple[int, ...]
    reference_ms: int


@dataclass(frozen=True)
class RegretRow:
    """One rule with one time, over all positions; errors are half the width of 95 % intervals.

    Regrets are of utility in hundredths of a sure win, where a hundred points count as one.
    """

    rule: str
    time_ms: int
    positions: int
    regret: float | None
    regret_error: float | None
    at_least: float | None
    """By halves of the reference: too low, as ``regret`` is too high."""
    at_least_error: float | None
    points: float | None
    """What the best gains in equity over the chosen one."""
    points_error: float | None
    same: float | None
    """How often the reference's best is chosen."""
    rollouts: int
    """Median."""
    over_equal: float | None
    """By how much regret is above that of equal samples in the same positions."""
    over_equal_error: float | None


def regrets_in(question: Question, number: int) -> dict[str, Any]:
    """Search one position by all rules and times; give what came of it as JSON can say it.

    Raises:
        ValueError: the reference is too short to sample every candidate.
    """
    searches = Searches(question.ground, number)
    record = searches.about()
    if len(searches.candidates) == 1:
        return {**record, "reference": None, "choices": []}
    record["reference"] = [vars(_half(searches, question, chance)) for chance in (0, 1)]
    choices = []
    chance = 2
    for time_ms in question.times_ms:
        for rule in question.rules:
            simulation = search_for(partial(searches.begin, rule, chance), time_ms / 1_000)
            choices.append(
                {
                    "rule": rule,
                    "time_ms": time_ms,
                    "chosen": simulation.candidates.index(simulation.leader),
                    "rollouts": simulation.rollouts,
                    "certain": simulation.is_certain,
                }
            )
            chance += 1
    return {**record, "choices": choices}


def _half(searches: Searches, question: Question, chance: int) -> Values:
    """Make a half of the reference."""
    seconds = question.reference_ms / 2_000
    simulation = search_for(partial(searches.begin, _EQUAL, chance), seconds, until_certain=False)
    if not simulation.is_sampled:
        raise ValueError(
            f"a reference of {question.reference_ms} ms is too short here to sample each of "
            f"{len(searches.candidates)} candidates in both halves; make it longer"
        )
    return Values.of(simulation)


def regret_rows(
    records: Sequence[dict[str, Any]], rules: Sequence[str], times_ms: Sequence[int]
) -> list[RegretRow]:
    """Add records up; the first row is the static choice. With no choice there is no regret."""
    judged = [_judged(record) for record in records]
    equal = {time: _Found.by(judged, _EQUAL, time) for time in times_ms}
    rows = [_row(_STATIC, 0, _Found.by(judged, _STATIC, 0), None)]
    for time in times_ms:
        for rule in rules:
            other = equal[time] if _EQUAL in rules and rule != _EQUAL else None
            rows.append(_row(rule, time, _Found.by(judged, rule, time), other))
    return rows


class _Judgement(NamedTuple):
    regret: float
    at_least: float
    points: float
    same: bool
    rollouts: int


def _judged(record: dict[str, Any]) -> dict[tuple[str, int], _Judgement]:
    """Judge the choices in a position by its reference."""
    if record["reference"] is None:
        return {}
    halves = [Values(**one) for one in record["reference"]]
    equity = _together(halves, [np.array(one.equity) for one in halves])
    parts = [utilities(one.win, one.equity) for one in halves]
    whole = _together(halves, parts)
    best = int(np.argmax(whole))
    static = {"rule": _STATIC, "time_ms": 0, "chosen": 0, "rollouts": 0}
    found = {}
    for choice in (static, *record["choices"]):
        chosen = choice["chosen"]
        crossed = [
            other[int(np.argmax(one))] - other[chosen] for one, other in (parts, parts[::-1])
        ]
        found[choice["rule"], choice["time_ms"]] = _Judgement(
            regret=100 * float(whole[best] - whole[chosen]),
            at_least=100 * float(np.mean(crossed)),
            points=float(equity[best] - equity[chosen]),
            same=chosen == best,
            rollouts=choice["rollouts"],
        )
    return found


def _together(halves: Sequence[Values], values: Sequence[Floats]) -> Floats:
    weights = [np.array(one.samples, np.float64) for one in halves]
    total: Floats = sum(weights[1:], weights[0])
    both = [weight * one for weight, one in zip(weights, values, strict=True)]
    mean: Floats = sum(both[1:], both[0]) / total
    return mean


_NO_CHOICE = _Judgement(0.0, 0.0, 0.0, True, 0)


@dataclass(frozen=True)
class _Found:
    """The judgements of one rule and time, by position."""

    judgements: list[_Judgement]

    @classmethod
    def by(
        cls, judged: Sequence[dict[tuple[str, int], _Judgement]], rule: str, time_ms: int
    ) -> _Found:
        return cls([one.get((rule, time_ms), _NO_CHOICE) for one in judged])

    def of(self, field: str) -> Floats:
        return np.array([getattr(one, field) for one in self.judgements], np.float64)


def _row(rule: str, time_ms: int, found: _Found, equal: _Found | None) -> RegretRow:
    regret = found.of("regret")
    over = _mean(regret - equal.of("regret")) if equal is not None else (None, None)
    searched = found.of("rollouts")
    return RegretRow(
        rule,
        time_ms,
        len(regret),
        *_mean(regret),
        *_mean(found.of("at_least")),
        *_mean(found.of("points")),
        _mean(found.of("same"))[0],
        int(np.median(searched)) if len(searched) else 0,
        *over,
    )


def _mean(values: Floats) -> tuple[float | None, float | None]:
    """Give a mean over positions and half the width of its interval."""
    return mean_and_error(values, np.arange(len(values)), len(values))
