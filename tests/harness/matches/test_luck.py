"""Luck: 0 on average whatever is played, the same for a restored game, and what it corrects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest
from match_samples import game as result
from plain.cases import LAYOUT, RULES, TILES, leaves, lexicon
from thorough import some

from engine.movegen.generator import Generator
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Move, Place
from engine.rules.position import Position
from engine.rules.rules import leave_of, used_tiles
from harness.matches.luck import DrawLuck, LuckMeter, is_known
from harness.matches.luck_correction import corrected, rows
from harness.matches.results import Luck
from lexicons.alphabet import BLANK_FLAG
from lexicons.tables import LuckWeights, luck_weights
from lexicons.win_probability import WinProbabilities

ALL = 10_000  # draws, more than any bag here gives

GAMES = some(200, 600)


@cache
def tiny(samples: int = ALL) -> LuckMeter:
    spreads = np.arange(-4_000, 4_001, dtype=np.int32)
    curve = (1 / (1 + np.exp(-spreads / 1_000))).astype(np.float32)
    chances = WinProbabilities(
        spreads, np.arange(1, 11, dtype=np.int32), np.repeat(curve[:, np.newaxis], 10, axis=1)
    )
    return LuckMeter(lexicon(), RULES, leaves(), chances, samples)


def dealt(order: tuple[int, ...]) -> Game:
    return Game.start(RULES, Bag(order, DrawStream(b"tiny")))


def shifted(number: int) -> tuple[int, ...]:
    """An order of the tiny bag, with both blanks in it."""
    return tuple(np.random.default_rng(number).permutation(TILES.all_tiles()).tolist())


def reordered(game: Game, count: int) -> Iterator[Game]:
    """Yield the game with every choice of the next ``count`` tiles."""
    order = game.bag.order
    for chosen in combinations(range(len(order)), count):
        rest = [at for at in range(len(order)) if at not in chosen]
        yield replace(
            game, bag=replace(game.bag, order=tuple(order[at] for at in (*chosen, *rest)))
        )


def drawn_after(move: Move, game: Game) -> Iterator[Game]:
    """Make a move with every possible draw; the opponent passes."""
    for other in reordered(game, len(used_tiles(move))):
        yield other.play(move, None).play(PASS, None)


def last(game: Game, seat: int = 0) -> DrawLuck:
    return [draw for draw in tiny().draws(game) if draw.seat == seat][-1]


def lettered(tiles: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(tile or 1 | BLANK_FLAG for tile in tiles)


def opening_move(game: Game, tiles: int) -> Place:
    row, column = LAYOUT.start
    return Place(row, column - 1, Direction.ACROSS, lettered(game.position.racks[0][-tiles:]))


# --- games that begin in a position ---------------------------------------------------------------


def test_from_a_position_on_draws_have_the_luck_that_they_had_in_the_whole_game() -> None:
    whole = dealt(shifted(1))
    whole = whole.play(opening_move(whole, 2), None).play(PASS, None)
    begun = Game.start(RULES, whole.bag, whole.position)
    assert begun.position == whole.position
    for seat in (0, 1):
        exchange = Exchange(whole.position.racks[seat][:2])
        whole, begun = whole.play(exchange, None), begun.play(exchange, None)
    whole, begun = whole.play(PASS, None), begun.play(PASS, None)
    assert is_known(begun)
    lucks = [(draw.seat, draw.bag, draw.points) for draw in tiny().draws(begun)]
    assert len(lucks) == 2
    assert lucks == [(draw.seat, draw.bag, draw.points) for draw in tiny().draws(whole)][-2:]


def test_what_an_opening_gives_is_no_luck() -> None:
    rack = tuple(sorted(TILES.all_tiles()[-2:]))
    opening = Position.empty(LAYOUT).with_rack(0, rack)
    order = tuple((Counter(TILES.all_tiles()) - Counter(rack)).elements())
    game = Game.start(RULES, Bag(order, DrawStream(b"tiny")), opening).play(PASS, None)
    assert is_known(game)
    assert not is_known(replace(game, opening_racks=(rack, game.opening_racks[1])))
    first, second = tiny().draws(game)
    bags = len(order) - RULES.rack_size, len(order)
    assert ((first.seat, first.bag), (second.seat, second.bag)) == ((0, bags[0]), (1, bags[1]))


# --- its mean -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("tiles", [2, 3])
@pytest.mark.parametrize("way", ["place", "exchange"])
def test_over_all_draws_from_a_bag_luck_is_nil(number: int, tiles: int, way: str) -> None:
    game = dealt(shifted(number))
    move: Move = opening_move(game, tiles)
    if way == "exchange":
        move = Exchange(game.position.racks[0][:tiles])
    draws = [last(after) for after in drawn_after(move, game)]
    assert {draw.bag for draw in draws} == {6}, "without the tiles that go back"
    for what in ("points", "wins"):
        luck = np.array([getattr(draw, what) for draw in draws])
        assert luck.mean() == pytest.approx(0, abs=1e-9)
        assert luck.std() > 0


@pytest.mark.parametrize("number", range(4))
def test_luck_is_the_worth_of_the_best_move_less_that_of_all_draws(number: int) -> None:
    game = dealt(shifted(number))
    move = opening_move(game, 3)
    kept = leave_of(game.position.racks[0], move)
    generator = Generator(lexicon(), RULES, leaves())

    def worth(position: Position, drawn: tuple[int, ...]) -> float:
        rack = tuple(sorted((*kept, *drawn)))
        best = generator.best(replace(position, racks=(rack, ())))[0]
        return max(best.equity, 0) / 1000

    after = game.play(move, None).play(PASS, None)
    every = [worth(after.position, drawn) for drawn in combinations(game.bag.order, 3)]
    own = worth(after.position, after.turns[0].drawn)
    assert last(after).points == pytest.approx(own - np.mean(every))


def test_over_all_opening_racks_luck_is_nil() -> None:
    tiles = TILES.all_tiles()
    points: dict[tuple[int, ...], float] = {}
    total, count = 0.0, 0
    for chosen in combinations(range(len(tiles)), RULES.rack_size):
        rack = tuple(sorted(tiles[at] for at in chosen))
        if rack not in points:
            others = [tile for at, tile in enumerate(tiles) if at not in chosen]
            (draw,) = tiny().draws(dealt((*rack, *others)))
            assert (draw.seat, draw.bag) == (0, len(tiles)), "the other did not come to its turn"
            points[rack] = draw.points
        total += points[rack]
        count += 1
    assert count == 1001
    assert total / count == pytest.approx(0, abs=1e-9)


def test_samples_stand_for_all_draws() -> None:
    game = next(drawn_after(opening_move(dealt(shifted(1)), 3), dealt(shifted(1))))
    found = []
    first, second = map(permutations, game.opening_racks)
    for racks in product(first, second):  # each seeds other samples
        *_, draw = tiny(4).draws(replace(game, opening_racks=racks))
        found.append((draw.points, draw.wins))
    mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
    assert (spread > 0).all()
    exact = last(game)
    assert (abs(mean - (exact.points, exact.wins)) < 4 * spread / len(found) ** 0.5).all()


@pytest.mark.parametrize("first", [3, 4])
def test_a_draw_of_all_that_is_left_has_no_luck(first: int) -> None:
    game = dealt(shifted(2))
    game = game.play(opening_move(game, first), None).play(PASS, None)
    assert [draw.bag for draw in tiny().draws(game)] == [14, 10, 6]
    above, below, last_tile = lettered(game.position.racks[0][:3])
    down = Place(0, 2, Direction.DOWN, (above, below, PLAYED_THROUGH, last_tile))
    game = game.play(down, None).play(PASS, None)
    assert not game.bag.order
    assert len(game.position.racks[0]) == 4 - (first == 4), "it got fewer than it wanted"
    assert [draw.bag for draw in tiny().draws(game)] == [14, 10, 6]


def test_over_many_games_of_unequal_players_luck_is_nil() -> None:
    generator = Generator(lexicon(), RULES, leaves())
    found, ahead, ended = [], [], Counter[str]()
    for number in range(GAMES):
        game, strong = dealt(shifted(number)), number % 2
        while game.over is None:
            # The other makes the last of the moves but the pass, often an exchange.
            ranked = generator.best(game.position, 100)
            game = game.play(ranked[0 if game.position.on_turn == strong else -1].move, None)
        luck = tiny(5).of(game)
        assert luck is not None
        sign = 1 - 2 * strong
        found.append(sign * np.array(luck.balance))
        ahead.append(sign * (game.position.scores[0] - game.position.scores[1]))
        ended[game.over.reason] += 1
    assert min(ended.values()) > GAMES // 60
    error = np.std(found, axis=0) / len(found) ** 0.5
    assert (abs(np.mean(found, axis=0)) < 3 * error).all()
    assert np.mean(ahead) > 10 * np.std(ahead) / len(ahead) ** 0.5, "one is far better"


# --- games of all kinds ---------------------------------------------------------------------------


def test_a_rack_that_is_not_known_gives_no_luck() -> None:
    game = dealt(shifted(1))
    game = game.play(opening_move(game, 3), None).play(PASS, None)
    assert is_known(game)
    assert tiny().of(None) is None
    unseen = replace(game, opening_racks=(game.opening_racks[0], ()))
    assert tiny().of(unseen) is None
    for hidden in (replace(game.turns[0], drawn=()), replace(game.turns[0], rack=())):
        assert tiny().of(replace(game, turns=(hidden, game.turns[1]))) is None


def test_a_player_that_loses_on_its_turn_had_its_draw() -> None:
    game = dealt(shifted(1))
    assert [draw.seat for draw in tiny().draws(game)] == [0]
    assert [draw.seat for draw in tiny().draws(game.play(PASS, None))] == [0, 1]


# --- results less luck ----------------------------------------------------------------------------


def test_what_is_all_luck_is_corrected_to_nil() -> None:
    spreads = [30, -50, 20, 70, -10, 40, 30, -50, 20, 70, -10, 40]
    results = [result(number, (400 + ahead, 400)) for number, ahead in enumerate(spreads)]
    # Games with an odd number are begun by side b.
    lucks = [
        Luck((ahead / 2, 0.0), (0.0, 0.0))
        if number % 2 == 0
        else Luck((1.0, 1 + ahead / 2), (0, 0))
        for number, ahead in enumerate(spreads)
    ]
    found = corrected(results, lucks, LuckWeights(points=2.0, wins=1.0))
    assert (found.games, found.unknown) == (12, 0)
    assert found.spread.plain == pytest.approx(np.mean(spreads))
    assert found.spread.corrected == pytest.approx(0)
    assert found.spread.corrected_error == pytest.approx(0)
    assert found.spread.luck == found.spread.plain
    assert found.spread.remaining == pytest.approx(0)
    assert found.win_rate.corrected == found.win_rate.plain
    assert found.win_rate.remaining == 1
    few = corrected(results[:10], lucks[:10], LuckWeights(points=2.0, wins=1.0))
    assert few.spread.corrected_error is few.spread.plain_error is few.spread.remaining is None
    assert "0.0 (as played +17.0)" in rows(few)[1][1]


def test_games_of_unknown_luck_count_as_they_ended_and_void_games_not_at_all() -> None:
    results = [result(n, (400 + 10 * n, 420)) for n in range(8)]
    results.append(result(8, (0, 0), outcome="host_error"))
    luck = Luck((6.0, 2.0), (0.1, 0.0))
    found = corrected(results, [*[luck] * 4, *[None] * 4, None], LuckWeights(1.0, 1.0))
    assert (found.games, found.unknown) == (8, 4)
    assert found.spread.corrected == pytest.approx(15)  # each side began two of the four
    assert "4 games" in dict(rows(found))["luck not known"]
    assert "–" in rows(corrected([], [], LuckWeights(1.0, 1.0)))[0][1]


def test_the_weights_that_are_shipped_are_near_one() -> None:
    assert all(0.8 < weight < 1.2 for weight in luck_weights())
