"""Hostile bots: what is in their reach, and that nothing of theirs is left."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import hostile_bots
import pytest
from bot_table import TestArbiter
from engine_games import marked

from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec
from bot.seat import containment
from bot.seat.containment import PROCESSES, Containment, of_bot
from bot.seat.guard import CANT_RUN
from bot.seat.runtime import ROOT
from bot.seat.worker_handle import ForkServer, SeatProcess, try_out
from bot.seat_text import parse_seat
from protocol.channel import ChannelClosed
from protocol.messages import Move

APART = containment.containment().apart

apart = pytest.mark.skipif(not APART, reason="this system has no namespaces for us")


@pytest.fixture
def mark() -> str:
    return f"hostile-{secrets.token_hex(8)}"


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    """The hostile bots, in a folder with what is none of their business."""
    (tmp_path / "bots" / ".ssh").mkdir(parents=True)
    (tmp_path / "bots" / ".ssh" / "key").write_text("secret")
    (tmp_path / "bots" / "games.db").write_text("secret")
    (tmp_path / "tokens").write_text("secret")
    (tmp_path / "bots" / "words.txt").write_text("words")
    return Path(shutil.copy(hostile_bots.__file__, tmp_path / "bots"))


@pytest.fixture
def uncontained(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without namespaces."""
    monkeypatch.setattr(containment, "containment", lambda: Containment(False, "as on others"))


@asynccontextmanager
async def asked(
    spec: SeatSpec, table: TestArbiter, *, forked: bool, hidden: Sequence[Path] = ()
) -> AsyncIterator[dict[str, str]]:
    """Ask a hostile bot for a move; yield its report, and then kill it."""
    told: asyncio.Queue[str] = asyncio.Queue()
    parent = await ForkServer.warm(spec, Equipment()) if forked else None
    process = await SeatProcess.start(
        spec, Equipment(), parent=parent, printed=told.put_nowait, hidden=hidden
    )
    try:
        async with asyncio.timeout(60):
            await table.greet(process.channel)
            await table.begin()
            await table.ask()
            report = json.loads(await told.get())
        yield report
    finally:
        await process.kill()
        if parent is not None:
            await parent.kill()


def spec_of(bots: Path, name: str, mark: str, *secret: Path) -> SeatSpec:
    told = f"mark={mark}&host={os.getpid()}&secrets={':'.join(map(str, secret))}"
    return parse_seat(f"{bots}:{name}?{told}")


@apart
async def test_a_bot_that_breeds_leaves_nothing(bots: Path, mark: str, table: TestArbiter) -> None:
    async with asked(spec_of(bots, "Breeds", mark), table, forked=True) as report:
        assert sum(hostile_bots.SLEEPS in line for line in marked(mark).values()) == 20
    assert marked(mark) == {}
    assert report["memory"] == "MemoryError"
    assert "ProcessLookupError" in report["kills"], "the host is not in its world"
    assert int(report["descriptors"]) < 1_024
    if os.getuid() or _release() >= (6, 14):
        assert int(report["threads"]) < PROCESSES


def _release() -> tuple[int, ...]:
    return tuple(int(part) for part in os.uname().release.split(".")[:2])


