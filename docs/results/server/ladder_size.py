"""What a ladder of 1,000 players and 200,000 games costs its server: the start, ratings, lists.

The journal is made here, of games that chance chose: labels, setups and ends, without the moves.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sqlite3
import tempfile
import time
from datetime import date
from pathlib import Path

import msgspec
import numpy as np

from harness.arbiter.journal import Journal
from harness.arbiter.records import Ended
from harness.figures import number, table
from harness.server.ladder.ladder import Ladder
from harness.server.ladder.publishing import Publisher
from harness.server.ladder.rating_process import rate
from harness.server.ladder.settings import LABEL, LadderSettings
from protocol.parts import TimeControl
from protocol.websocket import HttpAnswer

ASKED = 300
"""Answers in a row."""


def make_journal(path: Path, players: int, games: int) -> None:
    """Write a journal of games that are over."""
    Journal(path).close()
    chance = np.random.default_rng(1)
    first = chance.integers(0, players, games)
    second = (first + chance.integers(1, players, games)) % players
    won = chance.random(games) < 0.5
    rows, records = [], []
    for at in range(games):
        game, label = f"{at:016x}", _label(int(first[at]), int(second[at]))
        rows.append((game, 1.76e9 + 30 * at, msgspec.json.encode(label).decode(), 0))
        ended = Ended(
            seq=24,
            outcome="out",
            winner=int(not won[at]),
            scores=(420, 380) if won[at] else (380, 420),
            message="a player went out",
            racks=("", "AEI"),
            rack_adjustments=(6, 0),
            time_penalties=(0, 0),
            clocks=(1_000, 1_000),
        )
        records.append((game, 24, 1.76e9 + 30 * at + 20, msgspec.json.encode(ended).decode()))
    with sqlite3.connect(path) as connection:
        connection.executemany("INSERT INTO games VALUES (?, ?, ?, ?)", rows)
        connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", records)
    connection.close()


def _label(first: int, second: int) -> dict[str, object]:
    sides = [{"kind": "guest", "name": f"bot-{player:04}"} for player in (first, second)]
    return {"sides": sides, LABEL: "ladder"}


async def latest(late: list[float]) -> None:
    """Note by how much the loop is late, in milliseconds."""
    while True:
        asked = time.monotonic()
        await asyncio.sleep(0.001)
        late.append(1_000 * (time.monotonic() - asked) - 1)


async def measure(path: Path) -> list[tuple[str, str]]:
    """Return a row for each figure."""
    rows = []
    ladder = Ladder(LadderSettings(), TimeControl())
    late: list[float] = []
    watching = asyncio.create_task(latest(late))
    before, began = _resident(), time.process_time()
    ladder.begin_with(*await asyncio.to_thread(ladder.read, path))
    rows.append(("journal read in a thread, CPU s", number(time.process_time() - began, 1)))
    rows.append(("meanwhile the loop is late by, 99 of 100, ms", number(_p99(late), 1)))
    history = ladder.tables["ladder"].history
    rows.append(("bytes a game, resident", number((_resident() - before) / history.games, 0)))
    task = ladder.tables["ladder"].task(date(2020, 1, 1))
    assert task is not None
    late.clear()
    lists = await rate(task)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = used.ru_utime + used.ru_stime
    rows.append(("ratings from nothing, in a process of its own, CPU s", number(used_s, 1)))
    rows.append(("meanwhile the loop is late by, 99 of 100, ms", number(_p99(late), 1)))
    ladder.tables["ladder"].take_ratings(task, lists, time.time())
    publisher = Publisher(ladder, lambda _kind: "scowl")
    for path_of, name in (([], "the list"), (["players", "bot-0000"], "a player")):
        began = time.process_time()
        job = publisher.answer(path_of, {"all": "1"})
        assert not isinstance(job, HttpAnswer), "it is made in a thread"
        on_loop_ms = 1_000 * (time.process_time() - began)
        size = len(job(path).text) / 1_000
        took_ms = 1_000 * (time.process_time() - began)
        rows.append((f"{name} as JSON, CPU ms; KB", f"{took_ms:.1f}; {size:.0f}"))
        rows.append(("of these on the event loop, CPU ms", f"{on_loop_ms:.2f}"))
        late.clear()
        for _ in range(ASKED):
            await asyncio.to_thread(job, path)
        rows.append(("asked again and again, the loop is late by, 99 of 100, ms", _late(late)))
        late.clear()
        for _ in range(ASKED):
            job(path)
            await asyncio.sleep(0)
        rows.append(("and if it were made on the loop", _late(late)))
    watching.cancel()
    return rows


def _late(late: list[float]) -> str:
    return number(_p99(late), 1)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _p99(late: list[float]) -> float:
    return float(np.quantile(late, 0.99))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--players", type=int, default=1_000)
    parser.add_argument("--games", type=int, default=200_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.db"
        make_journal(path, given.players, given.games)
        print(table(("", "figure"), asyncio.run(measure(path))))


if __name__ == "__main__":
    main()
