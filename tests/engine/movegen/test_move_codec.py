"""Moves as values and packed: there and back again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from rollout_positions import RULES, generator, late_position, position_of

from engine.kernels.moves import BLANK_CODE, EXCHANGE, PASS_MOVE
from engine.movegen.move_codec import leaves_of, pack, unpack
from engine.rules.moves import PASS, Exchange
from engine.rules.position import Board, Position
from lexicons.alphabet import BLANK

EMPTY_BOARD = Board.empty(RULES.layout)


POSITIONS: dict[str, Callable[[], Position]] = {
    "opening": partial(position_of, 0, 0),
    "middle": partial(position_of, 5, 9),
    "a blank": partial(late_position, 30, blanks=1),
    "bag of 7": partial(late_position, 7),
    "bag of 1": partial(late_position, 1),
    "empty bag": partial(late_position, 0),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_every_legal_move_is_the_same_there_and_back(name: str) -> None:
    position = POSITIONS[name]()
    packed = generator().arrays(position).packed
    moves = list(unpack(packed, position.board))
    assert [pack(move) for move in moves] == packed.tolist()
    assert len(set(moves)) == len(moves)


def test_a_pass_and_exchanges_have_bits_of_their_own() -> None:
    assert pack(PASS) == int(PASS_MOVE)
    # A blank comes first, and is its bit alone; the other tiles follow, whatever their order was.
    packed = pack(Exchange((5, BLANK, 2)))
    assert packed == int(EXCHANGE) | int(BLANK_CODE) << 42 | 2 << 35 | 5 << 28
    assert list(unpack(np.array([packed], np.uint64), EMPTY_BOARD)) == [Exchange((0, 2, 5))]


def test_leaves_are_what_a_part_does_not_take() -> None:
    subracks = np.array([0b000_0000, 0b111_1111, 0b101_0001], np.uint8)
    rack = (0, 1, 1, 5, 9, 19, 20)
    assert list(leaves_of(subracks, rack)) == [rack, (), (1, 1, 5, 19)]
