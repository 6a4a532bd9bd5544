"""A server attacked, watched, idle, wronged and soaked: figures of ``docs/results/server.md``.

    PYTHONPATH=.:tests .venv/bin/python -m load.run attack --seconds 4
    PYTHONPATH=.:tests .venv/bin/python -m load.run watch
    PYTHONPATH=.:tests .venv/bin/python -m load.run idle --seconds 6 --connections 10000
    PYTHONPATH=.:tests .venv/bin/python -m load.run soak --out FOLDER --seconds 7200 --seed 1
    PYTHONPATH=.:tests .venv/bin/python -m load.run faults

Each starts a server on loopback, and ends it.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

import structlog
import uvloop
from load import attack, faults, idle, soak, watch
from load.attackers import ATTACKS

from harness.figures import table


async def measure(given: argparse.Namespace) -> tuple[Sequence[str], list[list[str]]]:
    """Do what is asked for; return the head of a table, and its rows."""
    match given.what:
        case "attack":
            return attack.HEAD, await attack.attack(given.attack or ATTACKS, given.seconds)
        case "watch":
            return watch.HEAD, await watch.watch(given.pages, given.rounds)
        case "idle":
            return idle.HEAD, [await idle.idle(given.connections, given.seconds)]
        case "soak":
            return soak.HEAD, [await soak.soak(given.out, given.seconds, given.seed)]
        case _:
            return faults.HEAD, await faults.faults()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is asked for, and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="what", required=True)
    attacks = commands.add_parser("attack", help="what two honest bots notice of attacks")
    attacks.add_argument("--attack", action="append", choices=ATTACKS, help="may be repeated")
    attacks.add_argument("--seconds", type=float, default=10.0, help="for each, and its control")
    watched = commands.add_parser("watch", help="what players notice of pages that watch")
    watched.add_argument("--pages", type=int, default=500)
    watched.add_argument("--rounds", type=int, default=5)
    idling = commands.add_parser("idle", help="what idle connections and messages cost")
    idling.add_argument("--connections", type=int, default=3_000)
    idling.add_argument("--seconds", type=float, default=20.0, help="of messages")
    soaking = commands.add_parser("soak", help="what hours of bots and attacks leave behind")
    soaking.add_argument("--out", type=Path, required=True, help="a new folder")
    soaking.add_argument("--seconds", type=float, default=7_200.0)
    soaking.add_argument("--seed", type=int, default=1)
    commands.add_parser("faults", help="how soon each kind of misconduct has its verdict")
    given = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("error"))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(table(*runner.run(measure(given))))


if __name__ == "__main__":
    main()
