"""``tilewire siu`` as a process."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from e2e.processes import COMMAND

EMPTY = "/".join(["15"] * 15)
LIMIT_S = 120  # the kernels may have to be compiled
ENGINE = f"position cgp {EMPTY} AEINRST/ 0/0 0"


class Engine:
    """An engine that is talked to line by line."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            (*COMMAND, "siu"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.decode().rstrip("\n"))
        self._lines.put(None)

    def says(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def until(self, wanted: str) -> list[str]:
        """Give what is answered up to a line that begins so."""
        if not self._reader.is_alive():
            self._reader.start()
        answered: list[str] = []
        while not answered or not answered[-1].startswith(wanted):
            line = self._lines.get(timeout=LIMIT_S)
            assert line is not None, f"it ended after {answered}"
            answered.append(line)
        return answered

    def ends(self) -> tuple[int, bytes]:
        """Wait for the end; give the exit status and what it wrote on standard error."""
        status = self.process.wait(timeout=LIMIT_S)
        assert self.process.stderr is not None
        return status, self.process.stderr.read()


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.process.kill()
    engine.process.wait()
    if engine._reader.is_alive():
        engine._reader.join()
    for stream in (engine.process.stdin, engine.process.stdout, engine.process.stderr):
        if stream is not None:
            stream.close()


def test_a_front_end_drives_it(engine: Engine) -> None:
    # All in one go: what is said while it loads must not disturb the loading.
    engine.says("siu", "go gen", "setoption name Lexicon value CSW21", ENGINE, "isready")
    assert engine.until("siuok")[0].startswith("id name tilewire")
    errors = [line.split()[3] for line in engine.until("readyok") if " error " in line]
    assert errors == ["no-position", "unknown-command"]
    engine.says("go infinite")
    first = engine.until("info sim")
    assert first[0].startswith("info string provenance engine=tilewire/")
    engine.says("isready")
    assert not any(line.startswith("bestmove") for line in engine.until("readyok"))
    engine.says("stop", "go sim iterations 2 searchmoves 8D.RETAINS ex.A", "go gen firstwin")
    assert engine.until("bestmove")[-1] != "bestmove none"
    assert engine.until("bestmove")[-1].removeprefix("bestmove ") in ("8D.RETAINS", "ex.A")
    assert engine.until("bestmove")[0] == "info string ignored firstwin"
    engine.says("go infinite", "quit")
    status, told = engine.ends()
    assert (status, told.replace(b"\r", b"")) == (0, b"")


def test_the_end_of_its_input_is_its_end(engine: Engine) -> None:
    engine.says("siu", "x" * 3_000_000)
    said = engine.until("info string error unknown-command xxx")
    assert "siuok" in said
    assert len(said[-1]) < 300
    engine.says("isready", ENGINE, "go infinite")  # it is still loading
    assert engine.process.stdin is not None
    engine.process.stdin.close()
    assert engine.ends()[0] == 0


def test_nobody_to_talk_to_is_its_end(engine: Engine) -> None:
    assert engine.process.stdout is not None
    engine.process.stdout.close()
    engine.says("siu")
    assert engine.ends() == (0, b"")


def test_it_can_be_killed(engine: Engine) -> None:
    engine.says("siu")
    engine.until("siuok")
    engine.process.terminate()
    assert engine.ends()[0] == 128 + signal.SIGTERM


def test_the_handshake_needs_no_numba() -> None:
    code = (
        "import sys, harness.cli.siu, bot.siu.engine, bot.siu.conversation as c\n"
        "talk = c.SiuConversation(harness.cli.siu.SiuSettings(), 'x', 'y')\n"
        "talk.take('siu', 0)\n"
        "print([name for name in ('numba', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
