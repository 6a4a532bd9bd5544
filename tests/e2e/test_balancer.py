"""HAProxy before three hosts on one PostgreSQL: they are one address, and games outlive each."""

from __future__ import annotations

import asyncio
import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import haproxy
import pytest
from e2e.hosts import STORM, Hosts
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
ELSEWHERE = "127.0.0.9"
"""The address of a client that is not the balancer's."""
FROM_ELSEWHERE: dict[str, Any] = {
    "subprotocols": [Subprotocol("tilewire.v1.json")],
    "proxy": None,
    "local_addr": (ELSEWHERE, 0),
}


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


async def finish(url: str, game: str) -> None:
    """Have ann and bob come back to a game, and pass to its end."""
    players = [await back(url, name) for name in ("ann", "bob")]
    for player in players:
        assert player.welcome.games == (game,)
        await player.resume(game, -1)
    over = await asyncio.gather(*(player.pass_to_the_end() for player in players))
    assert {each.outcome for each in over} == {"zeroes"}
    for player in players:
        await player.close()


async def stand_by(host: Server) -> None:
    """Wait until a host says that it stands by, or serves."""
    async with asyncio.timeout(PATIENCE_S):
        while (await get(url_of(host), "/healthz"))[0] != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_all_hosts_are_one_address(tmp_path: Path, cluster: Cluster) -> None:
    admins = tmp_path / "admins.tokens"
    admins.write_text(f"hannah {hash_token(TOKEN)}\n")
    hosts = Hosts(tmp_path, cluster.database(), SETTINGS, "--ladder", "--admins", admins)
    try:
        await hosts.open_lines()
        await asyncio.to_thread(hosts.start)
        await go_from_host_to_host(hosts, tmp_path)
    finally:
        hosts.close()


async def go_from_host_to_host(hosts: Hosts, folder: Path) -> None:
    ann = await back(hosts.url, "ann")
    await ann.close()
    ann, bob, game = await two_at_a_table(hosts.url, hosts.url)
    mover, _, turn = await asyncio.wait_for(on_turn(ann, bob), PATIENCE_S)
    assert hosts.active is not None
    assert (await get(url_of(hosts.active), "/serving"))[0] == 200

    # The page and its API, a spectator.
    assert (await get(hosts.url, "/"))[0] == 200
    _, listed = await get(hosts.url, "/api/games")
    assert [each["game"] for each in listed["on"]] == [game], listed
    cem = await Client.login(hosts.url, "cem", "spectator")
    await cem.channel.send(Watch(game=game))
    assert (await cem.expect(NewGame)).game == game

    # An admin bans the address that a connection comes from; a name is its token's.
    (folder / "token").write_text(TOKEN)
    mine = ("--name", "hannah", "--token-file", folder / "token")
    await asyncio.to_thread(run_command, "admin", hosts.url, "ban", ELSEWHERE, *mine)
    assert (await greeted(hosts.url, ELSEWHERE, name="dan"))["code"] == "banned"
    assert (await greeted(hosts.url, "127.0.0.8", name="eve", token=TOKEN))["type"] == "welcome"

    # The host that serves is killed in mid-turn, and stands by later; another knows all of it.
    await mover.play(turn)
    await cem.expect(Played)
    killed = hosts.active
    hosts.kill()
    await asyncio.to_thread(hosts.start)
    await finish(hosts.url, game)
    assert (await greeted(hosts.url, ELSEWHERE, name="dan"))["code"] == "banned"
    assert (await greeted(hosts.url, "127.0.0.8", name="eve"))["code"] == "forbidden"
    assert (await greeted(hosts.url, "127.0.0.8", name="eve", token=TOKEN))["type"] == "welcome"
    await stand_by(killed)
    assert (await get(hosts.url, f"/api/games/{game}"))[0] == 200

    # Another version is put in place host by host, who serves last.
    _, _, game = await two_at_a_table(hosts.url, hosts.url)
    for host in hosts.all:
        if host is not hosts.active:
            await asyncio.to_thread(host.stop)
            host.launch()
            await stand_by(host)
    await asyncio.to_thread(hosts.active.stop)
    hosts.down.append(hosts.active)
    await asyncio.to_thread(hosts.start)
    await finish(hosts.url, game)


async def test_tls_ends_at_the_balancer(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    both = tmp_path / "play.pem"
    both.write_bytes(b"".join(file.read_bytes() for file in certificate))
    trusting = ssl.create_default_context(cafile=certificate[0])
    with (
        serving(tmp_path, settings=SETTINGS + STORM) as host,  # on its own, without --standby
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
