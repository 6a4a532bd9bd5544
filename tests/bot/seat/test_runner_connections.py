"""A bot that gets ready for its games or does not, is away and comes back, or is told nonsense."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace as engine_replace
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from bot_players import Passes, Waits
from bot_table import MemoryChannel, TestArbiter, a_bot, begun, caught_up, seated
from msgspec import UNSET
from msgspec.structs import replace
from structlog.testing import capture_logs

from bot.equipment import Equipment
from bot.player import Budget, Choice, Player, View
from bot.players.static import GreedyPlayer, StaticPlayer
from bot.seat import worker_main
from bot.seat.connection import BotRunner, TurnedAway
from bot.seat.game_registry import MAX_GAMES
from bot.seat.player_thread import Bot
from bot.seat_text import parse_seat
from engine.notation.cgp import write_cgp
from engine.rules.moves import PASS
from engine.rules.rules import Rules, standard_rules
from harness.arbiter.rules_on_wire import rules_on_wire
from lexicons.store import Lexicon
from protocol.channel import Channel, ChannelClosed
from protocol.messages import (
    Challenge,
    Decline,
    Error,
    GameOver,
    Goodbye,
    Hello,
    Message,
    NewGame,
    Ping,
    Played,
    Pong,
    Ready,
    Resume,
    Seek,
    Seeking,
    Started,
    Welcome,
    YourTurn,
)
from protocol.messages import Move as MoveMessage
from protocol.parts import Retry, RulesInPlay
from protocol.session import KEPT_ENDED

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


class Explains(Waits):
    def choose(self, view: View, budget: Budget) -> Choice:
        return engine_replace(super().choose(view, budget), text="found while away")


@pytest.mark.parametrize("nobody_is_there", [True, False])
async def test_an_answer_found_while_away_goes_out_with_its_thoughts_when_it_is_asked_for(
    table: TestArbiter, nobody_is_there: bool
) -> None:
    player, server, away, back = Explains(), Server(), asyncio.Event(), asyncio.Event()

    async def sleep(_seconds: float) -> None:
        away.set()
        await back.wait()

    async def find() -> None:
        player.go.set()
        search = runner.games.on[table.name]._search
        assert search is not None
        await search

    runner = a_bot("b", lambda: player)
    async with running(runner, server, sleep=sleep) as (_, channel):
        await table.greet(channel)
        await ask_for_a_move(table, player)
        await channel.close()
        await away.wait()
        if nobody_is_there:
            await find()
        back.set()
        await table.greet(await server.ends.get())
        await table.hear(Resume)
        await table.take_up(1)
        if not nobody_is_there:
            await find()  # it may not be given yet: the arbiter has not asked again
        await table.say(table.question())
        assert (await table.hear(MoveMessage)).move == "-"
        assert [info.text for info in table.infos] == ["found while away"]
        assert player.calls == 1
        await table.say(replace(table.make(PASS), clocks=(30_000, 60_000)))
        await caught_up(runner, table)
        assert runner.games.on[table.name]._lag.ms == 0, "who is away has no lag"


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


async def test_a_word_that_is_challenged_again_and_again_is_named_once_and_an_error_ends_all(
    lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Passes()
    for answer in (["ZZQ"] * 33, TimeoutError("of its own")):
        monkeypatch.setattr(player, "challenge", Mock(side_effect=[answer]))
        table = TestArbiter(lexicon, CHALLENGES, you=1)
        async with seated(a_bot("b", lambda: player), table) as talk:
            await met_with_a_phony(table)
            if isinstance(answer, list):
                assert (await table.hear(Challenge)).words == ("ZZQ",)
            else:
                with pytest.raises(TimeoutError, match="of its own"):
                    await talk


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
    async with begun(table, lambda: player):
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
    async with begun(table, lambda: player) as runner:
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
    async with begun(table, Passes) as runner:
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
    async with begun(table, Passes):
        await table.turn()
        clocks = (60_000, 60_000)
        told = Played(game=table.name, seq=2, seat=1, move="8D ZZ", score=44, scores=(0, 44),
                      bag=84, clocks=clocks, words=("ZZ",))  # fmt: skip
        await table.say(told)
        fault = await table.hear(Error)
        assert fault.code == "bad_message"
        assert "2 tiles Z are in sight" in fault.message


async def test_a_position_that_makes_no_sense_is_answered(table: TestArbiter) -> None:
    async with begun(table, Passes):
        await table.say(msgspec.structs.replace(table.question(), position="15/15 / 0/0 0"))
        assert (await table.hear(Error)).code == "bad_message"


# --- getting ready, and not -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        ({"lexicon": "klingon", "lexicon_checksum": None}, "unknown_lexicon", "klingon"),
        ({"lexicon_checksum": "0" * 64}, "unknown_lexicon", "other words"),
        ({"rules": RulesInPlay(distribution="martian")}, "unsupported_rules", "martian"),
        ({"rules": RulesInPlay(layout="../../etc/passwd")}, "unsupported_rules", "not known"),
        ({"rules": RulesInPlay(rack_size=9)}, "unsupported_rules", "9 tiles"),
        ({"you": None}, "wrong_role", "watch"),
    ],
)
async def test_what_cannot_be_played_is_declined_with_a_reason(
    table: TestArbiter, changes: dict[str, object], code: str, says: str
) -> None:
    async with seated(a_bot("b", GreedyPlayer), table):
        offer: NewGame = msgspec.structs.replace(table.offer(), **changes)
        await table.channel.send(offer)
        declined = await table.hear(Decline)
    assert declined.code == code
    assert says in declined.message


async def test_nothing_is_left_of_games_that_were_declined(table: TestArbiter) -> None:
    offer: NewGame = msgspec.structs.replace(table.offer(), opening="nonsense")
    names = [f"g{number}" for number in range(3 * KEPT_ENDED)]
    before = set(threading.enumerate())
    async with seated(a_bot("b", GreedyPlayer), table):
        for name in names:
            await table.channel.send(msgspec.structs.replace(offer, game=name))
            assert (await table.hear(Decline)).code == "unsupported_opening"
        others = set(threading.enumerate()) - before
        players = [each for each in others if each.name.startswith("player of g")]
        for thread in players:
            await asyncio.to_thread(thread.join, 2)
    assert not any(thread.is_alive() for thread in players)


async def test_the_same_words_under_another_name_will_do(table: TestArbiter) -> None:
    async with seated(a_bot("b", GreedyPlayer), table):
        offer = msgspec.structs.replace(table.offer(), lexicon="another name")
        await table.say(offer)
        assert (await table.hear(Ready)).game == offer.game


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("new_game", LookupError("no book")),
        ("choose", StopIteration()),  # the worst of them: a future can't hold it
    ],
)
async def test_what_a_player_raises_ends_the_conversation(
    table: TestArbiter, method: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Passes()
    monkeypatch.setattr(player, method, Mock(side_effect=error))
    async with seated(a_bot("b", lambda: player), table) as talk:
        await table.begin()
        await table.say(table.question())
        with pytest.raises((LookupError, RuntimeError), match=r"no book|StopIteration"):
            await talk


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (lambda _: "8D WORD", "Choice(view.move(text))"),
        (lambda _: Choice("8D WORD"), "Choice(view.move(text))"),  # type: ignore[arg-type]
        (lambda view: Choice(view.legal_moves()[-1]), "Choice(best.move)"),
        (lambda view: view.legal_moves()[-1], "Choice(best.move)"),
        (lambda _: PASS, "Choice(move)"),
        (lambda _: None, "return Choice(move)"),
    ],
)
async def test_an_answer_that_is_no_choice_is_the_players_fault(
    table: TestArbiter, answer: Callable[[View], Any], advice: str
) -> None:
    class Mistaken(Player):
        def choose(self, view: View, budget: Budget) -> Choice:
            choice: Choice = answer(view)
            return choice

    async with seated(a_bot("b", Mistaken), table) as talk:
        await table.begin()
        await table.say(table.question())
        with pytest.raises(TypeError) as raised:
            await talk
    assert advice in str(raised.value)
    assert f"Mistaken.choose ({__file__}, line " in str(raised.value)


async def test_a_game_that_is_over_as_soon_as_it_is_offered(table: TestArbiter) -> None:
    runner = a_bot("b", GreedyPlayer)
    async with seated(runner, table) as talk:
        await table.say(table.offer())
        await table.end()
        await table.in_step()
        assert not talk.done()
        assert (runner.games.finished, runner.games.on) == (1, {})


class Slow(Passes):
    """Gets ready when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.busy = threading.Event(), threading.Event()

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        self.busy.set()
        self.go.wait(30)


