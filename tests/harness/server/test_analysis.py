"""Analysis on a server: who waits, who may not ask, and what a page and the server say."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bot_table import MemoryChannel
from guests import two_at_a_table
from msgspec import structs
from positions import legal_moves_of
from servers import served, url_of
from small_messages import offer, your_turn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from engine.notation.cgp import read_cgp, write_cgp
from engine.notation.move_text import format_move
from engine.rules.position import Board
from engine.rules.rule_sets import load_rules
from engine.rules.rules import standard_rules
from harness.analysis.task import AnalysisTask
from harness.arbiter.scorebook import Scorebook
from harness.lab.bench.client import Client
from harness.seats.seats import Worker
from harness.server.page_analysis.conversation import MOST_DATA, SUBPROTOCOL, decode
from harness.server.page_analysis.live_games import why_not_analyse
from harness.server.page_analysis.queue import (
    Analyse,
    AnalysisQueue,
    AnalysisSettings,
    Asked,
    Job,
    Moves,
    Read,
    Words,
)
from harness.server.players import Players
from harness.server.server import MatchServer
from lexicons.store import load_lexicon
from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import Error, Goodbye, NewGame, Ping, Played, Pong, Started, YourTurn

EMPTY = "/".join(["15"] * 15)
CGP = f"{EMPTY} AEINRST/ 0/0 0"


@dataclass
class Fake:
    """An engine that waits to be let on before each turn; a sheet is as many turns as its text."""

    tasks: list[AnalysisTask] = field(default_factory=list)
    read: list[bytes] = field(default_factory=list)
    done: list[tuple[bytes, int]] = field(default_factory=list)
    go_on: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    cgp: str = CGP
    stops: int = 0
    now: float = 0.0
    killed: bool = False

    starts: asyncio.Event = field(default_factory=asyncio.Event)
    may_start: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> Fake:
        return self

    async def start_late(self) -> Fake:
        self.starts.set()
        await self.may_start.wait()
        return self

    async def do(
        self, task: AnalysisTask, told: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any]:
        self.tasks.append(task)
        if task.word:
            return {"words": {"word": task.word}, "table": "main"}
        if task.data == b"broken":
            return {"refused": "line 2: that is no move", "part": "board", "squares": (3,)}
        if task.most:
            return {"moves": {"cgp": self.cgp, "moves": [], "line": task.line}, "table": "main"}
        if task.line is None:
            self.read.append(task.data)
            lines = range(1, len(task.data) + 1)
            why = "no rack" if task.data == b"no" else None
            turns = [{"line": line, "cgp": self.cgp, "left_out": why} for line in lines]
            return {"sheet": {"turns": turns}}
        await self.go_on.acquire()
        if task.data == b"dies":
            raise OSError("it died")
        told({"rollouts": 1})
        self.done.append((task.data, task.line))
        return {"findings": {"line": task.line, "seconds": task.seconds}}

    def stop(self) -> None:
        self.stops += 1
        self.go_on.release()

    async def kill(self) -> None:
        self.killed = True
        self.gone.set()


@dataclass
class Visitor:
    """What a request was told."""

    queue: AnalysisQueue
    data: bytes
    address: str = "192.0.2.1"
    line: int | None = None
    rollouts: int | None = None
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    is_told: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, asked: Asked | None = None) -> Visitor:
        usual = Analyse(id=1, data=self.data, line=self.line, rollouts=self.rollouts)
        self.job = Job(asked or usual, self.address, self.tell)
        await self.queue.submit(self.job)
        return self

    def tell(self, kind: str, **known: Any) -> None:
        self.told.append((kind, known))
        self.is_told.set()
        if kind in ("done", "error"):
            self.over.set()

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.told]


@pytest.fixture
def engine() -> Fake:
    return Fake()


@pytest.fixture
async def queue(engine: Fake) -> AsyncIterator[AnalysisQueue]:
    """A queue that may analyse any position, of English games, and whose clock is the engine's."""
    settings = AnalysisSettings(seconds=1, seconds_per_hour=100, per_visitor=2, waiting=5)
    queue = AnalysisQueue(
        settings, engine.start, lambda *_: "", lambda _: load_rules(), lambda: engine.now
    )
    yield queue
    await queue.close()
    assert engine.killed is bool(engine.done)


