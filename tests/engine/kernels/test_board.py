"""The board that is kept up as tiles come and go, against one that is set up afresh each time."""

from __future__ import annotations

import random
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from rollout_positions import scowl
from thorough import some

from engine.kernels.board import SQUARE, clear_board, new_board, set_up, undo_to
from engine.kernels.crosses import cross_everywhere, play
from engine.kernels.moves import EXCHANGE
from engine.kernels.shadow_slots import (
    SLOT,
    SLOTS,
    SLOTS_A_LINE,
    update_slots,
)
from engine.movegen.move_codec import unpack
from engine.rules.moves import Place
from engine.rules.position import Board
from engine.rules.rules import Rules, standard_rules
from engine.simulation.selfplay import play_static_games
from lexicons.jit import kernel
from lexicons.leaves import synthetic_leaves
from lexicons.store import Lexicon

RULES = standard_rules()
GAMES = some(200, 1_000)
BATCH = 50


@kernel
def _clear(board: Any) -> None:
    clear_board(board[0])


@kernel
def _play(board: Any, words: Any, move: Any) -> Any:
    play(board[0], words[0], move)
    return board[0].changes


@kernel
def _undo(board: Any, changes: Any) -> None:
    undo_to(board[0], changes)


@kernel
def _cross(board: Any, words: Any) -> None:
    cross_everywhere(board[0], words[0])


@kernel
def _slots(slots: Any, board: Any, words: Any) -> None:
    update_slots(slots[0], board[0], words[0])


class State(NamedTuple):
    """What a board is: its squares, and the slots that were found on it.

    Cross-sets and the points that cross are 0 under tiles, values where no tile is: nobody reads
    them there.
    """

    squares: npt.NDArray[Any]  # SQUARE[2 × side²]
    counts: npt.NDArray[np.int64]  # [lines] of slots
    slots: npt.NDArray[Any]  # SLOT[all of them]


class TrackedBoard:
    """A board that is kept up, its slots too, and what it was like before each play."""

    def __init__(self, rules: Rules, lexicon: Lexicon) -> None:
        self.words = lexicon.word_map
        self.record = new_board(rules)
        self.slots = np.zeros(1, SLOTS)
        self.marks: list[int] = []
        self.states: list[State] = []
        self.clear()

    def clear(self) -> None:
        _clear(self.record)
        self.marks = []
        self.states = [self.state()]

    def play(self, move: np.uint64) -> None:
        self.marks.append(int(self.record["changes"][0]))
        _play(self.record, self.words.words, move)
        self.states.append(self.state())

    def undo(self, plays: int = 1) -> None:
        del self.states[len(self.states) - plays :]
        _undo(self.record, self.marks[-plays])
        del self.marks[len(self.marks) - plays :]

    def state(self) -> State:
        _slots(self.slots, self.record, self.words.words)
        return state_of(self.record, self.slots)


class Fresh:
    """Boards that are set up, one after another, in the same record."""

    def __init__(self, rules: Rules, lexicon: Lexicon) -> None:
        self.words = lexicon.word_map
        self.record = new_board(rules)
        self.slots = np.zeros(1, SLOTS)

    def state(self, board: Board) -> State:
        set_up(self.record, board)
        _cross(self.record, self.words.words)
        _slots(self.slots, self.record, self.words.words)
        return state_of(self.record, self.slots)


def state_of(record: npt.NDArray[Any], slots: npt.NDArray[Any]) -> State:
    side = int(record["side"][0])
    rows = slots["row"][0, : 2 * side]
    counts = slots["count"][0, rows]
    by_line = slots["slots"][0].reshape(-1, SLOTS_A_LINE)[rows].reshape(-1)
    used = np.flatnonzero(np.arange(SLOTS_A_LINE) < counts[:, np.newaxis])
    squares = record["squares"][0, : 2 * side * side].copy()
    has_tile = squares["letter"] != 0
    squares["cross_set"] *= ~has_tile
    squares["cross_score"] *= ~has_tile & squares["on_board"]
    squares["value"] *= has_tile
    return State(squares, counts, by_line.take(used))  # of records, quicker than an index


def assert_same(kept: State, fresh: State) -> None:
    if [each.tobytes() for each in kept] != [each.tobytes() for each in fresh]:
        assert SQUARE.names is not None
        assert SLOT.names is not None
        for name in SQUARE.names:
            assert np.array_equal(kept.squares[name], fresh.squares[name]), name
        assert np.array_equal(kept.counts, fresh.counts)
        for name in SLOT.names:
            assert np.array_equal(kept.slots[name], fresh.slots[name]), name
    off = ~kept.squares["on_board"]
    for name in ("cross_set", "letter", "anchor"):
        assert not (kept.squares[name] * off).any(), name


# --- games ----------------------------------------------------------------------------------------


@cache
def games() -> list[npt.NDArray[np.uint64]]:
    """The placements of games between players of two opinions on leaves."""
    one, other = (synthetic_leaves(RULES.distribution, seed) for seed in (1, 2))
    played = play_static_games(scowl(), RULES, one, GAMES, seed=11, opponent=other, record=True)
    moves, turns = played.results.moves, played.turns
    recorded = [moves[number, : turns[number]] for number in range(GAMES)]
    return [each[each < EXCHANGE] for each in recorded]


@pytest.mark.parametrize("batch", range(GAMES // BATCH))
def test_every_play_and_undo_of_many_games_leaves_a_board_as_if_set_up(batch: int) -> None:
    kept, fresh = TrackedBoard(RULES, scowl()), Fresh(RULES, scowl())
    chance = random.Random(batch)
    for moves in games()[batch * BATCH : (batch + 1) * BATCH]:
        kept.clear()
        board = Board.empty(RULES.layout)
        assert_same(kept.states[0], fresh.state(board))
        for turn, move in enumerate(moves):
            (place,) = unpack(moves[turn : turn + 1], board)
            assert isinstance(place, Place)
            board = board.with_move(place)
            kept.play(move)
            expected = fresh.state(board)
            assert_same(kept.states[-1], expected)
            back = chance.randint(1, min(3, turn + 1))
            kept.undo(back)
            assert_same(kept.state(), kept.states[-1])
            for again in moves[turn + 1 - back : turn + 1]:
                kept.play(again)
            assert_same(kept.states[-1], expected)
        kept.undo(len(moves))
        assert len(kept.states) == 1
        assert_same(kept.state(), kept.states[0])
