"""Positions to test on: from games that the generator plays with itself, all from a seed."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from engine.kernels.moves import EXCHANGE
from engine.movegen.generator import Generator
from engine.movegen.move_codec import unpack
from engine.rules.moves import Move, Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules
from lexicons.alphabet import BLANK, BLANK_FLAG
from lexicons.store import Lexicon

GREEDY = 0.6  # how often the best score is played and not any placement


def game_positions(
    lexicon: Lexicon, rules: Rules, seed: int, count: int, blanks: int = 0
) -> list[Position]:
    """Give ``count`` positions of one game, evenly spread, the first and the last among them.

    The player on turn holds at least ``blanks`` blanks as far as his rack is large enough: so many
    are kept out of the game, and lie on his rack in place of other tiles. The other blanks are
    drawn and played as they come. The last position's player has no placement, or goes on to win.
    """
    chance = random.Random(seed)
    game = _game(lexicon, rules, chance, blanks)
    chosen = [game[at * (len(game) - 1) // max(count - 1, 1)] for at in range(count)]
    return [_with_blanks(position, blanks, chance) for position in chosen]


def _game(
    lexicon: Lexicon, rules: Rules, chance: random.Random, kept_blanks: int
) -> list[Position]:
    """Play a game until somebody is out of tiles or neither has a placement."""
    bag = list(rules.distribution.all_tiles()[kept_blanks:])  # sorted, the blanks first
    chance.shuffle(bag)
    racks = tuple(
        tuple(sorted(bag.pop() for _ in range(min(rules.rack_size, len(bag))))) for _ in range(2)
    )
    position = Position(Board.empty(rules.layout), (racks[0], racks[1]), (0, 0))
    positions: list[Position] = []
    passes = 0
    generator = Generator(lexicon, rules)
    while all(position.racks) and passes < 2:
        positions.append(position)
        move = _placement(position, generator, chance)
        passes = passes + 1 if move is None else 0
        position = _after(position, move, bag, rules)
    return positions


def _placement(position: Position, generator: Generator, chance: random.Random) -> Move | None:
    """Choose the placement of the best score, or any; of all of them one becomes a value."""
    found = generator.arrays(position)
    places = np.flatnonzero(found.packed < EXCHANGE)
    if not len(places):
        return None
    order = places[np.lexsort((found.packed[places], -found.scores[places]))]
    chosen = order[0] if chance.random() < GREEDY else chance.choice(order)
    (move,) = unpack(found.packed[chosen : chosen + 1], position.board)
    return move


def _after(position: Position, move: Move | None, bag: list[int], rules: Rules) -> Position:
    """Play a placement, or pass; draw from ``bag``. The score is of no matter here."""
    board, racks = position.board, list(position.racks)
    if isinstance(move, Place):
        board = board.with_move(move)
        rack = list(racks[position.on_turn])
        for tile in move.placed:
            rack.remove(BLANK if tile & BLANK_FLAG else tile)
        while bag and len(rack) < rules.rack_size:
            rack.append(bag.pop())
        racks[position.on_turn] = tuple(sorted(rack))
    return replace(position, board=board, racks=(racks[0], racks[1]), on_turn=1 - position.on_turn)


def _with_blanks(position: Position, blanks: int, chance: random.Random) -> Position:
    racks = list(position.racks)
    rack = list(racks[position.on_turn])
    chance.shuffle(rack)
    kept = [tile for tile in rack if tile != BLANK][blanks:]
    held = [BLANK] * min(rack.count(BLANK) + blanks, len(rack))
    racks[position.on_turn] = tuple(sorted(held + kept))
    return replace(position, racks=(racks[0], racks[1]))
