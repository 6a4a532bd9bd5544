"""A server watched for hours while bots come, play, misbehave and leave, and others attack it.

A soak is made of pieces. Each starts a server of its own on the journal that the last one left, and
has a line for every sample in ``soak.jsonl``. A piece is summarized from its samples: how memory
grows with games, and which processes, descriptors and files are left.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Annotated, TypeAlias

import numpy as np

from bot.seat.guard import descendants
from harness.appending import whole_lines
from harness.lab.rows import Column
from harness.pictures import picture
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed

from .attack import process
from .attackers import ATTACKS
from .client import serving
from .memory import MB, own_memory
from .visitors import Visitor

STRENGTHS = {f"bot{number}": number // 2 for number in range(12)}
"""The bots, and how many moves each looks at."""
SETTINGS = """
max_games = 8
keep_days = 0.01
archive = {archive}
[time]
initial_ms = 2000
max_overtime_ms = 0
ready_ms = 1000
[admission]
seeks_per_minute = 100000
"""
"""Fast clocks, and games that leave the journal after a quarter of an hour. Limits are the
defaults, except for seeks, since games take a tenth of a second."""

LADDER = """
[ladder.tables.fast]
initial_ms = 2000
max_overtime_ms = 0
ready_ms = 1000
"""
"""For a soak on the ladder: bots that seek anyone are paired and rated."""

SAMPLE_S = 5.0
ATTACK_S = 10.0
"""How long an attack lasts; between two there is peace for three to six times as long."""
WARM_UP = 0.2
"""Share of a piece's games before memory is looked at: caches and pools fill up first."""
SETTLE_S = 5.0
"""Wait after the last bot has left, before counting what is left."""

_Rating: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Sample:
    """A server at a moment."""

    piece: int
    seconds: float
    """Since the piece began."""
    games: int
    """Games that have ended in it."""
    memory_mb: float
    descriptors: int
    processes: int
    """Its descendants."""
    journal_mb: float
    """With the write-ahead log."""
    attack: str = ""
    """The attack under way."""
    left: tuple[int, int] | None = None
    """At the end, with everybody gone: descriptors, and then, without a server, processes."""
    deeds: Mapping[str, int] = field(default_factory=dict)
    """At the end: what the bots did, what they were refused, and how their games ended."""
    ratings: Mapping[str, _Rating] = field(default_factory=dict)
    """At the end, on a ladder: by name, with half of the interval's width. They compare pieces that
    ran apart."""
    trouble: tuple[str, ...] = ()
    """At the end: lines of errors that the server printed, and files that it left."""


@dataclass(frozen=True)
class Piece:
    """The summary of a piece."""

    piece: Annotated[int, Column("piece")]
    hours: Annotated[float, Column("hours", decimals=2)]
    games: Annotated[int, Column("games")]
    games_per_s: Annotated[float, Column("a second")]
    memory_mb: Annotated[float, Column("memory", unit=" MB")]
    """At the end."""
    slope_mb: Annotated[float | None, Column("a thousand games", decimals=3, sign=True, unit=" MB")]
    """Growth of memory in a thousand games; None: too few samples."""
    descriptors: Annotated[str, Column("descriptors")]
    """In the first sample, and with everybody gone."""
    processes: Annotated[int, Column("processes left")]
    journal_mb: Annotated[float, Column("journal", unit=" MB")]
    trouble: Annotated[int, Column("trouble")]
    """Tracebacks, and files left over."""


def summary(samples: Iterable[Sample]) -> list[Piece]:
    """Summarize each piece."""
    by_piece: dict[int, list[Sample]] = {}
    for sample in samples:
        by_piece.setdefault(sample.piece, []).append(sample)
    return [_piece(number, rows) for number, rows in sorted(by_piece.items())]


