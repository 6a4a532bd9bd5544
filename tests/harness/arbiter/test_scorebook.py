"""A game that is rebuilt from its records is the game that was on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from tables import GAME, MINUTE, NONCES, START_MS, Play, book_of, random_policy, words

from harness.arbiter.records import Began, ClockNote, Record, TurnRecord
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.table import Table
from protocol.messages import Refused, Resign, YourTurn
from protocol.parts import TimeControl

TIME = TimeControl(initial_ms=5 * MINUTE, lag_ms=100)


def state(book: Scorebook) -> tuple[object, ...]:
    """All that a scorebook knows."""
    return (
        *(book.game, book.nonces, book.turns, book.refusals, book.faults, book.ended),
        *(book.styles, book.evidence, book.thoughts),
        *(book.attempt, book.next_seq, book.on_turn, book._clocks, book.scores, book.bag_count),
    )


def restored(records: Sequence[Record], note: ClockNote | None = None) -> Scorebook:
    """Rebuild a game from what the journal would give back."""
    kept = [msgspec.json.decode(msgspec.json.encode(record), type=Record) for record in records]
    return Scorebook.restored(kept, note, words())


def check_restored(play: Play) -> None:
    """Hold a restored game against the live one, now and with a note of a moment ago."""
    note = play.note()
    again = restored(play.records, note if play.book.on_turn is not None else None)
    assert state(again) == state(play.book)
    assert not again.clock_runs, "it stands still until somebody is back"
    assert again.clocks(play.now + 10**6) == play.book.clocks(play.now)
    older = restored(play.records)
    for seat in (0, 1):
        assert older.clocks(0)[seat] >= play.book.clocks(play.now)[seat]


@pytest.mark.parametrize("seed", range(6))
def test_a_game_can_be_restored_at_every_point(seed: int) -> None:
    play, policy = Play(TIME), random_policy(seed)
    check_restored(play)
    play.start()
    for turn in range(1_000):
        play.wait(700)
        check_restored(play)
        if turn % 5 == seed % 5:
            play.think("hm")
            play.move("8D QQQQQQQ", after_ms=300)
            check_restored(play)
        if turn % 7 == 3:
            seat = play.seat
            play.leave(seat)
            play.wait(400)
            check_restored(play)
            play.come(seat)
            play.ready(seat)
        if turn == 4:
            play.carry_out(play.table.fail(1 - play.seat, "crash", "signal 9", play.now))
            check_restored(play)
            play.come(1 - play.seat)
            play.ready(1 - play.seat)
        play.move(policy(play), after_ms=250, lag_ms=40)
        check_restored(play)
        if play.table.over:
            break
    assert play.result.outcome in ("out", "zeroes")
    assert play.book.refusals


@pytest.mark.parametrize("how", ["illegal", "time", "resign"])
def test_a_game_that_was_decided_can_be_restored_with_its_faults(how: str) -> None:
    play = Play(TIME).start()
    if how == "illegal":
        for _ in range(3):
            play.move("nonsense")
    elif how == "time":
        play.wait(10**9)
    else:
        play.say(0, Resign(game=GAME, seq=1))
    assert play.result.outcome == how
    check_restored(play)


def in_a_new_host(play: Play, note: ClockNote | None, *, down_ms: int) -> Play:
    """The host dies and is started again: another scorebook, another table, the same seats."""
    again = Play(book=restored(play.records, note))
    again.records = list(play.records)
    again.now = play.now + down_ms
    again.table = Table(again.book, again.now, (None, None), (None, None))
    again.bots, again.events = play.bots, play.events
    return again


def test_the_time_that_a_host_was_down_is_charged_to_nobody() -> None:
    play = Play(TIME).start()
    play.move("-", after_ms=1_000)
    play.wait(10_000)
    note = play.note()
    play.wait(250)  # and here the host dies
    again = in_a_new_host(play, note, down_ms=10**8)
    again.wait(5_000)
    assert again.book.clocks(again.now) == (299_000, 290_000), "the clock stands still"
    again.come(0)
    again.ready(0)
    assert again.book.clocks(again.now) == (299_000, 290_000), "also while only the other is back"
    again.come(1)
    again.ready(1)
    again.wait(1_000)
    assert again.book.clocks(again.now) == (299_000, 289_000)
    assert again.asked().deadline_ms == again.book.limit() - 10_000
    again.move("-", after_ms=500)
    turn = again.records[-1]
    assert isinstance(turn, TurnRecord)
    assert turn.think_ms == 11_500


def test_a_note_of_an_earlier_turn_says_nothing_about_this_one() -> None:
    play = Play(TIME).start()
    play.wait(40_000)
    stale = play.note()
    play.move("-")
    again = restored(play.records, stale)
    assert again.clocks(0) == play.book.clocks(play.now)


def test_after_a_restart_a_game_goes_on_to_the_same_end() -> None:
    straight = Play(TIME).start()
    policy = random_policy(3)
    texts: list[str] = []
    while not straight.table.over:
        texts.append(policy(straight))
        straight.move(texts[-1], after_ms=100)
    play = Play(TIME).start()
    for number, text in enumerate(texts):
        if number % 4 == 2:
            play = in_a_new_host(play, play.note(), down_ms=3_000)
            for seat in (0, 1):
                play.come(seat)
                play.ready(seat)
        play.move(text, after_ms=100)
    assert play.result == straight.result
    assert [record for record in play.records if isinstance(record, TurnRecord)] == [
        record for record in straight.records if isinstance(record, TurnRecord)
    ]


def test_a_refused_move_that_is_repeated_after_a_restart_gets_its_answer_again() -> None:
    play = Play(TIME).start()
    move = play.the_move("nonsense")
    play.say(0, move)
    again = in_a_new_host(play, play.note(), down_ms=0)
    for seat in (0, 1):
        again.come(seat)
        again.ready(seat)
    asked = again.events[0][-1]
    assert isinstance(asked, YourTurn)
    assert asked.attempt == 2
    again.hear(0, move)
    (refused,) = again.told(0, Refused)
    assert isinstance(refused, Refused)
    assert (refused.attempt, refused.attempts_left) == (1, 2)
    again.move("-")
    assert len(again.book.turns) == 1


def test_records_that_are_no_game_are_refused() -> None:
    play = Play().start()
    with pytest.raises(ValueError, match="the first record of a game is 'opened'"):
        Scorebook.restored(play.records[1:], None, words())


def test_before_the_start_nothing_runs() -> None:
    book = book_of(Play().book.opened)
    assert (book.on_turn, book.next_seq, book.flag_falls(), book.bag_count) == (None, 0, None, 100)
    book.start_clock(START_MS)
    assert not book.clock_runs
    assert book.elapsed(START_MS + 5) == 0
    book.take(Began(nonces=NONCES))
    assert (book.on_turn, book.next_seq, book.bag_count) == (0, 1, 86)
