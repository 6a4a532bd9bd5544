"""HAProxy before three hosts on one PostgreSQL: they are one address, and games outlive each."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import haproxy
import pytest
from e2e.hosts import free_port
from e2e.processes import PATIENCE_S, SETTINGS, Server, run_command, serving
from guests import on_turn, two_at_a_table
from postgres import Cluster
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from harness.lab.bench.client import Client
from harness.server.tokens import hash_token
from protocol.channel import ChannelClosed
from protocol.messages import NewGame, Played, Watch

pytestmark = pytest.mark.skipif(haproxy.program() is None, reason=haproxy.MISSING)

TOKEN = "a" * 32
BEHIND = f"""{SETTINGS}
[admission]
proxies = ["127.0.0.1"]
"""
ELSEWHERE = "127.0.0.9"
"""The address of a client that is not the balancer's."""
FROM_ELSEWHERE: dict[str, Any] = {
    "subprotocols": [Subprotocol("tilewire.v1.json")],
    "proxy": None,
    "local_addr": (ELSEWHERE, 0),
}


class Hosts:
    """Three hosts, and the balancer that everybody dials."""

    def __init__(self, folder: Path, database: str, stack: ExitStack) -> None:
        admins = folder / "admins.tokens"
        admins.write_text(f"hannah {hash_token(TOKEN)}\n")
        options = ("--standby", "--ladder", "--drain", "0s", "--admins", admins)
        self.all = []
        for number in range(3):
            own = folder / str(number)
            own.mkdir()
            host = Server(own, *options, settings=BEHIND, database=database)
            host.port = free_port()
            self.all.append(host)
            stack.callback(host.close)
        port = stack.enter_context(haproxy.balancer(folder, [host.port for host in self.all]))
        self.url = f"ws://127.0.0.1:{port}"

    async def start(self) -> Server:
        """Start all; return the one that serves."""
        first, *others = self.all
        await asyncio.to_thread(first.start)
        for host in others:
            host.launch()
        await self.stand_by(others)
        return first

    def wait_for_heir(self, of: Server) -> Server:
        """Wait until another host serves; return it."""
        until = time.monotonic() + PATIENCE_S
        while True:
            for host in self.all:
                if host is not of and host.look():
                    return host
            assert time.monotonic() < until, [host.said[-5:] for host in self.all]
            time.sleep(0.01)

    async def stand_by(self, hosts: list[Server]) -> None:
        """Wait until hosts say that they stand by."""
        async with asyncio.timeout(PATIENCE_S):
            for host in hosts:
                while (await get(url_of(host), "/healthz"))[0] != 200:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

    async def finish(self, game: str) -> list[Client]:
        """Have ann and bob come back to a game, and pass to its end."""
        players = [await back(self.url, name) for name in ("ann", "bob")]
        for player in players:
            assert player.welcome.games == (game,)
            await player.resume(game, -1)
        over = await asyncio.gather(*(player.pass_to_the_end() for player in players))
        assert {each.outcome for each in over} == {"zeroes"}
        return players


def url_of(host: Server) -> str:
    return f"ws://127.0.0.1:{host.port}"


async def get(url: str, path: str, trusting: ssl.SSLContext | None = None) -> tuple[int, Any]:
    """Ask for something; status and what is said, 0 if nobody is there."""
    https = urllib.request.HTTPSHandler(context=trusting)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), https)
    request = urllib.request.Request(url.replace("ws", "http", 1) + path)
    request.add_header("Accept", "text/html, application/json")

    def ask() -> tuple[int, Any]:
        try:
            with opener.open(request, timeout=10) as answer:
                said = answer.read().decode()
                is_json = "json" in answer.headers["Content-Type"]
                return answer.status, json.loads(said) if is_json else said
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.headers["Retry-After"]
        except OSError:
            return 0, None

    return await asyncio.to_thread(ask)


@pytest.fixture
def hosts(tmp_path: Path, cluster: Cluster) -> Iterator[Hosts]:
    with ExitStack() as stack:
        yield Hosts(tmp_path, cluster.database(), stack)


