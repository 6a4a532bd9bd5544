"""Losses of many racks on one board, against what is found by listing all moves of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest
from inference_cases import slow_judge
from inference_reference import tiles_of
from lexicon_parts import without_words
from rollout_positions import RULES, late_position, leaves, position_of, scowl

from engine.inference.equity_loss import EquityLosses, OpponentPlay
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator
from engine.notation.move_text import parse_move
from engine.rules.moves import PASS, Place
from engine.rules.position import Position, Rack, bag_count, unseen
from engine.rules.rules import score_play

RACKS = 100
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


def losses(
    found: Case, judge: str = "static", reach: int = FAR, order: Sequence[int] = range(RACKS)
) -> list[int]:
    """Find the losses of all racks, in some order, half of them after the others."""
    finder = EquityLosses(generator(judge), found.play, reach)
    racks = np.array([found.racks[at] for at in order], np.uint8)
    kept = [
        tuple((Counter(rack) - Counter(found.play.tiles)).elements()) for rack in racks.tolist()
    ]
    leaves = np.array([sorted(each) for each in kept], np.uint8).reshape(len(racks), -1)
    halves = (finder.of(racks[part], leaves[part]) for part in (slice(50), slice(50, None)))
    result: list[int] = np.concatenate([*halves]).tolist()
    return result


def slow_losses(found: Case, judge: str) -> list[int]:
    return [slow_judge(judge).loss(found.play, rack) for rack in found.racks]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("name", PLAYS)
def test_losses_are_those_of_the_twin(name: str, judge: str) -> None:
    expected = slow_losses(case(name), judge)
    for reach in REACHES:
        assert losses(case(name), judge, reach) == [min(loss, reach + 1) for loss in expected]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("name", ["middle, a worse one", "opening, 8D", "bag of 6", "a blank"])
@pytest.mark.parametrize("most", [512, 1 << 16], ids=["emptied", "grown"])
def test_what_is_remembered_of_other_racks_changes_nothing(
    name: str, judge: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the order, in a table that grows, and in one that is full again and again."""
    monkeypatch.setattr("engine.inference.equity_loss._FIRST_PLACES", 512)
    monkeypatch.setattr("engine.inference.equity_loss._MOST_PLACES", most)
    expected = slow_losses(case(name), judge)
    for seed, reach in enumerate((FAR, 8_000, 0)):
        order = np.random.default_rng(seed).permutation(RACKS).tolist()
        wanted = [min(expected[at], reach + 1) for at in order]
        assert losses(case(name), judge, reach, order) == wanted


def test_what_scores_most_on_an_opening_need_not_be_worth_most() -> None:
    """EDUCATE at 8C has its D doubled, which is 2 points, and three vowels where they cost 2.1."""
    rack = tuple(sorted(RULES.distribution.alphabet.tiles("EDUCATE")))
    found = Case(opening("8G CUE"), [rack])
    for judge in JUDGES:
        assert losses(found, judge, order=[0]) == slow_losses(found, judge)


def test_who_can_do_nothing_else_is_right_to_pass() -> None:
    words = Generator(without_words(RULES.distribution), RULES, leaves())
    few = OpponentPlay(position_of(5, 9).board, PASS, 0, RULES.rack_size, 5)  # to exchange
    racks = np.array(case("middle, a pass").racks, np.uint8)
    for play in (few, replace(few, bag=80, may_exchange=False)):
        assert not EquityLosses(words, play, FAR).of(racks, racks).any()
