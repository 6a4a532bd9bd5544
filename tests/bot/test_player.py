"""A view answers what bots ask, as the engine does, and without an import of the engine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from search_views import view_at
from small_games import lexicon_of

from bot.player import (
    PASS,
    Exchange,
    ExchangedCount,
    Observed,
    Place,
    Refusal,
    ValuedMove,
    View,
    phonies,
)
from bot.search.static_choice import static_choice
from engine.movegen.evaluation import POINT, STANDARD
from engine.movegen.generator import Generator
from engine.rules.position import Position, unseen
from engine.rules.rule_sets import load_rules
from harness.lab.seat_check import situations
from harness.lab.study_context import Field
from lexicons.leaves import synthetic_leaves
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for, load_win_probabilities, win_probabilities_for

MIDDLE = "15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15 AEINST?/ 20/3 0"


@pytest.fixture(scope="module")
def field() -> Field:
    view = View.from_cgp(MIDDLE)
    return Field.of(load_lexicon(), view.rules)


def test_every_phase_has_the_engines_own_values(field: Field) -> None:
    generator = Generator(field.lexicon, field.rules, field.leaves, STANDARD)
    for phase, situation in situations(field):
        view = view_at(situation.position)
        everything = generator.everything(view.position)
        wanted = [
            ValuedMove(one.move, one.score, one.equity / POINT, one.leave)
            for one in everything
            if one.move != PASS or len(everything) == 1
        ]
        assert view.ranked_moves() == wanted, phase
        assert view.ranked_moves(3) == wanted[:3]
        assert view.unseen == unseen(view.position, view.seat, view.rules)
        for one in [*wanted[:2], wanted[len(wanted) // 2], wanted[-1]]:
            assert view.equity(one.move) == one.equity
            assert view.score(one.move) == one.score
            assert view.leave_after(one.move) == one.leave
            assert view.move(view.text(one.move)) == one.move
            if len(one.leave) < 7:
                assert view.leave_value(one.leave) == leaves_for(view.rules.distribution).value(
                    one.leave
                )
        assert static_choice(view).equity == wanted[0].equity


def test_the_table_of_a_seat_counts() -> None:
    given = synthetic_leaves(View.from_cgp(MIDDLE).rules.distribution, 1)
    view = View.from_cgp(MIDDLE)
    seat = view_at(view.position, leaves=given)
    assert seat.leave_value(seat.rack[:3]) == given.value(seat.rack[:3])
    assert seat.leave_value(seat.rack[:3]) != view.leave_value(view.rack[:3])
    assert seat.ranked_moves(200) != view.ranked_moves(200)
    tiles = view.rules.distribution
    assert view.win_table is win_probabilities_for(tiles)
    chances = load_win_probabilities("formula", tiles)
    assert view_at(view.position, win_probabilities=chances).win_table is chances


def test_refused_moves_are_left_out() -> None:
    view = View.from_cgp(MIDDLE)
    first, second = view.ranked_moves(2)
    again = view_at(view.position, refused=(Refusal(first.move, "not_a_word", ""),))
    assert again.ranked_moves(1) == [second]
    assert first not in again.ranked_moves()
    only = View.from_cgp("15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15 V/ 0/0 0")
    assert [one.move for one in only.ranked_moves()] == [one.move for one in only.ranked_moves(9)]
    with pytest.raises(ValueError, match="count"):
        view.ranked_moves(0)
    with pytest.raises(ValueError, match="count"):
        again.ranked_moves(0)


def test_text_and_tiles() -> None:
    view = View.from_cgp(MIDDLE)
    assert view.text(view.rack) == "?AEINST"
    assert view.tiles("TSINEA?") == view.rack
    assert len(view.unseen_tiles) == sum(view.unseen) == view.bag + 7 == 100 - 5 - 7
    assert view.text(view.unseen_tiles).startswith("?AAAAAAAAB")
    assert view.text(ExchangedCount(3)) == "-3"
    assert view.text(view.move("-?A")) == "-?A"
    assert view.move("-") == PASS
    assert view.move("7H TArS") == Place(6, 7, 0, (20, 1, 18 | 0x80, 19))  # type: ignore[arg-type]
    assert view.text(view.move("8D HOUSES")) == "8D .....S"
    assert isinstance(view.move("-AE"), Exchange)
    assert view.is_word("Houses")
    assert not view.is_word("hous")
    assert not view.is_word("h?use")
    assert str(view).splitlines()[8] == " 8 . . . H O U S E . . . . . . ."
    assert str(view).endswith("rack ?AEINST, score 20 to 3, bag 81")


def test_the_board() -> None:
    view = View.from_cgp(MIDDLE)
    assert [view.at(7, column) for column in (2, 3, 7, 8, 15)] == ["", "H", "E", "", ""]
    assert view.premium(0, 0) == (1, 3)
    assert view.premium(0, 3) == (2, 1)
    assert view.premium(-1, 0) == view.premium(0, 15) == (1, 1)
    assert view.squares(view.move("8D HOUSES")) == [(7, 8)]
    assert view.squares(view.move("I8 SEAT")) == [(7, 8), (8, 8), (9, 8), (10, 8)]
    assert view.squares(PASS) == []


def test_a_single_tile_may_be_written_either_way() -> None:
    view = View.from_cgp("15/15/15/15/15/15/15/3HOUSE7/8O6/15/15/15/15/15/15 EINST/ 0/0 0")
    both = view.move("8D .....S"), view.move("I8 S.")
    assert view.equity(both[0]) == view.equity(both[1])
    assert view.score(both[0]) == view.score(both[1])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("8D HOUSEX", "X is not on the rack"),
        ("8D HOUSEN", "HOUSEN is not a word"),
        ("1A TEA", "touches no tile"),
    ],
)
def test_an_illegal_move_has_no_score_and_no_equity(text: str, says: str) -> None:
    view = View.from_cgp(MIDDLE)
    move = view.move(text)
    for ask in (view.score, view.equity):
        with pytest.raises(ValueError, match=says):
            ask(move)
    with pytest.raises(ValueError, match="is off the board"):
        view.move("16A AT")


def test_a_leave_has_tiles_of_the_rack() -> None:
    view = View.from_cgp(MIDDLE)
    with pytest.raises(ValueError, match="AEINST"):
        view.leave_after(view.move("8D HOUSEX"))


def test_what_the_opponent_sees_after_a_move() -> None:
    view = View.from_cgp(MIDDLE)
    theirs = view.tiles("AEINRST")
    seen = view.opponent_view(view.move("8D HOUSES"), theirs)
    assert (seen.rack, seen.seat, seen.spread) == (theirs, 1, 3 - 20 - 9)
    assert (seen.at(7, 8), seen.bag) == ("S", 100 - 6 - 14)
    assert sum(seen.unseen) == 100 - 6 - 7
    best = seen.ranked_moves(1)[0]
    assert best.score == seen.score(best.move) > 50
    with pytest.raises(ValueError, match="not a word"):
        view.opponent_view(view.move("8D HOUSEN"), theirs)


def test_words_of_plays_are_read_tile_by_tile() -> None:
    rules = replace(load_rules("spanish"), challenge="double")
    alphabet = rules.distribution.alphabet
    words = [alphabet.tiles("[CH]O[RR]O"), alphabet.tiles("[LL]AMA")]
    position = Position.empty(rules.layout).with_rack(0, alphabet.tiles("AEIOSNR"))
    view = replace(view_at(position, rules=rules), lexicon=lexicon_of(words, rules))
    play = Observed(1, 1, PASS, 0, (0, 0), 80, 0, words=("[CH]O[RR]O", "LLAMA", "[LL]Ama", "??"))
    assert phonies(view, play) == ["LLAMA", "??"]
    assert view.is_word("chorro")
    assert view.is_word("[ch]o[rr]o")
