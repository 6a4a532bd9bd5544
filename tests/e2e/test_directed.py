"""A director's session: a Swiss over WebSockets, whose entrants come, come late, leave and return.

Real processes: the server, which is killed once in mid-round, two bots, the director's commands.
The other entrants are connections of this process. ``pytest -s`` prints what happened.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
from e2e.processes import COMMAND, PATIENCE_S, Server, run_command
from guests import Guest

from harness.arbiter.journal_reading import read_games
from harness.cli.asking import answered
from harness.lab.bench.client import Client
from harness.matches.config import read_config
from harness.matches.folder import Joined, MatchFolder, Withdrawn
from harness.matches.pairings import Round
from protocol.messages import StandingList, Standings

EVENT = """
seats = ["guest:ann", "guest:bob", "guest:cem", "guest:dan", "guest:eve", "guest:fay"]
format = "swiss"
rounds = 2
games = 1
time = "2m"
wait = "10m"
no_show = "5m"
directors = ["hannah"]
open = true
"""
DIALLING = {"eve": "greedy", "fay": "static"}
"""Bots in processes of their own."""
PASSING = ("ann", "bob", "cem", "dan")


@dataclass
class Session:
    """A server with a tournament, its guests, and the commands of its director."""

    server: Server
    folder: Path
    guests: dict[str, Guest] = field(default_factory=dict)

    async def direct(self, *act: str) -> StandingList:
        """Direct as one does it, and print the answer."""
        who = ("--name", "hannah", "--token-file", self.folder / "hannah.token")
        command = partial(run_command, "direct", self.server.url, *act, *who, "--json")
        done = await asyncio.to_thread(command)
        listed = msgspec.json.decode(done.stdout, type=StandingList)
        self.tell(f"$ tilewire direct {' '.join(act)}")
        for row in listed.rows:
            self.tell(f"    {row.name:8} {row.points:>3g} {row.spread:+5} {row.presence}")
        for game in listed.games:
            first, second = game.players
            scores = " – ".join(map(str, game.scores)) if game.scores else "–"
            state = game.outcome or ("on" if game.game else "to come")
            self.tell(f"    game {game.number:>2}: {first} {scores} {second}, {state}")
        return listed

    async def until(self, holds: Callable[[StandingList], object]) -> StandingList:
        """Ask how the tournament stands until that holds.

        A director is told how it stands now, others perhaps how it stood before the last act.
        """
        token = (self.folder / "hannah.token").read_text(encoding="utf-8").strip()
        asking = await Client.login(self.server.url, "hannah", "director", token=token)
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    if holds(listed := await answered(asking.channel, Standings(), StandingList)):
                        return listed
                    await asyncio.sleep(0.1)
        finally:
            await asking.close()

    async def come(self, *names: str) -> None:
        """Have guests log in, for the first time or again."""
        for name in names:
            self.guests.setdefault(name, Guest(self.server.url, name))
            await self.guests[name].come()
            self.tell(f"{name} comes")

    def hold(self, names: Iterable[str]) -> None:
        """Have guests move only when their ``moves`` is set."""
        for name in names:
            self.guests[name].thinks.clear()
            self.guests[name].moves.clear()

    @staticmethod
    def tell(line: str) -> None:
        """Print what happens."""
        print(line, flush=True)


@asynccontextmanager
async def session(folder: Path) -> AsyncIterator[Session]:
    """Serve the tournament."""
    file = folder / "event.toml"
    file.write_text(EVENT, encoding="utf-8")
    out = folder / "event"
    settings = "max_games = 4\n"
    server = Server(folder, "--tournament", file, "--out", out, settings=settings, db=False)
    there = Session(server, out)
    try:
        await asyncio.to_thread(server.start)
        yield there
    finally:
        for guest in there.guests.values():
            await guest.leave()
        server.close()
        for line in server.said:
            there.tell(line)


@contextmanager
def dialling(url: str) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Have bots dial in from processes of their own."""
    bots = {}
    try:
        for name, bot in DIALLING.items():
            command = [*COMMAND, "connect", url, "--bot", bot, "--name", name]
            bots[name] = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        yield bots
    finally:
        for process in bots.values():
            with process:
                process.kill()


def is_decided(listed: StandingList, name: str) -> bool:
    """Return whether the round's game of an entrant has a result."""
    return any(game.outcome for game in listed.games if name in game.players)


def presences(listed: StandingList) -> dict[str, str]:
    return {row.name: row.presence for row in listed.rows}


async def test_a_session_with_guests_that_come_and_go(tmp_path: Path) -> None:
    async with session(tmp_path) as there:
        with dialling(there.server.url) as bots:
            await play_round_1(there)
            await play_round_2(there)
            again = await play_once_more(there)
            await say_goodbye(there, bots)
    check_folder(tmp_path / "event", again)


