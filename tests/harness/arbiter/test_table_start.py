"""Whole games on a virtual clock: how they start, and what seats are told of each other."""

from __future__ import annotations

import pytest
from tables import GAME, MINUTE, SHORT, Play, outcome, words

from harness.arbiter.records import Thought
from harness.arbiter.scorebook import Scorebook
from protocol.codec import MSGPACK
from protocol.messages import Decline, GameOver, Info, NewGame, Started, YourTurn
from protocol.parts import Belief, TimeControl

# --- the start ------------------------------------------------------------------------------------


def test_no_clock_runs_and_no_tile_is_dealt_before_both_are_ready() -> None:
    play = Play(SHORT)
    play.come(0)
    play.come(1)
    play.ready(0)
    play.wait(4_000)
    assert not play.book.clock_runs
    assert play.told(0, Started) == []
    play.ready(1)
    assert [len(play.told(seat, Started)) for seat in (0, 1, None)] == [1, 1, 1]
    asked = play.asked()
    assert (asked.seq, asked.clocks, asked.deadline_ms) == (1, (MINUTE, MINUTE), 3 * MINUTE)
    assert play.told(1, YourTurn) == []


@pytest.mark.parametrize(
    ("ready", "winner", "faults"),
    [((), None, [0, 1]), ((0,), 0, [1]), ((1,), 1, [0])],
)
def test_who_is_not_ready_in_time_does_not_play(
    ready: tuple[int, ...], winner: int | None, faults: list[int]
) -> None:
    play = Play(SHORT)
    for seat in (0, 1):
        play.come(seat)
    for seat in ready:
        play.ready(seat)
    play.wait(4_999)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("no_show", winner)
    assert play.faults == [(seat, "no_show") for seat in faults]
    players = play.book.opened.players
    told = "no game" if winner is None else f"{players[1 - winner]} lost without a game"
    assert play.result.message == f"{told}: not ready in time"
    assert play.result.scores == (0, 0)
    assert play.verdict(1).racks == ("", "")


def test_who_watches_a_game_that_never_began_is_offered_its_start_and_its_end() -> None:
    play = Play(SHORT)
    play.wait(5_000)
    offer, verdict = play.watched()
    assert isinstance(offer, NewGame)
    assert isinstance(verdict, GameOver)
    assert (offer.seq, offer.clocks, offer.rack, verdict.seq) == (0, None, None, 0)


def test_a_seat_may_be_ready_leave_and_come_back_before_the_start() -> None:
    play = Play(SHORT)
    play.come(0)
    play.ready(0)
    play.leave(0)
    play.come(1)
    play.ready(1)
    assert play.told(1, Started) == [], "the other is away"
    play.come(0)
    play.ready(0)
    assert len(play.told(1, Started)) == 1


@pytest.mark.parametrize("is_ready", [True, False])
def test_a_seat_that_fails_at_the_start_loses_whoever_was_ready_first(is_ready: bool) -> None:
    play = Play()
    play.come(0)
    if is_ready:
        play.ready(0)
    for _ in range(2):
        play.come(1)
        play.carry_out(play.table.fail(1, "crash", "it ended", play.now))
    assert outcome(play) == ("no_show", 0)


@pytest.mark.parametrize("is_ready", [True, False])
def test_a_seat_that_declines_gives_the_game_to_the_other(is_ready: bool) -> None:
    play = Play()
    play.come(0)
    play.come(1)
    if is_ready:
        play.ready(0)
    play.say(1, Decline(game=GAME, code="unknown_lexicon", message="I know other words"))
    assert outcome(play) == ("no_show", 0)
    assert "declined, unknown_lexicon: I know other words" in play.result.message


def test_who_has_seen_its_rack_and_makes_no_first_move_has_lost() -> None:
    time = TimeControl(first_move_ms=20_000)
    play = Play(time).start()
    play.wait(20_000)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("time", 1)
    assert play.faults == [(0, "time")]
    other = Play(time).start()
    other.move(after_ms=20_000)
    other.wait(20_001)
    assert outcome(other) == ("time", 0), "each seat has a first move"


# --- what a seat believes of its opponent ---------------------------------------------------------


def test_what_is_known_of_an_opponent_is_told_to_the_seat_that_may_know_it_alone() -> None:
    play = Play(known_styles=(None, {"soft": 0.75})).start()
    play.move()
    play.leave(1)
    play.come(1)
    play.watch()
    offers = {to: play.told(to, NewGame) for to in (0, 1, None)}
    assert {to: len(said) for to, said in offers.items()} == {0: 1, 1: 2, None: 1}
    for to, said in offers.items():
        styles = [offer.known_style for offer in said if isinstance(offer, NewGame)]
        assert set(map(str, styles)) == {"{'soft': 0.75}" if to == 1 else "None"}


def test_a_belief_is_kept_and_its_style_is_known_to_a_restored_game_too() -> None:
    play = Play().start()
    for style in ({"soft": 1.0}, {"soft": 0.25, "greedy": 0.75}, {}):
        belief = Belief(leaves_considered=3, style=style)
        play.say(0, Info(game=GAME, seq=play.book.next_seq, belief=belief))
        play.move()
        play.move()
    thoughts = [record for record in play.records if isinstance(record, Thought)]
    assert [thought.belief and thought.belief.style for thought in thoughts] == [
        *({"soft": 1.0}, {"soft": 0.25, "greedy": 0.75}, {}),
    ]
    again = Scorebook.restored(play.records, None, words())
    for book in (play.book, again):
        assert book.styles == [{"soft": 0.25, "greedy": 0.75}, None]
    told = [MSGPACK.decode(frame) for to in (1, None) for frame in play.frames[to]]
    assert not any("greedy" in str(message) for message in told)
