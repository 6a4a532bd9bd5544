"""What a server's memory is made of while fast games and attacks go on: in use, or free and kept.

Twelve bots pass on a ladder until the games end, a hundred times faster than those of a soak, while
one attack after another comes from other addresses. The server is ``tilewire serve --ladder``,
and tells of itself by ``observed.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
from contextlib import suppress
from itertools import cycle
from pathlib import Path

from harness.figures import number, table
from harness.lab.bench.attackers import ATTACKS
from harness.lab.bench.client import Client, serving
from harness.lab.bench.soak import LADDER, SETTINGS
from protocol.channel import ChannelClosed
from protocol.errors import PeerError

BOTS, STAY = 12, 100
ATTACK_S, PEACE_S = 4.0, 2.0
_MB = 1 << 20


async def visit(url: str, name: str) -> None:
    """Play on the ladder, leave now and then, come again."""
    while True:
        with suppress(ChannelClosed, PeerError, TimeoutError):
            token = hashlib.sha256(name.encode()).hexdigest()
            client = await Client.login(url, name, token=token)
            try:
                await client.seek(None, STAY)
                for _ in range(STAY):
                    async with asyncio.timeout(10):
                        await client.pass_to_the_end()
            finally:
                await client.close()
        await asyncio.sleep(1)


async def attack(url: str) -> None:
    """Attack in all ways, one after another, again and again."""
    for name in cycle(ATTACKS):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "harness.lab.bench.attackers", name),
            *(url.rpartition(":")[2], "4", url),
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await asyncio.sleep(ATTACK_S)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        await asyncio.sleep(PEACE_S)


async def measure(folder: Path, games: int, every: int) -> list[tuple[str, ...]]:
    """Return a row for each so many games."""
    over: asyncio.Queue[str] = asyncio.Queue()
    report = folder / "memory"
    settings = SETTINGS.format(archive=json.dumps(str(folder / "archive"))) + LADDER
    program = (str(Path(__file__).with_name("observed.py")), str(report))

    def hear(line: str) -> None:
        if " is over: " in line:
            over.put_nowait(line)

    rows = []
    async with serving(folder, settings, hear, program) as (url, _), asyncio.TaskGroup() as tasks:
        going = [tasks.create_task(visit(url, f"bot{bot}")) for bot in range(BOTS)]
        going.append(tasks.create_task(attack(url)))
        for mark in range(every, games + 1, every):
            for _ in range(every):
                await over.get()
            rows.append((number(mark, 0), *_noted(report)))
            print(*rows[-1], file=sys.stderr, flush=True)
        for task in going:
            task.cancel()
    return rows


def _noted(report: Path) -> list[str]:
    """Return what the server has noted last, in MB."""
    return [number(size / _MB, 1) for size in json.loads(report.read_text())]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=2_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measure(Path(folder), given.games, given.every))
    print(table(("games", "resident, MB", "C library", "free in it", "objects", "arenas"), rows))


if __name__ == "__main__":
    main()