async def play_round_1(there: Session) -> None:
    """Pause the tournament; withdraw an entrant, take in another, and correct a result."""
    there.tell("--- round 1: dan leaves after it")
    await there.come(*PASSING)
    there.hold(PASSING)  # or round 2 might begin before the pause
    await there.until(lambda it: it.round == 1)
    paused = await there.direct("pause")
    assert (paused.paused, paused.round) == (True, 1)
    for name in PASSING:
        there.guests[name].moves.set()
    listed = await there.until(lambda it: all(game.outcome for game in it.games))
    assert (listed.round, len(listed.games)) == (1, 3)
    await there.guests["dan"].leave()
    await there.direct("withdraw", "dan", "--why", "gone home")
    await there.come("late")
    wrong = listed.games[0]
    assert wrong.scores is not None
    first_won = wrong.scores[0] > wrong.scores[1]
    scores = ("301", "302") if first_won else ("302", "301")
    corrected = await there.direct("correct", str(wrong.number), *scores)
    points = {row.name: row.points for row in corrected.rows}
    assert points[wrong.players[first_won]] == 1
    assert (corrected.round, corrected.paused) == (1, True), "it is still round 1"


async def play_round_2(there: Session) -> None:
    """Kill the server in mid-round, and go on."""
    there.tell("--- round 2: the server is killed while somebody thinks")
    here = {"ann", "bob", "cem", "late"}
    there.hold(here)
    await there.direct("resume")
    await there.until(lambda it: it.round == 2)
    thinking = [asyncio.create_task(there.guests[name].thinks.wait()) for name in here]
    await asyncio.wait(thinking, return_when=asyncio.FIRST_COMPLETED)
    for task in thinking:
        task.cancel()
    thinks = next(name for name in sorted(here) if there.guests[name].thinks.is_set())
    there.server.kill()
    there.tell("kill -9")
    await asyncio.to_thread(there.server.start)
    await there.come(*here)
    for name in here - {thinks}:
        there.guests[name].moves.set()
    listed = await there.until(lambda it: sum(bool(game.outcome) for game in it.games) == 2)
    assert listed.round == 2, f"{thinks} still thinks"
    assert not is_decided(listed, thinks)
    there.guests[thinks].moves.set()


async def play_once_more(there: Session) -> int:
    """Play the last game to its end, and once more; return its number."""
    names = ("ann", "bob", "cem", "eve", "fay", "late")
    there_are = {**dict.fromkeys(names, "here"), "dan": "withdrawn"}
    listed = await there.until(lambda it: it.over and presences(it) == there_are)

    there.tell("--- the last game was wrong: it is played again")
    again = listed.games[-1].number
    await there.direct("correct", str(again), "void")
    await there.until(lambda it: it.over and is_decided(it, listed.games[-1].players[0]))
    return again


async def say_goodbye(there: Session, bots: dict[str, subprocess.Popen[str]]) -> None:
    """Stop the server, and see that everybody is told."""
    there.server.terminate()
    assert await asyncio.to_thread(there.server.wait) == 0
    for name, process in bots.items():
        out, _ = await asyncio.to_thread(process.communicate, timeout=PATIENCE_S)
        assert process.returncode == 0, f"{name}: {out}"
    for name in ("ann", "late"):
        goodbye = there.guests[name].goodbye
        assert goodbye is not None
        assert goodbye.code == "done"


def check_folder(folder: Path, again: int) -> None:
    """Check what the session has left: who was paired, and that each game counts once."""
    names = read_config(folder).names
    with MatchFolder(folder) as files:
        rounds = [it for it in files.decisions if isinstance(it, Round)]
        there = [{it for pairing in each.pairings for it in pairing} for each in rounds]
        assert [it for it in files.decisions if isinstance(it, Joined)] == [Joined("late")]
        (gone,) = (it for it in files.decisions if isinstance(it, Withdrawn))
        assert (names[gone.entrant], gone.why) == ("dan", "hannah: gone home")
        assert [len(each.pairings) for each in rounds] == [3, 3]
        assert gone.entrant not in there[1]
        assert 6 in there[1], "late was paired from round 2 on"
        assert len(files.counted | files.missed) == 6
        numbers = [result.number for result in files.results if not result.void]
        assert sorted(numbers) == sorted([*files.counted, again])
    kept = list(read_games(folder / "match.db"))
    assert len(kept) == len({game.game for game in kept}) == 7
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert {row["name"] for row in summary["standings"]} == {*names, "late"}
