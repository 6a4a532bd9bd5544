"""Positions of which both racks are known, in other forms."""

from __future__ import annotations

from dataclasses import replace

from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.position import Board, Position
from engine.rules.rules import Rules

FEW_TILES = 3
"""On each rack: plain minimax is soon done with them."""


def mirrored(position: Position) -> Position:
    """Swap rows and columns; on a board that is its own mirror image the game stays the same."""
    squares = position.board.array().T.tobytes()
    return replace(position, board=Board(position.board.layout, squares))


with_seats_swapped = Position.swapped


def as_game(position: Position, rules: Rules) -> Game:
    """Resume a game with an empty bag."""
    return Game(rules, position, Bag((), DrawStream(b"")), ((), ()))
