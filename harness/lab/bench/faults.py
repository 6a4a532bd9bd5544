"""Misconduct: the outcome of each kind, and the delay until it is known.

On real sockets a server runs in a process of its own. A misbehaving client plays against a client
that passes; the verdict's time is taken where the other player gets it, so it includes sockets,
arbiter and journal. A foreign engine's cases are games, with a journal, of a failing SIU engine
(``misfit.py``) against a seat that passes, and the time is likewise that seat's.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from bot.seat_text import parse_seat
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Came, Report, Said, Seat
from harness.lab.rows import Column
from harness.seats.engines import Context, engine_for
from harness.seats.engines.engine import STALL_S
from harness.seats.engines.engine_seat import EngineSeat
from harness.seats.seats import STALL_MS
from lexicons.store import Lexicon, load_lexicon
from protocol.channel import ChannelClosed, now_ms
from protocol.errors import PeerError
from protocol.messages import (
    GameOver,
    Info,
    Message,
    Move,
    NewGame,
    Played,
    Ready,
    Started,
    YourTurn,
)
from protocol.parts import TimeControl

from .client import Client, serving

CLOCK_MS = 1_000
READY_MS = 1_500

SETTINGS = f"""
max_games = 4
[bots]
dies = "harness.lab.bench.bots:Dies?stamp={{stamp}}"
hangs = "harness.lab.bench.bots:Hangs?stamp={{stamp}}"
[time]
initial_ms = {CLOCK_MS}
max_overtime_ms = 0
ready_ms = {READY_MS}
"""

SLOW_SETTINGS = SETTINGS.replace(f"initial_ms = {CLOCK_MS}", "initial_ms = 60000").replace(
    f"ready_ms = {READY_MS}", "ready_ms = 30000"
)


@dataclass(frozen=True)
class FaultVerdict:
    """The verdict on a kind of misconduct."""

    case: Annotated[str, Column("case")]
    expected: Annotated[str, Column("expected")]
    outcome: Annotated[str, Column("outcome")]
    late_ms: Annotated[int | None, Column("called after", unit=" ms")]
    """From the deadline, or the deed, to the other player's ``game_over``."""
    what: Annotated[str, Column("counted from")]


async def call_faults() -> list[FaultVerdict]:
    """Play every case once, one after another."""
    calls = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stamp = folder / "stamp"
        async with serving(folder, SETTINGS.format(stamp=stamp)) as (url, _):
            for case, expected, misfit, what in _CASES:
                calls.append(await _call(url, case, expected, misfit, what))
        (folder / "serve.db").unlink()
        async with serving(folder, SLOW_SETTINGS.format(stamp=stamp)) as (url, _):
            for bot, outcome, patience_ms in (("dies", "crash", 0), ("hangs", "stall", STALL_MS)):
                calls.append(await _call_process(url, bot, outcome, stamp, patience_ms))
    return calls


_Misfit = Callable[[Client], Coroutine[None, None, int]]
"""Misbehaves; returns the millisecond from which the verdict is due."""


async def _call(url: str, case: str, expected: str, misfit: _Misfit, what: str) -> FaultVerdict:
    bad, good = await Client.login(url, f"bad-{case}"), await Client.login(url, f"good-{case}")
    await bad.seek(f"good-{case}")
    await good.seek(f"bad-{case}")
    judged = asyncio.create_task(good.pass_to_the_end())
    # The misfit goes on until the verdict.
    due = asyncio.create_task(misfit(bad))
    over = await judged
    at_ms = good.at_ms
    due_ms = None
    with suppress(TimeoutError, ChannelClosed):
        async with asyncio.timeout(1):
            due_ms = await due
    await good.close()
    await bad.close()
    late = None if due_ms is None else at_ms - due_ms
    return FaultVerdict(case, expected, over.outcome, late, what)


async def _first_turn(client: Client) -> tuple[YourTurn, int]:
    """Get ready and wait for a turn; return it with the millisecond of its deadline."""
    await client.get_ready()
    turn = await client.expect(YourTurn)
    return turn, client.at_ms + turn.deadline_ms


async def _silent(client: Client) -> int:
    return (await _first_turn(client))[1]


