"""A connection's reader: nobody's messages wait for all that another has sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from unittest.mock import AsyncMock

import pytest
from bot_table import MemoryChannel

from protocol.channel import Arrival
from protocol.errors import PeerError
from protocol.link import Link
from protocol.messages import Error, Message, Move, Ping, Pong, Resume, Standings


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
