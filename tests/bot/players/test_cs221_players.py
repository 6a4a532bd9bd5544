"""``vanilla``, ``rh``, ``mc`` and ``mc+rh``: what they choose by, and that kernels play alike."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lexicon_parts import without_words
from rollout_positions import RULES, scowl
from search_views import Clock, opening, view_at

from bot.player import Budget, Choice, Player, Refusal, View
from bot.players.cs221 import CS221, mc, mc_rh, rh, vanilla
from bot.players.static import GreedyPlayer
from bot.registry import SeatError, create_player
from bot.seat_text import parse_seat
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator, legal_moves
from engine.movegen.move_codec import unpack
from engine.rules.moves import PASS, Exchange, Place
from engine.simulation.selfplay import play_static_games
from lexicons.alphabet import Alphabet
from lexicons.leaves import LeaveTable
from lexicons.rack_features import (
    RackWeights,
    leave_table,
    shipped_rack_weights,
    write_rack_weights,
)


def choice_of(player: Player, view: View) -> Choice:
    return player.choose(view, Budget(10**15))


def test_vanilla_takes_the_first_of_the_highest_score() -> None:
    """``legal_moves`` lists by score and then in the order of packed moves."""
    for rack in ("AEINRTS", "?VVOGII", "QUEENLY", "VVCGCGQ"):
        view = view_at(opening(rack))
        first = legal_moves(view.position, view.lexicon, view.rules)[0]
        choice = choice_of(vanilla(), view)
        assert (choice.move, choice.score) == (first.move, first.score)
        assert choice.score == choice_of(GreedyPlayer(), view).score


def test_rh_weighs_score_and_features(tmp_path: Path) -> None:
    letters = RULES.distribution.alphabet.letters
    loves_q = dict.fromkeys(letters, 0.0) | {"Q": 300.0}
    path = tmp_path / "rack.json"
    write_rack_weights(path, RackWeights(letters, (*loves_q.values(), 0.0, 0.0, 0.0, 0.0)))
    view = view_at(opening("QUEENLY"))
    player = create_player(parse_seat(f"rh?weights={path}"))
    player.warm_up(view.lexicon, view.rules)
    choice = choice_of(player, view)
    assert isinstance(choice.move, Place)
    assert 17 not in choice.move.tiles
    assert choice.equity == (choice.score or 0) + 300
    given = replace(view, leaves=LeaveTable.zero(RULES.distribution))
    assert choice_of(player, given) == choice, "a leave table makes no difference"


@pytest.mark.parametrize("name", ["vanilla", "rh"])
def test_kernels_play_as_the_players_do(name: str) -> None:
    """The experiments play whole games in kernels with the same table and no adjustment."""
    table = leave_table(shipped_rack_weights(), RULES.distribution) if name == "rh" else None
    games = play_static_games(scowl(), RULES, table, 8, seed=2, record=True, evaluation=PLAIN)
    player = create_player(parse_seat(name))
    view = view_at(opening(""))
    chance = random.Random(1)
    for game in range(8):
        for turn in chance.sample(range(int(games.turns[game])), 6):
            position = games.position(game, turn, RULES)
            (move,) = unpack(games.results.moves[game, turn : turn + 1], position.board)
            now = replace(view, seat=position.on_turn, position=position)
            assert choice_of(player, now).move == move


def test_weights_that_can_not_be_used_are_refused_before_the_game(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    for path, says in (("/nowhere/x.json", "'/nowhere/x.json'"), (tmp_path / "x.json", "x.json:")):
        for name in ("rh", "mc+rh"):
            with pytest.raises(SeatError, match=re.escape(says)):
                create_player(parse_seat(f"{name}?weights={path}"))
    other = Alphabet(("?", "A", "B"), ("?", "a", "b"))
    distribution = replace(
        RULES.distribution, alphabet=other, counts=(1, 5, 5), points=(0, 1, 2), vowels=(False,) * 3
    )
    with pytest.raises(ValueError, match="other letters"):
        rh().warm_up(scowl(), replace(RULES, distribution=distribution))


# --- sampling -------------------------------------------------------------------------------------


def late_view() -> View:
    """The bag is empty, and both have tiles."""
    games = play_static_games(scowl(), RULES, None, 8, seed=5, record=True)
    found = games.results
    game, turn = np.argwhere((found.bags == 0) & (found.sizes == 7))[0].tolist()
    position = games.position(game, turn, RULES)
    view = view_at(opening(""))
    return replace(view, seat=position.on_turn, position=position, bag=0)


def test_the_first_three_by_score_are_sampled_fifteen_times() -> None:
    view = view_at(opening("AEINRTS"))
    choice = choice_of(mc(), view)
    first = legal_moves(view.position, view.lexicon, view.rules)[: CS221.candidates]
    assert {one.move for one in choice.candidates} == {one.move for one in first}
    assert [one.samples for one in choice.candidates] == [CS221.samples] * CS221.candidates
    best = choice.candidates[0]
    assert (choice.move, choice.score) == (best.move, best.score)
    equities = [one.equity for one in choice.candidates if one.equity is not None]
    assert equities == sorted(equities, reverse=True)
    assert choice.equity == equities[0]
    assert all(one.win is None and one.equity_error for one in choice.candidates)


def test_mc_rh_picks_by_score_and_features() -> None:
    view = view_at(opening("?VVOGII"))
    table = leave_table(shipped_rack_weights("mc+rh"), RULES.distribution)
    best = Generator(view.lexicon, view.rules, table, PLAIN).best(view.position, 3)
    player = mc_rh()
    player.warm_up(view.lexicon, view.rules)
    choice = choice_of(player, view)
    assert {one.move for one in choice.candidates} == {one.move for one in best}
    by_score = choice_of(mc(), view)
    assert {one.move for one in by_score.candidates} != {one.move for one in best}


def test_what_is_not_known_makes_no_difference() -> None:
    """Neither how many threads sample nor how often a turn is asked; the seed of the game does."""
    view = view_at(opening("AEINRTS"))
    player = create_player(parse_seat("mc?samples=40&candidates=8&plies=3"))
    choice = choice_of(player, view)
    assert [one.samples for one in choice.candidates] == [40] * 8
    assert choice_of(player, view) == choice
    assert choice_of(player, replace(view, threads=2)) == choice
    other = choice_of(player, replace(view, seed=2))
    assert other.candidates != choice.candidates


@pytest.mark.parametrize("make", [mc, mc_rh])
def test_an_empty_bag_or_a_single_move_leaves_nothing_to_chance(make: Callable[[], Player]) -> None:
    view = late_view()
    choice = choice_of(make(), view)
    assert [(one.samples, one.equity_error) for one in choice.candidates] == [(1, None)] * 3
    assert choice.move in {one.move for one in legal_moves(view.position, view.lexicon, view.rules)}
    wordless = without_words(RULES.distribution)
    choice = choice_of(make(), replace(view, lexicon=wordless))
    assert (choice.move, choice.candidates) == (PASS, ())
    exchanging = view_at(opening("V"), lexicon=wordless)
    assert choice_of(make(), exchanging).move == Exchange((22,))
    refused = replace(exchanging, refused=(Refusal(Exchange((22,)), "no", "no"),))
    assert choice_of(make(), refused).move == PASS


def test_who_runs_out_of_time_chooses_the_first_candidate() -> None:
    budget, view = Budget(3, clock=Clock(step_ms=1)), view_at(opening("QUEENLY"))
    choice = mc(samples="1000").choose(view, budget)
    assert choice.move == legal_moves(view.position, view.lexicon, view.rules)[0].move
    assert budget.best is not None
    assert budget.best.move == choice.move
    assert min(one.samples or 0 for one in choice.candidates) == 0
