"""The seat of a process: whether it hangs."""

from __future__ import annotations

import asyncio
import time

import pytest
from bot_table import MemoryChannel
from msgspec.structs import replace
from small_messages import over

from harness.arbiter.seat import Came, Gone, Seat, SeatEvent
from harness.seats import seats
from harness.seats.seat_factory import log_file
from harness.seats.seats import ProcessSeat, RemoteSeat, Worker, greeted, last_words
from protocol.channel import Channel, ChannelClosed
from protocol.messages import Error, Ping, Pong
from protocol.parts import Outcome

EVERY_MS, STALL_MS = 20, 200


async def come(seat: Seat) -> asyncio.Queue[SeatEvent]:
    """Start a seat, and wait until it has come; return what it reports from then on."""
    heard: asyncio.Queue[SeatEvent] = asyncio.Queue()
    seat.start(heard.put_nowait)
    async with asyncio.timeout(30):
        assert await heard.get() == Came()
    return heard


async def answering(channel: Channel, *, until: int) -> None:
    """Answer so many pings, and then be silent."""
    try:
        while (content := (await channel.receive()).content) and isinstance(content, Ping):
            if content.id <= until:
                await channel.send(Pong(id=content.id))
    except ChannelClosed:
        pass


def test_the_sentence_that_explains_an_end_is_found() -> None:
    stderr = "hello\nTraceback …\ntilewire: one: bad.py, line 7, in choose: KeyError\n  frame\n"
    assert last_words(stderr, "one") == (
        "bad.py, line 7, in choose: KeyError\n  frame",
        "hello\nTraceback …",
    )
    assert last_words("killed\n", "one") == ("", "killed")


@pytest.mark.parametrize(("until", "hangs"), [(10_000, False), (3, True)])
async def test_a_host_that_stands_still_takes_nobody_for_hung(
    monkeypatch: pytest.MonkeyPatch, until: int, hangs: bool
) -> None:
    monkeypatch.setattr(seats, "PING_EVERY_MS", EVERY_MS)
    monkeypatch.setattr(seats, "STALL_MS", STALL_MS)
    ours, theirs = MemoryChannel.pair()

    async def start() -> Worker:
        return Worker(ours)

    process = asyncio.create_task(answering(theirs, until=until))
    seat = ProcessSeat("one", start)
    heard = await come(seat)
    time.sleep(2 * STALL_MS / 1_000)  # noqa: ASYNC251 - as a host that was stopped, and goes on
    if hangs:
        async with asyncio.timeout(10):
            gone = await heard.get()
        assert isinstance(gone, Gone)
        assert gone.failure == "stall"
    else:
        await asyncio.sleep(2 * STALL_MS / 1_000)
        assert heard.empty()
    await seat.stop()
    await process


@pytest.mark.parametrize(
    ("outcome", "is_reused"),
    [("out", True), ("zeroes", True), ("challenge", True), ("resign", False)],
)
async def test_the_process_of_a_completed_game_is_reused(outcome: Outcome, is_reused: bool) -> None:
    ours, _ = MemoryChannel.pair()
    idle: list[Worker] = []

    async def start() -> Worker:
        return Worker(ours, pool=idle)

    seat = ProcessSeat("one", start)
    await come(seat)
    seat.send(replace(over(3), outcome=outcome))
    await seat.stop()
    assert bool(idle) == is_reused


async def test_a_remote_bot_that_is_not_there_is_waited_for_and_said_once() -> None:
    ours, _ = MemoryChannel.pair()
    said: list[str] = []
    dials = iter([ChannelClosed("refused")] * 3)

    async def dial() -> Channel:
        for failure in dials:
            raise failure
        return ours

    seat = RemoteSeat("one", dial, said.append)
    await come(seat)
    await seat.stop()
    assert said == ["waiting for one: refused"]


async def test_a_remote_bot_that_rejects_us_for_good_is_not_waited_for() -> None:
    heard: asyncio.Queue[SeatEvent] = asyncio.Queue()
    ours, theirs = MemoryChannel.pair()
    unknown = Error(code="unknown_bot", message="no bot is called 'statc' here", retry="corrected")

    async def dial() -> Channel:
        await theirs.send(unknown)
        return await greeted(ours, "arbiter", "tilewire")

    seat = RemoteSeat("one", dial)
    seat.start(heard.put_nowait)
    async with asyncio.timeout(30):
        gone = await heard.get()
    await seat.stop()
    why = f"{ours.peer} rejected our hello: {unknown.message}"
    assert gone == Gone("it rejected the connection", "crash", why)


def test_every_name_has_a_log_of_its_own() -> None:
    names = ["v1/x", "v1:x", "v1_x", "\N{FERRIS WHEEL}" * 64, "\U00020000" * 64, "Best (v1)"]
    files = [log_file(name) for name in names]
    assert len(set(files)) == len(names)
    assert all(len(file.encode()) <= 255 and "/" not in file for file in files)
    assert files[-1] == "Best (v1).log"
