"""Solving against the clock: how long slices are, and what ends them."""

from __future__ import annotations

from search_views import Clock

from bot.player import Budget
from bot.search.slices import slices


class Count:
    """Counts to a number, so many a slice."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.slices: list[int] = []

    @property
    def is_over(self) -> bool:
        return self.left == 0

    def advance(self, nodes: int) -> int:
        done = min(nodes, self.left)
        self.left -= done
        self.slices.append(done)
        return done


def test_it_goes_on_until_it_is_over() -> None:
    count = Count(1_000)
    assert sum(1 for _ in slices(count, Budget(10**15))) == len(count.slices)
    assert sum(count.slices) == 1_000
    assert list(slices(count, Budget(10**15))) == []


def test_slices_grow_with_the_speed() -> None:
    count = Count(10**6)
    list(slices(count, Budget(10**15)))
    first, second, third, *_ = count.slices
    assert first < second < third <= 64 * first


def test_it_ends_with_its_time_or_when_told_to() -> None:
    count, clock = Count(10**18), Clock(step_ms=1)
    assert sum(1 for _ in slices(count, Budget(20, clock=clock))) == 19
    assert list(slices(count, Budget(0, clock=clock))) == []
    budget = Budget(10**15)
    for number, _ in enumerate(slices(count, budget), start=1):
        if number == 3:
            budget.cancel()
        assert number <= 3


def test_what_has_nothing_left_to_do_ends_it() -> None:
    class Stuck(Count):
        is_over = False

    assert list(slices(Stuck(0), Budget(10**15))) == [None]
