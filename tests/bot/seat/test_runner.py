"""The bot's end of the conversation in real games: its moves, its thoughts, its time."""

from __future__ import annotations

import asyncio
import inspect
import math
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from bot_players import Passes, Waits
from bot_table import TestArbiter, a_bot, begun, caught_up, seated

from bot.equipment import Equipment, Resources
from bot.player import Believed, Budget, Choice, Considered, Player, Refusal, Searched, View
from bot.players.champion import champion
from bot.players.static import GreedyPlayer, StaticPlayer
from bot.seat import player_thread
from bot.seat.connection import BotRunner
from bot.seat.player_thread import Bot, ThreadPlayer
from bot.seat.player_view import Watched
from engine.rules.moves import PASS, Exchange, Move
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from protocol.messages import Committed, Info, Message, Ping, Pong, Ready, Reveal
from protocol.messages import Move as MoveMessage
from protocol.parts import LeaveChance, Search


def worst(view: View) -> Choice:
    return Choice(view.legal_moves()[-2].move)


@pytest.mark.parametrize(("you", "make"), [(0, GreedyPlayer), (1, StaticPlayer)])
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
    async with begun(table, lambda: player):
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
    async with begun(table, lambda: player) as runner:
        await table.turn()
        swapped = table.state.position.racks[1][:3]
        await table.say(table.make(Exchange(swapped)))
        await caught_up(runner, table)
        view, observed = player.seen[1]
    assert repr(observed.move) == "ExchangedCount(count=3)"
    assert view.position.scoreless_turns == 2


async def test_a_ping_is_answered_while_a_search_runs(table: TestArbiter) -> None:
    player = Waits()
    async with begun(table, lambda: player):
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
    async with begun(table, lambda: player, built_in=True):
        move = await table.ask()
        assert player.budget is not None
        assert player.budget.expired
        assert player.budget.best is not None
        assert table.read(move.move) == player.budget.best.move
        await table.say(table.make(table.read(move.move)))
        assert table.history[0].score > 0
        player.go.set()


async def test_a_slow_guest_is_played_by_his_own_offer_and_his_next_turn_says_what_it_waits_for(
    table: TestArbiter, capsys: pytest.CaptureFixture[str]
) -> None:
    player = Waits(worst)
    table.deadline_ms = 25
    async with begun(table, lambda: player):
        move = await table.ask()
        assert move.move.startswith("-")
        assert len(move.move) == 8
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
    async with begun(table, lambda: player):
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
    async with begun(table, lambda: player):
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


async def test_a_refused_player_is_told_and_plays_another_move_in_what_is_left_of_its_time(
    table: TestArbiter,
) -> None:
    clocks: list[int] = []
    told: list[str] = []

    class Notes(GreedyPlayer):
        def choose(self, view: View, budget: Budget) -> Choice:
            clocks.append(view.clocks[view.seat])
            return super().choose(view, budget)

        def refused(self, view: View, move: Move, message: str) -> None:
            told.append(view.text(move))

    async with begun(table, Notes, built_in=True):
        tried = [await table.ask()]
        for code, spent_ms in (("not_a_word", 300), ("strange", 700)):
            await table.say(table.refusal(tried[-1], code, after_ms=spent_ms))
            tried.append(await table.hear(MoveMessage))
        await table.say(table.make(table.read(tried[-1].move)))
    assert [move.attempt for move in tried] == [1, 2, 3]
    assert len({move.move for move in tried}) == 3
    assert told == [move.move for move in tried[:2]]
    assert clocks == [60_000, 59_700, 59_300]


async def test_a_refusal_that_was_lost_is_made_up_for(table: TestArbiter) -> None:
    views: list[View] = []

    class Keeps(GreedyPlayer):
        def choose(self, view: View, budget: Budget) -> Choice:
            views.append(view)
            return super().choose(view, budget)

    async with begun(table, Keeps):
        first = await table.ask()
        await table.take_up(1)
        await table.say(table.question(attempt=2))
        second = await table.hear(MoveMessage)
    assert second.move != first.move
    assert second.attempt == 2
    assert views[1].refused == (
        Refusal(table.read(first.move), "unknown", views[1].refused[0].message),
    )


# --- what it does with its time -------------------------------------------------------------------


PONDERS = Equipment(ponder=True)


class Thinker(Player):
    """Thinks as it is told to, and waits to be let go."""

    def __init__(
        self, think: Callable[[View, Budget], object] = lambda *_: None, *, waits: bool = True
    ) -> None:
        self.go = threading.Event()
        if not waits:
            self.go.set()
        self.pondering = threading.Event()
        self.pondered: list[tuple[View, Budget]] = []
        self._think = think

    def choose(self, view: View, budget: Budget) -> Choice:
        self._think(view, budget)
        self.go.wait(30)
        return Choice(PASS)

    def ponder(self, view: View, budget: Budget) -> None:
        self.pondered.append((view, budget))
        self.pondering.set()