@apart
@pytest.mark.parametrize("forked", [True, False])
async def test_a_bot_that_pries_finds_nothing(
    bots: Path, mark: str, table: TestArbiter, forked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGPASSWORD", "TILEWIRE_TOKEN", "AWS_SECRET_ACCESS_KEY", "KEY_OF_PYTHON"):
        monkeypatch.setenv(name, "open sesame")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    journal, dotted, elsewhere = (
        bots.parent / "games.db",
        bots.parent / ".ssh" / "key",
        bots.parents[1] / "tokens",
    )
    spec = spec_of(bots, "Pries", mark, journal, dotted, elsewhere, bots.parent / "words.txt")
    async with asked(spec, table, forked=forked, hidden=[journal]) as report:
        pass
    assert report["secrets"] == "empty FileNotFoundError FileNotFoundError words"
    assert set(report["processes"].split()) == {"1", report["pid"]}
    assert report["host"] == "ProcessLookupError"
    assert report["init"] == "PermissionError"
    assert ".db" not in report["descriptors"]
    assert report["neighbours"] == ".ssh games.db hostile_bots.py words.txt"
    assert (report["own"], report["system"]) == ("OSError", "OSError"), "read-only"
    assert report["temporary"] == "1"
    assert int(report["capabilities"], 16) == 0
    assert report["no_new_privileges"] == "1"
    assert report["namespaces"] == "-1"
    assert "OMP_NUM_THREADS=2" in report["environment"]
    assert "open sesame" not in report["environment"]
    assert journal.read_text() == "secret"


@pytest.mark.parametrize("forked", [True, False])
async def test_without_namespaces_daemons_go_all_the_same_when_the_guard_is_killed(
    bots: Path, mark: str, table: TestArbiter, uncontained: None, forked: bool
) -> None:
    spec = parse_seat(f"{bots}:Breeds?mark={mark}")
    parent = await ForkServer.warm(spec, Equipment()) if forked else None
    process = await SeatProcess.start(spec, Equipment(), parent=parent)
    try:
        await table.greet(process.channel)
        await table.begin()
        await table.say(table.question())
        with pytest.raises(ChannelClosed):
            await table.hear(Move)
    finally:
        await process.kill()
        left = [line for line in marked(mark).values() if hostile_bots.SLEEPS in line]
        if parent is not None:
            await parent.kill()
    assert left == []
    assert marked(mark) == {}


@apart
async def test_a_contained_bot_may_be_named_from_a_folder_that_it_does_not_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("bots", "here"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bots" / "bots.py").write_text("from bot.player import Player as Bot\n")
    monkeypatch.chdir(tmp_path / "here")
    assert (await try_out(parse_seat("../bots/bots.py:Bot"), Equipment()))[0] == ""


async def test_a_bot_that_is_loaded_before_a_match_is_contained_too(
    tmp_path: Path, mark: str
) -> None:
    (tmp_path / "bots.py").write_text(f"bytearray({10 << 30})")
    wrong, _ = await try_out(parse_seat(f"{tmp_path}/bots.py:Bot"), Equipment())
    assert "MemoryError" in wrong


FAILS = """
import errno, os, sys
from bot.seat.confinement import Confinement
from bot.seat.guard import guard

def run():
    raise OSError(errno.ENOSPC, "No space left on device")

sys.exit(guard(run, os.pipe()[0], Confinement()))
"""


def test_what_ends_a_process_before_it_runs_is_told() -> None:
    command = [sys.executable, "-c", FAILS]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (CANT_RUN, "")
    assert ended.stderr == "OSError: [Errno 28] No space left on device\n"


def test_a_host_is_not_to_be_read_and_adopts_orphans() -> None:
    containment.shield()
    prctl = ctypes.CDLL(None).prctl
    adopts = ctypes.c_int()
    assert prctl(3, 0, 0, 0, 0) == 0, "PR_GET_DUMPABLE"
    assert prctl(37, ctypes.byref(adopts), 0, 0, 0) == 0
    assert adopts.value == 1


def test_a_bot_reads_its_own_folder_and_its_tables(tmp_path: Path) -> None:
    for name in ("bots.py", "l.klv2", "tiles.csv"):
        (tmp_path / name).write_text("")
    (tmp_path / "my.toml").write_text('tiles = "tiles.csv"\nboard = "standard"')
    (tmp_path / "standard").mkdir()
    equipment = Equipment(leaves=f"{tmp_path}/l.klv2", rules=f"{tmp_path}/my.toml")
    held = of_bot(parse_seat(f"{tmp_path}/bots.py:Bot"), equipment)
    assert held.own == [str(tmp_path)]
    shown = {path for path in held.reads or () if path.startswith(str(tmp_path))}
    assert shown == {f"{tmp_path}/{name}" for name in ("l.klv2", "my.toml", "tiles.csv")}
    assert str(Path.cwd()) not in (held.reads or ())


def test_a_system_without_namespaces_says_why() -> None:
    said = str(Containment(False, "no reason"))
    assert said.startswith("this system does not allow namespaces (no reason): bots and engines")


def test_what_is_no_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(containment.MEMORY, "8GB")
    with pytest.raises(SeatError, match="'8GB'"):
        of_bot(parse_seat("tests/hostile_bots.py:Pries"), Equipment())
    monkeypatch.setenv(containment.MEMORY, "8192")
    assert of_bot(parse_seat("tests/hostile_bots.py:Pries"), Equipment()).memory_mb == 8_192


@apart
async def test_a_socket_in_a_bots_own_folder_leads_nowhere(tmp_path: Path) -> None:
    """Somebody outside could keep there what the bot has seen."""
    (tmp_path / "bots.py").write_text(
        "import socket\nfrom pathlib import Path\nfrom bot.player import Player as Bot\n"
        "socket.socket(socket.AF_UNIX).connect(str(Path(__file__).with_name('door')))\n"
    )
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(str(tmp_path / "door"))
        outside.listen()
        wrong, _ = await try_out(parse_seat(f"{tmp_path}/bots.py:Bot"), Equipment())
    assert "ConnectionRefusedError" in wrong


async def test_a_bot_is_asked_which_modules_with_kernels_it_imports(tmp_path: Path) -> None:
    (tmp_path / "bots.py").write_text(
        "import engine.endgame.solver\nfrom bot.player import Player as Bot\n"
        "print('tilewire uses:  os engine.simulation.simulation')\n"
    )
    wrong, modules = await try_out(parse_seat(f"{tmp_path}/bots.py:Bot"), Equipment())
    assert wrong == ""
    assert "engine.kernels.endgame" in modules
    assert "os" not in modules
    assert "engine.simulation.simulation" not in modules
