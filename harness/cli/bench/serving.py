"""``bench faults``, ``server`` and ``deadlines``: conversations, and time."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from harness.cli.failing import CommandFailed
from harness.cli.options import Duration, JsonOption, equip, log_to_stderr, say
from harness.figures import figure_rows, number, share, table

from .playing import SYNTHETIC, Playing

if TYPE_CHECKING:
    from harness.lab.bench.deadlines import DeadlineBench

__all__ = ["deadlines", "faults", "server"]


def faults(*, json_: JsonOption = False) -> None:
    """Misbehave on real sockets, and as a foreign engine; print each outcome and how soon it came.

    Args:
        json_: Print one JSON object.
    """
    from harness.lab.bench.engines import call_engine_faults
    from harness.lab.bench.faults import call_faults

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
    from harness.lab.bench.load import measure_load

    log_to_stderr(verbose=False)
    load = asyncio.run(measure_load(connections, rate, seconds, searching))
    if json_:
        print(json.dumps(dataclasses.asdict(load)))
        return
    rows = [(name, str(value)) for name, value in dataclasses.asdict(load).items()]
    print(table(("figure", "value"), rows))


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
    from harness.lab.bench.deadlines import Answer, Asking, ask_for_moves, summary
    from protocol.channel import ChannelClosed

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


def _print_deadlines(found: DeadlineBench, *, as_json: bool) -> None:
    figures = dataclasses.asdict(found)
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
        return
    spans = figures.pop("spans")
    print(table(("figure", "value"), figure_rows(figures)), end="\n\n")
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
