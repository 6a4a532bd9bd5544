"""Our views in MAGPIE's terms, and its results in ours; no I/O.

MAGPIE prints moves so:

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeAlias

from msgspec import structs

from bot.player import Budget, Choice, Considered, View
from engine.notation.cgp import write_cgp
from engine.notation.move_text import NotationError, format_move, parse_move
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Board, Position, Rack
from engine.rules.rules import IllegalMove, Rules, score_play
from lexicons.alphabet import BLANK, Alphabet
from lexicons.text import shown

from .engine import difference

LEAST_SAMPLES = 20
"""Fewest samples of the leading move; a mean of fewer says less than its static equity."""

SAMPLE_RACKS = 8

Reader: TypeAlias = Callable[[Sequence[str], View], list[Considered]]
"""Reads the moves of an answer, the best first; none if no result counts."""

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
_STAGE = re.compile(r" *0 +greedy +([0-9]{1,9})/([0-9]{1,9}) .*")


class MoveMissing(Exception):
    """A line lacks its move; the text is the line."""


class MagpieTurn:
    """A turn, and its results so far."""

    def __init__(self, view: View, budget: Budget, listed: list[Considered]) -> None:
        self.view = view
        self.budget = budget
        self._listed = listed
        self._found: list[Considered] = []
        self._by = ["generate"]

    def found(self, moves: list[Considered], by: str) -> None:
        """Take the moves of a search, ahead of earlier results."""
        self._found, self._by = moves, [by]

    def note(self, text: str) -> None:
        """Add a remark for the record."""
        self._by.append(text)

    def answer(self) -> Choice:
        """Return the best move that was not refused in this turn."""
        refused = self.view.refused_moves
        scores = {listed.move: listed.score for listed in self._listed}
        moves = [
            structs.replace(each, score=scores.get(each.move)) if each.score is None else each
            for each in (*self._found, *self._listed)
        ]
        best = next((each for each in moves if each.move not in refused), moves[0])
        candidates = tuple(moves[: len(self._found) or None])
        return Choice(best.move, best.score, text="; ".join(self._by), candidates=candidates)


def position_cgp(view: View) -> str:
    """Write a position as CGP; with an empty bag the opponent holds the unseen tiles.

    MAGPIE takes no operations: passes in a row and exchanges, where the rules count them, are left
    out.
    """
    position = replace(view.position, passes=0, exchanges=(0, 0))
    if not view.bag:
        rest = view.unseen_tiles
        racks = (view.rack, rest) if view.seat == 0 else (rest, view.rack)
        position = replace(position, racks=racks)
    return write_cgp(position, view.rules)


def opening(rack: Rack, rules: Rules) -> str:
    """Return the CGP of the first turn of a game."""
    return write_cgp(Position(Board.empty(rules.layout), (rack, ()), (0, 0)), rules)


def generated(said: Sequence[str], view: View) -> list[Considered]:
    """Read what ``generate`` lists."""
    return _moves(said, view.position.board, view.rules, parse_magpie_generated)


def simulated(said: Sequence[str], view: View) -> list[Considered]:
    """Read a simulation's moves, if sampled often enough."""
    moves = _moves(said, view.position.board, view.rules, parse_magpie_simulated)
    return moves if moves and (moves[0].samples or 0) >= LEAST_SAMPLES else []


def preendgame(said: Sequence[str], view: View) -> list[Considered]:
    """Read the pre-endgame solver's moves if it has looked at all; before, it misranks them."""
    stages = filter(None, map(_STAGE.fullmatch, said))
    if not any(stage[1] == stage[2] for stage in stages):
        return []
    moves = _moves(said, view.position.board, view.rules, parse_magpie_preendgame)
    return [move for move in moves if move.samples]


def endgame(said: Sequence[str], view: View) -> list[Considered]:
    """Read the endgame solver's move."""
    return _moves(said, view.position.board, view.rules, parse_magpie_endgame)


def _moves(
    said: Iterable[str],
    board: Board,
    rules: Rules,
    parse: Callable[[str, Board, Alphabet], Considered | None],
) -> list[Considered]:
    moves: list[Considered] = []
    for line in said:
        try:
            move = parse(line, board, rules.distribution.alphabet)
        except NotationError:
            if not moves:
                raise MoveMissing(line.strip()) from None
            break
        if move is not None:
            moves.append(move)
    return moves


