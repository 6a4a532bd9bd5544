"""The bot's end of the conversation, against an arbiter that plays real games."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import msgspec
import pytest
from bot_table import MemoryChannel, TestArbiter, caught_up, seated

from bot.equipment import Resources
from bot.player import Budget, Choice, Observed, Player, Refusal, Result, View
from bot.players.greedy import GreedyPlayer
from bot.players.static import StaticPlayer
from bot.reconnect import run_player
from bot.runner import BotRunner, TurnedAway
from bot.thinking import PlayerThread, think
from bot.watching import Watched
from engine.moves import PASS, Exchange, Move
from engine.rules import Rules
from lexicons.store import Lexicon
from protocol.channel import Channel, ChannelClosed
from protocol.messages import (
    Decline,
    Error,
    Goodbye,
    Hello,
    NewGame,
    Ping,
    Played,
    Pong,
    Ready,
    Resume,
    Seek,
    Welcome,
)
from protocol.messages import Move as MoveMessage
from protocol.parts import Retry, RulesInPlay


@pytest.fixture
def table(lexicon: Lexicon, rules: Rules) -> TestArbiter:
    return TestArbiter(lexicon, rules)


class Passes(Player):
    """Somebody else's player: passes; keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.seen: list[tuple[View, Observed]] = []
        self.start: View | None = None
        self.results: list[Result] = []
        self.over = threading.Event()

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        self.told.append("warm_up")

    def new_game(self, view: View) -> None:
        self.told.append("new_game")
        self.start = view

    def observe(self, view: View, play: Observed) -> None:
        self.told.append("observe")
        self.seen.append((view, play))

    def choose(self, view: View, budget: Budget) -> Choice:
        self.told.append("choose")
        return Choice(PASS)

    def refused(self, view: View, move: Move, message: str) -> None:
        self.told.append("refused")

    def game_over(self, view: View, result: Result) -> None:
        self.told.append("game_over")
        self.results.append(result)
        self.over.set()


class Waits(Player):
    """Thinks until it is let go; offers what it has been given to offer."""

    def __init__(self, offer: Callable[[View], Choice] | None = None) -> None:
        self.go = threading.Event()
        self.thinking = threading.Event()
        self.offer = offer
        self.calls = 0
        self.budget: Budget | None = None

    def choose(self, view: View, budget: Budget) -> Choice:
        self.calls += 1
        self.budget = budget
        if self.offer is not None:
            budget.offer(self.offer(view))
        self.thinking.set()
        self.go.wait(30)
        return Choice(PASS)


def worst(view: View) -> Choice:
    return Choice(view.legal_moves()[-2].move)


@pytest.mark.parametrize("you", [0, 1])
@pytest.mark.parametrize("make", [GreedyPlayer, StaticPlayer])
async def test_a_player_of_the_house_plays_a_whole_legal_game(
    lexicon: Lexicon, rules: Rules, you: int, make: type[Player]
) -> None:
    table = TestArbiter(lexicon, rules, you=you, seed=you + 5)
    runner = BotRunner("b", make, built_in=True)
    async with seated(runner, table):
        ready = await table.begin()
        await table.play_out()
        assert len(bytes.fromhex(ready.nonce)) == 32
        assert table.state.over is not None
        assert table.state.over.reason == "out"
        assert table.state.position.scores[you] > 200


async def test_a_player_is_told_of_everything_in_order(table: TestArbiter) -> None:
    player = Passes()
    runner = BotRunner("b", lambda: player)
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
    runner = BotRunner("b", lambda: player)
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
    async with seated(BotRunner("b", lambda: player), table):
        await table.begin()
        await table.say(table.question())
        await asyncio.to_thread(player.thinking.wait)
        await table.channel.send(Ping(id=7))
        assert (await table.hear(Pong)).id == 7
        player.go.set()
        assert (await table.hear(MoveMessage)).move == "-"


# --- time ---------------------------------------------------------------------------------------


async def test_a_slow_player_of_the_house_is_overruled_by_the_static_choice(
    table: TestArbiter,
) -> None:
    player = Waits()
    table.deadline_ms = 25
    async with seated(BotRunner("b", lambda: player, built_in=True), table):
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
    async with seated(BotRunner("b", lambda: player), table):
        await table.begin()
        move = await table.ask()
        assert move.move.startswith("-")
        assert len(move.move) == 8
        player.go.set()


