"""What a play tells, against exact Bayes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from inference_cases import (
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
    tiles_of,
)
from rollout_positions import RULES, leaves

from engine.inference.equity_loss import OpponentPlay
from engine.inference.likelihood import DETERMINISTIC, MODELS, Model, Style, margin, soft, stranger
from engine.notation.move_text import parse_move
from engine.rules.moves import Place
from engine.rules.position import Board, Position, unseen
from engine.rules.rules import score_play

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


# --- exchanges, passes, bingos --------------------------------------------------------------------


def exchange(tiles: int) -> Seen:
    game = LateGame(7, seed=1)
    return OpponentPlay(game.board, tiles, 0, 7, 7), game.counts


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


def test_who_plays_all_tiles_keeps_nothing() -> None:
    play, counts = imino()
    move = parse_move("8D OUTSIDE", play.board, RULES.distribution.alphabet)
    assert isinstance(move, Place)
    found = told(OpponentPlay(play.board, move, 70, 7, 86), counts, stranger())
    assert found.leaves.shape == (1, 0)
    assert found.posterior.tolist() == [1.0]
    assert (found.considered, found.entropy) == (1, 0.0)
    assert found.note == "all tiles were played; nothing is kept"
    assert found.as_prior().size == 0


# --- what makes no sense --------------------------------------------------------------------------


def test_without_a_bag_there_is_nothing_to_infer() -> None:
    play, counts = seen(4, 1, 3)
    with pytest.raises(ValueError, match="the bag is empty"):
        inference(OpponentPlay(play.board, play.move, play.score, 7, 0), counts, stranger())


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
    return OpponentPlay(board, move, score, 7, sum(counts) - 7), counts
