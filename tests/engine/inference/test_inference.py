"""What a play tells, against exact Bayes; and if not all is looked at, right in the mean."""

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
from engine.inference.inference import Posterior
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
    few = OpponentPlay(play.board, play.move, 16, 3, 86)  # tiles, of which five were placed
    assert told(few, counts, stranger(), 100).note == "the play has tiles that it can't have had"


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


# --- a part of it ---------------------------------------------------------------------------------


def test_slices_make_no_difference() -> None:
    play, counts = seen(7, 1, 4)
    whole = told(play, counts, stranger(), seed=3)
    begun = inference(play, counts, stranger(), seed=3)
    steps = 0
    while not begun.is_over:
        steps += begun.advance(7)
    found = begun.posterior()
    assert steps == begun.looked_at == found.considered == whole.considered
    assert begun.advance(100) == 0
    assert by_leave(found) == pytest.approx(by_leave(whole))
    assert found.evidence == pytest.approx(whole.evidence)
    assert found.unseen == whole.unseen == 0


def test_what_was_not_looked_at_is_said() -> None:
    play, counts = seen(7, 1, 4)
    begun = inference(play, counts, stranger(), seed=5)
    assert len(begun.posterior().leaves) == 0
    unseen_mass, looked = [1.0], 0
    while not begun.is_over:
        looked += begun.advance(40)
        found = begun.posterior()
        assert len(found.leaves) == looked
        assert found.prior.sum() + found.unseen == pytest.approx(1)
        assert found.posterior.sum() == pytest.approx(1)
        assert 1 - 1e-9 <= found.effective <= looked + 1e-9
        unseen_mass.append(found.unseen)
    assert unseen_mass == sorted(unseen_mass, reverse=True)
    assert unseen_mass[-1] == pytest.approx(0, abs=1e-12)
    assert begun.posterior().effective == begun.posterior().considered


def chances(found: Posterior) -> Any:
    """By tile, how likely he kept one or more of it; then the evidence of each model."""
    kept = [((found.leaves == t).any(axis=1) * found.posterior).sum() for t in range(27)]
    return np.array([*kept, *found.evidence])


def joint(found: Posterior, style: Style) -> Any:
    """By tile, how likely he made this play and kept one or more of it; and each evidence."""
    likely = float(np.dot(style.odds, found.evidence))
    return np.array([*(chances(found)[:27] * likely), *found.evidence])


@pytest.mark.parametrize("share", [0.15, 0.4, 0.8])
def test_a_part_is_right_in_the_mean(share: float) -> None:
    """Sums over racks are, within four standard errors over many seeds.

    So what is likely by the play, which is a sum divided by another, is nearly right where enough
    is looked at.
    """
    play, counts = seen(7, 0, 2)
    style = Style((soft(2.0), GREEDY), (0.5, 0.5))
    exact = told(play, counts, style)
    parts = [told(play, counts, style, int(share * exact.considered), seed=at) for at in range(150)]
    each = np.array([joint(part, style) for part in parts])
    error = each.std(axis=0, ddof=1) / np.sqrt(len(each))
    wanted = joint(exact, style)
    assert (np.abs(each.mean(axis=0) - wanted) <= 4 * error + 0.01 * wanted).all()
    if share > 0.5:
        assert np.mean([chances(part) for part in parts], axis=0) == pytest.approx(
            chances(exact), abs=0.02
        )


# --- racks that are drawn -------------------------------------------------------------------------


@pytest.mark.parametrize("what", [(4, 1, 3), (7, 1, 4)], ids=str)
def test_drawn_racks_come_near_to_the_listed_ones(what: Any) -> None:
    play, counts = seen(*what)
    style = Style((soft(2.0), GREEDY), (0.5, 0.5))
    exact = told(play, counts, style)
    far = apart(by_leave(told(play, counts, style, 300, most_listed=0)), by_leave(exact))
    begun = inference(play, counts, style, most_listed=0)
    for _ in range(4):
        assert begun.advance(5_000) == 5_000
    assert not begun.is_over
    found = begun.posterior()
    assert apart(by_leave(found), by_leave(exact)) < min(0.06, far)
    assert found.evidence == pytest.approx(exact.evidence, rel=0.1)
    assert chances(found) == pytest.approx(chances(exact), abs=0.03)
    assert found.note == ""


def test_a_leave_is_told_once() -> None:
    """Racks that are drawn again and again keep what others keep."""
    play, counts = seen(4, 1, 3)
    exact = told(play, counts, Style.of(soft(2.0)))
    found = told(play, counts, Style.of(soft(2.0)), 20_000, most_listed=0)
    leaves_told = [leave for leave, _, _ in found.top(20)]
    assert len(set(leaves_told)) == len(leaves_told)
    assert found.mass_of_top(10) == pytest.approx(exact.mass_of_top(10), abs=0.05)
    assert found.entropy == pytest.approx(exact.entropy, abs=0.2)
    assert found.entropy_prior == pytest.approx(exact.entropy_prior, abs=0.2)


@pytest.mark.parametrize("racks", [3, 5, 6, 7, 10, 11, 13])
def test_of_leaves_that_were_drawn_once_each_nothing_is_known(racks: int) -> None:
    """Exactly nothing: what rounding leaves of 1 less their masses is of either sign."""
    play, counts = seen(7, 1, 5)
    drawn = [
        told(play, counts, Style.of(soft(2.0)), racks, most_listed=0, seed=seed)
        for seed in range(8)
    ]
    without_repeats = [found for found in drawn if len(found.leaves) == racks]
    assert without_repeats
    for found in without_repeats:
        assert not found.chances.any()
        assert not found.as_prior().size
