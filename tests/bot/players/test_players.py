"""The built-in players and what they judge by."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lexicon_parts import leaves_worth
from rollout_positions import late_position
from search_views import unlimited, view_at, view_of

from bot.player import Choice, Player, Refusal, Searched, View
from bot.players.static import GreedyPlayer, StaticPlayer
from bot.registry import create_player
from bot.search.static_choice import generator_for, static_choice
from bot.seat_text import parse_seat
from engine.movegen.evaluation import POINT
from engine.movegen.generator import RankedMove
from engine.rules.moves import Exchange, Place
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from lexicons.tables import load_leaves

# --- moves --------------------------------------------------------------------------------------


def everything(view: View) -> list[RankedMove]:
    return generator_for(view).everything(view.position)


def test_greedy_takes_the_highest_score_and_then_the_higher_equity(
    lexicon: Lexicon, rules: Rules
) -> None:
    view = view_of(lexicon, rules, "AEINRTS")
    choice = GreedyPlayer().choose(view, unlimited())
    ranked = everything(view)
    best = max(one.score for one in ranked)
    first = next(one for one in ranked if one.score == best)
    assert choice == Choice(first.move, score=best, equity=first.equity / POINT)


def test_static_weighs_the_score_against_the_leave(lexicon: Lexicon, rules: Rules) -> None:
    view = view_of(lexicon, rules, "?VVOGII")
    choice = StaticPlayer().choose(view, unlimited())
    ranked = everything(view)
    equity = ranked[0].equity / POINT
    assert choice == Choice(ranked[0].move, ranked[0].score, equity, search=Searched("static", 0))
    assert 0 in ranked[0].leave, "a blank is not spent on a few points"


def test_static_plays_by_the_leave_table_that_it_is_given(lexicon: Lexicon, rules: Rules) -> None:
    view = view_of(lexicon, rules, "AEINRTS")
    everything_kept = leaves_worth(rules.distribution, {(1,): 900.0})  # an A
    choice = StaticPlayer().choose(replace(view, leaves=everything_kept), unlimited())
    assert isinstance(choice.move, Exchange | Place)
    assert choice.equity is not None
    assert choice.equity >= 900


def test_without_a_table_players_have_the_trained_one(lexicon: Lexicon, rules: Rules) -> None:
    view = view_of(lexicon, rules, "AEINRTS")
    named = {name: load_leaves(name, rules.distribution) for name in ("trained", "formula")}
    by = {name: everything(replace(view, leaves=table)) for name, table in named.items()}
    assert everything(view) == by["trained"] != by["formula"]


QUICK = ("greedy", "static", "static?temperature=2", "vanilla", "rh", "mc", "mc+rh")
SEARCHING = ("sim?candidates=5&iterations=12", "champion?time=10ms")


@pytest.mark.parametrize("seat", [*QUICK, *SEARCHING])
def test_refused_moves_are_not_tried_again(lexicon: Lexicon, rules: Rules, seat: str) -> None:
    views = [view_of(lexicon, rules, "AEINRTS")]
    views += [view_at(late_position(2))] * (seat in SEARCHING)
    player = create_player(parse_seat(seat))
    for view in views:
        tried: list[Refusal] = []
        for _ in range(4):
            choice = player.choose(replace(view, refused=tuple(tried)), unlimited())
            moves = {refusal.move for refusal in tried}
            assert choice.move not in moves
            assert not moves & {one.move for one in choice.candidates}
            tried.append(Refusal(choice.move, "not_a_word", "no"))


def test_a_temperature_makes_the_choice_vary_and_a_seed_repeats_it(
    lexicon: Lexicon, rules: Rules
) -> None:
    view = view_of(lexicon, rules, "AEGINRT")

    def moves(temperature: str) -> list[object]:
        player = StaticPlayer(temperature)
        return [player.choose(replace(view, seed=seed), unlimited()).move for seed in range(20)]

    assert len(set(moves("20"))) > 3
    assert moves("20") == moves("20")
    assert set(moves("0")) == {static_choice(view).move}


@pytest.mark.parametrize("temperature", ["warm", "-1", "nan", "inf"])
def test_a_temperature_is_a_number(temperature: str) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        StaticPlayer(temperature)


def test_a_player_has_to_choose(lexicon: Lexicon, rules: Rules) -> None:
    with pytest.raises(NotImplementedError, match="does not say how to choose"):
        Player().choose(view_of(lexicon, rules, "A"), unlimited())
