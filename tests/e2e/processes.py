"""The command line as real processes: servers that come up and go down, commands that end."""

from __future__ import annotations

import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from protocol.channel import now_ms

COMMAND = (sys.executable, "-c", "from tilewire import main; main()")
EXAMPLES = Path(__file__).parents[2] / "examples"

PATIENCE_S = 120.0
"""For anything at all: a machine that has never run this compiles and builds a lexicon first."""

SETTINGS = """
max_games = 4
[time]
initial_ms = 120000
"""


class Server:
    """``tilewire serve`` in a process of its own, which may be killed and started again.

    Args:
        folder: for its journal and configuration.
        options: more of the command line.
        settings: the configuration file's content.
        db: whether it has a journal of its own, and not a tournament's.
        database: the URL of that journal, instead of a file in the folder.
    """

    def __init__(
        self,
        folder: Path,
        *options: str | Path,
        settings: str = SETTINGS,
        db: bool = True,
        database: str = "",
    ) -> None:
        self.db: Path | str = database or folder / "serve.db"
        self.serves = False
        """Whether it listened when it was looked at last."""
        self.waited_ms = 0
        """For how long the process that ended last had waited for a core."""
        self.url = ""
        self.said: list[str] = []
        self.port = 0
        self._config = folder / "serve.toml"
        self._config.write_text(settings, encoding="utf-8")
        self._options = ("--db", self.db, *options) if db else options
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def start(self) -> None:
        """Start it, again on the port that it had, and wait until it listens."""
        self.launch()
        while not self.serves:
            self._take(self._lines.get(timeout=PATIENCE_S))

    def launch(self) -> None:
        """Start it, and don't wait."""
        command = [*COMMAND, "serve", "--config", str(self._config)]
        command += ["--port", str(self.port), *map(str, self._options)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self._lines = queue.SimpleQueue()
        reading = (self._process, self._lines)
        threading.Thread(target=_read, args=reading, daemon=True).start()
        self.serves = False

    def look(self) -> bool:
        """Take down what it has said, and return whether it listens."""
        while not self._lines.empty():
            self._take(self._lines.get())
        return self.serves

    def _take(self, line: str | None) -> None:
        if line is None:
            assert self._process is not None
            status = self._process.wait(PATIENCE_S)
            raise AssertionError(f"the server did not go on, status {status}: {self.said[-5:]}")
        self.said.append(line)
        if " serving on " in line:
            self.serves = True
            self.url = line.split(" serving on ")[1].split(",")[0]
            self.port = int(self.url.rpartition(":")[2])
        elif "are left to whoever" in line:
            self.serves = False

    def kill(self) -> tuple[int, int]:
        """Kill it as a power cut would; between which milliseconds it died."""
        assert self._process is not None
        before = now_ms()
        self.waited_ms = self.kept_waiting_ms()
        self._process.kill()
        self._process.wait()
        return before, now_ms()

    @property
    def pid(self) -> int:
        """Return the number of its process."""
        assert self._process is not None
        return self._process.pid

    def kept_waiting_ms(self) -> int:
        """Return for how long its threads, ready to run, have waited for a core in all."""
        waits_ns = 0
        for thread in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # the thread has ended
                waits_ns += int(thread.read_text(encoding="ascii").split()[1])
        return waits_ns // 1_000_000

    def freeze(self) -> None:
        """Stop it in mid-work."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Have it go on as if nothing had been."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> tuple[int, int]:
        """Have it end for another version to go on; between which milliseconds it ended."""
        before = now_ms()
        self.waited_ms = self.kept_waiting_ms()
        self.terminate()
        assert self.wait() == 0, self.said
        return before, now_ms()

    def terminate(self) -> None:
        """Ask it to stop."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)

    def hang_up(self) -> None:
        """Have it read its files again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)

    def let_files_grow(self, to_bytes: int | None) -> None:
        """Let none of its files become larger, as on a full disk; None: any may."""
        assert self._process is not None
        no_limit = resource.RLIM_INFINITY
        soft = no_limit if to_bytes is None else to_bytes
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (soft, no_limit))

    def hear(self, words: str) -> str:
        """Wait for a line that has these words, and return it."""
        while (line := self._lines.get(timeout=PATIENCE_S)) is not None:
            self.said.append(line)
            if words in line:
                return line
        raise AssertionError(f"it ended without saying {words!r}: {self.said[-5:]}")

    def get(self, path: str) -> tuple[int, str]:
        """Ask over HTTP, by HTTPS if that is how it serves; return the status and the answer."""
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(self.url.replace("ws", "http", 1) + path, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def wait(self) -> int:
        """Wait for its end; give its exit status."""
        assert self._process is not None
        status = self._process.wait(PATIENCE_S)
        while (line := self._lines.get(timeout=PATIENCE_S)) is not None:
            self.said.append(line)
        return status

    def close(self) -> None:
        """End it, if it has not ended."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    """Take down what a process says; None at its end."""
    assert process.stderr is not None
    with process.stderr:
        for line in process.stderr:
            lines.put(line.strip())
    lines.put(None)


@contextmanager
def serving(
    folder: Path, *options: str | Path, settings: str = SETTINGS, database: str = ""
) -> Iterator[Server]:
    """Have a server as long as the block lasts."""
    server = Server(folder, *options, settings=settings, database=database)
    try:
        server.start()
        yield server
    finally:
        server.close()


def run_command(
    *arguments: str | Path, python_path: str | None = None, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run ``tilewire`` to its end, which has to have this exit status."""
    return _run([*COMMAND, *map(str, arguments)], python_path, status)


def run_example(name: str, *arguments: str | Path) -> str:
    """Run a program of ``examples/`` to its good end; give what it printed."""
    return _run([sys.executable, str(EXAMPLES / name), *map(str, arguments)]).stdout


def _run(
    command: list[str], python_path: str | None = None, status: int = 0
) -> subprocess.CompletedProcess[str]:
    environment = {} if python_path is None else {"PYTHONPATH": python_path}
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == status, (
        f"{command[1:]}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    )
    return done
