"""The ordeal of ``test_kill9``, longer: more kills, more games at once.

    PYTHONPATH=.:tests .venv/bin/python -m e2e.kills --kills 100 --games 8 --seed 1
    PYTHONPATH=.:tests .venv/bin/python -m e2e.kills --kills 20 --games 8 --upgrade
    PYTHONPATH=.:tests .venv/bin/python -m e2e.kills --kills 50 --games 12 --hosts

Prints what was lost or doubled, how soon the host was back, and the worst clocks.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from e2e.crashes import Ordeal
from postgres import cluster


def shown(ordeal: Ordeal) -> str:
    """Return what an ordeal came to, the worst clocks first."""
    lines = [
        f"{ordeal.kills} kills, {ordeal.games} games, {ordeal.plays} acknowledged plays; "
        f"moves in flight: {dict(ordeal.in_flight)}",
        f"listens again after {_spread(ordeal.up_ms)}",
        f"every guest has its game again after {_spread([*ordeal.back_ms.values()])}",
        f"the guests' own process stood still for {ordeal.stood_ms} ms at most",
        "kill  thought   down  clock above the truth, and how long the host waited for a core",
    ]
    lines += [
        f"{one.kill:>4} {one.thought_ms:>5} ms {one.down_ms:>4} ms"
        f"  {one.above_ms:>+4} ms, at most {one.above_ms + one.width_ms:+} ms"
        f"  {one.waited_ms:>4} ms"
        for one in sorted(ordeal.restored, key=lambda one: -one.above_ms)
    ]
    return "\n".join([*lines[:15], "   …", *lines[15:][-3:]])


def _spread(times_ms: list[int]) -> str:
    times = sorted(times_ms)
    return f"{times[0]} to {times[-1]} ms, half of the times within {times[len(times) // 2]} ms"


def main() -> None:
    """Run an ordeal; fail if anything that was acknowledged is lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--games", type=int, default=8, help="at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--upgrade", action="store_true", help="end it in good order, for another version to go on"
    )
    parser.add_argument(
        "--hosts", action="store_true", help="three on one PostgreSQL, behind HAProxy"
    )
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        database = stack.enter_context(cluster()).database() if given.hosts else None
        ordeal = Ordeal(Path(folder), given.games, given.seed, given.upgrade, database)
        asyncio.run(ordeal.run(given.kills))
    print(shown(ordeal))
    print("\n".join(ordeal.problems) or "nothing lost, nothing doubled, all games finished")
    sys.exit(1 if ordeal.problems else 0)


if __name__ == "__main__":
    main()
