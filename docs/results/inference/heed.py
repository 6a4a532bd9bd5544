"""How far a play is to be heeded, by tiles in the bag: the best power of its likelihood.

Reads games as experiments keep them, lets each player watch the other, and prints the mean
log-loss of the true leave (nats a tile, doubted by 0.1 as simulations do) if plays counted with a
power, less that with the power 1. Errors are standard errors over turns.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.inference.equity_loss import Judges
from engine.inference.likelihood import stranger
from engine.inference.rack_filter import RackFilter
from engine.rules.game import Game
from engine.rules.rules import standard_rules
from harness.figures import table
from harness.lab.studies.duel import Games
from harness.lab.studies.replayed_beliefs import ALL_LISTED, Drew, loss_of, random_share, told
from harness.lab.study_context import Field
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for

POWERS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
BAGS = ((1, 2), (3, 4), (5, 6), (7, 13), (14, 20))
DOUBT = 0.1


def games(path: Path, field: Field, most: int) -> Iterator[Game]:
    """Yield the first games of a file."""
    content = path.read_bytes()
    text = (lzma.decompress(content) if path.suffix == ".xz" else content).decode()
    first, *records = map(json.loads, text[: text.rfind("\n")].splitlines())
    for record in records[:most]:
        yield Games(tuple(record["players"]), field, first["seed"]).replayed(record)


def losses(game: Game, seat: int, judges: Judges) -> Iterator[tuple[int, list[float]]]:
    """Yield the tiles in the bag before each late play, and its loss by each power."""
    tracker = RackFilter(judges, stranger())
    for event in told(game, seat):
        if isinstance(event, Drew):
            tracker.drew(event.tiles, event.counts)
            continue
        late = event.play.bag <= BAGS[-1][1]
        looking = tracker.watch(event.play, event.counts, seed=event.number, most_listed=ALL_LISTED)
        looking.advance(20_000 if late else 2_000)
        exact = looking.posterior()
        if late and event.hides and len(exact.leaves) and not exact.is_drawn:
            random = random_share(event.leave, event.left)
            true = (exact.leaves == np.array(event.leave, np.uint8)).all(axis=1)
            shares = (float(exact.tempered(power).posterior[true].sum()) for power in POWERS)
            size = len(event.leave)
            yield event.play.bag, [loss_of(share, DOUBT, random, size) for share in shares]
        tracker.conclude(looking)


def main() -> None:
    """Print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--games", type=int, default=300, help="of each file, at most")
    given = parser.parse_args()
    rules, lexicon = standard_rules(), load_lexicon()
    field = Field.of(lexicon, rules)
    judges = Judges(lexicon, rules, leaves_for(rules.distribution))
    for path in given.files:
        found = [
            each
            for game in games(path, field, given.games)
            for seat in (0, 1)
            for each in losses(game, seat, judges)
        ]
        rows = []
        for least, most in BAGS:
            there = np.array([row for bag, row in found if least <= bag <= most])
            if not len(there):
                continue
            less = there - there[:, -1:]
            errors = less.std(axis=0) / np.sqrt(len(there))
            cells = [
                f"{mean:+.3f} ± {error:.3f}"
                for mean, error in zip(less.mean(0), errors, strict=True)
            ]
            rows.append(
                (f"{least}–{most}", f"{len(there)}", *cells[:-1], f"{there[:, -1].mean():.3f}")
            )
        heads = ["bag", "plays", *(f"{power:g}" for power in POWERS[:-1]), "at 1"]
        print(f"{path.name}\n{table(heads, rows)}\n")


if __name__ == "__main__":
    main()