def _piece(number: int, rows: Sequence[Sample]) -> Piece:
    first, last = rows[0], rows[-1]
    left = last.left or (last.descriptors, last.processes)
    return Piece(
        piece=number,
        hours=last.seconds / 3_600,
        games=last.games,
        games_per_s=last.games / last.seconds,
        memory_mb=last.memory_mb,
        slope_mb=_slope(rows),
        descriptors=f"{first.descriptors} → {left[0]}",
        processes=left[1],
        journal_mb=last.journal_mb,
        trouble=len(last.trouble),
    )


def _slope(rows: Sequence[Sample]) -> float | None:
    """Return by how many MB memory grows in a thousand games, after the warm-up."""
    later = [row for row in rows if row.games >= WARM_UP * rows[-1].games and row.left is None]
    if len({row.games for row in later}) < 3:
        return None
    games = np.array([row.games for row in later]) / 1_000
    slope, _ = np.polyfit(games, [row.memory_mb for row in later], 1)
    return float(slope)


# --- one piece ------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Watched:
    """A server's process, and what it has said."""

    pid: int = 0
    games: int = 0
    trouble: list[str] = field(default_factory=list)
    started: dict[int, str] = field(default_factory=dict)
    """The start of each descendant ever seen, by process id."""

    def hear(self, line: str) -> None:
        """Take a line that the server prints."""
        self.games += " is over: " in line
        if "Traceback" in line or " [error" in line or " [critical" in line:
            self.trouble.append(line)

    def sample(self, piece: int, began: float, folder: Path, attack: str) -> Sample:
        """Return a sample; raise ChannelClosed if the server is gone."""
        if _start_of(self.pid) is None:
            raise ChannelClosed(f"the server has died: {' '.join(self.trouble[-3:])}")
        processes = _descendants(self.pid)
        self.started |= processes
        return Sample(
            piece=piece,
            seconds=round(time.monotonic() - began, 1),
            games=self.games,
            memory_mb=round(own_memory(self.pid) / MB, 2),
            descriptors=sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir()),
            processes=len(processes),
            journal_mb=round(sum(_size(file) for file in folder.glob("serve.db*")) / MB, 2),
            attack=attack,
        )

    def left(self) -> int:
        """Return how many descendants are still there."""
        return sum(_start_of(pid) == start for pid, start in self.started.items())


async def soak(
    folder: Path,
    seconds: float,
    piece: int,
    seed: int,
    tell: Callable[[Sample], None],
    *,
    ladder: bool = False,
) -> None:
    """Run a piece; ``tell`` takes each sample, the last with what is left.

    Raises:
        ChannelClosed: the server does not come up, or has died.
    """
    watched, chance = _Watched(), Random(f"{seed} {piece}")
    words = await asyncio.to_thread(load_lexicon)
    began = time.monotonic()
    settings = SETTINGS.format(archive=json.dumps(str(folder / "archive"))) + LADDER * ladder
    async with serving(folder, settings, watched.hear) as (url, watched.pid):
        bots = [
            Visitor(url, name, _token(name), strength, Random(f"{seed} {piece} {name}"), words)
            for name, strength in STRENGTHS.items()
        ]
        attacks: list[str] = []
        try:
            async with asyncio.TaskGroup() as tasks:
                living = [tasks.create_task(bot.live()) for bot in bots]
                living.append(tasks.create_task(_attack_now_and_then(url, chance, attacks)))
                while time.monotonic() < began + seconds:
                    await asyncio.sleep(min(SAMPLE_S, seconds))
                    attack = attacks[-1] if attacks else ""
                    tell(watched.sample(piece, began, folder, attack))
                for task in living:
                    task.cancel()
        except* ChannelClosed as died:
            raise died.exceptions[0] from None
        await asyncio.sleep(SETTLE_S)
        last = watched.sample(piece, began, folder, "")
        ratings = await asyncio.to_thread(_ratings, url) if ladder else {}
    left = (last.descriptors, watched.left())
    deeds = sum((bot.deeds + bot.outcomes for bot in bots), Counter[str]())
    trouble = (*watched.trouble[:20], *_files_left(folder))
    tell(replace(last, left=left, deeds=dict(deeds), ratings=ratings, trouble=trouble))


