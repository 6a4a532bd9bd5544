"""The slow twin of the endgame solver: every move of every position, and nothing left out.

No bounds, no order, no shortcut: six scoreless turns in a row end the game, and no fewer. What
placements are worth is kept for positions that come up again. Three tiles a side take from a
millisecond to minutes.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from engine.movegen.generator import Generator
from engine.movegen.move_codec import leaves_of, unpack
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Board, Position, Rack
from engine.rules.rules import Rules, check_move, rack_tiles
from lexicons.store import Lexicon

_NOTHING = -(10**6)
"""Less than any move is worth."""


class Minimax:
    """Works out what endgames are worth, one after another; what it works out it keeps."""

    def __init__(self, lexicon: Lexicon, rules: Rules) -> None:
        self._generator = Generator(lexicon, rules)
        self._rules, self._words = rules, lexicon.graph.contains
        self._points = cache(rules.distribution.value)
        self._by_placing = cache(self._best_placement)

    def value(self, position: Position, bag: Rack = ()) -> int:
        """Return the points that the player on turn gains on the other until the game is over.

        Args:
            position: with both racks.
            bag: in drawing order, which both know; nobody exchanges.
        """
        own, other = _racks(position)
        return self._value(position.board.squares, own, other, bag, position.scoreless_turns)

    def after(self, position: Position, move: Move, bag: Rack = ()) -> int:
        """Return what it gains if it makes this move, and both do their best from then on.

        Raises:
            IllegalMove: it can't make it.
        """
        own, other = _racks(position)
        squares = position.board.squares
        if move == PASS:
            return self._by_passing(squares, own, other, bag, position.scoreless_turns)
        play = check_move(position, move, self._rules, self._words, bag=len(bag))
        assert isinstance(move, Place)
        assert play is not None
        left = tuple((Counter(own) - Counter(rack_tiles(move.placed))).elements())
        return self._by_move(position.board, move, play.score, left, other, bag)

    def _by_move(
        self, board: Board, move: Place, score: int, left: Rack, other: Rack, bag: Rack
    ) -> int:
        drawn = len(move.placed)
        left = tuple(sorted((*left, *bag[:drawn])))
        if not left:
            return score + 2 * self._points(other)
        return score - self._value(board.with_move(move).squares, other, left, bag[drawn:], 0)

    def _value(self, squares: bytes, own: Rack, other: Rack, bag: Rack, scoreless: int) -> int:
        """See ``value``; the racks are those of the player on turn and of the other."""
        return max(
            self._by_passing(squares, own, other, bag, scoreless),
            self._by_placing(squares, own, other, bag),
        )

    def _by_passing(self, squares: bytes, own: Rack, other: Rack, bag: Rack, scoreless: int) -> int:
        if scoreless + 1 < self._rules.scoreless_limit:
            return -self._value(squares, other, own, bag, scoreless + 1)
        return self._points(other) - self._points(own)  # each loses its own

    def _best_placement(self, squares: bytes, own: Rack, other: Rack, bag: Rack) -> int:
        """Return what the best placement gains; how many turns had no score before is no matter."""
        board = Board(self._rules.layout, squares)
        found = self._generator.arrays(Position(board, (own, other), (0, 0)))
        values = [
            self._by_move(board, move, score, left, other, bag)
            for move, score, left in zip(
                unpack(found.packed, board),
                found.scores.tolist(),
                leaves_of(found.subracks, own),
                strict=True,
            )
            if isinstance(move, Place)
        ]
        return max(values, default=_NOTHING)


def _racks(position: Position) -> tuple[Rack, Rack]:
    """Return the rack of the player on turn and the other's, sorted."""
    own = position.racks[position.on_turn]
    return tuple(sorted(own)), tuple(sorted(position.racks[1 - position.on_turn]))
