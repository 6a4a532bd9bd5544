"""Whole games in kernels, against games of plain Python; rollouts leave all as it was."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from engine import selfplay
from engine.bag import Bag, DrawStream
from engine.evaluation import PLAIN
from engine.game import Game
from engine.generate import Generator
from engine.moves import Exchange
from engine.rollouts import roll_out_best
from engine.rules import standard_rules
from engine.selfplay import StaticGames, play_static_games
from engine.unpacking import unpack
from lexicons.leaves import LeaveTable, synthetic_leaves
from lexicons.store import Lexicon, load_lexicon

RULES = standard_rules()
GAMES = 120


@cache
def scowl() -> Lexicon:
    return load_lexicon("scowl")


@cache
def leaves() -> LeaveTable:
    return synthetic_leaves(RULES.distribution, 1)


def played(games: int = GAMES, **options: Any) -> StaticGames:
    return play_static_games(scowl(), RULES, leaves(), games, seed=3, record=True, **options)


@pytest.mark.parametrize("mirrored", [False, True])
def test_games_are_those_of_the_rules(mirrored: bool) -> None:
    """Racks, legality, draws and scores, up to the first exchange; most games have none."""
    games = played(mirrored=mirrored)
    orders = selfplay._deals(RULES, GAMES, 3, pairs=False).orders
    whole = 0
    for number in range(GAMES):
        order = tuple(orders[number].tolist())
        game = Game.start(RULES, Bag(order, DrawStream(b""), mirrored))
        for turn in range(int(games.turns[number])):
            position = games.position(number, turn, RULES)
            seat = game.position.on_turn
            assert position.racks[seat] == game.position.racks[seat]
            assert position.board == game.position.board
            packed = games.results.moves[number, turn : turn + 1]
            (move,) = unpack(packed, position.board)
            if isinstance(move, Exchange):
                break
            game = game.play(move, scowl().graph.contains)
        else:
            whole += 1
            assert game.over is not None
            assert game.position.scores == tuple(games.scores[number].tolist())
            bingos = [sum(t.bingo for t in game.turns if t.seat == seat) for seat in range(2)]
            assert bingos == games.bingos[number].tolist()
    assert whole > GAMES // 3


def test_threads_make_no_difference() -> None:
    one, many = played(threads=1), played(threads=3)
    for field in one.results._fields:
        assert np.array_equal(getattr(one.results, field), getattr(many.results, field)), field


def test_in_a_pair_each_seat_has_the_same_luck_and_the_players_change_places() -> None:
    games = played(pairs=True, mirrored=True)
    assert games.begins.tolist() == [0, 1] * (GAMES // 2)
    for first in range(0, GAMES, 2):
        for turn in range(2):
            racks = [games.position(first + game, turn, RULES).racks[turn] for game in range(2)]
            assert racks[0] == racks[1]
    # The same player on both sides: the second game is the first again.
    assert (games.scores[::2] == games.scores[1::2]).all()


def test_the_better_table_wins() -> None:
    """Leaves that are worth what they are not, against the table that the others play by."""
    backwards = LeaveTable(RULES.distribution, -leaves().values)
    games = played(opponent=backwards, pairs=True, mirrored=True)
    spread = games.scores[:, 0] - games.scores[:, 1]
    assert np.where(games.begins == 0, spread, -spread).mean() > 50


def test_without_adjustments_games_end_otherwise() -> None:
    assert (played(evaluation=PLAIN).scores != played().scores).any()


@pytest.mark.parametrize(("games", "threads"), [(0, 1), (1, 0)])
def test_there_is_something_to_play(games: int, threads: int) -> None:
    with pytest.raises(ValueError, match="at least one of each"):
        play_static_games(scowl(), RULES, leaves(), games, threads=threads)


def test_a_turn_that_was_not_taken_has_no_position() -> None:
    games = played(2)
    with pytest.raises(ValueError, match="there is no turn 99"):
        games.position(0, 99, RULES)


@pytest.mark.parametrize("turn", [0, 9, 17])
def test_rollouts_leave_the_position_as_it_was(turn: int) -> None:
    games = played(8)
    generator = Generator(scowl(), RULES, leaves())
    for number in range(4):
        position = games.position(number, turn, RULES)
        before = generator.everything(position)
        rolled = roll_out_best(generator, position, 4, 60, seed=5)
        assert rolled.move == before[0]
        assert generator.everything(position) == before
        again = roll_out_best(generator, position, 4, 60, seed=5)
        assert (again.spreads == rolled.spreads).all()
        assert (roll_out_best(generator, position, 4, 60, seed=6).spreads != rolled.spreads).any()


def test_without_plies_a_rollout_gains_the_score_of_the_move() -> None:
    position = played(2).position(0, 0, RULES)
    generator = Generator(scowl(), RULES, leaves())
    rolled = roll_out_best(generator, position, 0, 10)
    assert rolled.turns == 0
    assert set(rolled.spreads.tolist()) == {rolled.move.score}
    long = roll_out_best(generator, position, 200, 5)  # to the end of the game
    assert 80 < long.turns < 300
