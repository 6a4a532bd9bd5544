"""What solving endgames gains: positions played out from the moment the bag is empty.

Each position is played twice by the solver against a static player: once the solver has the seat on
turn, once the other one. Say it gains a points there as the mover and b as the second, and static
against itself gains s as the mover. In static's place the solver gains a − s more in the one seat,
and b − (−s) in the other: (a + b) / 2 a game. So what the position itself is worth falls out, and
games of static with itself need not be played.

The games are exact: both racks are known, and nothing is drawn. So what is proven has to come true:
a solver that has proven that it wins must win, and by as much as it has proven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bot.player import Budget
from bot.slicing import slices
from engine.endgame import EndgameSolver
from engine.generate import Generator
from engine.moves import Move
from engine.notation.move_text import format_move
from engine.position import Position
from protocol.channel import now_ms

from ..field import Field, ready
from ..late_positions import EMPTY_BAG, as_game, late_position
from ..significance import mean_and_error

__all__ = ["PlayedOut", "PlayingOut", "played_out", "played_out_row"]

_Decide: TypeAlias = Callable[[Position], Move]


class PlayingOut(NamedTuple):
    """What is played."""

    field: Field
    seed: int
    time_ms: int
    """Of the solver, for a turn."""
    memory: int
    """Bytes."""


@dataclass(frozen=True)
class PlayedOut:
    """What came of the positions; errors are half the width of 95 % intervals, over positions."""

    positions: int
    gain: float | None
    """Points a game that the solver gains on static play."""
    gain_error: float | None
    won: float | None
    """The share of games, draws as half; static wins half of them against itself."""
    won_error: float | None
    proven: int
    """Games, of two a position, in which the solver proved the value on its first turn."""
    won_for_sure: int
    """Games in which it proved at some time that it wins."""
    lost_nonetheless: int
    """… and yet did not win."""
    short: int
    """Games in which it came out below what it had proven."""


# --- a position -----------------------------------------------------------------------------------


def played_out(playing: PlayingOut, number: int) -> dict[str, Any]:
    """Play a position out, with the solver in the seat on turn and then in the other.

    Returns:
        What came of it as JSON can say it: for each game the moves, the final spread of the solver,
        and what it knew in each of its turns: the spread at the end, and whether that was proven.
    """
    ready()
    field = playing.field
    late = late_position(field.lexicon, field.rules, field.leaves, playing.seed, number, EMPTY_BAG)
    mover = late.position.on_turn
    scores = late.position.scores
    return {
        "number": number,
        "cgp": late.cgp(field.rules),
        "lead": scores[mover] - scores[1 - mover],
        "games": [_game(playing, late.position, seat) for seat in (mover, 1 - mover)],
    }


def _game(playing: PlayingOut, position: Position, seat: int) -> dict[str, Any]:
    """Play one game, with the solver in a seat."""
    field = playing.field
    solver, static = _Solver(playing), _static(field)
    decide: dict[int, _Decide] = {seat: solver.choose, 1 - seat: static}
    game = as_game(position, field.rules)
    while game.over is None:
        move = decide[game.position.on_turn](game.position)
        game = game.play(move, field.lexicon.graph.contains)
    scores = game.position.scores
    alphabet = field.rules.distribution.alphabet
    return {
        "spread": scores[seat] - scores[1 - seat],
        "moves": [format_move(turn.move, alphabet) for turn in game.turns],
        "known": solver.known,
    }


class _Solver:
    """Plays one game by a solver of its own."""

    def __init__(self, playing: PlayingOut) -> None:
        self._solver = EndgameSolver(
            playing.field.lexicon, playing.field.rules, memory=playing.memory
        )
        self._time_ms = playing.time_ms
        self.known: list[tuple[int, bool]] = []
        """By turn: the spread at the end of the game, and whether that is proven."""

    def choose(self, position: Position) -> Move:
        budget = Budget(now_ms() + self._time_ms)
        self._solver.begin(position)
        for _ in slices(self._solver, budget):
            pass
        found = self._solver.solution
        seat = position.on_turn
        lead = position.scores[seat] - position.scores[1 - seat]
        self.known.append((lead + found.value, found.proven))
        return found.move


def _static(field: Field) -> _Decide:
    generator = Generator(field.lexicon, field.rules, field.leaves)
    return lambda position: generator.best(position)[0].move


# --- sums -----------------------------------------------------------------------------------------


def played_out_row(records: Sequence[dict[str, Any]]) -> PlayedOut:
    """Add positions up."""
    games = [game for one in records for game in one["games"]]
    position_of = np.repeat(np.arange(len(records)), 2)
    leads = np.array([lead for one in records for lead in (one["lead"], -one["lead"])])
    spreads = np.array([game["spread"] for game in games])
    gained = (spreads - leads).astype(np.float64)
    wins = (np.sign(spreads) + 1) / 2
    proven = [[spread for spread, sure in game["known"] if sure] for game in games]
    ends = list(zip(proven, spreads.tolist(), strict=True))
    sure = [spread for known, spread in ends if known and max(known) > 0]
    return PlayedOut(
        len(records),
        *mean_and_error(gained, position_of, len(records)),
        *mean_and_error(wins, position_of, len(records)),
        proven=sum(bool(game["known"]) and game["known"][0][1] for game in games),
        won_for_sure=len(sure),
        lost_nonetheless=sum(spread <= 0 for spread in sure),
        short=sum(bool(known) and spread < max(known) for known, spread in ends),
    )
