"""Hostile bots: what is in their reach, and that nothing of theirs is left."""

from __future__ import annotations

import ctypes
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hostile_bots
import hostile_host
import pytest
from bot_table import TestArbiter
from engine_games import marked
from hostile_host import asked

from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec
from bot.seat import containment, syscalls, worker_handle
from bot.seat.containment import PROCESSES, Containment, of_bot
from bot.seat.guard import CANT_RUN
from bot.seat.runtime import ROOT
from bot.seat.worker_handle import ForkServer, SeatProcess, try_out
from bot.seat_text import parse_seat
from protocol.channel import ChannelClosed
from protocol.messages import Move

APART = containment.containment().apart

apart = pytest.mark.skipif(not APART, reason="this system has no namespaces for us")


BOT = """from bot.player import Player
class Bot(Player):
    def choose(self, view, budget): pass
"""


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


WITHSTOOD = {
    "network": "ECONNREFUSED ENETUNREACH EPERM EPERM",
    "abstract sockets": "ECONNREFUSED",
    "sockets in folders": "ECONNREFUSED ENOENT",
    "environment": "",
    "keys": "EPERM EPERM EPERM EPERM",
    "other processes": "ESRCH ENOENT EACCES EPERM EPERM",
    "journal, tokens": "empty empty FileNotFoundError",
    "other folders": "FileNotFoundError own words.txt",
    "files of the host": "EROFS EROFS EROFS EROFS",
    "namespaces, mounts": "EPERM EPERM EPERM",
    "the kernel": "EPERM EPERM EPERM EPERM",
    "fork bomb": "EAGAIN",
    "10 GB of memory": "MemoryError",
    "10 GB on disk": "ENOSPC",
    "daemons, signals ignored": "5 while it played, 0 left",
}
"""What a hostile bot gets; ``docs/containment.md`` says it in words."""