async def test_requests_take_turns_and_know_their_place(queue: AnalysisQueue, engine: Fake) -> None:
    first = await Visitor(queue, b"abc").ask()
    await first.is_told.wait()
    second = await Visitor(queue, b"xy", "192.0.2.2").ask()
    third = await Visitor(queue, b"z", "192.0.2.3", line=1).ask()
    assert [each.told[-1][1] for each in (second, third)] == [{"ahead": 1}, {"ahead": 2}]
    for _ in range(6):
        engine.go_on.release()
    for each in (first, second, third):
        await each.over.wait()
    assert engine.done == [(b"abc", 1), (b"xy", 1), (b"z", 1), (b"abc", 2), (b"xy", 2), (b"abc", 3)]
    assert first.kinds == ["game", "turn", "turn", "turn", "done"]
    assert (first.told[0][1]["board"]["columns"], first.told[0][1]["rack_size"]) == (15, 7)
    assert first.told[1][1] == {"line": 1, "seconds": 1}, "no more than the server allows"
    assert third.kinds == ["waiting", "waiting", "so_far", "turn", "done"]
    assert third.told[1] == ("waiting", {"ahead": 1})


async def test_a_request_can_be_ended_while_it_waits_and_in_mid_turn(
    queue: AnalysisQueue, engine: Fake
) -> None:
    first = await Visitor(queue, b"abc").ask()
    await first.is_told.wait()
    second = await Visitor(queue, b"x").ask()
    with pytest.raises(PeerError, match="you have 2 requests here"):
        await Visitor(queue, b"y").ask()
    queue.cancel(second.job)
    third = await Visitor(queue, b"z").ask()
    queue.cancel(first.job)
    assert engine.stops == 1
    engine.go_on.release()
    await third.over.wait()
    assert engine.done == [(b"abc", 1), (b"z", 1)]
    assert first.kinds == ["game", "done"]
    assert second.told[-1] == ("done", {"stopped": True})
    assert third.told[-1] == ("done", {"stopped": False})


async def test_short_requests_wait_for_no_analysis(queue: AnalysisQueue, engine: Fake) -> None:
    first = await Visitor(queue, b"abc").ask()
    await first.is_told.wait()
    for asked, kind in (
        (Moves(id=2, data=b"x", line=4, most=9), "moves"),
        (Words(id=3, word="CAT"), "words"),
        (Read(id=4, data=b"no"), "game"),
    ):
        short = await Visitor(queue, b"").ask(asked)
        await short.over.wait()
        assert short.kinds == [kind, "done"]
    assert (engine.tasks[-3].line, engine.tasks[-3].most, engine.tasks[-2].word) == (4, 9, "CAT")
    assert first.kinds == ["game"], "it goes on"
    broken = await Visitor(queue, b"").ask(Moves(id=5, data=b"broken"))
    await broken.over.wait()
    ((kind, why),) = broken.told
    assert (kind, why["code"], why["part"], why["squares"]) == ("error", "bad_game", "board", (3,))
    queue.forbidden = lambda *_: "it is on"
    live = await Visitor(queue, b"").ask(Moves(id=6, data=b"x"))
    await live.over.wait()
    assert live.told[0][1]["code"] == "forbidden"
    for _ in range(3):  # of two at once: what was ended counts no longer
        again = await Visitor(queue, b"x").ask()
        queue.cancel(again.job)
    queue.cancel(first.job)
    engine.done.append((b"", 0))  # the fixture knows by it that the process was needed


async def test_words_are_not_told_where_players_challenge_them(queue: AnalysisQueue) -> None:
    queue.rules_of = lambda _: replace(load_rules(), challenge="double")
    with pytest.raises(PeerError, match="can't be looked up"):
        await Visitor(queue, b"").ask(Words(id=1, word="CAT"))


