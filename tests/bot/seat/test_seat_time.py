"""What a seat does with its time: it says what it thinks, keeps limits, ponders."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from bot_table import TestArbiter, a_bot, caught_up, seated

from bot.equipment import Equipment
from bot.player import Believed, Budget, Choice, Considered, Player, Searched, View
from bot.players.champion import champion
from engine.rules.moves import PASS
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from protocol.messages import Info
from protocol.messages import Move as MoveMessage
from protocol.parts import LeaveChance, Search

PONDERS = Equipment(ponder=True)


class Thinker(Player):
    """Thinks as it is told to, and waits to be let go."""

    def __init__(self, think: Callable[[View, Budget], object] = lambda *_: None) -> None:
        self.go = threading.Event()
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


@pytest.mark.usefixtures("reports_at_once")
async def test_candidates_are_told_while_it_thinks_and_with_the_move(table: TestArbiter) -> None:
    def think(view: View, budget: Budget) -> None:
        moves = considered(view, 40)
        budget.offer(Choice(moves[0].move, score=moves[0].score, candidates=moves[:2]))
        told.wait(30)
        searched = Searched("endgame", nodes=300, proven=True)
        best = Choice(moves[1].move, text="it is that", candidates=moves, search=searched)
        budget.limit(0)
        budget.offer(best)

    told = threading.Event()
    async with asked(table, think):
        first = await table.hear(Info)
        assert table.infos == []
        assert (first.seq, len(first.candidates)) == (1, 2)
        one = first.candidates[0]
        assert (one.win, one.win_error, one.equity, one.equity_error) == (0.5, 0.01, 20.5, 1.25)
        assert one.samples == 100
        told.set()
        move = await table.hear(MoveMessage)
    last = table.infos[-1]
    assert last.text == "it is that"
    assert last.search == Search(phase="endgame", nodes=300, proven=True)
    assert first.search is None
    assert len(last.candidates) == 25
    assert last.candidates[1].move == move.move


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


@pytest.mark.usefixtures("reports_at_once")
async def test_what_it_believes_goes_out_with_the_move_once(table: TestArbiter) -> None:
    def think(view: View, budget: Budget) -> None:
        best = view.legal_moves()[0].move
        budget.offer(Choice(best, candidates=considered(view, 1), belief=BELIEVED))
        told.wait(30)
        budget.limit(0)
        budget.offer(Choice(best, belief=BELIEVED))

    told = threading.Event()
    async with asked(table, think):
        assert (await table.hear(Info)).belief is None, "while it thinks"
        told.set()
        await table.hear(MoveMessage)
    belief = table.infos[-1].belief
    assert belief is not None
    assert (belief.leaves_considered, belief.leaves_surviving) == (372, 2)
    assert belief.top[0] == LeaveChance(leave="?A", prior=0.125, posterior=1.0)
    assert len(belief.top) == 20
    assert (belief.mass_top10, belief.unseen, belief.bingo) == (1.0, 0.25, 0.125)
    assert (belief.entropy_prior, belief.entropy, belief.effective) == (8.5, 0.0, 1.5)
    assert (belief.tiles["?"], belief.tiles["A"], belief.tiles["Z"]) == (0.5, 0.0, 0.75)
    assert (belief.note, belief.seconds) == (None, 0.5)
    assert belief.style == {"soft": 0.75, "greedy": 0.25}


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
    player = Thinker(lambda view, _budget: seen.append(view.opponent_style))
    player.go.set()
    seen: list[object] = []
    async with seated(a_bot("b", lambda: player), table):
        await table.begin()
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
    async with seated(a_bot("b", lambda: player, built_in=built_in), table):
        await table.begin()
        move = await table.ask()
        assert move.move != "-"
        player.go.set()


# --- pondering ------------------------------------------------------------------------------------


async def test_a_seat_ponders_after_its_own_move_until_it_hears_of_the_game(
    table: TestArbiter,
) -> None:
    player = Thinker()
    player.go.set()
    runner = a_bot("b", lambda: player, equipment=PONDERS)
    async with seated(runner, table):
        await table.begin()
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
    player = Thinker()
    player.go.set()
    runner = a_bot("b", lambda: player)
    async with seated(runner, table):
        await table.begin()
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
    runner = a_bot("b", lambda: player, equipment=PONDERS)
    async with seated(runner, table):
        await table.begin()
        while table.state.over is None:
            await table.turn()
        await caught_up(runner, table)
    assert table.state.over.reason == "out"
    last = table.history[-1].seat == you
    assert len(player.pondered) == sum(turn.seat == you for turn in table.history) - last


async def test_nobody_ponders_after_the_last_of_six_passes(lexicon: Lexicon, rules: Rules) -> None:
    table, player = TestArbiter(lexicon, rules, you=1), Thinker()
    player.go.set()
    runner = a_bot("b", lambda: player, equipment=PONDERS)
    async with seated(runner, table):
        await table.begin()
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

    player = Ponders()
    player.go.set()
    runner = a_bot("b", lambda: player, built_in=True, equipment=PONDERS)
    async with seated(runner, table):
        await table.begin()
        await table.turn()
        assert await asyncio.to_thread(player.pondering.wait, 30)
        await table.turn()
        await table.in_step()
        table.deadline_ms = 60
        move = await table.ask()
        assert move.move != "-", "the static choice"
        assert {info.seq for info in table.infos} == {3}, "what is thought meanwhile is not told"
        go.set()
