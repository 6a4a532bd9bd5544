"""Two channels put through to each other."""

from __future__ import annotations

import asyncio

from bot_table import MemoryChannel

from harness.server.relay import PLAYED, UNUSED, Relay
from protocol.channel import Channel
from protocol.link import ERRORS_LIMIT
from protocol.messages import Error, GameOver, Goodbye, Ping, Pong


def over(game: str) -> GameOver:
    return GameOver(
        game=game, seq=3, outcome="resign", winner=0, scores=(1, 0), racks=("", ""), message="over"
    )


def put_through(games: int | None = None) -> tuple[asyncio.Task[str], Channel, Channel]:
    """Return the relay, the arbiter and the bot."""
    (ours, arbiter), (theirs, bot) = MemoryChannel.pair(), MemoryChannel.pair()
    return asyncio.create_task(Relay(ours, theirs, games).run()), arbiter, bot


async def test_it_ends_after_so_many_games() -> None:
    work, arbiter, bot = put_through(games=2)
    for game in ("one", "one", "two"):
        await arbiter.send(over(game))
        assert (await bot.receive()).content == over(game)
    assert await work == PLAYED
    assert isinstance((await arbiter.receive()).content, Goodbye)


async def test_a_bot_that_is_lent_and_not_used_comes_back() -> None:
    (ours, arbiter), (theirs, bot) = MemoryChannel.pair(), MemoryChannel.pair()
    work = asyncio.create_task(Relay(ours, theirs, idle_s=0.01).run())
    await arbiter.send(Ping(id=5))  # whoever only answers pings does not use it
    assert (await arbiter.receive()).content == Pong(id=5)
    goodbye = (await arbiter.receive()).content
    assert isinstance(goodbye, Goodbye)
    assert goodbye.code == "unused"
    assert await work == UNUSED
    assert isinstance((await bot.receive()).content, Goodbye)


async def test_each_side_has_its_pings_answered() -> None:
    work, arbiter, bot = put_through()
    for side in (arbiter, bot):
        await side.send(Ping(id=5))
        assert (await side.receive()).content == Pong(id=5)
    await bot.close()
    assert await work == "the bot is gone"


async def test_who_sends_nothing_but_nonsense_is_cut_off() -> None:
    (ours, arbiter), (theirs, _) = MemoryChannel.pair(), MemoryChannel.pair()
    work = asyncio.create_task(Relay(ours, theirs).run())
    for _ in range(ERRORS_LIMIT):
        ours._inbox.put_nowait(b"\xc1")
        assert isinstance((await arbiter.receive()).content, Error)
    assert "the bot: " in await work
