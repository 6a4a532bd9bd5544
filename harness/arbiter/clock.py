"""Tournament clocks: values that are given elapsed milliseconds and read no time themselves.

Tournament rules: 25 minutes a side, 10 points per minute of overtime begun, and a loss beyond the
overtime limit. Online there is an increment instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

import msgspec

from harness.config_file import in_words
from protocol.parts import TimeControl

MINUTE_MS = 60_000
DAY_S = 86_400.0
LOCAL_READY_MS = 120_000
"""Time for local players to get ready: to start a process, to load words and tables."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A player's clock between turns.

    ``remaining_ms`` falls below zero in overtime. ``turns`` counts the player's finished turns.
    """

    remaining_ms: int
    turns: int = 0

    def limit(self, control: TimeControl) -> int:
        """Return how many milliseconds the turn that begins now may take, inclusive."""
        bank = self.remaining_ms + control.max_overtime_ms
        if control.move_cap_ms is not None:
            bank = min(bank, control.move_cap_ms)
        if self.turns == 0 and control.first_move_ms is not None:
            bank = min(bank, control.first_move_ms)
        return max(bank, 0) + control.margin_ms

    @staticmethod
    def charge(elapsed_ms: int, control: TimeControl, round_trip_ms: int = 0) -> int:
        """Return the cost of a turn in milliseconds."""
        return max(0, elapsed_ms - min(round_trip_ms, control.lag_ms))

    def penalty(self, control: TimeControl) -> int:
        """Return the points lost to overtime; a minute begun counts whole."""
        if not control.max_overtime_ms:
            return 0  # below zero only within the free margin
        overtime_ms = max(0, -self.remaining_ms)
        minutes = -(-overtime_ms // MINUTE_MS)
        return minutes * control.overtime_penalty


def check_time_control(control: TimeControl) -> None:
    """Raise ValueError if a time is out of bounds, or there are both an increment and overtime."""
    values = msgspec.to_builtins(control)
    try:
        msgspec.convert(values, TimeControl)
    except msgspec.ValidationError as error:
        wrong = in_words(str(error), values, TimeControl)
        raise ValueError(f"no such time control: {wrong}") from None
    if control.increment_ms and control.max_overtime_ms:
        raise ValueError(
            f"an increment ({control.increment_ms} ms) and overtime "
            f"({control.max_overtime_ms} ms) don't go together: set one of them to 0"
        )


def lag_quota_ms(initial_ms: int, hosts: Iterable[str]) -> int:
    """Return the lag in milliseconds that a turn is not charged.

    It is enough for a network, and too little to be worth faking: 0.15 s plus 0.4 % of the initial
    time, at most 1 s (as on lichess); 0 if no host is remote.
    """
    if all(is_loopback(host) for host in hosts):
        return 0
    return min(1_000, 150 + initial_ms * 4 // 1_000)


def is_loopback(host: str) -> bool:
    """Return whether a host, given by name or address, is this machine's loopback."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
