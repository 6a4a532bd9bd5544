"""What solving endgames gains: positions played out from the moment the bag is empty.

Each position is played twice by the solver against a static player: once the solver has the seat on
turn, once the other one. Say it gains a points there as the mover and b as the second, and static
against itself gains s as the mover. In static's place the solver gains a − s more in the one seat,
and b − (−s) in the other: (a + b) / 2 a game. So what the position itself is worth falls out, and
games of static with itself need not be played.

The games are exact: both racks are known, and nothing is drawn. So what is proven has to come true:
a solver that has proven that it wins must win, and one that has proven the value must get it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bot.player import Budget
from bot.search.slices import slices
from engine.endgame import EndgameSolver
from engine.movegen.generator import Generator
from engine.notation.move_text import format_move
from engine.rules.moves import Move
from engine.rules.position import Position
from harness.lab.late_positions import EMPTY_BAG, as_game, late_position
from harness.lab.study_context import Field, ready
from harness.matches.significance import mean_and_error
from protocol.channel import now_ms

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
    with_turn: int
    """Games, of two a position, in which the solver had a turn."""
    proven: int
    """… and proved the value on its first."""
    won_for_sure: int
    """Games in which it proved at some time that it wins, if not by how much."""
    lost_nonetheless: int
    """… and yet did not win."""
    short: int
    """Games in which it came out below the value that it had proven."""


# --- a position -----------------------------------------------------------------------------------


def played_out(playing: PlayingOut, number: int) -> dict[str, Any]:
    """Play a position out, with the solver in the seat on turn and then in the other.

    Returns:
        What came of it as JSON can say it: for each game the moves, the final spread of the solver,
        and what it knew in each of its turns: the spread at the end, whether that was proven, and
        what spread it was certain of at least.
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
        self.known: list[tuple[int, bool, int | None]] = []
        """By turn: the spread at the end of the game, whether that is proven, and what is certain
        to be reached."""

    def choose(self, position: Position) -> Move:
        budget = Budget(now_ms() + self._time_ms)
        self._solver.begin(position)
        for _ in slices(self._solver, budget):
            pass
        found = self._solver.solution
        seat = position.on_turn
        lead = position.scores[seat] - position.scores[1 - seat]
        certain = None if found.floor is None else lead + found.floor
        self.known.append((lead + found.value, found.proven, certain))
        return found.to_play(lead)[0]


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
    played = [game for game in games if game["known"]]
    won = [game for game in played if any(certain > 0 for certain in _certain(game))]
    short = [game for game in played if game["spread"] < max(_proven(game), default=game["spread"])]
    return PlayedOut(
        len(records),
        *mean_and_error(gained, position_of, len(records)),
        *mean_and_error(wins, position_of, len(records)),
        with_turn=len(played),
        proven=sum(game["known"][0][1] for game in played),
        won_for_sure=len(won),
        lost_nonetheless=sum(game["spread"] <= 0 for game in won),
        short=len(short),
    )


def _proven(game: dict[str, Any]) -> list[int]:
    """Give the spreads at the end that were proven in a game."""
    return [spread for spread, proven, *_ in game["known"] if proven]


def _certain(game: dict[str, Any]) -> list[int]:
    """Give the spreads that were certain to be reached; earlier records have the proven ones."""
    if any(len(known) < 3 for known in game["known"]):
        return _proven(game)
    return [certain for *_, certain in game["known"] if certain is not None]
