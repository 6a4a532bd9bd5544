"""The stack of an endgame search: a frame for each ply, and what all plies share.

A position's key is a sum of shares, one for each tile on the board or on a rack, so that a play
changes it by its own tiles alone (after Zobrist, A New Hashing Method with Application for Game
Playing, 1970; sums of mixed integers need no table of random numbers).
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from lexicons.alphabet import BLANK
from lexicons.bits import mixed, wrapping_add, wrapping_sub
from lexicons.jit import helper, record_dtype

from .board import MAX_LINES, BoardRecord, other_direction
from .crosses import first_square
from .line_cache import LINE_CACHE
from .moves import BLANK_CODE, LETTER_MASK, MAX_PLACED, move_tile, tile_count
from .replies import REPLIES

MAX_BAG = 7
"""Most tiles in the bag. A seat may hold 14 tiles in its time, which a count has bits for."""
MAX_PLIES = 4 * MAX_PLACED + 2 * MAX_BAG + 6
"""A play for every tile, passes before and after, some spare."""
MOST_LISTED = 64  # most moves that the first ply can exclude, or be restricted to

_ON_TURN = np.uint64(0xD1342543DE82EF95)
_PASSED = np.uint64(0xA0761D6478BD642F)

FRAME = record_dtype(
    [
        ("board_key", np.uint64),
        ("racks_key", np.uint64),
        ("key", np.uint64),  # of everything that decides the value
        ("held", np.uint64, (2,)),  # by seat: tiles, as a count (``engine.kernels.line_cache``)
        ("whole", np.uint64, (2,)),  # … when it last drew
        ("points", np.int64, (2,)),  # by seat: of its tiles
        ("bag", np.int64),  # number of tiles in it
        ("seat", np.int64),
        ("pass_ends", np.bool_),  # a pass now ends the game
        ("depth", np.int64),  # plies to the horizon; 0: greedy play begins
        ("alpha", np.int64),
        ("best", np.int64),  # best value so far; a floor if above alpha, else a ceiling
        ("best_move", np.uint64),
        ("solved", np.bool_),  # ``best`` rests on no guess
        ("first", np.int64),  # index of its first candidate in a heap of ``count``
        ("count", np.int64),
        ("move", np.uint64),  # being searched
        ("score", np.int64),
        ("changes", np.int64),  # ``board.changes`` before it
        ("began", np.int64),  # the search's ``nodes`` when it was entered
        ("forgotten", np.int64),  # the line cache's ``forgotten`` when ``where`` was written
        ("hashes", np.uint64, (MAX_LINES,)),
        ("where", np.uint64, (2, MAX_LINES)),  # placements by seat and line
    ],
)
ENDGAME = record_dtype(
    [
        ("line_cache", LINE_CACHE),
        ("replies", REPLIES),
        ("frames", FRAME, (MAX_PLIES,)),
        ("ply", np.int64),
        ("entering", np.bool_),  # next, enter the node of this ply
        ("returning", np.bool_),  # next, return to the node of this ply from the one below
        ("over", np.bool_),
        ("value", np.int64),  # of the node just left, for its own mover
        ("solved", np.bool_),
        ("nodes", np.int64),
        ("candidates", np.uint64),  # address
        ("room", np.int64),  # for candidates
        ("table", np.uint64),  # address of the transposition table
        ("buckets", np.int64),
        ("age", np.int64),  # of this search's entries in the table
        ("refuters", np.uint64, (MAX_PLIES, 2)),  # by ply: the last moves that beat alpha
        ("only", np.uint64, (MOST_LISTED,)),  # the moves to choose from; none: all
        ("only_count", np.int64),
        ("is_restricted", np.bool_),
        ("without", np.uint64, (MOST_LISTED,)),
        ("without_count", np.int64),
        ("bag", np.uint8, (MAX_BAG,)),  # its tiles, the next to be drawn last
        ("turns", np.int64),  # more scoreless turns in a row that end the game, at the first ply
        ("best_move", np.uint64),  # the last that beat alpha at the first ply
        ("noise", np.int64),  # points: limit of shifts in the move order; differs by thread
    ],
)
EndgameRecord: TypeAlias = Any
EndgameArray: TypeAlias = Annotated[Any, ENDGAME]  # [1]
FrameRecord: TypeAlias = Any


@helper
def replace_tiles(
    search: EndgameRecord, board: BoardRecord, child: FrameRecord, seat: Any, move: Any
) -> None:
    """Take a placement's tiles off a seat's rack, draw as many, and update both keys."""
    side = board.side
    square = first_square(side, move)
    down = square >= side * side
    placed = tile_count(move)
    for nth in range(placed):
        while board.squares[square].letter:
            square += 1
        code = move_tile(move, nth)
        letter = code & LETTER_MASK
        tile = np.uint64(BLANK) if code & BLANK_CODE else letter
        child.held[seat] -= search.line_cache.units[seat, tile]
        child.racks_key = wrapping_sub(child.racks_key, tile_key(seat, tile))
        child.points[seat] -= board.points[tile]
        across = other_direction(side, square) if down else square
        share = square_key(across, letter, board.points[tile])
        child.board_key = wrapping_add(child.board_key, share)
        square += 1
    if not child.bag:
        return
    for _ in range(min(placed, child.bag)):
        tile = np.uint64(search.bag[child.bag - 1])
        child.racks_key = wrapping_sub(child.racks_key, bag_key(child.bag, tile))
        child.bag -= 1
        child.held[seat] += search.line_cache.units[seat, tile]
        child.racks_key = wrapping_add(child.racks_key, tile_key(seat, tile))
        child.points[seat] += board.points[tile]
    child.whole[seat] = child.held[seat]


@helper
def drawn_points(search: EndgameRecord, board: BoardRecord, frame: FrameRecord, count: Any) -> Any:
    """Return the points of the next tiles in the bag, ``count`` or as many as there are."""
    points = 0
    for nth in range(min(count, frame.bag)):
        points += board.points[search.bag[frame.bag - 1 - nth]]
    return points


@helper
def position_key(frame: FrameRecord) -> Any:
    """Return the key of all that decides the value of a position."""
    key = wrapping_add(frame.board_key, frame.racks_key)
    if frame.seat:
        key = wrapping_add(key, _ON_TURN)
    if frame.pass_ends:
        key = wrapping_add(key, _PASSED)
    return mixed(key)


@helper
def square_key(square: Any, letter: Any, points: Any) -> Any:
    """Return a tile's share in a board's key.

    ``square`` is the index across; ``points`` are those of the tile, a blank's own for a blank.
    """
    return mixed(np.uint64(square) << np.uint64(32) | letter << np.uint64(16) | np.uint64(points))


@helper
def tile_key(seat: Any, tile: Any) -> Any:
    """Return a tile's share in the key of both racks."""
    return mixed(_ON_TURN + np.uint64(2) * tile + np.uint64(seat))


@helper
def bag_key(place: Any, tile: Any) -> Any:
    """Return a tile's share in the key of both racks while it is in the bag, at a place from 1."""
    return mixed(_PASSED + np.uint64(64) * np.uint64(place) + tile)
