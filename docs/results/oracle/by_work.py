"""Run a command of tilewire whose clocks go by the work that is done, not by time.

So a turn of 2 s is the same work on every machine, whatever else it does, and the same command with
the same seed prints the same again:

    PYTHONPATH=.:tests python docs/results/oracle/by_work.py experiment oracle …

A millisecond is that of one core of the machine of these pages, rounded.
"""

from __future__ import annotations

import importlib
import sys

from corpus.by_work import WorkClock

clock = WorkClock()
clock.install()  # before anything of the product is imported

COSTS_MS = (
    ("engine.simulation.simulation", "Simulation", 0.1),  # a rollout
    ("engine.endgame.solver", "EndgameSolver", 0.01),  # a node
    ("engine.preendgame.solver", "PreEndgame", 0.01),  # a node
    ("engine.inference.inference", "Inference", 0.04),  # a rack
)

for module, name, ms in COSTS_MS:  # in each process of --workers, whose clocks stand still else
    clock.follow(getattr(importlib.import_module(module), name), ms)

if __name__ == "__main__":
    sys.argv[0] = "tilewire"
    importlib.import_module("harness.cli").main()
