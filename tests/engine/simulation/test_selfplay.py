"""Whole games in kernels, against games of plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rollout_positions import leaves, scowl
from small_games import lexicon_of

from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator
from engine.movegen.move_codec import unpack
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import Exchange
from engine.rules.position import bag_count
from engine.rules.rules import standard_rules
from engine.simulation import selfplay
from engine.simulation.selfplay import Forced, StaticGames, play_static_games
from lexicons.leaves import LeaveTable

RULES = standard_rules()
GAMES = 120


def played(games: int = GAMES, **options: Any) -> StaticGames:
    return play_static_games(scowl(), RULES, leaves(), games, seed=3, record=True, **options)


@pytest.mark.parametrize("mirrored", [False, True])
def test_games_are_those_of_the_rules(mirrored: bool) -> None:
    """Racks, legality, draws and scores, up to the first exchange; most games have none."""
    games = played(mirrored=mirrored)
    orders = selfplay.deals_of(RULES, GAMES, 3, pairs=False).orders
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


def forced_leave(letters: str, turn: int, games: int = GAMES) -> Forced:
    """Force one leave on one turn of every game."""
    number = {text: tile for tile, text in enumerate(RULES.distribution.alphabet.letters)}
    given, sizes = np.zeros((games, turn + 1, 7), np.uint8), np.zeros((games, turn + 1), np.uint8)
    given[:, turn, : len(letters)] = sorted(number.get(letter, 0) for letter in letters)
    sizes[:, turn] = len(letters)
    return Forced(given, sizes)


@pytest.mark.parametrize("turn", [0, 1, 4])
def test_a_forced_leave_is_on_the_rack_unless_its_tiles_are_gone(turn: int) -> None:
    games = played(forced=forced_leave("QJXZ??", turn))
    free = played()
    wanted = sorted(RULES.distribution.alphabet.letters.index(letter) for letter in "QJXZ")
    given = 0
    for number in range(GAMES):
        rack = games.results.racks[number, turn].tolist()
        assert rack == sorted(rack)
        has_it = rack.count(0) == 2 and all(tile in rack for tile in wanted)
        given += has_it
        for before in range(turn):  # nothing is different until then
            assert (games.results.racks[number, before] == free.results.racks[number, before]).all()
        if not has_it:
            assert (rack == free.results.racks[number, turn]).all()
    assert given > GAMES // (3 if turn < 2 else 60)
    assert given < GAMES or turn == 0


def test_forced_racks_are_filled_up_by_chance() -> None:
    """The seventh tile, after six: each of those left as often as the others."""
    games = play_static_games(
        lexicon_of([], RULES),  # the first racks are all that counts: short games
        RULES,
        leaves(),
        4_000,
        seed=9,
        record=True,
        forced=forced_leave("VVWWYY", 0, 4_000),
    )
    racks = games.results.racks[:, 0]
    full = [rack for rack in racks.tolist() if all(rack.count(t) >= 2 for t in (22, 23, 25))]
    assert len(full) > 2_000
    last = np.zeros(27)
    for rack in full:
        rest = list(rack)
        for tile in (22, 22, 23, 23, 25, 25):
            rest.remove(tile)
        last[rest[0]] += 1
    left = np.array(RULES.distribution.counts, float)
    left[[22, 23, 25]] -= 2
    expected = left / left.sum() * len(full)
    assert (np.abs(last - expected) <= 5 * np.sqrt(expected) + 1e-9).all()


def test_forced_leaves_are_of_as_many_games() -> None:
    with pytest.raises(ValueError, match="forced leaves of 3 games for 120 games"):
        played(forced=forced_leave("QU", 0, 3))


def test_what_was_chosen_is_recorded() -> None:
    """Equity is score, leave and adjustments; the spread and the bag are those before the turn."""
    games = played(evaluation=PLAIN)
    results = games.results
    generator = Generator(scowl(), RULES, leaves(), PLAIN)
    for number in range(6):
        ahead = [0, 0]
        for turn in range(int(games.turns[number]) - 1):
            position = games.position(number, turn, RULES)
            (best,) = generator.best(position)
            seat = turn % 2
            assert results.equities[number, turn] == best.equity
            assert results.spreads[number, turn] == ahead[seat] - ahead[1 - seat]
            assert results.bags[number, turn] == bag_count(position, RULES)
            if len(best.leave) < 7:
                assert results.leaves[number, turn] == leaves().values[leaves().place(best.leave)]
            ahead[seat] += best.score


@pytest.mark.parametrize("threads", [1, 2])
def test_each_player_keeps_its_evaluation(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every move is the best by its player's leaves and adjustments, call after call."""
    monkeypatch.setattr(selfplay, "_GAMES_A_CALL", 2)
    games = played(
        60,
        threads=threads,
        pairs=True,
        opponent=LeaveTable.zero(RULES.distribution),
        opponent_evaluation=PLAIN,
    )
    generators = Generator(scowl(), RULES, leaves()), Generator(scowl(), RULES, None, PLAIN)
    for number, begins in enumerate(games.begins.tolist()):
        for turn in range(int(games.turns[number])):
            position = games.position(number, turn, RULES)
            (best,) = generators[begins ^ turn % 2].best(position)
            packed = games.results.moves[number, turn : turn + 1]
            assert list(unpack(packed, position.board)) == [best.move]
            assert games.results.equities[number, turn] == best.equity


def test_in_a_pair_each_seat_has_the_same_luck_and_the_players_change_places() -> None:
    games = played(pairs=True, mirrored=True)
    assert games.begins.tolist() == [0, 1] * (GAMES // 2)
    for first in range(0, GAMES, 2):
        for turn in range(2):
            racks = [games.position(first + game, turn, RULES).racks[turn] for game in range(2)]
            assert racks[0] == racks[1]
    # The same player on both sides: the second game is the first again.
    assert (games.scores[::2] == games.scores[1::2]).all()


@pytest.mark.parametrize(("games", "threads"), [(0, 1), (1, 0)])
def test_there_is_something_to_play(games: int, threads: int) -> None:
    with pytest.raises(ValueError, match="at least one of each"):
        play_static_games(scowl(), RULES, leaves(), games, threads=threads)


def test_a_turn_that_was_not_taken_has_no_position() -> None:
    games = played(2)
    with pytest.raises(ValueError, match="there is no turn 99"):
        games.position(0, 99, RULES)
