"""A bot that is away and comes back, and one to which something makes no sense."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace as engine_replace
from typing import Any

import msgspec
import pytest
from bot_players import Passes, Waits
from bot_table import MemoryChannel, TestArbiter, a_bot, caught_up, seated
from msgspec import UNSET
from msgspec.structs import replace
from structlog.testing import capture_logs

from bot.player import Budget, Choice, Observed, View
from bot.seat.connection import BotRunner, TurnedAway
from bot.seat.player_thread import Bot
from engine.notation.cgp import write_cgp
from engine.rules.moves import PASS
from engine.rules.rules import standard_rules
from harness.arbiter.rules_on_wire import rules_on_wire
from lexicons.store import Lexicon
from protocol.channel import Channel, ChannelClosed
from protocol.messages import (
    Challenge,
    Decline,
    Error,
    Goodbye,
    Hello,
    Ping,
    Played,
    Ready,
    Resume,
    Seek,
    Seeking,
    Started,
    Welcome,
    YourTurn,
)
from protocol.messages import Move as MoveMessage

# --- away and back --------------------------------------------------------------------------------


class Server:
    """Hands out channels that are kept track of; dials may be made to fail."""

    def __init__(self) -> None:
        self.ends: asyncio.Queue[MemoryChannel] = asyncio.Queue()
        self.down = 0
        self.waits: list[float] = []

    async def dial(self) -> Channel:
        if self.down:
            self.down -= 1
            raise ChannelClosed("nobody answers")
        ours, its = MemoryChannel.pair()
        self.ends.put_nowait(ours)
        return its

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@asynccontextmanager
async def running(
    runner: BotRunner, server: Server, **options: Any
) -> AsyncIterator[tuple[asyncio.Task[str], MemoryChannel]]:
    """A bot that has dialled; gives its first channel."""
    work = asyncio.create_task(runner.run(server.dial, **{"sleep": server.sleep, **options}))
    try:
        yield work, await server.ends.get()
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def ask_for_a_move(table: TestArbiter, player: Waits) -> None:
    """Ask, and wait until the player searches."""
    await table.begin()
    await table.say(table.question())
    await asyncio.to_thread(player.thinking.wait)


async def test_a_lost_connection_is_dialled_again_and_the_search_goes_on(
    table: TestArbiter,
) -> None:
    player = Waits()
    server = Server()
    runner = a_bot("b", lambda: player, seek=Seek(games=1))
    async with running(runner, server, jitter=lambda: 1.0) as (work, channel):
        await table.greet(channel)
        await table.hear(Seek)
        await ask_for_a_move(table, player)
        server.down = 2
        await channel.close()

        await table.greet(await server.ends.get(), games=(table.name,))
        assert (await table.hear(Resume)) == Resume(game=table.name, seen=0)
        await table.say(table.offer(seq=1, seen=0))
        await table.hear(Ready)
        await table.say(table.question())
        player.go.set()
        await table.hear(MoveMessage)
        assert player.calls == 1
        assert server.waits == [0.2, 0.4, 0.8]
        await table.end()
        assert await table.hear(Goodbye)
        await work


async def test_a_bot_comes_back_with_the_secret_of_its_last_welcome(table: TestArbiter) -> None:
    server, sent = Server(), []
    runner = BotRunner(Bot("b", Passes), secret="ab" * 32)
    async with running(runner, server) as (_, first):
        channel = first
        for secret in ("cd" * 32, UNSET, UNSET):  # a host that knows of none changes nothing
            sent.append((await table.greet(channel, secret=secret)).secret)
            await channel.close()
            channel = await server.ends.get()
    assert sent == ["ab" * 32, "cd" * 32, "cd" * 32]


async def test_an_answer_found_while_away_goes_out_when_it_is_asked_for(table: TestArbiter) -> None:
    player = Waits()
    server = Server()
    runner = a_bot("b", lambda: player)
    async with running(runner, server) as (_, channel):
        await table.greet(channel)
        await ask_for_a_move(table, player)
        await channel.close()
        await table.greet(await server.ends.get())
        await table.hear(Resume)
        await table.take_up(1)
        player.go.set()
        search = runner.games.on[table.name]._search
        assert search is not None
        await search  # its answer may not be given yet: the arbiter has not asked again
        await table.say(table.question())
        assert (await table.hear(MoveMessage)).move == "-"
        assert player.calls == 1
        away = replace(table.make(PASS), clocks=(30_000, 60_000))
        await table.say(away)
        await caught_up(runner, table)
        assert runner.games.on[table.name]._lag.ms == 0, "who is away has no lag"


class Explains(Waits):
    def choose(self, view: View, budget: Budget) -> Choice:
        return engine_replace(super().choose(view, budget), text="found while away")


async def test_thoughts_while_nobody_is_there_come_with_the_move(
    table: TestArbiter,
) -> None:
    player, server, away, back = Explains(), Server(), asyncio.Event(), asyncio.Event()

    async def sleep(_seconds: float) -> None:
        away.set()
        await back.wait()

    runner = a_bot("b", lambda: player)
    async with running(runner, server, sleep=sleep) as (_, channel):
        await table.greet(channel)
        await ask_for_a_move(table, player)
        search = runner.games.on[table.name]._search
        assert search is not None
        await channel.close()
        await away.wait()
        player.go.set()
        await search
        back.set()
        await table.greet(await server.ends.get())
        await table.hear(Resume)
        await table.take_up(1)
        await table.say(table.question())
        assert (await table.hear(MoveMessage)).move == "-"
        assert [info.text for info in table.infos] == ["found while away"]
        assert player.calls == 1


CHALLENGES = engine_replace(standard_rules(), challenge="single")


async def met_with_a_phony(table: TestArbiter) -> YourTurn:
    """Begin a game in which the bot's opponent plays a phony; return what the bot was asked."""
    await table.say(replace(table.offer(), rules=rules_on_wire(CHALLENGES)))
    await table.hear(Ready)
    clocks = (60_000, 60_000)
    await table.say(Started(game=table.name, seq=0, bag=86, clocks=clocks, rack=table.rack))
    phony = CHALLENGES.distribution.alphabet.text(table.state.position.racks[0][-2:])
    play = table.read(f"8H {phony}")
    position = table.state.position.after(play, 6, (), CHALLENGES)
    shown = write_cgp(position.with_rack(0, ()), CHALLENGES)
    told = replace(
        table.make(PASS),
        move=f"8H {phony}",
        score=6,
        scores=(6, 0),
        words=("ZZQ",),
        challenge="open",
    )
    await table.say(told)
    asked = replace(table.question(), position=shown, challenge_ms=20_000)
    await table.say(asked)
    return asked


