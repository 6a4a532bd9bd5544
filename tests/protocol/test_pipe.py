"""Channels over real pipes; and a connection's reader, who keeps nobody waiting for another."""

from __future__ import annotations

import asyncio
import os
import random
import struct
from collections.abc import AsyncIterator, Callable
from unittest.mock import AsyncMock

import pytest
import pytest_asyncio
from bot_table import MemoryChannel
from wire import made_message

from protocol.channel import Arrival, ChannelClosed, PipeChannel, now_ms
from protocol.codec import MAX_FRAME, MSGPACK
from protocol.errors import PeerError
from protocol.link import Link
from protocol.messages import MESSAGES, Error, Message, Move, Ping, Pong, Resume, Standings


async def open_pipe() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """One pipe of the operating system, as streams."""
    loop = asyncio.get_running_loop()
    read, write = os.pipe()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read, "rb", buffering=0)
    )
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
        os.fdopen(write, "wb", buffering=0),
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


@pytest_asyncio.fixture
async def ends() -> AsyncIterator[tuple[PipeChannel, PipeChannel]]:
    to_bot, from_host = await open_pipe()
    to_host, from_bot = await open_pipe()
    pair = PipeChannel(to_host, from_host, "the bot"), PipeChannel(to_bot, from_bot, "the host")
    yield pair
    for end in pair:
        await end.close()
        end._reader._transport.close()  # type: ignore[attr-defined]
    await asyncio.sleep(0)


Ends = tuple[PipeChannel, PipeChannel]


async def raw(end: PipeChannel, content: bytes) -> None:
    """Write bytes that are no frame of ours."""
    end._writer.write(content)
    await end._writer.drain()


async def test_every_message_goes_both_ways_with_its_time(ends: Ends) -> None:
    host, bot = ends
    rng = random.Random(3)
    for kind in MESSAGES:
        message = made_message(kind, rng)
        before = now_ms()
        await host.send(message)
        arrival = await bot.receive()
        assert arrival.content == message
        assert before <= arrival.at_ms <= now_ms()
        await bot.send(message)
        assert (await host.receive()).content == message
    assert host.round_trip_ms == 0


async def test_what_can_not_be_read_is_an_error_and_the_next_message_comes(ends: Ends) -> None:
    host, bot = ends
    for content in (b"\xc1", b"", b"\x81\xa4type\xa5dance", b"\x81\xa4type\xa3\xff\xfe\xfd"):
        await raw(host, struct.pack("<I", len(content)) + content)
        arrival = await bot.receive()
        assert isinstance(arrival.content, PeerError)
    await host.send(Ping(id=1))
    assert (await bot.receive()).content == Ping(id=1)


async def test_a_frame_in_pieces_is_one_message(ends: Ends) -> None:
    host, bot = ends
    frame = MSGPACK.encode(Ping(id=5))
    assert isinstance(frame, bytes)
    waiting = asyncio.create_task(bot.receive())
    for byte in struct.pack("<I", len(frame)) + frame:
        await raw(host, bytes([byte]))
        await asyncio.sleep(0)
    assert (await waiting).content == Ping(id=5)


async def test_being_cancelled_in_the_middle_of_a_frame_loses_nothing(ends: Ends) -> None:
    host, bot = ends
    frame = MSGPACK.encode(Ping(id=6))
    assert isinstance(frame, bytes)
    await raw(host, struct.pack("<I", len(frame)))
    while bot._length is None:
        waiting = asyncio.create_task(bot.receive())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await raw(host, frame)
    assert (await bot.receive()).content == Ping(id=6)


async def test_a_frame_over_the_limit_ends_the_channel(ends: Ends) -> None:
    host, bot = ends
    await raw(host, struct.pack("<I", MAX_FRAME + 1))
    with pytest.raises(ChannelClosed, match="a frame of 262145 bytes") as caught:
        await bot.receive()
    assert caught.value.code == 1009


async def test_a_pipe_that_is_closed_says_so_on_both_ends(ends: Ends) -> None:
    host, bot = ends
    await host.close()
    await host.close()
    with pytest.raises(ChannelClosed, match="the host: the pipe is closed"):
        await bot.receive()
    with pytest.raises(ChannelClosed, match="the host: the pipe is closed"):
        await bot.receive()


