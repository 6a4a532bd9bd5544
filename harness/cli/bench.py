"""``tilewire bench``."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from ..figures import duration, number, share, table
from .failing import CommandFailed
from .field import load_chances
from .options import Duration, JsonOption, equip, log_to_stderr, say
from .playing import SYNTHETIC, Playing

if TYPE_CHECKING:
    from ..bench.deadlines import DeadlineBench
    from ..bench.selfplay import Bench
    from ..field import Field

__all__ = ["app"]

app = App(name="bench", help="Measure what this machine does; nothing is asserted.")

_ENDGAMES = {
    "endgame": "Solve endgames; print how soon they are proven, and how good values are before.",
    "endgame-check": "See whether proven values are right: by plain minimax, and by each other.",
}
for _name, _help in _ENDGAMES.items():
    app.command(f"harness.cli.endings:{_name.replace('-', '_')}", name=_name, help=_help)


@app.command
def faults(*, json_: JsonOption = False) -> None:
    """Misbehave on real sockets, and as a foreign engine; print each outcome and how soon it came.

    Args:
        json_: Print one JSON object.
    """
    from ..bench.engines import call_engine_faults
    from ..bench.faults import call_faults

    log_to_stderr(verbose=False)
    calls = [*asyncio.run(call_faults()), *asyncio.run(call_engine_faults())]
    if json_:
        print(json.dumps([dataclasses.asdict(call) for call in calls]))
        return
    rows = [
        (
            call.case,
            call.outcome + ("" if call.outcome == call.expected else f" (not {call.expected})"),
            "–" if call.late_ms is None else f"{call.late_ms} ms",
            call.what,
        )
        for call in calls
    ]
    print(table(("case", "outcome", "called after", "counted from"), rows))


@app.command
def siu(
    *, engine: str | None = None, tries: int = 20, seed: int = 0, json_: JsonOption = False
) -> None:
    """See how soon an SIU engine is up, and how soon it stops when it is told to.

    Args:
        engine: Its command; by default our own.
        tries: So many searches of each mode are stopped.
        seed: For how long each goes on.
        json_: Print one JSON object.
    """
    from ..adapters.process import EngineFailed
    from ..bench.siu import OURS, measure_siu

    if tries < 1:
        raise CommandFailed(f"--tries {tries}: it is 1 or more")
    try:
        command = OURS if engine is None else shlex.split(engine)
        found = asyncio.run(measure_siu(command, tries, seed))
    except (EngineFailed, ValueError, OSError) as error:
        raise CommandFailed(str(error), status=1) from None
    if json_:
        print(json.dumps([dataclasses.asdict(one) for one in found]))
        return
    rows = [(one.what, str(one.tries), duration(one.ms), duration(one.most_ms)) for one in found]
    print(table(("", "tries", "median", "most"), rows))


@app.command
def server(
    *,
    connections: int = 200,
    rate: float = 1_000.0,
    seconds: float = 15.0,
    searching: int = 2,
    json_: JsonOption = False,
) -> None:
    """Load a server with small messages while seats search; print the round trips.

    Args:
        connections: How many at once.
        rate: Messages a second, all connections together.
        seconds: How long.
        searching: Seats that search meanwhile.
        json_: Print one JSON object.
    """
    from ..bench.load import measure_load

    log_to_stderr(verbose=False)
    load = asyncio.run(measure_load(connections, rate, seconds, searching))
    if json_:
        print(json.dumps(dataclasses.asdict(load)))
        return
    rows = [(name, str(value)) for name, value in dataclasses.asdict(load).items()]
    print(table(("figure", "value"), rows))


@app.command
def selfplay(*, games: int = 2_000, playing: Playing | None = None) -> None:
    """Play games between two static players; print how many a second.

    Args:
        games: How many.
        playing: With what.
    """
    from ..bench.selfplay import measure_selfplay

    playing = playing or Playing()
    _print(playing.measure(measure_selfplay, games), as_json=playing.json_)


@app.command
def generate(*, games: int = 200, playing: Playing | None = None) -> None:
    """List all placements in each position of static games; print how long one takes.

    Args:
        games: Whose positions; each thread has some of its own.
        playing: With what.
    """
    from ..bench.selfplay import measure_generation

    playing = playing or Playing()
    _print(playing.measure(measure_generation, games), as_json=playing.json_)


@app.command
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
    from ..bench.sim import MID_GAME, Simulating, measure_sim, measure_stages

    def measure(field: Field, rollouts: int, threads: int, seed: int) -> Bench:
        depths = (2, 4) if plies is None else (plies,)
        what = Simulating(load_chances(field, playing.winprob), candidates, depths, rollouts)
        if stages:
            return measure_stages(field, what, threads, seed)
        return measure_sim(field, what, position or MID_GAME, threads, seed)

    _print(playing.measure(measure, rollouts), as_json=playing.json_)


@app.command
def infer(*, plays: int = 20, playing: Playing | None = None) -> None:
    """Work out what plays tell that keep two to five tiles; print how long it takes.

    Args:
        plays: How many of each.
        playing: With what; in one thread.
    """
    from ..bench.infer import measure_infer

    playing = playing or Playing()
    try:
        found = measure_infer(playing.field(), plays, playing.seed)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    if playing.json_:
        print(json.dumps(dataclasses.asdict(found)))
        return
    heads = ("kept", "model", "plays", "leaves", "ms", "most ms", "µs a leaf", "survive", "sample")
    for rows in (found.rows, found.within_budget):
        cells = [
            (
                str(one.kept),
                one.model,
                str(one.plays),
                f"{one.leaves:,.0f}",
                number(one.ms),
                number(one.most_ms),
                number(one.us_a_leaf, 2),
                share(one.surviving),
                f"{one.effective:,.0f}",
            )
            for one in rows
        ]
        print(table(heads, cells), end="\n\n" if rows is found.rows else "\n")
    print(
        "All leaves; below as many of five tiles as 0.3 s allow. The sample is the effective size."
    )


@app.command
def deadlines(
    *,
    bot: str = "champion",
    moves: int = 2_000,
    load: int = 2,
    from_: Annotated[Duration, Parameter(name="--from")] = 20,
    to: Duration = 2_000,
    playing: Playing | None = None,
) -> None:
    """Ask a seat for moves while all cores are busy; print how much of its time it leaves unused.

    Args:
        bot: The seat.
        moves: How many to ask for.
        load: Processes that keep cores busy, as nice as that of the seat.
        from_: The shortest time for a move.
        to: The longest; each order of magnitude between them is as likely.
        playing: With what, whole words and no table that is made up; threads are the seat's.
    """
    playing = playing or Playing()
    if playing.words is not None or playing.leaves == SYNTHETIC:
        raise CommandFailed(
            "a seat loads its words and tables by name; leave --words and --leaves synthetic out"
        )
    from bot.registry import SeatError
    from protocol.channel import ChannelClosed

    from ..bench.deadlines import Answer, Asking, ask_for_moves, summary

    log_to_stderr(verbose=False)
    given = equip(playing.lexicon, playing.leaves, playing.winprob, playing.threads)
    answers: list[Answer] = []
    try:
        asking = Asking(bot, given, moves, load, from_, to, playing.seed)
        asyncio.run(ask_for_moves(asking, playing.field(), answers, _tell_of(moves)))
    except (SeatError, ValueError) as error:
        raise CommandFailed(str(error)) from None
    except ChannelClosed as closed:
        raise CommandFailed(str(closed), status=1) from None
    finally:
        if answers:
            _print_deadlines(summary(asking, answers), as_json=playing.json_)


@app.command
def adjustments(*, games: int = 20_000, playing: Playing | None = None) -> None:
    """Play with and without each adjustment of the static evaluation; print what it is worth.

    Args:
        games: How many for each, in pairs with the same draws.
        playing: With what.
    """
    from ..bench.adjustments import measure_adjustments

    playing = playing or Playing()
    found = playing.measure(measure_adjustments, games)
    if playing.json_:
        print(json.dumps([dataclasses.asdict(one) for one in found]))
        return
    rows = [
        (one.name, f"{one.spread:+.2f} ± {one.error:.2f}", f"{one.wins:.2%}", f"{one.games:,}")
        for one in found
    ]
    print(table(("with it", "points a game", "wins", "games"), rows))


def _print(bench: Bench, *, as_json: bool) -> None:
    figures = dataclasses.asdict(bench)
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
        return
    rows = [row for name, value in figures.items() for row in _rows(name, value)]
    print(table(("figure", "value"), rows))


def _print_deadlines(found: DeadlineBench, *, as_json: bool) -> None:
    figures = dataclasses.asdict(found)
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
        return
    spans = figures.pop("spans")
    rows = [row for name, value in figures.items() for row in _rows(name, value)]
    print(table(("figure", "value"), rows), end="\n\n")
    marks = ("p50", "p90", "p99", "max")
    heads = [f"{what} {mark}" for what in ("over", "unused") for mark in marks]
    lines = [
        (
            one["budgets"],
            f"{one['moves']:,}",
            f"{one['late']:,}",
            *(number(one[what][mark]) for what in ("overshoot_ms", "unused_ms") for mark in marks),
            share(one["unused_share"]),
        )
        for one in spans
    ]
    print(table(("budget", "moves", "late", *heads, "unused share"), lines))
    print("\nIn milliseconds; over is after the end of the budget, below 0 before it.")


def _tell_of(moves: int) -> Callable[[int], None]:
    """Give a function that tells of every hundredth move."""

    def tell(done: int) -> None:
        if done % 100 == 0:
            say(f"{done:,} of {moves:,} moves")

    return tell


def _rows(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(_words(f"{name}: {part}"), _text(one)) for part, one in value.items()]
    return [(_words(name), _text(value))]


def _words(name: str) -> str:
    return name.replace("_", " ").replace(" per s", " a second")


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
