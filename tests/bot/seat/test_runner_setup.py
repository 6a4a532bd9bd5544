"""How a bot gets ready for its games, or does not, and plays one after another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from bot_players import Passes
from bot_table import MemoryChannel, TestArbiter, a_bot, caught_up, seated

from bot.equipment import Equipment
from bot.player import Budget, Choice, Player, View
from bot.players.static import GreedyPlayer, StaticPlayer
from bot.seat import worker_main
from bot.seat.connection import BotRunner, TurnedAway
from bot.seat.game_registry import MAX_GAMES
from bot.seat.player_thread import Bot
from bot.seat_text import parse_seat
from engine.rules.moves import PASS
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from protocol.channel import ChannelClosed
from protocol.messages import (
    Decline,
    Error,
    GameOver,
    Goodbye,
    Message,
    NewGame,
    Ping,
    Pong,
    Ready,
    Resume,
    Seek,
    Welcome,
)
from protocol.parts import Retry, RulesInPlay
from protocol.session import KEPT_ENDED

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


async def test_what_a_player_raises_ends_the_conversation(table: TestArbiter) -> None:
    class Breaks(Player):
        def choose(self, view: View, budget: Budget) -> Choice:
            raise StopIteration  # the worst of them: a future can't hold it

    async with seated(a_bot("b", Breaks), table) as talk:
        await table.begin()
        await table.say(table.question())
        with pytest.raises(RuntimeError, match="StopIteration"):
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


async def test_a_hook_that_raises_ends_the_conversation(table: TestArbiter) -> None:
    class Breaks(Passes):
        def new_game(self, view: View) -> None:
            raise LookupError("no book")

    async with seated(a_bot("b", Breaks), table) as talk:
        await table.begin()
        with pytest.raises(LookupError, match="no book"):
            await talk


async def test_a_game_that_is_over_as_soon_as_it_is_offered(table: TestArbiter) -> None:
    runner = a_bot("b", GreedyPlayer)
    async with seated(runner, table) as talk:
        await table.say(table.offer())
        await table.end()
        await table.in_step()
        assert not talk.done()
        assert (runner.games.finished, runner.games.on) == (1, {})


async def test_a_game_that_ends_while_it_is_set_up_is_let_go(table: TestArbiter) -> None:
    go, busy = threading.Event(), threading.Event()

    class Slow(Passes):
        def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
            busy.set()
            go.wait(30)

    runner = a_bot("b", Slow)
    async with seated(runner, table):
        await table.say(table.offer())
        await asyncio.to_thread(busy.wait)
        await table.end()
        await table.in_step()
        go.set()
        other = TestArbiter(table.lexicon, table.rules, game="g2")
        other.channel = table.channel
        await other.begin()
        assert set(runner.games.on) == {"g2"}
        assert runner.games.finished == 1


@pytest.mark.parametrize("ended", [False, True])
async def test_a_game_too_many_is_declined(table: TestArbiter, ended: bool) -> None:
    """Setups of games that are over count among those that are on."""
    go = threading.Event()

    class Slow(Passes):
        def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
            go.wait(30)

    async with seated(a_bot("b", Slow), table):
        over = GameOver(game="", seq=0, outcome="no_show", winner=None, scores=(0, 0), message="")
        for number in range(MAX_GAMES + 1):
            for message in (table.offer(), over)[: 1 + ended]:
                await table.channel.send(msgspec.structs.replace(message, game=f"g{number}"))
        declined = await table.hear(Decline)
        assert (declined.game, declined.code) == (f"g{MAX_GAMES}", "busy")
        go.set()


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
    async with seated(a_bot("b", StaticPlayer, built_in=True), table):
        await table.begin()
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
