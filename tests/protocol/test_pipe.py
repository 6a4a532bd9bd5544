"""Channels over real pipes."""

from __future__ import annotations

import asyncio
import os
import random
import struct
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from wire import made_message

from protocol.channel import ChannelClosed, PipeChannel, now_ms
from protocol.codec import MAX_FRAME, MSGPACK
from protocol.errors import PeerError
from protocol.messages import MESSAGES, Ping


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
