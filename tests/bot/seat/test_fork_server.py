"""Forked workers: they play like others, leave nothing behind, and learn nothing of other games."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from bot_table import TestArbiter
from processes_left import pid_here, wait_for_end

from bot.equipment import Equipment
from bot.seat import containment, worker_handle
from bot.seat.confinement import Confinement
from bot.seat.worker_handle import ForkServer, SeatProcess
from bot.seat_text import parse_seat
from engine.rules.rules import standard_rules
from harness.seats import seat_factory
from harness.seats.seat_factory import Reception, SeatMaker
from harness.seats.seats import WorkerFailed
from lexicons.store import load_lexicon

REMEMBERS = """
import os, pathlib, random, tempfile, threading
from bot.player import Choice, Player
from engine.rules.moves import PASS

SEEN = []
ROOM = pathlib.Path(tempfile.gettempdir())
HEARD = threading.Event()
threading.Thread(target=HEARD.wait, daemon=True).start()

class Remembers(Player):
    seen = ()

    def choose(self, view, budget):
        rack = str(view.rack)
        known = [SEEN[:], self.seen, HEARD.is_set(), sorted(path.name for path in ROOM.iterdir())]
        SEEN.append(rack)
        Remembers.seen = rack
        HEARD.set()
        (ROOM / "racks").write_text(rack)
        print("I hold", rack)
        return Choice(PASS, text=f"{known} {random.random()}")

class Leaves(Player):
    def choose(self, view, budget):
        child = os.fork()
        if child == 0:
            os.setsid()  # a daemon
            import time
            time.sleep(600)
        return Choice(PASS, text=str(child))
"""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    (tmp_path / "bots.py").write_text(REMEMBERS)
    return tmp_path / "bots.py"


async def asked(process: SeatProcess, seat: int = 0, *, greeted: bool = False) -> str:
    """Ask a worker for a move in a new game; return what it thought."""
    arbiter = TestArbiter(load_lexicon(), standard_rules(), you=seat)
    async with asyncio.timeout(60):
        if greeted:
            arbiter.channel = process.channel
        else:
            await arbiter.greet(process.channel)
        await arbiter.begin()
        assert (await arbiter.ask()).move == "-"
    return arbiter.infos[-1].text or ""


async def test_nothing_that_a_bot_keeps_outlives_its_game(bots: Path, tmp_path: Path) -> None:
    kept = tmp_path / "seats" / "it.log"
    maker = SeatMaker(parse_seat(f"{bots}:Remembers"), "it", Equipment(), kept=kept)
    told, pids = [], set()
    try:
        for game in (1, 2):
            worker = await maker.worker(game)
            assert worker.process is not None
            told.append((await asked(worker.process, greeted=True)).rsplit(" ", 1))
            pids.add(worker.process._process.pid)
            await worker.release()
        assert maker._parent is not None
        assert maker._parent.returncode is None
    finally:
        await maker.close()
    assert [known for known, _ in told] == ["[[], (), False, []]"] * 2
    assert len(pids) == len({number for _, number in told}) == 2
    for game in (1, 2):
        assert kept.with_suffix(f".{game:05d}.log").read_text().startswith("I hold (")


async def test_without_forks_the_games_of_a_pair_have_processes_of_their_own(
    bots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seat_factory, "FORKS", False)
    maker = SeatMaker(parse_seat(f"{bots}:Remembers"), "it", Equipment())
    try:
        first, second = await maker.worker(1), await maker.worker(2)
        for worker in (first, second):
            await worker.release()
        assert await maker.worker(3) is first
        assert await maker.worker(4) is second
        assert first.process is not second.process
    finally:
        for worker in (first, second):
            await worker.kill()
        await maker.close()


async def test_a_process_that_ended_while_it_waited_leaves_no_descriptor() -> None:
    maker = SeatMaker(parse_seat("greedy"), "it", Equipment())
    try:
        ended = await maker.worker()
        assert ended.process is not None
        await ended.release()
        os.kill(ended.process._process.pid, signal.SIGKILL)
        await ended.process.wait()
        other = await maker.worker()
        assert other is not ended
        assert ended.process._lifeline == -1
        await other.kill()
    finally:
        await maker.close()


async def test_a_process_that_ends_before_it_comes_is_no_longer_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_handle, "worker_command", lambda *_, **__: ["false"])
    async with Reception() as reception:
        maker = SeatMaker(parse_seat("greedy"), "it", Equipment(), reception=reception)
        with pytest.raises(WorkerFailed, match="it did not start"):
            await maker.worker()
        assert not reception._expected
        await maker.close()


async def test_where_nothing_can_be_forked_a_process_is_started(
    bots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_handle, "worker_command", lambda *_, **__: ["false"])
    maker = SeatMaker(parse_seat(f"{bots}:Remembers"), "it", Equipment())
    assert await maker._warm_parent() is None
    monkeypatch.undo()
    try:
        worker = await maker.worker()
        await worker.release()
    finally:
        await maker.close()


async def test_the_folder_of_a_guard_that_was_killed_goes_at_the_next_start(
    bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = containment.Containment(False, "apart, its folders would go with its world")
    monkeypatch.setattr(containment, "containment", lambda: elsewhere)
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setenv("TMPDIR", str(room))
    spec = parse_seat(f"{bots}:Remembers")
    parent = await ForkServer.warm(spec, Equipment())
    try:
        killed = await SeatProcess.start(spec, Equipment(), parent=parent)
        await asked(killed)
        (left,) = room.iterdir()
        os.kill(killed._process.pid, signal.SIGKILL)
        await killed.kill()
        assert (left / "racks").exists()

        lives = await SeatProcess.start(spec, Equipment(), parent=parent)
        await asked(lives)
        await (await ForkServer.warm(spec, Equipment())).kill()
        (held,) = room.iterdir()
        assert held != left
        await lives.kill()
        assert list(room.iterdir()) == []
    finally:
        await parent.kill()


async def test_who_is_waited_for_no_more_leaves_no_descriptor(bots: Path) -> None:
    spec = parse_seat(f"{bots}:Leaves")
    parent = await ForkServer.warm(spec, Equipment())

    async def start() -> None:
        await parent.fork([], {}, Confinement(), pipes=True)

    def opened() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    try:
        before = opened()
        for _ in range(5):
            starting = asyncio.create_task(start())
            await asyncio.sleep(0)
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
        await asyncio.sleep(0)  # for transports to close
        assert opened() == before
    finally:
        await parent.kill()


async def test_the_end_of_a_forked_worker(bots: Path) -> None:
    spec = parse_seat(f"{bots}:Leaves")
    parent = await ForkServer.warm(spec, Equipment())
    try:
        killed = await SeatProcess.start(spec, Equipment(), parent=parent)
        daemon = pid_here(int(await asked(killed)), killed._process.pid)
        await killed.kill()
        assert killed.returncode == -signal.SIGKILL
        wait_for_end(daemon)

        done = await SeatProcess.start(spec, Equipment(), parent=parent)
        daemon = pid_here(int(await asked(done)), done._process.pid)
        await done.channel.close()
        assert await done.wait() == 0, done.stderr_tail
        wait_for_end(daemon)
        await done.kill()

        left = await SeatProcess.start(spec, Equipment(), parent=parent)
        daemon = pid_here(int(await asked(left)), left._process.pid)
    finally:
        await parent.kill()
    wait_for_end(daemon)
    assert await left.wait() == -signal.SIGKILL
    await left.kill()
    with pytest.raises(OSError, match="Bad file descriptor"):
        await SeatProcess.start(spec, Equipment(), parent=parent)
