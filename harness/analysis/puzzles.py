"""Puzzles: positions late in a game, and what every move but the best loses.

In an *endgame* the bag is empty, so each move has a value: the spread at the end of the game if
both sides do their best from then on. In a *pre-endgame* one tile is in the bag, and it may be any
of the unseen ones: a placement empties the bag, so it wins, draws or loses for certain with each of
them, and a few moves may win equally often. A pass leaves the tile in the bag; its share of
wins is the estimate of ``PreEndgame``.

All else is proven by ``EndgameSolver``, whose work is counted in nodes: the same position is the
same puzzle, or none, on any machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bot.equipment import Resources
from bot.player import View
from bot.search.analysis.solving import Solvers, best_play, pre_endgame
from engine.endgame.solver import EndgameSolver, Solution
from engine.movegen.generator import Generator, RankedMove, passing
from engine.preendgame.scenarios import FullPosition
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Position, unseen
from engine.rules.rules import Rules
from lexicons.store import Lexicon

MOVES = range(15, 301)
"""Numbers of legal moves allowed: fewer make a puzzle trivial, more make its file large."""
LEAST_LOSS = 5
"""Least points that the static move loses in an endgame, unless it worsens the outcome."""
LEAST_SHARE = 1 / 8
"""Least share of wins that the static move, and a pass, lose in a pre-endgame."""

_MEMORY = 40 << 20
_FIRST_NODES = 3_000  # for the endgame itself
_ENDGAME_NODES = 30_000  # for what a move is worth
_GUESS_NODES = 100  # for a guess of an outcome
_OUTCOME_NODES = 400, 4_000, 40_000, 200_000  # for the outcome with one tile, look by look
_MOST_NODES = 1_500_000  # for all outcomes of a pre-endgame; most positions are given up before
_LINE_NODES = 150_000  # for the best play with a tile
_PASS_NODES = 30_000
_LOOKED_AT = 10  # moves whose outcomes are guessed, the best by equity
_MOST_BEST = 6  # most moves of a pre-endgame that may be best together
_LEAST_BEST = 1 / 2  # share of wins; where all moves mostly lose, proofs are long
_RIVALS = 3  # moves whose outcomes are proven first

WON, DRAWN, LOST, UNPROVEN = "WDL?"

Cases: TypeAlias = dict[int, int]
"""The number of unseen tiles of each kind, by tile."""


@dataclass(frozen=True)
class Line:
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
    line: Line
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
    lines: Mapping[int, Line]
    """The best play of both sides after the best move, by the tile in the bag."""
    outcomes: Mapping[Move, str]
    """The outcome of each placement with each of ``cases``: won, drawn, lost or unproven."""
    pass_win: float
    """The estimated share of wins after a pass; a draw is half a win."""

    def win(self, move: Move) -> float:
        """Return the greatest possible share of wins; a draw is half a win."""
        return self.pass_win if move == PASS else share(self.outcomes[move], self.cases, 1)

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
        asked = _Asked(self._new_solver(), self._generator.rules, position)
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
        asked = _Asked(self._new_solver(), self._generator.rules, position)
        counts = enumerate(unseen(position, position.on_turn, asked.rules))
        cases = {tile: count for tile, count in counts if count}
        placed = [each for each in ranked if isinstance(each.move, Place)]
        if len(placed) + 1 < len(ranked):
            return None  # exchanges leave a tile in the bag, which no solution here covers
        outcomes = _best_proven(asked, placed, cases)
        if outcomes is None:
            return None
        best = max(placed, key=lambda each: share(outcomes[each.move], cases))
        lines = {}
        for tile in cases:
            line = asked.line_after(best, tile, cases)
            if line is None:
                return None
            lines[tile] = line
        resources = Resources(self._lexicon, self._generator.leaves)
        view = View.of(position, asked.rules, resources)
        passed = pre_endgame(view, asked.solver, [passing(position)])
        passed.advance(_PASS_NODES)
        pass_win = passed.leader().win
        puzzle = PreEndgamePuzzle(position, ranked, best, cases, lines, outcomes, pass_win)
        return puzzle if _teaches(puzzle) else None

    def _ranked(self, position: Position) -> tuple[RankedMove, ...] | None:
        if len(self._generator.arrays(position).packed) not in MOVES:
            return None
        return tuple(self._generator.everything(position))

    def _new_solver(self) -> EndgameSolver:
        """Return a solver that knows no other position, since that could change its answers."""
        return Solvers().solver(self._lexicon, self._generator.rules, memory=_MEMORY)


class _Asked:
    """A solver that is asked about the moves of one position."""

    def __init__(self, solver: EndgameSolver, rules: Rules, position: Position) -> None:
        self.solver, self.rules = solver, rules
        self._position, self._seat = position, position.on_turn
        self.nodes = 0

    @property
    def solution(self) -> Solution:
        """The answer to the last question."""
        return self.solver.solution

    def solve(self, position: Position, nodes: int, *, first_win: bool = False) -> Solution | None:
        """Return the solution of an endgame, None if it takes more nodes."""
        self.solver.begin(position, first_win=first_win)
        self.nodes += self.solver.advance(nodes)
        return self.solution if self.solution.proven else None

    def spread(self, after: FullPosition, nodes: int) -> int | None:
        """Return the final spread of the puzzle's player to move; None if more nodes are needed."""
        now = after.position.spread(self._seat)
        if after.over:
            return now
        solved = self.solve(after.position, nodes)
        return None if solved is None else now - solved.value

    def guess(self, ranked: RankedMove, cases: Cases) -> float:
        """Return a guess of the share of wins of a placement."""
        outcomes = ""
        for tile in cases:
            after = self._drawing(ranked, tile, cases).position
            self.solve(after, _GUESS_NODES)
            spread = after.spread(self._seat) - self.solution.value
            outcomes += WON if spread > 0 else LOST if spread < 0 else DRAWN
        return share(outcomes, cases)

    def outcome(self, ranked: RankedMove, tile: int, cases: Cases, nodes: int) -> str:
        """Return the outcome of a placement with a tile in the bag."""
        after = self._drawing(ranked, tile, cases).position
        solved = self.solve(after, nodes, first_win=True)
        if solved is None:
            return UNPROVEN
        lead = after.spread(self._seat)
        if solved.floor is not None and solved.floor > lead:
            return LOST
        return WON if solved.ceiling is not None and solved.ceiling < lead else DRAWN

    def line_after(self, ranked: RankedMove, tile: int, cases: Cases) -> Line | None:
        """Return the best play with a tile in the bag, the move first; None: it is unproven."""
        after = self._drawing(ranked, tile, cases).position
        if self.solve(after, _LINE_NODES) is None or (rest := self.line(after)) is None:
            return None
        return Line((ranked.move, *rest.moves), (ranked.score, *rest.scores), -rest.spread)

    def line(self, position: Position) -> Line | None:
        """Return the best play of the endgame just solved; None: it stops before the end."""
        line = best_play(self.solver, position, self.rules)
        spread = position.spread(position.on_turn) + self.solution.value
        return Line(line.moves, line.scores, spread) if line.ends_game else None

    def _drawing(self, ranked: RankedMove, tile: int, cases: Cases) -> FullPosition:
        """Make a placement that draws the last tile; the opponent has the other unseen ones."""
        rest = Counter(cases) - Counter([tile])
        dealt = self._position.with_rack(1 - self._seat, tuple(sorted(rest.elements())))
        return FullPosition(dealt, (tile,)).after(ranked.move, ranked.score, self.rules)