async def test_a_game_that_ends_while_it_is_set_up_is_let_go(table: TestArbiter) -> None:
    player = Slow()
    runner = a_bot("b", lambda: player)
    async with seated(runner, table):
        await table.say(table.offer())
        await asyncio.to_thread(player.busy.wait)
        await table.end()
        await table.in_step()
        player.go.set()
        other = TestArbiter(table.lexicon, table.rules, game="g2")
        other.channel = table.channel
        await other.begin()
        assert set(runner.games.on) == {"g2"}
        assert runner.games.finished == 1


@pytest.mark.parametrize("ended", [False, True])
async def test_a_game_too_many_is_declined(table: TestArbiter, ended: bool) -> None:
    """Setups of games that are over count among those that are on."""
    player = Slow()
    async with seated(a_bot("b", lambda: player), table):
        over = GameOver(game="", seq=0, outcome="no_show", winner=None, scores=(0, 0), message="")
        for number in range(MAX_GAMES + 1):
            for message in (table.offer(), over)[: 1 + ended]:
                await table.channel.send(msgspec.structs.replace(message, game=f"g{number}"))
        declined = await table.hear(Decline)
        assert (declined.game, declined.code) == (f"g{MAX_GAMES}", "busy")
        player.go.set()


@pytest.mark.parametrize(
    ("retry", "kind"), [("no", TurnedAway), ("corrected", TurnedAway), ("later", ChannelClosed)]
)
async def test_a_wish_that_is_not_granted(
    table: TestArbiter, retry: Retry, kind: type[Exception]
) -> None:
    async with seated(a_bot("b", Passes, seek=Seek(opponent="nobody")), table) as talk:
        await table.hear(Seek)
        error = Error(code="unknown_opponent", message="nobody is not here", retry=retry)
        await table.channel.send(error)
        with pytest.raises(kind, match="nobody is not here"):
            await talk