def sample_racks(rules: Rules) -> list[Rack]:
    """Choose fixed racks of different letters, the commoner letters more often."""
    chance = Random(1)
    tiles = [tile for tile in rules.distribution.all_tiles() if tile != BLANK]
    racks = []
    for _ in range(SAMPLE_RACKS):
        chance.shuffle(tiles)
        racks.append(tuple(sorted(list(dict.fromkeys(tiles))[: rules.rack_size])))
    return racks


def words_differ(said: Sequence[str], ours: frozenset[str], rules: Rules) -> str:
    """Compare the words of first moves with ours; return the difference, or nothing."""
    text = rules.distribution.alphabet.text
    theirs = {text(place.tiles) for place, _ in _first(said, rules)}
    return "" if theirs == ours else difference(ours, theirs)


def scores_differ(said: Sequence[str], rules: Rules) -> str:
    """Compare the scores of first moves with ours; return the difference, or nothing."""
    for place, score in _first(said, rules):
        text = format_move(place, rules.distribution.alphabet)
        try:
            right = score_play(Board.empty(rules.layout), place, rules).score
        except IllegalMove as error:
            return f"{text} can't be played first: {error}"
        if score != right:
            return f"{text} scores {score}; it scores {right}"
    return ""


def _first(said: Sequence[str], rules: Rules) -> list[tuple[Place, int | None]]:
    """Read the placements listed by ``generate`` on an empty board, one for each word."""
    places: dict[Rack, tuple[Place, int | None]] = {}
    for listed in _moves(said, Board.empty(rules.layout), rules, parse_magpie_generated):
        if isinstance(listed.move, Place):
            places.setdefault(listed.move.tiles, (listed.move, listed.score))
    return list(places.values())


# --- a line ---------------------------------------------------------------------------------------


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
        raise NotationError(f"{shown(text)} is no move such as '8D WO(R)D', '(exch ABC)', 'pass'")
    return parse_move(text, board, alphabet)


def parse_magpie_generated(line: str, board: Board, alphabet: Alphabet) -> Considered | None:
    """Read a line of ``generate``: rank, move, leave, score, equity.

    Raises:
        NotationError: it has no move that fits the board; so do the readers below.
    """
    if not (row := _GENERATED.fullmatch(line)):
        return None
    move = _leading_move(row[1], board, alphabet)
    return Considered(move, score=int(row[2]), equity=_number(row[3]))


def parse_magpie_simulated(line: str, board: Board, alphabet: Alphabet) -> Considered | None:
    """Read a line of ``simulate``: move, leave, score, a mark, win percentage and its error.

    Then come equity and its error, static equity, number of samples, and columns for plies.
    """
    if not (row := _SIMULATED.fullmatch(line)):
        return None
    win, win_error, equity, equity_error, _, samples, *_ = row[3].split()
    return Considered(
        _leading_move(row[1], board, alphabet),
        score=int(row[2]),
        win=_number(win, 100, 0, 100),
        win_error=_number(win_error, 100, 0),
        equity=_number(equity),
        equity_error=_number(equity_error, 1, 0),
        samples=int(samples) if samples.isdecimal() else None,
    )


def parse_magpie_preendgame(line: str, board: Board, alphabet: Alphabet) -> Considered | None:
    """Read a line of ``peg``: depth or nothing, rank, move, wins, ties, losses, percent, ….

    A move that was not looked at has neither wins, ties nor losses: ``samples`` is 0.
    """
    if not (row := _PREENDGAME.fullmatch(line)):
        return None
    wins, ties, losses = map(int, row.groups()[1:4])
    samples = wins + ties + losses
    win = (wins + ties / 2) / samples if samples else None
    return Considered(parse_magpie_move(row[1], board, alphabet), win=win, samples=samples)


def parse_magpie_endgame(line: str, board: Board, alphabet: Alphabet) -> Considered | None:
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


def _number(
    text: str, unit: float = 1, least: float = -math.inf, most: float = math.inf
) -> float | None:
    value = float(text)
    return value / unit if math.isfinite(value) and least <= value <= most else None
