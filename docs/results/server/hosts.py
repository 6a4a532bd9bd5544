"""What a move, a balancer and a commit cost: moves a second at one host, and at one of three.

Bots that don't think play games of 60 passes, so all that is done is the server's: rules, journal,
connections. The journal is a file, or in PostgreSQL, which syncs to a disk here; of three hosts two
stand by, and bots dial HAProxy. Times run from a move's sending to its acknowledgement. The bots
are one process on the same cores, so moves a second are those of a machine that does everything.

    PYTHONPATH=.:tests python docs/results/server/hosts.py
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import psutil
from e2e.hosts import free_port
from e2e.processes import Server
from haproxy import balancer
from postgres import Cluster, cluster

from harness.arbiter.database import Work
from harness.arbiter.journal_reading import database_at
from harness.figures import number, table
from harness.lab.bench.client import Client
from protocol.channel import ChannelClosed
from protocol.messages import GameOver, NewGame, Played, Ready, YourTurn

IDLE = 500

PASSES = "scoreless_limit = 60\npass_limit = 60\n"
SETTINGS = """
max_games = 100
rules = "{rules}"
[time]
initial_ms = 3600000
[admission]
connections_per_address = 2000
handshakes_per_s = 100000
frames_per_s = 100000
bytes_per_s = 100000000
seeks_per_minute = 1000000
games_per_address = 1000
share_per_address = 1000
proxies = ["127.0.0.1"]
"""


class Row:
    """One run: hosts, games at once, and what came of it."""

    def __init__(self, journal: str, hosts: int, games: int) -> None:
        self.journal, self.hosts, self.games = journal, hosts, games
        self.moves = 0
        self.took_s = 0.0
        self.times_ms: list[float] = []
        self.cpu_s: dict[str, float] = {}

    def shown(self) -> tuple[str, ...]:
        """Return its line of the table."""
        p50, p99 = np.quantile(self.times_ms, (0.5, 0.99))
        each = [1e6 * self.cpu_s.get(part, 0) / self.moves for part in ("serving", "haproxy", "pg")]
        return (
            *(self.journal, str(self.hosts), str(self.games)),
            *(number(self.moves / self.took_s, 0), number(float(p50), 2), number(float(p99), 2)),
            *(number(cost, 0) if cost else "–" for cost in each),
        )


HEAD = (
    *("journal", "hosts", "games", "moves/s", "p50, ms", "p99, ms"),
    *("serving host, µs", "HAProxy, µs", "PostgreSQL, µs"),
)


class Bot:
    """Passes at once, game after game against the same opponent."""

    def __init__(self, row: Row, name: str, opponent: str) -> None:
        self._row, self._name, self._opponent = row, name, opponent
        self._sent = 0.0

    async def play(self, url: str) -> None:
        """Play until cancelled."""
        client = await Client.login(url, self._name)
        await client.seek(self._opponent)
        seat: int | None = None
        while True:
            match await client.receive():
                case NewGame(game=game) as offer:
                    seat = offer.you
                    await client.channel.send(Ready(game=game, nonce="00" * 16))
                case YourTurn() as turn:
                    self._sent = time.perf_counter()
                    await client.play(turn)
                case Played(seat=mover) if mover == seat:
                    self._row.moves += 1
                    self._row.times_ms.append((time.perf_counter() - self._sent) * 1_000)
                case GameOver():
                    await client.seek(self._opponent)


async def measure(row: Row, url: str, seconds: float, cpu: Callable[[], dict[str, float]]) -> None:
    """Have bots play, and count once all of them do."""
    bots = [
        asyncio.create_task(Bot(row, f"{side}{game}", f"{other}{game}").play(url))
        for game in range(row.games)
        for side, other in ("ab", "ba")
    ]
    while row.moves < 20 * row.games:
        for bot in bots:
            if bot.done():
                bot.result()
        await asyncio.sleep(0.05)
    row.moves, row.times_ms = 0, []
    before, began = cpu(), time.perf_counter()
    await asyncio.sleep(seconds)
    after, row.took_s = cpu(), time.perf_counter() - began
    row.cpu_s = {part: after[part] - before[part] for part in after}
    for bot in bots:
        bot.cancel()
    await asyncio.gather(*bots, return_exceptions=True)


async def run(row: Row, folder: Path, seconds: float, postgres: Cluster | None) -> None:
    """Start the hosts of a row, and measure."""
    (folder / "passes.toml").write_text(PASSES)
    settings = SETTINGS.format(rules=folder / "passes.toml")
    database = "" if postgres is None else postgres.database()
    hosts = []
    with ExitStack() as stack:
        for index in range(row.hosts):
            own = folder / str(index)
            own.mkdir()
            options = ("--drain", "0s", *(("--standby",) if database else ()))
            host = Server(own, *options, settings=settings, database=database)
            host.port = free_port()
            hosts.append(host)
            stack.callback(host.close)
            if index == 0:
                await asyncio.to_thread(host.start)
            else:
                host.launch()
        url = f"ws://127.0.0.1:{hosts[0].port}"
        parts = {"serving": [hosts[0].pid], "others": [host.pid for host in hosts[1:]]}
        if row.hosts > 1:
            port = stack.enter_context(balancer(folder, [host.port for host in hosts]))
            url = f"ws://127.0.0.1:{port}"
            mine = psutil.Process().children()
            parts["haproxy"] = [each.pid for each in mine if each.name() == "haproxy"]
        await until_there(url)

        def cpu() -> dict[str, float]:
            used = {part: sum(map(cpu_s, pids)) for part, pids in parts.items()}
            pg = postgres.process.pid if postgres is not None and postgres.process else None
            return used | {"pg": 0.0 if pg is None else cpu_s(pg, family=True)}

        if row.games:
            await measure(row, url, seconds, cpu)
        else:
            await print_idle(url, parts["serving"] + parts["haproxy"])
            before = cpu()
            await asyncio.sleep(seconds)
            used = {part: 1e3 * (at - before[part]) / seconds for part, at in cpu().items()}
            print(f"without a game: {used['serving']:.1f} ms of a core a second to serve, ", end="")
            print(f"{used['others'] / (row.hosts - 1):.1f} ms to stand by; ", end="")
            print(f"{used['haproxy']:.1f} ms for HAProxy, ", end="")
            print(f"{used['pg']:.1f} ms for PostgreSQL with {row.hosts} hosts\n")


async def print_idle(url: str, pids: Sequence[int]) -> None:
    """Print what memory conversations take that say nothing: at the host, and at the balancer."""
    before = [memory(pid) for pid in pids]
    clients = [await Client.login(url, "idle", "spectator") for _ in range(IDLE)]
    kb = [(memory(pid) - at) / IDLE / 1_000 for pid, at in zip(pids, before, strict=True)]
    print(f"{IDLE} idle conversations: {kb[0]:.1f} KB each at the host, ", end="")
    print(f"{kb[-1]:.1f} KB each at the balancer\n")
    for client in clients:
        await client.close()


def memory(pid: int) -> int:
    """Return the bytes of a process that are in memory."""
    return int(psutil.Process(pid).memory_info().rss)


async def until_there(url: str) -> None:
    """Wait until a host takes players."""
    while True:
        try:
            client = await Client.login(url, "early")
        except ChannelClosed:
            await asyncio.sleep(0.1)
        else:
            await client.close()
            return


def cpu_s(pid: int, *, family: bool = False) -> float:
    """Return the processor time of a process, and of its children."""
    process = psutil.Process(pid)
    members = [process, *(process.children() if family else ())]
    return sum(sum(each.cpu_times()[:2]) for each in members)


# --- commits ------------------------------------------------------------------------------------


def work_of(records: int) -> Work:
    """Return what a batch of moves writes."""
    content = '{"type": "turn", "seq": 12, "move": "8D QUARTZ", "rack": "AEINRST"}' * 3
    row = ("g", 0.0, content, "g")
    insert = (
        "INSERT INTO records SELECT ?, coalesce(max(number) + 1, 0), ?, ? FROM records "
        "WHERE game = ?"
    )
    return [(insert, [row] * records)]


def commits(address: Path | str, records: int, seconds: float) -> tuple[int, float]:
    """Make commits of so many records; return how many, and the time they took."""
    store = database_at(address).open(0)
    work, made, began = work_of(records), 0, time.perf_counter()
    while time.perf_counter() < began + seconds:
        store.commit(work)
        made += 1
    took = time.perf_counter() - began
    store.close()
    return made, took


def at_once(addresses: Sequence[str], seconds: float) -> float:
    """Return the commits a second of several stores, each with a database of its own."""
    made = [0.0] * len(addresses)

    def fill(index: int) -> None:
        count, took = commits(addresses[index], 1, seconds)
        made[index] = count / took

    threads = [threading.Thread(target=fill, args=(index,)) for index in range(len(addresses))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(made)


def print_commits(folder: Path, postgres: Cluster, seconds: float) -> None:
    """Print what commits cost, by the records in each and by the hosts that make them."""
    rows = []
    for records in (1, 8, 64):
        for name, address in (
            ("SQLite", folder / f"{records}.db"),
            ("PostgreSQL", postgres.database()),
        ):
            made, took = commits(address, records, seconds)
            each = number(1_000 * took / made, 2), number(made * records / took, 0)
            rows.append((name, str(records), number(made / took, 0), *each))
    print(table(("journal", "records a commit", "commits/s", "ms each", "records/s"), rows), "\n")
    many = [
        (str(count), number(at_once([postgres.database() for _ in range(count)], seconds), 0))
        for count in (1, 2, 4, 8, 16)
    ]
    print(table(("journals in one PostgreSQL", "commits/s in all"), many), "\n")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=10, help="of each row")
    parser.add_argument("--games", type=int, nargs="+", default=[1, 16], help="at once")
    given = parser.parse_args()
    rows = []
    with cluster(in_memory=False) as postgres, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print_commits(folder, postgres, min(3, given.seconds))
        (folder / "idle").mkdir()
        asyncio.run(run(Row("PostgreSQL", 3, 0), folder / "idle", given.seconds, postgres))
        for games in given.games:
            for journal, hosts in (("SQLite", 1), ("PostgreSQL", 1), ("PostgreSQL", 3)):
                row = Row(journal, hosts, games)
                own = folder / f"{journal}-{hosts}-{games}"
                own.mkdir()
                asyncio.run(run(row, own, given.seconds, postgres if journal != "SQLite" else None))
                rows.append(row.shown())
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
