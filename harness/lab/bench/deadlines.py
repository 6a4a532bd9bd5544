"""Whether a seat moves in time when every core is busy, measured at the arbiter.

A process like those of matches is asked for moves in positions of static games, while other
processes of the same niceness keep the cores busy (``harness.lab.asking``). Its limit for a move is
here called *budget*.

Budgets are log-uniform. In three of four games the budget is the cap of a turn, with a long time on
the clock; in the fourth it is the whole clock, as at the game's start, so a seat with more turns to
come spends only a part.
"""

from __future__ import annotations

import asyncio
import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from bot.equipment import Equipment
from bot.seat.worker_main import NICENESS
from bot.seat_text import parse_seat
from engine.rules.moves import PASS
from harness.lab.asking import STDERR_S, Asker
from harness.lab.positions import varied_situations
from harness.lab.rows import Column, percent
from harness.lab.study_context import Field
from harness.seats.seat_factory import SeatMaker
from protocol.channel import ChannelClosed

_ON_CLOCK_EVERY = 4
_SPAN_ENDS_MS = (50, 100, 200, 500, 1_000)
_BURN = """
import os, sys
os.nice(int(sys.argv[1]))
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@dataclass(frozen=True)
class DeadlineSettings:
    """The settings of a measurement."""

    bot: str
    equipment: Equipment
    moves: int
    load: int
    """Busy processes beside the seat."""
    from_ms: int
    to_ms: int
    seed: int


@dataclass(frozen=True)
class TimedAnswer:
    """A move."""

    budget_ms: int
    took_ms: float
    on_clock: bool
    """Whether the budget was the whole clock."""
    bag: int
    choices: int
    """Moves besides the pass: 0, 1, or 2 for more."""
    illegal: str = ""
    """The move and the reason it is illegal."""


@dataclass(frozen=True)
class Span:
    """Answers to budgets of one kind, in milliseconds; p50, p90, p99 and max of each."""

    budgets: Annotated[str, Column("budget")]
    moves: Annotated[int, Column("moves")]
    late: Annotated[int, Column("late")]
    overshoot_ms: Annotated[Mapping[str, float], Column("over")]
    """Negative: in time."""
    unused_ms: Annotated[Mapping[str, float], Column("unused")]
    unused_share: Annotated[float, percent("unused share")]
    """Mean share of the budgets; late answers used all."""


@dataclass(frozen=True)
class DeadlineBench:
    """The results of a measurement."""

    bot: str
    moves: int
    late: int
    illegal: int
    illegal_moves: list[str]
    load: int
    niceness: int
    from_ms: int
    to_ms: int
    seed: int
    empty_bag: int
    low_bag: int
    """Positions with 1 to 6 tiles in the bag."""
    one_move: int
    only_pass: int
    spans: Sequence[Span]


async def ask_for_moves(
    settings: DeadlineSettings,
    field: Field,
    answers: list[TimedAnswer],
    tell: Callable[[int], object],
) -> None:
    """Ask a seat for moves; append each answer when it comes.

    ``field`` matches the seat's equipment; ``tell`` gets the number of answers after each.

    Raises:
        SeatError: the seat's text is invalid.
        ChannelClosed: the seat's process ended, or does not answer.
    """
    situations = varied_situations(field, settings.moves, settings.seed)
    asker, generator = Asker(field), field.generator()
    chance = random.Random(f"budgets {settings.seed}")
    ends = math.log(settings.from_ms), math.log(settings.to_ms)
    spec = parse_seat(settings.bot)
    maker = SeatMaker(spec, spec.name, settings.equipment, seed=settings.seed)
    worker = await maker.worker()
    try:
        with _busy(settings.load):
            for number, situation in enumerate(situations):
                budget_ms = round(math.exp(chance.uniform(*ends)))
                on_clock = number % _ON_CLOCK_EVERY == _ON_CLOCK_EVERY - 1
                game = f"deadline-{number}"
                move = await asker.ask(
                    worker.channel, game, situation, budget_ms, on_clock=on_clock
                )
                best = generator.best(situation.position, 2)
                choices = 0 if best[0].move == PASS else len(best)
                answers.append(
                    TimedAnswer(
                        budget_ms, move.took_ms, on_clock, situation.bag, choices, move.illegal
                    )
                )
                tell(len(answers))
    except ChannelClosed as closed:
        await asyncio.sleep(STDERR_S)
        words = worker.stderr_tail.strip()
        raise ChannelClosed(f"{closed}{': ' if words else ''}{words[-1_000:]}") from None
    finally:
        await worker.kill()
        await maker.close()


@contextmanager
def _busy(load: int) -> Iterator[None]:
    """Keep cores busy with processes as nice as a seat's, each in a session of its own, too."""
    command = [sys.executable, "-c", _BURN, str(NICENESS)]
    with ExitStack() as stack:
        for _ in range(load):
            process = stack.enter_context(subprocess.Popen(command, start_new_session=True))
            stack.callback(process.kill)
        yield


def summary(settings: DeadlineSettings, answers: Sequence[TimedAnswer]) -> DeadlineBench:
    """Summarize answers, at least one."""
    illegal = [answer.illegal for answer in answers if answer.illegal]
    a_turn = [answer for answer in answers if not answer.on_clock]
    by_name = {
        "all": answers,
        "of the clock": [answer for answer in answers if answer.on_clock],
        "of a turn": a_turn,
    }
    for low, high in zip((0, *_SPAN_ENDS_MS), (*_SPAN_ENDS_MS, math.inf), strict=True):
        name = f"of a turn, {low} to {high} ms" if high < math.inf else f"of a turn, from {low} ms"
        by_name[name] = [answer for answer in a_turn if low <= answer.budget_ms < high]
    spans = [_span(name, some) for name, some in by_name.items() if some]
    return DeadlineBench(
        bot=settings.bot,
        moves=len(answers),
        late=spans[0].late,
        illegal=len(illegal),
        illegal_moves=illegal[:10],
        load=settings.load,
        niceness=NICENESS,
        from_ms=settings.from_ms,
        to_ms=settings.to_ms,
        seed=settings.seed,
        empty_bag=sum(answer.bag == 0 for answer in answers),
        low_bag=sum(1 <= answer.bag <= 6 for answer in answers),
        one_move=sum(answer.choices == 1 for answer in answers),
        only_pass=sum(answer.choices == 0 for answer in answers),
        spans=spans,
    )


def _span(name: str, answers: Sequence[TimedAnswer]) -> Span:
    budgets = np.array([answer.budget_ms for answer in answers])
    overshoot = np.array([answer.took_ms for answer in answers]) - budgets
    unused = np.maximum(-overshoot, 0)
    marks = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
    over, left = (
        {mark: round(float(np.quantile(values, at)), 2) for mark, at in marks.items()}
        for values in (overshoot, unused)
    )
    return Span(
        budgets=name,
        moves=len(answers),
        late=int((overshoot > 0).sum()),
        overshoot_ms=over,
        unused_ms=left,
        unused_share=round(float((unused / budgets).mean()), 4),
    )
