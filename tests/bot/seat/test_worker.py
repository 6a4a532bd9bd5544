"""Workers as real processes, forked or not: they play, leave nothing, learn of no other game."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from bot_table import TestArbiter
from lexicon_parts import leaves_worth
from processes_left import pid_here, wait_for_end

from bot.equipment import Equipment
from bot.seat import containment, worker_handle
from bot.seat.child_process import ChildProcess, Spawned, spawn
from bot.seat.confinement import Confinement
from bot.seat.worker_handle import ForkServer, SeatProcess, worker_command
from bot.seat_text import parse_seat
from engine.rules.rules import Rules, standard_rules
from harness.seats import seat_factory
from harness.seats.seat_factory import Reception, SeatMaker
from harness.seats.seats import WorkerFailed
from lexicons.klv import write_klv
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed

PASSES = """
import os, subprocess, sys
from bot.player import Choice, Player
from engine.rules.moves import PASS

print("imported")

class Passes(Player):
    def choose(self, view, budget):
        print("thinking", flush=True)
        os.write(1, b"and writing")
        assert sys.stdin.read() == ""
        return Choice(PASS)

class Breaks(Player):
    def choose(self, view, budget):
        raise LookupError("lost my book")

class Spins(Player):
    def choose(self, view, budget):
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)  # a daemon
        budget.offer(Choice(PASS, text=str(child.pid)))
        while True:
            pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a bot.py that nothing should take for ours."""
    (tmp_path / "bot.py").write_text(PASSES)
    (tmp_path / "engine.py").write_text("raise AssertionError('not ours')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


@asynccontextmanager
async def working(seat: str, table: TestArbiter) -> AsyncIterator[SeatProcess]:
    process = await SeatProcess.start(parse_seat(seat), Equipment(), name="-x", seed=1)
    try:
        async with asyncio.timeout(120):
            hello = await table.greet(process.channel)
            assert hello.name == "-x", "a name may look like an option"
            yield process
    finally:
        await process.kill()


async def test_a_worker_plays_a_whole_game_over_its_pipe(table: TestArbiter) -> None:
    async with working("static", table) as process:
        await table.begin()
        await table.play_out()
        assert table.state.over is not None
        await process.channel.close()
        assert await process.wait() == 0, process.stderr_tail
    assert table.infos[0].candidates[0].equity is not None


async def test_what_a_player_prints_garbles_nothing(folder: Path, table: TestArbiter) -> None:
    async with working("bot.py:Passes", table) as process:
        await table.begin()
        assert (await table.ask()).move == "-"
        await process.channel.close()
        assert await process.wait() == 0
    assert "imported" in process.stderr_tail
    assert "and writing" in process.stderr_tail


async def test_a_player_that_breaks_ends_its_process(folder: Path, table: TestArbiter) -> None:
    async with working("bot.py:Breaks", table) as process:
        await table.begin()
        await table.say(table.question())
        with pytest.raises(ChannelClosed):
            await process.channel.receive()
        assert await process.wait() == 1
        assert "lost my book" in process.stderr_tail
        assert "in choose" in process.stderr_tail


async def test_a_worker_that_is_still_loading_goes_when_its_pipe_closes(
    folder: Path, table: TestArbiter
) -> None:
    (folder / "stuck.py").write_text("import threading\nthreading.Event().wait()")
    async with working("stuck.py:Bot", table) as process:
        await process.channel.close()
        assert await process.wait() == 0, process.stderr_tail


async def test_a_seat_that_makes_no_sense_is_one_sentence(folder: Path) -> None:
    process = await SeatProcess.start(parse_seat("bot.py:Breaks?depth=2"), Equipment())
    await process.wait()
    assert process.returncode == 2
    assert process.stderr_tail.endswith("no option is called 'depth'; it takes none\n")
    assert "Traceback" not in process.stderr_tail
    await process.kill()


SAYS_WHAT_IT_HAS = """
import sys
from bot.player import Choice, Player
from engine.rules.moves import PASS

print("tilewire: this takes a while", file=sys.stderr)
print("and this is for nobody", file=sys.stderr)

class Bot(Player):
    def choose(self, view, budget):
        s = view.rules.distribution.alphabet.tiles("S")
        had = view.leaves.value(s), view.win_probabilities.at(3, 50), view.threads
        return Choice(PASS, text=" ".join(map(str, had)))
