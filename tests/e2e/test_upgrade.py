"""A server that is replaced under play, again and again: another goes on where it ended."""

from __future__ import annotations

from pathlib import Path

from e2e.crashes import Ordeal

UPGRADES = 3
ROUNDING_MS = 1


async def test_no_game_move_or_clock_is_harmed(tmp_path: Path) -> None:
    ordeal = Ordeal(tmp_path, upgrades=True)
    await ordeal.run(UPGRADES, measured=UPGRADES)
    print(f"{ordeal.games} games, moves in flight: {dict(ordeal.in_flight)}", ordeal.restored)
    assert not ordeal.problems, "\n".join(ordeal.problems)
    assert len(ordeal.restored) >= UPGRADES
    for one in ordeal.restored:
        # The clock goes on from what it showed at some time between the signal and the end.
        assert -one.width_ms - ROUNDING_MS <= one.above_ms <= ROUNDING_MS, one
