"""A game that is rebuilt from its records is the game that was on, and goes on in a new host."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from tables import GAME, MINUTE, NONCES, START_MS, Play, book_of, random_policy, words

from harness.arbiter.records import Began, ClockNote, Record, TurnRecord
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.table import Table
from protocol.messages import Refused, Resign
from protocol.parts import TimeControl

READY_MS = 5_000
TIME = TimeControl(initial_ms=5 * MINUTE, lag_ms=100, ready_ms=READY_MS)


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


def back(play: Play, *seats: int) -> None:
    for seat in seats:
        play.come(seat)
        play.ready(seat)


@pytest.mark.parametrize("seed", range(3))
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
            back(play, seat)
        if turn == 4:
            play.carry_out(play.table.fail(1 - play.seat, "crash", "signal 9", play.now))
            check_restored(play)
            back(play, 1 - play.seat)
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
            back(play, 0, 1)
        play.move(text, after_ms=100)
    assert play.result == straight.result
    played, expected = (
        [record for record in one.records if isinstance(record, TurnRecord)]
        for one in (play, straight)
    )
    assert played == expected


def test_a_refused_move_that_is_repeated_after_a_restart_gets_its_answer_again() -> None:
    play = Play(TIME).start()
    move = play.the_move("nonsense")
    play.say(0, move)
    again = in_a_new_host(play, play.note(), down_ms=0)
    back(again, 0, 1)
    assert again.asked().attempt == 2
    again.hear(0, move)
    (refused,) = again.told(0, Refused)
    assert isinstance(refused, Refused)
    assert (refused.attempt, refused.attempts_left) == (1, 2)
    again.move("-")
    assert len(again.book.turns) == 1


def test_records_that_are_no_game_are_refused() -> None:
    play = Play().start()
    with pytest.raises(ValueError, match="'opened'"):
        Scorebook.restored(play.records[1:], None, words())


def test_before_the_start_nothing_runs() -> None:
    book = book_of(Play().book.opened)
    assert (book.on_turn, book.next_seq, book.flag_falls(), book.bag_count) == (None, 0, None, 100)
    book.start_clock(START_MS)
    assert not book.clock_runs
    assert book.elapsed(START_MS + 5) == 0
    book.take(Began(nonces=NONCES))
    assert (book.on_turn, book.next_seq, book.bag_count) == (0, 1, 86)


# --- whose clock stands still after the host was down, and for how long ---------------------------


@pytest.fixture
def killed() -> Play:
    """A host that is back after it died in the second turn, 2 s into it; nobody has come yet."""
    before = Play(TIME).start()
    before.move(after_ms=1_000)
    before.wait(2_000)
    note = before.note()
    before.wait(250)  # after its last note
    return in_a_new_host(before, note, down_ms=10**8)


def test_the_clock_stands_still_until_the_seat_to_move_is_back(killed: Play) -> None:
    killed.wait(3_000)
    back(killed, 0)
    killed.wait(1_000)
    killed.come(1)
    assert killed.offered(1).clocks == (299_000, 298_000)
    killed.ready(1)
    assert killed.asked().clocks == (299_000, 298_000)
    assert killed.asked().deadline_ms == killed.book.limit() - 2_000
    killed.move(after_ms=500)
    turn = killed.records[-1]
    assert isinstance(turn, TurnRecord)
    assert (turn.think_ms, turn.clocks) == (2_500, (299_000, 297_500))


def test_nobody_is_waited_for_longer_than_ready_ms(killed: Play) -> None:
    killed.wait(READY_MS + 200)
    assert killed.book.clocks(killed.now) == (299_000, 297_800)


@pytest.mark.parametrize(("away_ms", "left_ms"), [(2_000, 299_000), (READY_MS, 298_000)])
def test_a_seat_that_is_not_back_yet_pays_nothing_for_the_others_haste(
    killed: Play, away_ms: int, left_ms: int
) -> None:
    back(killed, 1)
    killed.move(after_ms=1_000)
    killed.wait(away_ms)
    back(killed, 0)
    assert killed.asked().clocks == (left_ms, 297_000)


def test_who_has_been_back_and_leaves_again_has_his_clock_running(killed: Play) -> None:
    back(killed, 0)
    killed.leave(0)
    back(killed, 1)
    killed.move(after_ms=1_000)
    killed.wait(1_000)
    assert killed.book.clocks(killed.now) == (298_000, 297_000)