def considered(view: View, count: int) -> tuple[Considered, ...]:
    return tuple(
        Considered(
            one.move,
            score=one.score,
            win=0.5,
            win_error=0.01,
            equity=20.5,
            equity_error=1.25,
            samples=100,
        )
        for one in view.legal_moves()[:count]
    )


@pytest.fixture
def reports_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a player offers is told at once."""
    monkeypatch.setattr("bot.seat.game_session.REPORT_MS", 1)
    monkeypatch.setattr("bot.seat.game_session.REPORTS", 10**6)


@asynccontextmanager
async def asked(
    table: TestArbiter, think: Callable[[View, Budget], object]
) -> AsyncIterator[asyncio.Task[str]]:
    """Ask a player for its first move; it may end when the block does."""
    player = Thinker(think)
    async with seated(a_bot("b", lambda: player), table) as talk:
        await table.begin()
        await table.say(table.question())
        try:
            yield talk
        finally:
            player.go.set()


# --- what it thinks -------------------------------------------------------------------------------


BELIEVED = Believed(
    leaves_considered=372,
    leaves_surviving=2,
    top=tuple(
        LeaveChance(leave=f"?{letter}", prior=0.125, posterior=1 + 1e-12)
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWX"
    ),
    mass_top10=1 + 1e-12,
    entropy_prior=8.5,
    entropy=-1e-12,
    unseen=0.25,
    effective=1.5,
    tiles={"?": 0.5, "A": 0.0, "Z": 0.75},
    bingo=0.125,
    seconds=0.5,
    style={"soft": 0.75, "greedy": 0.25},
)


@pytest.mark.usefixtures("reports_at_once")
async def test_candidates_are_told_while_it_thinks_and_with_the_move_as_its_belief_is(
    table: TestArbiter,
) -> None:
    def think(view: View, budget: Budget) -> None:
        moves = considered(view, 40)
        budget.offer(Choice(moves[0].move, candidates=moves[:2], belief=BELIEVED))
        told.wait(30)
        searched = Searched("endgame", nodes=300, proven=True)
        best = Choice(moves[1].move, text="it is that", candidates=moves, belief=BELIEVED)
        budget.limit(0)
        budget.offer(replace(best, search=searched))

    told = threading.Event()
    async with asked(table, think):
        first = await table.hear(Info)
        assert table.infos == []
        assert (first.seq, len(first.candidates)) == (1, 2)
        one = first.candidates[0]
        assert (one.win, one.win_error, one.equity, one.equity_error) == (0.5, 0.01, 20.5, 1.25)
        assert one.samples == 100
        assert (first.search, first.belief) == (None, None), "while it thinks"
        told.set()
        move = await table.hear(MoveMessage)
    last = table.infos[-1]
    assert last.text == "it is that"
    assert last.search == Search(phase="endgame", nodes=300, proven=True)
    assert len(last.candidates) == 25
    assert last.candidates[1].move == move.move
    belief = last.belief
    assert belief is not None
    assert (belief.leaves_considered, belief.leaves_surviving) == (372, 2)
    assert belief.top[0] == LeaveChance(leave="?A", prior=0.125, posterior=1.0)
    assert len(belief.top) == 20
    assert (belief.mass_top10, belief.unseen, belief.bingo) == (1.0, 0.25, 0.125)
    assert (belief.entropy_prior, belief.entropy, belief.effective) == (8.5, 0.0, 1.5)
    assert (belief.tiles["?"], belief.tiles["A"], belief.tiles["Z"]) == (0.5, 0.0, 0.75)
    assert (belief.note, belief.seconds) == (None, 0.5)
    assert belief.style == {"soft": 0.75, "greedy": 0.25}


@pytest.mark.usefixtures("reports_at_once")
async def test_what_it_believes_goes_out_once_as_soon_as_it_says_so(table: TestArbiter) -> None:
    def think(view: View, budget: Budget) -> None:
        best = view.legal_moves()[0].move
        budget.belief = BELIEVED
        for count in (1, 2):
            budget.offer(Choice(best, candidates=considered(view, count)))
            told.wait(30)
            told.clear()
        budget.limit(0)
        budget.offer(Choice(best, belief=BELIEVED))

    told = threading.Event()
    async with asked(table, think):
        assert (await table.hear(Info)).belief is not None
        told.set()
        assert (await table.hear(Info)).belief is None
        told.set()
        await table.hear(MoveMessage)
    assert [info.belief for info in table.infos] == [None]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"unseen": 1.5}, {"bingo": math.nan}, {"tiles": {"A": -0.5}}, {"style": {"soft": 2.0}}),
        *({"entropy": math.inf}, {"seconds": -1.0}),
        {"top": (LeaveChance(leave="A", prior=0.5, posterior=1.5),)},
        *(
            {"leaves_considered": -1},
            {"style": {"": 1.0}},
            {"style": dict.fromkeys("abcdefghijklmnopq", 0)},
        ),
    ],
)
def test_what_is_no_belief_is_said_where_it_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"chance|number|models"):
        Believed(**wrong)


@pytest.mark.parametrize("known", [None, {"soft": 0.75, "greedy": 0.25}])
async def test_a_player_is_told_how_its_opponent_plays(
    table: TestArbiter, known: dict[str, float] | None
) -> None:
    table.known_style = known
    seen: list[object] = []
    player = Thinker(lambda view, _: seen.append(view.opponent_style), waits=False)
    async with begun(table, lambda: player):
        await table.ask()
    assert seen == [known]


def test_what_is_no_candidate_is_said_where_it_is_given() -> None:
    with pytest.raises(TypeError, match="8D WORD"):
        Choice(PASS, candidates=("8D WORD",))  # type: ignore[arg-type]


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("built_in", [True, False])
async def test_a_player_is_held_to_a_limit_of_its_own(table: TestArbiter, built_in: bool) -> None:
    def think(view: View, budget: Budget) -> None:
        if not built_in:
            budget.offer(Choice(view.legal_moves()[0].move))
        budget.limit(1)

    player = Thinker(think)
    async with begun(table, lambda: player, built_in=built_in):
        move = await table.ask()
        assert move.move != "-"
        player.go.set()


# --- pondering ------------------------------------------------------------------------------------


async def test_a_seat_ponders_after_its_own_move_until_it_hears_of_the_game(
    table: TestArbiter,
) -> None:
    player = Thinker(waits=False)
    async with begun(table, lambda: player, equipment=PONDERS) as runner:
        await table.turn()
        await caught_up(runner, table)
        ((view, budget),) = player.pondered
        assert not budget.expired
        assert view.rack == table.state.position.racks[0]
        assert view.position.on_turn == 1
        await table.turn()
        await caught_up(runner, table)
        assert budget.expired
        assert len(player.pondered) == 1, "it is its own turn next"
        await table.turn()
        await caught_up(runner, table)
        second = player.pondered[1][1]
        assert not second.expired
        await table.end()
        await table.in_step()
        assert second.expired


async def test_nobody_ponders_who_may_not(table: TestArbiter) -> None:
    player = Thinker(waits=False)
    async with begun(table, lambda: player) as runner:
        await table.turn()
        await caught_up(runner, table)
    assert player.pondered == []


class Highest(Thinker):
    """Plays the highest score, as the arbiter's other seat does."""

    def choose(self, view: View, budget: Budget) -> Choice:
        return Choice(view.legal_moves()[0].move)


