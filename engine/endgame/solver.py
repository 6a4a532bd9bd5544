"""The endgame solver: asks its kernel one question after another, as long as it is let.

An ``EndgameSolver`` is told a position and then works in slices of so many nodes; after any of them
it has a move, a value, and says whether they are proven. It asks its kernel
(``engine.kernels.endgame``): *is it more than so many points?* The answers are bounds that close in
on the value (MTD(f), Plaat and others, Best-first fixed-depth minimax algorithms, 1996), first
looking one ply ahead, then two, and so on; since an endgame ends, a time comes when every
answer rests on games played to their end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.endgame_stack import MAX_PLIES, MOST_LISTED
from engine.kernels.moves import MAX_PLACED
from engine.kernels.transpositions import UNKNOWN
from engine.movegen.generator import Generator, check_rack
from engine.movegen.move_codec import pack
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Board, Position, Rack, unseen
from engine.rules.rules import Rules, canonical, rack_tiles, score_play, standard_rules
from lexicons.alphabet import BLANK_FLAG
from lexicons.jit import on_warm_up
from lexicons.kwg import WordGraph
from lexicons.store import Lexicon

from .mtdf import Mtdf
from .searcher import LEAST_MEMORY, OTHERWISE, Searcher, new_table

__all__ = [
    "LEAST_LIMIT",
    "USUAL_MEMORY",
    "EndgameSolver",
    "Solution",
    "least_memory",
    "with_both_racks",
]

USUAL_MEMORY = 256 << 20
"""Bytes."""
LEAST_LIMIT = 2
"""Scoreless turns in a row that end a game, where endgames can be solved."""

_SLICE = 2_000  # nodes, after which threads are given their next question together
_LINE_NODES = 50_000  # for the principal variation; nobody looks at a clock meanwhile
_MOST = UNKNOWN - 2  # points: nothing makes up for a lead of more
_NOISE = 6  # points by which the order of moves differs between threads


@dataclass(frozen=True)
class Solution:
    """What is known of a position."""

    move: Move
    """The best so far."""
    value: int
    """Points that the mover gains in spread to the end of the game; a guess until it is proven."""
    proven: bool
    """Whether that is the value; where any win was asked for, whether the outcome is certain."""
    floor: int | None
    """Proven: with ``sure`` it gains so much at least."""
    ceiling: int | None
    """Proven: it can't gain more."""
    sure: Move | None
    depth: int
    """Plies that were looked ahead in all lines, before greedy play."""
    nodes: int

    def to_play(self, lead: int) -> tuple[Move, int]:
        """Return the move for a player who leads by so much, and what it gains by it.

        It is the best; while that is a guess, what is proven to win.
        """
        if not self.proven and self.sure and self.floor is not None and lead + self.floor > 0:
            return self.sure, self.floor
        return self.move, self.value


def with_both_racks(position: Position, rules: Rules) -> Position:
    """Return a position with an empty bag with both racks: one that is not known is what is unseen.

    Raises:
        ValueError: it is no endgame: tiles are left in the bag, the game is over, neither rack is
            known, or there are more or fewer tiles than the distribution has.
    """
    for rack in position.racks:
        check_rack(rack, len(rules.distribution.counts))
    seat = position.on_turn
    if not any(position.racks):
        raise ValueError("neither rack is given, or the game is over")
    if not position.racks[seat]:
        seat = 1 - seat
    counts = enumerate(unseen(position, seat, rules))
    rest: Rack = tuple(tile for tile, count in counts for _ in range(count))
    if not rest:
        raise ValueError("the game is over: one side has no tiles left")
    if position.scoreless_turns >= rules.scoreless_limit:
        raise ValueError(f"the game is over, after {position.scoreless_turns} scoreless turns")
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
    mine = tuple(sorted(position.racks[seat]))
    return replace(position, racks=(mine, rest) if seat == 0 else (rest, mine))


def least_memory(threads: int) -> int:
    """Return the bytes that a solver with so many threads takes at least."""
    return 2 * LEAST_MEMORY * (threads + 1)


