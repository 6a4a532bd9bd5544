"""``mc`` and ``mc+rh``: what they look at, and where there is little to look at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lexicon_parts import without_words
from search_views import Clock, unlimited, view_of

from bot.player import Budget, Choice, Player, Refusal, View
from bot.players.cs221 import CS221, mc, mc_rh
from bot.registry import SeatError, create_player, known_bots
from bot.seat_text import parse_seat
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator, legal_moves
from engine.rules.moves import PASS, Exchange
from engine.rules.rules import Rules
from engine.simulation.selfplay import play_static_games
from lexicons.rack_features import (
    leave_table,
    shipped_rack_weights,
)
from lexicons.store import Lexicon


def late_view(lexicon: Lexicon, rules: Rules) -> View:
    """The bag is empty, and both have tiles."""
    games = play_static_games(lexicon, rules, None, 8, seed=5, record=True)
    found = games.results
    game, turn = np.argwhere((found.bags == 0) & (found.sizes == 7))[0].tolist()
    position = games.position(game, turn, rules)
    view = view_of(lexicon, rules, "")
    return replace(view, seat=position.on_turn, position=position, bag=0)


def choice_of(player: Player, view: View) -> Choice:
    return player.choose(view, Budget(10**15))


def test_the_first_three_by_score_are_sampled_fifteen_times(lexicon: Lexicon, rules: Rules) -> None:
    view = view_of(lexicon, rules, "AEINRTS")
    choice = choice_of(mc(), view)
    first = legal_moves(view.position, lexicon, rules)[: CS221.candidates]
    assert {one.move for one in choice.candidates} == {one.move for one in first}
    assert [one.samples for one in choice.candidates] == [CS221.samples] * CS221.candidates
    best = choice.candidates[0]
    assert (choice.move, choice.score) == (best.move, best.score)
    equities = [one.equity for one in choice.candidates if one.equity is not None]
    assert equities == sorted(equities, reverse=True)
    assert choice.equity == equities[0]
    assert all(one.win is None and one.equity_error for one in choice.candidates)


def test_mc_rh_picks_by_score_and_features(lexicon: Lexicon, rules: Rules) -> None:
    view = view_of(lexicon, rules, "?VVOGII")
    table = leave_table(shipped_rack_weights("mc+rh"), rules.distribution)
    best = Generator(lexicon, rules, table, PLAIN).best(view.position, 3)
    player = mc_rh()
    player.warm_up(lexicon, rules)
    choice = choice_of(player, view)
    assert {one.move for one in choice.candidates} == {one.move for one in best}
    by_score = choice_of(mc(), view)
    assert {one.move for one in by_score.candidates} != {one.move for one in best}


def test_what_is_not_known_makes_no_difference(lexicon: Lexicon, rules: Rules) -> None:
    """Neither how many threads sample nor how often a turn is asked; the seed of the game does."""
    view = view_of(lexicon, rules, "AEINRTS")
    player = create_player(parse_seat("mc?samples=40&candidates=8&plies=3"))
    choice = choice_of(player, view)
    assert len(choice.candidates) == 8
    assert {one.samples for one in choice.candidates} == {40}
    assert choice_of(player, view) == choice
    assert choice_of(player, replace(view, threads=2)) == choice
    other = choice_of(player, replace(view, seed=2))
    assert other.candidates != choice.candidates


def test_the_first_candidate_is_on_offer(lexicon: Lexicon, rules: Rules) -> None:
    view, budget = view_of(lexicon, rules, "QUEENLY"), Budget(10**15)
    mc().choose(view, budget)
    assert budget.best is not None
    assert budget.best.move == legal_moves(view.position, lexicon, rules)[0].move


def test_an_empty_bag_leaves_nothing_to_chance(lexicon: Lexicon, rules: Rules) -> None:
    view = late_view(lexicon, rules)
    for player in (mc(), mc_rh()):
        choice = choice_of(player, view)
        assert [(one.samples, one.equity_error) for one in choice.candidates] == [(1, None)] * 3
        assert choice.move in {one.move for one in legal_moves(view.position, lexicon, rules)}


def test_with_one_move_nothing_is_sampled(lexicon: Lexicon, rules: Rules) -> None:
    wordless = without_words(rules.distribution)
    view = replace(late_view(lexicon, rules), lexicon=wordless)
    for player in (mc(), mc_rh()):
        choice = choice_of(player, view)
        assert (choice.move, choice.candidates) == (PASS, ())
    exchanging = replace(view_of(wordless, rules, "V"), lexicon=wordless)
    assert choice_of(mc(), exchanging).move == Exchange((22,))
    refused = replace(exchanging, refused=(Refusal(Exchange((22,)), "no", "no"),))
    assert choice_of(mc(), refused).move == PASS


def test_seats_of_the_new_players() -> None:
    assert {"mc", "mc+rh"} <= known_bots().keys()
    for wrong, says in (
        ("mc?samples=1", "samples"),
        ("mc?candidates=many", "'many'"),
        ("mc+rh?plies=0", "plies"),
        ("mc+rh?weights=/nowhere/x.json", "/nowhere/x.json"),
    ):
        with pytest.raises(SeatError) as caught:
            create_player(parse_seat(wrong))
        assert says in str(caught.value)
    with pytest.raises(SeatError, match="it takes: candidates, samples, plies"):
        parse_seat("mc?weights=x")
    with pytest.raises(SeatError, match=r"'mc\+hr'"):
        parse_seat("mc+hr")


def test_who_runs_out_of_time_chooses_the_first_candidate(lexicon: Lexicon, rules: Rules) -> None:
    clock = Clock(step_ms=1)
    view = view_of(lexicon, rules, "AEINRST")
    choice = mc(samples="1000").choose(view, Budget(3, clock=clock))
    assert choice.move == mc(candidates="1").choose(view, unlimited()).move
    assert min(one.samples or 0 for one in choice.candidates) == 0
