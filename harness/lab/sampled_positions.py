"""Positions of games between static players, with all information of the player on turn.

They are ordinary positions: static players play each other with the usual luck, and somewhere in
the game another player is asked for a move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from engine.kernels.moves import PASS_MOVE
from engine.movegen.generator import Generator
from engine.movegen.move_codec import unpack
from engine.rules.moves import Move, Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules
from engine.simulation.selfplay import StaticGames, play_static_games
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

__all__ = ["Situation", "TurnTaken", "situation", "situation_in_play", "varied_situations"]

_CORNERED_EVERY = 20
_POOL = 2_000  # games, of which about 20 have such a position
_FEW_TILES = 2  # on a rack that may have one move at most


@dataclass(frozen=True)
class TurnTaken:
    """An earlier turn."""

    move: Move
    score: int
    scores: tuple[int, int]
    """Both totals after it."""
    bag: int
    """Tiles in the bag after it."""


@dataclass(frozen=True)
class Situation:
    """A position and its history."""

    position: Position
    """With the rack of the player on turn only."""
    bag: int
    turns: tuple[TurnTaken, ...]


def situation(games: StaticGames, game: int, turn: int, rules: Rules) -> Situation:
    """Return a recorded game's situation before a turn.

    Raises:
        ValueError: the games were not recorded, or this game has no such turn.
    """
    position = games.position(game, turn, rules)
    leads, bags = games.results.spreads[game].tolist(), games.results.bags[game].tolist()
    board, scores, scoreless = Board.empty(rules.layout), [0, 0], 0
    turns: list[TurnTaken] = []
    for at in range(turn):
        (move,) = unpack(games.results.moves[game, at : at + 1], board)
        score = -leads[at + 1] - leads[at]  # leads are those of the player on turn
        scores[at % 2] += score
        scoreless = 0 if isinstance(move, Place) else scoreless + 1
        board = board.with_move(move) if isinstance(move, Place) else board
        turns.append(TurnTaken(move, score, (scores[0], scores[1]), bags[at + 1]))
    known = replace(position, scores=(scores[0], scores[1]), scoreless_turns=scoreless)
    return Situation(known, bags[turn], tuple(turns))


def situation_in_play(
    lexicon: Lexicon, rules: Rules, leaves: LeaveTable, seed: int, number: int
) -> Situation:
    """Return a position with tiles in the bag, from a game of its own.

    Seed and number decide the game; each of its turns with tiles in the bag is equally likely.
    """
    for_game, for_turn = np.random.SeedSequence((seed, number)).generate_state(2).tolist()
    games = play_static_games(lexicon, rules, leaves, 1, seed=for_game, record=True)
    turns = np.flatnonzero(games.results.bags[0, : games.turns[0]] > 0)
    return situation(games, 0, int(np.random.default_rng(for_turn).choice(turns)), rules)


def varied_situations(
    lexicon: Lexicon, rules: Rules, leaves: LeaveTable, count: int, seed: int
) -> list[Situation]:
    """Return positions of any kind, each from a game of its own; each turn is equally likely.

    Every twentieth is replaced, if possible, by a position with at most one move besides the pass.
    """
    pool = max(count, _POOL)
    games = play_static_games(lexicon, rules, leaves, pool, seed=seed, record=True)
    turns = np.random.default_rng(seed).integers(games.turns[:count])
    situations = [situation(games, game, turn, rules) for game, turn in enumerate(turns.tolist())]
    cornered = _cornered(games, Generator(lexicon, rules, leaves))
    for place, other in zip(range(0, count, _CORNERED_EVERY), cornered, strict=False):
        situations[place] = other
    return situations


def _cornered(games: StaticGames, generator: Generator) -> Iterator[Situation]:
    """Yield positions with at most one move besides the pass, one per game."""
    results, rules = games.results, generator.rules
    room = np.arange(results.sizes.shape[1])
    few = (results.sizes <= _FEW_TILES) & (results.bags == 0)
    likely = (few | (results.moves == PASS_MOVE)) & (room < games.turns[:, np.newaxis])
    for game in np.flatnonzero(likely.any(axis=1)).tolist():
        at = (situation(games, game, turn, rules) for turn in np.flatnonzero(likely[game]).tolist())
        yield from islice(
            (candidate for candidate in at if len(generator.best(candidate.position, 2)) < 2), 1
        )
