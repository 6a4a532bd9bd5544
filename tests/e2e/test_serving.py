"""``tilewire serve`` as those who run it see it: its end, ladder, tournament, bots elsewhere."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from e2e.hosts import Line
from e2e.processes import COMMAND, PATIENCE_S, SETTINGS, Server, run_command, serving
from guests import Guest

from harness.arbiter.journal_reading import read_games
from harness.cli.asking import answered
from harness.lab.bench.client import Client
from harness.matches.folder import MatchFolder
from harness.matches.pairings import Round
from protocol.channel import ChannelClosed
from protocol.messages import GameOver, NewGame, Played, Ready, StandingList, Standings, YourTurn


async def closing(server: Server) -> int:
    """Ask as a load balancer would, until nobody new comes in; return how many games are on."""
    while True:
        told = json.loads((await asyncio.to_thread(server.get, "/healthz"))[1])
        if told["status"] == "closing":
            return int(told["games"])


async def begin(server: Server, name: str) -> tuple[Client, YourTurn]:
    """Sit down against a built-in bot; wait for the first turn."""
    client = await Client.login(server.url, name)
    await client.seek("greedy")
    await client.get_ready()
    return client, await client.expect(YourTurn)


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
        assert await closing(server) == 1
        await client.play(turn)
        over = await client.pass_to_the_end()
        assert over.outcome in ("zeroes", "out")
        assert await asyncio.to_thread(server.wait) == 0
    assert "left" not in server.said[-1], server.said


async def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, "--drain", "10m") as server:
        client, _ = await begin(server, "guest")
        server.terminate()
        await closing(server)
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


LADDER = """
max_games = 3
[ladder.tables.blitz]
initial_ms = 20000
[ladder.tables.slow]
[ladder.anchors]
greedy = 1500
"""


async def until(server: Server, address: str, holds: Callable[[Any], object]) -> Any:
    """Ask over HTTP, as a page would, until that holds."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            status, text = await asyncio.to_thread(server.get, f"/api/ladder{address}")
            assert status == 200, text
            if holds(told := json.loads(text)):
                return told
            await asyncio.sleep(0.1)


def anchors(told: dict[str, Any]) -> dict[str, float]:
    return {row["name"]: row["rating"] for row in told["bots"] if row["kind"] == "anchor"}


async def test_a_ladder_goes_on_after_a_kill(tmp_path: Path) -> None:
    with serving(tmp_path, "--ladder", "--drain", "0s", settings=LADDER) as server:
        ann, bob = (Guest(server.url, name, 11 * name) for name in ("ann", "bob"))
        await ann.come()
        await bob.come()
        told = await until(
            server, "?table=blitz", lambda told: told["rated_games"] and anchors(told)
        )
        assert anchors(told) == {"greedy": 1500}
        assert (await until(server, "?table=slow", lambda _: True))["games"] == 0
        server.kill()
        for guest in (ann, bob):
            await guest.leave()
        server.start()
        again = await until(server, "?table=blitz", lambda told: told["rated_games"])
        assert again["games"] >= told["games"]
        await bob.come()
        row = await until(server, "/players/bob?table=blitz", lambda row: row["state"] != "away")
        assert {"greedy", "ann"} & {each["name"] for each in row["opponents"]}
        await bob.leave()


NAMES = ("ann", "bob", "cem", "eve")
EVENT = f"""
seats = {[f"guest:{name}" for name in NAMES]}
format = "swiss"
rounds = 2
games = 1
time = "2m"
wait = "10m"
no_show = "5m"
directors = ["hannah"]
"""


async def direct(server: Server, out: Path, *act: str) -> StandingList:
    """Direct as one does it; return how the tournament stands."""
    who = ("--name", "hannah", "--token-file", out / "hannah.token")
    command = partial(run_command, "direct", server.url, *act, *who, "--json")
    done = await asyncio.to_thread(command)
    return msgspec.json.decode(done.stdout, type=StandingList)


async def told_when(
    server: Server, out: Path, holds: Callable[[StandingList], object]
) -> StandingList:
    """Ask how the tournament stands until that holds."""
    token = (out / "hannah.token").read_text(encoding="utf-8").strip()
    asking = await Client.login(server.url, "hannah", "director", token=token)
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if holds(listed := await answered(asking.channel, Standings(), StandingList)):
                await asking.close()
                return listed
            await asyncio.sleep(0.1)


