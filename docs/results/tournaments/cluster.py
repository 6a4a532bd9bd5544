"""How fast pairs are played by workers of a Dask cluster on this machine, and what a pair costs.

    python docs/results/tournaments/cluster.py --pairs 60 --workers 1 2

A match of the static player against the greedy one, its first pairs, while processes start, left
out; then the bytes that come back for a pair, and how many empty calls the scheduler handles.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.arbiter.journal_reading import read_games
from harness.workers import open_cluster

CALLS = 2_000
"""Empty calls, as many at once as a hundred cores have under way."""
AT_ONCE = 200


def start(*command: str) -> subprocess.Popen[str]:
    """Start a process of Dask."""
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *command, "--no-dashboard"],
        stderr=subprocess.PIPE if command[0] == "scheduler" else subprocess.DEVNULL,
        text=True,
    )


def pairs_a_second(address: str, pairs: int, folder: Path) -> float:
    """Play a match on the cluster; return pairs a second once a quarter of them is played."""
    main = "from tilewire import main; main()"
    games, results = 2 * pairs, folder / "results.jsonl"
    options = f"--games {games} --time 1m --seed 1 --cluster {address} --out {folder}".split()
    ends: list[float] = []
    with subprocess.Popen(
        [sys.executable, "-c", main, "match", "static", "greedy", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as host:
        while host.poll() is None:
            done = results.read_bytes().count(b"\n") if results.exists() else 0
            ends += [time.monotonic()] * (done - len(ends))
            time.sleep(0.01)
    if host.returncode:
        sys.exit(f"the match failed with {host.returncode}")
    begun = games // 4
    return (len(ends) - begun) / 2 / (ends[-1] - ends[begun - 1])


def nothing(number: int) -> int:
    """Do nothing."""
    return number


async def calls_a_second(address: str) -> float:
    """Return how many empty calls a second go through scheduler and workers."""
    with open_cluster(address) as cluster:
        room = asyncio.Semaphore(AT_ONCE)

        async def call(number: int) -> None:
            async with room:
                await cluster.call(nothing, number)

        await call(0)
        began = time.monotonic()
        await asyncio.gather(*(call(number) for number in range(CALLS)))
        return CALLS / (time.monotonic() - began)


def main() -> None:
    """Measure with so many workers in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    for workers in given.workers:
        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
        assert scheduler.stderr is not None
        address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
        with tempfile.TemporaryDirectory() as folder:
            options = ("--nthreads", "1", "--no-nanny", "--local-directory", folder)
            there = [start("worker", address, *options) for _ in range(workers)]
            try:
                match = Path(folder, "match")
                rate = pairs_a_second(address, given.pairs, match)
                print(f"{workers} worker(s): {rate:.2f} pairs a second")
                records = [kept.records for kept in read_games(match / "match.db")]
                size = 2 * sum(len(pickle.dumps(each)) for each in records) / len(records)
                print(f"  {size:,.0f} bytes come back for a pair")
                rate = asyncio.run(calls_a_second(address))
                print(f"  {rate:,.0f} empty calls a second on {os.cpu_count()} cores")
            finally:
                for process in (*there, scheduler):
                    process.kill()
                    process.wait()


if __name__ == "__main__":
    main()
