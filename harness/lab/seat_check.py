"""Check whether a bot plays at all: legal moves in all phases of a game, their time, its memory.

The seat lives in a process of its own, as in a match. If that ends, another is started for the next
position, up to twice.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from bot.equipment import Equipment
from bot.player import Observed
from bot.search.analysis.questions import as_seen
from bot.seat.guard import descendants
from bot.seat_text import parse_seat
from engine.movegen.generator import RankedMove
from engine.notation.cgp import write_cgp
from engine.rules.moves import PASS, Exchange
from harness.lab.asking import STDERR_S, Asker
from harness.lab.in_process import dealt, last_turn
from harness.lab.positions import Situation
from harness.lab.rows import Column
from harness.lab.study_context import Field
from harness.seats.seat_factory import SeatMaker
from harness.seats.seats import Worker, WorkerFailed, last_words
from lexicons.alphabet import BLANK
from protocol.channel import ChannelClosed

PLANNED = {
    "opening": 2,
    "middle": 4,
    "few tiles in the bag": 2,
    "an empty bag": 3,
    "a blank on the rack": 3,
    "opening, a blank on the rack": 1,
    "an exchange is best": 2,
    "two blanks on the rack": 1,
    "one legal move, or only the pass": 2,
}
"""How many positions of each phase are asked, the rarest last."""

_GAMES = range(246, 546)  # with the embedded words games 246 and 291 have one legal move
_LATE_BAG = 7
_MOST_ENDS = 3
_GRACE_S = 10.0
_TRACEBACK = "Traceback (most recent call last):\n"


@dataclass(frozen=True)
class Asked:
    """A position, and what the bot did there."""

    phase: Annotated[str, Column("position")]
    bag: Annotated[int, Column("bag")]
    move: Annotated[str, Column("move")]
    """Empty: none came."""
    took_ms: Annotated[float | None, Column("time", unit=" ms")]
    problem: str
    """What is wrong, or empty; for an exception, what and where it was, and the author's lines."""
    position: str
    """CGP."""


@dataclass(frozen=True)
class SeatCheck:
    """The results of a check."""

    bot: str
    asked: list[Asked]
    left_out: int
    """Positions not asked, since its process had ended too often."""
    start_s: float | None
    """From the start of its process until it was ready; None: no move came."""
    memory_mb: float | None
    """The most that one of its processes held at once; None: not known on this system."""

    @property
    def problems(self) -> list[Asked]:
        """Positions in which something went wrong."""
        return [asked for asked in self.asked if asked.problem]

    @property
    def slowest(self) -> Asked | None:
        """The position that took the longest."""
        timed = [asked for asked in self.asked if asked.took_ms is not None]
        return max(timed, key=lambda asked: asked.took_ms or 0.0, default=None)


async def check_seat(
    bot: str,
    equipment: Equipment,
    field: Field,
    limit_ms: int,
    notice: Callable[[str], None],
    printed: Callable[[str], object],
    compile_first: Callable[[Iterable[str]], None],
) -> SeatCheck:
    """Ask a local seat for a move in each phase of games.

    ``notice`` is told of slow work; ``printed`` takes what the bot prints, position by position;
    ``compile_first`` compiles the kernels of modules.

    Raises:
        SeatError: the seat's text is invalid, or its player can't be loaded or made.
        OSError: no process can be started.
    """
    spec = parse_seat(bot)
    prints = _Prints(printed)

    def pass_on(sentence: str) -> None:
        if not sentence.startswith(f"{spec.name}: "):
            notice(sentence)  # the last words of the bot itself are reported as a problem

    maker = SeatMaker(spec, spec.name, equipment, seed=1, notice=pass_on, printed=prints.add)
    compile_first(await maker.try_out())
    seat = _Seat(maker, Asker(field), limit_ms, prints)
    asked, planned = list[Asked](), situations(field)
    try:
        for number, (phase, situation) in enumerate(planned):
            move, took_ms, problem = await seat.ask(f"check-{number}", situation)
            position = write_cgp(situation.position, field.rules)
            asked.append(Asked(phase, situation.bag, move, took_ms, problem, position))
            if seat.ends == _MOST_ENDS:
                break
    finally:
        await seat.close()
        await maker.close()
    return SeatCheck(bot, asked, len(planned) - len(asked), seat.start_s, seat.memory_mb)