class EndgameSolver:
    """Solves endgames one after another; what it learnt of one helps with the next of a game.

    Args:
        lexicon: the words.
        rules: the rules; racks of up to seven tiles.
        memory: bytes that it may take, ``least_memory`` or more.
        threads: how many search at once; it makes no difference to what is proven.

    Raises:
        ValueError: too little memory, no thread, or what ``Generator`` refuses.
    """

    def __init__(
        self, lexicon: Lexicon, rules: Rules, *, memory: int = USUAL_MEMORY, threads: int = 1
    ) -> None:
        if threads < 1:
            raise ValueError(f"{threads} threads; one is the least")
        if memory < (least := least_memory(threads)):
            raise ValueError(
                f"{memory:,} bytes of memory; "
                f"with so many threads ({threads}) it is {least:,} or more"
            )
        if rules.scoreless_limit < LEAST_LIMIT:
            raise ValueError(
                "a single scoreless turn ends the game; endgames are solved with 2 or more"
            )
        self._rules = rules
        # What is known of positions gets half, what lines hold the rest, by thread.
        table = new_table(memory // 2)
        others = OTHERWISE * (threads + 1)
        share = (memory // 2 - LEAST_MEMORY - others) // threads
        self._searchers = [
            Searcher(Generator(lexicon, rules), table, share, _NOISE * (nth > 0))
            for nth in range(threads)
        ]
        self._follower = Searcher(Generator(lexicon, rules), table, LEAST_MEMORY)
        self._generator = Generator(lexicon, rules)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._age = 0  # of what is known: how many positions were taken up
        self._line_nodes = 0  # that are left for the principal variation

    # --- work -------------------------------------------------------------------------------------

    def begin(
        self,
        position: Position,
        *,
        first_win: bool = False,
        only: Collection[Move] = (),
        without: Collection[Move] = (),
    ) -> None:
        """Take a position up.

        Args:
            position: with an empty bag; the opponent's rack may be left out.
            first_win: ask only whether the game is won, drawn or lost, by the scores so far.
            only: the moves to choose from, 64 at most; none: all that are legal.
            without: moves that are not to be chosen, 64 at most.

        Raises:
            ValueError: as ``with_both_racks``; too many moves are named, one of ``only`` is not
                legal, or none is left.
        """
        position = with_both_racks(position, self._rules)
        chosen = self._choice(position, only)
        left_out = tuple(filter(_is_packable, self._choice(position, without)))
        if chosen or left_out:
            self._check_choice(position, chosen, left_out)
        seat = position.on_turn
        lead = position.scores[seat] - position.scores[1 - seat]
        drawn = min(max(-lead, -_MOST), _MOST)
        self._mtdf = Mtdf(drawn if first_win else None)
        self._position, self._only, self._without = position, chosen, left_out
        self._move: Move | None = None
        self._sure: Move | None = None
        self._asked = 0  # nodes, for the question of now
        self._nodes = 0
        self._age += 1
        for one in self._searchers:
            one.begin(position, self._turns, self._age, chosen, left_out)

    def _choice(self, position: Position, moves: Collection[Move]) -> tuple[Move, ...]:
        """Describe moves in the one agreed way."""
        if len(moves) > MOST_LISTED:
            raise ValueError(f"{len(moves)} moves to choose from; {MOST_LISTED} at most")
        board = position.board
        return tuple(canonical(one, board) if isinstance(one, Place) else one for one in moves)

    def _check_choice(
        self, position: Position, only: Sequence[Move], without: Sequence[Move]
    ) -> None:
        """Check that there is a choice, of legal moves."""
        legal = self._generator.arrays(position).packed
        for move in only:
            if not _is_packable(move) or np.uint64(pack(move)) not in legal:
                raise ValueError(f"{move} is not legal here, so it can't be chosen")
        packed = [pack(move) for move in without]
        left = np.array([pack(move) for move in only], np.uint64) if only else legal
        if np.isin(left, np.array(packed, np.uint64)).all():
            raise ValueError("no move is left to choose")

    def advance(self, nodes: int) -> int:
        """Work on so many nodes, of all threads; return how many they were, 0 when it is over."""
        done = 0
        while done < nodes and not self.is_over:
            done += self._ask(min(nodes - done, _SLICE) if self._pool else nodes - done)
        self._nodes += done
        return done

    def _ask(self, nodes: int) -> int:
        """Go on with the question of now, for so many nodes; take the answer if there is one."""
        mtdf, first = self._mtdf, self._searchers[0]
        alpha, depth = mtdf.alpha, mtdf.ahead
        helpers = self._searchers[1:] if self._asked >= _SLICE else []
        helping = [
            self._pool.submit(one.search, alpha, depth + nth % 2, nodes)
            for nth, one in enumerate(helpers)
            if self._pool is not None
        ]
        done = first.search(alpha, depth, nodes)
        done += sum(one.result() for one in helping)
        self._asked += done
        if first.is_over:
            self._asked = 0
            for one in helpers:
                one.abandon()
            if first.value > alpha:
                self._take(first)
            mtdf.answered(first.value, first.solved)
        return done

    def _take(self, first: Searcher) -> None:
        """Take the move that was enough."""
        move = first.best()
        if move == PASS and first.is_cut:  # for want of room, perhaps, for anything else
            return
        self._move = move
        self._sure = move if first.solved else self._sure

    # --- what is known ----------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether it is proven, or no more can be found out with so much memory."""
        return self._mtdf.is_over

    @property
    def solution(self) -> Solution:
        """What is known by now."""
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
        """Return the best move so far; before there is any the best by static equity."""
        mtdf = self._mtdf
        if self._sure is not None and (mtdf.is_proven or mtdf.floor >= mtdf.value):
            return self._sure
        if self._move is not None:
            return self._move
        if self._only:
            return next(move for move in self._only if move not in self._without)
        found = self._generator.best(self._position, len(self._without) + 1)
        return next((one.move for one in found if one.move not in self._without), PASS)

    def line(self) -> tuple[Move, ...]:
        """Find the principal variation: ask after each move which one holds the value.

        It goes to the end of the game if the value is proven; else as far as it is seen at once.
        """
        self._line_nodes = _LINE_NODES
        mtdf, position = self._mtdf, self._position
        value, depth = mtdf.value, mtdf.ahead
        turns = self._turns
        line = [self._best()]
        while True:
            if line[-1] == PASS and turns == 1:
                break
            position, score = _after(position, line[-1], self._rules)
            if not position.racks[1 - position.on_turn] or self._move is None:
                break
            value, depth = score - value, depth - 1
            if line[-1] != PASS:
                turns = self._rules.scoreless_limit
            else:  # two passes may end the game, if every move could be chosen from the first on
                turns = turns - 1 if self._only or self._without else 1
            answer = self._answer(position, turns, value, depth)
            if answer is None:
                break
            line.append(answer)
        return tuple(line)

    def _answer(self, position: Position, turns: int, value: int, depth: int) -> Move | None:
        """Return the move that holds a value, if that is found out at once."""
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
    def _turns(self) -> int:
        """How many scoreless turns in a row will end the game."""
        return self._rules.scoreless_limit - self._position.scoreless_turns


def _is_packable(move: Move) -> bool:
    return not isinstance(move, Place) or len(move.placed) <= MAX_PLACED


def _after(position: Position, move: Move, rules: Rules) -> tuple[Position, int]:
    """Make a legal move of an endgame; return the position after it, and the move's score."""
    score = 0
    rack = list(position.racks[position.on_turn])
    if isinstance(move, Place):
        score = score_play(position.board, move, rules).score
        for tile in rack_tiles(move.placed):
            rack.remove(tile)
    return position.after(move, score, tuple(rack)), score


@on_warm_up
def warm_up() -> None:
    """Compile the kernels, or load them, by an endgame without words."""
    rules = standard_rules()
    lexicon = Lexicon("none", rules.distribution, WordGraph(np.zeros(2, np.uint32)), "")
    solver = EndgameSolver(lexicon, rules, memory=4 * LEAST_MEMORY)
    every = rules.distribution.all_tiles()
    side = rules.layout.columns
    squares = bytes(tile or BLANK_FLAG + 1 for tile in every[2:]).ljust(side * side, b"\0")
    solver.begin(Position(Board(rules.layout, squares), (every[:1], every[1:2]), (0, 0)))
    solver.advance(10)
