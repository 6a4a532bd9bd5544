"""Players for measurements: one that thinks hard, and two whose process fails."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from bot.player import Budget, Choice, Player, View
from engine.rules.moves import PASS


class Burner(Player):
    """Searches for moves for ``ms`` milliseconds, like a simulating player, and passes."""

    def __init__(self, ms: str = "1000") -> None:
        self._ms = int(ms)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Keep one core busy with move generation."""
        from engine.movegen.generator import legal_moves

        until = time.monotonic() + self._ms / 1_000
        while time.monotonic() < until and not budget.expired:
            legal_moves(view.position, view.lexicon, view.rules)
        return Choice(PASS)


class _Stamping(Player):
    """Records the time of its failure: nanoseconds of the machine's monotonic clock."""

    def __init__(self, stamp: str) -> None:
        self._stamp = Path(stamp)

    def _write(self) -> None:
        self._stamp.write_text(str(time.monotonic_ns()))


class Dies(_Stamping):
    """Ends its process when it is to move."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """End the process."""
        self._write()
        os._exit(3)


class Hangs(_Stamping):
    """Stops its process when it is to move."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Stop the process, as a debugger would."""
        self._write()
        os.kill(os.getpid(), signal.SIGSTOP)
        return Choice(PASS)