async def test_nobody_plays_for_a_slow_guest_without_an_offer(table: TestArbiter) -> None:
    player = Waits()
    table.deadline_ms = 25
    async with seated(BotRunner("b", lambda: player), table):
        await table.begin()
        await table.say(table.question())
        await asyncio.to_thread(player.thinking.wait)
        assert player.budget is not None
        while not player.budget.expired:
            await table.channel.send(Ping(id=1))
            await table.hear(Pong)
        player.budget.offer(Choice(PASS))
        assert (await table.hear(MoveMessage)).move == "-"
        player.go.set()


# --- refusals -----------------------------------------------------------------------------------


async def test_a_refused_player_of_the_house_plays_the_next_best(table: TestArbiter) -> None:
    async with seated(BotRunner("b", GreedyPlayer, built_in=True), table):
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

    async with seated(BotRunner("b", Notes, built_in=True), table):
        await table.begin()
        move = await table.ask()
        for spent_ms in (300, 700):
            await table.say(table.refusal(move, after_ms=spent_ms))
            move = await table.hear(MoveMessage)
    assert clocks == [60_000, 59_700, 59_300]


async def test_a_refused_guest_is_told_and_asked_again(table: TestArbiter) -> None:
    player = Passes()
    async with seated(BotRunner("b", lambda: player), table):
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

    async with seated(BotRunner("b", Keeps), table):
        await table.begin()
        first = await table.ask()
        await table.say(table.offer(seq=1))
        await table.hear(Ready)
        await table.say(table.question(attempt=2))
        second = await table.hear(MoveMessage)
    assert second.move != first.move
    assert second.attempt == 2
    assert views[1].refused == (
        Refusal(table.read(first.move), "unknown", views[1].refused[0].message),
    )


# --- getting ready, and not ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        ({"lexicon": "klingon", "lexicon_checksum": None}, "unknown_lexicon", "klingon"),
        ({"lexicon_checksum": "0" * 64}, "unknown_lexicon", "other words"),
        ({"rules": RulesInPlay(distribution="martian")}, "unsupported_rules", "martian"),
        ({"rules": RulesInPlay(layout="../../etc/passwd")}, "unsupported_rules", "no name"),
        ({"rules": RulesInPlay(rack_size=9)}, "unsupported_rules", "9 tiles"),
        ({"you": None}, "wrong_role", "watch"),
    ],
)
async def test_what_cannot_be_played_is_declined_with_a_reason(
    table: TestArbiter, changes: dict[str, object], code: str, says: str
) -> None:
    async with seated(BotRunner("b", GreedyPlayer), table):
        offer: NewGame = msgspec.structs.replace(table.offer(), **changes)
        await table.channel.send(offer)
        declined = await table.hear(Decline)
    assert declined.code == code
    assert says in declined.message


async def test_the_same_words_under_another_name_will_do(table: TestArbiter) -> None:
    async with seated(BotRunner("b", GreedyPlayer), table):
        offer = msgspec.structs.replace(table.offer(), lexicon="another name")
        await table.say(offer)
        assert (await table.hear(Ready)).game == offer.game


async def test_what_a_player_raises_ends_the_conversation(table: TestArbiter) -> None:
    class Breaks(Player):
        def choose(self, view: View, budget: Budget) -> Choice:
            raise StopIteration  # the worst of them: a future can't hold it

    async with seated(BotRunner("b", Breaks), table) as talk:
        await table.begin()
        await table.say(table.question())
        with pytest.raises(RuntimeError, match="StopIteration"):
            await talk


async def test_an_answer_that_is_no_choice_is_the_players_fault(table: TestArbiter) -> None:
    class Mistaken(Player):
        def choose(self, view: View, budget: Budget) -> Choice:
            return "8D WORD"  # type: ignore[return-value]

    async with seated(BotRunner("b", Mistaken), table) as talk:
        await table.begin()
        await table.say(table.question())
        with pytest.raises(TypeError, match="8D WORD"):
            await talk


async def test_a_hook_that_raises_ends_the_conversation(table: TestArbiter) -> None:
    class Breaks(Passes):
        def new_game(self, view: View) -> None:
            raise LookupError("no book")

    async with seated(BotRunner("b", Breaks), table) as talk:
        await table.begin()
        with pytest.raises(LookupError, match="no book"):
            await talk


