"""``kill -9`` of the serving process in mid-game, again and again, while bots play and return."""

from __future__ import annotations

from pathlib import Path

from e2e.crashes import Ordeal
from e2e.kills import shown

KILLS = 4
ALLOWED_MS = 300
ROUNDING_MS = 1
"""Two readings of a clock in whole milliseconds differ from the time between them by up to one."""


async def test_kills_lose_nothing(tmp_path: Path) -> None:
    ordeal = Ordeal(tmp_path)
    await ordeal.run(KILLS, measured=KILLS + 1, thought_ms=ALLOWED_MS + 1)
    print(shown(ordeal))
    assert not ordeal.problems, "\n".join(ordeal.problems)
    assert len(ordeal.restored) > KILLS, "too few kills came in the middle of a turn"
    assert max(one.thought_ms for one in ordeal.restored) > ALLOWED_MS, "nobody thought for long"
    for one in ordeal.restored:
        # The clock's truth lies between above_ms and above_ms + width_ms below what was restored.
        assert one.above_ms + one.width_ms >= -ROUNDING_MS, f"a clock below the truth: {one}"
        # What programs beside it took from the host is not the host's to promise.
        allowed_ms = ALLOWED_MS + one.waited_ms + ROUNDING_MS
        assert one.above_ms <= allowed_ms, f"a clock too far above it: {one}"
