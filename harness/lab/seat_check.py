"""Check whether a bot plays at all: legal moves in all phases of a game, their time, its memory.

The seat lives in a process of its own, as in a match. If that ends, another is started for the next
position; after the second time only a position of each phase that had none is asked.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from bot.equipment import Equipment
from bot.player import Observed
from bot.search.analysis.questions import as_seen
from bot.seat.game_registry import game_seed
from bot.seat.guard import descendants
from bot.seat_text import parse_seat
from engine.movegen.generator import RankedMove
from engine.notation.cgp import write_cgp
from engine.rules.moves import PASS, Exchange
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Draws, Failed, new_game
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.arbiter.scorebook import Scorebook
from harness.lab.asking import LONG_MS, STDERR_S, Asker
from harness.lab.in_process import dealt, last_turn
from harness.lab.positions import Situation
from harness.lab.rows import Column
from harness.lab.study_context import Field
from harness.seats.seat_factory import SeatMaker, player_seed
from harness.seats.seats import Worker, WorkerFailed, last_words
from lexicons.alphabet import BLANK
from protocol.channel import ChannelClosed
from protocol.parts import TimeControl

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

SEED = 1
_GAMES = range(246, 546)  # with the embedded words games 246 and 291 have one legal move
_LATE_BAG = 7
_MOST_ENDS = 2
_GRACE_S = 10.0
_TRACEBACK = "Traceback (most recent call last):\n"


@dataclass(frozen=True)
class Asked:
    """A position, and what the bot did there; or a whole game, its score and longest turn."""

    phase: Annotated[str, Column("position")]
    bag: Annotated[int, Column("bag")]
    move: Annotated[str, Column("move")]
    """Empty: none came."""
    took_ms: Annotated[float | None, Column("time", unit=" ms")]
    problem: str
    """What is wrong, or empty; for an exception, what and where it was, and the author's lines."""
    printed: str
    """What the bot printed meanwhile."""
    position: str
    """CGP; of a game, that of the bot's first fault, if it was on turn."""
    turn: int
    """The number of the turn; of a game without a fault, of its last."""
    seed: int
    """That of the view."""


@dataclass(frozen=True)
class SeatCheck:
    """The results of a check."""

    bot: str
    asked: list[Asked]
    """Positions, and games."""
    left_out: int
    """Positions not asked, since its process had ended too often, and their phase had one."""
    start_s: float | None
    """From the start of its process until it was ready; None: no move came."""
    memory_mb: float | None
    """The most that one of its processes held at once; None: not known on this system."""

    @property
    def problems(self) -> list[Asked]:
        """Positions and games in which something went wrong."""
        return [asked for asked in self.asked if asked.problem]

    @property
    def slowest(self) -> Asked | None:
        """The position, or game, with the longest turn."""
        timed = [asked for asked in self.asked if asked.took_ms is not None]
        return max(timed, key=lambda asked: asked.took_ms or 0.0, default=None)


async def check_seat(
    bot: str,
    equipment: Equipment,
    field: Field,
    limit_ms: int,
    games: int,
    notice: Callable[[str], None],
    compile_first: Callable[[Iterable[str]], None],
    asked: list[Asked],
) -> SeatCheck:
    """Ask a local seat for a move in each phase of games, and have it play whole ``games``.

    ``notice`` is told of slow work; ``compile_first`` compiles modules; ``asked`` grows meanwhile.

    Raises:
        SeatError: the seat's text is invalid, or its player can't be loaded or made.
        OSError: no process can be started.
        JournalError: a game can't be kept while it is played.
    """
    spec, texts, last_words = parse_seat(bot), list[str](), list[str]()

    def pass_on(sentence: str) -> None:
        own = sentence.removeprefix(f"{spec.name}: ")
        (notice if own == sentence else last_words.append)(own)

    maker = SeatMaker(spec, spec.name, equipment, seed=SEED, notice=pass_on, printed=texts.append)
    compile_first(await maker.try_out())
    seat = _Seat(maker, field, limit_ms, texts, last_words)
    planned = situations(field)
    phase, turn, cgp, game = "", 0, "", ""
    try:
        for number, (phase, situation) in enumerate(planned):
            turn, game = len(situation.turns) + 1, f"check-{number}"
            cgp = write_cgp(situation.position, field.rules)
            if seat.ends < _MOST_ENDS or all(each.phase != phase for each in asked):
                asked.append(await seat.ask(game, phase, situation))
        left_out = len(planned) - len(asked)
        for number in range(1, games + 1):
            phase, cgp = f"game {number}", ""
            asked.append(await seat.play(number))
    except asyncio.CancelledError:
        if last_words:  # such as where a move that never comes is looked for
            stderr, seed = "\n".join(last_words), seat.seed(game)
            asked.append(Asked(phase, 0, "", None, stderr, "", cgp, turn, seed))
        raise
    finally:
        await seat.close()
        await maker.close()
    return SeatCheck(bot, asked, left_out, seat.start_s, seat.memory_mb)


