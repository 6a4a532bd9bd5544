"""``bench faults``, ``server`` and ``deadlines``: conversations, and time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from harness.cli.failing import CommandFailed
from harness.cli.options import Duration, JsonOption, equip, log_to_stderr, say
from harness.cli.study_run import show_figures, show_rows
from harness.figures import figure_rows, table

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
    show_rows({"calls": calls}, json_)


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
    show_figures(asyncio.run(measure_load(connections, rate, seconds, searching)), json_)


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
            _print_deadlines(summary(asking, answers), playing.json_)


def _print_deadlines(bench: DeadlineBench, as_json: bool) -> None:
    if as_json:
        show_figures(bench, as_json)
        return
    totals = {name: value for name, value in vars(bench).items() if name != "spans"}
    print(table(("figure", "value"), figure_rows(totals)), end="\n\n")
    show_rows({"spans": bench.spans}, as_json)
    print("\nIn milliseconds; over is after the end of the budget, below 0 before it.")


def _tell_of(moves: int) -> Callable[[int], None]:
    """Return a function that reports every hundredth move."""

    def tell(done: int) -> None:
        if done % 100 == 0:
            say(f"{done:,} of {moves:,} moves")

    return tell
