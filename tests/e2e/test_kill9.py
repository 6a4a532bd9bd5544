"""``kill -9`` of the serving process in mid-game, 30 times, while remote bots play and return."""

from __future__ import annotations

from pathlib import Path

from e2e.crashes import Ordeal, Restored

KILLS = 30
ALLOWED_MS = 300
ROUNDING_MS = 1
"""Two readings of a clock in whole milliseconds differ from the time between them by up to one."""


def shown(restored: list[Restored]) -> str:
    """Print the worst first."""
    lines = ["kill  thought   down  clock above the truth"]
    lines += [
        f"{one.kill:>4} {one.thought_ms:>5} ms {one.down_ms:>4} ms"
        f"  {one.above_ms:>+4} ms, at most {one.above_ms + one.width_ms:+} ms"
        for one in sorted(restored, key=lambda one: -one.above_ms)
    ]
    return "\n".join([*lines[:11], "   …", *lines[11:][-3:]])


async def test_thirty_kills_lose_nothing(tmp_path: Path) -> None:
    ordeal = Ordeal(tmp_path)
    await ordeal.run(KILLS)
    print(f"{ordeal.games} games, moves in flight: {dict(ordeal.in_flight)}")
    print(shown(ordeal.restored))
    assert not ordeal.problems, "\n".join(ordeal.problems)
    assert ordeal.kills == KILLS
    assert len(ordeal.restored) > KILLS, "too few kills came in the middle of a turn"
    assert max(one.thought_ms for one in ordeal.restored) > ALLOWED_MS, "nobody thought for long"
    for one in ordeal.restored:
        # The clock's truth lies between above_ms and above_ms + width_ms below what was restored.
        assert one.above_ms + one.width_ms >= -ROUNDING_MS, f"a clock below the truth: {one}"
        assert one.above_ms <= ALLOWED_MS + ROUNDING_MS, f"a clock too far above it: {one}"