async def test_an_error_of_a_player_that_is_asked_for_a_challenge_ends_the_conversation(
    lexicon: Lexicon,
) -> None:
    class Fails(Passes):
        def challenge(self, view: View, play: Observed) -> list[str]:
            raise TimeoutError("of its own")

    table = TestArbiter(lexicon, CHALLENGES, you=1)
    async with seated(a_bot("b", Fails), table) as talk:
        await met_with_a_phony(table)
        with pytest.raises(TimeoutError, match="of its own"):
            await talk


async def test_a_word_that_is_challenged_again_and_again_is_named_once(lexicon: Lexicon) -> None:
    class Repeats(Passes):
        def challenge(self, view: View, play: Observed) -> list[str]:
            return [*play.words] * 33

    table = TestArbiter(lexicon, CHALLENGES, you=1)
    async with seated(a_bot("b", Repeats), table):
        await met_with_a_phony(table)
        assert (await table.hear(Challenge)).words == ("ZZQ",)


@pytest.mark.parametrize("left_ms", [None, 5_000])
async def test_a_challenge_that_was_lost_and_comes_too_late_gives_way_to_a_move(
    lexicon: Lexicon, left_ms: int | None
) -> None:
    table, server = TestArbiter(lexicon, CHALLENGES, you=1), Server()
    async with running(a_bot("b", Passes), server) as (_, first):
        await table.greet(first)
        asked = await met_with_a_phony(table)
        assert isinstance((await first.receive()).content, Challenge)
        await first.close()

        channel = await server.ends.get()
        await table.greet(channel, games=(table.name,))
        await table.hear(Resume)
        await table.say(replace(table.offer(seq=2, seen=1), rules=rules_on_wire(CHALLENGES)))
        await table.hear(Ready)
        await table.say(replace(asked, challenge_ms=UNSET if left_ms is None else left_ms))
        async with asyncio.timeout(10):
            answer = (await channel.receive()).content
        assert isinstance(answer, MoveMessage if left_ms is None else Challenge)


