"""Games of scripted engines (``standin.py``), and what is left of them."""

from __future__ import annotations

import asyncio
import secrets
import shlex
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from passing_seats import Passer
from rollout_positions import scowl

from bot.seat_text import parse_seat
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.seats.engines import Context, engine_for
from harness.seats.engines.engine_seat import EngineSeat
from lexicons.store import Lexicon
from protocol.parts import Accusation, TimeControl

STANDIN = Path(__file__).with_name("standin.py")

LONG = TimeControl(initial_ms=60_000, max_overtime_ms=0, ready_ms=60_000)
"""For games that end by themselves."""
SHORT = TimeControl(initial_ms=250, max_overtime_ms=0, ready_ms=60_000)
"""For games that end with their clock."""
HASTY = TimeControl(initial_ms=1_000, ready_ms=60_000)
"""For little time a turn and much before the game is lost: with overtime."""

ENDS = [
    ("illegal", LONG, "zeroes", ["not_on_rack"] * 3),
    ("score", LONG, "zeroes", ["wrong_score"] * 3),
    ("crash-search", LONG, "crash", ["crash", "crash"]),
    ("crash-start", LONG, "no_show", ["crash", "crash", "no_show"]),
    ("hang+deaf+children", SHORT, "time", ["time"]),
    ("flood", SHORT, "time", ["time"]),
    ("half", SHORT, "time", ["time"]),
]
"""How games of MAGPIE and of Quackle end, of either: what is wrong with the engine, the clocks, the
outcome, and the charges.
"""


class EngineGames:
    """Seats and games of stand-ins in one test; all that they start bears a mark.

    Args:
        folder: for journals and logs.
        dialect: what they speak.
        program: the stand-in of that dialect.
    """

    def __init__(self, folder: Path, dialect: str = "siu", program: Path = STANDIN) -> None:
        self.folder = folder
        self.dialect = dialect
        self.program = program
        self.data = Path()
        """The engine's folder of data, where its dialect has one."""
        self.mark = f"stand-in-{secrets.token_hex(8)}"
        self.log = folder / "heard.txt"
        self.lexicon = scowl()

    def command(self, **told: object) -> list[str]:
        """Return the command of a stand-in that is told something."""
        words = {"mark": self.mark, "log": self.log} | told
        start = [sys.executable, "-I", "-S", str(self.program), self.dialect]
        return [*start, *(f"{key.rstrip('_')}={value}" for key, value in words.items())]

    def seat(self, query: str = "", **told: object) -> str:
        """Return the text of a seat; ``query`` has its options, ``told`` is for the stand-in."""
        program = shlex.join(self.command(**told)).replace("%", "%25").replace("?", "%3F")
        options = [urlencode({"name": "engine"})]
        options += [f"data={self.data}"] if self.data.name else []
        return f"{self.dialect}:{program}?{'&'.join([*options, query] if query else options)}"

    def engine(self, query: str = "", **told: object) -> Any:
        """Return the adapter of such a seat, in a match with eight threads."""
        spec = parse_seat(self.seat(query, **told))
        return engine_for(spec, Context("engine", "scowl", self.lexicon, threads=8))

    async def play(self, seat: str, time: TimeControl = LONG) -> Scorebook:
        """Play a game of the engine, which moves first, against one that passes."""
        engine = engine_seat(seat, self.lexicon)
        book = await play_engine(engine, Passer(), time, self.lexicon, self.folder)
        assert not self.left(), "no process is left when a game is over"
        return book

    async def check_end(
        self, seat: str, time: TimeControl, outcome: str, charged: list[str]
    ) -> tuple[Accusation, ...]:
        """Play a game of an engine that exchanges tiles, and check its end; give the charges."""
        book = await self.play(seat, time)
        assert book.ended is not None
        assert (book.ended.outcome, [one.code for one in book.ended.faults]) == (outcome, charged)
        if outcome == "zeroes":
            assert [len(turn.move) for turn in book.turns] == [2, 1, 2, 1, 1, 1]
        else:
            assert book.ended.winner == 1
        return book.ended.faults

    def heard(self) -> list[str]:
        """Return the lines that stand-ins were told."""
        return self.log.read_text(encoding="utf-8").splitlines()

    def left(self) -> list[str]:
        """List the command lines of the processes that are left."""
        return list(marked(self.mark).values())

    async def until_there_are(self, processes: int) -> None:
        """Wait for so many; one that is just becoming another program bears no mark."""
        for _ in range(1_000):
            if len(self.left()) == processes:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{processes} processes are expected; there are {self.left()}")


def engine_seat(text: str, lexicon: Lexicon) -> EngineSeat:
    """Create an engine's seat as a match would."""
    spec = parse_seat(text)
    context = Context(spec.name, lexicon.name, lexicon)
    return EngineSeat(spec.name, lambda: engine_for(spec, context), lexicon)


async def play_engine(
    first: Seat, second: Seat, time: TimeControl, lexicon: Lexicon, folder: Path
) -> Scorebook:
    """Play a game, usually of an engine; its processes are gone when this returns."""
    opened = new_game((first.name, second.name), lexicon, time, Draws.seeded(1, 1))
    book = Scorebook(opened, lexicon)
    with closing(Journal(folder / f"{opened.game}.db")) as journal:
        await journal.create(opened, {})
        async with LagMeter() as lag:
            await GameHost(book, (first, second), journal, lag).run()
    return book


def marked(mark: str) -> dict[int, str]:
    """Return the command lines that have a mark in them, by process."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes()
        except OSError:  # it has just ended
            continue
        if mark.encode() in line:
            found[int(entry.parent.name)] = line.replace(b"\0", b" ").decode(errors="replace")
    return found