async def back(url: str, name: str) -> Client:
    """Log in as soon as that is possible."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await Client.login(url, name)
            except ChannelClosed:
                await asyncio.sleep(0.01)


async def greeted(url: str, address: str, **hello: str) -> dict[str, Any]:
    """Come as a player from an address; return the first message."""
    async with connect(url, **FROM_ELSEWHERE | {"local_addr": (address, 0)}) as connection:
        await connection.send(json.dumps({"type": "hello", "role": "player", **hello}))
        return dict[str, Any](json.loads(await connection.recv()))


async def test_all_hosts_are_one_address(hosts: Hosts, tmp_path: Path) -> None:
    first = await hosts.start()
    ann = await back(hosts.url, "ann")
    await ann.close()
    ann, bob, game = await two_at_a_table(hosts.url, hosts.url)
    mover, _, turn = await asyncio.wait_for(on_turn(ann, bob), PATIENCE_S)
    assert (await get(url_of(first), "/serving"))[0] == 200

    # The page and its API, a spectator.
    assert (await get(hosts.url, "/"))[0] == 200
    _, listed = await get(hosts.url, "/api/games")
    assert [each["game"] for each in listed["on"]] == [game], listed
    cem = await Client.login(hosts.url, "cem", "spectator")
    await cem.channel.send(Watch(game=game))
    assert (await cem.expect(NewGame)).game == game

    # An admin bans the address that a connection comes from; a name is its token's.
    (tmp_path / "token").write_text(TOKEN)
    mine = ("--name", "hannah", "--token-file", tmp_path / "token")
    await asyncio.to_thread(run_command, "admin", hosts.url, "ban", ELSEWHERE, *mine)
    assert (await greeted(hosts.url, ELSEWHERE, name="dan"))["code"] == "banned"
    assert (await greeted(hosts.url, "127.0.0.8", name="eve", token=TOKEN))["type"] == "welcome"

    # The host that serves is killed in mid-turn; the game goes on by what is left.
    await mover.play(turn)
    await cem.expect(Played)
    first.kill()
    ann, bob = await hosts.finish(game)

    # The next host knows bans and tokens.
    assert (await greeted(hosts.url, ELSEWHERE, name="dan"))["code"] == "banned"
    assert (await greeted(hosts.url, "127.0.0.8", name="eve"))["code"] == "forbidden"
    assert (await greeted(hosts.url, "127.0.0.8", name="eve", token=TOKEN))["type"] == "welcome"

    # What was killed comes back as a host that stands by.
    first.launch()
    await hosts.stand_by([first])
    assert (await get(hosts.url, f"/api/games/{game}"))[0] == 200
    for client in (ann, bob):
        await client.close()

    # Another version is put in place host by host, who serves last.
    serves = await asyncio.to_thread(hosts.wait_for_heir, first)
    _, _, game = await two_at_a_table(hosts.url, hosts.url)
    for host in hosts.all:
        if host is not serves:
            host.terminate()
            assert await asyncio.to_thread(host.wait) == 0
            host.launch()
            await hosts.stand_by([host])
    serves.terminate()
    await asyncio.to_thread(hosts.wait_for_heir, serves)
    assert await asyncio.to_thread(serves.wait) == 0
    for client in await hosts.finish(game):
        await client.close()


async def test_tls_ends_at_the_balancer(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    both = tmp_path / "play.pem"
    both.write_bytes(b"".join(file.read_bytes() for file in certificate))
    trusting = ssl.create_default_context(cafile=certificate[0])
    with (
        serving(tmp_path, settings=BEHIND) as host,  # on its own, without --standby
        haproxy.balancer(tmp_path, [host.port], both) as port,
    ):
        url = f"wss://localhost:{port}"
        async with asyncio.timeout(PATIENCE_S):
            while (await get(url, "/healthz", trusting))[0] != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        async with connect(url, ssl=trusting, **FROM_ELSEWHERE) as ann:
            await ann.send('{"type": "hello", "role": "player", "name": "ann"}')
            assert json.loads(await ann.recv())["type"] == "welcome"
            line = await asyncio.to_thread(host.hear, "ann is here")
        assert f"from {ELSEWHERE}:" in line
