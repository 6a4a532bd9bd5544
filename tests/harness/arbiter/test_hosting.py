"""Games on a real server and a real journal, when something goes wrong around them."""

from __future__ import annotations

import asyncio
import gc
import socket
import time
import urllib.request
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from guests import on_turn, two_at_a_table
from passing_seats import Passer, Waiter
from servers import served, url_of

from harness.arbiter.audience import AT_ONCE, Audience, Spectator
from harness.arbiter.database import JournalError
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.lag import EVERY_MS, LagMeter
from harness.arbiter.lease import LeaseLost
from harness.arbiter.records import Draws, Ended, Record, Thought, TurnRecord, new_game
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.lab.bench.client import Client
from harness.seats.seats import GuestSeat
from lexicons.store import load_lexicon
from protocol.channel import now_ms
from protocol.messages import (
    Error,
    GameOver,
    Hello,
    Info,
    Message,
    Move,
    NewGame,
    Ping,
    Played,
    Pong,
    Refused,
    Resign,
    Resume,
    Watch,
    YourTurn,
)
from protocol.parts import Belief, TimeControl
from protocol.websocket import dial


async def leave_and_resign(url: str) -> tuple[Client, str, str]:
    """Have one of two leave, and the other resign; return that one, the game and who left."""
    a, b, game = await two_at_a_table(url)
    mover, other, turn = await on_turn(a, b)
    await other.close()
    await mover.channel.send(Resign(game=game, seq=turn.seq))
    return mover, game, "ann" if other is a else "bob"


async def test_who_was_away_at_the_end_learns_how_it_ended(url: str) -> None:
    mover, game, away = await leave_and_resign(url)
    await mover.expect(GameOver)
    back = await Client.login(url, away)
    assert back.welcome.games == ()
    await back.resume(game, 0)
    over = await back.expect(GameOver)
    assert (over.outcome, over.winner) == ("resign", 1)
    stranger = await Client.login(url, "eve")
    for client, unknown in ((back, "f" * 16), (stranger, game)):
        await client.channel.send(Resume(game=unknown))
        assert (await client.expect(Error)).code == "unknown_game"
    for client in (mover, back, stranger):
        await client.close()


def before_each_append(
    monkeypatch: pytest.MonkeyPatch, wait: Callable[[Sequence[Record], bool], Awaitable[None]]
) -> None:
    """Have journals wait for something before they keep records, the last of a game or not."""
    append = Journal.append

    async def later(
        journal: Journal, game: str, records: Sequence[Record], *, last: bool = False
    ) -> None:
        await wait(records, last)
        await append(journal, game, records, last=last)

    monkeypatch.setattr(Journal, "append", later)


def hold_up(
    monkeypatch: pytest.MonkeyPatch, what: type[Record]
) -> tuple[asyncio.Event, asyncio.Event]:
    """Have such records wait as they are written; give what says so, and what lets them go on."""
    writing, may_go_on = asyncio.Event(), asyncio.Event()

    async def slowly(records: Sequence[Record], _last: bool) -> None:
        if any(isinstance(record, what) for record in records):
            writing.set()
            await may_go_on.wait()

    before_each_append(monkeypatch, slowly)
    return writing, may_go_on