"""


async def test_what_a_worker_is_given_reaches_its_player(
    tmp_path: Path, table: TestArbiter, rules: Rules
) -> None:
    (tmp_path / "mine.py").write_text(SAYS_WHAT_IT_HAS)
    leaves, winprob = tmp_path / "leaves.klv2", tmp_path / "winpct.csv"
    write_klv(leaves, leaves_worth(rules.distribution, {(19,): 7.5}))  # an S
    winprob.write_text(",0,1\n1,1,0.75\n0,0.5,0.5\n-1,0,0.25\n")
    said: list[str] = []
    process = await SeatProcess.start(
        parse_seat(f"{tmp_path / 'mine.py'}:Bot"),
        Equipment(leaves=str(leaves), win_probabilities=str(winprob), threads=3),
        notice=said.append,
    )
    try:
        async with asyncio.timeout(120):
            await table.greet(process.channel)
            await table.begin()
            await table.ask()
    finally:
        await process.kill()
    assert table.infos[0].text == "7.5 0.75 3"
    assert "this takes a while" in said
    assert not any("nobody" in sentence for sentence in said)


def test_a_worker_without_a_name_goes_by_its_bot(folder: Path) -> None:
    (folder / "broken.py").write_text("raise LookupError('lost my book')")
    command = worker_command("--bot", "broken.py:Bot", "--pipe")
    reading, writing = os.pipe()
    done = subprocess.run(command, stdin=reading, capture_output=True, timeout=60, check=False)
    for end in (reading, writing):
        os.close(end)
    assert done.returncode == 1
    assert b"tilewire: broken.py:Bot: " in done.stderr


def test_a_worker_does_not_outlive_its_host(folder: Path) -> None:
    host = """
import os, subprocess, sys
worker = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
worker.stdout.read(8)
print(worker.pid, flush=True)
keep = os.dup(worker.stdin.fileno())
os.kill(os.getpid(), 9)
"""
    command = worker_command("--bot", "static", "--pipe")
    done = subprocess.run(
        [sys.executable, "-c", host, *command], stdout=subprocess.PIPE, timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    wait_for_end(int(done.stdout))


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    command = worker_command("--bot", "greedy", "--connect", "ws://127.0.0.1:9")
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)
    assert done.returncode == 3
    assert "can't reach ws://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


class Listener(ChildProcess):
    """Keeps what its process writes to standard error, in its parts."""

    def __init__(self, spawned: Spawned, name: str) -> None:
        super().__init__(spawned, name)
        self.parts: list[str] = []

    def on_stderr(self, text: str) -> None:
        self.parts.append(text)


async def test_characters_may_lie_across_two_parts_of_what_is_printed() -> None:
    text = "a" + "ä" * 5_000
    program = "import sys; sys.stderr.write('a' + 'ä' * 5_000)"
    listener = Listener(await spawn([sys.executable, "-c", program]), "loud")
    await listener.wait()
    await listener.kill()
    assert len(listener.parts) > 1
    assert "".join(listener.parts) == text


# --- forked ---------------------------------------------------------------------------------------

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

"""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    (tmp_path / "bots.py").write_text(REMEMBERS)
    return tmp_path / "bots.py"


async def asked(process: SeatProcess, *, greeted: bool = False, deadline_ms: int = 60_000) -> str:
    """Ask a worker for a move in a new game; return what it thought."""
    arbiter = TestArbiter(load_lexicon(), standard_rules())
    arbiter.deadline_ms = deadline_ms
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
    spec = parse_seat(f"{bots}:Remembers")
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


@pytest.mark.parametrize("forked", [False, True])
async def test_what_a_busy_worker_began_ends_with_it(folder: Path, forked: bool) -> None:
    spec = parse_seat("bot.py:Spins")
    parent = await ForkServer.warm(spec, Equipment()) if forked else None

    async def busy() -> tuple[SeatProcess, int]:
        worker = await SeatProcess.start(spec, Equipment(), parent=parent)
        daemon = int(await asked(worker, deadline_ms=25))
        return worker, pid_here(daemon, worker._process.pid)

    try:
        killed, daemon = await busy()
        await killed.kill()
        assert killed.returncode == -signal.SIGKILL
        wait_for_end(daemon)
        await killed.kill()

        done, daemon = await busy()
        await done.channel.close()
        assert await done.wait() == 0, done.stderr_tail
        wait_for_end(daemon)
        await done.kill()

        if parent is None:
            return
        left, daemon = await busy()
    finally:
        if parent is not None:
            await parent.kill()
    wait_for_end(daemon)
    assert await left.wait() == -signal.SIGKILL
    await left.kill()
    with pytest.raises(OSError, match="Bad file descriptor"):
        await SeatProcess.start(spec, Equipment(), parent=parent)
