"""Puzzles: positions late in a game, and what every move but the best loses.

In an *endgame* the bag is empty, so each move has a value: the spread at the end of the game if
both sides do their best from then on. In a *pre-endgame* one tile is in the bag, and it may be any
of the unseen ones: if both sides see everything from then on, a move wins, draws or loses for
certain with each of them, and a few moves may win equally often.

``EndgameSolver`` and ``PreEndgame`` prove it. Their work is counted in nodes: the same position is
the same puzzle, or none, on any machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bot.equipment import Resources
from bot.player import View
from bot.search.analysis.solving import Solvers, best_play, pre_endgame
from engine.endgame.solver import EndgameSolver, Solution
from engine.movegen.generator import Generator, RankedMove
from engine.preendgame.bounds import EPSILON
from engine.preendgame.scenarios import FullPosition
from engine.preendgame.solver import PreEndgame
from engine.rules.moves import PASS, Exchange, Move
from engine.rules.position import Position, unseen
from engine.rules.rules import Rules
from lexicons.store import Lexicon

MOVES = range(15, 301)
"""Numbers of legal moves allowed: fewer make a puzzle trivial, more make its file large."""
LEAST_LOSS = 5
"""Least points that the static move loses in an endgame, unless it worsens the outcome."""
LEAST_SHARE = 1 / 8
"""Least share of wins that the static move loses in a pre-endgame."""

_MEMORY = 40 << 20
_FIRST_NODES = 3_000  # for the endgame itself
_ENDGAME_NODES = 30_000  # for what a move is worth
_GUESS_NODES = 8_000  # for a guess of a pre-endgame, by the few best moves by equity …
_GUESSED_MOVES = 10
_SLICE = 20_000  # … and for all its moves, before it is guessed again whether they are of use
_MOST_NODES = 3_000_000  # for the outcomes of all; most positions are given up before
_LINE_NODES = 500_000  # for the best play with a tile
_MOST_BEST = 6  # most moves of a pre-endgame that may be best together
_LEAST_BEST = 1 / 2  # share of wins; where all moves mostly lose, proofs are long

WON, DRAWN, LOST, UNPROVEN = "WDL?"

Cases: TypeAlias = dict[int, int]
"""The number of unseen tiles of each kind, by tile."""


@dataclass(frozen=True)
class BestLine:
    """The best play of both sides to the end of the game."""

    moves: tuple[Move, ...]
    scores: tuple[int, ...]
    """What each move scores."""
    spread: int
    """At the end of the game, of the player to move in the puzzle."""


@dataclass(frozen=True)
class EndgamePuzzle:
    """An endgame solved."""

    position: Position
    """With both racks."""
    ranked: tuple[RankedMove, ...]
    """All legal moves, the highest equity first."""
    best: RankedMove
    line: BestLine
    spreads: Mapping[Move, int]
    """The spread at the end of the game after each legal move."""
    replies: Mapping[Move, Move]
    """The best answer to each move that does not end the game."""

    def loss(self, move: Move) -> int:
        """Return the points that a move loses."""
        return self.line.spread - self.spreads[move]


@dataclass(frozen=True)
class PreEndgamePuzzle:
    """A position with one tile in the bag, solved for each tile that it may be."""

    position: Position
    """With the rack of the player on turn only."""
    ranked: tuple[RankedMove, ...]
    best: RankedMove
    cases: Cases
    lines: Mapping[int, BestLine]
    """The best play of both sides after the best move, by the tile in the bag."""
    outcomes: Mapping[Move, str]
    """The outcome of each move with each of ``cases``: won, drawn, lost or unproven."""

    def win(self, move: Move) -> float:
        """Return the greatest possible share of wins; a draw is half a win."""
        return share(self.outcomes[move], self.cases, 1)

    def loss(self, move: Move) -> float:
        """Return the least share of wins that a move loses."""
        return self.win(self.best.move) - self.win(move)


Puzzle: TypeAlias = EndgamePuzzle | PreEndgamePuzzle


def share(outcomes: str, cases: Cases, unproven: float = 0) -> float:
    """Return the share of wins over cases; a draw is half a win, an unproven outcome as given."""
    worth = {WON: 1.0, DRAWN: 0.5, LOST: 0.0, UNPROVEN: unproven}
    won = sum(worth[each] * count for each, count in zip(outcomes, cases.values(), strict=True))
    return won / sum(cases.values())


class PuzzleMaker:
    """Makes puzzles from suitable positions."""

    def __init__(self, lexicon: Lexicon, generator: Generator) -> None:
        self._lexicon, self._generator = lexicon, generator

    def endgame(self, position: Position) -> EndgamePuzzle | None:
        """Return a puzzle of an endgame with both racks, or None if it is not fit for one."""
        ranked = self._ranked(position)
        if ranked is None:
            return None
        asked = _AskedSolver(self._new_solver(), self._generator.rules, position)
        solved = asked.solve(position, _FIRST_NODES)
        highest = max(ranked, key=lambda each: each.score)
        if solved is None or solved.move in {ranked[0].move, highest.move}:
            return None
        best = next(each for each in ranked if each.move == solved.move)
        line = asked.line(position)
        if line is None:
            return None
        spreads: dict[Move, int] = {}
        replies: dict[Move, Move] = {}
        for each in ranked:
            after = FullPosition(position, ()).after(each.move, each.score, asked.rules)
            spread = asked.spread(after, _ENDGAME_NODES)
            if spread is None:
                return None
            spreads[each.move] = spread
            if not after.over:
                replies[each.move] = asked.solution.move
        puzzle = EndgamePuzzle(position, ranked, best, line, spreads, replies)
        return puzzle if _teaches(puzzle) else None

    def preendgame(self, position: Position) -> PreEndgamePuzzle | None:
        """Return a puzzle of a position with one tile in the bag, or None if it is not fit."""
        ranked = self._ranked(position)
        if ranked is None:
            return None
        if any(isinstance(each.move, Exchange) for each in ranked):
            return None  # the places of exchanged tiles are too many for a proof
        rules, static = self._generator.rules, ranked[0].move
        asked = _AskedSolver(self._new_solver(), rules, position)
        view = View.of(position, rules, Resources(self._lexicon, self._generator.leaves))
        guess = pre_endgame(view, asked.solver, ranked[:_GUESSED_MOVES])
        guess.advance(_GUESS_NODES)
        if not _may_teach(guess, static):
            return None
        sure = list(dict.fromkeys((static, PASS)))
        work = pre_endgame(view, asked.solver, ranked, protected=sure, by_spread=False)
        nodes = 0
        while not work.is_over:
            nodes += work.advance(_SLICE)
            if nodes > _MOST_NODES or not _may_teach(work, static):
                return None
        counts = enumerate(unseen(position, position.on_turn, rules))
        cases = {tile: count for tile, count in counts if count}
        outcomes = {each.move: _letters(work, each.move, cases) for each in ranked}
        best = max(ranked, key=lambda each: share(outcomes[each.move], cases))
        if best.move == PASS:
            return None  # no solver tells the play after it
        # A case that is not won may be all that dropped a move; tell its draws from losses.
        most = share(outcomes[best.move], cases)
        left = [each for each in ranked if share(outcomes[each.move], cases, 1) >= most]
        moves = [each.move for each in left]
        work = pre_endgame(view, asked.solver, left, protected=moves, by_spread=False)
        work.advance(_MOST_NODES)
        outcomes |= {move: _letters(work, move, cases) for move in moves}
        lines = {}
        for tile in cases:
            line = asked.line_after(best, tile, cases)
            if line is None:
                return None
            lines[tile] = line
        puzzle = PreEndgamePuzzle(position, ranked, best, cases, lines, outcomes)
        return puzzle if _teaches(puzzle) else None

    def _ranked(self, position: Position) -> tuple[RankedMove, ...] | None:
        if len(self._generator.arrays(position).packed) not in MOVES:
            return None
        return tuple(self._generator.everything(position))

    def _new_solver(self) -> EndgameSolver:
        """Return a solver that knows no other position, since that could change its answers."""
        return Solvers().solver(self._lexicon, self._generator.rules, memory=_MEMORY)


class _AskedSolver:
    """A solver that is asked about the moves of one position."""

    def __init__(self, solver: EndgameSolver, rules: Rules, position: Position) -> None:
        self.solver, self.rules = solver, rules
        self._position, self._seat = position, position.on_turn

    @property
    def solution(self) -> Solution:
        """The answer to the last question."""
        return self.solver.solution

    def solve(self, position: Position, nodes: int) -> Solution | None:
        """Return the solution of an endgame, None if it takes more nodes."""
        self.solver.begin(position)
        self.solver.advance(nodes)
        return self.solution if self.solution.proven else None

    def spread(self, after: FullPosition, nodes: int) -> int | None:
        """Return the final spread of the puzzle's player to move; None if more nodes are needed."""
        now = after.position.spread(self._seat)
        if after.over:
            return now
        solved = self.solve(after.position, nodes)
        return None if solved is None else now - solved.value

    def line_after(self, ranked: RankedMove, tile: int, cases: Cases) -> BestLine | None:
        """Return the best play with a tile in the bag, the move first; None: it is unproven.

        The move draws the tile; the opponent has the other unseen ones.
        """
        hidden = Counter(cases) - Counter([tile])
        dealt = self._position.with_rack(1 - self._seat, tuple(sorted(hidden.elements())))
        full = FullPosition(dealt, (tile,))
        after = full.after(ranked.move, ranked.score, self.rules).position
        if self.solve(after, _LINE_NODES) is None or (rest := self.line(after)) is None:
            return None
        return BestLine((ranked.move, *rest.moves), (ranked.score, *rest.scores), -rest.spread)

    def line(self, position: Position) -> BestLine | None:
        """Return the best play of the endgame just solved; None: it stops before the end."""
        line = best_play(self.solver, position, self.rules)
        spread = position.spread(position.on_turn) + self.solution.value
        return BestLine(line.moves, line.scores, spread) if line.ends_game else None