@apart
@pytest.mark.skipif(not syscalls.can_filter(), reason="system calls can't be filtered here")
@pytest.mark.parametrize("ordinary", [False, True])
def test_a_bot_that_tries_all_gets_nothing(ordinary: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:  # tmp_path is this user's alone
        python, user = sys.executable, dict[str, Any]()
        ours = [str(ROOT), str(ROOT / "tests"), sysconfig.get_path("purelib")]
        ours += [path for path in sys.path if path.endswith("site-packages")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(ours)}
        environment |= {"NUMBA_DISABLE_JIT": "1"}  # one user's cache has no kernels, and none count
        if ordinary:
            if os.geteuid():
                pytest.skip("this user is an ordinary one, as in the other case")
            user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
            environment |= {"HOME": folder, "TILEWIRE_CACHE": f"{folder}/cache"}
            python = _python_of_all(environment, user)
            os.chown(folder, _NOBODY, _NOBODY)
        ended = subprocess.run(
            [python, hostile_host.__file__, f"{folder}/host"],
            **user,
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    if ordinary and "does not allow namespaces" in told["containment"]:
        pytest.skip(told["containment"])
    may_fork = os.getuid() == 0 and not ordinary and _release() < (6, 14)
    assert told["report"] == WITHSTOOD | ({"fork bomb": "got it"} if may_fork else {})


_NOBODY = 65_534
_HAS_NUMBA = "from importlib.util import find_spec; assert find_spec('numba')"


def _python_of_all(environment: Mapping[str, str], user: Mapping[str, Any]) -> str:
    """Return a Python that any user may run and that has our packages; skip if there is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            command = [python, "-c", f"{_HAS_NUMBA}; import bot.seat.guard"]
            subprocess.run(command, **user, env=environment, cwd="/", check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    pytest.skip("no Python with our packages can be run by other users")


def _release() -> tuple[int, ...]:
    return tuple(int(part) for part in os.uname().release.split(".")[:2])


@apart
async def test_a_bot_that_pries_finds_nothing(
    bots: Path, mark: str, table: TestArbiter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGPASSWORD", "TILEWIRE_TOKEN", "AWS_SECRET_ACCESS_KEY", "KEY_OF_PYTHON"):
        monkeypatch.setenv(name, "open sesame")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    journal, dotted = bots.parent / "games.db", bots.parent / ".ssh" / "key"
    elsewhere = bots.parents[1] / "tokens"
    spec = spec_of(bots, "Pries", mark, journal, dotted, elsewhere, bots.parent / "words.txt")
    async with asked(spec, table, forked=False, hidden=[journal]) as report:
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


async def loaded(folder: Path, code: str) -> tuple[str, list[str]]:
    """Load a bot before a match; return what is wrong with it, and the modules that it imports."""
    (folder / "bots.py").write_text(code)
    return await try_out(parse_seat(f"{folder}/bots.py:Bot"), Equipment())


@apart
async def test_a_contained_bot_may_be_named_from_a_folder_that_it_does_not_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("bots", "here"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bots" / "bots.py").write_text(BOT)
    monkeypatch.chdir(tmp_path / "here")
    assert (await try_out(parse_seat("../bots/bots.py:Bot"), Equipment()))[0] == ""


async def test_a_bot_that_does_not_start_is_named_with_the_place_in_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_handle, "QUIET_S", 0.75)
    monkeypatch.setattr(worker_handle, "START_S", 1.5)
    for line, what in (("input()", "EOFError"), ("import time; time.sleep(99)", "within 1.5 s")):
        wrong, _ = await loaded(tmp_path, f"{line}\n{BOT}")
        assert f"{tmp_path}/bots.py, line 1, in <module>" in wrong
        assert what in wrong


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


def test_a_system_says_what_it_lacks() -> None:
    assert "can't be filtered" in str(Containment(True, filtered=False))
    assert "filtered" not in str(Containment(True))
    said = str(Containment(False, "no reason"))
    assert said.startswith("this system does not allow namespaces (no reason): bots and engines")


def test_what_is_no_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(containment.MEMORY, "8GB")
    with pytest.raises(SeatError, match="'8GB'"):
        of_bot(parse_seat("tests/hostile_bots.py:Pries"), Equipment())
    monkeypatch.setenv(containment.MEMORY, "8192")
    assert of_bot(parse_seat("tests/hostile_bots.py:Pries"), Equipment()).memory_mb == 8_192


DIALS = """
import socket
from pathlib import Path
socket.socket(socket.AF_UNIX).connect(str(Path(__file__).with_name('door')))
"""
"""Somebody outside could keep there what the bot has seen."""
X32 = "import ctypes; ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39))  # getpid"
"""A call in the way of another machine."""


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        pytest.param(f"bytearray({10 << 30})", "MemoryError", id="memory"),
        pytest.param(DIALS, "ConnectionRefusedError", id="a socket in its own folder", marks=apart),
        pytest.param(
            X32,
            "SIGSYS",
            id="another machine's call",
            marks=pytest.mark.skipif(os.uname().machine != "x86_64", reason="others have none"),
        ),
    ],
)
async def test_a_bot_that_is_loaded_before_a_match_is_contained_too(
    tmp_path: Path, code: str, wrong: str
) -> None:
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(str(tmp_path / "door"))
        outside.listen()
        assert wrong in (await loaded(tmp_path, code))[0]


WORKS = f"""
import math, multiprocessing, socket, subprocess, sys, threading
import numba, numpy
{BOT}
assert numba.njit(lambda n: n + 1)(1) == 2
assert numpy.linalg.inv(numpy.eye(200)).sum() == 200
threads = [threading.Thread(target=math.sqrt, args=(2,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\\n"
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(math.sqrt, [4, 9]) == [2, 3]
with socket.create_server(("127.0.0.1", 0)) as own:
    socket.create_connection(own.getsockname()).close()
socket.socketpair()
"""


async def test_what_bots_need_works_in_containment(tmp_path: Path) -> None:
    assert (await loaded(tmp_path, WORKS))[0] == ""


_HEADERS = (
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm-generic/unistd.h"),
)


@pytest.mark.parametrize("column", [0, 1])
def test_the_numbers_of_calls_are_those_of_the_kernel(column: int) -> None:
    if not _HEADERS[column].exists():
        pytest.skip("no headers of the kernel are installed")
    defined = re.findall(r"#define __NR_(\w+)\s+(\d+)", _HEADERS[column].read_text())
    known = {name: int(number) for name, number in defined}
    assert syscalls.DENIED.keys() <= known.keys()
    assert {name: numbers[column] for name, numbers in syscalls.DENIED.items()}.items() <= (
        known.items()
    )
    assert syscalls.CLONE[column] == known["clone"]


async def test_a_bot_is_asked_which_modules_with_kernels_it_imports(tmp_path: Path) -> None:
    said = "print('tilewire uses:  os engine.simulation.simulation')\n"
    wrong, modules = await loaded(tmp_path, f"import engine.endgame.solver\n{BOT}{said}")
    assert wrong == ""
    assert "engine.kernels.endgame" in modules
    assert "os" not in modules
    assert "engine.simulation.simulation" not in modules
