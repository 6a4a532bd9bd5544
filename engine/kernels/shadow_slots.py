"""Slots: where a word can lie and how many tiles it takes; for each, a bound on what it can bring.

An anchor says that a play covers this square. A *slot* says all but the letters: the first square
of the word and the number of tiles placed, hence the playthrough, the premium squares and the
cross-sets met. Each placement is in one slot. There is none where no word of its length has the
longest run of the playthrough in its place. Slots do not depend on the rack: they are computed
once, when a play has changed their line, and serve many racks. Those of a board that is played on
and restored again and again can be kept meanwhile.

The *shadow* of a slot (wolges, Macondo and MAGPIE have it for anchors) is the most that any letters
could bring there: the dearest tiles on the squares that count most. The points of each tile count

    letter multiplier × (product of the word multipliers + own word multiplier where it is crossed)

times. These coefficients are kept in descending order: by the rearrangement inequality no
arrangement of the same tiles brings more than the dearest on the greatest coefficient.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lexicons.bits import lowest_bit, wrapping_add
from lexicons.jit import helper, record_dtype
from lexicons.layout import MAX_SIDE
from lexicons.word_map import KEYS, SHORTEST_RUN, WordsRecord, extend_run, may_have_run

from .board import MAX_LINES, NO_CROSSING, BoardRecord
from .moves import MAX_PLACED

SLOTS_A_LINE = MAX_SIDE * MAX_PLACED

SLOT = record_dtype(
    [
        ("key", np.uint64),  # of the playthrough; 0: none
        ("fixed", np.int32),  # points of playthrough, crossings and bonus
        ("crossed", np.uint32),  # bit n: the nth square of the word is crossed
        ("coefficients", np.int16, (MAX_PLACED,)),  # descending, then 0
        ("start", np.int16),  # the first square of the word
        ("tiles", np.uint8),
        ("length", np.uint8),
    ],
)
SLOTS = record_dtype(
    [
        ("row", np.int64, (MAX_LINES,)),  # by line: where its slots are, ``line`` or MAX_LINES more
        ("kept", np.bool_),  # the first MAX_LINES rows are not overwritten
        ("count", np.int64, (2 * MAX_LINES,)),  # by row
        ("slots", SLOT, (2 * MAX_LINES * SLOTS_A_LINE,)),  # of a row: from SLOTS_A_LINE × row on
        ("coefficients", np.int16, (MAX_PLACED,)),  # of the tiles placed so far, descending
    ],
)
SlotRecord: TypeAlias = Any
SlotsRecord: TypeAlias = Any


@helper
def update_slots(slots: SlotsRecord, board: BoardRecord, words: WordsRecord) -> None:
    """Compute the slots of changed lines; the first two records are modified in place."""
    lines = np.uint64(2 * board.side)
    changed = board.changed_lines
    if lines < np.uint64(64):
        changed &= (np.uint64(1) << lines) - np.uint64(1)
    while changed:
        _slots_of_line(slots, board, words, np.int64(lowest_bit(changed)))
        changed &= changed - np.uint64(1)
    board.changed_lines = 0


@helper
def keep_slots(slots: SlotsRecord, kept: bool) -> None:
    """Keep the slots, which must be up to date, until ``restore_slots``; False: no longer."""
    slots.kept = kept


@helper
def restore_slots(slots: SlotsRecord, board: BoardRecord) -> None:
    """Return to the slots that were kept, once the board is as it was then."""
    for line in range(2 * board.side):
        slots.row[line] = line
    board.changed_lines = 0


@helper
def _slots_of_line(slots: SlotsRecord, board: BoardRecord, words: WordsRecord, line: Any) -> None:
    row = line + (MAX_LINES if slots.kept else 0)
    slots.row[line] = row
    slots.count[row] = 0
    begin = line * board.side
    first: Any = np.int64(0)
    last: Any = np.int64(0)
    for square in range(begin + board.side - 1, begin, -1):
        if board.squares[square].anchor:
            first = square
            last = max(last, square)
    if not last:
        return
    # A word that covers an anchor begins at most six tiles before it.
    for square in range(begin + 1, last + 1):
        here = board.squares[square]
        near = first - square < MAX_PLACED or here.letter
        if near and here.on_board and not board.squares[square - 1].letter:
            _slots_from(slots, board, words, line, square)


@helper
def _slots_from(
    slots: SlotsRecord, board: BoardRecord, words: WordsRecord, line: Any, start: Any
) -> None:
    square, key = start, np.uint64(0)
    playthrough: Any = np.int64(0)
    crossings: Any = np.int64(0)
    multiplier: Any = np.int64(1)
    touching, twice = False, False
    crossed = np.uint64(0)
    longest, longest_place, longest_run = np.int64(0), np.int64(0), np.uint64(0)
    row = slots.row[line]
    for at in range(MAX_PLACED):
        slots.coefficients[at] = 0
    for tiles in range(MAX_PLACED + 1):
        begin, run = square, np.uint64(0)
        while board.squares[square].letter:
            letter = board.squares[square].letter
            key = wrapping_add(key, KEYS[letter])
            run = extend_run(run, letter)
            playthrough += np.int64(board.squares[square].value)
            square += 1
        if square - begin > longest:
            longest, longest_place, longest_run = square - begin, begin - start, run
        length = square - start
        if (
            touching
            and length > 1
            and not twice
            and (longest < SHORTEST_RUN or may_have_run(words, longest_run, longest_place, length))
        ):
            slot = slots.slots[row * SLOTS_A_LINE + slots.count[row]]
            slots.count[row] += 1
            slot.key = key
            slot.crossed = crossed
            slot.start = start
            slot.tiles = tiles
            slot.length = length
            bonus = board.bonus if tiles == board.bonus_tiles else 0
            slot.fixed = playthrough * multiplier + crossings + bonus
            for at in range(MAX_PLACED):
                slot.coefficients[at] = slots.coefficients[at]
        here = board.squares[square]
        if tiles == MAX_PLACED or not here.cross_set:  # nothing fits, or the board ends
            break
        word_multiplier = np.int64(here.word_multiplier)
        multiplier *= word_multiplier
        touching |= here.anchor
        is_crossed = here.cross_score != NO_CROSSING
        if is_crossed:
            crossings += np.int64(here.cross_score) * word_multiplier
            crossed |= np.uint64(1) << np.uint64(square - start)
        if word_multiplier == 1:
            _insert_coefficient(slots, _coefficient(here, multiplier))
        else:
            _sort_coefficients(slots, board, start, square, multiplier)
        # A single tile that makes a word both ways is played across.
        twice = tiles == 0 and is_crossed and line >= board.side
        square += 1


@helper
def _coefficient(square: Any, multiplier: Any) -> Any:
    own = square.word_multiplier if square.cross_score != NO_CROSSING else 0
    return np.int64(square.letter_multiplier * (multiplier + own))


@helper
def _insert_coefficient(slots: SlotsRecord, coefficient: Any) -> None:
    for at in range(MAX_PLACED):  # branch-free, since branches would be unpredictable
        here = np.int64(slots.coefficients[at])
        slots.coefficients[at] = max(here, coefficient)
        coefficient = min(here, coefficient)


@helper
def _sort_coefficients(
    slots: SlotsRecord, board: BoardRecord, first: Any, last: Any, multiplier: Any
) -> None:
    """Rebuild the coefficients of squares ``first`` to ``last`` for a new word multiplier."""
    for at in range(MAX_PLACED):
        slots.coefficients[at] = 0
    for square in range(first, last + 1):
        if not board.squares[square].letter:
            _insert_coefficient(slots, _coefficient(board.squares[square], multiplier))
