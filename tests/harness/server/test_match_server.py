"""A server on a real port: what it says of players and games, to them and to who runs it."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bot_table import MemoryChannel
from guests import ann_and_bob
from load.attackers import HANDSHAKE, hello, said
from servers import login_from, served, turned_away, url_of
from small_messages import offer, over
from websockets.asyncio.client import connect
from websockets.datastructures import Headers
from websockets.http11 import Request
from websockets.typing import Subprotocol

from harness.lab.bench.client import Client
from harness.page import Page
from harness.server.admission import Admission
from harness.server.page_analysis.conversation import SUBPROTOCOL as ANALYSIS
from harness.server.server import MatchServer
from harness.server.spectating import Spectating
from harness.server.tokens import KnownTokens, hash_token
from protocol import accepting
from protocol.channel import ChannelClosed
from protocol.codec import MSGPACK
from protocol.messages import (
    Decline,
    Error,
    GameOver,
    Goodbye,
    Hello,
    NewGame,
    Seeking,
    StandingList,
    Watch,
)
from protocol.metered import ServerEnd
from protocol.websocket import HttpAnswer

pytestmark = pytest.mark.usefixtures("clients_hang_up")


@dataclass
class Running:
    """A server, and what it has told."""

    url: str
    told: asyncio.Queue[str] = field(default_factory=asyncio.Queue)


@pytest.fixture
async def running(
    tmp_path: Path, request: pytest.FixtureRequest, lending: dict[str, Any]
) -> AsyncIterator[Running]:
    """A server with a bot in its list; for those who are known, with the marker ``tokens``."""
    tokens, param = None, getattr(request, "param", "")
    if param == "tokens":
        (tmp_path / "tokens").write_text(f"ann {hash_token('a')}\nbob {hash_token('b')}\n")
        tokens = KnownTokens(tmp_path / "tokens", print)
    running = Running("")
    async with served(
        tmp_path / "serve.db",
        known=tokens,
        log_line=running.told.put_nowait,
        admission=param if isinstance(param, Admission) else Admission(),
        **lending,
    ) as server:
        running.url = url_of(server)
        yield running


async def test_who_comes_and_plays_is_told_to_who_runs_the_server(running: Running) -> None:
    ann, bob = await ann_and_bob(running.url)
    over, _ = await asyncio.gather(ann.pass_to_the_end(), bob.pass_to_the_end())
    await ann.close()
    here, _, begins, ended, left = [await running.told.get() for _ in range(5)]
    assert (here.startswith("ann is here, from 127.0.0.1:"), left) == (True, "ann left")
    assert begins.startswith(f"game {over.game} begins: ")
    most, least = sorted(over.scores, reverse=True)  # the winner's score first
    assert ended.startswith(f"game {over.game} is over: ")
    assert f"{most} to {least}" in ended


async def test_a_name_that_nobody_has_is_told_with_the_one_that_was_meant(running: Running) -> None:
    ann = await Client.login(running.url, "ann")
    await ann.seek("huose")
    seeking = await ann.expect(Seeking)
    assert "house?" in (seeking.absent or "")
    await ann.seek("bob")
    assert "'bob'" in ((await ann.expect(Seeking)).absent or "")
    await Client.login(running.url, "bob")
    await ann.seek("bob")
    assert (await ann.expect(Seeking)).absent is None


@pytest.mark.parametrize("running", ["tokens"], indirect=True)
async def test_a_name_that_nobody_can_have_is_refused(running: Running) -> None:
    ann = await Client.login(running.url, "ann", token="a")
    await ann.seek("bob")
    assert "'bob'" in ((await ann.expect(Seeking)).absent or "")
    await ann.seek("huose")
    error = await ann.expect(Error)
    assert error.code == "bad_opponent"
    assert "house?" in error.message
    for token in ("x", None):
        await turned_away(running.url, "bob", token=token)
    _, *why = [await running.told.get() for _ in range(3)]
    assert all("'bob' needs its token" in told for told in why)


async def ask(running: Running, request: str, *headers: str) -> tuple[str, str]:
    """Ask by HTTP; return head and body of the answer."""
    port = int(running.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = f"{request} HTTP/1.1", "Host: play.example:8484", *headers, "", ""
    writer.write("\r\n".join(lines).encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return head, body


async def test_who_asks_by_http_gets_the_page_and_elsewhere_is_told_what_this_is(
    running: Running,
) -> None:
    for header in ("Accept: */*", "Upgrade: h2c"):
        for method, body in (("GET", "<!doctype html>"), ("HEAD", "")):
            head, text = await ask(running, f"{method} /", header)
            assert head.startswith("HTTP/1.1 200 ")
            assert "Content-Type: text/html; charset=utf-8" in head
            assert text[:15] == body
    head, _ = await ask(running, "GET /", "Connection: Upgrade", "Upgrade: websocket")
    assert head.startswith("HTTP/1.1 400 "), "it has no key"
    head, text = await ask(running, "GET /house")
    assert head.startswith("HTTP/1.1 426 ")
    assert "Upgrade: websocket" in head
    assert "tilewire connect" in text
    head, _ = await ask(running, "DELETE /api/games")
    assert head.startswith("HTTP/1.1 405 ")
    assert "Allow: GET, HEAD" in head


FEW = Admission(connections=4, kept=2, connections_per_address=100)


@pytest.mark.parametrize("running", [FEW], indirect=True)
async def test_a_player_with_a_game_comes_back_when_all_places_are_taken(running: Running) -> None:
    ann, bob = await ann_and_bob(running.url)
    game = await bob.get_ready()
    await ann.close()
    for number in range(3):
        await Client.login(running.url, f"s{number}", "spectator")
    await turned_away(running.url, "cem", "spectator", why="1013 busy")
    await turned_away(running.url, "cem", why="1013 busy")
    ann = await Client.login(running.url, "ann")
    assert ann.welcome.games == (game,)


@asynccontextmanager
async def all_freed(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Wait, at the end, until all connections of meanwhile are freed, without the collector."""
    made, freed = 0, asyncio.Semaphore(0)

    class Noted(ServerEnd):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            nonlocal made
            super().__init__(*args, **kwargs)
            made += 1
            weakref.finalize(self.protocol, freed.release)

    monkeypatch.setattr(accepting, "ServerEnd", Noted)
    gc.disable()
    try:
        yield
        async with asyncio.timeout(5):
            for _ in range(made):
                await freed.acquire()
    finally:
        gc.enable()


