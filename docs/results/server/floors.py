"""How the memory of soaks grows, and how its floor does: the least of each fifth.

An attack takes memory for as long as it lasts, and for up to ten seconds more. The least of a fifth
of a soak's games leaves that out, and so does the median; a slope through all samples does not.
The files are ``soak.jsonl`` of ``load.run soak``, or packed ones, of a soak or several.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator
from itertools import combinations, groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from harness.figures import number, table
from harness.pictures import picture

FIFTHS = 5
WARM_UP = 0.2
"""Share of the games before memory is looked at: caches and pools fill up first."""

Sample: TypeAlias = dict[str, Any]


def read(path: Path) -> Iterator[list[Sample]]:
    """Yield the samples of each soak."""
    packed = path.suffix == ".xz"
    with lzma.open(path, "rt") if packed else path.open(encoding="utf-8") as file:
        for _, samples in groupby(map(json.loads, file), key=lambda sample: sample["piece"]):
            yield list(samples)


def row(samples: list[Sample]) -> tuple[str, ...]:
    """Return the figures of a soak."""
    on = [sample for sample in samples if sample["left"] is None]
    games = np.array([sample["games"] for sample in on])
    memory = np.array([sample["memory_mb"] for sample in on])
    fifth = np.minimum(FIFTHS * games // games[-1], FIFTHS - 1)
    slopes = (
        np.polyfit(games[later] / 1_000, memory[later], 1)[0]
        for later in (games >= share * games[-1] for share in (WARM_UP, 0.5))
    )
    return (
        str(on[0]["piece"]),
        number(int(games[-1]), 0),
        *(number(float(slope), 2, sign=True) for slope in slopes),
        " ".join(number(float(memory[fifth == each].min()), 1) for each in range(FIFTHS)),
        " ".join(number(float(np.median(memory[fifth == each])), 1) for each in range(FIFTHS)),
    )


def agreement(one: Sample, other: Sample) -> float:
    """Return the root mean square of how ratings differ, in standard errors of the difference.

    A rating stands with half the width of its 95 % interval.
    """
    both = [(one["ratings"][name], other["ratings"][name]) for name in one["ratings"]]
    ratings, widths = np.moveaxis(np.array(both), 2, 0)
    errors = np.hypot(*widths.T) / 1.96
    return float(np.sqrt(np.mean((ratings[:, 0] - ratings[:, 1]) ** 2 / errors**2)))


def draw(soaks: list[list[Sample]], path: Path) -> None:
    """Draw memory, descriptors and journal of all soaks into a PNG file."""
    drawn = {"memory_mb": "memory, MB", "descriptors": "open descriptors"}
    drawn["journal_mb"] = "journal, MB"
    with picture(path, 12, 9) as figure:
        for axis, (key, title) in zip(figure.subplots(3, 1), drawn.items(), strict=True):
            for samples in soaks:
                on = [sample for sample in samples if sample["left"] is None]
                label = f"piece {samples[0]['piece']}"
                axis.plot([each["games"] for each in on], [each[key] for each in on], label=label)
            axis.set_title(title)
            axis.grid(alpha=0.3)
        figure.axes[0].legend()
        axis.set_xlabel("games ended in the piece")


def main() -> None:
    """Print the table, and how the ratings of each two soaks agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--plot", type=Path, help="draw the samples into this PNG file")
    given = parser.parse_args()
    soaks = [samples for path in given.files for samples in read(path)]
    head = ("piece", "games", "MB a thousand", "second half", "least of each fifth", "medians")
    print(table(head, [row(samples) for samples in soaks]))
    if len(soaks) > 1:
        pairs = combinations((samples[-1] for samples in soaks), 2)
        agreements = [agreement(*pair) for pair in pairs]
        print(f"ratings differ by {min(agreements):.2f} to {max(agreements):.2f} standard errors")
    if given.plot:
        draw(soaks, given.plot)


if __name__ == "__main__":
    main()
