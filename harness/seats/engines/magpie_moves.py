"""Moves as MAGPIE prints them, and the lines of its answers that have one.

==========================  ======================================================================
``14F ZI(N)E``, ``K5 VIV``  a placement across, down; a blank is in lower case, and what is played
                            through stands in parentheses
``(exch IUVV)``             an exchange
``pass``                    a pass
==========================  ======================================================================

An empty cell of a table leaves no trace: after an empty leave every later column is one further to
the left. So what follows a leave is read from the right. A line without a move is refused with
``NotationError``.

Source: what MAGPIE printed when it was tried, with ``-hr false -shwithmoves false``.
"""

from __future__ import annotations

import math
import re
from typing import TypeAlias

from bot.player import Considered
from engine.notation.move_text import NotationError, parse_move
from engine.rules.moves import PASS, Move
from engine.rules.position import Board
from lexicons.alphabet import Alphabet
from lexicons.text import shown

_SQUARE = r"(?:[0-9]{1,2}[A-Z]|[A-Z][0-9]{1,2})"
_MOVE = rf"pass\b|\(exch [^ )]+\)|{_SQUARE} \S+"
_REAL = r"[-+]?(?:[0-9]{1,9}(?:\.[0-9]{1,9})?|nan|inf)"

_GENERATED = re.compile(rf" *[0-9]+: +(.*?) +(-?[0-9]{{1,6}}) +({_REAL}) *")
_SIMULATED = re.compile(rf" *[0-9]+: +(.*?) +(-?[0-9]{{1,6}}) +[-X]((?: +{_REAL}){{6,}}) *")
_PREENDGAME = re.compile(
    rf" *(?:\S+ +)?[0-9]+ +({_MOVE}) +([0-9]{{1,9}}) +([0-9]{{1,9}}) +([0-9]{{1,9}}) +{_REAL} .*"
)
_ENDGAME = re.compile(rf" *({_MOVE}) +(?:([0-9]{{1,6}}) +)?(?:\([^()]*\) +)?-?[0-9]+ +-?[0-9]+.*")
_FIRST_MOVE = re.compile(_MOVE)
_EXCHANGE = re.compile(r"\(exch ([^ )]+)\)")


_Line: TypeAlias = Considered | None  # None if the line has no move, such as a heading


def parse_magpie_move(text: str, board: Board, alphabet: Alphabet) -> Move:
    """Read a move to be made on ``board``; whether it is legal is not checked.

    Raises:
        NotationError: the text is not a move, or names other tiles than the board has there.
    """
    if text == "pass":
        return PASS
    if exchange := _EXCHANGE.fullmatch(text):
        return parse_move(f"-{exchange[1]}", board, alphabet)
    if not _FIRST_MOVE.fullmatch(text):
        raise NotationError(
            f"{shown(text)} is not a move; it is '8D WO(R)D', '(exch ABC)' or 'pass'"
        )
    return parse_move(text, board, alphabet)


def parse_magpie_generated(line: str, board: Board, alphabet: Alphabet) -> _Line:
    """Read a line of ``generate``: rank, move, leave, score, equity.

    Raises:
        NotationError: it has no move that fits the board; so do the readers below.
    """
    if not (row := _GENERATED.fullmatch(line)):
        return None
    move = _leading_move(row[1], board, alphabet)
    return Considered(move, score=int(row[2]), equity=_number(row[3]))


def parse_magpie_simulated(line: str, board: Board, alphabet: Alphabet) -> _Line:
    """Read a line of ``simulate``: move, leave, score, a mark, win percentage and its error.

    Then come equity and its error, static equity, number of samples, and columns for plies.
    """
    if not (row := _SIMULATED.fullmatch(line)):
        return None
    win, win_error, equity, equity_error, _, samples, *_ = row[3].split()
    return Considered(
        _leading_move(row[1], board, alphabet),
        score=int(row[2]),
        win=_chance(win),
        win_error=_error(win_error, 100),
        equity=_number(equity),
        equity_error=_error(equity_error, 1),
        samples=int(samples) if samples.isdecimal() else None,
    )


def parse_magpie_preendgame(line: str, board: Board, alphabet: Alphabet) -> _Line:
    """Read a line of ``peg``: depth or nothing, rank, move, wins, ties, losses, percent, ….

    A move that was not looked at has neither wins, ties nor losses: ``samples`` is 0.
    """
    if not (row := _PREENDGAME.fullmatch(line)):
        return None
    wins, ties, losses = map(int, row.groups()[1:4])
    samples = wins + ties + losses
    win = (wins + ties / 2) / samples if samples else None
    return Considered(parse_magpie_move(row[1], board, alphabet), win=win, samples=samples)


def parse_magpie_endgame(line: str, board: Board, alphabet: Alphabet) -> _Line:
    """Read a line of ``endgame``: move, score, tiles left to the other, value, spread, …."""
    if not (row := _ENDGAME.fullmatch(line)):
        return None
    move = parse_magpie_move(row[1], board, alphabet)
    return Considered(move, score=None if row[2] is None else int(row[2]))


def _leading_move(text: str, board: Board, alphabet: Alphabet) -> Move:
    move = _FIRST_MOVE.match(text)
    if move is None or len(text[move.end() :].split()) > 1:
        raise NotationError(f"{shown(text)} is not a move and a leave")
    return parse_magpie_move(move[0], board, alphabet)


def _number(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _chance(text: str) -> float | None:
    percent = float(text)
    return percent / 100 if 0 <= percent <= 100 else None


def _error(text: str, unit: float) -> float | None:
    value = float(text)
    return value / unit if 0 <= value < math.inf else None
