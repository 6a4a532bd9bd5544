"""What kernels are asked on tiny boards, compiled and plain: each case returns JSON."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, astuple, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from lexicon_parts import shorter_leaves

from engine.endgame.searcher import LEAST_MEMORY
from engine.endgame.solver import EndgameSolver
from engine.inference.equity_loss import Judges, OpponentPlay
from engine.inference.inference import Inference
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import MODELS, Style
from engine.kernels.moves import EXCHANGE
from engine.movegen.evaluation import PLAIN, STANDARD
from engine.movegen.generator import Generator
from engine.movegen.move_codec import pack, unpack
from engine.rules.moves import Direction, Move, Place
from engine.rules.position import Board, Position, tiles_of, unseen
from engine.rules.rules import Rules, score_play
from engine.simulation.selfplay import play_static_games
from engine.simulation.simulation import Simulation
from lexicons.alphabet import BLANK_FLAG, Alphabet, TileDistribution
from lexicons.bits import bit_count, lowest_bit, mixed, next_random, random_below, wrapping_sub
from lexicons.build import build_word_graph
from lexicons.jit import kernel
from lexicons.klv import parse_klv, write_klv
from lexicons.layout import BoardLayout
from lexicons.leaves import LeaveTable, synthetic_leaves
from lexicons.memory import address_of, byte_at, put_byte, put_int, put_word, word_at
from lexicons.search_graph import search_nodes
from lexicons.statistics import lexicon_statistics
from lexicons.store import Lexicon

# Points near 2⁸ and a score near 2¹⁶: what is added up in too few bits shows.
TILES = TileDistribution(
    "tiny",
    Alphabet(("?", "A", "B", "C"), ("?", "a", "b", "c")),
    counts=(2, 5, 4, 3),
    points=(0, 1, 90, 120),
    vowels=(False, True, False, False),
)
LAYOUT = BoardLayout(
    "tiny", 5, 5, (1, 2, 1, 1, 3) * 5, tuple(3 if at % 6 == 0 else 1 for at in range(25)), (2, 2)
)
RULES = Rules(TILES, LAYOUT, rack_size=4, bingo_bonus=20, exchange_minimum=2)
_WORDS = "AA AB ABA ABBA ABC ACCA BA BABA BAC BB BC CA CAB CABA"
WORDS = tuple(tuple(map("?ABC".index, word)) for word in _WORDS.split())
BLANKED_B = 2 | BLANK_FLAG


@cache
def lexicon() -> Lexicon:
    return Lexicon("tiny", TILES, build_word_graph(WORDS), "")


@cache
def leaves() -> LeaveTable:
    return shorter_leaves(synthetic_leaves(TILES, 1), RULES.rack_size)


def position(*placed: Place, rack: tuple[int, ...]) -> Position:
    board = Board.empty(LAYOUT)
    for move in placed:
        board = board.with_move(move)
    return Position(board, (rack, ()), (0, 0))


FIRST = Place(2, 1, Direction.ACROSS, (3, 1, 2))
SECOND = Place(1, 2, Direction.DOWN, (2, 0, BLANKED_B, 1))
OPENING = position(rack=(0, 1, 2, 3))
MIDDLE = position(FIRST, rack=(1, 1, 2, 3))
LATE = position(FIRST, SECOND, rack=(0, 1, 2))
POSITIONS = {"opening": OPENING, "middle": MIDDLE, "late": LATE}
ENDING = replace(MIDDLE, racks=((2, 3, 3), (1, 3, 3)))


def moves_of(ranked: Any) -> list[Any]:
    return [[pack(one.move), *map(int, one[1:3]), list(one.leave)] for one in ranked]


# --- words of 64 bits -----------------------------------------------------------------------------

PATTERNS = [0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 63, (1 << 63) | 1, (1 << 64) - 1, 0xF0F0 << 40]


@kernel
def _read(words: Any, octets: Any, index: Any) -> Any:
    return word_at(words, index), byte_at(octets, index)


@kernel
def _write(words: Any, integers: Any, octets: Any, index: Any, value: Any) -> None:
    put_word(words, index, value)
    put_int(integers, index, value)
    put_byte(octets, index, value)


def memory() -> None:
    words = np.array(PATTERNS, np.uint64)
    integers, octets = np.arange(-5, 5, dtype=np.int32), np.arange(250, 260).astype(np.uint8)
    at_words, at_integers, at_octets = (
        np.uint64(address_of(array)) for array in (words, integers, octets)
    )
    for at, pattern in enumerate(PATTERNS):
        assert _read(at_words, at_octets, np.uint64(at)) == (pattern, (250 + at) % 256)
    for value in (0, 7, 200, -1):
        _write(at_words, at_integers, at_octets, np.uint64(3), np.int64(value))
        assert (words[3], integers[3], octets[3]) == (value % (1 << 64), value, value % 256)
    # Whatever lies beside them is left alone.
    assert words.tolist() == [*PATTERNS[:3], words[3], *PATTERNS[4:]]
    assert integers.tolist() == [-5, -4, -3, -1, -1, 0, 1, 2, 3, 4]
    assert octets.tolist() == [250, 251, 252, 255, 254, 255, 0, 1, 2, 3]


@kernel
def _bits(numbers: Any, counts: Any) -> None:
    state = np.uint64(7)
    for at in range(len(numbers)):
        state = next_random(state)
        counts[at, 0] = bit_count(numbers[at])
        counts[at, 1] = lowest_bit(numbers[at])
        counts[at, 2] = mixed(numbers[at])
        counts[at, 3] = random_below(state, 10)
        counts[at, 4] = wrapping_sub(np.uint64(1), numbers[at])


def bits() -> Any:
    numbers = [*PATTERNS, *(1 << place for place in range(64))]
    counts = np.zeros((len(numbers), 5), np.uint64)
    _bits(np.array(numbers, np.uint64), counts)
    assert counts[:, 0].tolist() == [each.bit_count() for each in numbers]
    lowest = [(each & -each).bit_length() - 1 if each else 64 for each in numbers]
    assert counts[:, 1].tolist() == lowest
    return counts.tolist()


# --- lexicons -------------------------------------------------------------------------------------


def statistics() -> Any:
    found = lexicon_statistics(lexicon(), LAYOUT, RULES.rack_size, RULES.bingo_bonus, 5)
    return json.loads(json.dumps(asdict(found)))


# --- boards and moves -----------------------------------------------------------------------------


def generated(name: str, *, standard: bool = True, table: bool = True) -> Any:
    generator = Generator(
        lexicon(), RULES, leaves() if table else None, STANDARD if standard else PLAIN
    )
    return moves_of(generator.everything(POSITIONS[name]))


def best(name: str, count: int) -> Any:
    return moves_of(Generator(lexicon(), RULES, leaves()).best(POSITIONS[name], count))


def coded(name: str) -> Any:
    packed = Generator(lexicon(), RULES).arrays(POSITIONS[name]).packed
    moves: list[Move] = list(unpack(packed, POSITIONS[name].board))
    assert [pack(move) for move in moves] == packed.tolist()
    return [int((packed < EXCHANGE).sum()), sorted(packed.tolist())]


def games(*, mirrored: bool = False, pairs: bool = False) -> Any:
    played = play_static_games(
        lexicon(), RULES, leaves(), 2, seed=4, pairs=pairs, mirrored=mirrored, record=True
    )
    return [array.tolist() for array in played.results]


# --- rollouts -------------------------------------------------------------------------------------


def rolled(name: str, plies: int, belief: LeavePrior | None = None, rollouts: int = 8) -> Any:
    generator = Generator(lexicon(), RULES, leaves())
    begin = POSITIONS[name]
    candidates = generator.best(begin, 2)
    simulation = Simulation(
        [generator], begin, candidates, None, plies=plies, seed=3, first=2, belief=belief
    )
    simulation.advance(rollouts)
    plies_of = [list(map(astuple, simulation.plies_of(one.move))) for one in candidates]
    estimates = [astuple(estimate)[1:] for estimate in simulation.estimates()]
    return [repr(estimates), plies_of, repr(simulation.difference(*(c.move for c in candidates)))]


# --- inference ------------------------------------------------------------------------------------


def _seen(move: Place) -> tuple[OpponentPlay, tuple[int, ...]]:
    before = replace(MIDDLE, racks=((), ()))
    counts = unseen(before, 0, RULES)
    score = score_play(MIDDLE.board, move, RULES).score
    return OpponentPlay(MIDDLE.board, move, score, RULES.rack_size, sum(counts) - 8), counts


PLAYS = {
    "bingo": Place(1, 2, Direction.DOWN, (2, 0, BLANKED_B, 1)),
    "two": Place(1, 2, Direction.DOWN, (1, 0, 2)),
}


def inferred(play: str, model: str, *, prior: bool = False, most_listed: int = 1_000) -> Any:
    seen, counts = _seen(PLAYS[play])
    before = LeavePrior.nothing()
    if prior:
        before = LeavePrior(np.array([(1,), (2,)], np.uint8), np.array([0.25, 0.75]), 0.1)
    judges = Judges(lexicon(), RULES, leaves())
    inference = Inference(
        judges, seen, counts, before, Style.of(MODELS[model]), seed=2, most_listed=most_listed
    )
    inference.advance(12)
    posterior = inference.posterior()
    return [posterior.leaves.tolist(), posterior.prior.tolist(), posterior.posterior.tolist()]


# --- endgames -------------------------------------------------------------------------------------


def _ending() -> tuple[Rules, Position]:
    """The tiles that are neither on the board nor on the racks are taken out of the game."""
    there = list(tiles_of(ENDING.board, ENDING.racks))
    counts = tuple(there.count(tile) for tile in range(4))
    return replace(RULES, distribution=replace(TILES, counts=counts)), ENDING


def solved(nodes: int, *, scoreless: int = 0, first_win: bool = False) -> Any:
    rules, ending = _ending()
    words = replace(lexicon(), distribution=rules.distribution)
    solver = EndgameSolver(words, rules, memory=4 * LEAST_MEMORY)
    solver.begin(replace(ending, scoreless_turns=scoreless), first_win=first_win)
    solver.advance(nodes)
    solution = solver.solution
    line = [pack(move) for move in solver.line()] if nodes > 100 else []
    return [pack(solution.move), *astuple(solution)[1:5], *astuple(solution)[6:], line]


def klv() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tiny.klv2"
        write_klv(file, leaves())
        read = parse_klv(file.read_bytes(), "tiny", TILES, RULES.rack_size)
    assert (read.values == leaves().values).all()
    return hashlib.sha256(np.ascontiguousarray(read.values).tobytes()).hexdigest()


BELIEF = LeavePrior(np.array([[1, 1], [2, 3]], np.uint8), np.array([0.5, 0.5]), 0.25)
CASES: dict[str, Callable[[], Any]] = {
    "bits and wrap-around": bits,
    "reading and writing by address": memory,
    "the word graph": lambda: list(map(int, lexicon().graph.nodes)),
    "the search graph": lambda: search_nodes(lexicon().graph, 3).tolist(),
    "the statistics of a lexicon": statistics,
    "a leave table written and read": klv,
    **{f"all moves, {name}": partial(generated, name) for name in POSITIONS},
    **{f"all by score, {name}": partial(generated, name, standard=False, table=False)
       for name in POSITIONS},
    **{f"the best move, {name}": partial(best, name, 1) for name in POSITIONS},
    **{f"the best moves, {name}": partial(best, name, 9) for name in POSITIONS},
    **{f"packed moves, {name}": partial(coded, name) for name in POSITIONS},
    "static games": games,
    "mirrored pairs of games": partial(games, mirrored=True, pairs=True),
    **{f"rollouts of {plies} plies": partial(rolled, "middle", plies) for plies in (1, 2)},
    "rollouts to the end": partial(rolled, "late", 20),
    "rollouts of a belief": partial(rolled, "middle", 1, BELIEF),
    **{
        f"inference, {play}, {model}": partial(inferred, play, model)
        for play in PLAYS
        for model in MODELS
    },
    "inference with a prior": partial(inferred, "two", "soft", prior=True),
    "inference by draws": partial(inferred, "two", "soft", prior=True, most_listed=0),
    "an endgame begun": partial(solved, 20),
    "an endgame solved": partial(solved, 3_000),
    "an endgame after five scoreless turns": partial(solved, 60, scoreless=5),
    "the outcome of an endgame": partial(solved, 60, first_win=True),
}  # fmt: skip
