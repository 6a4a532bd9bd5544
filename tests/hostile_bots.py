"""Players that try what they should not, and print a line of JSON about what came of it.

Each attempt is bounded, so that a host that contains nothing survives the test, too. ``mark`` is in
the command line of what they start.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bot.player import Budget, Choice, Player, View
from engine.rules.moves import PASS

SLEEPS = "import time; time.sleep(60)"
GIBIBYTE = 1 << 30
CLONE_NEWUSER = 0x10000000
LIBC = ctypes.CDLL(None)


def tried(attempt: Callable[[], object]) -> str:
    """Return what an attempt came to: the name of its error, or its value."""
    try:
        return str(attempt())
    except BaseException as error:
        return type(error).__name__


def names(folder: str | Path) -> str:
    """List the entries of a folder."""
    return " ".join(sorted(path.name for path in Path(folder).iterdir()))


class _Hostile(Player):
    def __init__(self, mark: str, host: str = "0", secrets: str = "") -> None:
        self.mark = mark
        self.host = int(host)
        self.secrets = [Path(path) for path in secrets.split(":") if path]

    def choose(self, view: View, budget: Budget) -> Choice:
        print(json.dumps(self.report()), flush=True)
        return Choice(PASS)

    def report(self) -> dict[str, str]:
        raise NotImplementedError


class Breeds(_Hostile):
    """Ignores signals, leaves daemons, kills who watches it, takes all memory and threads."""

    def report(self) -> dict[str, str]:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            LIBC.signal(number, ctypes.c_void_p(1))  # SIG_IGN; Python does so in one thread only
        for _ in range(20):
            sleeper = [sys.executable, "-I", "-S", "-c", SLEEPS, self.mark]
            subprocess.Popen(sleeper, start_new_session=True)
        watchers = {os.getppid(), self.host} - {0}
        return {
            "kills": " ".join(tried(partial(os.kill, pid, signal.SIGKILL)) for pid in watchers),
            "memory": tried(lambda: len(bytearray(10 * GIBIBYTE))),
            "threads": str(self._threads()),
            "descriptors": str(len(self._sockets())),
        }

    def _threads(self) -> int:
        threading.stack_size(1 << 16)
        go, started = threading.Event(), 0
        try:
            while started < 1_000:
                threading.Thread(target=go.wait, daemon=True).start()
                started += 1
        except RuntimeError:
            pass
        finally:
            go.set()
        return started

    def _sockets(self) -> list[socket.socket]:
        opened = []
        try:
            for _ in range(2_000):
                opened.append(socket.socket())
        except OSError:
            pass
        return opened


class Pries(_Hostile):
    """Looks for the host, its secrets and its privileges, and changes what is not its own."""

    def report(self) -> dict[str, str]:
        here = Path(__file__)
        status = dict(
            line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines()
        )
        return {
            "processes": " ".join(path.name for path in Path("/proc").glob("[0-9]*")),
            "pid": str(os.getpid()),
            "host": tried(lambda: os.kill(self.host, 0)),
            "init": tried(lambda: Path("/proc/1/mem").open("rb")),
            "descriptors": " ".join(
                tried(link.readlink) for link in Path("/proc/self/fd").iterdir()
            ),
            "secrets": " ".join(tried(path.read_text) or "empty" for path in self.secrets),
            "home": tried(lambda: names(Path.home())),
            "neighbours": names(here.parent),
            "own": tried(lambda: here.write_text("")),
            "system": tried(lambda: Path("/usr/x").write_text("")),
            "temporary": tried(lambda: (Path(os.environ["TMPDIR"]) / "x").write_text("1")),
            "capabilities": status["CapEff"] + status["CapBnd"],
            "no_new_privileges": status["NoNewPrivs"],
            "namespaces": str(LIBC.unshare(CLONE_NEWUSER)),
            "environment": " ".join(
                [f"{name}={value}" for name, value in os.environ.items()]
                + [tried(path.read_text) for path in Path("/proc").glob("[0-9]*/environ")]
            ),
        }


class Looks(_Hostile):
    """Looks for the page of its own match: in processes, files, and at its port.

    The port is in a file beside the bot; a bot can also find it in ``/proc/net/tcp``.
    """

    def report(self) -> dict[str, str]:
        there = [*Path("/proc").glob("[0-9]*/cmdline"), *Path("/proc").glob("[0-9]*/environ")]
        told = " ".join(tried(path.read_text) for path in there)
        return {
            "processes": " ".join(path.name for path in Path("/proc").glob("[0-9]*")),
            "pid": str(os.getpid()),
            "codes": " ".join(re.findall(r"\b[2-9A-Z]{4}-[2-9A-Z]{4}\b|tilewire-\d+=\S*", told)),
            "secrets": " ".join(tried(path.read_text) or "empty" for path in self.secrets),
            "folder": tried(lambda: names(self.secrets[0].parent)),
            "answers": " ".join(self._answers()),
        }

    def _answers(self) -> list[str]:
        """Ask for all that a page is told, with what a browser would send."""
        port = int((Path(__file__).parent / "port").read_text())
        upgrade = (
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        )
        return [
            tried(partial(self._ask, port, "GET /api/games")),
            tried(partial(self._ask, port, "GET /api/standings", f"Cookie: tilewire-{port}=\r\n")),
            tried(partial(self._ask, port, "GET /", upgrade)),
            tried(partial(self._ask, port, "POST /api/enter", "X-Tilewire-Code: AAAA-AAAA\r\n")),
        ]

    @staticmethod
    def _ask(port: int, request: str, headers: str = "") -> str:
        """Return the status of an answer."""
        with socket.create_connection(("127.0.0.1", port), timeout=10) as peer:
            own = f"Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
            peer.sendall(f"{request} HTTP/1.1\r\n{own}{headers}\r\n".encode())
            return peer.makefile("rb").readline().split()[1].decode()
