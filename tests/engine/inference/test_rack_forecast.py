"""What an opponent is likely to have, and to do, once it is thought what he kept."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from small_games import lexicon_of

from engine.inference.leave_prior import LeavePrior
from engine.inference.rack_forecast import BingoForecast, Sampled, bingo_chance, tile_chances
from engine.movegen.generator import Generator
from engine.rules.position import Board, Position
from engine.rules.rules import standard_rules

RULES = standard_rules()


def kept_of(chances: dict[tuple[int, ...], float]) -> LeavePrior:
    return LeavePrior(np.array(list(chances), np.uint8), np.array(list(chances.values())))


def racks_of(kept: tuple[int, ...], counts: list[int], drawn: int) -> list[tuple[int, ...]]:
    """List the racks by all draws of physical tiles: the slow twin."""
    left = [tile for tile, count in enumerate(counts) for _ in range(count - kept.count(tile))]
    return [tuple(sorted((*kept, *draw))) for draw in combinations(left, drawn)]


# --- tiles --------------------------------------------------------------------------------------


@pytest.mark.parametrize("drawn", [0, 1, 3, 7])
@pytest.mark.parametrize(
    "chances",
    [
        {(): 1.0},
        {(0, 1): 0.25, (1, 1): 0.5, (3, 3): 0.25},
        {(0, 2, 2): 1.0},
    ],
)
def test_chances_of_tiles_are_those_of_all_draws(
    chances: dict[tuple[int, ...], float], drawn: int
) -> None:
    counts = [1, 4, 3, 2, 0]
    expected = np.zeros(len(counts))
    for kept, weight in chances.items():
        racks = racks_of(kept, counts, drawn)
        for tile in range(len(counts)):
            share = Fraction(sum(tile in rack for rack in racks), len(racks))
            expected[tile] += weight * float(share)
    found = tile_chances(kept_of(chances), counts, drawn)
    assert found == pytest.approx(expected, abs=1e-12)


def test_as_far_as_a_leave_is_in_doubt_the_whole_rack_is_random() -> None:
    kept, counts = kept_of({(1, 1): 1.0}), [0, 2, 9, 1]
    told = tile_chances(replace(kept, doubt=0.25), counts, 3)
    random = tile_chances(LeavePrior.nothing(), counts, 5)
    assert told == pytest.approx(0.75 * tile_chances(kept, counts, 3) + 0.25 * random)


@pytest.mark.parametrize("drawn", [-1, 4])
def test_nobody_draws_more_tiles_than_there_are(drawn: int) -> None:
    with pytest.raises(ValueError, match=f"{drawn} tiles drawn from 3"):
        tile_chances(kept_of({(1, 1): 1.0}), [0, 5], drawn)


# --- bingos -------------------------------------------------------------------------------------

TILES = replace(RULES.distribution, counts=(0, 5, 5, 7, *[0] * 23))
FEW = replace(RULES, distribution=TILES)
GENERATOR = Generator(lexicon_of([(1, 2, 1, 2, 1, 2, 1)], FEW), FEW)
COUNTS = [0, 5, 5, 0]


def on_turn(seat: int) -> Position:
    ours = (3,) * 7
    return Position(Board.empty(FEW.layout), ((), ours) if seat == 0 else (ours, ()), (0, 0), seat)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_bingo_is_as_likely_as_in_all_draws(seat: int) -> None:
    chances: dict[tuple[int, ...], float] = {(1, 1): 0.75, (2, 2): 0.25}
    exact = 0.0
    for kept, weight in chances.items():
        racks = racks_of(kept, COUNTS, 5)
        exact += weight * racks.count((1, 1, 1, 1, 2, 2, 2)) / len(racks)
    found = bingo_chance(GENERATOR, on_turn(seat), kept_of(chances), 5, 400, seed=1)
    assert 0.015 < found.error < 0.03
    assert abs(found.chance - exact) < 4 * found.error


def test_bit_by_bit_it_is_the_same() -> None:
    given = GENERATOR, on_turn(0), LeavePrior.nothing(), 7, 200, 1
    forecast = BingoForecast(*given)
    assert forecast.sampled == Sampled(0.0, 0.0)
    assert [forecast.advance(90) for _ in range(4)] == [90, 90, 20, 0]
    assert forecast.is_over
    assert forecast.sampled == bingo_chance(*given)


def test_what_he_has_for_sure() -> None:
    whole, bad = kept_of({(1, 1, 1, 1, 2, 2, 2): 1.0}), kept_of({(1, 1, 1, 1, 1, 2, 2): 1.0})
    for seed in (0, -1, 2**64, 2**70 + 3):
        assert bingo_chance(GENERATOR, on_turn(0), whole, 0, 10, seed) == Sampled(1.0, 0.0)
    assert bingo_chance(GENERATOR, on_turn(0), bad, 0, 10, 0) == Sampled(0.0, 0.0)


def test_tiles_that_are_not_unseen_were_not_kept() -> None:
    with pytest.raises(ValueError, match="none of the possible leaves fits the unseen tiles"):
        bingo_chance(GENERATOR, on_turn(0), kept_of({(3, 3): 1.0}), 5, 10, 0)
