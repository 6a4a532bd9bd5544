"""``tilewire serve`` from its start to its end, as those who run it see it."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from e2e.processes import COMMAND, Server, run_command, serving

from harness.lab.bench.client import Client
from protocol.channel import ChannelClosed
from protocol.messages import YourTurn


async def health(server: Server) -> dict[str, Any]:
    """Ask as a load balancer would."""
    _, told = await asyncio.to_thread(server.get, "/healthz")
    found: dict[str, Any] = json.loads(told)
    return found


async def begin(server: Server, name: str) -> tuple[Client, YourTurn]:
    """Sit down against a built-in bot; wait for the first turn."""
    client = await Client.login(server.url, name)
    await client.seek("greedy")
    await client.get_ready()
    return client, await client.expect(YourTurn)


async def test_health_counts_a_game_and_watch_follows_it_to_its_end(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert await health(server) == {"status": "ok", "games": 0}
        client, turn = await begin(server, "guest")
        assert await health(server) == {"status": "ok", "games": 1}
        watching = await asyncio.create_subprocess_exec(
            *(*COMMAND, "watch", server.url, turn.game),
            stdout=asyncio.subprocess.PIPE,
        )
        assert watching.stdout is not None
        shown = await watching.stdout.readline()  # it is there before the game goes on
        await client.play(turn)
        over = await client.pass_to_the_end()
        shown += await watching.stdout.read()
        assert await watching.wait() == 0
        await client.close()
    told = shown.decode()
    assert "guest" in told
    for score in over.scores:
        assert str(abs(score)) in told.splitlines()[-1]


def test_that_what_is_sent_can_be_read_on_its_way_is_warned_of(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0", "--open-to-all") as server:
        assert "what is sent to 0.0.0.0" in server.hear("can be read on its way, tokens too")


IN_AN_IMAGE = Path(__file__).parents[2] / "docs" / "server.md"


async def test_the_image_serves_those_who_have_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands of the document are run here as the image's entry point runs them."""
    commands = re.sub(r"\\\n\s*", "", IN_AN_IMAGE.read_text())
    ((name, tokens),) = re.findall(r"tilewire tilewire token (\w+) --tokens (\S+) >", commands)
    (options,) = re.findall(r"--memory 4g tilewire serve (.*)", commands)
    monkeypatch.chdir(tmp_path)  # the image's volume
    monkeypatch.setenv("TILEWIRE_HOST", "0.0.0.0")
    for too_early in ("", options):
        done = run_command("serve", "--db", "no.db", *too_early.split(), status=2)
        assert "--tokens" in done.stderr or tokens in done.stderr
    token = run_command("token", name, "--tokens", tokens).stdout.strip()
    with serving(tmp_path, *options.split()) as server:
        assert " at all IPv4 addresses," in server.said[-1]
        url = server.url
        with pytest.raises(ChannelClosed, match="forbidden"):
            await Client.login(url, name)
        client = await Client.login(url, name, token=token)
        await client.close()


async def test_sigterm_lets_games_end(tmp_path: Path) -> None:
    with serving(tmp_path, "--drain", "1m") as server:
        client, turn = await begin(server, "guest")
        server.terminate()
        while (await health(server))["status"] != "closing":
            pass
        await client.play(turn)
        over = await client.pass_to_the_end()
        assert over.outcome in ("zeroes", "out")
        assert await asyncio.to_thread(server.wait) == 0
    assert "left" not in server.said[-1], server.said


async def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, "--drain", "10m") as server:
        client, _ = await begin(server, "guest")
        server.terminate()
        while (await health(server))["status"] != "closing":
            pass
        server.terminate()
        assert await asyncio.to_thread(server.wait) == 0
        await client.close()
    assert "1 game is left" in server.said[-1], server.said


async def test_sigterm_leaves_an_unfinished_game_to_the_next_start(tmp_path: Path) -> None:
    with serving(tmp_path, "--drain", "0s") as server:
        client, turn = await begin(server, "guest")
        server.terminate()
        assert await asyncio.to_thread(server.wait) == 0
        assert "1 game is left" in server.said[-1], server.said
        await client.close()
        server.start()
        back = await Client.login(server.url, "guest")
        assert back.welcome.games == (turn.game,)
        await back.resume(turn.game, turn.seq - 1)
        over = await back.pass_to_the_end()
        assert (over.game, over.outcome in ("zeroes", "out")) == (turn.game, True)
        server.terminate()
        assert await asyncio.to_thread(server.wait) == 0
        assert "left" not in server.said[-1], server.said
