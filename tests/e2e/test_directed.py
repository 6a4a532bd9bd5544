"""A director's session: a Swiss over WebSockets, which is killed in mid-round and goes on.

Real processes: the server, a bot, the director's commands. The other entrants are connections of
this process.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from e2e.processes import COMMAND, PATIENCE_S, Server, run_command
from guests import Guest

from harness.arbiter.journal_reading import read_games
from harness.cli.asking import answered
from harness.lab.bench.client import Client
from harness.matches.folder import MatchFolder
from harness.matches.pairings import Round
from protocol.messages import StandingList, Standings

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


async def until(server: Server, out: Path, holds: Callable[[StandingList], object]) -> StandingList:
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
        listed = await until(server, out, lambda it: all(game.outcome for game in it.games))
        assert (listed.paused, listed.round, len(listed.games)) == (True, 1, 2)
        wrong = listed.games[0]
        assert wrong.scores is not None
        first_won = wrong.scores[0] > wrong.scores[1]
        scores = ("301", "302") if first_won else ("302", "301")
        corrected = await direct(server, out, "correct", str(wrong.number), *scores)
        points = {row.name: row.points for row in corrected.rows}
        assert points[wrong.players[first_won]] == 1
        await direct(server, out, "resume")
        await until(server, out, lambda it: it.over)
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
