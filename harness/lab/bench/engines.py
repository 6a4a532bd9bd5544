"""Misconduct of foreign engines: the outcome of each kind, and the delay until it was known.

Each case is a game, with a journal, of a failing SIU engine (``misfit.py``) against a seat that
passes; the time is taken where that seat gets the verdict.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

from bot.seat_text import parse_seat
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Came, Report, Said, Seat
from harness.seats.engines import Context, engine_for
from harness.seats.engines.engine import STALL_S
from harness.seats.engines.engine_seat import EngineSeat
from lexicons.store import Lexicon, load_lexicon
from protocol.channel import now_ms
from protocol.errors import PeerError
from protocol.messages import GameOver, Message, Move, NewGame, Ready, Started, YourTurn
from protocol.parts import TimeControl

from .faults import Call

__all__ = ["Passes", "call_engine_faults", "engine_seat", "play_engine"]

SHORT = TimeControl(initial_ms=1_000, max_overtime_ms=0, ready_ms=1_500)
LONG = TimeControl(initial_ms=1_000)
"""Its overtime lets a hanging engine be detected before its time is over."""

_MISFIT = Path(__file__).with_name("misfit.py")


class Passes:
    """A seat that gets ready, and always passes."""

    is_ours = False

    def __init__(self, name: str = "passes") -> None:
        self.name = name
        self.began_ms = 0
        self.over_ms = 0
        self._report: Report = lambda _happening: None

    def start(self, report: Report) -> None:
        """Begin."""
        self._report = report
        report(Came())

    def restart(self) -> None:
        """Do nothing: it never fails."""

    def send(self, message: Message) -> None:
        """Answer an offer or a turn."""
        match message:
            case NewGame(game=game):
                self._say(Ready(game=game))
            case Started():
                self.began_ms = now_ms()
            case YourTurn(game=game, seq=seq):
                self._say(Move(game=game, seq=seq, move="-"))
            case GameOver():
                self.over_ms = now_ms()

    def refuse(self, error: PeerError) -> None:
        """Do nothing: its messages are valid."""

    async def stop(self) -> None:
        """Do nothing: it holds no resources."""

    def _say(self, message: Message) -> None:
        self._report(Said(message, now_ms(), 0))


def engine_seat(text: str, lexicon: Lexicon) -> EngineSeat:
    """Create an engine's seat as a match would."""
    spec = parse_seat(text)
    context = Context(spec.name, lexicon.name, lexicon)
    return EngineSeat(spec.name, lambda: engine_for(spec, context), lexicon)


async def play_engine(
    first: Seat, second: Seat, time: TimeControl, lexicon: Lexicon, folder: Path
) -> Scorebook:
    """Play a game, mostly of an engine; its processes are gone when this returns."""
    opened = new_game((first.name, second.name), lexicon, time, Draws.seeded(1, 1))
    journal = Journal(folder / f"{opened.game}.db")
    try:
        await journal.create(opened, {})
        book = Scorebook(opened, lexicon)
        async with LagMeter() as lag:
            await GameHost(book, (first, second), journal, lag).run()
    finally:
        journal.close()
    return book


async def call_engine_faults() -> list[Call]:
    """Play every case once, one after another."""
    lexicon = load_lexicon()
    with tempfile.TemporaryDirectory() as folder:
        return [
            await _call(case, expected, time, what, lexicon, Path(folder))
            for case, expected, time, what in _CASES
        ]


async def _call(
    case: str, expected: str, time: TimeControl, what: str, lexicon: Lexicon, folder: Path
) -> Call:
    stamp = folder / "stamp"
    command = (sys.executable, "-I", "-S", str(_MISFIT), case, str(stamp))
    engine, other = engine_seat(f"siu:{shlex.join(command)}", lexicon), Passes()
    offered_ms = now_ms()
    book = await play_engine(engine, other, time, lexicon, folder)
    gone_ms = now_ms()
    assert book.ended is not None
    match what:
        case "the verdict, to the end of its process":
            late_ms = gone_ms - other.over_ms
        case "deadline" if expected == "no_show":
            late_ms = other.over_ms - offered_ms - time.ready_ms
        case "deadline":
            late_ms = other.over_ms - other.began_ms - time.initial_ms
        case _:
            late_ms = other.over_ms - int(stamp.read_text(encoding="ascii")) // 1_000_000
            late_ms -= int(STALL_S * 1_000) if expected == "stall" else 0
    return Call(f"engine: {case}", expected, book.ended.outcome, late_ms, what)


_CASES: tuple[tuple[str, str, TimeControl, str], ...] = (
    ("crash at start", "no_show", SHORT, "second failure"),
    ("crash", "crash", SHORT, "second failure"),
    ("closed output", "crash", SHORT, "second failure"),
    ("silent", "time", SHORT, "deadline"),
    ("flood", "time", SHORT, "deadline"),
    ("half a line", "time", SHORT, "deadline"),
    ("late", "time", SHORT, "deadline"),
    ("illegal", "illegal", SHORT, "third try"),
    ("never ready", "no_show", SHORT, "deadline"),
    ("hang", "stall", LONG, f"second failure and {STALL_S:g} s of silence"),
    ("stays", "zeroes", LONG, "the verdict, to the end of its process"),
)
