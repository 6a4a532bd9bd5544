"""The long run of what the tests do in short: broken frames, and broken input of every reader.

    PYTHONPATH=.:tests .venv/bin/python -m fuzz.run frames --count 10000000 --seed 1
    PYTHONPATH=.:tests .venv/bin/python -m fuzz.run readers --count 20000 --seed 1
    PYTHONPATH=.:tests .venv/bin/python -m fuzz.run sockets --count 1000000 --seed 1

Frames are given to both codecs, as many to each; ``readers`` takes so many inputs of each reader,
or of one that ``--only`` names; ``sockets`` sends so many frames to a server, a third as many to
those who dial, and a tenth to a bridge. What came through uncaught is printed with its bytes; the
status is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

from fuzz.frames import take_broken
from fuzz.readers import Hanging, bound, readers
from fuzz.sockets import Visitors, fuzz_bridge, fuzz_dialler, fuzz_server

from protocol.codec import CODECS

AT_ONCE = 48
"""Visitors."""

SILENT_S = 300
"""A hundred pieces of input that take so long have the stack printed, and end the run."""


def run_frames(count: int, seed: int) -> int:
    """Give so many frames to codecs and sessions; return how many came through uncaught."""
    total = 0
    for codec in CODECS.values():
        chance, began = Random(f"{seed} {codec.subprotocol}"), time.process_time()
        outcomes, uncaught = take_broken(codec, chance, count // len(CODECS))
        total += _print_uncaught(uncaught)
        seconds = time.process_time() - began
        taken = f"{outcomes.total():,} frames in {seconds:.0f} s of processor time"
        print(f"{codec.subprotocol}: {taken}: {_counts(outcomes)}; uncaught: {len(uncaught)}")
    return total


def run_readers(count: int, seed: int, only: str) -> int:
    """Give so many inputs to each reader; return how many came through uncaught, or hung."""
    uncaught = 0
    with tempfile.TemporaryDirectory() as folder:
        for reader in readers():
            if only in reader.name:
                chance = Random(f"{seed} {reader.name}")
                outcomes: Counter[str] = Counter()
                worst_s, began = 0.0, time.process_time()
                for number in range(count):
                    content = reader.broken(chance)
                    if number % 100 == 0:
                        faulthandler.dump_traceback_later(SILENT_S, exit=True)
                    at = time.process_time()
                    try:
                        with bound():
                            outcomes[reader.take(content, Path(folder))] += 1
                    except (Exception, Hanging):
                        outcomes["uncaught"] += 1
                        print(f"UNCAUGHT {content[:300]!r}\n{traceback.format_exc()}", flush=True)
                    worst_s = max(worst_s, time.process_time() - at)
                uncaught += outcomes["uncaught"]
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
                seconds = time.process_time() - began
                print(
                    f"{reader.name}: {_counts(outcomes)}; {seconds:.0f} s, the longest "
                    f"{worst_s * 1_000:.0f} ms; {memory} MB",
                    flush=True,
                )
    return uncaught


async def run_sockets(count: int, seed: int) -> int:
    """Send so many frames to a server, and some to others; return how much was not caught."""
    uncaught = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, share, fuzz in (
            ("a server", 1, partial(fuzz_server, Path(folder))),
            ("who dials", 3, fuzz_dialler),
            ("a bridge", 10, partial(fuzz_bridge, Path(folder))),
        ):
            visitors = Visitors(Random(f"{seed} {what}"))
            began = time.process_time()
            await fuzz(visitors, count // share, AT_ONCE)
            uncaught += _print_uncaught(visitors.uncaught.seen)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(
                f"{what}: {_counts(visitors.sent)}; uncaught: {len(visitors.uncaught.seen)}; "
                f"{time.process_time() - began:.0f} s of processor time, {memory} MB",
                flush=True,
            )
    return uncaught


def _print_uncaught(uncaught: Sequence[str]) -> int:
    for each in uncaught[:20]:
        print(f"UNCAUGHT {each}", flush=True)
    return len(uncaught)


def _counts(outcomes: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(outcomes.items()))


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("frames", "readers", "sockets"))
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of a reader's name")
    given = parser.parse_args()
    if given.what == "frames":
        uncaught = run_frames(given.count, given.seed)
    elif given.what == "sockets":
        uncaught = asyncio.run(run_sockets(given.count, given.seed))
    else:
        uncaught = run_readers(given.count, given.seed, given.only)
    print(f"uncaught: {uncaught}")
    sys.exit(1 if uncaught else 0)


if __name__ == "__main__":
    main()
