"""Moves as text: ``8D WO.Ds``, ``-ABC?``, ``-``.

A placement is its first square and its word. Row first (``8D``) runs across, column first (``D8``)
runs down; rows count from 1 at the top, columns from A at the left. In the word an upper-case
letter is a tile placed, a lower-case one a blank that stands for that letter, a tile of several
characters stands in brackets (``[CH]``), and a square that holds a tile already is ``.``.

Input may also name the tiles played through, in parentheses (``WO(R)Ds``) or bare (``WORDs``); they
have to match the board, in upper or lower case.

An exchange is ``-`` and the tiles, blanks as ``?``; an exchange of hidden tiles is ``-`` and their
number; a pass is ``-`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engine.rules.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Move, Pass, Place
from engine.rules.position import Board
from engine.rules.rules import square_name
from lexicons.alphabet import BLANK, BLANK_FLAG, EMPTY, Alphabet
from lexicons.layout import MAX_SIDE
from lexicons.text import shown

_TOKEN = re.compile(r"\[[^\[\]]*\]|.", re.DOTALL)
_ACROSS = re.compile(r"([1-9][0-9]?)([A-Za-z])")
_DOWN = re.compile(r"([A-Za-z])([1-9][0-9]?)")
_COUNT = re.compile(r"-([1-9][0-9]?)")


class NotationError(ValueError):
    """Text that is not a move, a CGP or a GCG, or that contradicts the board.

    ``part`` of a position is ``board``, ``racks``, ``scores`` or ``rules``, empty if unknown;
    ``squares`` are those of the board that are wrong, row by row from 0.
    """

    def __init__(self, message: str, part: str = "", squares: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.part = part
        self.squares = tuple(squares)


def format_square(row: int, column: int, direction: Direction) -> str:
    """Write the first square of a word, in the form that shows its direction.

    Raises:
        NotationError: the column has no letter (more than 26).
    """
    if not 0 <= column < MAX_SIDE:
        raise NotationError(f"column {column + 1} has no letter; columns are A to Z")
    name = square_name(row, column)  # the letter last
    return f"{name[-1]}{name[:-1]}" if direction is Direction.DOWN else name


def parse_square(text: str) -> tuple[int, int, Direction]:
    """Read the first square of a word: row and column from 0, and the word's direction.

    Raises:
        NotationError: neither ``8D`` nor ``D8``.
    """
    if match := _ACROSS.fullmatch(text):
        row, column, direction = match[1], match[2], Direction.ACROSS
    elif match := _DOWN.fullmatch(text):
        row, column, direction = match[2], match[1], Direction.DOWN
    else:
        raise NotationError(
            f"{shown(text)} is not a square; write 8D for a word across, D8 for a word down"
        )
    return int(row) - 1, ord(column.upper()) - ord("A"), direction


def format_move(move: Move, alphabet: Alphabet) -> str:
    """Write a move in its canonical form."""
    match move:
        case Pass():
            return "-"
        case Exchange(tiles):
            return f"-{alphabet.text(tiles)}"
        case Place(row, column, direction, tiles):
            word = "".join(
                "." if tile == PLAYED_THROUGH else alphabet.tile_text(tile) for tile in tiles
            )
            return f"{format_square(row, column, direction)} {word}"


def format_full_move(move: Move, board: Board, alphabet: Alphabet) -> str:
    """Write a move for people: ``8D WO(R)Ds`` with the tiles played through, ``pass``."""
    match move:
        case Pass():
            return "pass"
        case Exchange():
            return format_move(move, alphabet)
        case Place():
            square = format_square(move.row, move.column, move.direction)
            letters = word_text(move, board, alphabet, "({})")
            return f"{square} {letters.replace(')(', '')}"  # one pair for neighbouring tiles


def word_text(place: Place, board: Board, alphabet: Alphabet, through: str) -> str:
    """Write a placement's word; ``through`` is the format of a tile played through."""
    return "".join(
        through.format(alphabet.tile_text(board.at(row, column)))
        if tile == PLAYED_THROUGH
        else alphabet.tile_text(tile)
        for row, column, tile in board.squares_of(place)
    )