def _best_proven(
    asked: _Asked, placed: Sequence[RankedMove], cases: Cases
) -> dict[Move, str] | None:
    """Return the outcomes of placements if a few are proven to be best, else None.

    Quick guesses say where a proof may succeed. Outcomes of moves that are not the best stay
    unproven where they do not matter.
    """
    static = placed[0]
    guessed = {each: asked.guess(each, cases) for each in placed[:_LOOKED_AT]}
    rivals = sorted(guessed, key=lambda each: -guessed[each])[:_RIVALS]
    if guessed[rivals[0]] < max(guessed[static] + LEAST_SHARE, _LEAST_BEST):
        return None
    known = _Outcomes(asked, [each.move for each in placed], cases)
    for nodes in _OUTCOME_NODES[:-1]:
        for each in (static, *rivals):
            known.look(each, nodes)
        if known.best >= known.most(static) + LEAST_SHARE:
            break
        if max(map(known.most, rivals)) < known.least(static) + LEAST_SHARE:
            return None
    else:
        return None
    for nodes in _OUTCOME_NODES:
        for each in placed:
            if asked.nodes < _MOST_NODES:
                known.look(each, nodes, until=known.best)
            if known.least(each) >= known.best and known.level > _MOST_BEST:
                return None
    return known.by_move if known.is_proven else None


class _Outcomes:
    """What is known of each placement with each tile that may be in the bag."""

    def __init__(self, asked: _Asked, moves: Iterable[Move], cases: Cases) -> None:
        self.by_move = dict.fromkeys(moves, UNPROVEN * len(cases))
        self.best = 0.0
        """The greatest share of wins that is proven."""
        self._asked, self._cases = asked, cases
        self._lost = Counter[int]()  # placements that do not win, by tile

    def least(self, ranked: RankedMove) -> float:
        return share(self.by_move[ranked.move], self._cases)

    def most(self, ranked: RankedMove) -> float:
        return share(self.by_move[ranked.move], self._cases, 1)

    @property
    def is_proven(self) -> bool:
        """Whether all is known of the moves that may be the best."""
        return not any(UNPROVEN in text for text in self._may_be_best())

    @property
    def level(self) -> int:
        """The number of moves that are proven to win most often so far."""
        return sum(UNPROVEN not in text for text in self._may_be_best())

    def _may_be_best(self) -> list[str]:
        texts = self.by_move.values()
        return [text for text in texts if share(text, self._cases, 1) >= self.best]

    def look(self, ranked: RankedMove, nodes: int, until: float = 0.0) -> None:
        """Look at a placement with each tile, those first with which others did not win.

        Stop once it can't win as often as ``until``.
        """
        known = dict(zip(self._cases, self.by_move[ranked.move], strict=True))
        for tile in sorted(self._cases, key=lambda each: -self._lost[each]):
            if known[tile] != UNPROVEN or share("".join(known.values()), self._cases, 1) < until:
                continue
            known[tile] = self._asked.outcome(ranked, tile, self._cases, nodes)
            self._lost[tile] += known[tile] in {DRAWN, LOST}
        self.by_move[ranked.move] = "".join(known.values())
        self.best = max(self.best, self.least(ranked))


def _teaches(puzzle: Puzzle) -> bool:
    """Check that the static choice loses enough, and an endgame has one best move."""
    static = puzzle.ranked[0].move
    if isinstance(puzzle, PreEndgamePuzzle):
        return min(puzzle.loss(static), puzzle.loss(PASS)) >= LEAST_SHARE
    others = [each.move for each in puzzle.ranked if each.move != puzzle.best.move]
    # A win may become a draw or a loss, a draw a loss.
    changes_outcome = np.sign(puzzle.spreads[static]) < np.sign(puzzle.line.spread)
    is_enough = puzzle.loss(static) >= LEAST_LOSS or changes_outcome
    return bool(is_enough) and min(map(puzzle.loss, others)) > 0