def hold_up_stops(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Have guests' seats wait as they are stopped; give the same as ``hold_up``."""
    stopping, may_go_on = asyncio.Event(), asyncio.Event()

    async def stop(_seat: GuestSeat) -> None:
        stopping.set()
        await may_go_on.wait()

    monkeypatch.setattr(GuestSeat, "stop", stop)
    return stopping, may_go_on


@pytest.mark.parametrize("when", ["the end is written", "the seats are stopped"])
async def test_who_comes_back_meanwhile_learns_how_it_ended(
    url: str, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    is_written = when == "the seats are stopped"
    held = hold_up_stops(monkeypatch) if is_written else hold_up(monkeypatch, Ended)
    reached, may_go_on = held
    mover, game, away = await leave_and_resign(url)
    await reached.wait()
    back = await Client.login(url, away)
    assert back.welcome.games == (() if is_written else (game,))
    await back.resume(game, 0)
    if not is_written:
        await back.channel.send(Ping(id=1))
        await back.expect(Pong)
        may_go_on.set()
    assert (await back.expect(GameOver)).outcome == "resign"
    may_go_on.set()
    for client in (mover, back):
        await client.close()


async def test_who_comes_back_while_a_move_is_written_is_told_it_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, may_go_on = hold_up(monkeypatch, TurnRecord)
    a, b, game = await two_at_a_table(url)
    mover, other, turn = await on_turn(a, b)
    await mover.play(turn)
    await writing.wait()
    await mover.close()
    back = await Client.login(url, "ann" if mover is a else "bob")
    await back.resume(game, turn.seq - 1)
    await back.channel.send(Ping(id=1))
    await back.expect(Pong)
    may_go_on.set()
    offer = await back.receive()
    assert isinstance(offer, NewGame)
    assert [play.seq for play in offer.history] == [turn.seq]
    for client in (back, other):
        await client.close()


@pytest.mark.parametrize(("has_room", "keeps"), [(True, True), (False, True), (True, False)])
async def test_with_little_room_moves_are_kept_and_thoughts_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_room: bool, keeps: bool
) -> None:
    seats = Passer("ann", Belief(bingo=0.5)), Passer("bob")
    with closing(Journal(tmp_path / "j.db")) as journal:
        monkeypatch.setattr(Journal, "has_room", has_room)
        async with hosted(journal, seats, frozenset({"ann"}), keeps=lambda *_: keeps) as (host, _):
            await host.run()
        (game,) = journal.finished()
    kinds = Counter(map(type, game.records))
    assert (kinds[Thought], kinds[TurnRecord]) == (3 if has_room and keeps else 0, 6)


class Talks(Passer):
    """A seat that sends thoughts and then a bad move, and resigns when that is refused."""

    def __init__(self, name: str, thoughts: int) -> None:
        super().__init__(name)
        self.thoughts = thoughts
        self.deadlines: list[int] = []

    def send(self, message: Message) -> None:
        match message:
            case YourTurn(game=game, seq=seq, deadline_ms=deadline_ms):
                self.deadlines.append(deadline_ms)
                for _ in range(self.thoughts):
                    self.say(Info(game=game, seq=seq, text="the move waits behind this"))
                self.say(Move(game=game, seq=seq, move="8D QQQQ"))
            case Refused(game=game, seq=seq, deadline_ms=deadline_ms):
                self.deadlines.append(deadline_ms)
                self.say(Resign(game=game, seq=seq))
            case _:
                super().send(message)


@pytest.mark.parametrize("thoughts", [0, 7])
async def test_what_waits_behind_ones_own_thoughts_waits_in_ones_own_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thoughts: int
) -> None:
    now, commit_ms = 1_000_000, 40

    async def slowly(_records: Sequence[Record], _last: bool) -> None:
        nonlocal now
        now += commit_ms

    before_each_append(monkeypatch, slowly)
    for shell in ("harness.arbiter.host", "passing_seats"):
        monkeypatch.setattr(f"{shell}.now_ms", lambda: now)
    journal = Journal(tmp_path / "j.db")
    talks = Talks("talks", thoughts), Talks("talks, too", thoughts)
    async with hosted(journal, talks) as (host, _):
        await host.run()
    journal.close()
    (asked_ms, refused_ms) = talks[0].deadlines
    assert asked_ms - refused_ms == thoughts * commit_ms, "the refusal's own commit is excused"


