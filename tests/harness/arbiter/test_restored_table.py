"""A game that is taken up after the host was down: whose clock stands still, and for how long."""

from __future__ import annotations

import pytest
from tables import MINUTE, Play, words

from harness.arbiter.scorebook import Scorebook
from protocol.parts import TimeControl

READY_MS = 5_000


@pytest.fixture
def play() -> Play:
    """A host that is back after it died in the second turn, 2 s into it; nobody has come yet."""
    before = Play(TimeControl(initial_ms=MINUTE, ready_ms=READY_MS)).start()
    before.move(after_ms=1_000)
    before.wait(2_000)
    return Play(book=Scorebook.restored(before.records, before.note(), words()))


def back(play: Play, seat: int) -> None:
    play.come(seat)
    play.ready(seat)


def test_the_clock_stands_still_until_the_seat_to_move_is_back(play: Play) -> None:
    play.wait(3_000)
    back(play, 0)
    play.wait(1_000)
    play.come(1)
    assert play.offered(1).clocks == (59_000, 58_000)
    play.ready(1)
    assert play.asked().clocks == (59_000, 58_000)
    play.wait(500)
    assert play.book.clocks(play.now) == (59_000, 57_500)


def test_nobody_is_waited_for_longer_than_ready_ms(play: Play) -> None:
    play.wait(READY_MS + 200)
    assert play.book.clocks(play.now) == (59_000, 57_800)


def test_a_seat_that_is_not_back_yet_pays_nothing_for_the_others_haste(play: Play) -> None:
    back(play, 1)
    play.move(after_ms=1_000)
    play.wait(2_000)
    assert play.seat == 0
    assert not play.book.clock_runs, "it is the host's fault that the seat is away"
    back(play, 0)
    assert play.asked().clocks == (59_000, 57_000)
    play.move(after_ms=100)
    assert play.book.clocks(play.now) == (58_900, 57_000)


def test_nor_is_that_seat_waited_for_longer_than_ready_ms(play: Play) -> None:
    back(play, 1)
    play.move(after_ms=1_000)
    play.wait(READY_MS)
    assert play.book.clocks(play.now) == (58_000, 57_000)


def test_who_has_been_back_and_leaves_again_has_his_clock_running(play: Play) -> None:
    back(play, 0)
    play.leave(0)
    back(play, 1)
    play.move(after_ms=1_000)
    play.wait(1_000)
    assert play.book.clocks(play.now) == (58_000, 57_000)
