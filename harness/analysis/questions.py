"""Questions about a position: the best of some moves, and the value of the played move.

The played move is compared even if it is a phony, as if it stood.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.movegen.candidates import best_candidates, is_symmetric, ranked_moves
from engine.movegen.generator import Generator, RankedMove
from engine.rules.moves import PASS, Direction, Move, Place
from engine.rules.position import Position, bag_count
from engine.rules.rules import IllegalMove, check_move
from lexicons.store import Lexicon

__all__ = ["Question", "as_seen", "ask"]


@dataclass(frozen=True)
class Question:
    """The question which of some moves is best."""

    position: Position
    candidates: tuple[RankedMove, ...]
    """The best by static equity, the best first, and the played move."""
    played: Move | None = None
    """A candidate; None if no move was played, or none that can be compared."""
    phony: str = ""
    """Why the played move is a phony; empty if it is none."""
    obstacle: str = ""
    """Why the played move can't be compared; empty if it can."""

    @property
    def is_forced(self) -> bool:
        """Whether a pass is the only move."""
        return [candidate.move for candidate in self.candidates] == [PASS]


def as_seen(position: Position) -> Position:
    """Return a position without the rack hidden from the player on turn."""
    seat = position.on_turn
    racks = (position.racks[0], ()) if seat == 0 else ((), position.racks[1])
    return replace(position, racks=racks)


def ask(
    generator: Generator,
    lexicon: Lexicon,
    position: Position,
    count: int,
    played: Move | None,
    taken_back: bool = False,
) -> Question:
    """Return the question which move is best, and what the played move is worth.

    Args:
        generator: generates the moves.
        lexicon: decides which moves are phonies.
        position: valid by ``engine.rules.rules.why_not``.
        count: number of moves, the best by static equity.
        played: the played move in canonical form, if any.
        taken_back: whether it was a phony in the game, whatever the lexicon says.

    Raises:
        ValueError: generators refuse the position.
    """
    twin = _mirror_image(position, played)
    without = [move for move in (played, twin) if move is not None] if taken_back else []
    best = best_candidates(generator, position, count, without)
    if played is not None:
        best = [row._replace(move=played) if row.move == twin else row for row in best]
    if played is None or any(row.move == played for row in best):
        return Question(position, tuple(best), played)
    alone = Question(position, tuple(best))
    return _beside(generator, lexicon, alone, played, "it was taken back" if taken_back else "")


def _beside(
    generator: Generator, lexicon: Lexicon, question: Question, played: Move, phony: str
) -> Question:
    """Add another move, if it can be compared, and the reason if it is a phony."""
    position, rules = question.position, generator.rules
    bag = bag_count(position, rules)
    try:
        check_move(position, played, rules, None, bag)
        check_move(position, played, rules, lexicon.graph.contains, bag)
    except IllegalMove as error:
        if error.code != "not_a_word":
            return replace(question, obstacle=str(error))
        phony = f"{error} of {lexicon.name}"
    ranked = ranked_moves(generator, position, [played])
    return Question(position, (*question.candidates, *ranked), played, phony)


def _mirror_image(position: Position, played: Move | None) -> Place | None:
    """Return the first word of a game mirrored at the diagonal, if that is equivalent."""
    if not isinstance(played, Place) or not position.board.is_empty:
        return None
    if not is_symmetric(position.board.layout):
        return None
    return Place(played.column, played.row, Direction(1 - played.direction), played.tiles)