@pytest.mark.parametrize("running", [FEW], indirect=True)
async def test_who_is_turned_away_is_freed(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        await Client.login(running.url, f"s{number}", "spectator")
    async with all_freed(monkeypatch):
        await turned_away(running.url, "cem", why="1013 busy")
        async with connect(running.url, subprotocols=[Subprotocol(ANALYSIS)], proxy=None) as page:
            assert "no place is left" in str(await page.recv())
        for nonsense in ("nonsense", b"\xc1"):
            async with connect(running.url, proxy=None) as page:
                await page.send(nonsense)
                await page.wait_closed()


async def test_a_spectator_who_goes_from_game_to_game_is_freed(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = [await Client.login(running.url, name) for name in ("ann", "bob")]
    async with all_freed(monkeypatch):
        eve = await Client.login(running.url, "eve", "spectator")
        for _ in range(2):
            await ann.seek("bob")
            await bob.seek("ann")
            game = await ann.get_ready()
            await bob.get_ready()
            await eve.channel.send(Watch(game=game))
            await asyncio.gather(ann.pass_to_the_end(), bob.pass_to_the_end())
            await eve.expect(GameOver)
        await eve.close()


async def test_a_spectator_who_goes_to_another_game_still_hears_how_the_last_ended() -> None:
    watched = []

    class Ended:
        """The host of a game that is over, by its book."""

        book = SimpleNamespace(ended=True)

        def __init__(self, game: str) -> None:
            self.game = game

        def watch(self, spectator: Any, _viewer: object) -> None:
            watched.append(self.game)
            spectator(Goodbye(code="shown", message="the game so far"))

        def unwatch(self, _spectator: object) -> None:
            watched.remove(self.game)

    games = {game: Ended(game) for game in "abc"}
    hosting = SimpleNamespace(games=dict(games), find=games.get)
    eve, channel = MemoryChannel.pair()
    spectating = Spectating(cast("Any", hosting), lambda: StandingList(round=0))
    serving = asyncio.create_task(spectating.serve(cast("Any", channel)))
    await eve.receive()
    for game, then in (("a", ["a"]), ("b", ["a", "b"]), ("c", ["b", "c"])):
        await eve.send(Watch(game=game))
        await eve.receive()
        assert watched == then
        if game == "b":
            del hosting.games["a"]  # all spectators have heard its end
    await eve.close()
    await serving
    assert not watched


@pytest.mark.parametrize(
    "running",
    [Admission(spectators=1, frames_per_s=1_000_000, bytes_per_s=1 << 30)],
    indirect=True,
)
async def test_a_page_that_does_not_read_is_cut_off_and_the_game_goes_on(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("protocol.websocket.CLOSE_S", 0.1)
    ann, bob = await ann_and_bob(running.url)
    game = await ann.get_ready()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(running.url.split(":")[2]))
    writer.write(HANDSHAKE + hello("spectator", "page"))
    await reader.readuntil(b"\r\n\r\n")
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    asking = said(Watch(game=game)) * 100

    async def ask_and_never_read() -> None:
        with suppress(ConnectionError):
            while True:
                writer.write(asking)
                await writer.drain()

    async with asyncio.timeout(60):
        over, _, _ = await asyncio.gather(
            ann.pass_to_the_end(), bob.pass_to_the_end(), ask_and_never_read()
        )
        assert (over.game, over.outcome) == (game, "zeroes")
        other = None
        while other is None:  # its place is free once its connection has ended on both sides
            with suppress(ChannelClosed):
                other = await Client.login(running.url, "other", "spectator")
    for client in (ann, bob, other):
        await client.close()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize("running", [Admission(handshakes_per_s=2)], indirect=True)
async def test_of_refused_logins_only_a_wrong_token_costs_its_address_ten(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepting, "WAIT_S", 0)
    for _ in range(5):
        await turned_away(running.url, "house")
    ann = await Client.login(running.url, "ann", token="s" * 32)
    await turned_away(running.url, "ann", token="x")
    await turned_away(running.url, "bob", why="HTTP 503")
    await ann.close()


async def test_two_tokens_in_the_header_are_refused_with_a_sentence(running: Running) -> None:
    headers = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")]
    async with connect(running.url, additional_headers=headers, proxy=None) as client:
        await client.send(MSGPACK.encode(Hello(role="player", name="ann")))
        answer = MSGPACK.decode(cast("bytes", await client.recv()))
        assert isinstance(answer, Error)
        assert answer.code == "forbidden"
        assert answer.message == "2 Authorization headers were sent; send one"


async def test_a_class_that_opens_the_page_together_gets_all_of_it(running: Running) -> None:
    """Each of 30 browsers has six connections at once, as browsers do."""
    scripts = [path for path in Page.read().answers if path.endswith((".js", ".css", ".svg"))]

    async def open_page() -> None:
        six = asyncio.Semaphore(6)

        async def get(path: str) -> None:
            async with six:
                head, _ = await ask(running, f"GET {path}", "X-Forwarded-For: 192.0.2.1")
                assert head.startswith("HTTP/1.1 200 "), head

        await asyncio.gather(*map(get, scripts[:27]))

    await asyncio.gather(*(open_page() for _ in range(30)))


async def test_a_lent_bot_is_taken_back_between_its_games_only(
    tmp_path: Path, lending: dict[str, Any]
) -> None:
    async with served(tmp_path / "serve.db", max_games=1, **lending) as server:
        url = url_of(server)
        arbiter = await login_from("127.0.0.2", f"{url}/house", "afar", "arbiter")
        await arbiter.channel.send(offer(game="one"))
        ann = await Client.login(url, "ann")
        await ann.seek("house")
        await ann.expect(Seeking)
        await arbiter.channel.send(offer(game="two"))
        refused = await arbiter.expect(Decline)
        assert (refused.game, refused.code) == ("two", "busy")
        await arbiter.channel.send(over(1, "one"))
        assert (await arbiter.expect(Goodbye)).code == "recalled"
        await ann.expect(NewGame)
        await turned_away(f"{url}/house", "afar", "arbiter", why="1013 busy")


# --- what is counted ------------------------------------------------------------------------------


def read(server: MatchServer) -> dict[str, float]:
    """Read the metrics as Prometheus does."""
    answer = server._on_http(Request("/metrics", Headers()), "127.0.0.1")
    assert isinstance(answer, HttpAnswer)
    assert answer.content_type.startswith("text/plain; version=")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


async def test_a_game_and_a_refusal_are_counted(tmp_path: Path) -> None:
    async with served(tmp_path / "games.db") as server:
        url = url_of(server)
        before = read(server)
        assert before["tilewire_games_on"] == before["tilewire_players"] == 0
        ann, bob = await ann_and_bob(url)
        await asyncio.gather(ann.pass_to_the_end(), bob.pass_to_the_end())
        await turned_away(url, "hannah", "admin", token="x")
        full = Admission(connections=1, kept=1)
        server.change(max_games=2, time=server.time, admission=full)
        await turned_away(url, "cem", why="503")
        after = read(server)
        assert after["tilewire_players"] == 2
        assert after['tilewire_games_total{outcome="zeroes"}'] == 1
        assert after['tilewire_turned_away_total{code="forbidden"}'] == 1
        assert after['tilewire_refused_total{limit="connections"}'] == 1
        assert after["tilewire_turns_total"] == 6
        commits = "tilewire_journal_commit_seconds_count"
        assert after[commits] > before[commits]
        assert after["tilewire_journal_bytes"] > 0
        assert after["tilewire_journal_failing"] == 0
        async with asyncio.timeout(10):
            while not read(server)["tilewire_loop_late_seconds_count"]:  # noqa: ASYNC110 - every 20 ms
                await asyncio.sleep(0.005)
        assert after["process_open_fds"] > 0
        assert "ann" not in str(after)
