"""The endgame solver: puts one question after another to its kernel, in slices of nodes.

The answers of ``engine.kernels.endgame`` are bounds that close in on the value
(``engine.endgame.mtdf``), looking one ply ahead, then two, and so on; since an endgame ends, at
some depth every answer rests on games played to their end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from engine.kernels.endgame_stack import MAX_PLIES, MOST_LISTED
from engine.kernels.moves import MAX_PLACED
from engine.kernels.transpositions import UNKNOWN
from engine.movegen.generator import Generator, check_rack
from engine.movegen.move_codec import pack
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Position, Rack, unseen
from engine.rules.rules import (
    Rules,
    canonical,
    leave_of,
    passes_left,
    points_of,
    stalled,
    used_tiles,
)
from lexicons.alphabet import as_tiles
from lexicons.store import Lexicon

from .mtdf import Mtdf
from .searcher import FIXED_MEMORY, LEAST_MEMORY, Searcher, new_table

LEAST_LIMIT = 2  # endgames are solved if at least this many passes in a row end the game

_SLICE = 2_000  # nodes, after which all threads get their next question
_LINE_NODES = 50_000  # for the principal variation; no clock is checked meanwhile
_MOST = UNKNOWN - 2  # points: no larger lead can be made up
_NOISE = 6  # points by which the order of moves differs between threads


@dataclass(frozen=True)
class Solution:
    """The state of knowledge about a position."""

    move: Move
    value: int  # points that the mover gains to the end of the game; a guess until proven
    proven: bool  # the value; with ``first_win`` the outcome
    floor: int | None  # proven: least gain, by ``sure``
    ceiling: int | None  # proven: greatest gain
    sure: Move | None
    depth: int
    nodes: int

    def outcome(self, lead: int) -> Literal["won", "lost", "drawn"] | None:
        """Return the proven result for the mover, who leads by ``lead`` now, if any."""
        if self.floor is not None and lead + self.floor > 0:
            return "won"
        if self.ceiling is not None and lead + self.ceiling < 0:
            return "lost"
        return "drawn" if self.proven else None

    def to_play(self, lead: int) -> tuple[Move, int]:
        """Return the best move and its gain; while that is a guess, a move proven to win if any."""
        if not self.proven and self.sure and self.floor is not None and lead + self.floor > 0:
            return self.sure, self.floor
        return self.move, self.value


def with_both_racks(position: Position, rules: Rules) -> Position:
    """Return an endgame position with both racks; a missing rack is the unseen tiles.

    Raises:
        ValueError: tiles are left in the bag, the game is over, neither rack is known, or the
            tiles do not add up to the distribution.
    """
    for rack in position.racks:
        check_rack(rack, len(rules.distribution.counts))
    seat = position.on_turn
    if not any(position.racks):
        raise ValueError("neither rack is given, or the game is over")
    if not position.racks[seat]:
        seat = 1 - seat
    rest = as_tiles(unseen(position, seat, rules))
    if not rest:
        raise ValueError("the game is over: one side has no tiles left")
    if turns := stalled(position, rules):
        raise ValueError(f"the game is over, after {turns}")
    other = tuple(sorted(position.racks[1 - seat]))
    held = len(other) or rules.rack_size
    if len(rest) > held:
        raise ValueError(
            f"the bag is not empty: {len(rest)} tiles are unseen, and the opponent holds {held}"
        )
    if other and other != rest:
        text = rules.distribution.alphabet.text
        raise ValueError(
            f"the racks do not fit: {text(other)} is given, and the tiles left are {text(rest)}"
        )
    own_rack = tuple(sorted(position.racks[seat]))
    return replace(position, racks=(own_rack, rest) if seat == 0 else (rest, own_rack))


def least_memory(threads: int) -> int:
    """Return the least memory of a solver, in bytes."""
    return 2 * LEAST_MEMORY * (threads + 1)


class EndgameSolver:
    """Solves endgames one after another; the table of one helps with the next of a game.

    ``memory`` is in bytes, at least ``least_memory``. Proven results do not depend on ``threads``.

    Raises:
        ValueError: too little memory, no thread, rules by which a single pass ends the game, or as
            ``Generator``.
    """

    def __init__(self, lexicon: Lexicon, rules: Rules, *, memory: int, threads: int = 1) -> None:
        if threads < 1:
            raise ValueError(f"threads is {threads}; it must be at least 1")
        if memory < (least := least_memory(threads)):
            raise ValueError(
                f"{memory:,} bytes of memory; "
                f"with so many threads ({threads}) it is {least:,} or more"
            )
        if rules.most_passes < LEAST_LIMIT:
            raise ValueError("a single pass ends the game; endgames are solved where 2 or more do")
        self._rules = rules
        # Half is for the transposition table; threads share the rest for their lines.
        table = new_table(memory // 2)
        others = FIXED_MEMORY * (threads + 1)
        share = (memory // 2 - LEAST_MEMORY - others) // threads
        self._searchers = [
            Searcher(Generator(lexicon, rules), table, share, _NOISE * (nth > 0))
            for nth in range(threads)
        ]
        self._follower = Searcher(Generator(lexicon, rules), table, LEAST_MEMORY)
        self._generator = Generator(lexicon, rules)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._age = 0  # of table entries: number of positions so far
        self._line_nodes = 0  # left for the principal variation

    def begin(
        self,
        position: Position,
        *,
        bag: Rack = (),
        first_win: bool = False,
        only: Collection[Move] = (),
        without: Collection[Move] = (),
    ) -> None:
        """Take up a position; with an empty bag the opponent's rack may be left out.

        ``bag`` are at most 7 tiles in drawing order, known to both sides; nobody exchanges them.
        ``first_win`` asks only whether the game is won, drawn or lost, by the scores so far.
        ``only`` are the moves to choose from (none: all); ``without`` are excluded, legal or not.
        At most 64 of each.

        Raises:
            ValueError: as ``with_both_racks``; too many moves are named, a move of ``only`` is
                illegal, or no move is left.
        """
        if not bag:
            position = with_both_racks(position, self._rules)
        chosen = self._choice(position, only)
        left_out = tuple(filter(_is_packable, self._choice(position, without)))
        if chosen or left_out:
            self._check_choice(position, chosen, left_out)
        self._position, self._bag = position, bag
        self._age += 1
        self._searchers[0].begin(position, self._turns, self._age, bag)
        self._ask_about(chosen, left_out, first_win)

    def begin_with(self, move: Move, *, first_win: bool = False) -> None:
        """Ask what a legal move is worth in the position taken up last."""
        if not self._searchers[0].is_over:
            self._searchers[0].abandon()
        self._ask_about((move,), (), first_win)

    def _ask_about(
        self, only: tuple[Move, ...], without: tuple[Move, ...], first_win: bool
    ) -> None:
        lead = self._position.spread(self._position.on_turn)
        self._mtdf = Mtdf(min(max(-lead, -_MOST), _MOST) if first_win else None)
        self._only, self._without = only, without
        self._searchers[0].restrict(only, without)
        self._move: Move | None = None
        self._sure: Move | None = None
        self._asked = 0  # nodes of the current question
        self._nodes = 0
        self._are_helping = False

    def _choice(self, position: Position, moves: Collection[Move]) -> tuple[Move, ...]:
        if len(moves) > MOST_LISTED:
            raise ValueError(f"{len(moves)} moves are named; at most {MOST_LISTED} can be")
        board = position.board
        return tuple(canonical(move, board) if isinstance(move, Place) else move for move in moves)

    def _check_choice(
        self, position: Position, only: Sequence[Move], without: Sequence[Move]
    ) -> None:
        legal = self._generator.arrays(position).packed
        for move in only:
            if not _is_packable(move) or np.uint64(pack(move)) not in legal:
                raise ValueError(f"{move} is not legal here, so it can't be chosen")
        packed = [pack(move) for move in without]
        left = np.array([pack(move) for move in only], np.uint64) if only else legal
        if np.isin(left, np.array(packed, np.uint64)).all():
            raise ValueError("no move is left to choose")

    def advance(self, nodes: int) -> int:
        """Search about ``nodes`` over all threads; return their number, 0 when it is over."""
        done = 0
        while done < nodes and not self.is_over:
            done += self._ask(min(nodes - done, _SLICE) if self._pool else nodes - done)
        self._nodes += done
        return done

    def _ask(self, nodes: int) -> int:
        mtdf, first = self._mtdf, self._searchers[0]
        alpha, depth = mtdf.alpha, mtdf.ahead
        helpers = self._searchers[1:] if self._asked >= _SLICE else []
        if helpers and not self._are_helping:
            # Only now: most positions of a pre-endgame are proven without helpers.
            self._are_helping = True
            for helper in helpers:
                helper.begin(self._position, self._turns, self._age, self._bag)
                helper.restrict(self._only, self._without)
        helping = [
            self._pool.submit(helper.search, alpha, depth + nth % 2, nodes)
            for nth, helper in enumerate(helpers)
            if self._pool is not None
        ]
        done = first.search(alpha, depth, nodes)
        done += sum(helper.result() for helper in helping)
        self._asked += done
        if first.is_over:
            self._asked = 0
            for helper in helpers:
                helper.abandon()
            if first.value > alpha:
                move = first.best()
                if move != PASS or not first.is_cut:  # else better moves may have been cut
                    self._move = move
                    self._sure = move if first.solved else self._sure
            mtdf.answered(first.value, first.solved)
        return done

    @property
    def is_over(self) -> bool:
        """Whether the value or outcome is proven, or can't be with this memory."""
        return self._mtdf.is_over

    @property
    def solution(self) -> Solution:
        """The state of knowledge now."""
        mtdf = self._mtdf
        return Solution(
            move=self._best(),
            value=mtdf.value,
            proven=mtdf.is_proven,
            floor=mtdf.floor if mtdf.floor > -UNKNOWN else None,
            ceiling=mtdf.ceiling if mtdf.ceiling < UNKNOWN else None,
            sure=self._sure,
            depth=mtdf.depth,
            nodes=self._nodes,
        )

    def _best(self) -> Move:
        mtdf = self._mtdf
        if self._sure is not None and (mtdf.is_proven or mtdf.floor >= mtdf.value):
            return self._sure
        if self._move is not None:
            return self._move
        if self._only:
            return next(move for move in self._only if move not in self._without)
        ranked = self._generator.best(self._position, len(self._without) + 1)
        return next(
            (candidate.move for candidate in ranked if candidate.move not in self._without), PASS
        )

    def line(self, first: tuple[Move, int] | None = None) -> tuple[Move, ...]:
        """Compute the principal variation: after each move, ask for a reply that holds the value.

        ``first`` is the move that it begins with and its gain, as from ``Solution.to_play``; None:
        the best. The variation goes to the end of the game if the value is proven, else to the
        present depth, and in either case only as far as a limit of nodes allows.
        """
        self._line_nodes = _LINE_NODES
        mtdf, position = self._mtdf, self._position
        best, value = first or (self._best(), mtdf.value)
        depth, turns = mtdf.ahead, self._turns
        line = [best]
        while True:
            if line[-1] == PASS and turns == 1:
                break
            score = points_of(position.board, line[-1], self._rules)
            leave = leave_of(position.racks[position.on_turn], line[-1])
            position = position.after(line[-1], score, leave, self._rules)
            if not position.racks[1 - position.on_turn] or self._move is None:
                break
            value, depth = score - value, depth - 1
            if line[-1] != PASS:
                turns = self._rules.most_passes
            else:  # two passes may end the game, unless the choice was restricted
                turns = turns - 1 if self._only or self._without else 1
            answer = self._answer(position, turns, value, depth)
            if answer is None:
                break
            line.append(answer)
        return tuple(line)

    def _answer(self, position: Position, turns: int, value: int, depth: int) -> Move | None:
        follower, proven = self._follower, self._mtdf.is_proven
        follower.begin(position, turns, self._age)
        for deep in range(1, MAX_PLIES if proven else depth + 1):
            self._line_nodes -= follower.search(value - 1, deep, self._line_nodes)
            if not follower.is_over:
                return None
            if follower.value >= value and (follower.solved or not proven):
                return follower.best()
        return None

    @property
    def _turns(self) -> int:  # passes, in a row, until the game ends
        return passes_left(self._position, self._rules)


def _is_packable(move: Move) -> bool:
    return len(used_tiles(move)) <= MAX_PLACED
