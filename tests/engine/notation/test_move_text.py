"""Move text: the canonical form, what else is read, and what is refused and why."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notation.move_text import (
    NotationError,
    format_exchange_count,
    format_full_move,
    format_move,
    format_square,
    parse_move,
    parse_square,
    parse_told,
)
from engine.rules.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Move, Place
from engine.rules.position import Board
from engine.rules.rules import Rules
from lexicons.alphabet import BLANK_FLAG, Alphabet

Lay = Callable[..., Board]
THROUGH = PLAYED_THROUGH


def letters(text: str) -> tuple[int, ...]:
    """Number English tiles, ``.`` played through."""
    return tuple(
        THROUGH if c == "." else ord(c.upper()) - 64 | (BLANK_FLAG if c.islower() else 0)
        for c in text
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8D", (7, 3, Direction.ACROSS)),
        ("D8", (7, 3, Direction.DOWN)),
        ("15O", (14, 14, Direction.ACROSS)),
        ("a1", (0, 0, Direction.DOWN)),
    ],
)
def test_squares(text: str, expected: tuple[int, int, Direction]) -> None:
    assert parse_square(text) == expected
    assert format_square(*expected) == text.upper()


@pytest.mark.parametrize("text", ["", "8", "D", "0A", "08D", "8DD", "100A", "8 D", "٨D", "8Ä"])
def test_what_is_no_square(text: str) -> None:
    with pytest.raises(NotationError, match="is not a square; write 8D"):
        parse_square(text)


def test_a_column_without_a_letter_is_not_written() -> None:
    with pytest.raises(NotationError, match="column 27 has no letter"):
        format_square(0, 26, Direction.ACROSS)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("8D WO.Ds", Place(7, 3, Direction.ACROSS, letters("WO.Ds"))),
        ("-", PASS),
        ("-?ABC", Exchange((0, 1, 2, 3))),
    ],
)
def test_canonical_text(text: str, move: Move, rules: Rules, lay: Lay) -> None:
    alphabet = rules.distribution.alphabet
    assert parse_move(text, lay(("8F", "R")), alphabet) == move
    assert format_move(move, alphabet) == text


@pytest.mark.parametrize(
    "text", ["8D WO.Ds", "8D WO(R)Ds", "8D WORDs", "8D WOrDs", "8D WO(r)Ds", " 8d  WO(.)Ds "]
)
def test_every_way_to_name_a_tile_played_through(text: str, rules: Rules, lay: Lay) -> None:
    for on_board in "Rr":
        move = parse_move(text, lay(("8F", on_board)), rules.distribution.alphabet)
        assert move == Place(7, 3, Direction.ACROSS, letters("WO.Ds"))


def test_several_tiles_in_one_pair_of_parentheses(rules: Rules, lay: Lay) -> None:
    board = lay(("8H", "C"), ("9H", "a"), ("10H", "T"))
    move = parse_move("H7 s(CAT)S", board, rules.distribution.alphabet)
    assert move == Place(6, 7, Direction.DOWN, letters("s...S"))


def test_an_exchange_is_sorted(rules: Rules, lay: Lay) -> None:
    assert parse_move("-CB?A", lay(), rules.distribution.alphabet) == Exchange((0, 1, 2, 3))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is not a move"),
        ("8D", "is not a move; write '8D WORD' to place"),
        ("x" * 500, "x'… is not a move"),
        ("16A WORD", "16A is off the board of 15 rows and 15 columns"),
        ("8M WORD", "runs off the board at its tile 4"),
        ("8F SO.E", "8F holds R, not S"),
        ("8D W.RD", "8E is empty; there is no tile to play through"),
        ("8D WO(R", r"a '\(' in 'WO\(R' is never closed"),
        ("8D WO((R))", r"'\(' at character 4 of 'WO\(\(R\)\)' has no partner"),
        ("8D W?RD", r"'\?' at character 2 of 'W\?RD' is no letter; write a blank as"),
        ("8D W0RD", "'0' at character 2 of 'W0RD' is not a tile"),
        ("8D W[CH]RD", r"'\[CH\]' at character 2 of .* is not a tile"),
        ("-3", "says how many tiles are exchanged, not which"),
        ("--", "'--' is not an exchange: '-' at character 1"),
        ("-AbC", "exchange a blank as '\\?'"),
    ],
)
def test_refusals_say_what_and_where(text: str, reason: str, rules: Rules, lay: Lay) -> None:
    with pytest.raises(NotationError, match=reason):
        parse_move(text, lay(("8F", "R")), rules.distribution.alphabet)


def test_tiles_of_several_characters(lay: Lay) -> None:
    alphabet = Alphabet(("?", "A", "CH", "L·L"), ("?", "a", "ch", "l·l"))
    board = lay(("8H", "B"))  # tile 2
    move = parse_move("8G a[CH][l·l]", board, alphabet)
    assert move == Place(7, 6, Direction.ACROSS, (1 | BLANK_FLAG, THROUGH, 3 | BLANK_FLAG))
    assert format_move(move, alphabet) == "8G a.[l·l]"
    with pytest.raises(NotationError, match=r"8H holds \[CH\], not A"):
        parse_move("8G AA", board, alphabet)


def test_moves_as_they_are_told(rules: Rules, lay: Lay) -> None:
    board, alphabet = lay(("8H", "B")), rules.distribution.alphabet

    def told(text: str) -> Move | int:
        return parse_told(text, board, alphabet)

    assert told("-3") == 3
    assert told("-99") == 99
    assert format_exchange_count(3) == "-3"
    for text in ("-", "-ABC", "8G AB"):
        assert told(text) == parse_move(text, board, alphabet)
    for text in ("3", "-0", "-100", "--3", "-\N{ARABIC-INDIC DIGIT THREE}"):
        with pytest.raises(NotationError, match="is not a"):
            told(text)


BLANKS = st.integers(1, 26).map(lambda tile: tile | BLANK_FLAG)


@st.composite
def placements(draw: st.DrawFn) -> tuple[dict[tuple[int, int], int], Place]:
    """Draw a placement, and the tiles that lie where it plays through."""
    direction = draw(st.sampled_from(Direction))
    length = draw(st.integers(1, 15))
    along, across = draw(st.integers(0, 15 - length)), draw(st.integers(0, 14))
    squares = [
        (across, along + n) if direction is Direction.ACROSS else (along + n, across)
        for n in range(length)
    ]
    tile = st.integers(1, 26) | BLANKS
    on_board = draw(st.dictionaries(st.sampled_from(squares), tile))
    tiles = tuple(THROUGH if square in on_board else draw(tile) for square in squares)
    return on_board, Place(*squares[0], direction, tiles)


@given(case=placements(), data=st.data())
def test_placements_round_trip(
    case: tuple[dict[tuple[int, int], int], Place], data: st.DataObject, rules: Rules
) -> None:
    on_board, move = case
    squares = bytearray(225)
    for (row, column), tile in on_board.items():
        squares[row * 15 + column] = tile
    board = Board(rules.layout, bytes(squares))
    alphabet = rules.distribution.alphabet
    text = format_move(move, alphabet)
    assert parse_move(text, board, alphabet) == move

    square, word = text.split()
    named = iter(
        [on_board[at] for at in sorted(on_board)]
    )  # sorted is the order of the squares, both ways
    spelled = "".join(
        data.draw(st.sampled_from([f"({name})", f"({name.swapcase()})", name, name.swapcase()]))
        if character == "." and (name := alphabet.tile_text(next(named)))
        else character
        for character in word
    )
    assert parse_move(f"{square} {spelled}", board, alphabet) == move


def test_full_moves_name_the_tiles_that_they_play_through(rules: Rules, lay: Lay) -> None:
    board, alphabet = lay(("8D", "WoRDS")), rules.distribution.alphabet
    for text, full in (
        ("H8 .EA", "H8 (S)EA"),
        ("8C S.....E", "8C S(WoRDS)E"),
        ("D7 a.E", "D7 a(W)E"),
    ):
        move = parse_move(text, board, alphabet)
        assert format_full_move(move, board, alphabet) == full
        assert parse_move(full, board, alphabet) == move
    assert format_full_move(PASS, board, alphabet) == "pass"
    assert format_full_move(Exchange((0, 1, 3)), board, alphabet) == "-?AC"
