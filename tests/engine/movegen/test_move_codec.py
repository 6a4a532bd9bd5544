"""Moves as values and packed: there and back again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from rollout_positions import generator, late_position, position_of

from engine.movegen.move_codec import pack, unpack
from engine.rules.position import Position

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
