"""``bench selfplay``, ``generate``, ``sim`` and ``infer``: the engine alone."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from harness.cli.failing import CommandFailed
from harness.cli.field import load_chances
from harness.cli.study_run import show_figures, show_rows

from .playing import Playing

if TYPE_CHECKING:
    from harness.lab.bench.selfplay import Bench
    from harness.lab.study_context import Field

__all__ = ["generate", "infer", "selfplay", "sim"]


def selfplay(*, games: int = 2_000, playing: Playing | None = None) -> None:
    """Play games between two static players; print how many a second.

    Args:
        games: How many.
        playing: With what.
    """
    from harness.lab.bench.selfplay import measure_selfplay

    playing = playing or Playing()
    show_figures(playing.measure(measure_selfplay, games), playing.json_)


def generate(*, games: int = 200, playing: Playing | None = None) -> None:
    """List all placements in each position of static games; print how long one takes.

    Args:
        games: Whose positions; each thread has some of its own.
        playing: With what.
    """
    from harness.lab.bench.selfplay import measure_generation

    playing = playing or Playing()
    show_figures(playing.measure(measure_generation, games), playing.json_)


def sim(
    *,
    rollouts: int = 10_000,
    candidates: int = 15,
    plies: int | None = None,
    position: str | None = None,
    stages: Annotated[bool, Parameter(negative="")] = False,
    playing: Playing | None = None,
) -> None:
    """Simulate a position; print how many rollouts of a candidate are made a second.

    Args:
        rollouts: How many in each of five runs, whose median is printed.
        candidates: How many moves of the highest static equity are rolled out, each as often.
        plies: Turns after a candidate. [default: 2, and then 4]
        position: A position (CGP). [default: one in mid-game]
        stages: Simulate eight positions of each stage of the game instead.
        playing: With what.
    """
    playing = playing or Playing()
    if stages and position is not None:
        raise CommandFailed("--stages has positions of its own; leave --position out")
    from harness.lab.bench.sim import MID_GAME, Simulating, measure_sim, measure_stages

    def measure(field: Field, rollouts: int, threads: int, seed: int) -> Bench:
        depths = (2, 4) if plies is None else (plies,)
        what = Simulating(load_chances(field, playing.winprob), candidates, depths, rollouts)
        if stages:
            return measure_stages(field, what, threads, seed)
        return measure_sim(field, what, position or MID_GAME, threads, seed)

    show_figures(playing.measure(measure, rollouts), playing.json_)


def infer(*, plays: int = 20, playing: Playing | None = None) -> None:
    """Work out what plays tell that keep two to five tiles; print how long it takes.

    Args:
        plays: How many of each.
        playing: With what; in one thread.
    """
    from harness.lab.bench.infer import measure_infer

    playing = playing or Playing()
    try:
        found = measure_infer(playing.field(), plays, playing.seed)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    if playing.json_:
        print(json.dumps(dataclasses.asdict(found)))
        return
    show_rows({"all": found.rows, "within budget": found.within_budget}, as_json_text=False)
    print(
        "All leaves; below as many of five tiles as 0.3 s allow. The sample is the effective size."
    )