async def test_on_ones_own_machine_an_analysis_has_the_cores_that_games_leave(
    queue: AnalysisQueue, engine: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.server.page_analysis.queue.IDLE_S", 0.0)
    free = [3, 0]
    queue.own_cores = lambda: free.pop(0)
    for _ in range(2):
        engine.go_on.release()
        await (await Visitor(queue, b"x").ask()).over.wait()
        await asyncio.sleep(0)
    assert [task.threads for task in engine.tasks if task.line] == [3, 1]
    assert not engine.killed, "the process stays"


async def test_a_request_that_is_ended_while_its_process_starts_is_not_read(
    queue: AnalysisQueue, engine: Fake
) -> None:
    queue.start = engine.start_late
    ended = await Visitor(queue, b"abc").ask()
    await engine.starts.wait()
    queue.cancel(ended.job)
    engine.may_start.set()
    other = await Visitor(queue, b"x", "192.0.2.2").ask()
    engine.go_on.release()
    await other.over.wait()
    assert engine.read == [b"x"]
    assert ended.kinds == ["done"]


async def test_a_process_ends_while_nobody_asks_and_another_starts(
    queue: AnalysisQueue, engine: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.server.page_analysis.queue.IDLE_S", 0.01)
    engine.may_start.set()
    queue.start = engine.start_late
    for data in (b"x", b"y"):
        engine.starts.clear()
        engine.go_on.release()
        asked = await Visitor(queue, data).ask()
        await asked.over.wait()
        assert engine.starts.is_set()
        assert asked.kinds == ["game", "turn", "done"]
        await engine.gone.wait()
        engine.gone.clear()


async def test_what_goes_wrong_is_a_sentence_and_others_go_on(
    queue: AnalysisQueue, engine: Fake
) -> None:
    broken = await Visitor(queue, b"broken").ask()
    dies = await Visitor(queue, b"dies").ask()
    elsewhere = await Visitor(queue, b"ab", "192.0.2.2", line=3).ask()
    nothing = await Visitor(queue, b"no", "192.0.2.2").ask()
    last = await Visitor(queue, b"y", "192.0.2.3").ask()
    with pytest.raises(PeerError, match="5 requests wait for the engine already"):
        await Visitor(queue, b"z", "192.0.2.4").ask()
    for _ in range(2):
        engine.go_on.release()
    await last.over.wait()
    for visitor, word in (
        *((broken, "line 2"), (dies, "failed")),
        *((elsewhere, "line 3"), (nothing, "no rack")),
    ):
        assert word in visitor.told[-1][1]["message"]
    assert engine.done == [(b"y", 1)]


async def test_a_server_whose_cores_are_busy_says_so(
    queue: AnalysisQueue, engine: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.server.page_analysis.queue.GRACE_S", -1.0)
    for rollouts, word in ((None, "busy"), (20_000, "fewer rollouts")):
        waits = await Visitor(queue, b"a", rollouts=rollouts).ask()
        await waits.over.wait()
        assert word in waits.told[-1][1]["message"]
    monkeypatch.undo()
    engine.go_on.release()
    again = await Visitor(queue, b"a").ask()
    await again.over.wait()
    assert again.kinds == ["game", "turn", "done"]


@pytest.mark.parametrize(
    ("data", "kinds"),
    [(b"abc", ["game", "turn", "error"]), (b"dies", ["game", "error"])],
    ids=["found", "come to nothing"],
)
async def test_an_address_has_so_much_time_an_hour(
    queue: AnalysisQueue, engine: Fake, data: bytes, kinds: list[str]
) -> None:
    greedy = await Visitor(queue, data, "2001:db8::1").ask()
    await greedy.is_told.wait()
    engine.now = 100.0
    engine.go_on.release()
    await greedy.over.wait()
    assert greedy.kinds == kinds
    with pytest.raises(PeerError, match="come again later"):
        await Visitor(queue, b"a", "2001:db8::2").ask()
    other = await Visitor(queue, b"a", "2001:db8:0:1::1").ask()
    engine.go_on.release()
    await other.over.wait()
    engine.now = 1_900.0
    again = await Visitor(queue, b"a", "2001:db8::1").ask()
    engine.go_on.release()
    await again.over.wait()
    assert again.kinds == ["game", "turn", "done"]


BOARD = ["HOUSE", "A   A", "T   R", "    L", "  DAY"]
SWAPPED = ["".join(column) for column in zip(*BOARD, strict=True)]


def cgp_of(rows: list[str], at: tuple[int, int], rack: str = "AEIQRST") -> str:
    """Return the position with these rows of tiles at a square."""
    lines = [" " * 15] * at[0] + [" " * at[1] + row for row in rows]
    lines = [line.ljust(15) for line in lines + [""] * (15 - len(lines))]
    empty = re.compile(" +")
    board = "/".join(empty.sub(lambda gap: str(len(gap[0])), line) for line in lines)
    return f"{board} {rack}/ 20/5 1"


def here(cgp: str, *players: str) -> tuple[Any, Players]:
    """Return what a server knows of a game that is on, and its players, who are at 192.0.2.1."""
    rules = load_rules()
    book = SimpleNamespace(
        game=SimpleNamespace(position=read_cgp(cgp, rules)),
        ended=None,
        rules=rules,
        opened=SimpleNamespace(players=players or ("ann", "bob")),
    )
    tables = SimpleNamespace(find=lambda _table: SimpleNamespace(rules=rules))
    known = Players()
    for name in players:
        known.named(name).peer = "192.0.2.1:50001"
    host = SimpleNamespace(book=book, is_casual=False)
    return SimpleNamespace(tables=tables, games={"g": host}), known


@pytest.mark.parametrize(
    ("rows", "at", "is_on"),
    [
        (BOARD, (5, 5), True),
        (BOARD, (0, 0), True),
        (BOARD, (10, 10), True),
        (SWAPPED, (5, 5), True),
        (SWAPPED, (2, 9), True),
        (["hOUSe", *BOARD[1:]], (5, 4), True),
        (["MOUSE", *BOARD[1:]], (5, 4), True),
        ([*BOARD, "   TE"], (4, 4), True),
        (["MOUSE", *BOARD[1:3], "    N", "  EGO"], (5, 5), False),
        (BOARD[:3], (5, 5), False),
        ([row[::-1] for row in BOARD], (5, 5), False),
        (["HOUSE"], (5, 5), False),
        ([""], (0, 0), False),
    ],
)
def test_a_position_of_a_game_that_is_on_is_known_wherever_it_lies(
    rows: list[str], at: tuple[int, int], *, is_on: bool
) -> None:
    hosting, players = here(cgp_of(BOARD, (5, 5)))
    why = why_not_analyse(hosting, players, cgp_of(rows, at), "main", "198.51.100.7")
    assert ("a game that is on" in why) == is_on


@pytest.mark.parametrize("rows", [[""], ["HOUSE"]])
def test_a_board_that_several_games_have_is_known_by_the_rack_of_ones_own(rows: list[str]) -> None:
    hosting, players = here(cgp_of(rows, (7, 3), "AEINRST"), "ann", "bob")
    offered = [
        ("AEINRST", "192.0.2.1", True),
        ("AEINRSV", "192.0.2.1", True),
        ("AEINS", "192.0.2.1", True),
        ("", "192.0.2.1", True),
        ("AEIOUVW", "192.0.2.1", False),
        ("AEINRST", "198.51.100.7", False),
    ]
    for rack, address, is_on in offered:
        cgp = cgp_of(rows, (7, 4) if rows[0] else (0, 0), rack)
        why = why_not_analyse(hosting, players, cgp, "main", address)
        assert ("a game that is on" in why) == is_on, (rack, address)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        ('{"type": "analyse", "id": 1}', "missing required field `data`"),
        ('{"type": "analyse", "id": 1, "data": "*"}', "base64"),
        ('{"type": "analyse", "id": -1, "data": ""}', ">= 0"),
        ('{"type": "steal", "id": 1}', "Invalid value 'steal'"),
        ('{"type": "moves", "id": 1, "data": "", "most": 5001}', "5000"),
        ('{"type": "words", "id": 1, "word": ""}', "length >= 1"),
        ("{", "truncated"),
        ('{"x":' * 20_000, "nested too deeply"),
        ("x" * 2 * MOST_DATA, "100,000 bytes"),
    ],
)
def test_a_broken_request_is_refused(frame: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(frame)


# --- over a socket --------------------------------------------------------------------------------


@dataclass
class Running:
    """A server with an engine that needs no time."""

    server: MatchServer
    engine: Fake

    def connect(self, origin: str | None = "") -> connect:
        at = f"127.0.0.1:{self.server.port}"
        named = None if origin is None else Origin(origin or f"http://{at}")
        return connect(f"ws://{at}", origin=named, subprotocols=[Subprotocol(SUBPROTOCOL)])


@pytest.fixture
async def running(tmp_path: Path, engine: Fake, clients_hang_up: None) -> AsyncIterator[Running]:
    for _ in range(100):
        engine.go_on.release()
    async with served(tmp_path / "games.db", analyst=lambda _kinds: engine.start()) as server:
        yield Running(server, engine)


async def ask(page: ClientConnection, data: bytes = b"a", **more: Any) -> list[dict[str, Any]]:
    """Return what the page is told, up to the end."""
    text = base64.b64encode(data).decode()
    await page.send(json.dumps({"type": "analyse", "id": 7, "data": text, **more}))
    told: list[dict[str, Any]] = []
    while not told or told[-1]["type"] not in ("done", "error"):
        told.append(json.loads(await page.recv()))
    return told


async def test_a_page_of_the_server_asks_and_no_other_does(running: Running) -> None:
    async with running.connect() as page:
        told = await ask(page)
        assert [each["type"] for each in told] == ["game", "turn", "done"]
        assert {each["id"] for each in told} == {7}
        await page.send(json.dumps({"type": "ping"}))
        assert json.loads(await page.recv()) == {"type": "pong", "id": None}
        await page.send("nonsense")
        assert json.loads(await page.recv())["code"] == "bad_message"
        assert (await ask(page, line=1))[-1]["type"] == "done", "it goes on"
    async with running.connect(None) as page:
        assert json.loads(await page.recv())["code"] == "forbidden"
    for origin in ("http://evil.example", "null"):
        with pytest.raises(InvalidStatus, match="403"):
            await running.connect(origin)


async def play_on(book: Scorebook, ann: Client, bob: Client) -> None:
    """Have the two make moves until more tiles are on the board than one play has."""
    mover, other = (ann, bob) if book.opened.players[0] == "ann" else (bob, ann)
    assert book.game is not None
    while sum(map(bool, book.game.position.board.squares)) <= book.rules.rack_size:
        turn = await mover.expect(YourTurn)
        move = legal_moves_of(book.game.position, load_lexicon(), book.rules)[0]
        await mover.play(turn, format_move(move, book.rules.distribution.alphabet))
        await mover.expect(Played)
        mover, other = other, mover


async def test_a_lent_bot_plays_no_position_of_a_game_that_is_on(
    tmp_path: Path, lending: dict[str, Any], clients_hang_up: None
) -> None:
    bots: list[Channel] = []

    async def lend(_name: str) -> Worker:
        ours, theirs = MemoryChannel.pair()
        bots.append(theirs)
        return Worker(ours)

    options = lending | {"open_bot": lend}
    async with served(tmp_path / "j.db", max_games=9, **options) as server:
        url = url_of(server)
        ann, bob, _ = await two_at_a_table(url)
        await ann.expect(Started)
        (host,) = server._hosting.games.values()
        await play_on(host.book, ann, bob)
        assert host.book.game is not None
        live = host.book.game.position
        squares = live.board.squares
        shifted = replace(live, board=Board(live.board.layout, squares[-1:] + squares[:-1]))
        as_it_is, by_a_column = (write_cgp(each, standard_rules()) for each in (live, shifted))
        honest = await Client.login(f"{url}/house", "honest", "arbiter")
        asks, turn = offer(), structs.replace(your_turn(1), position=CGP, rack="AEINRST")
        unfair: list[list[NewGame | YourTurn]] = [
            [asks, structs.replace(turn, position=as_it_is)],
            [asks, structs.replace(turn, position=by_a_column)],
            [structs.replace(asks, opening=by_a_column)],
        ]
        for asked in unfair:
            arbiter = await Client.login(f"{url}/house", "unfair", "arbiter")
            for message in asked:
                await arbiter.channel.send(message)
            refused = await arbiter.expect(Error)
            assert (refused.code, refused.retry, refused.game) == ("forbidden", "later", "g")
            with pytest.raises(ChannelClosed):
                await arbiter.expect(Pong)
            for carried in (*asked[:-1], Goodbye(code="closed", message="the other side is gone")):
                assert (await bots[-1].receive()).content == carried
        for fine in (asks, turn):
            await honest.channel.send(fine)
            assert (await bots[0].receive()).content == fine
        for client in (honest, ann, bob):
            await client.channel.send(Ping(id=1))
            await client.expect(Pong)


async def test_the_position_of_a_game_that_is_on_is_nobodys_to_analyse(running: Running) -> None:
    ann, bob, _ = await two_at_a_table(url_of(running.server))
    await ann.expect(Started)
    async with running.connect() as page:
        (game,) = running.server._hosting.games.values()
        book = game.book
        assert book.game is not None
        beginning = write_cgp(book.game.position, standard_rules())
        assert (await ask(page))[1]["type"] == "turn", "another rack on an empty board"
        running.engine.cgp = beginning
        (_, refused, _) = await ask(page)
        assert refused["type"] == "left_out", "its own rack"
        assert "game that is on" in refused["why"]
        await play_on(book, ann, bob)
        assert (await ask(page))[1]["type"] == "turn", "the empty board is nobody's now"
        running.engine.cgp = write_cgp(book.game.position, standard_rules())
        assert (await ask(page))[1]["type"] == "left_out"


async def test_a_server_without_an_engine_says_so(running: Running, tmp_path: Path) -> None:
    async with (
        served(tmp_path / "other.db") as server,
        Running(server, running.engine).connect() as page,
    ):
        assert json.loads(await page.recv())["message"] == "this server offers no analysis"
