"""A player whose process fails, and which says when: to a port of loopback, by UDP."""

from __future__ import annotations

import os
import socket
import time

from bot.player import Budget, Choice, Player, View


class Dies(Player):
    """Ends its process when it is to move."""

    def __init__(self, port: str) -> None:
        self._port = int(port)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Send the time, in nanoseconds of the machine's monotonic clock, and end."""
        with socket.socket(type=socket.SOCK_DGRAM) as news:
            news.sendto(str(time.monotonic_ns()).encode(), ("127.0.0.1", self._port))
        os._exit(3)
