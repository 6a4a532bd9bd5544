"""Moves as CGP's ``lm`` operation and then SIU write them: no spaces, parts joined by ``.``.

======================================  ==========================================================
``8D.WORDs``, ``D8.WORDs``              a placement across, down; a blank is in lower case, and a
                                        square that is played through shows the letter that it has
``ex.ABC?``, ``ex.3``                   an exchange of these tiles, of this many
``pass``                                a pass, or a turn lost by a challenge
``phony.8D.WORDs``                      a placement that was challenged off
``8D.WORDs.DORSW?X.5.1``                with the rack that it was played from, points that a
                                        challenge earned, and 1 if it cost the challenger a turn
``rack.ABCDEFG``                        no move: what the player on turn holds
======================================  ==========================================================

Format: the CGP specification's ``lm``, and SIU draft 0.2, section 2 (woogles-io/open-protocols).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.rules.moves import Exchange, Move, Pass, Place
from engine.rules.position import Board, Rack
from lexicons.alphabet import Alphabet
from lexicons.text import shown

from .cgp import read_rack
from .move_text import NotationError, format_square, parse_move, word_text

_COUNT = re.compile(r"[1-9][0-9]?")
_WHOLE = re.compile(r"[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class CgpMove:
    """A move as it was written, and what was written with it."""

    move: Move | int  # a number: that many tiles were exchanged, which is not known
    rack: Rack | None = None  # before the move, as far as is known, sorted
    phony: bool = False
    challenge_points: int = 0  # that an unsuccessful challenge has added
    turn_lost: bool = False  # whether an unsuccessful challenge has cost the challenger a turn


def format_cgp_move(move: Move | int, board: Board, alphabet: Alphabet) -> str:
    """Write a move that is to be made on ``board``; a number is an exchange of that many.

    Raises:
        NotationError: the word runs off the board, or the column has no letter.
    """
    match move:
        case int():
            return f"ex.{move}"
        case Pass():
            return "pass"
        case Exchange(tiles):
            return f"ex.{alphabet.text(tiles)}"
        case Place():
            *_, (row, column, _) = board.squares_of(move)
            if row >= board.layout.rows or column >= board.layout.columns:
                raise NotationError(f"a word of {len(move.tiles)} squares runs off the board")
            square = format_square(move.row, move.column, move.direction)
            return f"{square}.{word_text(move, board, alphabet, '{}')}"


def format_cgp_turn(turn: CgpMove, board: Board, alphabet: Alphabet) -> str:
    """Write a turn with its rack, and with the result of a challenge; a phony is without rack.

    Raises:
        NotationError: as ``format_cgp_move``.
    """
    text = format_cgp_move(turn.move, board, alphabet)
    if turn.phony:
        return f"phony.{text}"
    rack = "" if turn.rack is None else alphabet.text(turn.rack)
    if turn.challenge_points or turn.turn_lost:
        return f"{text}.{rack}.{turn.challenge_points}.{int(turn.turn_lost)}"
    return f"{text}.{rack}" if rack and not isinstance(turn.move, Pass | int) else text


def parse_cgp_move(text: str, board: Board, alphabet: Alphabet, rack_size: int) -> CgpMove:
    """Read a move to be made on ``board``; whether it is legal is not checked.

    Raises:
        NotationError: says which part of the text is wrong; ``rack.…`` is not a move either.
    """
    first, *rest = text.split(".")
    match first.lower(), rest:
        case "pass", []:
            return CgpMove(Pass())
        case "ex", [count] if _COUNT.fullmatch(count):
            return CgpMove(int(count))
        case "ex", [tiles, *racks] if tiles and len(racks) <= 1:
            exchange = parse_move(f"-{tiles}", board, alphabet)
            return CgpMove(exchange, _rack(racks, text, alphabet, rack_size))
        case "phony", [square, word]:
            return CgpMove(_placement(square, word, board, alphabet), phony=True)
        case "phony" | "ex" | "pass" | "rack", _:
            raise _no_move(text)
        case _, [word, *more] if len(more) <= 3:
            return CgpMove(
                _placement(first, word, board, alphabet),
                _rack(more[:1], text, alphabet, rack_size),
                challenge_points=_number(more[1:2], text, 999),
                turn_lost=bool(_number(more[2:3], text, 1)),
            )
    raise _no_move(text)


def parse_cgp_rack(text: str, alphabet: Alphabet, rack_size: int) -> Rack | None:
    """Read ``rack.ABCDEFG``; return None if the text does not begin with ``rack.``.

    Raises:
        NotationError: something in it is no tile, or there are too many.
    """
    first, dot, tiles = text.partition(".")
    if first.lower() != "rack" or not dot:
        return None
    return read_rack(tiles, shown(text), alphabet, rack_size)


def _placement(square: str, word: str, board: Board, alphabet: Alphabet) -> Place:
    if not word:
        raise NotationError(f"{shown(square)} is a square without a word")
    move = parse_move(f"{square} {word}", board, alphabet)
    if not isinstance(move, Place):  # ".-" is how we write a pass, and not how SIU does
        raise _no_move(f"{square}.{word}")
    return move


def _rack(texts: list[str], whole: str, alphabet: Alphabet, rack_size: int) -> Rack | None:
    if not texts or not texts[0]:
        return None
    return read_rack(texts[0], f"the rack in {shown(whole)}", alphabet, rack_size)


def _number(texts: list[str], whole: str, most: int) -> int:
    if not texts:
        return 0
    if not _WHOLE.fullmatch(texts[0]) or int(texts[0]) > most:
        raise NotationError(f"{shown(texts[0])} in {shown(whole)} is not a number from 0 to {most}")
    return int(texts[0])


def _no_move(text: str) -> NotationError:
    return NotationError(
        f"{shown(text)} is not a move; write '8D.WORD' to place, 'ex.ABC' or 'ex.3' to exchange, "
        "'pass' to pass"
    )
