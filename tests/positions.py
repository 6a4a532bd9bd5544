"""Positions to test on: from games that the generator plays with itself, all from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np

from engine.kernels.moves import EXCHANGE
from engine.movegen.generator import Generator
from engine.movegen.move_codec import unpack
from engine.rules.moves import Move, Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules, leave_of
from lexicons.alphabet import BLANK
from lexicons.arrays import U64
from lexicons.store import Lexicon

_generators: dict[tuple[int, Rules], tuple[Lexicon, Generator]] = {}

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


class LegalMoves(Sequence[Move]):
    """The moves of ``legal_moves``, in its order; one becomes a value when it is looked at."""

    def __init__(self, packed: U64, board: Board) -> None:
        self._packed, self._board = packed, board

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, at: int) -> Move: ...
    @overload
    def __getitem__(self, at: slice) -> LegalMoves: ...
    def __getitem__(self, at: int | slice) -> Move | LegalMoves:
        if isinstance(at, slice):
            return LegalMoves(self._packed[at], self._board)
        (move,) = unpack(np.array([self._packed[at]]), self._board)
        return move

    def by_kind(self) -> tuple[LegalMoves, LegalMoves]:
        """The placements, and the exchanges; the last of all moves is the pass."""
        places = int(np.count_nonzero(self._packed < EXCHANGE))
        return self[:places], self[places:-1]


def legal_moves_of(position: Position, lexicon: Lexicon, rules: Rules) -> LegalMoves:
    """What ``legal_moves`` lists, far quicker where few of them matter."""
    key = id(lexicon), rules  # the lexicon is kept, so that no other gets its id
    if key not in _generators:
        _generators[key] = lexicon, Generator(lexicon, rules)
    found = _generators[key][1].arrays(position)
    used = np.where(found.packed >= EXCHANGE, np.bitwise_count(found.subracks), 0)
    kinds = found.packed >> np.uint64(60)
    order = np.lexsort((found.packed, -found.scores, used, kinds))
    return LegalMoves(found.packed[order], position.board)


def _game(
    lexicon: Lexicon, rules: Rules, chance: random.Random, kept_blanks: int
) -> list[Position]:
    """Play a game until somebody is out of tiles or neither has a placement."""
    bag = list(rules.distribution.all_tiles()[kept_blanks:])  # sorted, the blanks first
    chance.shuffle(bag)
    position, positions = Position.empty(rules.layout), list[Position]()
    for seat in range(2):
        dealt = [bag.pop() for _ in range(min(rules.rack_size, len(bag)))]
        position = position.with_rack(seat, tuple(sorted(dealt)))
    passes = 0
    generator = Generator(lexicon, rules)
    while all(position.racks) and passes < 2:
        positions.append(position)
        move = _placement(position, generator, chance)
        passes = passes + 1 if move is None else 0
        rack = position.racks[position.on_turn]
        if move is not None:
            left = list(leave_of(rack, move))
            while bag and len(left) < rules.rack_size:
                left.append(bag.pop())
            rack = tuple(sorted(left))
            position = replace(position, board=position.board.with_move(move))
        # The score is of no matter here.
        position = replace(position.with_rack(position.on_turn, rack), on_turn=1 - position.on_turn)
    return positions


def _placement(position: Position, generator: Generator, chance: random.Random) -> Place | None:
    """Choose the placement of the best score, or any; of all of them one becomes a value."""
    found = generator.arrays(position)
    places = np.flatnonzero(found.packed < EXCHANGE)
    if not len(places):
        return None
    order = places[np.lexsort((found.packed[places], -found.scores[places]))]
    chosen = order[0] if chance.random() < GREEDY else chance.choice(order)
    (move,) = unpack(found.packed[chosen : chosen + 1], position.board)
    assert isinstance(move, Place)
    return move


def _with_blanks(position: Position, blanks: int, chance: random.Random) -> Position:
    rack = list(position.racks[position.on_turn])
    chance.shuffle(rack)
    kept = [tile for tile in rack if tile != BLANK][blanks:]
    held = [BLANK] * min(rack.count(BLANK) + blanks, len(rack))
    return position.with_rack(position.on_turn, tuple(sorted(held + kept)))
