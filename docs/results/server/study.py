"""Measure a study: when lists and tables come, and what ten students on one server get and cost.

    python docs/results/server/study.py [--seconds 30] [--students 10]

First ``tilewire study`` is asked for the moves of 50 positions and for 20 analyses, each in turn.
Then bare players pass in games of a ``tilewire serve``, without students and with them: each, from
an address of its own, asks for the moves of a position, has it analysed for two seconds, and goes
on with the next. All run on this machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import itertools
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from engine.notation.cgp import write_cgp
from engine.rules.position import bag_count, unseen
from engine.rules.rules import standard_rules
from harness.analysis.sheet import read_sheet
from harness.figures import number, table
from harness.lab.bench.client import TILEWIRE, Client, serving
from harness.server.page_analysis.conversation import SUBPROTOCOL
from lexicons.alphabet import as_tiles
from protocol.messages import GameOver, NewGame, Played, Ready, YourTurn

GAME = Path(__file__).with_name("review.gcg")
LISTS, ANALYSES = 50, 20
PAUSE_S = 0.05
"""Pause of a player before its move."""
PASSES = "scoreless_limit = 60\npass_limit = 60\n"
SETTINGS = """
rules = "{rules}"
max_games = 20
[admission]
connections_per_address = 100
handshakes_per_s = 1000
frames_per_s = 10000
seeks_per_minute = 100000
games_per_address = 100
share_per_address = 100
"""


def positions() -> Iterator[bytes]:
    """Yield positions without end: boards of a game, each time with other racks from the bag."""
    rules, chance = standard_rules(), random.Random(1)
    turns = [turn for turn in read_sheet(GAME.read_bytes(), rules).turns if not turn.obstacle]
    for turn in itertools.cycle(turns):
        seat = turn.position.on_turn
        bare = turn.position.with_rack(seat, ()).with_rack(1 - seat, ())
        if bag_count(bare, rules) >= 2 * rules.rack_size:
            rack = chance.sample(as_tiles(unseen(bare, seat, rules)), rules.rack_size)
            yield write_cgp(bare.with_rack(seat, tuple(sorted(rack))), rules).encode()


@asynccontextmanager
async def studying() -> AsyncIterator[tuple[str, int]]:
    """Run ``tilewire study``; yield where its page is, and the id of its process."""
    command = sys.executable, *TILEWIRE, "study", "--no-browser"
    study = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert study.stdout is not None
    try:
        said = (await study.stdout.readline()).decode()
        yield said.split("http://")[1].split("/")[0], study.pid
    finally:
        study.terminate()
        await study.wait()


def page_of(at: str, address: str = "127.0.0.1") -> connect:
    """Connect to a server as its page does."""
    spoken = [Subprotocol(SUBPROTOCOL)]
    own = Origin(f"http://{at}")
    return connect(f"ws://{at}", origin=own, subprotocols=spoken, local_addr=(address, 0))


async def ask(
    page: ClientConnection, data: bytes, kind: str, **wish: Any
) -> dict[str, tuple[float, dict[str, Any]]]:
    """Ask about a position; return the first answer of each kind and when it came, in ms."""
    text, began = base64.b64encode(data).decode(), time.perf_counter()
    told: dict[str, tuple[float, dict[str, Any]]] = {}
    await page.send(json.dumps({"id": 1, "type": kind, "data": text, "line": 0, **wish}))
    while "done" not in told and "error" not in told:
        answer = json.loads(await page.recv())
        told.setdefault(answer["type"], (1e3 * (time.perf_counter() - began), answer))
    return told


def processor_ms(pid: int) -> float:
    """Return the processor time that a process and all under it have taken."""
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return 1e3 * sum(sum(each.cpu_times()[:2]) for each in family)


async def measure_own() -> None:
    """Print when lists and tables come on one's own machine, and what they take."""
    some, rows = positions(), []
    async with studying() as (at, pid), page_of(at) as page:
        for kind in ("moves", "analyse"):  # its processes have loaded all then
            await ask(page, next(some), kind, seconds=1)
        for name, count, wish, first in (
            ("list of 300 moves", LISTS, {"kind": "moves"}, "moves"),
            ("list of all moves", LISTS, {"kind": "moves", "most": 5_000}, "moves"),
            ("first table of an analysis", ANALYSES, {"kind": "analyse", "seconds": 2}, "so_far"),
        ):
            before = processor_ms(pid)
            told = [await ask(page, next(some), **wish) for _ in range(count)]
            took = number((processor_ms(pid) - before) / count, 0)
            times = np.quantile([each[first][0] for each in told if first in each], (0.5, 0.9))
            shown = [number(float(each), 0) for each in times]
            rows.append((name, *shown, took if first == "moves" else "–"))
    print(table(("on one's own machine", "median, ms", "90 %, ms", "processor, ms"), rows))


