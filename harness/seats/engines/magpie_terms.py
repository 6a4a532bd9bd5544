"""Our views in MAGPIE's terms, and its results in ours; no I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeAlias

from msgspec import structs

from bot.player import Budget, Choice, Considered, View
from engine.notation.cgp import write_cgp
from engine.notation.move_text import NotationError, format_move
from engine.rules.moves import Place
from engine.rules.position import Board, Position, Rack
from engine.rules.rules import IllegalMove, Rules, score_play
from lexicons.alphabet import BLANK, Alphabet

from .engine import difference
from .magpie_moves import (
    parse_magpie_endgame,
    parse_magpie_generated,
    parse_magpie_preendgame,
    parse_magpie_simulated,
)

LEAST_SAMPLES = 20
"""Fewest samples of the leading move; a mean of fewer says less than its static equity."""

SAMPLE_RACKS = 8

Reader: TypeAlias = Callable[[Sequence[str], View], list[Considered]]
"""Reads the moves of an answer, the best first; none if no result counts."""

_STAGE = re.compile(r" *0 +greedy +([0-9]{1,9})/([0-9]{1,9}) .*")


class Unreadable(Exception):
    """A line lacks its move; the text is the line."""


class Turn:
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
                raise Unreadable(line.strip()) from None
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
