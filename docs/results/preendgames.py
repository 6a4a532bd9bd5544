"""How soon pre-endgames of games between static players are proven.

    PYTHONPATH=. python docs/results/preendgames.py --bag 1 --positions 300 --out FILE.jsonl

Proven is that no move wins more often than the best. Seconds are those of one thread's processor
time, so that other programs count less. The file keeps a line for each position; the same command
goes on with it.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import count, islice
from pathlib import Path

from engine.endgame.solver import EndgameSolver
from engine.movegen.generator import Generator
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.preendgame.solver import PreEndgame, likely_candidates
from engine.rules.rules import standard_rules
from harness.lab.positions import situation_in_play
from harness.lab.study_context import Field
from lexicons.store import load_lexicon

LIMITS = (1, 5, 30)
MEMORY = 256 << 20
SLICE = 500  # nodes between looks at the clock


def main() -> None:
    """Prove positions, and print how many were proven in how long."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bag", type=int, required=True)
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=62)
    parser.add_argument("--most", type=float, default=LIMITS[-1], help="seconds a position")
    parser.add_argument("--within", type=int, default=10**6, help="points of lead at most")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    rules = standard_rules()
    lexicon = load_lexicon("scowl", rules.distribution)
    field = Field.of(lexicon, rules)
    generator = Generator(lexicon, rules)
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    bags = range(given.bag, given.bag + 1)
    first = json.loads(lines[-1])["number"] + 1 if lines else 0
    drawn = ((n, situation_in_play(field, given.seed, n, bags).position) for n in count(first))
    close = ((n, at) for n, at in drawn if abs(at.spread(at.on_turn)) <= given.within)
    with given.out.open("a") as out:
        for number, position in islice(close, max(0, given.positions - len(lines))):
            solver = EndgameSolver(lexicon, rules, memory=MEMORY)
            work = PreEndgame(solver, generator, position, likely_candidates(generator, position))
            began = time.process_time()
            while (spent := time.process_time() - began) < given.most and not work.is_decided:
                work.advance(SLICE)
            row = {
                "number": number,
                "cgp": write_cgp(position, rules),
                "best": format_move(work.leader().move, rules.distribution.alphabet),
                "seconds": round(spent, 2) if work.is_decided else None,
                "moves": len(work.outcomes()),
                "compared": work.compared,
                "proven": work.proven,
                "cases": work.cases,
                "win": work.leader().win,
            }
            lines.append(json.dumps(row))
            print(lines[-1], file=out, flush=True)
    found = [json.loads(line)["seconds"] for line in lines[: given.positions]]
    for limit in LIMITS:
        print(f"{sum(s is not None and s <= limit for s in found)} of {len(found)} in {limit} s")


if __name__ == "__main__":
    main()
