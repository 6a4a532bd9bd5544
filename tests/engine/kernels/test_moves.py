"""Packed moves and indexes of squares: what is put in comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.kernels.board import BORDERED, other_direction
from engine.kernels.crosses import first_square
from engine.kernels.moves import (
    BLANK_CODE,
    EXCHANGE,
    MAX_PLACED,
    PASS_MOVE,
    TILE_BITS,
    TILES_MASK,
    left_justified,
    move_tile,
    tile_count,
    where_packed,
)
from engine.movegen.move_codec import unpack
from engine.rules.moves import PASS, Direction, Exchange, Place
from engine.rules.position import Board
from engine.rules.rules import standard_rules
from lexicons.alphabet import BLANK, BLANK_FLAG
from lexicons.jit import kernel
from lexicons.layout import MAX_SIDE

RULES = standard_rules()


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


@kernel
def _turn_round(side: Any, turned: Any) -> None:
    for square in range(len(turned)):
        turned[square] = other_direction(side, square)


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


@given(codes_of_moves, st.integers(0, 13), st.integers(0, 13), st.sampled_from(Direction))
def test_what_is_packed_is_the_same_as_a_value(
    codes: list[int], row: int, column: int, direction: Direction
) -> None:
    codes = [3, *codes][: min(MAX_PLACED, 15 - (row if direction else column))]
    line, place = (row, column) if direction is Direction.ACROSS else (column, row)
    move = pack(codes, 17, (direction * 17 + line + 1) * 17 + place + 1)
    (unpacked,) = unpack(np.array([move]), Board.empty(RULES.layout))
    blank = int(BLANK_CODE)
    tiles = tuple(code ^ blank | BLANK_FLAG if code & blank else code for code in codes)
    assert unpacked == Place(row, column, direction, tiles)


def test_a_pass_and_an_exchange_have_as_many_tiles_as_go_back() -> None:
    out = np.zeros(MAX_PLACED, np.uint8)
    assert _take_apart(PASS_MOVE, 17, out)[0] == 0
    exchange = EXCHANGE | pack([int(BLANK_CODE), 1, 26], 17, 18) & TILES_MASK
    assert _take_apart(exchange, 17, out)[0] == 3
    board = Board.empty(RULES.layout)
    found = list(unpack(np.array([PASS_MOVE, exchange]), board))
    assert found == [PASS, Exchange((BLANK, 1, 26))]


def test_smaller_integers_are_placements_then_exchanges_then_the_pass() -> None:
    highest = pack([127] * MAX_PLACED, BORDERED, (2 * BORDERED - 2) * BORDERED + MAX_SIDE)
    across = pack([127] * MAX_PLACED, BORDERED, (BORDERED - 2) * BORDERED + MAX_SIDE)
    down = pack([1], BORDERED, (BORDERED + 1) * BORDERED + 1)
    assert across < down < highest < EXCHANGE < PASS_MOVE


@pytest.mark.parametrize("side", [4, 17, BORDERED])
def test_the_other_direction_is_the_board_transposed(side: int) -> None:
    turned = np.zeros(2 * side * side, np.int64)
    _turn_round(side, turned)
    squares = np.arange(2 * side * side).reshape(2, side, side)
    across, down = turned.reshape(2, side, side)
    assert np.array_equal(across, squares[1].T)
    assert np.array_equal(down, squares[0].T)
    assert np.array_equal(turned[turned], np.arange(len(turned)))
