"""What is asked of a position: which of some moves is best, and what the one played is worth.

A move that was played is compared even if it is a phony, which is reckoned as if it stood.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from engine.candidates import best_candidates, is_symmetric
from engine.generate import Generator, RankedMove
from engine.kernels.worths import POINT
from engine.moves import PASS, Direction, Move, Place
from engine.packing import leaves_of, pack
from engine.position import Position, bag_count, unseen
from engine.rules import IllegalMove, Rules, check_move, rack_tiles, score_play
from lexicons.store import Lexicon

__all__ = ["Question", "as_seen", "ask", "why_not"]


@dataclass(frozen=True)
class Question:
    """What is to be found out."""

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
        return [one.move for one in self.candidates] == [PASS]


def why_not(position: Position, rules: Rules) -> str:
    """Say why a position has nothing to choose, or too little is known of it; empty if it is fine.

    Raises:
        ValueError: more of a tile is in sight than there are.
    """
    rack = position.racks[position.on_turn]
    hidden = sum(unseen(position, position.on_turn, rules))
    text = rules.distribution.alphabet.text(rack)
    if position.scoreless_turns >= rules.scoreless_limit:
        return f"the game is over, after {position.scoreless_turns} scoreless turns in a row"
    if rack and not hidden:
        return "the game is over: the opponent has no tiles left"
    if not rack and hidden <= rules.rack_size:
        return "no rack is on turn: the game is over, or the last rack is not given"
    if not rack:
        return "the rack of the player on turn is not given"
    if len(rack) < rules.rack_size < hidden:
        return (
            f"{text} is not the whole rack, which has {rules.rack_size} tiles while there is a bag"
        )
    return ""


def as_seen(position: Position) -> Position:
    """Take away what the player on turn does not see, the other rack."""
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
    """Put the best moves of a position beside the one that was played.

    Args:
        generator: finds them.
        lexicon: says which moves are phonies.
        position: ``why_not`` has nothing against it.
        count: how many moves, by static equity.
        played: in the canonical form, if anything was played.
        taken_back: whether it was a phony in the game, whatever the lexicon says.

    Raises:
        ValueError: a position that generators refuse.
    """
    twin = _mirror_image(position, played)
    without = [one for one in (played, twin) if one is not None] if taken_back else []
    best = best_candidates(generator, position, count, without)
    if played is not None:
        best = [one._replace(move=played) if one.move == twin else one for one in best]
    if played is None or any(one.move == played for one in best):
        return Question(position, tuple(best), played)
    alone = Question(position, tuple(best))
    return _beside(generator, lexicon, alone, played, "it was taken back" if taken_back else "")


def _beside(
    generator: Generator, lexicon: Lexicon, question: Question, played: Move, phony: str
) -> Question:
    """Add a move that is none of the best, if it can be compared; say what makes it a phony."""
    position, rules = question.position, generator.rules
    bag = bag_count(position, rules)
    try:
        check_move(position, played, rules, None, bag)
        check_move(position, played, rules, lexicon.graph.contains, bag)
    except IllegalMove as error:
        if error.code != "not_a_word":
            return replace(question, obstacle=str(error))
        phony = f"{error} of {lexicon.name}"
    if phony and isinstance(played, Place):
        ranked = _phony(generator, position, played)
    else:
        ranked = _ranked(generator, position, played)
    return Question(position, (*question.candidates, ranked), played, phony)


def _mirror_image(position: Position, played: Move | None) -> Place | None:
    """Give the first word of a game as it would lie the other way, if that comes to the same."""
    if not isinstance(played, Place) or not position.board.is_empty:
        return None
    if not is_symmetric(position.board.layout):
        return None
    return Place(played.column, played.row, Direction(1 - played.direction), played.tiles)


def _ranked(generator: Generator, position: Position, move: Move) -> RankedMove:
    """Find a legal move among all."""
    found = generator.arrays(position)
    at = int(np.flatnonzero(found.packed == np.uint64(pack(move)))[0])
    rack = tuple(sorted(position.racks[position.on_turn]))
    (leave,) = leaves_of(found.parts[at : at + 1], rack)
    return RankedMove(move, int(found.scores[at]), int(found.equities[at]), leave)


def _phony(generator: Generator, position: Position, move: Place) -> RankedMove:
    """Rank what no generator finds, by its score and leave alone."""
    bag = bag_count(position, generator.rules)
    play = score_play(position.board, move, generator.rules)
    rack = Counter(position.racks[position.on_turn])
    leave = tuple(sorted((rack - Counter(rack_tiles(move.placed))).elements()))
    worth = round(generator.leaves.value(leave) * POINT) if bag else 0
    return RankedMove(move, play.score, play.score * POINT + worth, leave)
