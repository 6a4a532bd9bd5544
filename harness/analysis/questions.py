"""What is asked of a position: which of some moves is best, and what the one played is worth.

A move that was played is compared even if it is a phony, which is reckoned as if it stood.
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
    """Which of some moves is best."""

    position: Position
    candidates: tuple[RankedMove, ...]
    """The best by static equity, the best first, and the move that was played."""
    played: Move | None = None
    """One of them; None where nothing was played, or nothing that can be compared."""
    phony: str = ""
    """Why the move that was played is none of those that may be best."""
    obstacle: str = ""
    """Why what was played can't be compared."""

    @property
    def is_forced(self) -> bool:
        """Whether nothing can be done but to pass."""
        return [candidate.move for candidate in self.candidates] == [PASS]


def as_seen(position: Position) -> Position:
    """Return a position without the rack that the player on turn does not see."""
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
    """Return the question which of the best moves to choose, and what the one played is worth.

    Args:
        generator: finds them.
        lexicon: says which moves are phonies.
        position: ``engine.rules.rules.why_not`` has nothing against it.
        count: moves, the best by static equity.
        played: in the canonical form, if anything was played.
        taken_back: whether it was a phony in the game, whatever the lexicon says.

    Raises:
        ValueError: a position that generators refuse.
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
    """Add a move that is none of the best, if it can be compared, and what makes it a phony."""
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
    """Return the first word of a game as it would lie the other way, if that comes to the same."""
    if not isinstance(played, Place) or not position.board.is_empty:
        return None
    if not is_symmetric(position.board.layout):
        return None
    return Place(played.column, played.row, Direction(1 - played.direction), played.tiles)
