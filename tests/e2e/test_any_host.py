"""Three hosts on one PostgreSQL: whichever a peer dials, all are one, and games outlive each."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.hosts import free_port
from e2e.processes import PATIENCE_S, SETTINGS, Server, run_command
from guests import on_turn, two_at_a_table
from postgres import Cluster
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from harness.lab.bench.client import Client
from harness.server.tokens import hash_token
from protocol.channel import ChannelClosed
from protocol.messages import GameOver, NewGame, Played, Watch

TOKEN = "a" * 32
SHARED = f"""{SETTINGS}
[admission]
proxies = ["127.0.0.1"]
"""


class Hosts:
    """Three hosts, each with an address that peers may dial."""

    def __init__(self, folder: Path, database: str) -> None:
        admins = folder / "admins.tokens"
        admins.write_text(f"hannah {hash_token(TOKEN)}\n")
        options = ("--standby", "--ladder", "--drain", "0s", "--admins", admins)
        self.all = []
        for number in range(3):
            own = folder / str(number)
            own.mkdir()
            host = Server(own, *options, settings=SHARED, database=database)
            host.port = free_port()
            self.all.append(host)

    def wait_for_heir(self, of: Server) -> Server:
        """Wait until another host serves; return it."""
        until = time.monotonic() + PATIENCE_S
        while True:
            for host in self.all:
                if host is not of and host.look():
                    return host
            assert time.monotonic() < until, [host.said[-5:] for host in self.all]
            time.sleep(0.01)

    async def know(self, serving: Server, others: list[Server]) -> None:
        """Wait until others pass conversations on to a host."""
        known = {"status": "standby", "serves": f"127.0.0.1:{serving.port}"}
        async with asyncio.timeout(PATIENCE_S):
            for host in others:
                while (await get(host, "/healthz"))[1] != known:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.02)


def url_of(host: Server) -> str:
    return f"ws://127.0.0.1:{host.port}"


async def get(host: Server, path: str) -> tuple[int, Any]:
    """Ask a host for something; status and what it says, 0 if it is not there."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"http://127.0.0.1:{host.port}{path}")
    request.add_header("Accept", "text/html, application/json")

    def ask() -> tuple[int, Any]:
        try:
            with opener.open(request, timeout=10) as answer:
                said = answer.read().decode()
                is_json = "json" in answer.headers["Content-Type"]
                return answer.status, json.loads(said) if is_json else said
        except urllib.error.HTTPError as refused:
            return refused.code, None
        except OSError:
            return 0, None

    return await asyncio.to_thread(ask)


@pytest.fixture
def hosts(tmp_path: Path, cluster: Cluster) -> Iterator[Hosts]:
    hosts = Hosts(tmp_path, cluster.database())
    try:
        yield hosts
    finally:
        for host in hosts.all:
            host.close()


async def pass_on(player: Client, game: str) -> GameOver:
    """Take a game up again and pass to its end."""
    await player.resume(game, -1)
    return await player.pass_to_the_end()


async def back(host: Server, name: str) -> Client:
    """Log in as soon as a host lets one."""
    while True:
        try:
            return await Client.login(url_of(host), name)
        except ChannelClosed:
            await asyncio.sleep(0.01)


async def test_any_host_will_do(hosts: Hosts, tmp_path: Path) -> None:
    serving, *others = hosts.all
    await asyncio.to_thread(serving.start)
    for host in others:
        host.launch()
    await hosts.know(serving, others)
    one, two = others

    ann, bob, game = await two_at_a_table(url_of(one), url_of(two))
    mover, _, turn = await asyncio.wait_for(on_turn(ann, bob), PATIENCE_S)

    # The page and its API, by each host.
    for path in ("/", "/api/ladder", "/api/games"):
        listed = [await get(host, path) for host in hosts.all]
        assert listed[0] == listed[1] == listed[2]
        assert listed[0][0] == 200
    assert [each["game"] for each in listed[0][1]["on"]] == [game], listed[0]

    # A spectator, by a host that does not serve.
    cem = await Client.login(url_of(one), "cem", "spectator")
    await cem.channel.send(Watch(game=game))
    assert (await cem.expect(NewGame)).game == game

    # An admin, and whose connection comes from where.
    as_json = [Subprotocol("tilewire.v1.json")]
    elsewhere = ("127.0.0.9", 0)
    async with connect(url_of(two), subprotocols=as_json, proxy=None, local_addr=elsewhere) as dan:
        await dan.send('{"type": "hello", "role": "player", "name": "dan"}')
        await dan.recv()
        token = tmp_path / "token"
        token.write_text(TOKEN)
        mine = ("--name", "hannah", "--token-file", token)
        said = await asyncio.to_thread(run_command, "admin", url_of(two), "list", *mine)
    (line,) = [line for line in said.stdout.splitlines() if line.split()[:1] == ["dan"]]
    assert "127.0.0.9:" in line

    # The host that serves is killed in mid-turn; the game goes on by what is left.
    await mover.play(turn)
    await cem.expect(Played)
    serving.kill()
    heir = await asyncio.to_thread(hosts.wait_for_heir, serving)
    (door,) = [host for host in others if host is not heir]
    ann, bob = await back(door, "ann"), await back(heir, "bob")
    assert ann.welcome.games == bob.welcome.games == (game,)
    over = await asyncio.gather(pass_on(ann, game), pass_on(bob, game))
    assert {each.outcome for each in over} == {"zeroes"}

    # What was killed comes back as a host that passes on.
    serving.launch()
    await hosts.know(heir, [serving])
    listed = [await get(host, f"/api/games/{game}") for host in (serving, heir)]
    assert listed[0] == listed[1]
    assert listed[0][0] == 200
    for client in (ann, bob):
        await client.close()


async def test_another_version_is_put_in_place_host_by_host(hosts: Hosts) -> None:
    serving, *others = hosts.all
    await asyncio.to_thread(serving.start)
    for host in others:
        host.launch()
    await hosts.know(serving, others)
    _, _, game = await two_at_a_table(*map(url_of, others))
    for host in others:
        host.terminate()
        assert await asyncio.to_thread(host.wait) == 0
        host.launch()
        await hosts.know(serving, [host])
    serving.terminate()
    heir = await asyncio.to_thread(hosts.wait_for_heir, serving)
    assert await asyncio.to_thread(serving.wait) == 0
    (door,) = [host for host in others if host is not heir]
    ann, bob = await back(door, "ann"), await back(heir, "bob")
    over = await asyncio.gather(pass_on(ann, game), pass_on(bob, game))
    assert {each.outcome for each in over} == {"zeroes"}
    for client in (ann, bob):
        await client.close()
