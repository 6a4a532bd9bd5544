"""Solvers of the last turns: of endgames, and of pre-endgames, with few tiles in the bag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.player import View
from bot.search.static_choice import generator_for
from engine.endgame.solver import LEAST_LIMIT, EndgameSolver
from engine.movegen.generator import RankedMove
from engine.preendgame.replies import Model
from engine.preendgame.solver import PreEndgame
from engine.rules.moves import PASS, Move
from engine.rules.position import Position
from engine.rules.rules import Rules, leave_of, passes_left, points_of
from lexicons.store import Lexicon

MEMORY = 128 << 20
"""Bytes of memory for a single-threaded solver."""
MEMORY_A_THREAD = 32 << 20
"""Bytes for each further thread: its share holds the placements of any position."""


def is_solvable(rules: Rules) -> bool:
    """Check whether endgames are solved by these rules."""
    return rules.most_passes >= LEAST_LIMIT


class Solvers:
    """Keeps the last solver requested, with its memory and what it has learnt."""

    def __init__(self) -> None:
        self._of: tuple[object, ...] | None = None
        self._solver: EndgameSolver | None = None

    def solver(
        self, lexicon: Lexicon, rules: Rules, *, threads: int = 1, memory: int | None = None
    ) -> EndgameSolver:
        """Return a solver; ``memory`` is in bytes, by default what its threads need.

        Raises:
            MemoryError: the memory is not available.
            ValueError: the memory is too small for the threads, or as ``EndgameSolver``.
        """
        memory = memory or MEMORY + (threads - 1) * MEMORY_A_THREAD
        key = (lexicon, rules, memory, threads)
        if self._solver is None or self._of != key:
            self._solver = None  # free its memory before allocating the next
            self._solver = EndgameSolver(lexicon, rules, memory=memory, threads=threads)
            self._of = key
        return self._solver


def pre_endgame(
    view: View, solver: EndgameSolver, candidates: Sequence[RankedMove], **how: Any
) -> PreEndgame:
    """Begin to compare candidates by how often they win; ``how`` is as ``PreEndgame`` takes it."""
    return PreEndgame(solver, generator_for(view), view.position, candidates, **how)


@dataclass(frozen=True)
class EndgameProof:
    """What a solver knows of the endgame of a view, whose position has both racks."""

    view: View
    solver: EndgameSolver
    first_win: bool
    """Whether only the winner was sought; then the value is a bound."""
    seconds: float


@dataclass(frozen=True)
class PreEndgameComparison:
    """Moves of a view compared by how often they win, over all bags and opponent's racks."""

    view: View
    work: PreEndgame
    model: Model
    seconds: float


@dataclass(frozen=True)
class BestPlay:
    """The best play of both sides."""

    moves: tuple[Move, ...]
    scores: tuple[int, ...]
    """What each move scores."""
    ends_game: bool
    """Whether it leads to the end of the game."""


def best_play(solver: EndgameSolver, position: Position, rules: Rules) -> BestPlay:
    """Return the best play that a solver knows of the endgame it has begun with."""
    line, reached, scores = solver.line(), position, []
    for move in line:
        score = points_of(reached.board, move, rules)
        reached = reached.after(move, score, leave_of(reached.racks[reached.on_turn], move), rules)
        scores.append(score)
    # ``engine.kernels.endgame`` explains why two passes will do.
    ends_game = (
        not all(reached.racks) or line[-2:] == (PASS, PASS) or passes_left(reached, rules) < 1
    )
    return BestPlay(line, tuple(scores), ends_game)
