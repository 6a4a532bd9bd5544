"""Questions about a position: all moves ranked, the best of some, the value of the played move.

The played move is compared even if it is a phony, as if it stood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.kernels.moves import EXCHANGE, PASS_MOVE
from engine.movegen.candidates import best_candidates, is_symmetric, ranked_moves, with_asked
from engine.movegen.generator import Generator, RankedMove, ranked
from engine.notation.move_text import format_move
from engine.rules.challenges import phonies
from engine.rules.moves import PASS, Direction, Move, Place
from engine.rules.position import Position, bag_count
from engine.rules.rules import IllegalMove, check_move, no_words
from lexicons.store import Lexicon


@dataclass(frozen=True)
class RankedMoves:
    """The best moves of a position, the highest equity first, and the number of each kind."""

    position: Position
    counts: Mapping[str, int]
    """Number of legal moves by kind: ``place``, ``exchange``, ``pass``."""
    moves: tuple[RankedMove, ...]


def rank_moves(generator: Generator, position: Position, limit: int | None) -> RankedMoves:
    """Rank the moves of a position and count them all.

    Only the best ``limit`` become objects: a rack with blanks has very many moves.

    Raises:
        ValueError: generators refuse the position.
    """
    all_moves = generator.arrays(position)
    moves = ranked(all_moves, position, limit)
    placed = int(np.count_nonzero(all_moves.packed < EXCHANGE))
    passes = int(np.count_nonzero(all_moves.packed >= PASS_MOVE))
    exchanges = len(all_moves.packed) - placed - passes
    counts = {"place": placed, "exchange": exchanges, "pass": passes}
    return RankedMoves(position, counts, tuple(moves))


@dataclass(frozen=True)
class Phony:
    """Why a move is a phony: ``words`` that the lexicon lacks; none: it was taken back."""

    words: tuple[str, ...] = ()
    lexicon: str = ""

    def __str__(self) -> str:
        return f"{no_words(self.words)} of {self.lexicon}" if self.words else "it was taken back"


@dataclass(frozen=True)
class Question:
    """The question which of some moves is best."""

    position: Position
    candidates: tuple[RankedMove, ...]
    """The best by static equity, the best first, and the played move."""
    played: Move | None = None
    """A candidate; None if no move was played, or none that can be compared."""
    phony: Phony | None = None
    """Why the played move is a phony; None if it is none."""
    obstacle: str = ""
    """Why the played move can't be compared; empty if it can."""
    asked: tuple[Move, ...] = ()
    """The moves to compare, and no others, in place of the best and the played move."""
    phonies: tuple[Move, ...] = ()
    """Of these, those with words that the lexicon lacks."""

    @property
    def is_forced(self) -> bool:
        """Whether a pass is the only move."""
        return not self.asked and [candidate.move for candidate in self.candidates] == [PASS]

    @property
    def wanted(self) -> tuple[Move, ...]:
        """The moves whose worth is asked for."""
        return self.asked or (() if self.played is None else (self.played,))

    def is_phony(self, move: Move) -> bool:
        """Check whether a candidate is a phony."""
        return (self.phony is not None and move == self.played) or move in self.phonies


def ask_of(
    generator: Generator, lexicon: Lexicon, position: Position, moves: Sequence[Move]
) -> Question:
    """Return the question which of some moves is best; if all are phonies, the best legal one too.

    Raises:
        ValueError: a move is impossible, or as ``ask``.
    """
    rules, wrong = generator.rules, list[Move]()
    for move in moves:
        try:
            play = check_move(position, move, rules, None, bag_count(position, rules))
        except IllegalMove as error:
            raise ValueError(f"{format_move(move, rules.distribution.alphabet)}: {error}") from None
        if play and phonies(play.words, lexicon.graph.contains):
            wrong.append(move)
    best = best_candidates(generator, position, 1) if len(wrong) == len(moves) else []
    rows = with_asked(generator, position, best, moves)
    return Question(position, tuple(rows), asked=tuple(moves), phonies=tuple(wrong))


def as_seen(position: Position) -> Position:
    """Return a position without the rack hidden from the player on turn."""
    return position.with_rack(1 - position.on_turn, ())


def ask(
    generator: Generator,
    lexicon: Lexicon,
    position: Position,
    count: int,
    played: Move | None,
    taken_back: bool = False,
) -> Question:
    """Return the question which of ``count`` moves is best, and what the played move is worth.

    The position is valid by ``engine.rules.rules.why_not``, the played move in canonical form. A
    move that was ``taken_back`` is a phony, whatever the lexicon says.

    Raises:
        ValueError: generators refuse the position.
    """
    board, twin = position.board, None
    if isinstance(played, Place) and board.is_empty and is_symmetric(board.layout):
        # The first word of a game mirrored at the diagonal is worth the same.
        twin = Place(played.column, played.row, Direction(1 - played.direction), played.tiles)
    without = [move for move in (played, twin) if move is not None] if taken_back else []
    best = best_candidates(generator, position, count, without)
    if played is not None:
        best = [row._replace(move=played) if row.move == twin else row for row in best]
    if played is None or any(row.move == played for row in best):
        return Question(position, tuple(best), played)
    rules = generator.rules
    try:
        play = check_move(position, played, rules, None, bag_count(position, rules))
    except IllegalMove as error:
        return Question(position, tuple(best), obstacle=str(error))
    wrong = phonies(play.words, lexicon.graph.contains) if play else ()
    words = tuple(map(rules.distribution.alphabet.text, wrong))
    phony = Phony(words, lexicon.name) if words or taken_back else None
    own = ranked_moves(generator, position, [played])
    return Question(position, (*best, *own), played, phony)