async def test_nobody_sees_what_is_not_written_down_yet(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, may_go_on = hold_up(monkeypatch, Ended)
    a, b, game = await two_at_a_table(url)
    mover, other, turn = await on_turn(a, b)
    await mover.channel.send(Resign(game=game, seq=turn.seq))
    await writing.wait()
    eve = await Client.login(url, "eve", "spectator")
    await eve.channel.send(Watch(game=game))
    await eve.channel.send(Ping(id=1))
    assert isinstance(await eve.receive(), NewGame)
    assert await eve.receive() == Pong(id=1), "of the end, and so of the bag, it hears nothing"
    assert b'"over":null' in await asyncio.to_thread(read, f"{url}/api/games/{game}")
    may_go_on.set()
    ended = await eve.receive()
    assert isinstance(ended, GameOver)
    assert ended.outcome == "resign"
    assert b'"outcome":"resign"' in await asyncio.to_thread(read, f"{url}/api/games/{game}")
    for client in (mover, other, eve):
        await client.close()


def read(url: str) -> bytes:
    """Return what is at an address of a server."""
    with urllib.request.urlopen(url.replace("ws://", "http://"), timeout=20) as answer:
        content: bytes = answer.read()
        return content


async def test_a_login_that_cant_be_kept_is_refused_with_a_sentence(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_journal: Journal, *_: object) -> None:
        raise JournalError("the disk is full")

    monkeypatch.setattr(Journal, "claim_name", fails)
    channel = await dial(url, token="x" * 32)
    await channel.send(Hello(role="player", name="fay"))
    refused = (await channel.receive()).content
    assert isinstance(refused, Error)
    assert (refused.code, refused.retry) == ("host_error", "later")
    await channel.close()


async def test_a_game_is_freed_as_it_ends_without_the_collector(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    freed = asyncio.Event()
    play = GameHost.run

    async def noted(host: GameHost) -> Ended:
        weakref.finalize(host, freed.set)
        return await play(host)

    monkeypatch.setattr(GameHost, "run", noted)
    monkeypatch.setattr("harness.server.hosting.KEPT_GAMES", 0)
    async with served(tmp_path / "serve.db") as server:
        gc.disable()
        try:
            a, b, game = await two_at_a_table(url_of(server))
            mover, other, turn = await on_turn(a, b)
            await mover.channel.send(Resign(game=game, seq=turn.seq))
            await other.expect(GameOver)
            await a.close()
            await b.close()
            async with asyncio.timeout(5):
                await freed.wait()
        finally:
            gc.enable()


@asynccontextmanager
async def hosted(
    journal: Journal, seats: tuple[Seat, Seat], *names: frozenset[str], **options: Any
) -> AsyncIterator[tuple[GameHost, list[Message]]]:
    """Give the host of a game that is in a journal, and what a spectator of it hears."""
    lexicon, watched = load_lexicon(), list[Message]()
    opened = new_game((seats[0].name, seats[1].name), lexicon, TimeControl(), Draws.fresh())
    await journal.create(opened, {})
    async with LagMeter() as lag:
        host = GameHost(Scorebook(opened, lexicon), seats, journal, lag, *names, **options)
        host.watch(watched.append, None)
        yield host, watched


# --- how opponents play ---------------------------------------------------------------------------

SOFT, GREEDY = {"soft": 1.0}, {"greedy": 1.0}


@pytest.mark.parametrize(
    ("is_ours", "is_proven", "is_casual", "known", "kept"),
    [
        pytest.param(True, True, False, SOFT, GREEDY, id="ours"),
        pytest.param(False, True, False, None, SOFT, id="a guest"),
        pytest.param(True, False, False, None, SOFT, id="a name that anybody may use"),
        pytest.param(True, True, True, SOFT, SOFT, id="moves that may be those of hints"),
    ],
)
async def test_what_is_known_of_an_opponent_is_told_and_learned_by_our_own_players(
    tmp_path: Path,
    is_ours: bool,
    is_proven: bool,
    is_casual: bool,
    known: dict[str, float] | None,
    kept: dict[str, float],
) -> None:
    with closing(Journal(tmp_path / "j.db")) as journal:
        for name in ("ann", "bob"):
            journal.store_style(name, SOFT)
        seat, bob = Passer("ann", Belief(style=GREEDY)), Passer("bob")
        seat.is_ours = is_ours
        names = frozenset({"bob"}), frozenset[str]() if is_proven else frozenset({"bob"})
        async with hosted(journal, (seat, bob), *names) as (host, _):
            host.is_casual = is_casual
            await host.run()
        for heard, told in ((seat.heard, known), (bob.heard, None)):
            offer = heard[0]
            assert isinstance(offer, NewGame)
            assert offer.known_style == told
        assert (journal.style_of("ann"), journal.style_of("bob")) == (SOFT, kept)
        (game,) = journal.finished()
        thoughts = [one.belief for one in game.records if isinstance(one, Thought)]
        assert thoughts == [Belief(style=GREEDY)] * 3


# --- a journal that fails -------------------------------------------------------------------------


class Failing(Journal):
    """A real journal that fails once when asked to keep something of a kind."""

    def __init__(self, path: Path, kind: type[Record], error: JournalError | None = None) -> None:
        super().__init__(path)
        self.kind: type[Record] | None = kind
        self._error = error or JournalError("the disk is full")

    async def append(self, game: str, records: Sequence[Record], *, last: bool = False) -> None:
        if self.kind is not None and any(isinstance(record, self.kind) for record in records):
            self.kind = None
            raise self._error
        await super().append(game, records, last=last)


async def play_with(journal: Failing) -> tuple[list[Message], ...]:
    """Play a game of passes; it can't be kept. Give what the seats and a spectator hear."""
    seats = Passer("a"), Passer("b")
    async with hosted(journal, seats) as (host, watched):
        assert (await host.run()).outcome == "host_error"
    return seats[0].heard, seats[1].heard, watched


class Lost(Failing):
    """A journal that another host has, once it has failed."""

    async def append(self, game: str, records: Sequence[Record], *, last: bool = False) -> None:
        if self.kind is None:
            raise LeaseLost("another host took the lease")
        await super().append(game, records, last=last)


@pytest.mark.parametrize(
    ("kind", "error"),
    [(TurnRecord, LeaseLost("")), (Ended, LeaseLost("")), (TurnRecord, JournalError("full"))],
)
async def test_a_game_that_another_host_has_ends_here_without_a_word(
    tmp_path: Path, kind: type[Record], error: JournalError
) -> None:
    journal, seats = Lost(tmp_path / "j.db", kind, error), (Passer("a"), Passer("b"))
    async with hosted(journal, seats) as (host, watched):
        game = asyncio.create_task(host.run())
        while not host.is_given_up:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0)
        unsaid = GameOver | Played if kind is TurnRecord else GameOver
        everybody = (seats[0].heard, seats[1].heard, watched)
        assert not any(isinstance(said, unsaid) for heard in everybody for said in heard)
        assert not game.done()
        game.cancel()
        await asyncio.wait([game])
    assert game.cancelled()
    (kept,) = journal.unfinished()
    assert not any(isinstance(record, kind) for record in kept.records)
    journal.close()


async def test_a_game_that_cant_be_kept_is_void_and_opens_nothing(tmp_path: Path) -> None:
    journal = Failing(tmp_path / "j.db", TurnRecord)
    for heard in await play_with(journal):
        over = heard[-1]
        assert isinstance(over, GameOver)
        assert (over.outcome, over.winner) == ("host_error", None)
        assert over.seq == 1, "the turn that is lost has no number"
        assert (over.secret, over.racks) == (None, ("", ""))
    assert journal.unfinished() == []
    journal.close()


async def test_a_verdict_that_cant_be_kept_is_told_to_nobody(tmp_path: Path) -> None:
    journal = Failing(tmp_path / "j.db", Ended)
    everybody = await play_with(journal)
    told = [m.outcome for heard in everybody for m in heard if isinstance(m, GameOver)]
    assert told == ["host_error"] * 3
    journal.close()


# --- a host that stops in good order --------------------------------------------------------------


async def test_the_clock_stops_with_the_host_to_the_millisecond(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    seat, whole_ms = Waiter("a"), TimeControl().initial_ms
    async with hosted(journal, (seat, Passer("b"))) as (host, _):
        game = asyncio.create_task(host.run())
        await seat.turns.get()
        await asyncio.sleep(0.02)  # less than the interval of notes
        before = host.book.clocks(now_ms())
        game.cancel()
        await asyncio.wait([game])
        after = host.book.clocks(now_ms())
    journal.close()
    again = Journal(tmp_path / "j.db")
    (kept,) = again.unfinished()
    again.close()
    assert kept.note is not None
    assert after[0] <= kept.note.clocks[0] <= before[0] < whole_ms
    assert kept.note.clocks[1] == whole_ms


# --- lag ------------------------------------------------------------------------------------------


def test_what_is_stamped_when_a_block_ends_may_have_come_at_its_beginning() -> None:
    lag = LagMeter()
    lag.note(due_ms=1_000, woke_ms=1_400)
    assert lag.late_at(990) == 0
    assert lag.late_at(1_200) == 200
    assert lag.late_at(1_400) == 400
    assert lag.late_at(1_403) == 400
    assert lag.late_at(1_450) == 0
    hardly = LagMeter()
    hardly.note(due_ms=1_000, woke_ms=1_002)
    assert hardly.late_at(1_002) == 0


class Late(Passer):
    """A seat whose move comes by a socket while the host is blocked."""

    BLOCK_S = 0.3

    def send(self, message: Message) -> None:
        if not isinstance(message, YourTurn):
            super().send(message)
            return
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()

        def read() -> None:
            loop.remove_reader(ours)
            self.say(Move(game=message.game, seq=message.seq, move="-"))
            ours.close()
            theirs.close()

        loop.add_reader(ours, read)
        loop.call_later(0.04, self.block, theirs)

    def block(self, theirs: socket.socket) -> None:
        theirs.send(b"-")
        time.sleep(self.BLOCK_S)


async def test_nobody_is_charged_while_the_host_is_blocked(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    async with hosted(journal, (Late("a"), Late("b"))) as (host, _):
        await host.run()
    journal.close()
    charged = [turn.host_lag_ms for turn in host.book.turns]
    assert len(charged) == 6
    assert min(charged) >= 1_000 * Late.BLOCK_S - 2 * EVERY_MS


# --- spectators are told in order, and nobody waits for hundreds of them --------------------------

MANY = 10 * AT_ONCE


async def test_hundreds_are_told_in_order_a_few_in_each_turn() -> None:
    audience, told = Audience(), list[tuple[int, int]]()

    def hear(number: int, message: Message) -> None:
        assert isinstance(message, Pong)
        told.append((number, message.id))

    for number in range(MANY):
        audience.join(partial(hear, number))
    audience.send(Pong(id=1))
    audience.send(Pong(id=2))
    assert not told, "whoever plays is told first"
    await asyncio.sleep(0)
    assert 0 < len(told) <= AT_ONCE, "others have their turn in between"
    await audience.all_sent()
    assert told == [(number, message) for message in (1, 2) for number in range(MANY)]


async def test_who_comes_or_goes_meanwhile_misses_nothing_and_hears_nothing_twice() -> None:
    audience, told = Audience(), dict[str, list[int]]()

    def spectator(name: str) -> Spectator:
        heard = told.setdefault(name, [])
        return lambda message: heard.append(message.id)  # type: ignore[union-attr]

    for number in range(AT_ONCE):
        audience.join(spectator(f"{number}"))
    stays, leaves, again, late = map(spectator, ("stays", "leaves", "again", "late"))
    for one in (stays, leaves, again):
        audience.join(one)
    audience.send(Pong(id=1))
    audience.leave(leaves)
    audience.join(again)  # it has been shown the game as it is after this message
    audience.join(late)
    audience.send(Pong(id=2))
    await audience.all_sent()
    assert told["stays"] == [1, 2]
    assert told["leaves"] == []
    assert told["again"] == told["late"] == [2]
