"""A belief that is carried from play to play, against exact Bayes over all that may have happened.

In these games fourteen tiles or fewer are unseen, so that every rack and every draw can be gone
through, in the order in which they happened.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from inference_cases import ALL, GREEDY, apart, judges, slow_judge
from inference_games import LateGame, Turn, turns
from inference_reference import Leaves, SlowTracker, furthest, leaves_in, tiles_of
from rollout_positions import RULES, late_position, position_of

from engine.inference.equity_loss import OpponentPlay
from engine.inference.inference import Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import DETERMINISTIC, MODELS, Model, Style, margin, soft, stranger
from engine.inference.rack_filter import DOUBT, FULL_BAG, RackFilter
from engine.rules.moves import PASS, Exchange
from engine.rules.position import Position, Rack, unseen
from engine.simulation.rollout_input import believed, scene

MODELS_HERE = [DETERMINISTIC, margin(3.0), soft(2.0), MODELS["soft"]]


def watched(
    tracker: RackFilter,
    play: OpponentPlay,
    counts: tuple[int, ...],
    racks: int = ALL,
    **options: int,
) -> Posterior:
    inference = tracker.watch(play, counts, **options)
    inference.advance(racks)
    return tracker.conclude(inference)


def by_leave(tracker: RackFilter) -> Leaves:
    kept = tracker.prior
    return dict(zip(leaves_in(kept), kept.weights.tolist(), strict=True))


def known_to_be(model: Model) -> RackFilter:
    """One who never doubts."""
    return RackFilter(judges(), Style.of(model), doubt=0.0)


# --- turn after turn ------------------------------------------------------------------------------


What = tuple[int, int, tuple[int, ...], int]
GAMES: list[What] = [(7, 0, (2, 2, 7), 44), (7, 1, (2, 2, 7), 0), (6, 2, (2, 1, 7), 3)]
"""Bag, blanks unseen, how many tiles he plays at most in each turn, and a seed that has it."""


@pytest.mark.parametrize("model", MODELS_HERE, ids=lambda model: model.name)
@pytest.mark.parametrize("what", GAMES, ids=str)
def test_three_plays_are_exact_bayes(what: What, model: Model) -> None:
    """He plays, we play and draw, he plays, we play and draw, he plays; the bag has tiles still."""
    every = turns(*what)
    tracker, slow = known_to_be(model), SlowTracker(tiles_of(every[0].counts), 7)
    assert sum(every[0].counts) <= 14
    for turn in every:
        found = watched(tracker, turn.play, turn.counts)
        assert found.note == "" or found.leaves.shape[1] == 0
        exact = slow.watch(turn.play, slow_judge("static"), model)
        assert furthest(by_leave(tracker), exact) < 1e-9
        tracker.drew(turn.drawn, turn.counts_then)
        slow.drew(turn.drawn)


@pytest.mark.parametrize("what", GAMES, ids=str)
def test_who_doubts_leaves_room_for_any_rack(what: What) -> None:
    every, model = turns(*what), soft(1.0)
    tracker = RackFilter(judges(), Style.of(model), doubt=0.1)
    slow = SlowTracker(tiles_of(every[0].counts), 7)
    for turn in every:
        watched(tracker, turn.play, turn.counts)
        exact = slow.watch(turn.play, slow_judge("static"), model)
        assert furthest(by_leave(tracker), exact) < 1e-9
        assert tracker.prior.doubt == 0.1
        slow.doubts(0.1)
        tracker.drew(turn.drawn, turn.counts_then)
        slow.drew(turn.drawn)


def test_he_may_pass_between_plays() -> None:
    game = LateGame(5, 4)
    model = soft(4.0)
    tracker, slow = known_to_be(model), SlowTracker(tiles_of(game.counts), 7)
    counts = game.counts
    play = game.he_plays(most=2)
    watched(tracker, play, counts)
    slow.watch(play, slow_judge("static"), model)
    passed = OpponentPlay(game.board, PASS, 0, 7, game.bag)
    watched(tracker, passed, game.counts, 20_000)
    assert apart(by_leave_added(tracker), slow.watch(passed, slow_judge("static"), model)) < 0.05


def by_leave_added(tracker: RackFilter) -> Leaves:
    """Racks that were drawn again and again count together."""
    added: Leaves = {}
    for leave, weight in zip(leaves_in(tracker.prior), tracker.prior.weights.tolist(), strict=True):
        added[leave] = added.get(leave, 0.0) + weight
    return added


def test_racks_that_are_drawn_carry_what_was_kept_too() -> None:
    model, every = soft(2.0), turns(*GAMES[1])
    tracker, slow = known_to_be(model), SlowTracker(tiles_of(every[0].counts), 7)
    for turn in every:
        watched(tracker, turn.play, turn.counts, 20_000, most_listed=0)
        exact = slow.watch(turn.play, slow_judge("static"), model)
        assert apart(by_leave_added(tracker), exact) < 0.08
        tracker.drew(turn.drawn, turn.counts_then)
        slow.drew(turn.drawn)


def test_who_remembers_the_last_play_only_begins_again_with_each() -> None:
    style, every = Style.of(soft(2.0)), turns(*GAMES[1])
    forgetful = RackFilter(judges(), style, remembers=False, doubt=0.0)
    remembering = RackFilter(judges(), style, doubt=0.0)
    for nth, turn in enumerate(every):
        for tracker in (forgetful, remembering):
            watched(tracker, turn.play, turn.counts)
        alone = SlowTracker(tiles_of(turn.counts), 7).watch(
            turn.play, slow_judge("static"), soft(2.0)
        )
        assert furthest(by_leave(forgetful), alone) < 1e-9
        assert (furthest(by_leave(remembering), alone) < 1e-9) == (nth == 0)
        for tracker in (forgetful, remembering):
            tracker.drew(turn.drawn, turn.counts_then)


# --- what we draw, and what he shows --------------------------------------------------------------


def after_a_play(model: Model | None = None) -> tuple[Turn, RackFilter, SlowTracker]:
    """See one play; give the next, with what we drew between them not yet taken in."""
    model = model or soft(2.0)
    first, second, _ = turns(*GAMES[1])
    tracker, slow = known_to_be(model), SlowTracker(tiles_of(first.counts), 7)
    watched(tracker, first.play, first.counts)
    slow.watch(first.play, slow_judge("static"), model)
    return Turn(second.play, second.counts, first.drawn, first.counts_then), tracker, slow


def test_what_he_shows_he_holds() -> None:
    """A phony comes off: his rack is as it was, and these tiles are on it."""
    turn, tracker, slow = after_a_play()
    tracker.drew(turn.drawn, turn.counts_then)
    slow.drew(turn.drawn)
    shown = turn.play.tiles  # he has them indeed
    tracker.showed(shown, turn.counts, 7)
    slow.showed(shown)
    assert furthest(by_leave(tracker), slow.racks) < 1e-9
    single = next(t for t, count in enumerate(turn.counts) if count == 1 and t not in shown)
    tracker.drew((single,), turn.counts)
    slow.drew((single,))
    assert furthest(by_leave(tracker), slow.racks) < 1e-9
    fewer = tuple(count - (tile == single) for tile, count in enumerate(turn.counts))
    begun = tracker.watch(turn.play, fewer)  # which is not known to come of a smaller bag
    begun.advance(ALL)
    assert tracker.conclude(begun).note == ""
    assert (
        furthest(by_leave(tracker), slow.watch(turn.play, slow_judge("static"), soft(2.0))) < 1e-9
    )


def test_what_he_shows_when_too_much_is_possible_is_all_that_is_kept_in_mind() -> None:
    position = position_of(0, 0)
    counts = unseen(position, position.on_turn, RULES)
    tracker = RackFilter(judges(), stranger())
    tracker.showed((5,), counts, 7)
    assert by_leave(tracker) == {(5,): 1.0}


@pytest.mark.parametrize("tiles", [(17, 17), (5,) * 8, (26, 26, 26)])
def test_what_he_can_not_have_shown_tells_nothing(tiles: Rack) -> None:
    turn, tracker, _ = after_a_play()
    tracker.showed(tiles, turn.counts_then, 7)
    assert by_leave(tracker) == {(): 1.0}


def test_what_he_shows_and_can_not_have_kept_is_believed_none_the_less() -> None:
    turn, tracker, _ = after_a_play()
    counts = turn.counts_then
    tracker.prior = impossible(counts)
    other = next(tile for tile in range(27) if counts[tile] > 1)
    tracker.showed((other,), counts, 7)
    assert by_leave(tracker) == {(other,): 1.0}


def impossible(counts: Sequence[int], doubt: float = 0.0) -> LeavePrior:
    """What nobody can have kept: two of a tile of which one is there."""
    single = next(tile for tile in range(27) if counts[tile] == 1)
    return LeavePrior(np.full((1, 2), single, np.uint8), np.ones(1), doubt)


# --- what makes no sense --------------------------------------------------------------------------


def test_a_play_that_no_rack_could_make_is_told_and_all_is_forgotten() -> None:
    turn, tracker, _ = after_a_play()
    assert tracker.prior.size
    style = tracker.style
    gone = tuple(0 if tile in turn.play.tiles else n for tile, n in enumerate(turn.counts))
    found = watched(tracker, turn.play, gone)
    assert found.note == "the play has tiles that it can't have had"
    assert by_leave(tracker) == {(): 1.0}
    assert tracker.style == style
    assert tracker.belief() is None


@pytest.mark.parametrize("doubt", [0.0, 0.02])
@pytest.mark.parametrize("most_listed", [10**6, 0])
def test_after_a_contradiction_it_goes_on_as_if_he_was_new(doubt: float, most_listed: int) -> None:
    turn, tracker, _ = after_a_play()
    tracker.prior = impossible(turn.counts, doubt)
    found = watched(tracker, turn.play, turn.counts, 20_000, most_listed=most_listed)
    fresh = SlowTracker(tiles_of(turn.counts), 7).watch(turn.play, slow_judge("static"), soft(2.0))
    assert apart(by_leave_added(tracker), fresh) < (1e-9 if most_listed else 0.05)
    assert found.note == "the play contradicts the earlier belief, which is dropped"


def test_what_nobody_would_have_played_leaves_the_prior() -> None:
    turn, tracker, _ = after_a_play(DETERMINISTIC)
    tracker.drew(turn.drawn, turn.counts_then)
    absurd = OpponentPlay(turn.play.board, turn.play.move, -100, 7, turn.play.bag)
    found = watched(tracker, absurd, turn.counts)
    assert found.note == "no possible rack explains the play; the belief is unchanged"
    assert tracker.prior.weights == pytest.approx(found.prior)


def test_a_draw_that_can_not_be_leaves_nothing_known() -> None:
    turn, tracker, _ = after_a_play()
    tracker.drew((24, 24), [0] * 27)
    assert by_leave(tracker) == {(): 1.0}
    tracker.drew((), turn.counts)
    assert by_leave(tracker) == {(): 1.0}
    single = next(tile for tile, count in enumerate(turn.counts) if count == 1)
    tracker.prior = LeavePrior.certain((single,))
    tracker.drew((single,), turn.counts)
    assert by_leave(tracker) == {(): 1.0}


def test_what_was_not_looked_at_tells_nothing() -> None:
    turn, tracker, _ = after_a_play()
    style = tracker.style
    tracker.conclude(tracker.watch(turn.play, turn.counts))
    assert by_leave(tracker) == {(): 1.0}
    assert tracker.style == style


def test_what_was_looked_at_in_part_is_doubted_more() -> None:
    turn, tracker, _ = after_a_play()
    found = watched(tracker, turn.play, turn.counts, 5)
    assert 0 < found.unseen < 1
    looked_at = float((found.posterior * found.chances).sum())
    assert tracker.prior.doubt == pytest.approx(1 - looked_at)


# --- style and belief -----------------------------------------------------------------------------


def test_a_style_is_learnt_by_the_evidence_of_a_play() -> None:
    style, turn = stranger(), turns(*GAMES[1])[0]
    tracker = RackFilter(judges(), style)
    found = watched(tracker, turn.play, turn.counts)
    assert tracker.style == style.learn(found.evidence) != style
    sure = RackFilter(judges(), style, learns=False)
    watched(sure, turn.play, turn.counts)
    assert sure.style == style


def test_who_passes_a_higher_score_by_does_not_go_by_scores() -> None:
    """With a rack that is known; to take it, which may be best anyway, says nothing."""
    style = Style((soft(1.0), soft(4.0), GREEDY), (0.4, 0.2, 0.4))
    tracker, sure = RackFilter(judges(), style), RackFilter(judges(), style, learns=False)
    position = late_position(0, held=5)
    moves = judges()["greedy"].everything(position)
    static = judges()["static"].best(position)[0].move
    dearest = moves[0].move
    assert dearest != static
    for each in (tracker, sure):
        each.revealed(position, static)
    assert tracker.style.odds[2] < 0.4
    assert tracker.style.odds[0] == pytest.approx(2 * tracker.style.odds[1])
    tracker.style = style
    tracker.revealed(position, dearest)
    assert tracker.style.odds == pytest.approx(style.odds)
    assert sure.style == style
    tracker.revealed(position, Exchange((1,)))  # no move that there is
    assert sum(tracker.style.odds) == pytest.approx(1)


def test_the_last_plays_with_a_bag_tell_nothing_of_how_he_plays() -> None:
    game = LateGame(FULL_BAG - 1, 1)
    tracker, counts = RackFilter(judges(), stranger()), game.counts
    watched(tracker, game.he_plays(most=2), counts)
    assert tracker.style == stranger()
    assert tracker.prior.size, "but what he keeps"


def test_a_belief_is_what_simulations_take() -> None:
    turn, tracker, _ = after_a_play()
    belief = tracker.belief()
    assert belief is not None
    assert belief.doubt == DOUBT
    tracker.drew(turn.drawn, turn.counts_then)
    sure = tracker.belief(0.0)
    assert sure is not None
    assert sure.doubt == 0
    seen = np.subtract(unseen(Position(turn.play.board, ((), ()), (0, 0)), 0, RULES), turn.counts)
    position = Position(turn.play.board, (tuple(tiles_of(seen.tolist())), ()), (0, 0))
    taken = believed(position, scene(position, RULES, 2, 0), sure, RULES)
    assert taken.tiles.tolist() == tracker.prior.tiles.tolist()
    assert taken.weights.sum() == pytest.approx(1)


def test_while_nothing_is_known_there_is_no_belief() -> None:
    assert RackFilter(judges(), stranger()).belief() is None
    _, tracker, _ = after_a_play()
    assert tracker.belief() is not None
    tracker.forget()
    assert tracker.belief() is None
