"""Two channels put through to each other, and how long a bot that is lent is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

import pytest
from bot_table import MemoryChannel
from msgspec.structs import replace
from small_messages import offer, over, played

from harness.server import relay
from harness.server.relay import LONGEST_TURN_S, PLAYED, RECALLED, UNUSED, IdleWatch, Relay
from protocol.channel import Channel
from protocol.link import ERRORS_LIMIT
from protocol.messages import (
    Decline,
    Error,
    Goodbye,
    Info,
    Message,
    Move,
    NewGame,
    Ping,
    Pong,
    Resume,
)
from protocol.parts import TimeControl


def put_through(games: int | None = None) -> tuple[asyncio.Task[str], Channel, Channel]:
    """Return the relay, the arbiter and the bot."""
    (ours, arbiter), (theirs, bot) = MemoryChannel.pair(), MemoryChannel.pair()
    return asyncio.create_task(Relay(ours, theirs, games).run()), arbiter, bot


async def test_it_ends_after_so_many_games() -> None:
    work, arbiter, bot = put_through(games=2)
    for game in ("one", "one", "two"):
        await arbiter.send(over(3, game))
        assert (await bot.receive()).content == over(3, game)
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


# --- how long a bot that is lent is waited for ----------------------------------------------------


def timed(game: str, initial_ms: int, increment_ms: int = 0) -> NewGame:
    time = TimeControl(
        initial_ms=initial_ms, increment_ms=increment_ms, max_overtime_ms=0, ready_ms=1_000
    )
    return replace(offer(game=game), time=time)


async def test_how_long_a_lent_bot_waits() -> None:
    watch = IdleWatch(60.0, lambda _why: None)
    watch.to_bot(Ping(id=1))
    assert watch.patience_s == 60
    watch.to_bot(timed("one", 300_000))
    assert watch.patience_s == 361
    watch.to_bot(timed("two", 60_000, increment_ms=30_000))
    assert watch.patience_s == LONGEST_TURN_S, "a clock may grow"
    watch.to_bot(over(1, "two"))
    watch.to_bot(timed("two", 2**40))
    assert watch.patience_s == LONGEST_TURN_S
    watch.to_bot(over(1, "one"))
    watch.to_arbiter(Decline(game="two", code="busy", message="no"))
    assert watch.patience_s == 60
    watch.stop()


async def test_who_begins_no_game_soon_gives_the_bot_back_to_players(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "FIRST_GAME_S", 0)
    given_up = asyncio.get_running_loop().create_future()
    watch = IdleWatch(60.0, given_up.set_result, lambda: True)
    assert not watch.is_free, "it may still begin one"
    assert await given_up == RECALLED
    watch.stop()


async def test_a_bot_that_may_begin_no_game_any_more_is_taken_back_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "FIRST_GAME_S", 0)
    (ours, arbiter), (theirs, _) = MemoryChannel.pair(), MemoryChannel.pair()
    lent = Relay(ours, theirs, idle_s=60)
    assert not lent.take_back(), "it may still begin its first"
    await asyncio.sleep(0.01)
    assert lent.take_back()
    assert await lent.run() == RECALLED
    assert isinstance((await arbiter.receive()).content, Goodbye)


BETWEEN_GAMES = "between games"
MADE_UP: dict[str, Callable[[int], tuple[Message, ...]]] = {
    BETWEEN_GAMES: lambda _: (Ping(id=1), over(1, "unknown")),
    "new games without a turn": lambda n: (timed(f"game {n}", 1), over(1, f"game {n}")),
    "an offer again": lambda _: (timed("one", 1),),
    "a game asked for again": lambda _: (Resume(game="one"),),
    "thoughts": lambda n: (Info(game="one", seq=n, text="I think"),),
    "turns of the opponent": lambda n: (played(n, game="one"),),
    "moves in the bot's name": lambda n: (Move(game="one", seq=n, move="-"),),
}


@pytest.mark.parametrize("what", MADE_UP)
async def test_what_an_arbiter_makes_up_keeps_no_bot(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(relay, "LONGEST_TURN_S", 0.1)
    given_up = asyncio.Event()
    watch = IdleWatch(0.05, lambda _why: given_up.set())
    if what != BETWEEN_GAMES:
        watch.to_bot(timed("one", 1))
    async with asyncio.timeout(10):
        for number in count():
            for message in MADE_UP[what](number):
                watch.to_bot(message)
            watch.to_arbiter(Info(game="one", seq=1, text="so do I"))
            watch.to_arbiter(Move(game="one", seq=1, move="-"))  # it is asked again
            await asyncio.sleep(0.002)
            if given_up.is_set():
                break
    watch.stop()


async def test_turns_keep_a_game_on() -> None:
    watch = IdleWatch(60.0, lambda _why: None)
    watch.to_bot(timed("one", 1_000))
    for seq in range(0, 20, 2):
        for note, message in (
            (watch.to_bot, played(seq, game="one")),
            (watch.to_arbiter, Move(game="one", seq=seq + 1, move="-")),
        ):
            due = watch.due_at
            await asyncio.sleep(0.001)
            note(message)
            assert watch.due_at > due
    watch.stop()