class Player:
    """Passes after a pause, game after game; keeps how long its moves take."""

    def __init__(self, name: str, opponent: str) -> None:
        self._name, self._opponent = name, opponent
        self.times_ms: list[float] = []

    async def play(self, url: str) -> None:
        """Play until cancelled."""
        client = await Client.login(url, self._name)
        await client.seek(self._opponent)
        seat, sent = None, 0.0
        while True:
            match await client.receive():
                case NewGame(game=game) as offer:
                    seat = offer.you
                    await client.channel.send(Ready(game=game, nonce="00" * 16))
                case YourTurn() as turn:
                    await asyncio.sleep(PAUSE_S)
                    sent = time.perf_counter()
                    await client.play(turn)
                case Played(seat=mover) if mover == seat:
                    self.times_ms.append(1e3 * (time.perf_counter() - sent))
                case GameOver():
                    await client.seek(self._opponent)


class Student:
    """Looks at one position after another; keeps what it gets."""

    def __init__(self, number: int) -> None:
        self._address, self._some = f"127.0.0.{number + 2}", positions()
        self.lists_ms: list[float] = []
        self.turns = self.rollouts = 0

    async def study(self, at: str) -> None:
        """Study until cancelled."""
        async with page_of(at, self._address) as page:
            for data in self._some:
                self.lists_ms.append((await ask(page, data, "moves"))["moves"][0])
                told = await ask(page, data, "analyse", seconds=2)
                self.turns += "turn" in told
                self.rollouts += told["turn"][1]["rollouts"] if "turn" in told else 0


async def measure_server(seconds: float, count: int, games: int = 4) -> None:
    """Print what players wait for without students and with them, and what each student gets."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "passes.toml"
        rules.write_text(PASSES)
        async with serving(Path(folder), SETTINGS.format(rules=rules)) as server:
            pairs = [
                (f"{one}{at}", f"{two}{at}") for at in range(games) for one, two in ("ab", "ba")
            ]
            players = [Player(*pair) for pair in pairs]
            tasks = [asyncio.create_task(player.play(server.url)) for player in players]
            students = [Student(each) for each in range(count)]
            at = server.url.removeprefix("ws://")
            async with page_of(at) as page:  # its processes have loaded all then
                for kind in ("moves", "analyse"):
                    await ask(page, next(positions()), kind)
            for name in ("without students", f"with {count} students"):
                if name != "without students":
                    tasks += [asyncio.create_task(student.study(at)) for student in students]
                await asyncio.sleep(2)
                for player in players:
                    player.times_ms = []
                await asyncio.sleep(seconds)
                times = [each for player in players for each in player.times_ms]
                quantiles = np.quantile(times, (0.5, 0.99))
                rows.append((name, str(len(times)), *(number(float(it), 1) for it in quantiles)))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    print(table((f"players, {games} games", "moves", "p50, ms", "p99, ms"), rows))
    turns, lists = [student.turns for student in students], [len(it.lists_ms) for it in students]
    every = [each for student in students for each in student.lists_ms]
    rollouts = sum(student.rollouts for student in students) / max(sum(turns), 1)
    print(
        f"\neach student: {min(turns)} to {max(turns)} turns of {rollouts:,.0f} rollouts, "
        f"{min(lists)} to {max(lists)} lists of moves, half within {np.median(every):.0f} ms"
    )


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--students", type=int, default=10)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores\n")
    await measure_own()
    print()
    await measure_server(given.seconds, given.students)


if __name__ == "__main__":
    asyncio.run(main())
