"""Gaps of many racks on one board, against what is found by listing all moves of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest
from inference_cases import slow_judge
from inference_reference import tiles_of
from lexicon_parts import without_words
from rollout_positions import RULES, late_position, leaves, position_of, scowl

from engine.inference.equity_loss import OpponentPlay
from engine.kernels.board import set_up
from engine.kernels.equity_loss import (
    SlotOrder,
    SubrackTable,
    begin_losses,
    copy_table,
    find_losses,
)
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator
from engine.movegen.move_codec import pack
from engine.notation.move_text import parse_move
from engine.rules.moves import PASS, Place
from engine.rules.position import Position, Rack, bag_count, unseen
from engine.rules.rules import score_play

RACKS = 100
ROOM = 1 << 16
FAR = 10**7
REACHES = (0, 4_000, 15_000, FAR)
JUDGES = ("static", "greedy")


class Case(NamedTuple):
    """A play, and racks that it may have been made with, by the seed."""

    play: OpponentPlay
    racks: list[Rack]


def observed(begin: Callable[[], Position], nth: int = 0) -> OpponentPlay:
    """Take one of the moves of the player on turn, by its rank, for what the other one sees."""
    position = begin()
    ranked = Generator(scowl(), RULES, leaves()).everything(position)[nth]
    assert isinstance(ranked.move, Place)
    bag = bag_count(position, RULES)
    return OpponentPlay(position.board, ranked.move, ranked.score, RULES.rack_size, bag)


def opening(text: str) -> OpponentPlay:
    board = position_of(0, 0).board
    move = parse_move(text, board, RULES.distribution.alphabet)
    assert isinstance(move, Place)
    return OpponentPlay(board, move, score_play(board, move, RULES).score, RULES.rack_size, 86)


def passed(position: Position) -> OpponentPlay:
    return OpponentPlay(position.board, PASS, 0, 7, bag_count(position, RULES))


MIDDLE = partial(position_of, 5, 9)
PLAYS: dict[str, Callable[[], OpponentPlay]] = {
    "middle": partial(observed, MIDDLE),
    "middle, a worse one": partial(observed, MIDDLE, 25),
    "middle, a pass": lambda: passed(MIDDLE()),
    # Vowels beside double letters, beside triple ones, one of them a blank, and down.
    "opening, 8D": partial(opening, "8D AUDIO"),
    "opening, 8H": partial(opening, "8H AUDIO"),
    "opening, H4": partial(opening, "H4 OUTSIDE"),
    "opening, a blank": partial(opening, "8G oUTSIDE"),
    "opening, short": partial(opening, "8G OUT"),
    "a blank": partial(observed, partial(late_position, 12, blanks=1)),
    **{
        f"bag of {bag}": partial(observed, partial(late_position, bag), bag % 3)
        for bag in (1, 2, 4, 6, 7, 8)
    },
}


@cache
def case(name: str) -> Case:
    """Draw what else he may hold from all that is not on the board; now and then every blank."""
    play = PLAYS[name]()
    hidden = np.array(unseen(Position(play.board, ((), ()), (0, 0)), 0, RULES))
    np.subtract.at(hidden, list(play.tiles), 1)
    chance, left = np.random.default_rng(1), np.array(tiles_of(hidden.tolist()))
    size = RULES.rack_size - len(play.tiles)
    others = [chance.choice(left, size, replace=False).tolist() for _ in range(RACKS)]
    blanks = [0] * min(int(hidden[0]), size)
    for each in others[::25]:
        each[:] = [*blanks, *(tile for tile in each if tile)][:size]
    return Case(play, [tuple(sorted((*play.tiles, *each))) for each in others])


@cache
def generator(judge: str = "static") -> Generator:
    if judge == "greedy":
        return Generator(scowl(), RULES, None, PLAIN)
    return Generator(scowl(), RULES, leaves())


def begin(play: OpponentPlay, finder: Generator) -> tuple[int, SlotOrder]:
    """Lay the board out; give what the play costs for its vowels, and the order of slots."""
    assert not isinstance(play.move, int)
    order = SlotOrder.empty(finder.state["slots"]["slots"].shape[1])
    set_up(finder.state["board"], play.board)
    move = np.uint64(pack(play.move))
    return begin_losses(finder.state, finder.words.words, move, order), order


class Search:
    """Gaps of one case, as the kernel finds them."""

    def __init__(self, found: Case, finder: Generator, own: list[int], reach: int) -> None:
        self.losses = np.full(len(found.racks), -1, np.int32)
        self._racks, self._own = np.array(found.racks, np.uint8), np.array(own, np.int32)
        self._finder, self._play, self._reach = finder, found.play, reach
        _, self._order = begin(found.play, finder)

    def go_on(self, begin: int, table: SubrackTable) -> int:
        """Give how many racks there was room for."""
        return find_losses(
            self._finder.state,
            self._finder.words.words,
            self._finder.leaves.arrays,
            self._play.bag,
            self._play.may_exchange,
            self._order,
            table,
            self._racks[begin:],
            self._own[begin:],
            self._reach,
            self.losses[begin:],
        )


def losses(
    found: Case,
    judge: str = "static",
    reach: int = FAR,
    table: SubrackTable | None = None,
    finder: Generator | None = None,
) -> list[int]:
    """Have the kernel find gaps; the equity of the play with each rack is the twin's.

    Where a book is full, it goes on in an empty one.
    """
    own = [slow_judge(judge).of(found.play, rack).own for rack in found.racks]
    search = Search(found, finder or generator(judge), own, reach)
    table = table or SubrackTable.empty(ROOM)
    done = 0
    while done < len(own):
        done += search.go_on(done, table)
        if done < len(own):
            table = SubrackTable.empty(len(table.codes))
    return search.losses.tolist()


def slow_gaps(found: Case, judge: str) -> list[int]:
    return [slow_judge(judge).loss(found.play, rack) for rack in found.racks]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("name", PLAYS)
def test_gaps_are_those_of_the_twin(name: str, judge: str) -> None:
    expected = slow_gaps(case(name), judge)
    for reach in REACHES:
        assert losses(case(name), judge, reach) == [min(loss, reach + 1) for loss in expected]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("name", ["middle, a worse one", "opening, 8D", "bag of 6", "a blank"])
def test_what_stands_in_the_book_changes_no_gap(name: str, judge: str) -> None:
    """Whatever the order, in a book that has it all, and in one that is full again and again."""
    play, racks = case(name)
    known = SubrackTable.empty(ROOM)
    for reach in (FAR, 8_000, 0):
        expected = losses(case(name), judge, reach)
        for seed in range(2):
            order = np.random.default_rng(seed).permutation(len(racks)).tolist()
            shuffled = Case(play, [racks[at] for at in order])
            for table in (known, SubrackTable.empty(512)):
                found = losses(shuffled, judge, reach, table)
                assert found == [expected[at] for at in order]
    used = int(known.used[0])
    assert used == np.count_nonzero(known.codes) > 500
    losses(case(name), judge, FAR, known)
    assert known.used[0] == used


@pytest.mark.parametrize("name", ["middle", "bag of 7"])
def test_what_was_no_more_than_a_bound_is_worked_out_when_it_matters(name: str) -> None:
    """A better play leaves much at its bound; with a worse one the same book has to tell more."""
    found, table = case(name), SubrackTable.empty(ROOM)
    expected = slow_gaps(found, "static")
    own = [slow_judge("static").of(found.play, rack).own for rack in found.racks]
    for better in (100_000, 30_000, 5_000, 0, -40_000):
        search = Search(found, generator(), [each + better for each in own], FAR)
        assert search.go_on(0, table) == RACKS
        best = [slow_judge("static").of(found.play, rack).best for rack in found.racks]
        wanted = [max(0, top - each - better) for top, each in zip(best, own, strict=True)]
        assert search.losses.tolist() == wanted
        assert better or search.losses.tolist() == expected


def test_a_book_is_copied_into_a_larger_one() -> None:
    small, large, found = SubrackTable.empty(ROOM), SubrackTable.empty(4 * ROOM), case("bag of 7")
    expected = losses(found, table=small)
    copy_table(small, large)
    assert large.used[0] == small.used[0] > 0
    assert entries(large) == entries(small)
    assert losses(found, table=large) == expected
    assert large.used[0] == small.used[0]


def entries(table: SubrackTable) -> list[tuple[int, int, bool]]:
    there = table.codes > 0
    columns = (array[there].tolist() for array in (table.codes, table.equity_terms, table.exact))
    return sorted(zip(*columns, strict=True))


def test_who_can_do_nothing_else_is_right_to_pass() -> None:
    words = without_words(RULES.distribution)
    play = OpponentPlay(position_of(5, 9).board, PASS, 0, RULES.rack_size, 5)  # too few to exchange
    spent = replace(play, bag=80, may_exchange=False)
    for pass_made in (play, spent):
        found = Case(pass_made, case("middle, a pass").racks)
        search = Search(found, Generator(words, RULES, leaves()), [0] * RACKS, FAR)
        assert search.go_on(0, SubrackTable.empty(ROOM)) == RACKS
        assert not search.losses.any()
