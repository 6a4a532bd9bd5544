"""A server watched for hours while bots come, play, misbehave and leave, and others attack it.

There is a line for every sample in ``soak.jsonl``. The last says which processes, descriptors and
files are left.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from load.attack import port_of, process
from load.attackers import ATTACKS
from load.visitors import Visitor

from bot.seat.guard import descendants
from harness.lab.bench.client import Served, serving
from harness.lab.bench.load import alongside
from harness.lab.bench.memory import MB, own_memory
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed

STRENGTHS = {f"bot{number}": number // 2 for number in range(12)}
"""The bots, and how many moves each looks at."""

CLOCK = """
initial_ms = 2000
max_overtime_ms = 0
ready_ms = 1000
"""
SETTINGS = f"""
max_games = 8
keep_days = 0.01
archive = {{archive}}
[time]{CLOCK}
[admission]
seeks_per_minute = 100000
[ladder.tables.fast]{CLOCK}
"""
"""Fast clocks, and games that leave the journal after a quarter of an hour. Limits are the
defaults, except for seeks, since games take a tenth of a second. Bots that seek anyone are paired
and rated."""

SAMPLE_S = 5.0
ATTACK_S = 10.0
"""How long an attack lasts; between two there is peace for three to six times as long."""
SETTLE_S = 5.0
"""Wait after the last bot has left, before counting what is left."""

HEAD = (
    *("seed", "hours", "games", "a second", "memory", "descriptors", "processes left"),
    *("journal", "trouble"),
)
"""Memory: at the end; its growth is in ``docs/results/server/floors.py``. Descriptors: in the first
sample, and with everybody gone. Trouble: tracebacks, and files left over."""

_Sample = dict[str, Any]


@dataclass(eq=False)
class _Watch:
    """A server, and what it has said."""

    folder: Path
    seed: int
    attack: str = ""
    """The attack under way."""
    games: int = 0
    """Those that have ended."""
    trouble: list[str] = field(default_factory=list)
    samples: list[_Sample] = field(default_factory=list)
    began: float = 0.0
    started: dict[int, str | None] = field(default_factory=dict)
    """The start of each descendant of the server ever seen, by process id."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)

    def hear(self, line: str) -> None:
        self.games += " is over: " in line
        if "Traceback" in line or " [error" in line or " [critical" in line:
            self.trouble.append(line)

    def sample(self, pid: int) -> _Sample:
        """Return a sample; raise ChannelClosed if the server is gone."""
        processes = descendants(pid)
        self.started |= {each: _start_of(each) for each in processes}
        try:
            return {
                "piece": self.seed,
                "seconds": round(time.monotonic() - self.began, 1),
                "games": self.games,
                "memory_mb": round(own_memory(pid) / MB, 2),
                "descriptors": sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
                "processes": len(processes),
                "journal_mb": round(sum(map(_size, self.folder.glob("serve.db*"))) / MB, 2),
                "attack": self.attack,
                "left": None,
            }
        except OSError:
            raise ChannelClosed(f"the server has died: {self.trouble[-3:]}") from None

    def files_left(self) -> list[str]:
        """Return what a server should have removed at its end."""
        known = {"archive", "serve.db", "serve.db-lock", "serve.toml", "soak.jsonl"}
        return [f"{at.name} is left" for at in self.folder.iterdir() if at.name not in known]

    def keep(self, sample: _Sample) -> None:
        self.samples.append(sample)
        with (self.folder / "soak.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(sample)}\n")


async def soak(folder: Path, seconds: float, seed: int) -> list[str]:
    """Watch a server in a new folder for some seconds; return a row of the table.

    Raises:
        ChannelClosed: the server does not come up, or has died.
    """
    words, watch = load_lexicon(), _Watch(folder, seed)
    settings = SETTINGS.format(archive=json.dumps(f"{folder}/archive"))
    async with serving(folder, settings, watch.hear) as served:
        tokens = {name: hashlib.sha256(f"soak {name}".encode()).hexdigest() for name in STRENGTHS}
        bots = [
            Visitor(served.url, name, tokens[name], strength, Random(f"{seed} {name}"), words)
            for name, strength in STRENGTHS.items()
        ]
        work = [bot.live() for bot in bots]
        watch.began = time.monotonic()
        async with alongside(*work, _attack_now_and_then(served, Random(seed), watch)):
            while time.monotonic() < watch.began + seconds:
                await asyncio.sleep(min(SAMPLE_S, seconds))
                watch.keep(watch.sample(served.pid))
                if len(watch.samples) % 12 == 0:
                    print(watch.samples[-1], file=sys.stderr)
        await asyncio.sleep(SETTLE_S)
        last = watch.sample(served.pid)
        ratings = await asyncio.to_thread(_ratings, served.url)
    there = [pid for pid, start in watch.started.items() if start and start == _start_of(pid)]
    last["left"] = [last["descriptors"], len(there)]
    last["deeds"] = dict(sum((bot.deeds + bot.outcomes for bot in bots), Counter[str]()))
    last["ratings"] = ratings
    last["trouble"] = [*watch.trouble[:20], *watch.files_left()]
    watch.keep(last)
    descriptors, processes = last["left"]
    return [
        str(last["piece"]),
        f"{last['seconds'] / 3_600:.2f}",
        f"{last['games']:,}",
        f"{last['games'] / last['seconds']:.1f}",
        f"{last['memory_mb']:.1f} MB",
        f"{watch.samples[0]['descriptors']} → {descriptors}",
        str(processes),
        f"{last['journal_mb']:.1f} MB",
        str(len(last["trouble"])),
    ]


async def _attack_now_and_then(served: Served, chance: Random, watch: _Watch) -> None:
    """Attack from addresses that the bots don't have, in all ways, then again in another order.

    The first attack of a kind takes memory that later ones reuse. In two hours the first round is
    over within the warm-up, so memory that grows later grows with games.
    """
    while True:
        for attack in chance.sample(tuple(ATTACKS), len(ATTACKS)):
            await asyncio.sleep(ATTACK_S * chance.uniform(3, 6))
            watch.attack = attack
            async with process("load.attackers", attack, str(port_of(served.url)), served.url):
                await asyncio.sleep(ATTACK_S)
            watch.attack = ""


def _ratings(url: str) -> dict[str, tuple[float, float]]:
    """Return the ratings of the ladder's bots, each with half of the interval's width."""
    address = f"{url.replace('ws://', 'http://', 1)}/api/ladder"
    with urllib.request.urlopen(address, timeout=30) as answer:  # a server of this program's own
        bots = json.load(answer)["bots"]
    return {bot["name"]: (bot["rating"], bot["error"]) for bot in bots}


def _start_of(pid: int) -> str | None:
    """Return when a process started, in ticks; None if there is no such process."""
    with suppress(OSError):
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return line.rpartition(")")[2].split()[19]
    return None


def _size(file: Path) -> int:
    with suppress(OSError):
        return file.stat().st_size
    return 0
