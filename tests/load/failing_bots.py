"""Players whose process fails, and which say when: to a port of loopback, by UDP."""

from __future__ import annotations

import os
import signal
import socket
import time

from bot.player import Budget, Choice, Player, View
from engine.rules.moves import PASS


class Dies(Player):
    """Ends its process when it is to move."""

    def __init__(self, port: str) -> None:
        self._port = int(port)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Send the time, in nanoseconds of the machine's monotonic clock, and fail."""
        with socket.socket(type=socket.SOCK_DGRAM) as news:
            news.sendto(str(time.monotonic_ns()).encode(), ("127.0.0.1", self._port))
        self._fail()
        return Choice(PASS)

    def _fail(self) -> None:
        os._exit(3)


class Hangs(Dies):
    """Stops its process when it is to move, as a debugger would."""

    def _fail(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
