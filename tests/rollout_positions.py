"""Positions to roll out from: of static games, by how many tiles are in the bag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from engine.inference.leave_prior import LeavePrior
from engine.movegen.generator import Generator, RankedMove
from engine.rules.moves import PASS, Exchange
from engine.rules.position import Position, Rack, with_seat
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import StaticGames, play_static_games
from lexicons.alphabet import BLANK
from lexicons.leaves import LeaveTable, synthetic_leaves
from lexicons.store import Lexicon, load_lexicon
from lexicons.win_probability import WinProbabilities

RULES = standard_rules()
GAMES = 120


@cache
def scowl() -> Lexicon:
    return load_lexicon("scowl")


@cache
def leaves() -> LeaveTable:
    return synthetic_leaves(RULES.distribution, 1)


@cache
def win_table() -> WinProbabilities:
    """Smaller than what is looked up, and without any order: a wrong cell is a wrong number."""
    chance = np.random.default_rng(5)
    values = chance.random((81, 60), np.float32)
    return WinProbabilities(
        np.arange(-30, 51, dtype=np.int32), np.arange(3, 63, dtype=np.int32), values
    )


def generator() -> Generator:
    return Generator(scowl(), RULES, leaves())


@cache
def _games() -> StaticGames:
    return play_static_games(scowl(), RULES, leaves(), GAMES, seed=3, record=True)


def position_of(game: int, turn: int, *, both: bool = False) -> Position:
    """Give a position of a game with its scores; with ``both`` the opponent's rack too."""
    games = _games()
    position = games.position(game, turn, RULES)
    seat = turn % 2
    behind = with_seat((0, 0), 1 - seat, -int(games.results.spreads[game, turn]))
    position = replace(position, scores=behind)
    if not both:
        return position
    size = int(games.results.sizes[game, turn + 1])
    return position.with_rack(1 - seat, tuple(games.results.racks[game, turn + 1, :size].tolist()))


def late_position(
    bag: int, *, both: bool = False, blanks: int = 0, held: int | None = None
) -> Position:
    """Give the first with so many tiles in the bag, such a number on the opponent's rack if one is
    asked for, and at least so many blanks on the mover's.
    """
    results = _games().results
    for game, turns in enumerate(results.turns.tolist()):
        for turn in range(turns - 1):
            rack = results.racks[game, turn, : results.sizes[game, turn]].tolist()
            fits = held is None or results.sizes[game, turn + 1] == held
            if fits and results.bags[game, turn] == bag and rack.count(BLANK) >= blanks:
                return position_of(game, turn, both=both)
    raise LookupError(f"no position with {bag} tiles in the bag")


def candidates(position: Position, count: int = 4) -> list[RankedMove]:
    """Give the best moves, one from further down, an exchange if there is one, and the pass."""
    ranked = generator().everything(position)
    chosen = ranked[:count] + ranked[len(ranked) // 3 : len(ranked) // 3 + 1]
    chosen += [one for one in ranked if isinstance(one.move, Exchange)][:1]
    chosen += [one for one in ranked if one.move == PASS]
    return list({one.move: one for one in chosen}.values())


def leave_prior(leaves: Sequence[Rack], weights: Sequence[float], doubt: float = 0.0) -> LeavePrior:
    """What the opponent may have kept: leaves of one size with their weights."""
    return LeavePrior(np.sort(np.array(leaves, np.uint8), axis=1), np.array(weights), doubt)
