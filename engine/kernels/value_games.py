"""Games of static players whose positions are listed, for a network to learn from.

In each turn several moves are followed with the same luck: the same racks, and the same tiles to be
drawn. So the difference of two gains tells far more than either gain.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from lexicons.alphabet import MAX_LETTERS
from lexicons.arrays import F32, I32, U8, U64, Bools
from lexicons.bits import next_random, random_below
from lexicons.jit import helper, kernel, record_dtype
from lexicons.leaves import LeaveArrays
from lexicons.value_net import BAG_COUNTS, TURNS, Sights
from lexicons.word_map import WordsArray

from .board import clear_board, forget_changes, undo_to
from .crosses import play
from .game import GameArray, carry_out, choose, choose_among, deal, make_move, settle
from .moves import EXCHANGE
from .racks import POINT
from .search_state import StateArray
from .selfplay import Deals
from .value_net import SumsArray, content_of, count_kept, count_unseen

MOST_TURNS = 128
MOST_MEMBERS = 8

MEMBER = record_dtype(
    [
        ("move", np.uint64),
        ("score", np.int64),
        ("subrack", np.int64),
        ("leave", np.int64),  # thousandths of a point
        ("kept", np.int64, (MAX_LETTERS + 1,)),  # by tile
    ],
)


class Listed(NamedTuple):
    """Positions after moves, those of one turn side by side; filled in by the kernel.

    Gains are the mover's, in points beyond the worth of its leave.
    """

    lines: Annotated[U8, 3]  # [room, 2 × side, places] contents of the squares
    counts: Annotated[U8, 2]  # [room, counts] as ``lexicons.value_net`` has them
    groups: I32  # [room] number of the turn, among those listed
    gains: Annotated[F32, 2]  # [room, TURNS] in the next turns, with the last leaves
    finals: F32  # [room] to the end of the game, if the move …
    is_played: Bools  # [room] … was played


class Wanted(NamedTuple):
    """Which moves are followed."""

    members: int  # moves of a turn: the best, and others at random …
    among: int  # … from this many of the highest equity
    explored: int  # turns in 2^16 in which a member is played at random, else the best


@kernel
def list_positions(
    state_array: StateArray,
    games_array: GameArray,
    words_array: WordsArray,
    leaves: LeaveArrays,
    sights: Sights,
    sums_array: SumsArray,
    members: Annotated[Any, MEMBER],
    deals: Deals,
    wanted: Wanted,
    listed: Listed,
) -> int:
    """Play games and list positions; return their number, or −1 if there is too little room.

    ``games_array`` has two games; they, ``members``, the state and the sums are scratch. Positions
    with an empty bag, those after the end of a game, and games of more than ``MOST_TURNS`` turns
    are left out.
    """
    state, words, sums = state_array[0], words_array[0], sums_array[0]
    board, game = state.board, games_array[0]
    count, group = np.int64(0), np.int32(0)
    place = np.empty(MOST_TURNS, np.int64)  # of the position after the move; −1: not listed
    lead = np.empty(MOST_TURNS, np.int64)  # of seat 0
    luck = np.empty(1, np.uint64)  # not the game's, so that listing does not change its course
    for number in range(len(deals.orders)):
        clear_board(board)
        deal(game, deals.orders[number], deals.seeds[number])
        luck[0] = ~deals.seeds[number]
        first, first_group = count, group
        seat, turn = 0, 0
        while not game.over and turn < MOST_TURNS:
            choose_among(state, game, words, leaves, seat, wanted.among)
            size = _pick_members(state, luck, members, wanted.members)
            explores = _below(luck, 1 << 16) < wanted.explored
            played = _below(luck, size) if explores else np.int64(0)
            place[turn] = -1
            if game.back > game.front:
                if count + size > len(listed.groups):
                    return -1
                count_unseen(sums.unseen, game, seat)
                for nth in range(size):
                    games_array[1] = games_array[0]
                    make_move(state, game, words, seat, members[nth].move, members[nth].score)
                    settle(game, board.points, seat)
                    if not game.over and game.back > game.front:
                        _list(sights, board, sums.unseen, game, members[nth], listed, count)
                        listed.groups[count] = group
                        gains, leave = listed.gains[count], members[nth].leave
                        _follow(state, game, words, leaves, seat, leave, gains)
                        if nth == played:
                            place[turn] = count
                        count += 1
                    undo_to(board, 0)
                    games_array[0] = games_array[1]
                group += 1 if count and listed.groups[count - 1] == group else 0
            make_move(state, game, words, seat, members[played].move, members[played].score)
            forget_changes(board)
            settle(game, board.points, seat)
            lead[turn] = game.scores[0] - game.scores[1]
            seat = 1 - seat
            turn += 1
        if not game.over:
            count, group = first, first_group
            continue
        for at in range(turn):
            if place[at] >= 0:
                gained = lead[turn - 1] - lead[at]
                listed.finals[place[at]] += gained if at % 2 == 0 else -gained
                listed.is_played[place[at]] = True
    return int(count)


@helper
def _pick_members(state: Any, luck: U64, members: Any, most: Any) -> Any:
    """Pick the best move and random others, up to ``most`` in all; return their number."""
    top, rack = state.top, state.rack
    size = np.int64(0)
    for nth in range(top.count):
        if nth == 0 or _below(luck, top.count - nth) < most - size:
            member, subrack = members[size], np.int64(top.subracks[nth])
            member.move = top.moves[nth]
            member.score = top.scores[nth]
            member.leave = rack.leaves[(1 << rack.held) - 1 ^ subrack]
            count_kept(member.kept, rack, subrack)
            size += 1
    return size


@helper
def _below(luck: U64, count: Any) -> Any:
    luck[0] = next_random(luck[0])
    return random_below(luck[0], count)


@helper
def _list(
    sights: Sights, board: Any, unseen: Any, game: Any, member: Any, listed: Listed, at: Any
) -> None:
    for line in range(2 * board.side):
        first = line * board.side + 1
        for place in range(sights.places):
            listed.lines[at, line, place] = content_of(sights, board.squares[first + place])
    counts, tiles = listed.counts[at], len(sights.shares)
    for tile in range(tiles):
        counts[tile] = member.kept[tile]
        counts[tiles + tile] = unseen[tile]
    counts[2 * tiles] = min(game.back - game.front, BAG_COUNTS - 1)
    counts[2 * tiles + 1] = game.scoreless
    listed.finals[at] = -member.leave / POINT
    listed.is_played[at] = False


@helper
def _follow(
    state: Any, game: Any, words: Any, leaves: LeaveArrays, mover: Any, leave: Any, gains: Any
) -> None:
    """Let static players go on; note what the mover gains beyond its leave after each turn."""
    rack, top = state.rack, state.top
    ahead = game.scores[mover] - game.scores[1 - mover]
    game.kept[mover], game.kept[1 - mover] = leave, 0
    seat = 1 - mover
    for turn in range(TURNS):
        if not game.over:
            choose(state, game, words, leaves, seat)
            move = top.moves[0]
            game.kept[seat] = rack.leaves[(1 << rack.held) - 1 ^ np.int64(top.subracks[0])]
            if move < EXCHANGE and turn + 1 < TURNS:
                play(state.board, words, move)
            carry_out(game, seat, move, np.int64(top.scores[0]))
            settle(game, state.board.points, seat)
            seat = 1 - seat
        gain = np.float64(game.scores[mover] - game.scores[1 - mover] - ahead)
        if not game.over and game.back > game.front:
            gain += (game.kept[mover] - game.kept[1 - mover]) / POINT
        gains[turn] = gain - leave / POINT