class _Prints:
    """What a bot prints, held until it has answered: when it ends, our traceback follows."""

    def __init__(self, printed: Callable[[str], object]) -> None:
        self._printed = printed
        self._texts: list[str] = []

    def add(self, text: str) -> None:
        """Take whole lines."""
        self._texts.append(text)

    def pass_on(self, *, ended: bool = False) -> None:
        """Pass on all that came; if the process ``ended``, only up to its traceback."""
        text = "".join(self._texts)
        self._texts.clear()
        if text := text.partition(_TRACEBACK)[0] if ended else text:
            self._printed(text)


class _Seat:
    def __init__(self, maker: SeatMaker, asker: Asker, limit_ms: int, prints: _Prints) -> None:
        self.ends = 0
        self.start_s: float | None = None
        self.memory_mb: float | None = None
        self._maker, self._asker, self._limit_ms = maker, asker, limit_ms
        self._prints = prints
        self._worker: Worker | None = None

    async def ask(self, game: str, situation: Situation) -> tuple[str, float | None, str]:
        """Return its move, the time in milliseconds, and what is wrong."""
        began = time.perf_counter()
        try:
            if self._worker is None:
                self._worker = await self._maker.worker()
            patience_s = self._limit_ms / 1_000 + _GRACE_S
            answer = await self._asker.ask(
                self._worker.channel, game, situation, self._limit_ms, patience_s=patience_s
            )
        except ChannelClosed as closed:
            self.ends += 1
            if isinstance(closed, WorkerFailed):
                words = f"{closed}; {closed.evidence}"
            else:
                assert self._worker is not None
                await asyncio.sleep(STDERR_S)
                why, printed = last_words(self._worker.stderr_tail, self._maker.name)
                await self.close()
                words = why or printed or str(closed)
            self._prints.pass_on(ended=True)
            return "", None, words
        self._prints.pass_on()
        if self.start_s is None:
            self.start_s = time.perf_counter() - began - answer.took_ms / 1_000
        peaks = peak_memory_mb(), self.memory_mb  # that of a process that ended counts, too
        self.memory_mb = max((peak for peak in peaks if peak is not None), default=None)
        late = answer.took_ms > self._limit_ms
        problem = f"it took longer than {self._limit_ms:,} ms" if late else ""
        return answer.move, answer.took_ms, answer.illegal or problem

    async def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.kill()
            self._prints.pass_on(ended=True)


def situations(field: Field) -> list[tuple[str, Situation]]:
    """Return positions of static games, each with its phase: as planned, if the words allow it."""
    order, left = list(PLANNED), Counter(PLANNED)
    found: list[tuple[str, Situation]] = []
    for number in _GAMES:
        wanted: dict[str, Situation] = {}
        for situation, best in _static_game(field, b"check %d" % number):
            phase = _phase(situation, best)
            if left[phase] and len(situation.turns) >= (phase == "middle") * (number % 8):
                wanted.setdefault(phase, situation)
        if wanted:  # one of each game, the rarest, so that they differ
            phase = max(wanted, key=order.index)
            left[phase] -= 1
            found.append((phase, wanted[phase]))
        if not left.total():
            break
    return sorted(found, key=lambda each: order.index(each[0]))


def _static_game(field: Field, secret: bytes) -> Iterator[tuple[Situation, list[RankedMove]]]:
    generator = field.generator()
    game, turns = dealt(field.rules, secret), list[Observed]()
    while game.over is None:
        best = generator.best(game.position, 2)
        yield Situation(as_seen(game.position), len(game.bag), tuple(turns)), best
        game = game.play(best[0].move, field.lexicon.graph.contains)
        turns.append(last_turn(game))


def _phase(situation: Situation, best: list[RankedMove]) -> str:
    position, bag = situation.position, situation.bag
    blanks = position.racks[position.on_turn].count(BLANK)
    if len(best) < 2 or best[0].move == PASS:
        return "one legal move, or only the pass"
    if blanks == 2:
        return "two blanks on the rack"
    if position.board.is_empty:
        return "opening, a blank on the rack" if blanks else "opening"
    if not bag:
        return "an empty bag"
    if isinstance(best[0].move, Exchange):
        return "an exchange is best"
    if bag <= _LATE_BAG:
        return "few tiles in the bag"
    return "a blank on the rack" if blanks else "middle"


def peak_memory_mb() -> float | None:
    """Return the peak memory of our largest descendant so far, in MiB; None off Linux."""
    peaks_mb = list[float]()
    for process in descendants(os.getpid()):
        with suppress(OSError, KeyError, ValueError):
            status = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace")
            fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
            peaks_mb.append(int(fields["VmHWM"].split()[0]) / 1_024)
    return max(peaks_mb, default=None)