async def test_turns_that_were_missed_are_asked_for(table: TestArbiter) -> None:
    player = Passes()
    async with seated(a_bot("b", lambda: player), table):
        await table.begin()
        await table.turn()
        await table.turn()
        await table.turn()
        await table.say(table.offer(seq=table.seq, seen=table.seq - 1))
        await table.hear(Ready)
    fresh = Passes()
    runner = a_bot("b", lambda: fresh)
    async with seated(runner, table):
        await table.say(table.offer(seq=table.seq, seen=1))
        assert (await table.hear(Resume)).seen == 0
        await table.take_up(table.seq)
        await table.turn()
        await caught_up(runner, table)
    assert [play.seq for _, play in fresh.seen][:3] == [1, 2, 3]


async def test_who_is_turned_away_does_not_come_again() -> None:
    server = Server()
    work = asyncio.create_task(a_bot("b", Passes).run(server.dial, sleep=server.sleep))
    channel = await server.ends.get()
    assert isinstance((await channel.receive()).content, Hello)
    await channel.send(Error(code="bad_token", message="that is not your token", retry="no"))
    with pytest.raises(TurnedAway, match="not your token"):
        await work
    assert server.waits == []


async def test_who_was_never_welcome_does_not_try_again() -> None:
    server = Server()
    server.down = 1
    with pytest.raises(ChannelClosed, match="nobody answers"):
        await a_bot("b", Passes).run(server.dial, sleep=server.sleep)


async def test_patience_ends() -> None:
    server = Server()
    work = asyncio.create_task(
        a_bot("b", Passes).run(server.dial, sleep=server.sleep, patience_s=20)
    )
    channel = await server.ends.get()
    await channel.receive()
    await channel.send(Welcome(name="host"))
    await channel.send(Ping(id=1))
    await channel.receive()
    server.down = 1_000
    await channel.close()
    with pytest.raises(ChannelClosed, match="nobody answers"):
        await work
    assert 20 <= sum(server.waits) < 40
    assert all(wait <= 10 for wait in server.waits)


async def test_who_is_asked_to_wait_with_a_seek_waits_longer_each_time() -> None:
    server = Server()
    runner = a_bot("b", Passes, seek=Seek())
    work = asyncio.create_task(
        runner.run(server.dial, sleep=server.sleep, jitter=lambda: 1.0, patience_s=0.5)
    )
    for _ in range(3):
        channel = await server.ends.get()
        await channel.receive()
        await channel.send(Welcome(name="host"))
        assert isinstance((await channel.receive()).content, Seek)
        await channel.send(Error(code="busy", message="seek again in 31 s", retry="later"))
    with pytest.raises(ChannelClosed, match="seek again in 31 s"):
        await work
    assert server.waits == [0.2, 0.4]


async def test_a_turn_that_was_not_told_is_asked_for(table: TestArbiter) -> None:
    player = Passes()
    runner = a_bot("b", lambda: player)
    async with seated(runner, table):
        await table.begin()
        await table.turn()
        missed = table.make(PASS)
        table.make(PASS)
        await table.say(table.history[-1])
        error = await table.hear(Error)
        assert (error.code, error.seq) == ("bad_seq", missed.seq)
        assert (await table.hear(Resume)).seen == 1
        await table.say(table.offer(seq=table.seq, seen=1))
        await table.hear(Ready)
        await table.say(table.make(PASS))
        await caught_up(runner, table)
    assert [play.seq for _, play in player.seen] == [1, 2, 3, 4]