@dataclass(eq=False)
class _Seat:
    """A seat that is asked; ``texts`` grow with what it prints, ``last_words`` with its errors."""

    maker: SeatMaker
    field: Field
    limit_ms: int
    texts: list[str]
    last_words: list[str]
    ends: int = 0
    start_s: float | None = None
    memory_mb: float | None = None
    _worker: Worker | None = None

    def __post_init__(self) -> None:
        self._asker = Asker(self.field)

    async def ask(self, game: str, phase: str, situation: Situation) -> Asked:
        """Ask for a move, in a game of its own."""
        began = time.perf_counter()
        self.last_words.clear()
        move, took_ms = "", None
        try:
            if self._worker is None:
                self._worker = await self.maker.worker()
            patience_s = self.limit_ms / 1_000 + _GRACE_S
            answer = await self._asker.ask(
                self._worker.channel, game, situation, self.limit_ms, patience_s=patience_s
            )
            move, took_ms, problem = answer.move, answer.took_ms, answer.illegal
            if not problem and took_ms > self.limit_ms:
                problem = f"it took longer than {self.limit_ms:,} ms"
            if self.start_s is None:
                self.start_s = time.perf_counter() - began - took_ms / 1_000
        except ChannelClosed as closed:
            self.ends += 1
            if isinstance(closed, WorkerFailed):
                problem = f"{closed}; {closed.evidence}"
            else:
                assert self._worker is not None
                await asyncio.sleep(STDERR_S)
                why, printed = last_words(self._worker.stderr_tail, self.maker.name)
                await self.close()
                problem = why or printed or str(closed)
        peaks = peak_memory_mb(), self.memory_mb  # that of a process that ended counts, too
        self.memory_mb = max((peak for peak in peaks if peak is not None), default=None)
        position = write_cgp(situation.position, self.field.rules)
        printed = await self._printed(is_cut=not move)
        turn, seed = len(situation.turns) + 1, self.seed(game)
        return Asked(phase, situation.bag, move, took_ms, problem, printed, position, turn, seed)

    def seed(self, game: str) -> int:
        return game_seed(player_seed(SEED, self.maker.name), game)

    async def play(self, number: int) -> Asked:
        """Play a whole game against ``greedy``, as in a match, with a cap on each move."""
        self.last_words.clear()
        rival = SeatMaker(parse_seat("greedy"), "greedy", self.maker.equipment, seed=SEED)
        me, words = (number + 1) % 2, self.field.lexicon
        makers = (rival, self.maker) if me else (self.maker, rival)
        seats = makers[0].open(words, number), makers[1].open(words, number)
        clock = TimeControl(initial_ms=LONG_MS, move_cap_ms=self.limit_ms, max_overtime_ms=0)
        names, draws = (seats[0].name, seats[1].name), Draws.seeded(SEED, number)
        name, rules = f"check-game-{number}", self.field.rules
        opened = new_game(names, words, clock, draws, name, rules=rules_on_wire(rules))
        book = Scorebook(opened, words)
        with TemporaryDirectory() as folder, closing(Journal(Path(folder) / "game.db")) as journal:
            async with LagMeter() as lag:
                await journal.create(opened, {})
                ended = await GameHost(book, seats, journal, lag).run()
            records = next(journal.finished()).records
        await rival.close()
        faults = [f"{fault.code}: {fault.message}" for fault in ended.faults if fault.seat == me]
        evidence = [
            text.partition("\n")[2].partition("\nexit status: ")[0] for text in book.evidence
        ]
        problem = "\n".join(dict.fromkeys(evidence or faults or self.last_words))
        how = {None: "tied", me: "won"}.get(ended.winner, "lost")
        result = f"{how} {ended.scores[me]}–{ended.scores[1 - me]}"
        longest_ms = max((turn.think_ms for turn in book.turns if turn.seat == me), default=None)
        printed = await self._printed(is_cut=bool(evidence))
        is_fine = [not isinstance(record, Failed) or record.seat != me for record in records]
        until = Scorebook.restored(records[: [*is_fine, False].index(False)], None, words)
        bag, phase, position = book.bag_count, f"game {number}", ""
        if until.game and until.game.over is None and until.game.position.on_turn == me:
            position = write_cgp(as_seen(until.game.position), rules)
        turn, seed = len(until.turns) + bool(position), self.seed(name)
        return Asked(phase, bag, result, longest_ms, problem, printed, position, turn, seed)

    async def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.kill()

    async def _printed(self, *, is_cut: bool) -> str:
        """Return what was printed since the last call; cut, up to our traceback."""
        for _ in range(10):  # turns of the loop, which reads the pipe
            await asyncio.sleep(0)
        text = "".join(self.texts)
        self.texts.clear()
        return text.partition(_TRACEBACK)[0] if is_cut else text


def situations(field: Field) -> list[tuple[str, Situation]]:
    """Return positions of static games, each with its phase: as planned, if the words allow it."""
    order, left = list(PLANNED), Counter(PLANNED)
    drawn: list[tuple[str, Situation]] = []
    generator = field.generator()
    for number in _GAMES:
        wanted: dict[str, Situation] = {}
        game, turns = dealt(field.rules, b"check %d" % number), list[Observed]()
        while game.over is None:
            best = generator.best(game.position, 2)
            situation = Situation(as_seen(game.position), len(game.bag), tuple(turns))
            phase = _phase(situation, best)
            if left[phase] and len(turns) >= (phase == "middle") * (number % 8):
                wanted.setdefault(phase, situation)
            game = game.play(best[0].move, field.lexicon.graph.contains)
            turns.append(last_turn(game))
        if wanted:  # one of each game, the rarest, so that they differ
            phase = max(wanted, key=order.index)
            left[phase] -= 1
            drawn.append((phase, wanted[phase]))
        if not left.total():
            break
    return sorted(drawn, key=lambda each: order.index(each[0]))


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