@pytest.mark.parametrize("you", [0, 1])
async def test_nobody_ponders_when_the_game_is_over(
    lexicon: Lexicon, rules: Rules, you: int
) -> None:
    """Both seats play the same game, so that one of them goes out; it ponders a turn less."""
    table, player = TestArbiter(lexicon, rules, you=you), Highest()
    async with begun(table, lambda: player, equipment=PONDERS) as runner:
        while table.state.over is None:
            await table.turn()
        await caught_up(runner, table)
    assert table.state.over.reason == "out"
    last = table.history[-1].seat == you
    assert len(player.pondered) == sum(turn.seat == you for turn in table.history) - last


async def test_nobody_ponders_after_the_last_of_six_passes(lexicon: Lexicon, rules: Rules) -> None:
    table, player = TestArbiter(lexicon, rules, you=1), Thinker(waits=False)
    async with begun(table, lambda: player, equipment=PONDERS) as runner:
        while table.state.over is None:
            if table.state.position.on_turn == 0:
                await table.say(table.make(PASS))
            else:
                await table.turn()
        await caught_up(runner, table)
    assert len(player.pondered) == 2


async def test_champion_ponders_through_a_game(lexicon: Lexicon, rules: Rules) -> None:
    table = TestArbiter(lexicon, rules)
    table.deadline_ms = 100
    runner = a_bot("b", champion, equipment=PONDERS, built_in=True)
    async with seated(runner, table) as talk:
        await table.begin()
        await table.play_out()
        await table.in_step()
        assert not talk.done()


async def test_who_does_not_come_back_from_pondering_is_overruled(table: TestArbiter) -> None:
    go = threading.Event()

    class Ponders(Thinker):
        def ponder(self, view: View, budget: Budget) -> None:
            super().ponder(view, budget)
            budget.offer(Choice(PASS, candidates=(Considered(PASS),)))
            go.wait(30)

    player = Ponders(waits=False)
    async with begun(table, lambda: player, built_in=True, equipment=PONDERS):
        await table.turn()
        assert await asyncio.to_thread(player.pondering.wait, 30)
        await table.turn()
        await table.in_step()
        table.deadline_ms = 60
        move = await table.ask()
        assert move.move != "-", "the static choice"
        assert {info.seq for info in table.infos} == {3}, "what is thought meanwhile is not told"
        go.set()
