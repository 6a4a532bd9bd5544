"""A server on a real port: what it says of players and games, to them and to who runs it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.arbiter.journal import Journal
from harness.lab.bench.client import Client
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper, KnownTokens, hash_token
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed
from protocol.messages import Error, Seeking


@dataclass
class Running:
    """A server, and what it has told."""

    url: str
    told: asyncio.Queue[str] = field(default_factory=asyncio.Queue)


async def no_bot(name: str) -> None:
    raise AssertionError(f"nobody asks for {name}")


@pytest.fixture
async def running(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Running]:
    """A server with a bot in its list; for those who are known, with the marker ``tokens``."""
    tokens = None
    if getattr(request, "param", "") == "tokens":
        (tmp_path / "tokens").write_text(f"ann {hash_token('a')}\nbob {hash_token('b')}\n")
        tokens = KnownTokens(tmp_path / "tokens")
    journal = Journal(tmp_path / "serve.db")
    server = Running("")
    house = {"greedy": no_bot}
    listening = MatchServer(
        load_lexicon(),
        journal,
        Gatekeeper(journal, tokens),
        house,  # type: ignore[arg-type]  # nobody plays against it
        no_bot,  # type: ignore[arg-type]
        drain_s=0,
        tell=server.told.put_nowait,
    )
    await listening.start()
    server.url = f"ws://127.0.0.1:{listening.port}"
    yield server
    await listening.stop()
    journal.close()


async def test_who_comes_and_plays_is_told_to_who_runs_the_server(running: Running) -> None:
    ann = await Client.login(running.url, "ann")
    bob = await Client.login(running.url, "bob")
    await ann.seek("bob")
    await bob.seek("ann")
    over, _ = await asyncio.gather(ann.pass_to_the_end(), bob.pass_to_the_end())
    for client in (ann, bob):
        await client.close()
    told = [re.sub(r"127.0.0.1:\d+", "HERE", await running.told.get()) for _ in range(6)]
    assert told[:2] == ["ann is here, from HERE", "bob is here, from HERE"]
    assert sorted(told[4:]) == ["ann left", "bob left"]
    players = told[2].removeprefix(f"game {over.game} begins: ")
    assert players in ("ann – bob", "bob – ann")
    first, second = over.scores
    assert told[3].startswith(f"game {over.game} is over: {players}, ")
    assert told[3].endswith(f"({over.message})")
    assert f"{first} to {second}" in told[3]


async def test_a_name_that_nobody_has_is_told_with_the_one_that_was_meant(running: Running) -> None:
    ann = await Client.login(running.url, "ann")
    await ann.seek("gredy")
    seeking = await ann.expect(Seeking)
    assert seeking.absent == "nobody called 'gredy' is here; did you mean greedy?"
    await ann.seek("bob")
    assert (await ann.expect(Seeking)).absent == "nobody called 'bob' is here"
    bob = await Client.login(running.url, "bob")
    await ann.seek("bob")
    assert (await ann.expect(Seeking)).absent is None
    for client in (ann, bob):
        await client.close()


@pytest.mark.parametrize("running", ["tokens"], indirect=True)
async def test_a_name_that_nobody_can_have_is_refused(running: Running) -> None:
    ann = await Client.login(running.url, "ann", token="a")
    await ann.seek("bob")
    assert (await ann.expect(Seeking)).absent == "nobody called 'bob' is here"
    await ann.seek("gredy")
    error = await ann.expect(Error)
    assert error.code == "bad_opponent"
    assert error.message == "nobody called 'gredy' is here; did you mean greedy?"
    await ann.close()
    told = [await running.told.get() for _ in range(2)]
    for token, sentence in (
        ("x", "needs its token, and this is not it"),
        (None, "needs its token, and none was sent"),
    ):
        with pytest.raises(ChannelClosed):
            await Client.login(running.url, "bob", token=token)
        told.append(await running.told.get())
        assert told[-1].endswith(f" was turned away: the name 'bob' {sentence}")


async def test_a_browser_is_told_what_this_is(running: Running) -> None:
    port = int(running.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: play.example:8484\r\nAccept: text/html\r\n\r\n")
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    head, _, page = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 426 ")
    assert "Upgrade: websocket" in head
    assert "Content-Type: text/plain; charset=utf-8" in head
    assert page.startswith("This is a tilewire server")
    assert "tilewire watch ws://play.example:8484\n" in page
