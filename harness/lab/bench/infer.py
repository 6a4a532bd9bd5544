"""How long inference takes on this machine, in one thread, with warm kernels.

The plays are static choices in games between static players, each in a game of its own, seen by an
opponent with a random rack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from statistics import median
from typing import Annotated

import numpy as np

from bot.search.analysis.inferred import look
from engine.inference.equity_loss import Judges, OpponentPlay
from engine.inference.likelihood import MODELS, Model, Style
from engine.rules.moves import Place
from engine.rules.position import unseen
from harness.lab.positions import situation_in_play
from harness.lab.rows import Column, percent
from harness.lab.study_context import Field, ready
from lexicons.alphabet import as_tiles

KEPT = (2, 3, 4, 5)
BUDGET_S = 0.3
_ALL = 1 << 30  # racks
_MOST_GAMES = 10_000  # for a play


@dataclass(frozen=True)
class InferRow:
    """Plays that keep one number of tiles, judged by one model."""

    kept: Annotated[int, Column("kept")]
    model: Annotated[str, Column("model")]
    plays: Annotated[int, Column("plays")]
    leaves: Annotated[float, Column("leaves", decimals=0)]
    """Mean number looked at."""
    ms: Annotated[float, Column("ms")]
    """Median per play."""
    most_ms: Annotated[float, Column("most ms")]
    us_a_leaf: Annotated[float, Column("µs a leaf", decimals=2)]
    """Over all plays."""
    surviving: Annotated[float, percent("survive")]
    """The share of leaves still possible; all with the soft model."""
    effective: Annotated[float, Column("sample", decimals=0)]
    """Median of the effective sample size."""


@dataclass(frozen=True)
class InferBench:
    """Rows for all leaves, and for as many leaves of five tiles as 0.3 seconds allow."""

    seed: int
    lexicon: str
    rows: list[InferRow]
    within_budget: list[InferRow]


def measure_infer(field: Field, plays: int, seed: int) -> InferBench:
    """Measure plays of each number of tiles kept.

    Raises:
        ValueError: too few games have such plays.
    """
    ready()
    seen = {kept: list(islice(_plays(field, kept, seed), plays)) for kept in KEPT}
    judges = Judges(field.lexicon, field.rules, field.leaves)
    models = [MODELS["deterministic"], MODELS["soft"]]
    for some in seen.values():  # loads from disk what is read lazily
        look(judges, *some[0], Style.of(models[0]), racks=_ALL)
    return InferBench(
        seed=seed,
        lexicon=field.lexicon.name,
        rows=[_row(judges, seen[kept], model, None) for kept in KEPT for model in models],
        within_budget=[_row(judges, seen[KEPT[-1]], model, BUDGET_S) for model in models],
    )


_Seen = tuple[OpponentPlay, tuple[int, ...]]


def _plays(field: Field, kept: int, seed: int) -> Iterator[_Seen]:
    """Yield plays that keep this many tiles, and the tiles unseen by the opponent.

    Raises:
        ValueError: none of 10,000 games in a row has one.
    """
    rules = field.rules
    generator = field.generator()
    yielded = -1
    for number in count():
        if number > yielded + _MOST_GAMES:
            raise ValueError(f"none of {_MOST_GAMES:,} games has a play that keeps {kept} tiles")
        position = situation_in_play(field, seed, number).position
        best = generator.best(position)[0]
        seat = position.on_turn
        held = len(position.racks[seat])
        hidden = np.array(unseen(position, seat, rules))
        bag = int(hidden.sum()) - rules.rack_size
        if not isinstance(best.move, Place) or len(best.leave) != kept or bag < 1:
            continue
        chance = np.random.default_rng((seed, number))
        rack = as_tiles(chance.multivariate_hypergeometric(hidden, rules.rack_size).tolist())
        counts = unseen(position.with_rack(1 - seat, rack), 1 - seat, rules)
        yielded = number
        yield OpponentPlay(position.board, best.move, best.score, held, bag), counts


def _row(judges: Judges, plays: list[_Seen], model: Model, budget_s: float | None) -> InferRow:
    style = Style.of(model)
    timings = [look(judges, *seen, style, racks=_ALL, seconds=budget_s) for seen in plays]
    looked = [len(posterior.leaves) for posterior, _ in timings]
    total = sum(looked)
    seconds = [took for _, took in timings]
    return InferRow(
        kept=plays[0][0].kept,
        model=model.name,
        plays=len(plays),
        leaves=round(float(np.mean(looked)), 1),
        ms=round(1_000 * median(seconds), 2),
        most_ms=round(1_000 * max(seconds), 2),
        us_a_leaf=round(1e6 * sum(seconds) / total, 2),
        surviving=round(sum(item.surviving for item, _ in timings) / total, 4),
        effective=round(median(item.effective for item, _ in timings), 1),
    )