async def _chatty(client: Client) -> int:
    turn, deadline = await _first_turn(client)
    while now_ms() < deadline + 200:
        await client.channel.send(Info(game=turn.game, seq=turn.seq, text="still thinking"))
        await asyncio.sleep(0.05)
    return deadline


async def _late(client: Client) -> int:
    turn, deadline = await _first_turn(client)
    await asyncio.sleep((deadline + 1 - now_ms()) / 1_000)
    await client.play(turn)
    return deadline


async def _returns(client: Client) -> int:
    game = await client.get_ready()
    await client.expect(Started)
    await client.close()
    await asyncio.sleep(0.2)
    back = await Client.login(client.channel.peer, "bad-returns")
    await back.resume(game, 0)
    over = await back.pass_to_the_end()
    at_ms = back.at_ms
    await back.close()
    return at_ms if over.outcome == "zeroes" else 0


async def _never_ready(client: Client) -> int:
    await client.expect(NewGame)
    return client.at_ms + READY_MS


async def _illegal(client: Client) -> int:
    turn, _ = await _first_turn(client)
    for attempt in (1, 2, 3):
        await client.play(turn, "8D QQQQQ", attempt)
    return now_ms()


async def _overtakes(client: Client) -> int:
    """Move out of turn, twice, with forged numbers; the game must go on undisturbed."""
    turn, _ = await _first_turn(client)
    for _ in range(2):
        await client.play(msgspec.structs.replace(turn, seq=turn.seq + 7))
    await client.play(turn)
    await client.expect(Played)
    await client.pass_to_the_end()
    return client.at_ms


_CASES: tuple[tuple[str, str, _Misfit, str], ...] = (
    ("silent", "time", _silent, "deadline"),
    ("chatty", "time", _chatty, "deadline"),
    ("1 ms late", "time", _late, "deadline"),
    ("returns", "zeroes", _returns, "the other's verdict"),
    ("never ready", "no_show", _never_ready, "deadline"),
    ("illegal word", "illegal", _illegal, "third try"),
    ("out of turn", "zeroes", _overtakes, "the other's verdict"),
)


async def _call_process(
    url: str, bot: str, expected: str, stamp: Path, patience_ms: int
) -> FaultVerdict:
    client = await Client.login(url, f"against-{bot}")
    await client.seek(bot)
    over = await client.pass_to_the_end()
    at_ms = client.at_ms
    await client.close()
    due_ms = _read_stamp(stamp) + patience_ms
    what = "second failure" + (f" and {patience_ms / 1_000:.0f} s of silence" * (patience_ms > 0))
    return FaultVerdict(f"process {bot}", expected, over.outcome, at_ms - due_ms, what)


def _read_stamp(stamp: Path) -> int:
    """Return the milliseconds at which a player or an engine misbehaved."""
    return int(stamp.read_text(encoding="ascii")) // 1_000_000


# --- of foreign engines ---------------------------------------------------------------------------

SHORT = TimeControl(initial_ms=CLOCK_MS, max_overtime_ms=0, ready_ms=READY_MS)
LONG = TimeControl(initial_ms=CLOCK_MS)
"""Its overtime lets a hanging engine be detected before its time is over."""

_MISFIT = Path(__file__).with_name("misfit.py")


class Passes:
    """A seat that gets ready, and always passes."""

    name = "passes"
    is_ours = False

    def __init__(self) -> None:
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
    """Play a game, usually of an engine; its processes are gone when this returns."""
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


async def call_engine_faults() -> list[FaultVerdict]:
    """Play every case once, one after another."""
    lexicon = load_lexicon()
    with tempfile.TemporaryDirectory() as folder:
        return [
            await _call_engine(case, expected, time, what, lexicon, Path(folder))
            for case, expected, time, what in _ENGINE_CASES
        ]


async def _call_engine(
    case: str, expected: str, time: TimeControl, what: str, lexicon: Lexicon, folder: Path
) -> FaultVerdict:
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
            late_ms = other.over_ms - _read_stamp(stamp)
            late_ms -= int(STALL_S * 1_000) if expected == "stall" else 0
    return FaultVerdict(f"engine: {case}", expected, book.ended.outcome, late_ms, what)


_ENGINE_CASES: tuple[tuple[str, str, TimeControl, str], ...] = (
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
