from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lexicon_parts import leaves_worth

from lexicons.alphabet import Alphabet, TileDistribution, load_distribution
from lexicons.leaves import (
    LeaveTable,
    leave_places,
    possible_leaves,
)

ENGLISH = load_distribution()


def tiles_of(*counts: int) -> TileDistribution:
    letters = ("?", *"ABCDEFGH"[: len(counts) - 1])
    alphabet = Alphabet(letters, tuple(map(str.lower, letters)))
    return TileDistribution("few", alphabet, counts, (1,) * len(counts), (False,) * len(counts))


def in_order(kinds: int, rack_size: int) -> Iterator[tuple[int, ...]]:
    """List the multisets by size, and those of one size by the last tile, the one before it …"""
    for size in range(rack_size):
        multisets = combinations_with_replacement(range(kinds), size)
        yield from sorted(multisets, key=lambda leave: leave[::-1])


def test_english_has_as_many_leaves_as_is_known() -> None:
    assert sum(map(len, possible_leaves(ENGLISH))) == 914_624 + 1  # the empty one
    assert len(LeaveTable.zero(ENGLISH).values) == 1_107_568


@pytest.mark.parametrize("kinds", [2, 3, 5])
@pytest.mark.parametrize("rack_size", [1, 2, 5, 7])
def test_each_multiset_has_a_place_of_its_own(kinds: int, rack_size: int) -> None:
    table = LeaveTable.zero(tiles_of(*[9] * kinds), rack_size)
    listed = list(in_order(kinds, rack_size))
    assert len(listed) == len(table.values)
    assert [table.place(leave) for leave in listed] == list(range(len(listed)))


@given(st.lists(st.integers(0, 26), max_size=6))
def test_places_of_many_are_those_of_each(leave: list[int]) -> None:
    table = LeaveTable.zero(ENGLISH)
    leave.sort()
    tiles = np.array(leave, np.uint8)
    assert leave_places(tiles[np.newaxis], table.arrays).tolist() == [table.place(leave)]


def test_possible_leaves_are_what_a_bag_can_give() -> None:
    few = tiles_of(1, 3, 0, 2)
    for size, leaves in enumerate(possible_leaves(few, 5)):
        slow = sorted({tuple(sorted(drawn)) for drawn in combinations(few.all_tiles(), size)})
        assert list(map(tuple, leaves.tolist())) == slow


def test_values_are_given_back_to_the_thousandth() -> None:
    table = leaves_worth(ENGLISH, {(19, 0): 30.1239, (5,): -1.5, (): 0})
    assert table.value((0, 19)) == table.value([19, 0]) == 30.124
    assert table.value((5,)) == -1.5
    assert table.value(()) == table.value((5, 5)) == 0
    assert np.count_nonzero(table.values) == 2


@pytest.mark.parametrize(
    ("leave", "reason"),
    [
        ((1,) * 7, "has 7 tiles; one of a rack of 7 has 6 or fewer"),
        ((27,), "no tile; tiles are 0 to 26"),
        ((-1, 2), "no tile"),
    ],
)
def test_leaves_that_no_table_holds(leave: tuple[int, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        LeaveTable.zero(ENGLISH).value(leave)


def test_tables_of_the_wrong_size() -> None:
    with pytest.raises(ValueError, match=r"\(3,\) values; english tiles and racks of 7 have 11075"):
        LeaveTable(ENGLISH, np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="a rack of 0"):
        LeaveTable.zero(ENGLISH, 0)
    with pytest.raises(ValueError, match="at most 134217728"):
        LeaveTable.zero(ENGLISH, 16)


def test_a_table_stays_as_it_is_and_can_be_sent() -> None:
    table = leaves_worth(tiles_of(2, 3), {(1,): 2.5})
    assert table.arrays.values is table.values
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 1
    copy: LeaveTable = pickle.loads(pickle.dumps(table))
    assert copy.distribution == table.distribution
    assert np.array_equal(copy.values, table.values)
    assert not any(array.flags.writeable for array in copy.arrays)