def parse_move(text: str, board: Board, alphabet: Alphabet) -> Move:
    """Read a move to be made on ``board``; whether it is legal is not checked.

    Raises:
        NotationError: says which part of the text is wrong, and what the board holds there.
    """
    parts = text.split()
    if parts == ["-"]:
        return PASS
    if len(parts) == 1 and parts[0].startswith("-"):
        return _parse_exchange(parts[0], alphabet)
    if len(parts) != 2:
        raise NotationError(
            f"{shown(text)} is not a move; write '8D WORD' to place, '-ABC' to exchange, "
            "'-' to pass"
        )
    row, column, direction = parse_square(parts[0])
    if row >= board.layout.rows or column >= board.layout.columns:
        raise NotationError(
            f"{parts[0]} is off the board of {board.layout.rows} rows "
            f"and {board.layout.columns} columns"
        )
    step = (0, 1) if direction is Direction.ACROSS else (1, 0)
    tiles: list[int] = []
    for number, (tile, on_board) in enumerate(_read_word(parts[1], alphabet)):
        square = row + number * step[0], column + number * step[1]
        if square[0] >= board.layout.rows or square[1] >= board.layout.columns:
            raise NotationError(f"{shown(text)} runs off the board at its tile {number + 1}")
        here = board.at(*square)
        if here == EMPTY and (on_board or tile is None):
            raise NotationError(
                f"{square_name(*square)} is empty; there is no tile to play through"
            )
        if here != EMPTY and tile is not None and (tile ^ here) & ~BLANK_FLAG:
            holds, given_tile = alphabet.tile_text(here), alphabet.tile_text(tile)
            raise NotationError(f"{square_name(*square)} holds {holds}, not {given_tile}")
        tiles.append(PLAYED_THROUGH if here != EMPTY or tile is None else tile)
    return Place(row, column, direction, tuple(tiles))


def format_exchange_count(count: int) -> str:
    """Write an exchange of hidden tiles: ``-3``."""
    return f"-{count}"


def parse_told(text: str, board: Board, alphabet: Alphabet) -> Move | int:
    """Read a move as the opponent is told it; of an exchange, ``-3``, return the number of tiles.

    Raises:
        NotationError: as ``parse_move`` does.
    """
    count = _COUNT.fullmatch(text)
    return int(count[1]) if count else parse_move(text, board, alphabet)


def _parse_exchange(text: str, alphabet: Alphabet) -> Exchange:
    if _COUNT.fullmatch(text):
        raise NotationError(f"{text!r} says how many tiles are exchanged, not which; write '-ABC'")
    try:
        tiles = alphabet.tiles(text[1:])
    except ValueError as error:
        raise NotationError(f"{shown(text)} is not an exchange: {error}") from None
    if any(tile & BLANK_FLAG for tile in tiles):
        raise NotationError(
            f"{shown(text)} is not an exchange: a lower-case letter is a blank on the board; "
            "exchange a blank as '?'"
        )
    return Exchange(tuple(sorted(tiles)))


def _read_word(word: str, alphabet: Alphabet) -> Iterator[tuple[int | None, bool]]:
    """Yield each square's tile (None for ``.``) and whether it stands in parentheses."""
    inside = False
    for match in _TOKEN.finditer(word):
        token, where = match[0], f"at character {match.start() + 1} of {shown(word)}"
        if token in "()":
            if inside is (token == "("):
                raise NotationError(f"{token!r} {where} has no partner")
            inside = not inside
        elif token == ".":
            yield None, True
        else:
            try:
                yield tile_on_board(token, alphabet), inside
            except NotationError as error:
                raise NotationError(f"{shown(token)} {where} {error}") from None
    if inside:
        raise NotationError(f"a '(' in {shown(word)} is never closed")


def tile_on_board(token: str, alphabet: Alphabet) -> int:
    """Read a tile as it lies on a board.

    Raises:
        NotationError: the message goes on from the token ("is not a tile").
    """
    try:
        (tile,) = alphabet.tiles(token)
    except ValueError:
        raise NotationError("is not a tile") from None
    if tile == BLANK:
        raise NotationError(
            "is no letter; write a blank as the letter it stands for, in lower case"
        )
    return tile
