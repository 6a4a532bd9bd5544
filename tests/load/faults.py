"""Misconduct: the outcome of each kind, and the delay until it is known.

On real sockets a server runs in a process of its own. A misbehaving client plays against a client
that passes; the verdict's time is taken where the other player gets it, so it includes sockets,
arbiter and journal. A foreign engine's cases are games, with a journal, of a failing SIU engine
(``standin.py``) against a seat that passes, and the time is likewise that seat's.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from engine_games import EngineGames, engine_seat, play_engine
from passing_seats import Passer

from harness.figures import number
from harness.lab.bench.client import Client, serving
from harness.seats.engines.engine import STALL_S
from protocol.channel import ChannelClosed, now_ms
from protocol.messages import GameOver, Info, Message, NewGame, Started, YourTurn
from protocol.parts import TimeControl

CLOCK_MS = 1_000
READY_MS = 1_500

SETTINGS = f"""
max_games = 4
[time]
initial_ms = {CLOCK_MS}
max_overtime_ms = 0
ready_ms = {READY_MS}
"""

HEAD = ("case", "expected", "outcome", "called after", "counted from")
"""Called after: from the deadline, or the deed, to the other player's ``game_over``."""


async def faults() -> list[list[str]]:
    """Play every case once, one after another; return a row of the table for each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with serving(folder, SETTINGS) as served:
            rows = [await call(served.url, case) for case in CASES]
        rows += [await call_engine(folder, engine_case) for engine_case in ENGINE_CASES]
    return rows


def _row(case: str, expected: str, outcome: str, late_ms: int | None, what: str) -> list[str]:
    return [case, expected, outcome, number(late_ms, 0, unit=" ms"), what]


# --- on real sockets ------------------------------------------------------------------------------

_Misfit: TypeAlias = Callable[[Client], Coroutine[None, None, int]]
"""Misbehaves; returns the millisecond from which the verdict is due."""


async def call(url: str, case: str) -> list[str]:
    """Play a case on a server."""
    expected, misfit, what = CASES[case]
    bad, good = await Client.login(url, f"bad-{case}"), await Client.login(url, f"good-{case}")
    await bad.seek(f"good-{case}")
    await good.seek(f"bad-{case}")
    judged = asyncio.create_task(good.pass_to_the_end())
    # The misfit goes on until the verdict.
    due = asyncio.create_task(misfit(bad))
    over = await judged
    late_ms = None
    with suppress(TimeoutError, ChannelClosed):
        async with asyncio.timeout(1):
            late_ms = good.at_ms - await due
    await good.close()
    await bad.close()
    return _row(case, expected, over.outcome, late_ms, what)


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


async def _never_ready(client: Client) -> int:
    await client.expect(NewGame)
    return client.at_ms + READY_MS


async def _illegal(client: Client) -> int:
    turn, _ = await _first_turn(client)
    for attempt in (1, 2, 3):
        await client.play(turn, "8D QQQQQ", attempt)
    return now_ms()


CASES: dict[str, tuple[str, _Misfit, str]] = {
    "silent": ("time", _silent, "deadline"),
    "chatty": ("time", _chatty, "deadline"),
    "1 ms late": ("time", _late, "deadline"),
    "never ready": ("no_show", _never_ready, "deadline"),
    "illegal word": ("illegal", _illegal, "third try"),
}
"""The outcome that is expected, who misbehaves, and what the delay is counted from."""


# --- of foreign engines ---------------------------------------------------------------------------

SHORT = TimeControl(initial_ms=CLOCK_MS, max_overtime_ms=0, ready_ms=READY_MS)
LONG = TimeControl(initial_ms=CLOCK_MS)
"""Its overtime lets a hanging engine be detected before its time is over."""


class _Timekeeper(Passer):
    """A seat that passes, and knows when its game began and ended."""

    began_ms = over_ms = 0

    def send(self, message: Message) -> None:
        super().send(message)
        match message:
            case Started():
                self.began_ms = now_ms()
            case GameOver():
                self.over_ms = now_ms()


async def call_engine(folder: Path, case: tuple[str, str, TimeControl, str]) -> list[str]:
    """Play a case of a failing engine."""
    fault, expected, time, what = case
    stamp, games, other = folder / "stamp", EngineGames(folder), _Timekeeper()
    delay = 1_001 if fault == "late" else 0
    seat = games.seat(fault=fault, delay=delay, stamp=stamp, capability="auto stop")
    offered_ms = now_ms()
    book = await play_engine(
        engine_seat(seat, games.lexicon), other, time, games.lexicon, games.folder
    )
    assert book.ended is not None
    if what != "deadline":
        due_ms = int(stamp.read_bytes()) // 1_000_000 + (expected == "stall") * int(STALL_S * 1_000)
    elif expected == "no_show":
        due_ms = offered_ms + time.ready_ms
    else:
        due_ms = other.began_ms + time.initial_ms
    return _row(f"engine: {fault}", expected, book.ended.outcome, other.over_ms - due_ms, what)


ENGINE_CASES = (
    ("crash-start", "no_show", SHORT, "second failure"),
    ("crash-search", "crash", SHORT, "second failure"),
    ("mute", "crash", LONG, "second failure"),
    ("hang", "time", SHORT, "deadline"),
    ("flood", "time", SHORT, "deadline"),
    ("half", "time", SHORT, "deadline"),
    ("late", "time", SHORT, "deadline"),
    ("illegal", "illegal", SHORT, "third try"),
    ("unready", "no_show", SHORT, "deadline"),
    ("never-stops", "stall", LONG, f"second failure and {STALL_S:g} s of silence"),
)
"""What it does wrong, the outcome, the clocks, and what the delay is counted from."""
