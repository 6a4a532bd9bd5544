"""The cost of plays by the tiles played alone, beside that with the rack that was really held.

Takes plays of recorded games by chance, one of each game, then another of each: of a part of the
rack, with tiles in the bag. With its rack a play is analysed by as many rollouts as with all racks
together that it may have been. Errors are standard errors over plays.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import numpy as np

from bot.equipment import Resources
from bot.search.analysis.findings import INTERVAL, SearchTools, analyse
from bot.search.analysis.over_racks import RACKS, analyse_over_racks
from bot.search.analysis.questions import as_seen
from engine.rules.moves import Place
from engine.rules.position import Position
from engine.rules.rules import canonical, rack_tiles, standard_rules
from harness.figures import table
from harness.lab.studies.duel import Games
from harness.lab.study_context import Field
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for


def plays(
    path: Path, field: Field, player: str | None, seed: int
) -> Iterator[tuple[Position, Place]]:
    """Yield plays of a player, or of both, and the positions that were seen before them."""
    first, *records = map(json.loads, lzma.decompress(path.read_bytes()).decode().splitlines())
    for count, record in product(range(100), records):
        games = Games(tuple(record["players"]), field, first["seed"])
        bag, fit = field.rules.distribution.total - 2 * field.rules.rack_size, []
        for at, turn in enumerate(games.replayed(record).turns):
            if isinstance(turn.move, Place):
                is_own = player in (None, record["players"][(record["number"] + at) % 2])
                if is_own and bag and len(turn.rack) > len(rack_tiles(turn.move.placed)):
                    fit.append((at, turn.move))
                bag -= len(turn.drawn)
        random.Random(f"{seed} {record['number']}").shuffle(fit)
        for at, move in fit[count : count + 1]:
            before = games.replayed(record | {"moves": record["moves"][:at]}).position
            yield as_seen(before), canonical(move, before.board)


def main() -> None:
    """Print the differences, and how often the intervals hold the true rack's cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--player", help="as the file names it; by default both")
    parser.add_argument("--plays", type=int, default=100)
    parser.add_argument("--rollouts", type=int, default=6_000, help="a play, over all racks")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rules, lexicon = standard_rules(), load_lexicon()
    field, leaves = Field.of(lexicon, rules), leaves_for(rules.distribution)
    settings = SearchTools(rules, Resources(lexicon, leaves), rollouts=given.rollouts)
    rows, every = [], plays(given.file, field, given.player, given.seed)
    for number, (position, played) in enumerate(islice(every, given.plays)):
        seat, seed = position.on_turn, given.seed + 1_000 * number
        known = position.with_rack(seat, tuple(sorted(rack_tiles(played.placed))))
        told = analyse_over_racks(replace(settings, seed=seed), known, played)
        true = analyse(replace(settings, seed=seed + RACKS), position, played)
        if told.is_known and true.is_known:
            # By equity alone drawn racks weigh the same.
            alike = replace(told, weights=(1 / len(told.each),) * len(told.each))
            costs = told.cost, (told if told.is_complete else alike).cost, true.ahead_of(played)
            units = (
                [(100 * cost.win, 100 * cost.win_error) for cost in costs],
                [(cost.equity, cost.equity_error) for cost in costs],
            )
            rows.append(units)
        if number % 10 == 9:
            print(f"{number + 1} plays", flush=True)
    print(f"{len(rows)} plays, {given.rollouts} rollouts, seed {given.seed}")
    head = ["", "by tiles", "by the rack", "difference", "by equity alone", "claimed", "± holds"]
    lines = []
    for unit, figures in zip(("chance, %", "points"), np.array(rows).swapaxes(0, 1), strict=True):
        (cost, alike, true), errors = figures[:, :, 0].T, figures[:, 0, 1]
        parts = (cost, true, cost - true, alike - true)
        cells = [f"{x.mean():.2f} ± {x.std(ddof=1) / math.sqrt(len(x)):.2f}" for x in parts]
        holds = np.abs(cost - true) <= np.maximum(INTERVAL * errors, 1e-9)
        claimed = math.sqrt(float((errors**2).sum())) / len(errors)
        lines.append((unit, *cells, f"{claimed:.2f}", f"{100 * holds.mean():.0f} %"))
    print(table(head, lines))


if __name__ == "__main__":
    main()