async def test_a_gap_that_is_never_filled_ends_the_game_for_us(table: TestArbiter) -> None:
    runner = a_bot("b", Passes)
    async with seated(runner, table):
        table.make(PASS)
        table.make(PASS)
        await table.say(table.offer(seq=table.seq, seen=1))
        await table.hear(Resume)
        await table.say(table.offer(seq=table.seq, seen=1))
        assert (await table.hear(Decline)).code == "missed_plays"
        assert not runner.games.on


async def test_a_game_that_the_server_has_forgotten_is_let_go(table: TestArbiter) -> None:
    runner = a_bot("b", Passes)
    async with seated(runner, table):
        await table.begin()
        await caught_up(runner, table)
        gone = Error(code="unknown_game", message="no such game", game=table.name)
        await table.channel.send(gone)
        await table.in_step()
        assert not runner.games.on
        assert not runner._session.games


# --- what makes no sense --------------------------------------------------------------------------


async def test_nonsense_is_answered_and_the_conversation_goes_on(table: TestArbiter) -> None:
    async with seated(a_bot("b", Passes), table):
        await table.channel.send(Hello(role="arbiter", name="x"))
        assert (await table.hear(Error)).code == "wrong_role"
        stray = Played(
            game="?", seq=1, seat=0, move="-", score=0, scores=(0, 0), bag=1, clocks=(1, 1)
        )
        await table.channel.send(stray)
        assert (await table.hear(Error)).code == "unknown_game"
        await table.begin()
        await table.turn()


async def test_a_second_welcome_is_no_answer_to_a_seek(table: TestArbiter) -> None:
    async with seated(a_bot("b", Passes), table):
        with capture_logs() as logs:
            await table.channel.send(Welcome(name="host"))
            await table.channel.send(Seeking(opponent="static"))
            await table.in_step()
    assert [log.get("opponent") for log in logs if log["event"] == "seeking"] == ["static"]


async def test_a_peer_that_makes_no_sense_for_long_is_given_up(table: TestArbiter) -> None:
    async with seated(a_bot("b", Passes), table) as talk:
        for _ in range(20):
            await table.channel.send(Hello(role="arbiter", name="x"))
        with pytest.raises(ChannelClosed, match="too many invalid messages"):
            await talk


@pytest.mark.parametrize("rack", ["aeinrst", "ZZZZZZZ", "AEINRSTU"])
async def test_a_rack_that_nobody_can_hold_is_answered(table: TestArbiter, rack: str) -> None:
    async with seated(a_bot("b", Passes), table):
        await table.say(table.offer())
        await table.hear(Ready)
        dealt = Started(game=table.name, seq=0, bag=86, clocks=(60_000, 60_000), rack=rack)
        await table.say(dealt)
        assert (await table.hear(Error)).code == "bad_message"


async def test_a_play_of_tiles_that_nobody_can_have_is_answered(table: TestArbiter) -> None:
    async with seated(a_bot("b", Passes), table):
        await table.begin()
        await table.turn()
        clocks = (60_000, 60_000)
        told = Played(game=table.name, seq=2, seat=1, move="8D ZZ", score=44, scores=(0, 44),
                      bag=84, clocks=clocks, words=("ZZ",))  # fmt: skip
        await table.say(told)
        fault = await table.hear(Error)
        assert fault.code == "bad_message"
        assert "2 tiles Z are in sight" in fault.message


async def test_a_position_that_makes_no_sense_is_answered(table: TestArbiter) -> None:
    async with seated(a_bot("b", Passes), table):
        await table.begin()
        await table.say(msgspec.structs.replace(table.question(), position="15/15 / 0/0 0"))
        assert (await table.hear(Error)).code == "bad_message"
