"""Boards in a terminal: what they show, and that they fit."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from engine.notation.move_text import parse_move
from engine.rules.moves import PASS, Place
from engine.rules.position import Board
from harness.cli.board_view import (
    MoveView,
    SideView,
    board_text,
    fresh_squares,
    game_view,
    print_view,
)
from harness.figures import plain_text
from lexicons.alphabet import Alphabet, load_distribution
from lexicons.layout import BoardLayout, load_layout

STANDARD = load_layout()
ENGLISH = load_distribution().alphabet
DIGRAPHS = Alphabet(("?", "A", "CH", "L·L"), ("?", "a", "ch", "l·l"))
SIDES = (SideView("static", 126, "?AEINRT", 1_451_000, on_turn=True), SideView("greedy", 98))


def played(*moves: str, layout: BoardLayout = STANDARD, alphabet: Alphabet = ENGLISH) -> Board:
    board = Board.empty(layout)
    for text in moves:
        move = parse_move(text, board, alphabet)
        assert isinstance(move, Place)
        board = board.with_move(move)
    return board


def drawn(view: object, width: int = 80, colour: bool = True) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=True,
        color_system="256" if colour else None,
        legacy_windows=False,
    )
    console.print(view)
    return out.getvalue()


def test_colour_tells_tiles_blanks_and_the_last_move_apart() -> None:
    board = played("8D WoRDS", "H8 .EA")
    text = board_text(board, ENGLISH, {(8, 7), (9, 7)})
    styles = {str(span.style) for span in text.spans if text.plain[span.start : span.end].strip()}
    of = {text.plain[span.start : span.end].strip(): str(span.style) for span in text.spans}
    assert len({of["W"], of["o"], of["="], of["-"], of["'"], of['"'], of["."]}) == 7
    assert of["W"] == of["R"] == of["D"]
    fresh = {str(span.style) for span in text.spans if 9 * 49 < span.start < 11 * 49} & styles
    assert any("on color(220)" in style for style in fresh)


@pytest.mark.parametrize("width", [80, 60, 30])
@pytest.mark.parametrize("name", ["b", "W" * 64, "字" * 40, "an [red]odd[/] name\x1b[31m"])
def test_a_view_fits_its_terminal(width: int, name: str) -> None:
    moves = [MoveView(n, name, "15A (ABCDEFG)HIJ(KLMNO)", 234) for n in range(9, 17)]
    sides = (*SIDES[:1], SideView(name, -12, "?ABCDEF", -1, on_turn=True))
    view = game_view(
        played("8D WoRDS"), ENGLISH, sides, heading=name, bag=81, moves=moves, closing=name * 2
    )
    text = drawn(view, width, colour=False)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "\x1b" not in text
    assert "WoRDS" in text.replace(" ", "")
    assert "−0:01" in text
    assert "\x1b[31mW" not in drawn(view, width)


def test_tiles_of_several_characters_fit_their_squares() -> None:
    layout = BoardLayout("small", 5, 5, (1,) * 25, (1,) * 25, (2, 2))
    board = played("3A A[CH][l·l]A", layout=layout, alphabet=DIGRAPHS)
    lines = plain_text(board_text(board, DIGRAPHS)).splitlines()
    assert lines[3].split() == ["3", "A", "CH", "l·l", "A", "."]
    assert len({cell_len(line.rstrip()) for line in lines}) == 1


def test_fresh_squares_are_those_of_placed_tiles() -> None:
    board = played("8D WORDS")
    assert fresh_squares(parse_move("H8 .EA", board, ENGLISH), board) == {(8, 7), (9, 7)}
    assert fresh_squares(PASS, board) == fresh_squares(None, board) == frozenset()


def test_printing_is_coloured_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    view = game_view(played("8D WORDS"), ENGLISH, [replace(SIDES[0], name="é")], bag=81)
    for terminal in (True, False):
        out = io.StringIO()
        print_view(view, Console(file=out, force_terminal=terminal, width=100))
        assert ("\x1b[" in out.getvalue()) is terminal