# --- one after another, away and back -----------------------------------------------------------


async def test_games_one_after_another_have_players_of_their_own(
    lexicon: Lexicon, rules: Rules
) -> None:
    made: list[Passes] = []

    def make() -> Player:
        made.append(Passes())
        return made[-1]

    runner = BotRunner("b", make, seek=Seek(opponent="static", games=2), enough=2, seed=4)
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
    await runner.settle(30)
    assert [player.told[-1] for player in made] == ["game_over", "game_over"]
    seeds = [player.start.seed for player in made if player.start]
    assert len(set(seeds)) == 2


async def test_a_game_is_taken_up_by_a_fresh_process(lexicon: Lexicon, rules: Rules) -> None:
    table = TestArbiter(lexicon, rules, you=1, seed=3)
    async with seated(BotRunner("b", StaticPlayer, built_in=True), table):
        await table.begin()
        await table.play_out(until=lambda: len(table.history) == 7)
    player = Passes()
    runner = BotRunner("b", lambda: player)
    async with seated(runner, table):
        await table.say(table.offer(seq=table.seq))
        await table.hear(Ready)
        await table.turn()
        await caught_up(runner, table)
        view = player.seen[-1][0]
    assert player.told[:9] == ["warm_up", "new_game", *["observe"] * 7]
    assert view.position.board == table.state.position.board
    assert [play.seq for play in view.history] == list(range(1, len(view.history) + 1))
    assert player.start is not None
    assert player.start.history == ()


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


async def test_a_lost_connection_is_dialled_again_and_the_search_goes_on(
    table: TestArbiter,
) -> None:
    player = Waits()
    server = Server()
    runner = BotRunner("b", lambda: player, seek=Seek(games=1), enough=1)
    work = asyncio.create_task(
        run_player(server.dial, runner, sleep=server.sleep, jitter=lambda: 1.0)
    )
    channel = await server.ends.get()
    await table.greet(channel)
    await table.hear(Seek)
    await table.begin()
    await table.say(table.question())
    await asyncio.to_thread(player.thinking.wait)
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


async def test_an_answer_found_while_away_goes_out_when_it_is_asked_for(table: TestArbiter) -> None:
    player = Waits()
    server = Server()
    runner = BotRunner("b", lambda: player)
    work = asyncio.create_task(run_player(server.dial, runner, sleep=server.sleep))
    channel = await server.ends.get()
    await table.greet(channel)
    await table.begin()
    await table.say(table.question())
    await asyncio.to_thread(player.thinking.wait)
    await channel.close()
    await table.greet(await server.ends.get())
    await table.hear(Resume)
    await table.say(table.offer(seq=1))
    await table.hear(Ready)
    player.go.set()
    search = runner.games[table.name]._search
    assert search is not None
    await search  # its answer may not be given yet: the arbiter has not asked again
    await table.say(table.question())
    assert (await table.hear(MoveMessage)).move == "-"
    assert player.calls == 1
    await channel.close()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


async def test_turns_that_were_missed_are_asked_for(table: TestArbiter) -> None:
    player = Passes()
    async with seated(BotRunner("b", lambda: player), table):
        await table.begin()
        await table.turn()
        await table.turn()
        await table.turn()
        await table.say(table.offer(seq=table.seq, seen=table.seq - 1))
        await table.hear(Ready)
    fresh = Passes()
    runner = BotRunner("b", lambda: fresh)
    async with seated(runner, table):
        await table.say(table.offer(seq=table.seq, seen=1))
        assert (await table.hear(Resume)).seen == 0
        await table.say(table.offer(seq=table.seq))
        await table.hear(Ready)
        await table.turn()
        await caught_up(runner, table)
    assert [play.seq for _, play in fresh.seen][:3] == [1, 2, 3]


async def test_who_is_turned_away_does_not_come_again() -> None:
    server = Server()
    work = asyncio.create_task(run_player(server.dial, BotRunner("b", Passes), sleep=server.sleep))
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
        await run_player(server.dial, BotRunner("b", Passes), sleep=server.sleep)


