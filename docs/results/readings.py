"""Print how the games (GCG) of a folder are read: strictly, with notices, or refused, and why.

``PYTHONPATH=. python docs/results/readings.py FOLDER``. A game is read by English rules, else by
those that read it with three notices at most. Only names of files and reasons are printed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from engine.notation.gcg import GcgError, Notice, read_gcg, write_gcg
from engine.notation.replaying import as_computed, replay
from engine.rules.rule_sets import load_rules, rule_set_names

RULES = sorted(rule_set_names(), key=lambda name: name != "english")


def read(data: bytes, name: str, notices: list[Notice] | None) -> str:
    """Read and replay a game, and the game that is written of it; return why it is refused."""
    try:
        gcg = read_gcg(data, notices)
        written = write_gcg(as_computed(gcg, replay(gcg, load_rules(name), notices)))
    except GcgError as error:
        return str(error)
    try:
        replay(read_gcg(written), load_rules(name))
    except GcgError as error:
        print(f"  written again it is not strict: {error}")
    return ""


def main(folder: Path) -> None:
    """Print a line for each game that is not read strictly, and the numbers."""
    counts: Counter[str] = Counter()
    for path in sorted(path for path in folder.rglob("*.gcg") if path.is_file()):
        data, name = path.read_bytes(), str(path.relative_to(folder))
        if not all(read(data, rules, None) for rules in RULES):
            counts["read strictly"] += 1
            continue
        notices = {rules: list[Notice]() for rules in RULES}
        refused = {rules: read(data, rules, notices[rules]) for rules in RULES[:1]}
        if refused[RULES[0]]:
            refused |= {rules: read(data, rules, notices[rules]) for rules in RULES[1:]}
        best = min(refused, key=lambda rules: (refused[rules] != "", len(notices[rules])))
        if refused[best] or (best != RULES[0] and len(notices[best]) > 3):
            counts["refused"] += 1
            print(f"{name}: refused: {refused[RULES[0]]}")
        else:
            counts["read with notices"] += 1
            told = [str(notice) for notice in notices[best]]
            more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
            print(f"{name}: {told[0]}{more}")
    print(*(f"{counts[what]} {what}" for what in counts), sep="; ")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
