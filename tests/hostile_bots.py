"""Players that try what they should not, and print a line of JSON about what came of it.

Each attempt is bounded, so that a host that contains nothing survives the test, too. ``mark`` is in
the command line of what they start.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from bot.player import Budget, Choice, Player, View
from engine.rules.moves import PASS

SLEEPS = "import time; time.sleep(60)"
GIBIBYTE = 1 << 30
CLONE_NEWUSER = 0x10000000
LIBC = ctypes.CDLL(None)
RAW = ctypes.CDLL(None, use_errno=True)


def tried(attempt: Callable[[], object]) -> str:
    """Return what an attempt came to: the name of its error, or its value."""
    try:
        return str(attempt())
    except BaseException as error:
        return type(error).__name__


def names(folder: str | Path) -> str:
    """List the entries of a folder."""
    return " ".join(sorted(path.name for path in Path(folder).iterdir()))


def ignore_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        LIBC.signal(number, ctypes.c_void_p(1))  # SIG_IGN; Python does so in one thread only


def leave_daemons(count: int, mark: str) -> None:
    for _ in range(count):
        sleeper = [sys.executable, "-I", "-S", "-c", SLEEPS, mark]
        subprocess.Popen(sleeper, start_new_session=True)


class _Hostile(Player):
    def __init__(self, mark: str, host: str = "0", secrets: str = "") -> None:
        self.mark = mark
        self.host = int(host)
        self.secrets = [Path(path) for path in secrets.split(":") if path]

    def choose(self, view: View, budget: Budget) -> Choice:
        print(json.dumps(self.report()), flush=True)
        return Choice(PASS)

    def report(self) -> dict[str, str]:
        """Return what it sees of processes, and what is in its secrets."""
        return {
            "processes": " ".join(path.name for path in Path("/proc").glob("[0-9]*")),
            "pid": str(os.getpid()),
            "secrets": " ".join(tried(path.read_text) or "empty" for path in self.secrets),
        }


class Breeds(_Hostile):
    """Ignores signals, leaves daemons, kills who watches it, takes all memory and threads."""

    def report(self) -> dict[str, str]:
        ignore_signals()
        leave_daemons(20, self.mark)
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
        with suppress(RuntimeError):
            while started < 1_000:
                threading.Thread(target=go.wait, daemon=True).start()
                started += 1
        go.set()
        return started

    def _sockets(self) -> list[socket.socket]:
        opened = list[socket.socket]()
        with suppress(OSError):
            while len(opened) < 2_000:
                opened.append(socket.socket())
        return opened


class Pries(_Hostile):
    """Looks for the host, its secrets and its privileges, and changes what is not its own."""

    def report(self) -> dict[str, str]:
        here = Path(__file__)
        descriptors = [link.readlink for link in Path("/proc/self/fd").iterdir()]
        status = dict(
            line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines()
        )
        return super().report() | {
            "host": tried(lambda: os.kill(self.host, 0)),
            "init": tried(lambda: Path("/proc/1/mem").open("rb")),
            "descriptors": " ".join(map(tried, descriptors)),
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


class TriesAll(_Hostile):
    """Tries all that a host must withstand, one row after another.

    ``targets.json`` beside the bot says where everything is, so that nothing is safe only because
    it was not found. The keys of the report are those of the table in ``docs/containment.md``.
    """

    def report(self) -> dict[str, str]:
        """Return what each attempt came to."""
        ignore_signals()
        at = self.at = json.loads((Path(__file__).parent / "targets.json").read_text())
        host, port = at["host"], at["port"]
        rows = {
            "network": self._all(
                lambda: socket.create_connection(("127.0.0.1", port), timeout=5),
                lambda: socket.create_connection(("192.0.2.1", 80), timeout=5),
                lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
                lambda: socket.socket(socket.AF_VSOCK),
            ),
            "abstract sockets": self._all(lambda: self._dial(f"\0{at['abstract']}")),
            "sockets in folders": self._all(*(partial(self._dial, it) for it in at["sockets"])),
            "environment": " ".join(
                name for name, value in os.environ.items() if at["secret"] in value
            ),
            "keys": self._all(
                *(partial(self._key, key) for key in at["keys"]),
                partial(self._call, "request_key", b"user", self.mark.encode(), None, 0),
                partial(self._call, "add_key", b"user", b"x", b"x", 1, -4),
            ),
            "other processes": self._all(
                lambda: os.kill(host, 0),
                lambda: Path(f"/proc/{host}/environ").read_bytes(),
                lambda: os.close(os.open("/proc/1/mem", os.O_RDONLY)),
                partial(self._call, "ptrace", 16, host, 0, 0),
                partial(self._call, "process_vm_readv", host, None, 0, None, 0, 0),
            ),
            "journal, tokens": " ".join(
                tried(Path(path).read_text) or "empty" for path in at["private"]
            ),
            "other folders": " ".join(tried(partial(names, path)) for path in at["folders"]),
            "files of the host": self._all(
                *(partial(Path(path).write_text, "") for path in at["written"])
            ),
            "namespaces, mounts": self._all(
                partial(self._call, "unshare", CLONE_NEWUSER),
                partial(
                    self._call, "clone", CLONE_NEWUSER | signal.SIGCHLD, None, None, None, None
                ),
                partial(self._call, "mount", b"none", b"/tmp", b"tmpfs", 0, None),
            ),
            "the kernel": self._all(
                partial(self._call, "bpf", 0, None, 0),
                partial(self._call, "perf_event_open", None, 0, -1, -1, 0),
                partial(self._call, "userfaultfd", 0),
                partial(self._call, "io_uring_setup", 1, None),
            ),
            "10 GB of memory": tried(lambda: len(bytearray(10 * GIBIBYTE))),
            "10 GB on disk": self._all(self._fill),
        }
        leave_daemons(5, self.mark)
        rows["fork bomb"] = self._all(self._fork)
        return rows

    @staticmethod
    def _all(*attempts: Callable[[], object]) -> str:
        """Return the errors of some attempts, by name; ``got it`` where there is none."""
        ended = []
        for attempt in attempts:
            try:
                attempt()
                ended.append("got it")
            except OSError as error:
                ended.append(errno.errorcode.get(error.errno or 0, type(error).__name__))
        return " ".join(ended)

    @staticmethod
    def _dial(address: str) -> None:
        socket.socket(socket.AF_UNIX).connect(address)

    def _key(self, number: int) -> None:
        self._call("keyctl", 11, number, ctypes.create_string_buffer(64), 64)  # KEYCTL_READ

    def _call(self, name: str, *arguments: object) -> None:
        ctypes.set_errno(0)
        numbers = [ctypes.c_long(it) if isinstance(it, int) else it for it in arguments]
        result = RAW.syscall(ctypes.c_long(self.at["calls"][name]), *numbers)
        if name == "clone" and result == 0:
            os._exit(0)
        if result < 0:
            raise OSError(ctypes.get_errno(), name)

    @staticmethod
    def _fill() -> None:
        """Write 10 GB; it ends as a full disk does."""
        path = Path(os.environ["TMPDIR"]) / "big"
        block = bytes(1 << 24)
        try:
            with path.open("wb", buffering=0) as file:
                for _ in range(10 * GIBIBYTE // len(block)):
                    file.write(block)
                    if file.tell() > GIBIBYTE:  # more than it may have: enough
                        return
        finally:
            path.unlink(missing_ok=True)

    @staticmethod
    def _fork() -> None:
        for _ in range(600):  # more than it may have
            if os.fork() == 0:
                signal.pause()


class Looks(_Hostile):
    """Looks for the page of its own match: in processes, files, and at its port.

    The port is in a file beside the bot; a bot can also find it in ``/proc/net/tcp``.
    """

    def report(self) -> dict[str, str]:
        there = [*Path("/proc").glob("[0-9]*/cmdline"), *Path("/proc").glob("[0-9]*/environ")]
        told = " ".join(tried(path.read_text) for path in there)
        return super().report() | {
            "codes": " ".join(re.findall(r"\b[2-9A-Z]{4}-[2-9A-Z]{4}\b|tilewire-\d+=\S*", told)),
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
