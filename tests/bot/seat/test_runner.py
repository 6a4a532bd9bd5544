"""The bot's end of the conversation, against an arbiter that plays real games."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from hashlib import sha256

import msgspec
import pytest
from bot_players import Passes, Waits
from bot_table import TestArbiter, a_bot, caught_up, seated

from bot.equipment import Resources
from bot.player import Budget, Choice, Player, Refusal, View
from bot.players.static import GreedyPlayer, StaticPlayer
from bot.seat import player_thread
from bot.seat.connection import BotRunner
from bot.seat.player_thread import Bot, ThreadPlayer
from bot.seat.player_view import Watched
from engine.rules.moves import PASS, Exchange
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from protocol.messages import Committed, Message, Ping, Pong, Ready, Reveal
from protocol.messages import Move as MoveMessage


def worst(view: View) -> Choice:
    return Choice(view.legal_moves()[-2].move)


@pytest.mark.parametrize("you", [0, 1])
@pytest.mark.parametrize("make", [GreedyPlayer, StaticPlayer])
async def test_a_player_of_the_house_plays_a_whole_legal_game(
    lexicon: Lexicon, rules: Rules, you: int, make: type[Player]
) -> None:
    table = TestArbiter(lexicon, rules, you=you, seed=you + 5)
    runner = a_bot("b", make, built_in=True)
    async with seated(runner, table):
        ready = await table.begin()
        await table.play_out()
        assert len(bytes.fromhex(ready.nonce)) == 32
        assert table.state.over is not None
        assert table.state.over.reason == "out"
        assert table.state.position.scores[you] > 200


async def test_a_bot_reveals_its_nonce_after_it_was_told_both_commitments(
    table: TestArbiter,
) -> None:
    heard: list[Message] = []
    runner = BotRunner(Bot("b", Passes), heard.append)
    async with seated(runner, table):
        await table.say(msgspec.structs.replace(table.offer(), commitments=("", "")))
        ready = await table.hear(Ready)
        both = Committed(game=table.name, commitments=(ready.commitment, "bb" * 32))
        await table.say(both)
        reveal = await table.hear(Reveal)
    assert ready.nonce == ""
    assert sha256(bytes.fromhex(reveal.nonce)).hexdigest() == ready.commitment
    said = [message for message in heard if isinstance(message, Ready | Committed | Reveal)]
    assert said == [ready, both, reveal], "heard in the order in which things happened"


async def test_a_player_is_told_of_everything_in_order(table: TestArbiter) -> None:
    player = Passes()
    runner = a_bot("b", lambda: player)
    async with seated(runner, table):
        await table.begin()
        await table.turn()
        await table.turn()
        await table.turn()
        await table.end()
        await asyncio.to_thread(player.over.wait)
    told = ["warm_up", "new_game", "choose", "observe", "observe", "choose", "observe", "game_over"]
    assert player.told == told
    assert player.start is not None
    assert len(player.start.rack) == 7
    assert player.start.bag == 86
    (_, own), (view, other), (_, _) = player.seen
    assert own.move == PASS
    assert view.history == (own, other)
    assert view.position.board == table.state.position.board
    assert view.position.on_turn == 0
    assert sum(view.unseen) == view.bag + 7
    assert player.results[0].outcome == "resign"


async def test_the_opponents_exchange_is_a_number_of_tiles(table: TestArbiter) -> None:
    player = Passes()
    runner = a_bot("b", lambda: player)
    async with seated(runner, table):
        await table.begin()
        await table.turn()
        swapped = table.state.position.racks[1][:3]
        await table.say(table.make(Exchange(swapped)))
        await caught_up(runner, table)
        view, observed = player.seen[1]
    assert repr(observed.move) == "ExchangedCount(count=3)"
    assert view.position.scoreless_turns == 2


async def test_a_ping_is_answered_while_a_search_runs(table: TestArbiter) -> None:
    player = Waits()
    async with seated(a_bot("b", lambda: player), table):
        await table.begin()
        await table.say(table.question())
        await asyncio.to_thread(player.thinking.wait)
        await table.channel.send(Ping(id=7))
        assert (await table.hear(Pong)).id == 7
        player.go.set()
        assert (await table.hear(MoveMessage)).move == "-"


# --- time -----------------------------------------------------------------------------------------


async def test_a_slow_player_of_the_house_is_overruled_by_the_static_choice(
    table: TestArbiter,
) -> None:
    player = Waits()
    table.deadline_ms = 25
    async with seated(a_bot("b", lambda: player, built_in=True), table):
        await table.begin()
        move = await table.ask()
        assert player.budget is not None
        assert player.budget.expired
        assert player.budget.best is not None
        assert table.read(move.move) == player.budget.best.move
        await table.say(table.make(table.read(move.move)))
        assert table.history[0].score > 0
        player.go.set()


async def test_a_slow_guest_is_played_by_his_own_offer(table: TestArbiter) -> None:
    player = Waits(worst)
    table.deadline_ms = 25
    async with seated(a_bot("b", lambda: player), table):
        await table.begin()
        move = await table.ask()
        assert move.move.startswith("-")
        assert len(move.move) == 8
        player.go.set()


async def test_a_turn_that_waits_for_the_turn_before_says_so(
    table: TestArbiter, capsys: pytest.CaptureFixture[str]
) -> None:
    player = Waits(worst)
    table.deadline_ms = 25
    async with seated(a_bot("b", lambda: player), table):
        await table.begin()
        move = await table.ask()
        await table.say(table.make(table.read(move.move)))
        await table.say(table.make(PASS))
        await table.say(table.question())
        while not (said := capsys.readouterr().err):
            await table.in_step()
        assert "choose of the turn before is still running: it is at" in said
        player.go.set()
        await table.hear(MoveMessage)


async def test_nobody_plays_for_a_slow_guest_without_an_offer(
    table: TestArbiter, capsys: pytest.CaptureFixture[str]
) -> None:
    player = Waits()
    table.deadline_ms = 25
    async with seated(a_bot("b", lambda: player), table):
        await table.begin()
        await table.say(table.question())
        await asyncio.to_thread(player.thinking.wait)
        assert player.budget is not None
        while not (said := capsys.readouterr().err):
            await table.in_step()
        assert player.budget.expired
        where = rf"{re.escape(str(inspect.getsourcefile(Waits)))}, line \d+, in choose"
        late = rf"tilewire: b: choose is late, and has offered nothing: it is at {where}\n"
        assert re.fullmatch(late, said)
        player.budget.offer(Choice(PASS))
        assert (await table.hear(MoveMessage)).move == "-"
        player.go.set()


async def test_a_method_before_choose_that_does_not_return_is_named(
    table: TestArbiter, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_thread, "WAITING_S", 0.0)
    player, entered, go = Passes(), threading.Event(), threading.Event()

    def new_game(_view: View) -> None:
        entered.set()
        go.wait()

    monkeypatch.setattr(player, "new_game", new_game)
    async with seated(a_bot("b", lambda: player), table):
        await table.begin()
        await asyncio.to_thread(entered.wait)
        await table.say(table.question())
        while "another method: it is at" not in (said := capsys.readouterr().err):
            await table.in_step()
        assert f"{__file__}, line" in said
        go.set()
        await table.hear(MoveMessage)


async def test_an_offer_after_the_last_moment_is_taken_at_once(table: TestArbiter) -> None:
    player = Waits()
    seat = ThreadPlayer(Bot("b", lambda: player), "test", lambda error: None)
    seat.player = player
    watched = Watched(table.offer(), table.rules, Resources(table.lexicon), 0)
    budget = Budget(0)
    search = asyncio.create_task(seat.choose(watched.view, budget))
    await asyncio.to_thread(player.thinking.wait)
    assert not search.done()
    choice = Choice(PASS, text="late")
    await asyncio.to_thread(budget.offer, choice)
    assert await search is choice
    player.go.set()
    seat.leave()
    assert await asyncio.to_thread(seat.thread.join, 30)


# --- refusals -------------------------------------------------------------------------------------


async def test_a_refused_player_of_the_house_plays_the_next_best(table: TestArbiter) -> None:
    async with seated(a_bot("b", GreedyPlayer, built_in=True), table):
        await table.begin()
        tried = [await table.ask()]
        for _ in range(2):
            await table.say(table.refusal(tried[-1]))
            tried.append(await table.hear(MoveMessage))
        await table.say(table.make(table.read(tried[-1].move)))
    assert [move.attempt for move in tried] == [1, 2, 3]
    assert len({move.move for move in tried}) == 3


async def test_what_a_refused_try_has_cost_is_off_the_clock(table: TestArbiter) -> None:
    clocks: list[int] = []

    class Notes(GreedyPlayer):
        def choose(self, view: View, budget: Budget) -> Choice:
            clocks.append(view.clocks[view.seat])
            return super().choose(view, budget)

    async with seated(a_bot("b", Notes, built_in=True), table):
        await table.begin()
        move = await table.ask()
        for spent_ms in (300, 700):
            await table.say(table.refusal(move, after_ms=spent_ms))
            move = await table.hear(MoveMessage)
    assert clocks == [60_000, 59_700, 59_300]


async def test_a_refused_guest_is_told_and_asked_again(table: TestArbiter) -> None:
    player = Passes()
    async with seated(a_bot("b", lambda: player), table):
        await table.begin()
        move = await table.ask()
        await table.say(table.refusal(move, "strange"))
        again = await table.hear(MoveMessage)
    assert again.attempt == 2
    assert player.told[-3:] == ["choose", "refused", "choose"]


async def test_a_refusal_that_was_lost_is_made_up_for(table: TestArbiter) -> None:
    views: list[View] = []

    class Keeps(GreedyPlayer):
        def choose(self, view: View, budget: Budget) -> Choice:
            views.append(view)
            return super().choose(view, budget)

    async with seated(a_bot("b", Keeps), table):
        await table.begin()
        first = await table.ask()
        await table.take_up(1)
        await table.say(table.question(attempt=2))
        second = await table.hear(MoveMessage)
    assert second.move != first.move
    assert second.attempt == 2
    assert views[1].refused == (
        Refusal(table.read(first.move), "unknown", views[1].refused[0].message),
    )
