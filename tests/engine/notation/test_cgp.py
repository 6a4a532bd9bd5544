"""CGP: read, written, and refused with what and where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notation.cgp import read_cgp, read_operations, read_rack, write_cgp
from engine.notation.move_text import NotationError
from engine.rules.position import Board, Position
from engine.rules.rule_sets import load_rules
from engine.rules.rules import Rules
from lexicons.alphabet import BLANK_FLAG

EMPTY_ROWS = ["15"] * 15


def cgp(
    *rows: tuple[int, str], racks: str = "/", scores: str = "0/0", zeros: str = "0", ops: str = ""
) -> str:
    """Write a CGP by hand, some of its rows (from 1) other than empty."""
    board = list(EMPTY_ROWS)
    for number, row in rows:
        board[number - 1] = row
    return f"{'/'.join(board)} {racks} {scores} {zeros} {ops}".rstrip()


def test_a_position_is_read(rules: Rules, cgp_files: Path) -> None:
    text = (cgp_files / "midgame.cgp").read_text(encoding="utf-8")
    position, alphabet = read_cgp(text, rules), rules.distribution.alphabet
    row = [position.board.at(7, column) for column in range(15)]
    assert alphabet.text(tile for tile in row if tile) == "WoRDS"
    assert row[4] & BLANK_FLAG
    assert not row[2]
    assert [alphabet.text(rack) for rack in position.racks] == ["AEGILNV", "EIMNTTX"]
    assert (position.scores, position.on_turn, position.scoreless_turns) == ((28, -7), 0, 2)
    operations = dict(read_operations(text))
    assert operations["tmr"] == "60000/1500"
    assert operations["oru"] == ""
    assert operations["my"] == "own operation"
    assert "gid" not in operations


@pytest.mark.parametrize("name", ["opening", "midgame", "full_row"])
def test_files_round_trip(name: str, rules: Rules, cgp_files: Path) -> None:
    text = (cgp_files / f"{name}.cgp").read_text(encoding="utf-8").strip()
    assert write_cgp(read_cgp(text, rules), rules, read_operations(text)) == text


def test_racks_are_sorted_and_blanks_come_first(rules: Rules) -> None:
    position = read_cgp(cgp(racks="ZA?B/"), rules)
    assert position.racks == ((0, 1, 2, 26), ())


def test_the_seat_on_turn_is_written_first(rules: Rules) -> None:
    position = Position(
        Board.empty(rules.layout), ((1, 2), (3, 4)), (10, 20), on_turn=1, scoreless_turns=1
    )
    text = write_cgp(position, rules)
    assert text.endswith(" CD/AB 20/10 1")
    back = read_cgp(text, rules)
    assert (back.racks, back.scores, back.on_turn) == (((3, 4), (1, 2)), (20, 10), 0)


def test_counts_that_the_rules_limit_are_operations(rules: Rules) -> None:
    limited = replace(rules, pass_limit=4, exchange_limit=3)
    position = Position(
        Board.empty(rules.layout), ((1, 2), ()), (0, 0), 1, 3, passes=2, exchanges=(1, 3)
    )
    text = write_cgp(position, limited, (("lex", "NWL23"),))
    assert text.endswith(" /AB 0/0 3 passes 2; exchanges 3/1; lex NWL23;")
    back = read_cgp(text, limited)
    assert back == position.swapped()
    unlimited = read_cgp(text, rules)
    assert (unlimited.passes, unlimited.exchanges) == (0, (0, 0))
    assert write_cgp(position, rules).endswith(" /AB 0/0 3")
    for wrong in ("passes many", "exchanges 3", "exchanges 1/2/3", "passes -1"):
        with pytest.raises(NotationError, match=f"operation '{wrong}': passes are a number"):
            read_cgp(cgp() + f" {wrong};", limited)


def test_tiles_of_several_characters(rules: Rules) -> None:
    distribution = rules.distribution
    alphabet = replace(
        distribution.alphabet,
        letters=("?", "CH", *distribution.alphabet.letters[2:]),
        blanked=("?", "ch", *distribution.alphabet.blanked[2:]),
    )
    spanish = replace(rules, distribution=replace(distribution, alphabet=alphabet))
    text = cgp((8, "3[CH]2[ch]B7"), racks="[CH]?/")
    position = read_cgp(text, spanish)
    assert position.board.at(7, 3) == 1
    assert position.board.at(7, 6) == 1 | BLANK_FLAG
    assert write_cgp(position, spanish) == text.replace("[CH]?/", "?[CH]/")


@pytest.mark.parametrize(
    ("language", "row", "rack", "meant"),
    [
        ("catalan", "15", "AQUESI?", "15 ?AEI[QU]S"),
        ("catalan", "1L·LANYqu10", "NU", "1[L·L]A[NY][qu]10 NU"),
        ("spanish", "7CHE5", "LLA", "7CHE5 ALL"),  # as we write tiles that are no CH, no LL
        ("spanish", "7CHE6", "LA", "7[CH]E6 AL"),  # else there are 16 squares
        ("spanish", "15", "ABCDEFRR", "15 ABCDEF[RR]"),  # else there are 8 tiles
    ],
)
def test_brackets_may_be_missing_where_one_reading_fits(
    language: str, row: str, rack: str, meant: str
) -> None:
    own = load_rules(language)
    text = write_cgp(read_cgp(cgp((1, row), racks=f"{rack}/"), own), own)
    row_read, rack_read = meant.split()
    assert text == cgp((1, row_read), racks=f"{rack_read}/")


@given(data=st.data(), language=st.sampled_from(["catalan", "spanish"]))
def test_racks_with_tiles_of_several_characters_round_trip(
    data: st.DataObject, language: str
) -> None:
    own = load_rules(language).distribution
    rack = tuple(sorted(data.draw(st.permutations(own.all_tiles()))[:7]))
    text = own.alphabet.text(rack)
    assert read_rack(text, "rack", own.alphabet, 7) == rack
    if language == "catalan":  # no part of a longer tile is a tile there, but for L, N and U
        bare = text.replace("[", "").replace("]", "")
        assert read_rack(bare, "rack", own.alphabet, 7) == rack


@pytest.mark.parametrize(
    ("row", "rack", "both"),
    [
        ("15", "CHORRILLO", r"\[CH\]O\[RR\]I\[LL\]O or CHO\[RR\]I\[LL\]O"),
        ("CHLLE11", "", r"CH\[LL\]E11 or \[CH\]LLE11"),
    ],
)
def test_text_that_can_be_read_in_two_ways_is_refused(row: str, rack: str, both: str) -> None:
    with pytest.raises(NotationError, match=both):
        read_cgp(cgp((1, row), racks=f"{rack}/"), load_rules("spanish"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is not a CGP: 0 of the 4 fields 'board racks scores zeros'"),
        (">anna: ADEORSW 8D WORDS +26 26", "board: 1 rows; the standard board has 15"),
        ("/".join(EMPTY_ROWS[1:]) + " / 0/0 0", "board: 14 rows; .* has 15"),
        (cgp((4, "16")), "board, row 4: '16' is 16 squares; a row has 15"),
        (cgp((4, "9" * 5000)), "board, row 4: .* is 1000000000 squares"),
        (cgp((4, "0A14")), "board, row 4: a run of 0 empty squares"),
        (cgp((4, "7!7")), "board, row 4, square 8: '!' is not a tile"),
        (cgp((4, "7[CH]7")), r"board, row 4, square 8: '\[CH\]' is not a tile"),
        (cgp((4, "7?7")), r"board, row 4, square 8: '\?' is no letter; write a blank as"),
        (cgp((4, "7Q7"), racks="Q/"), "hold 2 of Q; the english distribution has 1"),
        (cgp(racks="ABCDEFGH/"), "first rack: 'ABCDEFGH' is 8 tiles; a rack holds 7"),
        (cgp(racks="Ab/"), r"first rack: 'Ab' has lower case; on a rack a blank is '\?'"),
        (cgp(racks="ABC"), "racks: 'ABC' is 1 of the two racks"),
        (cgp(scores="1"), "scores: '1' is not two whole numbers"),
        (cgp(scores="1.5/2"), "scores: '1.5/2' is not"),
        (cgp(scores="1_0/2"), "scores: '1_0/2' is not"),
        (cgp(zeros="x"), "zeros: 'x' is not"),
        (cgp(zeros="lex", ops="ANY;"), "zeros: 'lex' is not"),
        (cgp(ops="lex ANY"), "operation 'lex ANY' is not closed with ';'"),
        (cgp(ops="lex ANY ld english;"), "'lex ANY ld english': a ';' is missing before 'ld'"),
        (cgp(ops="lex ANY passes 2;"), "a ';' is missing before 'passes'"),
        (cgp(ops="lex ANY;;"), "operation 2 is empty"),
    ],
)
def test_refusals_say_what_and_where(text: str, reason: str, rules: Rules) -> None:
    with pytest.raises(NotationError, match=reason):
        read_cgp(text, rules)


@pytest.mark.parametrize(
    ("text", "part", "squares"),
    [
        ("hello", "", ()),
        ("/".join(EMPTY_ROWS[1:]) + " / 0/0 0", "board", ()),
        (cgp((4, "7!7")), "board", (52,)),
        (cgp((1, "QQ13"), (15, "14Q")), "board", (0, 1, 224)),
        (cgp((4, "7Q7"), racks="Q/"), "racks", (52,)),
        (cgp((2, "abc12"), racks="/"), "board", (15, 16, 17)),
        (cgp(racks="ABCDEFGH/"), "racks", ()),
        (cgp(racks="ABC"), "racks", ()),
        (cgp(scores="1"), "scores", ()),
        (cgp(zeros="x"), "rules", ()),
        (cgp(ops="passes x;"), "rules", ()),
    ],
)
def test_a_refusal_names_the_part_and_the_squares(
    text: str, part: str, squares: tuple[int, ...], rules: Rules
) -> None:
    with pytest.raises(NotationError) as refused:
        read_cgp(text, rules)
    assert (refused.value.part, refused.value.squares) == (part, squares)


@pytest.mark.parametrize("operation", [("lex", "A;B"), ("two words", ""), ("", "x"), ("a", "b\nc")])
def test_an_operation_that_could_not_be_read_is_not_written(
    operation: tuple[str, str], rules: Rules
) -> None:
    position = read_cgp(cgp(), rules)
    with pytest.raises(NotationError, match="cannot be written"):
        write_cgp(position, rules, [operation])


def test_an_operation_that_would_be_read_as_two_is_not_written(rules: Rules) -> None:
    position = read_cgp(cgp(), rules)
    with pytest.raises(NotationError, match=r"a ';' is missing before 'ld'"):
        write_cgp(position, rules, [("lex", "NWL18 ld english")])


@st.composite
def positions(draw: st.DrawFn, rules: Rules) -> Position:
    """Draw tiles that lie anywhere, and racks from what is left."""
    bag = list(draw(st.permutations(rules.distribution.all_tiles())))
    squares = bytearray(rules.layout.rows * rules.layout.columns)
    for at in draw(st.sets(st.integers(0, len(squares) - 1), max_size=40)):
        squares[at] = bag.pop() or draw(st.integers(1, 26)) | BLANK_FLAG
    first, second = draw(st.integers(0, 7)), draw(st.integers(0, 7))
    return Position(
        Board(rules.layout, bytes(squares)),
        (tuple(sorted(bag[:first])), tuple(sorted(bag[first : first + second]))),
        (draw(st.integers(-200, 900)), draw(st.integers(-200, 900))),
        on_turn=draw(st.integers(0, 1)),
        scoreless_turns=draw(st.integers(0, 5)),
    )


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["lex", "ld", "gid", "custom"]),
        st.from_regex(r"[A-Za-z0-9./-]{1,12}", fullmatch=True),
    )
)


@given(data=st.data(), operations=OPERATIONS)
def test_positions_round_trip(
    data: st.DataObject, operations: list[tuple[str, str]], rules: Rules
) -> None:
    position = data.draw(positions(rules))
    text = write_cgp(position, rules, operations)
    first, second = position.on_turn, 1 - position.on_turn
    turned = replace(
        position,
        racks=(position.racks[first], position.racks[second]),
        scores=(position.scores[first], position.scores[second]),
        on_turn=0,
    )
    assert read_cgp(text, rules) == turned
    assert read_operations(text) == tuple(operations)
