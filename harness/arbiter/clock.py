"""Tournament clocks: values that are given elapsed milliseconds and read no time themselves.

The rules are those of tournament play (25 minutes a side, 10 points for each minute of overtime
begun, a largest overtime that loses the game) or, online, an increment instead of overtime. See
``protocol.parts.TimeControl`` for what each number means.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

import msgspec

from protocol.parts import TimeControl

__all__ = ["LOCAL_READY_MS", "Clock", "TurnLimit", "check_time_control", "lag_quota_ms"]

MINUTE_MS = 60_000
LOCAL_READY_MS = 120_000
"""Time to get ready for built-in players, which compile when they first play: two at once take a
minute on slow machines."""


class TurnLimit(NamedTuple):
    """The longest that a turn may take, and the outcome of taking longer."""

    ms: int
    """Milliseconds from the start of the turn; taking exactly as long is in time."""
    outcome: str
    """``time`` or ``no_show``."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A player's clock between its turns.

    ``remaining_ms`` falls below zero in overtime. ``turns`` counts the player's finished turns.
    """

    remaining_ms: int
    turns: int = 0

    def limit(self, control: TimeControl) -> TurnLimit:
        """Return how long the turn that begins now may take."""
        bank = self.remaining_ms + control.max_overtime_ms
        if control.move_cap_ms is not None:
            bank = min(bank, control.move_cap_ms)
        outcome = "time"
        if self.turns == 0 and control.first_move_ms is not None and control.first_move_ms < bank:
            bank, outcome = control.first_move_ms, "no_show"
        return TurnLimit(max(bank, 0) + control.margin_ms, outcome)

    def after(self, elapsed_ms: int, control: TimeControl, lag_ms: int = 0) -> Clock:
        """Return the clock after a turn.

        Args:
            elapsed_ms: from the start of the turn to the arrival of the move.
            control: the rules in force.
            lag_ms: time on the way, as measured; at most ``control.lag_ms`` of it is not charged.
        """
        charged = self.charge(elapsed_ms, control, lag_ms)
        return Clock(self.remaining_ms - charged + control.increment_ms, self.turns + 1)

    @staticmethod
    def charge(elapsed_ms: int, control: TimeControl, lag_ms: int = 0) -> int:
        """Return what a turn costs, in milliseconds."""
        return max(0, elapsed_ms - min(lag_ms, control.lag_ms))

    def penalty(self, control: TimeControl) -> int:
        """Return the points that overtime costs; a minute begun is a minute."""
        if not control.max_overtime_ms:
            return 0  # below zero then only within the margin, which is free
        overtime_ms = max(0, -self.remaining_ms)
        minutes = -(-overtime_ms // MINUTE_MS)
        return minutes * control.overtime_penalty


def check_time_control(control: TimeControl) -> None:
    """Check a time control.

    Raises:
        ValueError: a time is out of bounds, or there are both an increment and overtime.
    """
    try:
        msgspec.convert(msgspec.to_builtins(control), TimeControl)
    except msgspec.ValidationError as error:
        raise ValueError(f"no such time control: {error}") from None
    if control.increment_ms and control.max_overtime_ms:
        raise ValueError(
            f"an increment ({control.increment_ms} ms) and overtime "
            f"({control.max_overtime_ms} ms) don't go together: set one of them to 0"
        )


def lag_quota_ms(initial_ms: int, hosts: Iterable[str]) -> int:
    """Return the lag that a turn is not charged: enough for a network, too little to be faked.

    0.15 s and 0.4 % of the whole time, at most 1 s (the rule that lichess arrived at); 0 if all
    hosts are this machine, since there is no network to make up for.
    """
    if all(_is_loopback(host) for host in hosts):
        return 0
    return min(1_000, 150 + initial_ms * 4 // 1_000)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
