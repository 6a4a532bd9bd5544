"""Packed moves and indexes of squares: what is put in comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.kernels.board import BORDERED
from engine.kernels.crosses import first_square
from engine.kernels.moves import (
    BLANK_CODE,
    EXCHANGE,
    MAX_PLACED,
    PASS_MOVE,
    TILE_BITS,
    left_justified,
    move_tile,
    tile_count,
    where_packed,
)
from lexicons.jit import kernel
from lexicons.layout import MAX_SIDE


@kernel
def _pack(codes: Any, count: Any, side: Any, square: Any) -> Any:
    tiles = np.uint64(0)
    for at in range(count):
        tiles = tiles << np.uint64(TILE_BITS) | np.uint64(codes[at])
    return where_packed(side, square) | left_justified(tiles, count)


@kernel
def _take_apart(move: Any, side: Any, codes: Any) -> Any:
    for at in range(MAX_PLACED):
        codes[at] = move_tile(move, at)
    return tile_count(move), first_square(side, move)


codes_of_moves = st.lists(
    st.integers(1, 63).flatmap(lambda letter: st.sampled_from([letter, letter | int(BLANK_CODE)])),
    min_size=1,
    max_size=MAX_PLACED,
)


def pack(codes: list[int], side: int, square: int) -> np.uint64:
    return np.uint64(_pack(np.array(codes, np.uint8), len(codes), side, square))


@given(codes_of_moves, st.integers(4, BORDERED), st.booleans(), st.data())
def test_what_is_packed_comes_out(codes: list[int], side: int, down: bool, data: Any) -> None:
    line, place = (data.draw(st.integers(1, side - 2)) for _ in range(2))
    square = (down * side + line) * side + place
    move = pack(codes, side, square)
    assert move < EXCHANGE
    out = np.zeros(MAX_PLACED, np.uint8)
    count, first = _take_apart(move, side, out)
    assert (count, first) == (len(codes), square)
    assert out.tolist() == codes + [0] * (MAX_PLACED - len(codes))


def test_smaller_integers_are_placements_then_exchanges_then_the_pass() -> None:
    highest = pack([127] * MAX_PLACED, BORDERED, (2 * BORDERED - 2) * BORDERED + MAX_SIDE)
    across = pack([127] * MAX_PLACED, BORDERED, (BORDERED - 2) * BORDERED + MAX_SIDE)
    down = pack([1], BORDERED, (BORDERED + 1) * BORDERED + 1)
    assert across < down < highest < EXCHANGE < PASS_MOVE
