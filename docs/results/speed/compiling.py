"""Print what compiling costs: by kernel, each alone in a process, and by seat, from nothing.

``PYTHONPATH=. .venv/bin/python docs/results/speed/compiling.py`` (10 minutes); ``--runs 1`` is
quicker, ``--seats`` leaves the kernels out.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from lexicons.kernel_cache import KernelName, kernels_of

SEATS = {"static": ["static"], "greedy": ["greedy"], "champion": ["champion"], "all": []}
_ALONE = """
import sys, time
from importlib import import_module
from lexicons.jit import compile_alone
module, name = sys.argv[1:]
import_module(module)
began = time.process_time()
compile_alone(module, name, wait=True)
print(time.process_time() - began)
"""


def alone_s(kernel: KernelName) -> float:
    """Return the processor time to compile a kernel in a process with nothing compiled."""
    with tempfile.TemporaryDirectory() as cache:
        told = subprocess.run(
            [sys.executable, "-c", _ALONE, kernel.module, kernel.name],
            env=os.environ | {"TILEWIRE_CACHE": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(told.stdout)


def warm_s(seats: Sequence[str], cache: Path) -> tuple[float, float]:
    """Return wall and processor time of ``tilewire warm``, with word graphs but no kernels."""
    shutil.rmtree(cache / "kernels", ignore_errors=True)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    tilewire = Path(sys.executable).with_name("tilewire")
    environment = os.environ | {"TILEWIRE_CACHE": str(cache)}
    subprocess.run([tilewire, "warm", *seats], env=environment, capture_output=True, check=True)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended - began, spent


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seats", action="store_true", help="by seat only")
    given = parser.parse_args()
    if not given.seats:
        print(f"{'kernel':44}{'CPU s':>8}")
        for kernel in kernels_of(["bot.players.champion", "engine.simulation.selfplay"]):
            spent = median(alone_s(kernel) for _ in range(given.runs))
            print(f"{f'{kernel.module}.{kernel.name}':44}{spent:8.1f}", flush=True)
        print()
    print(f"{'seat':10}{'kernels':>8}{'wall s':>8}{'CPU s':>8}")
    with tempfile.TemporaryDirectory() as cache:
        warm_s(["static"], Path(cache))  # builds the word graph
        for name, seats in SEATS.items():
            runs = [warm_s(seats, Path(cache)) for _ in range(given.runs)]
            wall, spent = (median(figures) for figures in zip(*runs, strict=True))
            count = len(list(Path(cache, "kernels").rglob("*.kernel")))
            print(f"{name:10}{count:8}{wall:8.1f}{spent:8.1f}", flush=True)


if __name__ == "__main__":
    main()