async def test_a_reader_that_is_gone_is_noticed_by_who_writes() -> None:
    reader, writer = await open_pipe()
    end = PipeChannel(asyncio.StreamReader(), writer, "the bot")
    reader._transport.close()  # type: ignore[attr-defined]

    async def talk() -> None:
        for _ in range(1_000):
            await end.send(Ping(id=1))
            await asyncio.sleep(0)

    with pytest.raises(ChannelClosed, match="the bot"):
        await talk()
    await end.close()
    await asyncio.sleep(0)


# --- a connection's reader ------------------------------------------------------------------------


async def test_of_two_talkative_peers_each_is_heard_in_turn() -> None:
    heard: list[str] = []
    all_heard = asyncio.Event()

    async def run(name: str) -> None:
        ours, theirs = MemoryChannel.pair()
        for _ in range(20):
            await theirs.send(Standings())
        await Link(ours, hear(name)).run()

    def hear(name: str) -> Callable[[Message, int], None]:
        def heard_one(_message: Message, _at_ms: int) -> None:
            heard.append(name)
            if len(heard) == 40:
                all_heard.set()

        return heard_one

    runs = [asyncio.create_task(run(name)) for name in ("first", "second")]
    await all_heard.wait()
    assert heard == ["first", "second"] * 20
    for each in runs:
        each.cancel()
    await asyncio.gather(*runs, return_exceptions=True)


async def test_a_game_that_is_bound_is_told_what_its_bot_says_and_the_owner_all_else() -> None:
    ours, theirs = MemoryChannel.pair()
    heard: list[tuple[str, Message]] = []
    link = Link(ours, lambda message, _at_ms: heard.append(("owner", message)))
    running = asyncio.create_task(link.run())

    async def said(*messages: Message) -> list[str]:
        heard.clear()
        for message in messages:
            await theirs.send(message)
        await theirs.send(Ping(id=1))
        while not isinstance((await theirs.receive()).content, Pong):
            pass
        assert [message for _, message in heard] == list(messages)
        return [who for who, _ in heard]

    move, resume = Move(game="g", seq=1, move="-"), Resume(game="g", seen=0)
    assert await said(move) == ["owner"]
    link.bind("g", lambda message, _at_ms: heard.append(("game", message)))
    assert await said(move, Move(game="h", seq=1, move="-"), resume, Standings(), move) == [
        *("game", "owner", "owner", "owner", "game")
    ]
    link.unbind("g")
    assert await said(move) == ["owner"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


class Fails(Exception):
    pass


async def test_what_is_taken_as_it_arrives_is_answered_refused_or_ends_the_run() -> None:
    ours, theirs = MemoryChannel.pair()
    heard: list[int] = []

    def hear(_message: Message, at_ms: int) -> None:
        heard.append(at_ms)
        if at_ms == 2:
            raise PeerError("no", "not now")
        if at_ms == 3:
            raise Fails

    running = asyncio.create_task(Link(ours, hear).run())
    await asyncio.sleep(0)
    take = ours.take
    assert take is not None
    take(Arrival(Ping(id=7), 0))
    for at_ms in (1, 2, 3):
        take(Arrival(Standings(), at_ms))
    assert ours.take is None, "nothing more is handed over"
    with pytest.raises(Fails):
        await running
    assert heard == [1, 2, 3]
    assert (await theirs.receive()).content == Pong(id=7)
    answer = (await theirs.receive()).content
    assert isinstance(answer, Error)
    assert answer.code == "no"


async def test_a_message_that_cant_be_written_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, _ = MemoryChannel.pair()
    with monkeypatch.context() as patched:
        patched.setattr(ours, "send_now", lambda _message: False)
        patched.setattr(ours, "send", AsyncMock(side_effect=TypeError("no such type")))
        link = Link(ours, lambda _message, _at_ms: None)
        running = asyncio.create_task(link.run())
        link.send(Pong(id=1))
        async with asyncio.timeout(5):
            with pytest.raises(TypeError, match="no such type"):
                await running


async def test_a_run_that_is_cancelled_is_cancelled_even_if_it_has_failed() -> None:
    ours, _ = MemoryChannel.pair()

    def hear(_message: Message, _at_ms: int) -> None:
        raise Fails

    running = asyncio.create_task(Link(ours, hear).run())
    await asyncio.sleep(0)
    assert ours.take is not None
    ours.take(Arrival(Standings(), 0))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize("turns", range(6))
async def test_a_run_is_cancelled_also_while_it_ends(turns: int) -> None:
    ours, theirs = MemoryChannel.pair()

    async def run_on() -> None:
        while True:
            await Link(ours, lambda _message, _at_ms: None).run()

    running = asyncio.create_task(run_on())
    await asyncio.sleep(0)
    await theirs.close()
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
