"""``greedy``, ``static``, ``bluff`` and ``challenger``: what they play, and what they challenge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rollout_positions import RULES, late_position
from search_views import opening, unlimited, view_at

from bot.player import Choice, Observed, Player, Refusal, Searched, View
from bot.players.challenging import BluffPlayer, ChallengerPlayer
from bot.players.static import GreedyPlayer, StaticPlayer
from bot.registry import create_player
from bot.search.belief import OpponentModel
from bot.search.static_choice import generator_for, static_choice
from bot.seat_text import parse_seat
from engine.inference.likelihood import stranger
from engine.movegen.evaluation import POINT
from engine.movegen.generator import RankedMove
from engine.rules.moves import Exchange, Place
from engine.rules.position import Position
from engine.rules.rules import check_move, score_play
from lexicons.tables import load_leaves

# --- moves --------------------------------------------------------------------------------------


def everything(view: View) -> list[RankedMove]:
    return generator_for(view).everything(view.position)


def test_greedy_takes_the_highest_score_and_then_the_higher_equity() -> None:
    view = view_at(opening("AEINRTS"))
    choice = GreedyPlayer().choose(view, unlimited())
    ranked = everything(view)
    best = max(one.score for one in ranked)
    first = next(one for one in ranked if one.score == best)
    assert choice == Choice(first.move, score=best, equity=first.equity / POINT)


def test_static_weighs_the_score_against_the_leave() -> None:
    view = view_at(opening("?VVOGII"))
    choice = StaticPlayer().choose(view, unlimited())
    ranked = everything(view)
    equity = ranked[0].equity / POINT
    assert choice == Choice(ranked[0].move, ranked[0].score, equity, search=Searched("static", 0))
    assert 0 in ranked[0].leave, "a blank is not spent on a few points"


def test_without_a_table_players_have_the_trained_one() -> None:
    view = view_at(opening("AEINRTS"))
    named = {name: load_leaves(name, RULES.distribution) for name in ("trained", "formula")}
    by = {name: everything(replace(view, leaves=table)) for name, table in named.items()}
    assert everything(view) == by["trained"] != by["formula"]


QUICK = ("greedy", "static", "static?temperature=2", "vanilla", "rh", "mc", "mc+rh")
SEARCHING = ("sim?candidates=5&iterations=12", "champion?time=10ms")


@pytest.mark.parametrize("seat", [*QUICK, *SEARCHING])
def test_refused_moves_are_not_tried_again(seat: str) -> None:
    views = [view_at(opening("AEINRTS"))]
    if seat in SEARCHING:
        views += [view_at(late_position(2)), view_at(late_position(0, held=4))]
    player = create_player(parse_seat(seat))
    for view in views:
        tried: list[Refusal] = []
        for _ in range(4):
            choice = player.choose(replace(view, refused=tuple(tried)), unlimited())
            moves = {refusal.move for refusal in tried}
            assert choice.move not in moves
            assert not moves & {one.move for one in choice.candidates}
            tried.append(Refusal(choice.move, "not_a_word", "no"))


def test_a_temperature_makes_the_choice_vary_and_a_seed_repeats_it() -> None:
    view = view_at(opening("AEGINRT"))

    def moves(temperature: str) -> list[object]:
        player = StaticPlayer(temperature)
        return [player.choose(replace(view, seed=seed), unlimited()).move for seed in range(20)]

    assert len(set(moves("20"))) > 3
    assert moves("20") == moves("20")
    assert set(moves("0")) == {static_choice(view).move}


# --- challenges and phonies -----------------------------------------------------------------------


def view_by_rule(rack: str = "AEINRST", *, rule: str = "double", seed: int = 1) -> View:
    rules = replace(RULES, challenge=rule)  # type: ignore[arg-type]
    return view_at(opening(rack), rules=rules, seed=seed)


def is_phony(view: View, move: Place) -> bool:
    made = score_play(view.position.board, move, view.rules).words
    return not all(view.is_word(view.text(word)) for word in made)


def test_bluff_plays_a_phony_as_often_as_it_is_told() -> None:
    for rate, least, most in (("0", 0, 0), ("1", 20, 20), ("0.5", 4, 16)):
        phonies = 0
        for seed in range(20):
            view = view_by_rule("?AEKNST", seed=seed)
            choice = BluffPlayer(rate).choose(view, unlimited())
            check_move(view.position, choice.move, view.rules, None, view.bag)
            assert isinstance(choice.move, Place)
            phonies += is_phony(view, choice.move)
            assert choice == BluffPlayer(rate).choose(view, unlimited()), (
                "the same when asked again"
            )
        assert least <= phonies <= most


def test_bluff_plays_none_where_it_would_be_refused() -> None:
    view = view_by_rule(rule="void")
    assert BluffPlayer("1").choose(view, unlimited()) == static_choice(view)


def observed(view: View, word: str) -> tuple[View, Observed]:
    """The opponent has laid a word on the empty board."""
    move = view.move(f"8G {word}")
    assert isinstance(move, Place)
    made = score_play(view.position.board, move, view.rules)
    words = tuple(view.text(each) for each in made.words)
    play = Observed(1, 1, move, made.score, (0, made.score), view.bag, 0, words=words)
    after = Position(view.position.board.with_move(move), view.position.racks, play.scores)
    return view.after(play, after, view.clocks), play


def test_bluff_plays_no_word_again_that_came_off() -> None:
    view, bluff = view_by_rule("OX"), BluffPlayer("1")
    move = bluff.choose(view, unlimited()).move
    assert isinstance(move, Place)
    assert is_phony(view, move)
    _, play = observed(view, "XO")
    after = view.after(replace(play, withdrawn=True), view.position, view.clocks)
    assert bluff.choose(after, unlimited()) == static_choice(after), "no other phony is to be had"


def test_players_challenge_what_their_lexicon_lacks() -> None:
    for player in (Player(), StaticPlayer()):
        assert player.challenge(*observed(view_by_rule(), "QXZ")) == ["QXZ"]
        assert player.challenge(*observed(view_by_rule(), "HOUSE")) == []
        assert player.challenge(*observed(view_by_rule(), "HoUSE")) == []


def test_a_challenger_knows_its_share_of_the_words() -> None:
    words = ("HOUSE", "TREE", "WATER", "STONE", "GRASS", "LIGHT", "HOrSE", "TRAIN")
    for share, least, most in (("1", 0, 0), ("0", 80, 80), ("0.7", 10, 45)):
        challenged = 0
        for seed in range(10):
            view = view_by_rule(seed=seed)
            for word in words:
                challenged += bool(ChallengerPlayer(share).challenge(*observed(view, word)))
        assert least <= challenged <= most
    view = view_by_rule()
    assert ChallengerPlayer("1").challenge(*observed(view, "QXZ")) == ["QXZ"]
    assert ChallengerPlayer("1").choose(view, unlimited()).move == static_choice(view).move
    plain = ChallengerPlayer("0").choose(view, unlimited()).move
    assert isinstance(plain, Exchange), "it knows no word to play"


def test_the_tiles_of_a_withdrawn_phony_are_known() -> None:
    view = view_by_rule()
    opponent = OpponentModel(view, stranger(None), racks=50)
    _, play = observed(view, "QXZ")
    taken_back = replace(play, score=0, scores=(0, 0), withdrawn=True)
    after = view.after(taken_back, replace(view.position, scoreless_turns=1), view.clocks)
    opponent.observe(after, taken_back)
    opponent.think(racks=50)
    belief = opponent.belief(after)
    assert belief is not None
    leaves = opponent.tracker.prior.tiles
    shown = set(after.tiles("QXZ"))
    assert len(leaves)
    assert all(shown <= set(np.asarray(leave).tolist()) for leave in leaves)
    lost = replace(play, move=view.move("-"), lost=True)
    opponent.observe(after, lost)
    assert not opponent._news, "a turn that was lost tells nothing"
