"""Workers as real processes: whole games over the pipe, other people's code, no orphans."""

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
from processes_left import pid_here, wait_for_end

from bot.equipment import Equipment
from bot.seat.child_process import ChildProcess, Spawned, spawn
from bot.seat.worker_handle import SeatProcess, worker_command
from bot.seat_text import parse_seat
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from protocol.channel import ChannelClosed
from protocol.messages import Goodbye, Seek
from protocol.websocket import WebSocketChannel, listen

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
        child = subprocess.Popen(["sleep", "600"])
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
    process = await SeatProcess.start(parse_seat(seat), Equipment(), name="it", seed=1)
    try:
        async with asyncio.timeout(120):
            hello = await table.greet(process.channel)
            assert hello.name == "it"
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


async def test_a_name_may_look_like_an_option(table: TestArbiter) -> None:
    process = await SeatProcess.start(parse_seat("static"), Equipment(), name="-x")
    try:
        async with asyncio.timeout(120):
            assert (await table.greet(process.channel)).name == "-x"
    finally:
        await process.kill()


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


async def test_killing_a_worker_leaves_nothing(folder: Path, table: TestArbiter) -> None:
    table.deadline_ms = 25
    async with working("bot.py:Spins", table) as process:
        await table.begin()
        await table.ask()
        child = pid_here(int(table.infos[0].text or "0"), process._process.pid)
        await process.kill()
        assert process.returncode == -signal.SIGKILL
        wait_for_end(child)
        await process.kill()


async def test_a_busy_worker_goes_when_its_pipe_closes(folder: Path, table: TestArbiter) -> None:
    table.deadline_ms = 25
    async with working("bot.py:Spins", table) as process:
        await table.begin()
        await table.ask()
        child = pid_here(int(table.infos[0].text or "0"), process._process.pid)
        await process.channel.close()
        assert await process.wait() == 0
        wait_for_end(child)


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


# --- dialling -----------------------------------------------------------------------------------


async def test_a_worker_dials_a_server_seeks_and_says_goodbye(
    lexicon: Lexicon, rules: Rules
) -> None:
    came: asyncio.Queue[tuple[WebSocketChannel, str]] = asyncio.Queue()
    over = asyncio.Event()

    async def on_channel(channel: WebSocketChannel, request: object) -> None:
        headers = request.headers  # type: ignore[attr-defined]
        came.put_nowait((channel, headers.get("Authorization", "")))
        await over.wait()

    server = await listen("127.0.0.1", 0, on_channel)
    port = next(iter(server.sockets)).getsockname()[1]
    joining = ("connect", f"ws://127.0.0.1:{port}", "--bot", "greedy", "--opponent", "static")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from tilewire import main; main()", *joining),
        *("--games", "1"),
        env={**os.environ, "TILEWIRE_TOKEN": "open sesame"},
    )
    try:
        async with asyncio.timeout(120):
            channel, secret = await came.get()
            assert secret == "Bearer open sesame"
            table = TestArbiter(lexicon, rules, you=1)
            await table.greet(channel)
            assert await table.hear(Seek) == Seek(opponent="static", games=1)
            await table.begin()
            await table.turn()
            await table.turn()
            await table.end()
            assert (await table.hear(Goodbye)).code == "done"
            assert await process.wait() == 0
    finally:
        over.set()
        server.close()
        if process.returncode is None:
            process.kill()
        await process.wait()
        await server.wait_closed()


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

    def heard_on_stderr(self, text: str) -> None:
        self.parts.append(text)


async def test_characters_may_lie_across_two_parts_of_what_is_printed() -> None:
    text = "a" + "ä" * 5_000
    program = "import sys; sys.stderr.write('a' + 'ä' * 5_000)"
    listener = Listener(await spawn([sys.executable, "-c", program]), "loud")
    await listener.wait()
    await listener.kill()
    assert len(listener.parts) > 1
    assert "".join(listener.parts) == text
