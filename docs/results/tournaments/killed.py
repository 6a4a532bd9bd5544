"""A round robin of six seats, killed at random moments and resumed, beside one that is left alone.

Prints whether every game is there once, and whether results, games and standings are the same:

    python docs/results/tournaments/killed.py FOLDER --games 100 --kills 20 --seed 1
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BOT = """
from bot.player import Choice, Player


class Third(Player):
    def choose(self, view, budget):
        moves = view.legal_moves()
        return Choice(moves[min(2, len(moves) - 1)].move)
"""
TIMED = {"move_ms_mean"}


def command(*arguments: object) -> list[str]:
    """Return a call of tilewire."""
    main = "from tilewire import main; main()"
    return [sys.executable, "-c", main, "tournament", *map(str, arguments)]


def play(
    folder: Path, seats: list[str], options: list[str], kills: int, chance: random.Random
) -> None:
    """Play to the end, killed so often at random moments of the first nine tenths."""
    results = folder / "results.jsonl"
    games = 15 * int(options[options.index("--games") + 1])
    moments = sorted(chance.randrange(games * 9 // 10) for _ in range(kills))
    for moment in [*moments, None]:
        begun = (folder / "match.json").exists()
        arguments = ["--resume", folder] if begun else [*seats, *options, "--out", folder]
        with subprocess.Popen(command(*arguments), stderr=subprocess.DEVNULL) as host:
            while moment is not None and lines(results) < moment:
                time.sleep(0.02)
            if moment is not None:
                time.sleep(chance.random())  # somewhere in a game, or while it starts
                host.send_signal(signal.SIGKILL)
            elif host.wait():
                sys.exit(f"the tournament in {folder} failed with {host.returncode}")


def lines(path: Path) -> int:
    """Count the lines of a file."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def outcome(folder: Path) -> tuple[Any, ...]:
    """Return what may not depend on when it was played: results, games, standings."""
    results = [json.loads(line) for line in (folder / "results.jsonl").read_bytes().splitlines()]
    numbers = [result["number"] for result in results]
    games = [
        re.sub(r"(?m)^#id .*\n", "", path.read_text(encoding="utf-8"))
        for path in sorted((folder / "games").glob("*.gcg"))
    ]
    scores = sorted(
        (result["number"], [(side["name"], side["score"]) for side in result["sides"]])
        for result in results
    )
    summary = json.loads((folder / "summary.json").read_bytes())
    standings = [
        {key: value for key, value in row.items() if key not in TIMED}
        for row in summary["standings"]
    ]
    once = sorted(numbers) == list(range(1, len(numbers) + 1))
    return (
        once,
        scores,
        games,
        standings,
        summary["cross"]
        and sorted(
            (cell["name"], cell["against"], cell["points"], cell["games"])
            for cell in summary["cross"]
        ),
    )


def main() -> None:
    """Play both, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    bot = given.folder / "third.py"
    bot.write_text(BOT)
    seats = [
        "greedy",
        "vanilla",
        "rh",
        "static",
        f"sim?iterations={given.iterations}",
        f"{bot}:Third",
    ]
    options = f"--games {given.games} --time 5m --seed {given.seed} --transport pipe".split()
    chance = random.Random(given.seed)
    began = time.monotonic()
    play(given.folder / "whole", seats, options, 0, chance)
    between = time.monotonic()
    play(given.folder / "killed", seats, options, given.kills, chance)
    whole, killed = outcome(given.folder / "whole"), outcome(given.folder / "killed")
    ended = time.monotonic()
    print(f"games: {len(whole[1])}; killed {given.kills} times: {len(killed[1])}")
    names = ("every game once", "scores", "moves and racks", "standings", "cross table")
    print(f"{names[0]}: {whole[0]} and {killed[0]}")
    for name, one, other in zip(names[1:], whole[1:], killed[1:], strict=True):
        print(f"{name}: {'the same' if one == other else 'DIFFERENT'}")
    print(f"{between - began:.0f} s left alone, {ended - between:.0f} s killed and resumed")
    print((given.folder / "killed" / "summary.txt").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
