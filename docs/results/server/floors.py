"""How the memory of a soak's pieces grows, and how its floor does: the least of each fifth.

An attack takes memory for as long as it lasts, and for up to ten seconds more. The least of a fifth
of a piece's games leaves that out, and so does the median; a slope through all samples does not.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np

from harness.figures import number, table
from harness.lab.bench.soak import WARM_UP, Sample

FIFTHS = 5


def read(path: Path) -> list[Sample]:
    """Read the samples of ``soak.jsonl``, or of one that is packed."""
    packed = path.suffix == ".xz"
    with lzma.open(path, "rt") if packed else path.open(encoding="utf-8") as file:
        return [Sample(**json.loads(line)) for line in file]


def rows(samples: list[Sample]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each piece."""
    for piece, group in groupby(samples, key=lambda sample: sample.piece):
        on = [sample for sample in group if sample.left is None]
        games = np.array([sample.games for sample in on])
        memory = np.array([sample.memory_mb for sample in on])
        fifth = np.minimum(FIFTHS * games // games[-1], FIFTHS - 1)
        slopes = (
            np.polyfit(games[later] / 1_000, memory[later], 1)[0]
            for later in (games >= share * games[-1] for share in (WARM_UP, 0.5))
        )
        yield (
            str(piece),
            number(int(games[-1]), 0),
            *(number(float(slope), 2, sign=True) for slope in slopes),
            " ".join(number(float(memory[fifth == each].min()), 1) for each in range(FIFTHS)),
            " ".join(number(float(np.median(memory[fifth == each])), 1) for each in range(FIFTHS)),
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    head = ("piece", "games", "MB a thousand", "second half", "least of each fifth", "medians")
    print(table(head, list(rows(read(parser.parse_args().file)))))


if __name__ == "__main__":
    main()
