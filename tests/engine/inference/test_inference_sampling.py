"""What a play tells if not all is looked at: right in the mean, and the more the nearer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from inference_cases import (
    GREEDY,
    apart,
    by_leave,
    inference,
    seen,
    told,
)

from engine.inference.inference import Posterior
from engine.inference.likelihood import Style, soft, stranger

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
