"""Work against the clock: how long slices are, what ends them, and when reports are due."""

from __future__ import annotations

import math
from itertools import islice

from search_views import Clock

from bot.player import Budget
from bot.search.anytime import NODES, ROLLOUTS, STEADY, Anytime, SlicePace, WorkClock, time_until


def unlimited() -> float:
    return math.inf


class Count:
    """Counts to a number, so many a slice, and so many a second."""

    def __init__(self, most: int, rate: float = 0.0) -> None:
        self.left = most
        self.slices: list[int] = []
        self.now_s = 0.0
        self._rate = rate

    def advance(self, amount: int) -> int:
        done = min(amount, self.left)
        self.left -= done
        self.now_s += done / self._rate if self._rate else 0.0
        if done:
            self.slices.append(done)
        return done

    def clock(self) -> float:
        return self.now_s


def test_it_goes_on_until_nothing_is_left() -> None:
    count = Count(1_000)
    anytime = Anytime(count, NODES)
    assert sum(1 for _ in anytime.slices(Budget(10**15).remaining_ms)) == len(count.slices)
    assert sum(count.slices) == anytime.done == 1_000
    assert anytime.is_over
    assert list(anytime.slices(unlimited)) == []


def test_slices_of_a_solver_grow_slowly() -> None:
    count = Count(10**6)
    Anytime(count, NODES).run(unlimited)
    first, second, third, *_ = count.slices
    assert (first, second, third) == (20, 60, 180)


def test_it_ends_with_its_time_or_when_told_to() -> None:
    count, clock = Count(10**18), Clock(step_ms=1)
    slices = Anytime(count, NODES).slices(Budget(20, clock=clock).remaining_ms)
    assert sum(1 for _ in slices) == 19
    assert list(Anytime(count, NODES).slices(Budget(0, clock=clock).remaining_ms)) == []
    budget = Budget(10**15)
    slices = Anytime(count, NODES).slices(budget.remaining_ms)
    next(slices)
    budget.cancel()
    assert list(slices) == []


def test_it_ends_when_enough_is_known() -> None:
    count = Count(10**6)
    Anytime(count).run(unlimited, lambda: len(count.slices) == 3)
    assert len(count.slices) == 3
    assert list(Anytime(count).slices(unlimited, lambda: True)) == []


def test_no_more_is_done_than_the_most() -> None:
    for pace in (STEADY, ROLLOUTS, NODES):
        count = Count(10**6)
        anytime = Anytime(count, pace, most=1_001)
        anytime.run(unlimited)
        assert sum(count.slices) == anytime.done == 1_001
        assert list(anytime.slices(unlimited)) == []


class Pieces(Count):
    """Counts in twenties, so that it may do more than it was asked for."""

    def advance(self, amount: int) -> int:
        return super().advance(-(-amount // 20) * 20)


def test_work_in_pieces_ends_too_once_it_is_past_the_most() -> None:
    anytime = Anytime(Pieces(10**6), NODES, most=1_005)
    anytime.run(unlimited)
    assert anytime.is_over
    assert anytime.done == 1_020


def test_slices_are_as_long_as_the_pace_says() -> None:
    """At 10 a millisecond: 5 ms in short turns, up to 20 in long ones, less in what is left."""
    for left_ms, amount in ((100, 50), (500, 100), (10**6, 200), (6, 30), (1, 10)):
        count = Count(10**6, rate=10_000)
        anytime = Anytime(count, ROLLOUTS)
        assert [anytime.step(left_ms, count.clock) for _ in range(2)] == [32, amount]


def test_a_pace_is_kept_from_one_stretch_of_time_to_the_next() -> None:
    count = Count(10**6, rate=20_000)
    anytime = Anytime(count)
    for _ in range(2):
        list(islice(anytime.slices(unlimited, clock=count.clock), 2))
    assert count.slices == [32, 100, 100, 100]


def test_reports_are_due_every_tenth_of_a_second_or_less_often_if_they_take_long() -> None:
    """Each slice takes 1/64 s, and the second report 1/32 s: the next is due ten times later."""
    count = Count(10**6, rate=64)
    anytime, due = Anytime(count, SlicePace(1, lambda *_: 1_000 / 64)), []
    slices = islice(anytime.slices(unlimited, clock=count.clock), 50)
    for number, is_due in enumerate(slices, start=1):
        if is_due:
            due.append(number)
            count.now_s += 1 / 32 if len(due) == 2 else 0.0
    assert due == [7, 14, 34, 41, 48]


def test_a_clock_of_work_goes_by_nothing_else() -> None:
    for pace in (ROLLOUTS, NODES, STEADY):
        count, clock = Count(10**6), WorkClock()
        anytime = Anytime(count, pace)
        anytime.run(Budget(30, clock=clock.ms).remaining_ms, clock=clock)
        assert clock.ms() in (30, 31), "the end of a slice"
        assert round(1_000 * clock() / pace.unit_ms) == anytime.done


def test_time_left_counts_down_to_a_moment() -> None:
    now_s = [10.0]
    remaining_ms = time_until(12.5, lambda: now_s[0])
    assert remaining_ms() == 2_500
    now_s[0] = 13.0
    assert remaining_ms() == -500