def _may_teach(work: PreEndgame, static: Move) -> bool:
    """Check that a few moves seem to be best, to win mostly, and more often than the static one."""
    outcomes = work.outcomes()
    seen = [each for each in outcomes if each.cases == work.cases]  # other estimates are too rough
    best = max((each.win for each in seen), default=0)
    level = sum(each.proven and best - each.win < EPSILON for each in seen)
    known = next(each.win for each in outcomes if each.move == static)
    return level <= _MOST_BEST and best >= max(known + LEAST_SHARE, _LEAST_BEST)


def _letters(work: PreEndgame, move: Move, cases: Cases) -> str:
    """Return the outcome of a move with each tile that may be in the bag."""
    known = dict.fromkeys(cases, UNPROVEN)
    for draw in work.draws(move):
        if draw.proven:
            known[draw.bag[0]] = WON if draw.wins else LOST if draw.losses else DRAWN
    return "".join(known.values())


def _teaches(puzzle: Puzzle) -> bool:
    """Check that the static choice loses enough, and that it is proven which moves are best."""
    static = puzzle.ranked[0].move
    if isinstance(puzzle, PreEndgamePuzzle):
        as_good = [text for move, text in puzzle.outcomes.items() if puzzle.loss(move) <= 0]
        return puzzle.loss(static) >= LEAST_SHARE and UNPROVEN not in "".join(as_good)
    others = [each.move for each in puzzle.ranked if each.move != puzzle.best.move]
    # A win may become a draw or a loss, a draw a loss.
    changes_outcome = np.sign(puzzle.spreads[static]) < np.sign(puzzle.line.spread)
    is_enough = puzzle.loss(static) >= LEAST_LOSS or changes_outcome
    return bool(is_enough) and min(map(puzzle.loss, others)) > 0