def _ratings(url: str) -> dict[str, _Rating]:
    """Return the ratings of a ladder's bots, with their errors."""
    address = f"{url.replace('ws://', 'http://', 1)}/api/ladder"
    with urllib.request.urlopen(address, timeout=30) as answer:  # a server of this program's own
        bots = json.load(answer)["bots"]
    return {bot["name"]: (bot["rating"], bot["error"]) for bot in bots}


def _files_left(folder: Path) -> list[str]:
    """Return a sentence about each file that a server should have removed at its end."""
    known = {"archive", "serve.db", "serve.db-lock", "serve.toml", "soak.jsonl", "soak.png"}
    return [f"{path.name} is left" for path in folder.iterdir() if path.name not in known]


def _token(name: str) -> str:
    """Return a bot's token, the same in each piece: the journal knows whose the name is."""
    return hashlib.sha256(f"soak {name}".encode()).hexdigest()


async def _attack_now_and_then(url: str, chance: Random, attacks: list[str]) -> None:
    """Attack in one way or another, each from addresses that the bots don't have."""
    for attack in _rounds_of_attacks(chance):
        attacks.append("")
        await asyncio.sleep(ATTACK_S * chance.uniform(3, 6))
        attacks[-1] = attack
        port = url.rpartition(":")[2]
        command = ("-m", "harness.lab.bench.attackers", attack, port, "4", url)
        async with process(*command, stderr=asyncio.subprocess.DEVNULL):
            await asyncio.sleep(ATTACK_S)


def _rounds_of_attacks(chance: Random) -> Iterator[str]:
    """Yield attacks without end: all of them in random order, then again in another order.

    The first attack of a kind takes memory that later ones reuse. In a piece of two hours the first
    round is over within the warm-up, so memory that grows later grows with games.
    """
    while True:
        yield from chance.sample(tuple(ATTACKS), len(ATTACKS))


# --- what a process has ---------------------------------------------------------------------------


def _descendants(pid: int) -> dict[int, str]:
    """Return the start of each descendant of a process, by process id."""
    starts = {each: _start_of(each) for each in descendants(pid)}
    return {each: start for each, start in starts.items() if start is not None}


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


# --- files ----------------------------------------------------------------------------------------


def read_samples(folder: Path) -> list[Sample]:
    """Read the samples of a folder, and cut off a last line that is not whole.

    Raises:
        ValueError: a line is no sample.
    """
    path = folder / "soak.jsonl"
    samples: list[Sample] = []
    if not path.exists():
        return samples
    content = path.read_bytes()
    whole = whole_lines(content)
    if whole != content:
        os.truncate(path, len(whole))
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            samples.append(Sample(**json.loads(line)))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}, line {number} is no sample: {error}") from None
    return samples


def write_sample(folder: Path, sample: Sample) -> None:
    """Add a sample to the file of a folder."""
    with (folder / "soak.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(asdict(sample), ensure_ascii=False)}\n")


def draw(samples: Sequence[Sample], path: Path) -> None:
    """Draw memory, descriptors and journal of all pieces into a PNG file."""
    with picture(path, 12, 9) as figure:
        axes = figure.subplots(3, 1)
        for number in sorted({sample.piece for sample in samples}):
            rows = [sample for sample in samples if sample.piece == number and sample.left is None]
            games = [row.games for row in rows]
            axes[0].plot(games, [row.memory_mb for row in rows], label=f"piece {number}")
            axes[1].plot(games, [row.descriptors for row in rows])
            axes[2].plot(games, [row.journal_mb for row in rows])
        titles = ("memory, MB", "open descriptors", "journal, MB")
        for axis, title in zip(axes, titles, strict=True):
            axis.set_title(title)
            axis.grid(alpha=0.3)
        axes[0].legend()
        axes[2].set_xlabel("games ended in the piece")
