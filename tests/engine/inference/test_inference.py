"""What a play tells, against exact Bayes."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from inference_cases import (
    ALL,
    BEST,
    GREEDY,
    Seen,
    apart,
    by_leave,
    expected,
    inference,
    seen,
    slow_judge,
    told,
)
from inference_games import LateGame
from inference_reference import (
    Leaves,
    furthest,
    leaves_in,
    physical_racks,
    posterior_of_leaves,
    posterior_of_the_paper,
    tiles_of,
    twice_counted,
    without,
)
from rollout_positions import RULES, leaves, scowl

from engine.inference.equity_loss import Judges, Play
from engine.inference.inference import Inference
from engine.inference.leave_prior import LeavePrior, all_multisets, priors_of
from engine.inference.likelihood import DETERMINISTIC, MODELS, Model, Style, margin, soft, stranger
from engine.notation.move_text import parse_move
from engine.rules.moves import PASS, Place
from engine.rules.position import Board, Position, unseen
from engine.rules.rules import score_play
from lexicons.tables import leaves_for

MIXED = Model("mixed", temperatures=((0.0, 0.6), (3.0, 0.4)))
ONE_OF_EACH = [DETERMINISTIC, margin(3.0), soft(2.0), MODELS["soft"], MIXED, GREEDY]


# --- exact Bayes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", BEST, ids=str)
@pytest.mark.parametrize("model", ONE_OF_EACH, ids=lambda model: model.name)
def test_a_posterior_is_exact_bayes(what: Any, model: Model) -> None:
    play, counts = seen(*what)
    assert sum(counts) <= 14
    found = told(play, counts, Style.of(model))
    assert found.note == ""
    assert found.posterior.sum() == pytest.approx(1)
    assert furthest(by_leave(found), expected(play, counts, Style.of(model))) < 1e-9


def test_a_play_that_is_heeded_less_tells_less() -> None:
    play, counts = seen(4, 1, 3, 2)
    found = told(play, counts, Style.of(MODELS["soft"]))
    assert by_leave(found.tempered(1.0)) == pytest.approx(by_leave(found))
    assert found.tempered(0.0).posterior == pytest.approx(found.prior / found.prior.sum())
    likelihood = found.posterior / found.prior
    half = found.tempered(0.5)
    ratio = half.posterior / found.prior / np.sqrt(likelihood)
    assert ratio == pytest.approx(ratio[0])
    assert found.entropy < half.entropy
    once = replace(found, chances=np.zeros(len(found.leaves)))  # as of leaves that were drawn once
    assert once.tempered(0.5).posterior == pytest.approx(half.posterior)


def test_a_posterior_is_exact_bayes_for_who_may_be_one_or_another() -> None:
    odds = (0.1, 0.1, 0.3, 0.2, 0.1, 0.2)
    for what in ((4, 1, 3, 2), (7, 1, 4, 1)):  # plays that are not his best
        play, counts = seen(*what)
        for style in (Style(tuple(ONE_OF_EACH), odds), stranger()):
            found = told(play, counts, style)
            assert furthest(by_leave(found), expected(play, counts, style)) < 1e-9


def test_the_prior_is_that_of_physical_racks() -> None:
    play, counts = seen(7, 1, 4)
    found = told(play, counts, Style.of(soft(2.0)))
    exact = posterior_of_leaves(tiles_of(counts), play.tiles, play.held, lambda _: 1.0)
    prior = dict(zip(map(tuple, found.leaves.tolist()), found.prior.tolist(), strict=True))
    assert furthest(prior, exact) < 1e-9


def test_evidence_is_how_likely_the_play_was() -> None:
    play, counts = seen(7, 1, 4, 1)
    style = Style(tuple(ONE_OF_EACH), (0.1, 0.1, 0.3, 0.2, 0.1, 0.2))
    racks = {
        rack: ways
        for rack, ways in physical_racks(tiles_of(counts), 7).items()
        if without(rack, play.tiles) is not None
    }
    for model, evidence in zip(style.models, told(play, counts, style).evidence, strict=True):
        likelihood = slow_judge(model.judge).likelihood(play, model)
        exact = sum(ways * likelihood(rack) for rack, ways in racks.items()) / sum(racks.values())
        assert evidence == pytest.approx(exact, rel=1e-9)


def test_what_he_kept_before_counts() -> None:
    """He kept one of two leaves: racks that have neither are impossible."""
    play, counts = seen(7, 1, 4)
    rest = without(tiles_of(counts), play.tiles)
    assert rest is not None
    options = (rest[:2], rest[3:6:2])
    before = LeavePrior(np.array(options, np.uint8), np.array([0.3, 0.7]))
    weights: Leaves = defaultdict(float)
    likelihood = slow_judge("static").likelihood(play, soft(2.0))
    for held, weight in zip(options, before.weights, strict=True):
        others = without(tiles_of(counts), held)
        assert others is not None
        for draw, ways in physical_racks(others, 5).items():
            rack = tuple(sorted(held + draw))
            leave = without(rack, play.tiles)
            if leave is not None:
                weights[leave] += float(weight) * ways * likelihood(rack)
    exact = {leave: weight / sum(weights.values()) for leave, weight in weights.items()}
    found = told(play, counts, Style.of(soft(2.0)), before=before)
    assert furthest(by_leave(found), exact) < 1e-9
    assert found.considered == len(found.leaves) == len(exact)


# --- the paper's formula --------------------------------------------------------------------------


def test_the_paper_counts_a_rack_twice_that_has_two_of_what_was_played() -> None:
    """Three Es and an X are unseen, he holds two tiles of them and plays one E whenever he can.

    Half of his racks are two Es. By the formula of the paper he kept an E in two of three cases: it
    puts E₁ on the board and deals E₂ or E₃ or X, and once more with E₂, so that a rack of E₁ and E₂
    is met twice and one of E₁ and X once.
    """
    unseen_tiles, played = (5, 5, 5, 24), (5,)
    assert physical_racks(unseen_tiles, 2) == {(5, 5): 3, (5, 24): 3}
    exact = posterior_of_leaves(unseen_tiles, played, 2, lambda _: 1.0)
    paper = posterior_of_the_paper(unseen_tiles, played, 2, lambda _: 1.0)
    assert exact == {(5,): 0.5, (24,): 0.5}
    assert paper == pytest.approx({(5,): 2 / 3, (24,): 1 / 3})
    assert [twice_counted(leave, played) for leave in ((5,), (24,))] == [2, 1]
    racks = np.array([[5, 5], [5, 24]], np.uint8)
    counts = [unseen_tiles.count(tile) for tile in range(27)]
    ours = priors_of(racks, counts, LeavePrior.nothing())
    assert ours / ours.sum() == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("what", BEST, ids=str)
def test_the_paper_differs_by_what_it_counts_twice(what: Any) -> None:
    play, counts = seen(*what)
    likelihood = slow_judge("static").likelihood(play, soft(2.0))
    paper = posterior_of_the_paper(tiles_of(counts), play.tiles, 7, likelihood)
    corrected = {leave: each / twice_counted(leave, play.tiles) for leave, each in paper.items()}
    total = sum(corrected.values())
    exact = posterior_of_leaves(tiles_of(counts), play.tiles, 7, likelihood)
    assert furthest({leave: each / total for leave, each in corrected.items()}, exact) < 1e-9


# --- exchanges, passes, bingos --------------------------------------------------------------------


def exchange(tiles: int) -> Seen:
    game = LateGame(7, seed=1)
    return Play(game.board, tiles, 0, 7, 7), game.counts


@pytest.mark.parametrize("tiles", [2, 5])
def test_of_an_exchange_the_best_is_kept(tiles: int) -> None:
    play, counts = exchange(tiles)
    style = Style.of(soft(4.0))
    exact: Leaves = defaultdict(float)
    judged, likelihood = slow_judge("static"), slow_judge("static").likelihood(play, soft(4.0))
    for rack, ways in physical_racks(tiles_of(counts), 7).items():
        exact[judged.of(play, rack).keeps] += ways * likelihood(rack)
    exact = {leave: each / sum(exact.values()) for leave, each in exact.items()}
    found = told(play, counts, style, 15_000)
    assert found.leaves.shape[1] == 7 - tiles
    assert apart(by_leave(found), exact) < 0.08
    worth = sum(leaves().value(leave) * each for leave, each in by_leave(found).items())
    others = physical_racks(tiles_of(counts), 7 - tiles)
    mean = sum(leaves().value(leave) * ways for leave, ways in others.items()) / others.total()
    assert worth > mean + 2


def test_who_exchanges_all_keeps_nothing() -> None:
    play, counts = exchange(7)
    found = told(play, counts, Style.of(soft(4.0)), 500)
    assert found.leaves.shape[1] == 0
    assert found.note == "all tiles were played; nothing is kept"


def test_who_passes_had_nothing_better() -> None:
    """Each rack is a leave; those that have a good play are hardly his."""
    game = LateGame(3, seed=2)
    play, counts = Play(game.board, PASS, 0, 7, 3), game.counts
    exact: Leaves = defaultdict(float)
    likelihood = slow_judge("static").likelihood(play, soft(4.0))
    for rack, ways in physical_racks(tiles_of(counts), 7).items():
        exact[rack] += ways * likelihood(rack)
    exact = {leave: each / sum(exact.values()) for leave, each in exact.items()}
    found = told(play, counts, Style.of(soft(4.0)), 15_000)
    assert found.leaves.shape[1] == 7
    assert apart(by_leave(found), exact) < 0.05


def test_who_plays_all_tiles_keeps_nothing() -> None:
    play, counts = imino()
    move = parse_move("8D OUTSIDE", play.board, RULES.distribution.alphabet)
    assert isinstance(move, Place)
    found = told(Play(play.board, move, 70, 7, 86), counts, stranger())
    assert found.leaves.shape == (1, 0)
    assert found.posterior.tolist() == [1.0]
    assert (found.considered, found.entropy) == (1, 0.0)
    assert found.note == "all tiles were played; nothing is kept"
    assert found.as_prior().size == 0


# --- what makes no sense --------------------------------------------------------------------------


def test_without_a_bag_there_is_nothing_to_infer() -> None:
    play, counts = seen(4, 1, 3)
    with pytest.raises(ValueError, match="the bag is empty"):
        inference(Play(play.board, play.move, play.score, 7, 0), counts, stranger())


def test_what_nobody_can_have_played_tells_nothing() -> None:
    play, counts = imino()
    for gone in ({9: 1}, {13: 0}, dict.fromkeys(range(27), 0)):
        fewer = tuple(gone.get(tile, many) for tile, many in enumerate(counts))
        for options in ({}, {"most_listed": 0}):
            found = told(play, fewer, stranger(), 100, **options)
            assert found.note == "the play has tiles that it can't have had"
            assert len(found.leaves) == found.considered == found.surviving == 0
            assert (found.effective, found.entropy, found.entropy_prior) == (0, 0, 0)
            assert (found.top(5), found.mass_of_top(5)) == ([], 0)


def test_more_tiles_than_he_held_tell_nothing() -> None:
    play, counts = imino()
    few = Play(play.board, play.move, 16, 3, 86)
    assert told(few, counts, stranger(), 100).note == "the play has tiles that it can't have had"


@pytest.mark.parametrize("options", [{}, {"most_listed": 0}], ids=str)
def test_what_contradicts_what_was_believed_is_forgotten(options: Any) -> None:
    play, counts = seen(4, 1, 3)
    gone = next(tile for tile, count in enumerate(counts) if count == 0)
    before = LeavePrior(np.array([[gone]], np.uint8), np.ones(1))
    style = Style.of(soft(2.0))
    found = told(play, counts, style, 8_000, before=before, **options)
    assert re.match("the play contradicts the earlier belief, which is dropped", found.note)
    assert apart(by_leave(found), expected(play, counts, style)) < (0.05 if options else 1e-9)


def test_what_nobody_would_play_leaves_things_as_they_were() -> None:
    play, counts = seen(7, 1, 4)
    found = told(Play(play.board, play.move, -50, 7, 7), counts, Style.of(DETERMINISTIC))
    assert found.note == "no possible rack explains the play; the belief is unchanged"
    assert found.posterior == pytest.approx(found.prior)
    assert found.evidence == (0.0,)


# --- what is told ---------------------------------------------------------------------------------


def test_the_likeliest_come_first() -> None:
    play, counts = seen(7, 1, 4)
    found = told(play, counts, stranger())
    top = found.top(1_000)
    keys = [(-posterior, -prior, leave) for leave, prior, posterior in top]
    assert keys == sorted(keys)
    assert len(top) == len(found.leaves) == found.considered
    assert found.top(5) == top[:5]
    assert {leave: posterior for leave, _, posterior in top} == by_leave(found)
    assert found.mass_of_top(10) == pytest.approx(sum(each for _, _, each in top[:10]))
    assert found.mass_of_top(10**6) == pytest.approx(1)


def test_entropies_are_bits() -> None:
    play, counts = seen(7, 1, 4)
    found = told(play, counts, stranger())
    for entropy, weights in ((found.entropy, found.posterior), (found.entropy_prior, found.prior)):
        assert entropy == pytest.approx(-sum(w * np.log2(w) for w in weights.tolist() if w))
    assert found.entropy < found.entropy_prior


def test_what_is_kept_is_what_survives() -> None:
    play, counts = seen(7, 1, 4)
    found = told(play, counts, Style.of(DETERMINISTIC))
    kept = found.as_prior()
    assert 0 < found.surviving == len(kept.tiles) < found.considered
    weights = dict(zip(leaves_in(kept), kept.weights.tolist(), strict=True))
    assert weights == pytest.approx(by_leave(found))


# --- the paper's example --------------------------------------------------------------------------


@cache
def imino() -> Seen:
    """The opponent opens with IMINO for 16; we hold GLORRTU (Richards and Amir 2007)."""
    alphabet, board = RULES.distribution.alphabet, Board.empty(RULES.layout)
    move = parse_move("8D IMINO", board, alphabet)
    assert isinstance(move, Place)
    ours = tuple(sorted(alphabet.tiles("GLORRTU")))
    counts = unseen(Position(board, ((), ours), (0, 0)), 1, RULES)
    score = score_play(board, move, RULES).score
    return Play(board, move, score, 7, sum(counts) - 7), counts


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_example_of_the_paper(model: Model) -> None:
    play, counts = imino()
    assert play.score == 16
    trained = Judges(scowl(), RULES, leaves_for(RULES.distribution))
    begun = Inference(trained, play, counts, LeavePrior.nothing(), Style.of(model))
    begun.advance(ALL)
    found = begun.posterior()
    assert (
        found.considered == len(all_multisets(np.subtract(counts, shown(play)).tolist(), 2)) == 372
    )
    assert found.prior.sum() == pytest.approx(1)
    blank_and_o = RULES.distribution.alphabet.tiles("?O")
    (prior, posterior) = next(rest for leave, *rest in found.top(372) if leave == blank_and_o)
    assert posterior > prior > 0
    assert found.mass_of_top(10) > 0.3
    assert found.entropy < found.entropy_prior
    if model == DETERMINISTIC:
        assert 0 < found.surviving < 100
    elif model.floor:
        assert found.surviving == 372


def shown(play: Play) -> list[int]:
    return [play.tiles.count(tile) for tile in range(27)]
