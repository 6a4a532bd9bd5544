"""Whole games on a virtual clock: lost connections, and processes that fail."""

from __future__ import annotations

import pytest
from tables import GAME, MINUTE, SHORT, Play, outcome

from harness.arbiter.records import Failed
from protocol.messages import GameOver, Played, Resume, YourTurn

# --- lost connections -----------------------------------------------------------------------------


def test_a_seat_that_comes_back_has_lost_time_and_nothing_else() -> None:
    play = Play(SHORT).start()
    play.move("-")
    play.move("-")
    play.leave(0)
    play.wait(30_000)
    play.come(0)
    offer = play.offered(0)
    assert (offer.seq, offer.you, offer.rack) == (3, 0, play.book.rack_text(0))
    assert offer.clocks == (30_000, MINUTE), "its clock ran"
    assert offer.history == (), "it has seen everything"
    play.ready(0)
    asked = play.asked()
    assert (asked.seq, asked.clocks, asked.deadline_ms) == (3, (30_000, MINUTE), 150_000)
    assert not play.table.over


def test_what_a_seat_has_missed_is_told_when_it_comes_back() -> None:
    play = Play().start()
    play.move("-")
    play.leave(0)
    play.move("-" + play.book.rack_text(1)[:2])
    play.wait(1_000)
    play.come(0)
    offer = play.offered(0)
    assert [(turn.seq, turn.seat, turn.move) for turn in offer.history] == [(2, 1, "-2")]
    assert all(turn.rack is None for turn in offer.history)


def test_a_turn_that_is_taken_before_the_seat_is_ready_again_is_told_then() -> None:
    play = Play().start()
    play.move("-")
    play.leave(0)
    play.come(0)
    play.move("-")
    play.ready(0)
    last = play.events[0][-2:]
    assert [type(event) for event in last] == [Played, YourTurn]
    assert [event.seq for event in last if isinstance(event, Played | YourTurn)] == [2, 3]


def test_a_move_whose_answer_was_lost_is_not_made_twice() -> None:
    play = Play().start()
    move = play.the_move("-")
    play.say(0, move)
    for _ in range(3):
        play.hear(0, move)
    assert len(play.book.turns) == 1
    assert len(play.told(0, Played)) == 4
    assert len(set(map(repr, play.told(0, Played)))) == 1, "the same answer each time"
    assert len(play.told(1, Played)) == 1


def test_a_move_that_never_arrived_is_given_again_when_asked_again() -> None:
    play = Play().start()
    play.bots[0].send(play.the_move("-"))  # lost on its way
    play.leave(0)
    play.come(0)
    play.ready(0)
    while play.replies:
        play.hear(*play.replies.pop(0))
    assert [turn.seat for turn in play.book.turns] == [0]


def test_the_newest_login_counts() -> None:
    play = Play().start()
    play.come(0)  # the older connection is still there
    play.hear(0, play.the_move("-"))  # it crossed with the new offer
    assert play.book.turns == []
    play.ready(0)
    play.move("-")
    assert len(play.book.turns) == 1


def test_a_seat_that_is_away_when_its_time_runs_out_loses_on_time() -> None:
    play = Play(SHORT).start()
    play.wait(1_000)
    play.leave(0)
    play.wait(3 * MINUTE)
    assert outcome(play) == ("time", 1)
    assert play.faults == [(0, "disconnect"), (0, "time")]
    assert play.verdict(1).outcome == "time"
    assert play.told(0, GameOver) == []
    play.come(0)
    assert play.verdict(0).outcome == "time", "who comes back late learns how it ended"


def test_a_seat_may_ask_for_the_game_again_on_the_same_connection() -> None:
    play = Play().start()
    play.move("-")
    play.say(0, Resume(game=GAME, seen=-1))
    assert [turn.seq for turn in play.offered(0).history] == [1]
    play.ready(0)
    play.move("-")
    play.move("-")
    assert len(play.book.turns) == 3


def test_the_opponent_goes_on_while_a_seat_is_away() -> None:
    play = Play(SHORT).start()
    play.move("-")
    play.leave(0)
    play.move("-", after_ms=1_000)
    assert play.book.clock_runs, "the clock of the seat that is away runs"
    play.wait(3 * MINUTE + 1)
    assert outcome(play) == ("time", 1)


# --- processes that fail --------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["crash", "stall"])
def test_a_process_is_started_again_once_with_its_clock_running(code: str) -> None:
    play = Play(SHORT).start()
    play.carry_out(play.table.fail(0, code, "it is gone", play.now))  # type: ignore[arg-type]
    assert play.restarts == [0]
    play.wait(10_000)
    play.come(0)
    play.ready(0)
    assert play.asked().clocks == (50_000, MINUTE)
    play.move("-")
    play.carry_out(play.table.fail(0, code, "again", play.now))  # type: ignore[arg-type]
    assert outcome(play) == (code, 1)
    assert play.faults == [(0, code), (0, code)]
    assert play.restarts == [0]


def test_one_crash_is_noted_in_a_game_that_is_played_to_its_end() -> None:
    play = Play().start()
    play.carry_out(play.table.fail(1, "crash", "signal 11", play.now, "its last words"))
    assert [text.partition(", ")[2] for text in play.book.evidence] == [
        "crash: signal 11\nits last words\n"
    ]
    play.come(1)
    play.ready(1)
    for _ in range(6):
        play.move("-")
    assert play.result.outcome == "zeroes"
    assert play.faults == [(1, "crash")]


def test_a_process_that_never_gets_ready_gives_no_game() -> None:
    play = Play()
    play.come(0)
    play.ready(0)
    for _ in range(2):
        play.carry_out(play.table.fail(1, "crash", "no module named x", play.now))
    assert outcome(play) == ("no_show", 0)
    assert play.faults == [(1, "crash"), (1, "crash"), (1, "no_show")]


def test_the_last_words_of_a_process_are_cut_to_what_a_message_may_carry() -> None:
    play = Play().start()
    for _ in range(2):
        play.carry_out(play.table.fail(0, "crash", "𝔞" * 50_000, play.now))
    assert play.verdict(1).outcome == "crash", "it could be read by the other seat"
    assert any(isinstance(record, Failed) for record in play.records)
