"""Which leaves are behind, and how they are spread over turns of games."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from harness.lab.training.racks import Racks
from harness.lab.training.shares import FORCED_TURNS, force, missing
from lexicons.alphabet import Alphabet, TileDistribution
from lexicons.arrays import I64
from lexicons.leaves import LeaveMatrix

LETTERS = ("?", *"ABCD")
TILES = TileDistribution(
    "few", Alphabet(LETTERS, tuple("?abcd")), (1, 2, 2, 1, 3), (0, 1, 1, 1, 1), (False,) * 5
)
PLENTY = 1_000


def racks() -> Racks:
    return Racks(TILES, 4)


def counts_of(*seen: tuple[str, int]) -> I64:
    """Count racks: each so often."""
    counts = np.zeros(racks().count, np.int64)
    for rack, often in seen:
        row = np.array([sorted(TILES.alphabet.tiles(rack))], np.uint8)
        counts[racks().numbers(row)] = often
    return counts


def listed(leaves: LeaveMatrix) -> Counter[str]:
    return Counter(TILES.alphabet.text(leave) for leave in leaves.tolist())


def test_a_leave_is_as_often_missing_as_a_third_of_what_it_lacks() -> None:
    counts = counts_of(("ABCD", 10), ("?ABC", 4))
    behind = listed(missing(racks(), counts, 13, PLENTY, 1))
    every = {TILES.alphabet.text(leave) for leave in racks().by_size[3].tolist()}
    assert set(behind) == every - {"ABC"}  # seen 14 times
    for leave in every - {"ABC"}:
        found = 10 * (leave in {"ABD", "ACD", "BCD"}) + 4 * (leave in {"?AB", "?AC", "?BC"})
        assert behind[leave] == -(-(13 - found) // 3), leave


def test_nothing_is_missing_where_there_is_no_floor_or_all_have_it() -> None:
    assert missing(racks(), counts_of(), 0.0, PLENTY, 1).shape == (0, 3)
    everywhere = np.full(racks().count, 5)
    assert missing(racks(), everywhere, 5, PLENTY, 1).shape == (0, 3)


def test_what_there_is_no_room_for_is_chance_and_chance_is_the_seed() -> None:
    every = listed(missing(racks(), counts_of(), 6, PLENTY, 1))
    assert every.total() == 2 * len(racks().by_size[3])
    some = missing(racks(), counts_of(), 6, 7, 1)
    assert some.shape == (7, 3)
    assert not listed(some) - every
    assert (some == missing(racks(), counts_of(), 6, 7, 1)).all()
    others = [listed(missing(racks(), counts_of(), 6, 7, seed)) for seed in range(30)]
    assert len({frozenset(other.items()) for other in others}) > 20
    assert set().union(*others) == set(every)
    assert missing(racks(), counts_of(), 6, 0, 1).shape == (0, 3)


@pytest.mark.parametrize("share", [0, 1, 6, 7, 13, 14])
def test_each_leave_is_forced_once_on_a_turn_of_its_own(share: int) -> None:
    games = 7
    leaves = missing(racks(), counts_of(), 6, share, 3)
    forced = force(leaves, games, 5)
    assert forced.sizes.shape == forced.leaves.shape[:2] == (games, FORCED_TURNS)
    assert set(np.unique(forced.sizes)) <= {0, 3}
    on = forced.sizes > 0
    assert listed(forced.leaves[on][:, :3]) == listed(leaves)
    assert not forced.leaves[on][:, 3:].any()
    assert not forced.leaves[~on].any()
    in_a_game = on.sum(axis=1)
    assert in_a_game.sum() == share
    assert in_a_game.max() - in_a_game.min() <= 1  # every game has about as many


def test_turns_are_chance_and_all_are_used() -> None:
    leaves = np.tile(racks().by_size[3][:1], (600, 1))
    on = [force(leaves, 300, seed).sizes > 0 for seed in (1, 2)]
    assert not (on[0] == on[1]).all()
    assert (on[0] == (force(leaves, 300, 1).sizes > 0)).all()
    assert on[0].sum(axis=1).tolist() == [2] * 300
    assert on[0].sum(axis=0).min() > 60  # 100 of each turn are expected
