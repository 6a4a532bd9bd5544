"""Positions of games between static players, most with all that the player on turn knows.

Seed and number decide a position's game, so that each can be made alone, in any process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from bot.player import Observed
from engine.kernels.moves import PASS_MOVE
from engine.movegen.generator import Generator
from engine.movegen.move_codec import unpack
from engine.rules.position import Position, unseen
from engine.rules.rules import Rules
from engine.simulation.selfplay import StaticGames, play_static_games
from lexicons.alphabet import as_tiles
from lexicons.leaves import RACK_SIZE

from .study_context import Field

_CORNERED_EVERY = 20
_POOL = 2_000  # games, of which about 20 have such a position
_FEW_TILES = 2  # on a rack that may have one move at most
_MOST_GAMES = 10_000


def recorded_games(field: Field, games: int, seed: int) -> StaticGames:
    """Play games between two static players with the same leave table; record all turns."""
    return play_static_games(
        field.lexicon, field.rules, field.leaves, games, seed=seed, record=True
    )


@dataclass(frozen=True)
class Situation:
    """A position and its history."""

    position: Position
    """With the rack of the player on turn only."""
    bag: int
    turns: tuple[Observed, ...]
    """With the tiles that were exchanged."""


def situation(games: StaticGames, game: int, turn: int, rules: Rules) -> Situation:
    """Return a recorded game's situation before a turn.

    Raises:
        ValueError: the games were not recorded, or this game has no such turn.
    """
    position = games.position(game, turn, rules)
    leads, bags = games.results.spreads[game].tolist(), games.results.bags[game].tolist()
    played = Position.empty(rules.layout)
    turns: list[Observed] = []
    for index in range(turn):
        (move,) = unpack(games.results.moves[game, index : index + 1], played.board)
        score = -leads[index + 1] - leads[index]  # leads are those of the player on turn
        played = played.after(move, score, (), rules)
        seen = Observed(
            index + 1, index % 2, move, score, played.scores, bags[index + 1], think_ms=0
        )
        turns.append(seen)
    return Situation(replace(played, racks=position.racks), bags[turn], tuple(turns))


def situation_in_play(field: Field, seed: int, number: int, bags: range | None = None) -> Situation:
    """Return a position with tiles in the bag: a number in ``bags``, or any.

    A game is drawn, then one of its turns with a bag, until the number fits. So games with more
    such turns count more, and a turn of a long game counts less than one of a short game.

    Raises:
        ValueError: none of the turns drawn from 10,000 games fits.
    """
    for attempt in range(_MOST_GAMES):
        seed_key = (seed, number, attempt) if attempt else (seed, number)
        for_game, for_turn = np.random.SeedSequence(seed_key).generate_state(2).tolist()
        games = recorded_games(field, 1, for_game)
        turns = np.flatnonzero(games.results.bags[0, : games.turns[0]] > 0)
        turn = int(np.random.default_rng(for_turn).choice(turns))
        if bags is None or games.results.bags[0, turn] in bags:
            return situation(games, 0, turn, field.rules)
    assert bags is not None  # any turn would have done
    raise ValueError(f"no game of {_MOST_GAMES:,} has {bags.start} to {bags.stop - 1} in the bag")


def varied_situations(field: Field, count: int, seed: int) -> list[Situation]:
    """Return positions of any kind, each from a game of its own, whose turns are equally likely.

    Every twentieth is replaced, if possible, by a position with at most one move besides the pass.
    """
    games, rules = recorded_games(field, max(count, _POOL), seed), field.rules
    turns = np.random.default_rng(seed).integers(games.turns[:count])
    situations = [situation(games, game, turn, rules) for game, turn in enumerate(turns.tolist())]
    cornered = _cornered(games, field.generator())
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
        sampled = (
            situation(games, game, turn, rules) for turn in np.flatnonzero(likely[game]).tolist()
        )
        yield from islice(
            (candidate for candidate in sampled if len(generator.best(candidate.position, 2)) < 2),
            1,
        )


def endgame_position(field: Field, seed: int, number: int, most_held: int = RACK_SIZE) -> Position:
    """Return a game's first position with an empty bag and few tiles, with both racks.

    Each rack has at most ``most_held`` tiles. Games without such a position are skipped.

    Raises:
        ValueError: none of 10,000 games has one.
    """
    for attempt in range(_MOST_GAMES):
        state = np.random.SeedSequence((seed, number, attempt)).generate_state(2)
        games = recorded_games(field, 1, int(state[0]))
        for turn in np.flatnonzero(games.results.bags[0, : games.turns[0]] == 0).tolist():
            position = situation(games, 0, turn, field.rules).position
            other = as_tiles(unseen(position, position.on_turn, field.rules))
            own = position.racks[position.on_turn]
            if max(len(own), len(other)) <= most_held:
                return position.with_rack(1 - position.on_turn, other)
    raise ValueError(
        f"no game of {_MOST_GAMES:,} comes to {most_held} tiles at most on each rack and none in "
        "the bag"
    )
