"""Several hosts on one database: one serves, the others stand by; HAProxy is before them."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

from e2e.processes import PATIENCE_S, Server
from haproxy import balancer

from protocol.channel import now_ms

HOSTS = 3
ENDS = ("kill", "freeze", "hush", "slow")
"""What befalls the host that serves, in turn: it is killed; it stops in mid-work; its line to the
database is silent; answers come too late. The last three are over when another has its games."""
STORM = """
[admission]
handshakes_per_s = 100000
proxies = ["127.0.0.1"]
"""
"""Guests of one address that dial at once again whenever they are refused."""
SLOW_S = 4.0
"""An answer that comes after the lease."""


class Hosts:
    """Three servers that stand by for each other; has the methods of one ``Server``."""

    def __init__(self, folder: Path, database: str, settings: str, *options: str | Path) -> None:
        self.db = database
        self.all = []
        self._lines = {}
        there = urlsplit(database).port or 5432
        for number in range(HOSTS):
            own = folder / str(number)
            own.mkdir()
            line = Line(there)
            to_line = database.replace(f":{there}/", f":{line.port}/")
            always = ("--drain", "0s", "--standby")
            host = Server(own, *always, *options, settings=settings + STORM, database=to_line)
            host.port = free_port()
            self.all.append(host)
            self._lines[host] = line
        self.down = list(self.all)
        """Those that are to be started."""
        self.active: Server | None = None
        self._away: Server | None = None
        """One that lives, and has lost the lease or will."""
        self._ends = 0
        self._balancer = ExitStack()
        port = self._balancer.enter_context(balancer(folder, [host.port for host in self.all]))
        self.url = f"ws://127.0.0.1:{port}"

    async def open_lines(self) -> None:
        """Have lines to the database from now on."""
        for line in self._lines.values():
            await line.open()

    def start(self) -> None:
        """Start those that ended, and wait until one serves; let one that was away come back."""
        for host in self.down:
            host.launch()
        self.down.clear()
        until = time.monotonic() + PATIENCE_S
        while len(serving := [h for h in self.all if h is not self._away and h.look()]) != 1:
            assert time.monotonic() < until, [host.said[-9:] for host in self.all]
            time.sleep(0.01)
        (self.active,) = serving
        if self._away is not None:
            self._away.thaw()
            while self._away.look():  # it learns that the lease is lost
                assert time.monotonic() < until, self._away.said[-9:]
                time.sleep(0.01)
            line = self._lines[self._away]
            line.is_silent, line.delay_s = False, 0.0
            self._away = None

    def kill(self) -> tuple[int, int]:
        """End the host that serves, one way or another; between which milliseconds that was."""
        assert self.active is not None
        end = ENDS[self._ends % len(ENDS)]
        self._ends += 1
        if end == "kill":
            self.down.append(self.active)
            return self.active.kill()
        before = now_ms()
        self._away, line = self.active, self._lines[self.active]
        if end == "freeze":
            self._away.freeze()
        elif end == "hush":
            line.is_silent = True
        else:
            line.delay_s = SLOW_S
        return before, now_ms()

    stop = kill
    waited_ms = 0

    def kept_waiting_ms(self) -> int:
        """Return 0: how long hosts wait for a core is measured where there is one."""
        return 0

    @property
    def said(self) -> list[str]:
        """What they said."""
        return [line for host in self.all for line in host.said]

    def terminate(self) -> None:
        """Ask them to stop."""
        for host in self.all:
            host.terminate()

    def wait(self) -> int:
        """Wait for their end; give the worst exit status."""
        return max(host.wait() for host in self.all)

    def close(self) -> None:
        """End those that have not ended, and the balancer."""
        self._balancer.close()
        for host in self.all:
            host.close()
        for line in self._lines.values():
            line.close()


class Line:
    """A way to ports of this machine, to the first that listens; it can be silent, slow, or cut."""

    def __init__(self, *ports: int) -> None:
        self.port = free_port()
        self.dialled: list[int] = []
        """Where each connection went to."""
        self.is_silent = False
        self.is_mute = False
        """Whether only what is asked is lost."""
        self.is_cut = False
        self.delay_s = 0.0
        """Of answers."""
        self._ports = ports
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None] | None] = set()

    async def open(self) -> None:
        """Pass connections on from now on."""
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._passing.add(task := asyncio.current_task())
        with closing(writer), suppress(OSError, asyncio.CancelledError):
            for port in () if self.is_cut else self._ports:
                with suppress(OSError):
                    there, back = await asyncio.open_connection("127.0.0.1", port)
                    self.dialled.append(port)
                    await asyncio.gather(
                        self._carry(reader, back), self._carry(there, writer, answers=True)
                    )
                    break
        self._passing.discard(task)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        with closing(writer), suppress(OSError):
            while data := await reader.read(65_536):
                if self.is_silent or (self.is_mute and not answers):
                    continue
                await asyncio.sleep(self.delay_s * answers)
                writer.write(data)

    def cut(self) -> None:
        """End all connections, and let none in until ``is_cut`` is false again."""
        self.is_cut = True
        for task in self._passing:
            if task is not None:
                task.cancel()

    def close(self) -> None:
        """Pass no more connections on."""
        if self._server is not None:
            self._server.close()
        self.cut()


def free_port() -> int:
    """Return a port of loopback that is free."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