async def test_patience_ends() -> None:
    server = Server()
    work = asyncio.create_task(
        run_player(server.dial, BotRunner("b", Passes), sleep=server.sleep, patience_s=20)
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


async def test_nonsense_is_answered_and_the_conversation_goes_on(table: TestArbiter) -> None:
    async with seated(BotRunner("b", Passes), table):
        await table.channel.send(Hello(role="arbiter", name="x"))
        assert (await table.hear(Error)).code == "wrong_role"
        stray = Played(
            game="?", seq=1, seat=0, move="-", score=0, scores=(0, 0), bag=1, clocks=(1, 1)
        )
        await table.channel.send(stray)
        assert (await table.hear(Error)).code == "unknown_game"
        await table.begin()
        await table.turn()


async def test_an_offer_after_the_last_moment_is_taken_at_once(table: TestArbiter) -> None:
    player = Waits()
    thread = PlayerThread("test")
    watched = Watched(table.offer(), table.rules, Resources(table.lexicon), 0)
    budget = Budget(0)
    search = asyncio.create_task(think(player, thread, watched.view, budget, built_in=False))
    await asyncio.to_thread(player.thinking.wait)
    assert not search.done()
    choice = Choice(PASS, text="late")
    await asyncio.to_thread(budget.offer, choice)
    assert await search is choice
    player.go.set()
    thread.close()
    assert await asyncio.to_thread(thread.join, 30)


async def test_a_turn_that_was_not_told_is_asked_for(table: TestArbiter) -> None:
    player = Passes()
    runner = BotRunner("b", lambda: player)
    async with seated(runner, table):
        await table.begin()
        await table.turn()
        missed = table.make(PASS)
        table.make(PASS)
        table.session.games[table.name].next_seq = missed.seq + 1  # as if it had been sent
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
    runner = BotRunner("b", Passes)
    async with seated(runner, table):
        table.make(PASS)
        table.make(PASS)
        await table.say(table.offer(seq=table.seq, seen=1))
        await table.hear(Resume)
        await table.say(table.offer(seq=table.seq, seen=1))
        assert (await table.hear(Decline)).code == "missed_plays"
        assert not runner.games


async def test_a_game_that_the_server_has_forgotten_is_let_go(table: TestArbiter) -> None:
    runner = BotRunner("b", Passes)
    async with seated(runner, table):
        await table.begin()
        await caught_up(runner, table)
        gone = Error(code="unknown_game", message="no such game", game=table.name)
        await table.channel.send(gone)
        await table.channel.send(Ping(id=1))
        await table.hear(Pong)
        assert not runner.games


async def test_a_game_that_ends_while_it_is_set_up_is_let_go(table: TestArbiter) -> None:
    go, busy = threading.Event(), threading.Event()

    class Slow(Passes):
        def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
            busy.set()
            go.wait(30)

    runner = BotRunner("b", Slow)
    async with seated(runner, table):
        await table.say(table.offer())
        await asyncio.to_thread(busy.wait)
        await table.end()
        await table.channel.send(Ping(id=1))
        await table.hear(Pong)
        go.set()
        other = TestArbiter(table.lexicon, table.rules, game="g2")
        other.channel = table.channel
        await other.begin()
        assert set(runner.games) == {"g2"}
        assert runner.finished == 1


@pytest.mark.parametrize(
    ("retry", "kind"), [("no", TurnedAway), ("corrected", TurnedAway), ("later", ChannelClosed)]
)
async def test_a_wish_that_is_not_granted(
    table: TestArbiter, retry: Retry, kind: type[Exception]
) -> None:
    async with seated(BotRunner("b", Passes, seek=Seek(opponent="nobody")), table) as talk:
        await table.hear(Seek)
        error = Error(code="unknown_opponent", message="nobody is not here", retry=retry)
        await table.channel.send(error)
        with pytest.raises(kind, match="nobody is not here"):
            await talk


async def test_a_peer_that_makes_no_sense_for_long_is_given_up(table: TestArbiter) -> None:
    async with seated(BotRunner("b", Passes), table) as talk:
        for _ in range(20):
            await table.channel.send(Hello(role="arbiter", name="x"))
        with pytest.raises(ChannelClosed, match="make no sense"):
            await talk


async def test_a_position_that_makes_no_sense_is_answered(table: TestArbiter) -> None:
    async with seated(BotRunner("b", Passes), table):
        await table.begin()
        await table.say(msgspec.structs.replace(table.question(), position="15/15 / 0/0 0"))
        assert (await table.hear(Error)).code == "bad_message"
