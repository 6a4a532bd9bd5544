"""Whether the errors that a simulation states are true.

In each position a short simulation is made by each rule, and a long one with equal samples and
chance of its own. A short one's interval of 95 %, 1.96 standard errors either way, should hold the
long one's mean in 95 of 100 cases, less a little since the long one errs too: ``expected`` is what
normal errors of both give. For Student's t the errors are widened already
(``engine.simulation.arm_statistics``).

Two things may spoil it. Samples are given to candidates by what the first ones said, so that who
was unlucky is given up and stays too low; and the *chosen* candidate is the one with the best luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.matches.significance import mean_and_error

from .searches import Floats, Ground, Searches, Values

__all__ = ["Comparison", "CoverageRow", "coverage_rows", "covered_in"]

_WITHIN = 1.96
_FEWEST = 16
"""Candidates with fewer samples are left out."""
_LONG = 1_000  # the chance of the long simulation, away from those of the rules


class Comparison(NamedTuple):
    """What is compared in each position."""

    ground: Ground
    rules: tuple[str, ...]
    rollouts: int
    times: int
    """The long simulation has so many times as many."""


@dataclass(frozen=True)
class CoverageRow:
    """One rule, one measure, over some of the candidates; shares are from 0 to 1."""

    rule: str
    measure: str
    candidates: str
    cases: int
    covered: float | None
    error: float | None
    """Half the width of its 95 % interval, over positions."""
    expected: float | None
    bias: float | None
    """Mean of short less long, in standard errors of this difference."""
    bias_error: float | None


def covered_in(comparison: Comparison, number: int) -> dict[str, Any]:
    """Simulate one position short and long; give what came of it as JSON can say it.

    Raises:
        ValueError: too few rollouts to give each candidate the samples that count.
    """
    if comparison.rollouts < _FEWEST * comparison.ground.candidates:
        raise ValueError(
            f"{comparison.rollouts} rollouts for {comparison.ground.candidates} candidates; each "
            f"gets {_FEWEST} at least"
        )
    searches = Searches(comparison.ground, number)
    record = searches.about()
    if len(searches.candidates) == 1:
        return {**record, "long": None, "short": {}}
    short = {}
    for chance, rule in enumerate(comparison.rules):
        simulation = searches.begin(rule, chance, comparison.rollouts)
        simulation.advance(comparison.rollouts)
        chosen = simulation.candidates.index(simulation.leader)
        short[rule] = {"chosen": chosen, "values": vars(Values.of(simulation))}
    simulation = searches.begin("equal", _LONG, comparison.rollouts * comparison.times)
    simulation.advance(comparison.rollouts * comparison.times)
    return {**record, "long": vars(Values.of(simulation)), "short": short}


def coverage_rows(records: Sequence[dict[str, Any]], rules: Sequence[str]) -> list[CoverageRow]:
    """Add records up."""
    rows = []
    for rule in rules:
        pairs = [
            _Pair(short["chosen"], Values(**short["values"]), Values(**one["long"]))
            for one in records
            if (short := one["short"].get(rule))
        ]
        for measure in ("win", "equity"):
            for which in ("chosen", "all", "others"):
                rows.append(_row(rule, measure, which, pairs))
    return rows


class _Pair(NamedTuple):
    """The two simulations of a position."""

    chosen: int  # by the short one
    short: Values
    long: Values


class _Cases(NamedTuple):
    """Candidates of some positions, side by side."""

    position: npt.NDArray[np.int64]
    samples: npt.NDArray[np.int64]
    long_samples: npt.NDArray[np.int64]
    off: Floats  # short less long
    error: Floats  # of the short one
    long_error: Floats


def _cases(pairs: Sequence[_Pair], measure: str, which: str) -> _Cases:
    parts = []
    for number, (chosen, short, long) in enumerate(pairs):
        samples = np.array(short.samples)
        is_chosen = np.arange(len(samples)) == chosen
        wanted = {"chosen": is_chosen, "others": ~is_chosen, "all": samples >= 0}[which]
        at = np.flatnonzero(wanted & (samples >= _FEWEST))
        means = [np.array(getattr(one, measure))[at] for one in (short, long)]
        errors = [np.array(getattr(one, f"{measure}_error"))[at] for one in (short, long)]
        long_samples = np.array(long.samples)[at]
        where = np.full(len(at), number)
        parts.append((where, samples[at], long_samples, means[0] - means[1], *errors))
    if not parts:
        parts.append((np.zeros(0, np.int64),) * 3 + (np.zeros(0),) * 3)
    return _Cases(*(np.concatenate(one) for one in zip(*parts, strict=True)))


def _row(rule: str, measure: str, which: str, pairs: Sequence[_Pair]) -> CoverageRow:
    cases = _cases(pairs, measure, which)
    off, error = np.abs(cases.off), cases.error
    shares = cases.samples / cases.long_samples  # as the squares of both true errors are
    expected = [math.erf(_WITHIN / math.sqrt(2 * (1 + share))) for share in shares.tolist()]
    both = np.hypot(error, cases.long_error)
    bias = np.divide(cases.off, both, out=np.zeros_like(both), where=both > 0)
    return CoverageRow(
        rule,
        measure,
        which,
        len(off),
        *_mean(off <= _WITHIN * error, cases),
        _mean(np.array(expected), cases)[0],
        *_mean(bias, cases),
    )


def _mean(values: npt.NDArray[Any], cases: _Cases) -> tuple[float | None, float | None]:
    """Give a mean and half the width of its interval; candidates of a position hang together."""
    positions, unit = np.unique(cases.position, return_inverse=True)
    return mean_and_error(values.astype(np.float64), unit, len(positions))