async def test_a_session_is_paused_killed_corrected_and_ends(tmp_path: Path) -> None:
    file, out = tmp_path / "event.toml", tmp_path / "event"
    file.write_text(EVENT, encoding="utf-8")
    options = ("--tournament", file, "--out", out)
    server = Server(tmp_path, *options, settings="max_games = 4\n", db=False)
    try:
        await asyncio.to_thread(server.start)
        dials = (*COMMAND, "connect", server.url, "--bot", "greedy", "--name", "eve")
        eve = await asyncio.create_subprocess_exec(*dials)
        guests = [Guest(server.url, name) for name in NAMES[:3]]
        for guest in guests:
            guest.moves.clear()
            await guest.come()
        thinking = [asyncio.create_task(guest.thinks.wait()) for guest in guests]
        await asyncio.wait(thinking, return_when=asyncio.FIRST_COMPLETED)
        for task in thinking:
            task.cancel()
        paused = await direct(server, out, "pause")
        assert (paused.paused, paused.round) == (True, 1)

        server.kill()
        await asyncio.to_thread(server.start)
        for guest in guests:
            await guest.come()
            guest.moves.set()
        listed = await told_when(server, out, lambda it: all(game.outcome for game in it.games))
        assert (listed.paused, listed.round, len(listed.games)) == (True, 1, 2)
        wrong = listed.games[0]
        assert wrong.scores is not None
        first_won = wrong.scores[0] > wrong.scores[1]
        scores = ("301", "302") if first_won else ("302", "301")
        corrected = await direct(server, out, "correct", str(wrong.number), *scores)
        points = {row.name: row.points for row in corrected.rows}
        assert points[wrong.players[first_won]] == 1
        await direct(server, out, "resume")
        await told_when(server, out, lambda it: it.over)
        server.terminate()
        assert await asyncio.to_thread(server.wait) == 0
        assert await asyncio.wait_for(eve.wait(), PATIENCE_S) == 0, "it is told that this is all"
        for guest in guests:
            assert guest.goodbye is not None
            assert guest.goodbye.code == "done"
            await guest.leave()
    finally:
        server.close()

    with MatchFolder(out) as files:
        rounds = [it for it in files.decisions if isinstance(it, Round)]
        assert [len(each.pairings) for each in rounds] == [2, 2]
        assert len(files.counted) == 4
        assert sorted(result.number for result in files.results) == sorted(files.counted)
    kept = list(read_games(out / "match.db"))
    assert len(kept) == len({game.game for game in kept}) == 4, "no game was played twice"
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert {row["name"] for row in summary["standings"]} == {*NAMES}


async def test_a_game_goes_on_when_the_machine_of_a_bot_dies(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(2)]
    for folder in folders:
        folder.mkdir()
    lenders = [Server(folder) for folder in folders]
    try:
        for lender in lenders:
            await asyncio.to_thread(lender.start)
        balancer = Line(*(lender.port for lender in lenders))
        await balancer.open()
        bots = f'[bots]\nstatic = "ws://127.0.0.1:{balancer.port}/static"\n'
        with serving(tmp_path, settings=SETTINGS + bots) as host:
            ann = await Client.login(host.url, "ann")
            await ann.seek("static")
            has_moved = False
            while not isinstance(message := await ann.receive(), GameOver):
                match message:
                    case NewGame(game=game):
                        await ann.channel.send(Ready(game=game, nonce="00" * 16))
                    case YourTurn() as turn:
                        if lenders[1].port not in balancer.dialled and has_moved:
                            lenders[0].kill()
                        await ann.play(turn)
                    case Played():
                        has_moved = True
            await ann.close()
        balancer.close()
    finally:
        for lender in lenders:
            lender.close()
    # A busy machine may answer late, and is dialled again.
    assert list(dict.fromkeys(balancer.dialled)) == [lender.port for lender in lenders]
    assert message.outcome in ("out", "zeroes")
    assert not message.faults
    assert max(message.scores) > 200
