"""Whole games on a virtual clock: who loses on time, and who does not."""

from __future__ import annotations

import msgspec
import pytest
from tables import MINUTE, SHORT, Play, outcome

from harness.arbiter.records import Thought, TurnRecord
from harness.arbiter.table import MAX_THOUGHTS, MOST_THOUGHT_BYTES
from protocol.messages import Refused
from protocol.parts import TimeControl


def test_a_silent_seat_loses_on_time_whatever_the_score() -> None:
    play = Play(SHORT).start()
    play.wait(3 * MINUTE)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("time", 1)
    assert play.faults == [(0, "time")]
    sentence = "lost on time: 180001 ms used where 180000 ms were left"
    assert play.result.message == f"{play.book.opened.players[0]} {sentence}"


def test_a_seat_that_talks_for_ever_loses_on_time_all_the_same() -> None:
    play = Play(SHORT).start()
    began = play.now
    while not play.table.over:
        play.think("still thinking")
        play.wait(50)
    assert outcome(play) == ("time", 1)
    assert play.now - began == 3 * MINUTE + 50
    kept = [record for record in play.records if isinstance(record, Thought)]
    assert len(kept) == MAX_THOUGHTS, "the journal does not grow with them"


def test_of_a_seats_long_thoughts_a_game_keeps_a_mebibyte() -> None:
    play, texts = Play(SHORT).start(), ("x" * 8_000, "short")
    while not play.table.over:
        for _ in range(MAX_THOUGHTS):
            play.think(texts[play.seat])
        play.move("-")
    kept = [record for record in play.records if isinstance(record, Thought)]
    size = sum(len(msgspec.json.encode(record)) for record in kept if record.seat == 0)
    assert MOST_THOUGHT_BYTES - 10_000 < size <= MOST_THOUGHT_BYTES
    assert sum(record.seat for record in kept) == 3 * MAX_THOUGHTS, (
        "and all short ones of the other"
    )


def test_a_move_exactly_on_time_counts_and_a_millisecond_later_does_not() -> None:
    for late_ms, over in ((0, False), (1, True)):
        play = Play(SHORT).start()
        seat, move = play.seat, play.the_move("-")
        play.now += 3 * MINUTE + late_ms  # the bytes are in before anybody looks at the clock
        play.say(seat, move)
        assert play.table.over is over
    assert outcome(play) == ("time", 1)


def test_what_lies_between_a_move_and_the_next_turn_is_charged_to_nobody() -> None:
    play = Play(SHORT).start()
    move = play.the_move("-")
    play.bots[0].send(move)
    effects = play.table.receive(0, move, play.now + 1_000)
    assert not play.book.clock_runs
    play.now += 31_000  # the disk took that long
    play.carry_out(effects)
    assert play.asked().clocks == (59_000, 60_000)


@pytest.mark.parametrize("waited_ms", [0, 250])
def test_the_time_of_a_refusal_is_excused_and_what_it_waited_for_is_not(waited_ms: int) -> None:
    play = Play(SHORT).start()
    move = play.the_move("8D QQQQ")
    play.bots[0].send(move)
    arrived = play.now + 1_000
    effects = play.table.receive(0, move, arrived, taken_ms=arrived + waited_ms)
    play.now = arrived + waited_ms + 700  # the disk took that long
    play.table.excuse(play.now)
    play.carry_out(effects)
    (refused,) = play.told(0, Refused)
    assert isinstance(refused, Refused)
    assert refused.deadline_ms == 3 * MINUTE - 1_000 - waited_ms
    assert play.table.book.time_left(play.now) == refused.deadline_ms
    play.move("-")
    assert play.asked().clocks == (MINUTE - 1_000 - waited_ms, MINUTE)


@pytest.mark.parametrize(("think_ms", "penalty"), [(0, 0), (1, 10), (MINUTE, 10), (60_001, 20)])
def test_overtime_costs_points_at_the_end(think_ms: int, penalty: int) -> None:
    play = Play(SHORT).start()
    play.move(after_ms=MINUTE + think_ms)
    for _ in range(5):
        play.move()
    result = play.result
    assert result.outcome == "zeroes"
    assert result.time_penalties == (penalty, 0)
    assert result.scores == (result.rack_adjustments[0] - penalty, result.rack_adjustments[1])
    assert result.clocks == (-think_ms, MINUTE)


def test_overtime_is_taken_off_before_the_winner_is_decided() -> None:
    quick, slow = Play(SHORT).start(), Play(SHORT).start()
    for play, first_ms in ((quick, 0), (slow, 3 * MINUTE)):
        play.move("-" + play.book.rack_text(0)[:1], after_ms=first_ms)
        for _ in range(5):
            play.move()
    ahead = quick.result.winner
    assert ahead is not None
    assert slow.result.scores[0] == quick.result.scores[0] - 20
    assert slow.result.winner == 1


def test_the_overtime_of_a_turn_in_hand_counts_when_the_other_resigns_or_the_host_fails() -> None:
    play = Play(SHORT).start()
    play.wait(MINUTE + 1)
    play.carry_out(play.table.end("host_error", "the disk is full", play.now))
    assert play.result.time_penalties == (10, 0)


def test_a_turn_has_a_cap() -> None:
    capped = TimeControl(initial_ms=MINUTE, move_cap_ms=5_000)
    play = Play(capped).start()
    assert play.asked().deadline_ms == 5_000
    play.move(after_ms=5_000)
    play.wait(5_000)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("time", 0)


def test_a_margin_forgives_a_move_that_is_a_little_late() -> None:
    time = TimeControl(initial_ms=1_000, max_overtime_ms=0, margin_ms=40)
    play = Play(time).start()
    assert play.asked().deadline_ms == 1_040
    play.move(after_ms=1_040)
    assert not play.table.over
    play.wait(1_041)
    assert outcome(play) == ("time", 0)


def test_lag_is_let_off_up_to_the_quota_and_no_further() -> None:
    time = TimeControl(initial_ms=10_000, lag_ms=200)
    play = Play(time).start()
    play.move(after_ms=1_000, lag_ms=150)
    play.move(after_ms=1_000, lag_ms=5_000)
    first, second = (record for record in play.records if isinstance(record, TurnRecord))
    assert (first.think_ms, first.lag_ms, first.clocks) == (850, 150, (9_150, 10_000))
    assert (second.think_ms, second.lag_ms, second.clocks) == (800, 200, (9_150, 9_200))


@pytest.mark.parametrize(
    ("after_ms", "lag_ms", "over"),
    [(1_100, 100, False), (1_100, 99, True), (1_200, 5_000, False), (1_201, 5_000, True)],
)
def test_a_move_held_up_on_its_way_is_waited_for(after_ms: int, lag_ms: int, over: bool) -> None:
    # The lag of a move is known once it is here: the game is not called before it could be.
    play = Play(TimeControl(initial_ms=1_000, max_overtime_ms=0, lag_ms=200)).start()
    assert play.asked().deadline_ms == 1_000
    if after_ms > 1_200:
        play.wait(after_ms)
    else:
        play.move(after_ms=after_ms, lag_ms=lag_ms)
    assert play.table.over is over


def test_an_increment_comes_after_each_move() -> None:
    play = Play(TimeControl(initial_ms=5_000, increment_ms=2_000, max_overtime_ms=0)).start()
    play.move(after_ms=1_500)
    play.move(after_ms=5_000)
    assert play.book.clocks(play.now) == (5_500, 2_000)
    play.wait(5_501)
    assert outcome(play) == ("time", 1)
