"""A rack and its subracks: all 2⁷ subsets of its tiles, as bit masks, looked up once a turn.

The *leave map* has the worth of playing each subrack, beyond its score: the leave table's value of
the tiles that stay, and adjustments (``engine.movegen.evaluation``).

Tiles are sorted by number, the blank (0) first, so that the place of a leave in its table is a sum
(``lexicons.leaves``). Equal tiles are interchangeable; ``is_regular`` selects one mask for each
multiset of tiles.

A slot takes a known number of tiles, so only the subracks of that size matter, 35 at most. They lie
side by side in ``SUBRACKS``, one *lane* each: vector instructions bound all of them, and the bits
of one integer are a set of lanes. Subracks with the same letters share a lane.

A multiset of tiles also has a code, one integer: its sorted tiles, each plus one, in seven bits
each. So the empty multiset has the code 0, which also marks an empty place in tables. These use
open addressing (Knuth 6.4); the number of their places is a power of two.

Bounds and values count thousandths of a point.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.alphabet import BLANK, MAX_LETTERS
from lexicons.bits import GOLDEN, bit_count, wrapping_add, wrapping_mul, wrapping_sub
from lexicons.jit import helper, record_dtype
from lexicons.leaves import LeaveArrays
from lexicons.word_map import KEYS, WordsRecord, may_be_word

from .board import BoardRecord
from .crosses import first_square
from .moves import LETTER_MASK, MAX_PLACED, TILE_BITS, move_tile, tile_count

SUBRACK_COUNT = 1 << MAX_PLACED
POINT = 1_000  # thousandths
NOT_OUT = 10  # points: cost of not going out (``engine.movegen.evaluation``)
PASS_EQUITY = -1_000 * POINT  # below every other move; no table has the worth of all seven tiles
LATE_TILES = 16
SIZES = MAX_PLACED + 1
LANES = 40  # 35 subracks, rounded up to whole vectors
NEVER = -(1 << 29)  # below every equity; sums with it fit 32 bits
_KNOWN = 512  # remembered answers; a rack asks for about a hundred
_ONE = np.uint64(1)

RACK = record_dtype(
    [
        ("held", np.int64),
        ("tiles", np.uint8, (MAX_PLACED + 1,)),  # sorted; behind them zeros
        ("bits", np.uint64, (MAX_LETTERS + 1,)),  # by tile: mask of its copies
        ("letters", np.uint64, (SUBRACK_COUNT,)),  # by mask: bit n, it has letter n; no blanks
        ("keys", np.uint64, (SUBRACK_COUNT,)),  # by mask: of its letters (``lexicons.word_map``)
        ("blanks", np.uint8, (SUBRACK_COUNT,)),  # by mask
        ("points", np.int32, (SUBRACK_COUNT,)),  # by mask: of its tiles
        ("leaves", np.int32, (SUBRACK_COUNT,)),  # by mask: of keeping it; 0 for all seven
        ("equity_terms", np.int32, (SUBRACK_COUNT,)),  # by mask: of playing it, beyond its score
        ("swaps", np.int32, (SUBRACK_COUNT,)),  # by mask: of exchanging it
        ("exchangeable", np.int64),  # largest exchange allowed
        ("repeats", np.uint64),  # bit n: tile n equals tile n − 1
        ("opening", np.bool_),  # the board is empty, and the places of vowels count
    ],
)
EVALUATION = record_dtype(
    [
        ("vowels", np.uint64),  # bit n: letter n is a vowel
        ("opening_vowel", np.int32),  # first play: beside a double; twice that by a triple
        ("late", np.int32, (LATE_TILES,)),  # by tiles in the bag after the play, plus 7
        ("out_times", np.int32),  # bag empty: times the opponent's points, for going out
        ("kept_times", np.int32),  # … times the own points, for not going out
        ("not_out", np.int32),  # … plus this
    ],
)
SUBRACKS = record_dtype(
    [
        ("count", np.int64, (SIZES,)),
        ("subrack", np.uint8, (SIZES, LANES)),
        ("keys", np.uint64, (SIZES, LANES)),  # of their letters (``lexicons.word_map``)
        ("blanks", np.uint8, (SIZES, LANES)),
        ("equity_term", np.int32, (SIZES, LANES)),  # of playing them; NEVER in lanes not in use
        ("values", np.int32, (SIZES, SIZES, LANES)),  # [size, n]: of their tiles, dearest first
        ("holding", np.uint64, (SIZES, MAX_PLACED)),  # [size, n]: lanes with the rack's nth tile
        ("alone", np.uint64, (SIZES,)),  # lanes that may be a word, or one tile
        ("best_terms", np.int32, (2, SIZES)),  # [0]: of those ``alone``; [1]: of all
        ("dearest", np.int32, (SIZES,)),  # values of the rack's tiles, dearest first, then 0
        ("order", np.int64, (SIZES,)),  # the rack's tiles in that order
        ("names", np.int64, (SIZES,)),  # the letters of blanks being tried
        ("turn", np.int64),  # racks filled in so far
        ("known_key", np.uint64, (_KNOWN,)),  # answers of ``lanes_completing``: the playthrough,
        ("known_turn", np.int64, (_KNOWN,)),  # … ``turn`` × 8 plus the size,
        ("known_lanes", np.uint64, (_KNOWN,)),  # … and the lanes
    ],
)

RackRecord: TypeAlias = Any
EvaluationRecord: TypeAlias = Any  # thousandths of a point
SubracksRecord: TypeAlias = Any


@helper
def fill_rack(rack: RackRecord, tiles: Any, size: Any, points: Any, leaves: LeaveArrays) -> None:
    """Fill in a rack of the first ``size`` of sorted ``tiles``, but for equity terms and swaps."""
    rack.held = size
    rack.repeats = 0
    for tile in range(len(rack.bits)):
        rack.bits[tile] = 0
    for at in range(MAX_PLACED):
        rack.tiles[at] = tiles[at] if at < size else 0
    for at in range(size):
        rack.bits[rack.tiles[at]] |= np.uint64(1) << np.uint64(at)
        if at and rack.tiles[at] == rack.tiles[at - 1]:
            rack.repeats |= np.uint64(1) << np.uint64(at)
    _fill_subracks(rack, points)
    _fill_leaves(rack, leaves)


@helper
def _fill_subracks(rack: RackRecord, points: Any) -> None:
    rack.letters[0] = 0
    rack.keys[0] = 0
    rack.blanks[0] = 0
    rack.points[0] = 0
    for at in range(rack.held):
        tile = rack.tiles[at]
        last = 1 << at
        blank = 1 if tile == BLANK else 0
        letter = np.uint64(0) if blank else np.uint64(1) << np.uint64(tile)
        for rest in range(last):
            subrack = rest | last
            rack.letters[subrack] = rack.letters[rest] | letter
            rack.keys[subrack] = wrapping_add(rack.keys[rest], KEYS[tile])
            rack.blanks[subrack] = rack.blanks[rest] + blank
            rack.points[subrack] = rack.points[rest] + points[tile]


@helper
def _fill_leaves(rack: RackRecord, leaves: LeaveArrays) -> None:
    places = rack.equity_terms  # scratch: filled in later
    places[0] = 0
    longest = len(leaves.binomials)
    for at in range(rack.held):
        tile, last = rack.tiles[at], 1 << at
        for rest in range(last):
            before = bit_count(np.uint64(rest))
            if before < longest:
                places[rest | last] = places[rest] + leaves.binomials[before, tile]
    for subrack in range(1 << rack.held):
        held = bit_count(np.uint64(subrack))
        inside = held <= longest
        rack.leaves[subrack] = (
            leaves.values[leaves.offsets[held] + places[subrack]] if inside else 0
        )


@helper
def is_regular(rack: RackRecord, subrack: Any) -> Any:
    """Return whether a mask takes the first of equal tiles."""
    subrack = np.uint64(subrack)
    return not subrack & rack.repeats & ~(subrack << np.uint64(1))


@helper
def fill_equity_terms(
    rack: RackRecord,
    evaluation: EvaluationRecord,
    bag: Any,
    opponent_points: Any,
) -> None:
    """Fill in the equity terms of playing and of exchanging each subrack; ``bag`` counts tiles."""
    whole = (1 << rack.held) - 1
    for subrack in range(whole + 1):
        kept = whole ^ subrack
        rack.swaps[subrack] = rack.leaves[kept]
        if bag:
            left = bag - np.int64(bit_count(np.uint64(subrack))) + MAX_PLACED
            late = evaluation.late[left] if left < LATE_TILES else 0
            rack.equity_terms[subrack] = rack.leaves[kept] + late
        elif kept:
            points = evaluation.kept_times * rack.points[kept]
            rack.equity_terms[subrack] = -POINT * points - evaluation.not_out
        else:
            rack.equity_terms[subrack] = POINT * evaluation.out_times * opponent_points


@helper
def use_evaluation(evaluation: EvaluationRecord, other: EvaluationRecord) -> None:
    """Copy ``other`` into an evaluation, which is modified in place."""
    evaluation.vowels = other.vowels
    evaluation.opening_vowel = other.opening_vowel
    evaluation.out_times = other.out_times
    evaluation.kept_times = other.kept_times
    evaluation.not_out = other.not_out
    for tiles in range(LATE_TILES):
        evaluation.late[tiles] = other.late[tiles]


@helper
def opening_adjustment(board: BoardRecord, evaluation: EvaluationRecord, move: Any) -> Any:
    """Return what a first play's vowels beside premiums of the next lines add to its equity.

    It is 0 or less.
    """
    squares, side = board.squares, board.side
    square = first_square(side, move)
    adjustment = np.int64(0)
    for nth in range(tile_count(move)):
        letter = move_tile(move, nth) & LETTER_MASK
        if evaluation.vowels >> letter & np.uint64(1):
            steps = _premium_steps(squares[square - side]) + _premium_steps(squares[square + side])
            adjustment += evaluation.opening_vowel * steps
        square += 1
    return adjustment


@helper
def _premium_steps(square: Any) -> Any:
    """Return 1 for a double, 2 for a triple, 0 for a plain square or off the board."""
    if not square.on_board:
        return np.int64(0)
    return np.int64(square.letter_multiplier) + np.int64(square.word_multiplier) - 2


@helper
def extended(code: Any, tile: Any) -> Any:
    """Return the code of a multiset with one more tile, which must be no less than the others."""
    return code << np.uint64(TILE_BITS) | np.uint64(tile + 1)


@helper
def place_of(codes: Any, code: Any) -> Any:
    """Return the place of a code in a table, or the empty place where it belongs."""
    mask = np.uint64(len(codes) - 1)
    place = (wrapping_mul(code, GOLDEN) >> np.uint64(32)) & mask
    while codes[place] and codes[place] != code:
        place = place + _ONE & mask
    return place


@helper
def fill_subracks(
    subracks: SubracksRecord, rack: RackRecord, board: BoardRecord, words: WordsRecord
) -> None:
    """Sort the subracks of a rack by size, once its equity terms are filled in."""
    subracks.turn += 1
    for size in range(SIZES):
        subracks.count[size] = 0
        subracks.alone[size] = 0
        subracks.best_terms[0, size] = NEVER
        subracks.best_terms[1, size] = NEVER
        for lane in range(LANES):
            subracks.equity_term[size, lane] = NEVER
        for at in range(MAX_PLACED):
            subracks.holding[size, at] = 0
    _sort_tiles(subracks, rack, board.points)
    for subrack in range(1, 1 << rack.held):
        if is_regular(rack, subrack):
            _add_subrack(subracks, rack, subrack, words, board.letters)


@helper
def _sort_tiles(subracks: SubracksRecord, rack: RackRecord, points: Any) -> None:
    for at in range(rack.held):
        value = points[rack.tiles[at]] * POINT
        to = at
        while to > 0 and subracks.dearest[to - 1] < value:
            subracks.dearest[to] = subracks.dearest[to - 1]
            subracks.order[to] = subracks.order[to - 1]
            to -= 1
        subracks.dearest[to] = value
        subracks.order[to] = at
    for at in range(rack.held, SIZES):
        subracks.dearest[at] = 0
        subracks.order[at] = at


@helper
def _add_subrack(
    subracks: SubracksRecord, rack: RackRecord, subrack: Any, words: WordsRecord, letters: Any
) -> None:
    size = np.int64(bit_count(np.uint64(subrack)))
    lane = subracks.count[size]
    subracks.count[size] = lane + 1
    subracks.subrack[size, lane] = subrack
    equity_term = rack.equity_terms[subrack]
    subracks.equity_term[size, lane] = equity_term
    subracks.best_terms[1, size] = max(subracks.best_terms[1, size], equity_term)
    held = 0
    # Without branches, which would be unpredictable: a tile not held is overwritten. A fixed number
    # of steps takes fewer instructions than the rack's, whose missing tiles are in no subrack.
    for nth in range(MAX_PLACED):
        at = subracks.order[nth]
        subracks.values[size, held, lane] = subracks.dearest[nth]
        held += subrack >> at & 1
    for at in range(MAX_PLACED):
        subracks.holding[size, at] |= np.uint64(subrack >> at & 1) << np.uint64(lane)
    subracks.keys[size, lane] = rack.keys[subrack]
    subracks.blanks[size, lane] = rack.blanks[subrack]
    alone = size == 1 or _may_complete(words, rack.keys[subrack], rack.blanks[subrack], letters)
    subracks.alone[size] |= np.uint64(alone) << np.uint64(lane)
    subracks.best_terms[0, size] = max(
        subracks.best_terms[0, size], equity_term if alone else NEVER
    )


@helper
def _may_complete(words: WordsRecord, key: Any, blanks: Any, letters: Any) -> Any:
    if blanks < 2:
        return may_be_word(words, key, blanks)
    possible = blanks > 2  # too many choices to try here
    letter = 1
    while not possible and letter <= letters:
        possible = may_be_word(words, wrapping_add(key, KEYS[letter]), 1)
        letter += 1
    return possible


@helper
def lanes_completing(
    subracks: SubracksRecord, size: Any, playthrough: Any, words: WordsRecord
) -> Any:
    """Return the lanes that may make a word with a playthrough, by its key; answers are cached."""
    known = (playthrough >> np.uint64(48)) + np.uint64(size) & np.uint64(_KNOWN - 1)
    asked = subracks.turn * SIZES + size
    if subracks.known_turn[known] == asked and subracks.known_key[known] == playthrough:
        return subracks.known_lanes[known]
    lanes = np.uint64(0)
    for lane in range(subracks.count[size]):  # branch-free: unpredictable
        blanks = subracks.blanks[size, lane]
        key = wrapping_add(playthrough, subracks.keys[size, lane])
        may_be = may_be_word(words, key, min(blanks, 1))
        lanes |= np.uint64(may_be | (blanks > 1)) << np.uint64(lane)
    subracks.known_turn[known] = asked
    subracks.known_key[known] = playthrough
    subracks.known_lanes[known] = lanes
    return lanes


@helper
def lanes_fitting(subracks: SubracksRecord, rack: RackRecord, size: Any, cross_set: Any) -> Any:
    """Return the lanes with a tile that a cross-set admits; a blank always fits."""
    fitting = np.uint64(0)
    admitted = cross_set | np.uint64(1)
    for at in range(MAX_PLACED):
        tile = np.uint64(rack.tiles[at])
        every = wrapping_sub(np.uint64(0), admitted >> tile & np.uint64(1))  # all lanes or none
        fitting |= subracks.holding[size, at] & every
    return fitting
