"""Rollouts a second of processor time, beside MAGPIE's with word maps: one position, in turn.

    python docs/results/speed/beside_magpie.py MAGPIE DATA

MAGPIE is its program, DATA its data folder with the embedded lexicon as ``lexica/scowl.kwg``,
``.klv2`` and ``.wmp`` (docs/engines.md). Both sample 15 candidates equally, in one thread, in the
position of ``tilewire bench sim``. Each row has medians of RUNS runs that took turns.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from engine.movegen.candidates import best_candidates
from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.rules.rules import standard_rules
from engine.simulation.simulation import Simulation
from harness.lab.bench.sim import MID_GAME
from harness.lab.study_context import Field
from lexicons.store import load_lexicon
from lexicons.tables import win_probabilities_for

RUNS = 5
CANDIDATES = 15
ROLLOUTS: Final = {2: 30_000, 4: 15_000}
"""Of a run of ours, by plies."""
EACH = 500
"""Of each candidate in a run of MAGPIE's."""
KNOWN_AS = "CELscowl"
"""The embedded lexicon, by a name that tells MAGPIE that its tiles are English."""
SETTINGS = (
    f"-numplays {CANDIDATES} -threads 1 -sr rr -thres none -wmp true -rit false -mode sync "
    f"-savesettings false -hr false -shprompt false -printonfinish true -lex {KNOWN_AS}"
)


class Magpie:
    """MAGPIE's console, asked for simulations of the position."""

    def __init__(self, program: str, data: Path, folder: Path) -> None:
        lexica = folder / "data" / "lexica"
        lexica.mkdir(parents=True)
        for part in ("layouts", "letterdistributions", "strategy"):
            (folder / "data" / part).symlink_to(data / part)
        for kind in ("kwg", "klv2", "wmp"):
            (lexica / f"{KNOWN_AS}.{kind}").symlink_to(data / "lexica" / f"scowl.{kind}")
        self._process = subprocess.Popen(
            [program, "set", *SETTINGS.split()],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._ask(f"cgp {MID_GAME}", "finished cgp")

    def rate(self, plies: int) -> float:
        """Return rollouts a second of processor time."""
        self._ask(f"set -plies {plies}", "finished set")
        began = self._processor_s()
        said = self._ask(f"gsim -iterations {EACH * CANDIDATES}", "finished gsim")
        return int(said[1]) / (self._processor_s() - began)

    def _ask(self, command: str, end: str) -> re.Match[str]:
        """Send a command; return the number of iterations that its answer tells, if any."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None, "it is a pipe"
        assert stdout is not None, "it is a pipe"
        stdin.write(command + "\n")
        told = re.match("()", "")
        for line in stdout:
            told = re.match(r"Iters: +(\d+)", line) or told
            if line.startswith("(error"):
                sys.exit(f"MAGPIE, told {command!r}: {line}")
            if line.startswith(end):
                break
        assert told is not None, "the empty match, or a number"
        return told

    def _processor_s(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Ours:
    """tilewire's simulation of the same."""

    def __init__(self) -> None:
        self._field = Field.of(load_lexicon(), standard_rules())
        rules = self._field.rules
        self._position = read_cgp(MID_GAME, rules)
        self._generator = Generator(self._field.lexicon, rules, self._field.leaves)
        self.rate(2)  # compiles

    def rate(self, plies: int) -> float:
        """Return rollouts a second of processor time."""
        simulation = Simulation(
            [self._generator],
            self._position,
            best_candidates(self._generator, self._position, CANDIDATES),
            win_probabilities_for(self._field.rules.distribution),
            plies=plies,
            rule="equal",
            limit=ROLLOUTS[plies],
        )
        began = time.process_time()
        return simulation.advance(ROLLOUTS[plies]) / (time.process_time() - began)


if __name__ == "__main__":
    ours = Ours()
    print("| turns after a candidate | tilewire | MAGPIE, word maps | ratio, least and most |")
    print("| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        magpie = Magpie(sys.argv[1], Path(sys.argv[2]), Path(folder))
        for plies in ROLLOUTS:
            runs = [(ours.rate(plies), magpie.rate(plies)) for _ in range(RUNS)]
            first, second = (median(rates) for rates in zip(*runs, strict=True))
            ratios = sorted(own / other for own, other in runs)
            print(
                f"| {plies} | {first:,.0f} | {second:,.0f} | {median(ratios):.2f} × "
                f"({ratios[0]:.2f}–{ratios[-1]:.2f}) |"
            )
