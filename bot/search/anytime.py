"""The anytime loop: slices of work between looks at the clock.

Searches know no clock: ``advance`` does some work, and the result so far may be read at any moment.
``Anytime`` sizes each slice by the speed of the last:

    for is_due in Anytime(solver, NODES).slices(budget.remaining_ms):
        if is_due:  # a few times a second
            print(solver.solution)

It ends when no time is left (``Budget.cancel`` leaves none), nothing is left to do, or the caller
has enough. With ``most`` and endless time, every machine does the same work.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

SLICE_MS = 5.0
LONGEST_SLICE_MS = 20.0  # of rollouts, if time allows many
REPORT_S = 0.1
REPORTING = 0.1
"""Share of the time for reports: the longer they take, the rarer they become."""


class Work(Protocol):
    """Work done bit by bit, such as a ``Simulation`` or an ``EndgameSolver``."""

    def advance(self, amount: int, /) -> int:
        """Do an amount of work; return the amount done, less only if nothing is left to do.

        It may be slightly more, if work comes in pieces.
        """


class SlicePace(NamedTuple):
    """How work is cut into slices."""

    first: int
    """Amount of the first slice, while the speed is unknown."""
    slice_ms: Callable[[float, float], float]
    """Length of the next slice, given the time left before the last slice and the time left now;
    all in milliseconds."""
    growth: float = math.inf
    """Largest ratio of a slice's amount to the amount of the slice before."""
    unit_ms: float = 0.04
    """Milliseconds that a unit counts as on a ``WorkClock``; by default those of a rack."""


STEADY = SlicePace(32, lambda _, left_ms: min(SLICE_MS, max(left_ms, 0.1)))
"""Slices of 5 ms, the delay until a request to stop is seen."""
ROLLOUTS = SlicePace(
    32,
    lambda _, left_ms: min(max(SLICE_MS, left_ms / 50), LONGEST_SLICE_MS, max(left_ms / 2, 1.0)),
)
"""Longer slices in longer turns: between slices a simulation compares all candidates."""
NODES = SlicePace(
    20, lambda before_ms, _: min(SLICE_MS, max(before_ms / 2, 1.0)), growth=3.0, unit_ms=0.01
)
"""For solvers, whose first nodes are the slowest and a poor measure of speed."""


def time_until(end_s: float, clock: Callable[[], float] = time.perf_counter) -> Callable[[], float]:
    """Return a function that returns the milliseconds left until ``end_s``, by ``clock``."""
    return lambda: (end_s - clock()) * 1_000


class WorkClock:
    """A clock that only work moves on, so that a turn is the same on every machine.

    ``Anytime`` counts the work, by ``SlicePace.unit_ms``, in searches that are given this clock.
    """

    def __init__(self) -> None:
        self._ns = 0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self._ns / 1e9

    def ms(self) -> int:
        """Return the time in whole milliseconds, for a ``Budget``."""
        return self._ns // 1_000_000

    def count(self, ms: float) -> None:
        """Move on by work that counts as ``ms`` milliseconds."""
        self._ns += round(ms * 1e6)


class Pulse:
    """Decides when a report is due: often, but not for most of the time."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._began_s = 0.0
        self._due_s = clock() + REPORT_S

    def is_due(self) -> bool:
        """Return whether a report is due; if so, make it now and call ``done``."""
        self._began_s = self._clock()
        return self._began_s >= self._due_s

    def done(self) -> None:
        """Note that the report is made; the longer it took, the later is the next."""
        now_s = self._clock()
        self._due_s = now_s + max(REPORT_S, (now_s - self._began_s) / REPORTING)


class Anytime:
    """A piece of work, already begun; ``most`` limits the total amount.

    ``clock`` is that of the remaining time, in seconds (``Budget.seconds``).
    """

    def __init__(self, work: Work, pace: SlicePace = STEADY, *, most: int | None = None) -> None:
        self.done = 0
        self.is_over = most == 0
        self._work, self._pace, self._most = work, pace, most
        self._last, self._took_ms, self._before_ms = 0, 0.0, 0.0

    def run(
        self,
        remaining_ms: Callable[[], float],
        until: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Work as ``slices`` does, without reports."""
        for _ in self.slices(remaining_ms, until, clock):
            pass

    def slices(
        self,
        remaining_ms: Callable[[], float],
        until: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> Iterator[bool]:
        """Work slice by slice while there is time; yield whether a report is due."""
        pulse = Pulse(clock)
        while not self.is_over and not until() and (left_ms := remaining_ms()) > 0:
            self.step(left_ms, clock)
            is_due = pulse.is_due()
            yield is_due
            if is_due:
                pulse.done()

    def step(self, left_ms: float, clock: Callable[[], float] = time.perf_counter) -> int:
        """Work for one slice; return the amount done."""
        amount, pace = self._pace.first, self._pace
        if self._last:
            wanted = self._last / self._took_ms * pace.slice_ms(self._before_ms, left_ms)
            amount = max(1, int(min(wanted, self._last * pace.growth)))
        if self._most is not None:
            amount = min(amount, self._most - self.done)
        began = clock()
        done = self._work.advance(amount)
        if isinstance(clock, WorkClock):
            clock.count(done * pace.unit_ms)
        self._took_ms = max((clock() - began) * 1_000, 0.001)
        self._last, self._before_ms = done, left_ms
        self.done += done
        self.is_over = done < amount or (self._most is not None and self.done >= self._most)
        return done
