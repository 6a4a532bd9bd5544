"""Moves as CGP and SIU write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.notation.cgp import challenge_operation, read_challenge
from engine.notation.cgp_moves import (
    CgpMove,
    format_cgp_move,
    format_cgp_turn,
    parse_cgp_move,
    parse_cgp_rack,
)
from engine.notation.move_text import NotationError
from engine.rules.challenges import CHALLENGE_RULES
from engine.rules.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Move, Place
from engine.rules.position import Board
from engine.rules.rules import Rules
from lexicons.alphabet import BLANK_FLAG

Lay = Callable[..., Board]


def tiles(text: str) -> tuple[int, ...]:
    """Number English tiles, ``.`` played through, lower case a blank."""
    return tuple(
        PLAYED_THROUGH if c == "." else ord(c.upper()) - 64 | (BLANK_FLAG if c.islower() else 0)
        for c in text
    )


def rack(text: str) -> tuple[int, ...]:
    return tuple(sorted(0 if c == "?" else ord(c) - 64 for c in text))


ACROSS, DOWN = Direction.ACROSS, Direction.DOWN


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("8D.FARMs", Place(7, 3, ACROSS, tiles(".ARMs"))),
        ("D8.FOLK", Place(7, 3, DOWN, tiles(".OLK"))),
        ("15A.AA", Place(14, 0, ACROSS, tiles("AA"))),
        ("ex.ABC", Exchange(rack("ABC"))),
        ("ex.?Z", Exchange(rack("?Z"))),
        ("ex.3", 3),
        ("pass", PASS),
    ],
)
def test_both_ways(text: str, move: Move | int, rules: Rules, lay: Lay) -> None:
    board, alphabet = lay(("8D", "F")), rules.distribution.alphabet
    assert parse_cgp_move(text, board, alphabet, 7) == CgpMove(move)
    assert format_cgp_move(move, board, alphabet) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8d.FARM", CgpMove(Place(7, 3, ACROSS, tiles(".ARM")))),
        ("ex.AB.ABCDE?G", CgpMove(Exchange(rack("AB")), rack("ABCDE?G"))),
        ("phony.9C.XX", CgpMove(Place(8, 2, ACROSS, tiles("XX")), phony=True)),
        ("9C.XI.XI", CgpMove(Place(8, 2, ACROSS, tiles("XI")), rack("XI"))),
        ("9C.XI.XI.5", CgpMove(Place(8, 2, ACROSS, tiles("XI")), rack("XI"), False, 5)),
        ("9C.XI.XI.0.1", CgpMove(Place(8, 2, ACROSS, tiles("XI")), rack("XI"), turn_lost=True)),
        ("9C.XI..10.0", CgpMove(Place(8, 2, ACROSS, tiles("XI")), challenge_points=10)),
    ],
)
def test_what_else_is_read(text: str, expected: CgpMove, rules: Rules, lay: Lay) -> None:
    assert parse_cgp_move(text, lay(("8D", "F")), rules.distribution.alphabet, 7) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is not a move; write '8D.WORD'"),
        ("8D.", "a square without a word"),
        (".-", "is not a move"),
        ("pass.A", "is not a move"),
        ("8D.XARM", "8D holds F, not X"),
        ("8D.FARM.ABCDEFGH", "is 8 tiles; a rack holds 7"),
        ("8D.FARM.A.five", "'five' in '8D.FARM.A.five' is not a number from 0 to 999"),
        ("8D.FARM.A.5.7", "'7' in '8D.FARM.A.5.7' is not a number from 0 to 1"),
        ("Q8.AB", "is off the board"),
        ("ex.0", "is not an exchange"),
        ("ex.a", "exchange a blank as"),
        ("phony.ex.A", "is not a square"),
        ("ex.ABC." + "A" * 400, "a rack holds 7"),
    ],
)
def test_what_is_no_move(text: str, sentence: str, rules: Rules, lay: Lay) -> None:
    with pytest.raises(NotationError, match=sentence) as caught:
        parse_cgp_move(text, lay(("8D", "F")), rules.distribution.alphabet, 7)
    assert len(str(caught.value)) < 300


def test_a_rack_ends_a_list_of_moves(rules: Rules) -> None:
    alphabet = rules.distribution.alphabet
    assert parse_cgp_rack("rack.A?BB", alphabet, 7) == rack("?ABB")
    assert parse_cgp_rack("Rack.", alphabet, 7) == ()
    assert parse_cgp_rack("8D.RACK", alphabet, 7) is None
    assert parse_cgp_rack("rack", alphabet, 7) is None
    with pytest.raises(NotationError, match="a rack holds 7"):
        parse_cgp_rack("rack.ABCDEFGH", alphabet, 7)


def test_a_word_off_the_board_is_not_written(rules: Rules, lay: Lay) -> None:
    place = Place(7, 13, ACROSS, tiles("ABC"))
    with pytest.raises(NotationError, match="runs off the board"):
        format_cgp_move(place, lay(), rules.distribution.alphabet)


@pytest.mark.parametrize(
    "text",
    [
        "phony.8D.FARMs",
        "8D.FARM.AMR.5.0",
        "8D.FARM..0.1",
        "8D.FARM.AMR",
        "ex.AB.ABC",
        "ex.3",
        "pass",
    ],
)
def test_turns_with_challenges_both_ways(text: str, rules: Rules, lay: Lay) -> None:
    board, alphabet = lay(("8D", "F")), rules.distribution.alphabet
    assert format_cgp_turn(parse_cgp_move(text, board, alphabet, 7), board, alphabet) == text


def test_the_challenge_rule_both_ways(rules: Rules) -> None:
    for rule in CHALLENGE_RULES[1:]:
        ((name, text),) = challenge_operation(replace(rules, challenge=rule))
        assert (name, read_challenge(text.upper())) == ("cr", rule)
    assert challenge_operation(rules) == ()
    assert read_challenge("void") == "void"
    with pytest.raises(NotationError, match="cr 'duel' is no challenge rule; there are void,"):
        read_challenge("duel")