async def test_a_bot_seeks_no_game_before_it_is_loaded(table: TestArbiter) -> None:
    loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    runner = a_bot("b", Passes, seek=Seek(opponent="static"), loaded=loaded)
    async with seated(runner, table):
        await table.channel.send(Ping(id=1))
        await table.hear(Pong)  # and nothing before
        loaded.set_result(None)
        assert await table.hear(Seek) == Seek(opponent="static")


def test_who_is_stopped_while_it_loads_does_not_wait_for_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, enough, ended = threading.Event(), threading.Event(), threading.Event()

    def load(*_given: object) -> None:
        begun.set()
        enough.wait(30)
        ended.set()

    async def stopped(_runner: BotRunner) -> str:
        assert await asyncio.to_thread(begun.wait, 30)
        raise ChannelClosed("stopped")

    monkeypatch.setattr(worker_main, "_load", load)
    with pytest.raises(ChannelClosed, match="stopped"):
        asyncio.run(worker_main.live(parse_seat("static"), Equipment(), stopped))
    assert not ended.is_set()
    enough.set()
    assert ended.wait(30)


# --- one after another ----------------------------------------------------------------------------


async def test_games_one_after_another_have_players_of_their_own(
    lexicon: Lexicon, rules: Rules
) -> None:
    made: list[Passes] = []

    def make() -> Player:
        made.append(Passes())
        return made[-1]

    runner = a_bot("b", make, seek=Seek(opponent="static", games=2), seed=4)
    ours, its = MemoryChannel.pair()
    talk = asyncio.create_task(runner.converse(its))
    first = TestArbiter(lexicon, rules, game="first")
    second = TestArbiter(lexicon, rules, game="second", you=1)
    assert (await first.greet(ours)).role == "player"
    assert await first.hear(Seek) == Seek(opponent="static", games=2)
    await first.begin()
    await first.play_out()
    second.channel = ours
    await second.begin()
    await second.play_out()
    assert (await second.hear(Goodbye)).code == "done"
    assert "2 games" in await talk
    await runner.games.settle(30)
    assert [player.told[-1] for player in made] == ["game_over", "game_over"]
    seeds = [player.start.seed for player in made if player.start]
    assert len(set(seeds)) == 2


async def test_a_game_of_before_comes_first_and_does_not_count(
    lexicon: Lexicon, rules: Rules
) -> None:
    heard: list[Message] = []
    runner = BotRunner(Bot("b", Passes, seek=Seek(opponent="static", games=1)), heard.append)
    ours, its = MemoryChannel.pair()
    talk = asyncio.create_task(runner.converse(its))
    old = TestArbiter(lexicon, rules, game="old")
    new = TestArbiter(lexicon, rules, game="new")
    await old.greet(ours, games=("old",))
    assert (await old.hear(Resume)).game == "old"
    await old.begin()
    await old.play_out()
    assert await old.hear(Seek) == Seek(opponent="static", games=1)
    new.channel = ours
    await new.begin()
    await new.play_out()
    assert (await new.hear(Goodbye)).message == "1 game is played"
    await talk
    assert isinstance(heard[0], Welcome)


async def test_a_game_is_taken_up_by_a_fresh_process(lexicon: Lexicon, rules: Rules) -> None:
    table = TestArbiter(lexicon, rules, you=1, seed=3)
    async with begun(table, StaticPlayer, built_in=True):
        await table.play_out(until=lambda: len(table.history) == 7)
    player = Passes()
    runner = a_bot("b", lambda: player)
    async with seated(runner, table):
        await table.take_up(table.seq)
        await table.turn()
        await caught_up(runner, table)
        view = player.seen[-1][0]
    assert player.told[:9] == ["warm_up", "new_game", *["observe"] * 7]
    assert view.position.board == table.state.position.board
    assert [play.seq for play in view.history] == list(range(1, len(view.history) + 1))
    assert player.start is not None
    assert player.start.history == ()
