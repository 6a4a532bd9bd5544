"""How soon an SIU engine answers, ours or another: its start, and its end when told to stop.

Each search is stopped after a while that is drawn, in the middle of a game and at its beginning,
or at its end where a mode is for that.
"""

from __future__ import annotations

import random
import sys
import time
from asyncio import timeout
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.seats.engines.process import EngineProcess
from protocol.siu.answers import Answer, BestMove, Capability, ReadyOk, SiuOk, parse_answer
from protocol.siu.commands import MODES, Command, Go, IsReady, Mode, SetPosition, Siu, Stop

__all__ = ["OURS", "Latency", "measure_siu"]

OURS = (sys.executable, "-c", "from harness.cli import main; main()", "siu")

LIMIT_S = 120.0  # kernels may have to be compiled
LONGEST_S = 0.5  # before a search is stopped

_EMPTY = "/".join(["15"] * 15)
_BEGINNING = SetPosition(f"{_EMPTY} / 0/0 0", ("8H.ZA", "rack.AEINRST"))
_MIDDLE = SetPosition(
    f"{'/'.join(['15'] * 7)}/4CAMERA5/8TON4/{'/'.join(['15'] * 6)} / 18/14 0",
    ("9I.TONE", "rack.AEINRST"),
)
# An endgame that takes long, and the same with a tile fewer on the board.
_LATE = (
    "6V4FYCE/6U5EH1/2TWIgGIEST1AA1/7N4NU1/7E1OS2V1/3AUGUR1BI2I1/7T1ID2NA/3Q2BIGAe3Z/2FI3A2A1WOO/"
    "2L4E1DROOK1/2E1ME3OM4/2SNIRTLED5/1THOLE1AXONIC2/"
)
_ENDGAME = SetPosition(f"{_LATE}1EY12/15 AELPRST/ 0/0 0")
_PREENDGAME = SetPosition(f"{_LATE}1E13/15 AELPRST/ 0/0 0")
_POSITIONS: Mapping[Mode, tuple[SetPosition, ...]] = {
    "endgame": (_ENDGAME,),
    "peg": (_PREENDGAME,),
}


@dataclass(frozen=True)
class Latency:
    """From something said to its answer, in milliseconds."""

    what: str
    tries: int
    ms: float
    """The median."""
    most_ms: float


async def measure_siu(
    command: Sequence[str] = OURS, tries: int = 20, seed: int = 0
) -> list[Latency]:
    """Start an engine a few times, then stop so many searches of each mode that it has.

    Raises:
        EngineFailed: it has ended, or does not answer.
    """
    handshakes: list[float] = []
    loads: list[float] = []
    for _ in range(max(1, tries // 4)):
        began = time.perf_counter()
        engine = await EngineProcess.start(command, name=command[0])
        try:
            await _answer_to(engine, Siu(), SiuOk)
            handshakes.append(1_000 * (time.perf_counter() - began))
            loads.append(await _answer_to(engine, IsReady(), ReadyOk))
        finally:
            await engine.kill()
    found = [_latency("start to siuok", handshakes), _latency("siuok to readyok", loads)]
    return found + await _stops(command, tries, random.Random(seed))


async def _stops(command: Sequence[str], tries: int, chance: random.Random) -> list[Latency]:
    engine = await EngineProcess.start(command, name=command[0])
    try:
        modes = await _modes(engine)
        await _answer_to(engine, IsReady(), ReadyOk)
        found = []
        for mode in modes:
            stops = []
            for number in range(tries):
                positions = _POSITIONS.get(mode, (_MIDDLE, _BEGINNING))
                engine.send(positions[number % len(positions)].line())
                engine.send(Go(mode, infinite=True).line())
                await _rest(engine, chance.uniform(0, LONGEST_S))
                stops.append(await _answer_to(engine, Stop(), BestMove))
            found.append(_latency(f"stop to bestmove, {mode}", stops))
        return found
    finally:
        await engine.kill()


async def _modes(engine: EngineProcess) -> list[Mode]:
    """Shake hands, and hear which modes there are."""
    declared: tuple[str, ...] = ()

    def heard(line: str) -> Answer | None:
        nonlocal declared
        answer = parse_answer(line)
        if isinstance(answer, Capability):
            declared = answer.names
        return answer if isinstance(answer, SiuOk) else None

    engine.send(Siu().line())
    await engine.wait_for(heard, LIMIT_S, "siuok")
    return [mode for mode in MODES if mode in declared]


async def _answer_to(engine: EngineProcess, said: Command, wanted: type[Answer]) -> float:
    """Say something and wait for a kind of answer; give the milliseconds between them."""
    began = time.perf_counter()
    engine.send(said.line())
    await engine.wait_for(_of(wanted), LIMIT_S, wanted.__name__.lower())
    return 1_000 * (time.perf_counter() - began)


async def _rest(engine: EngineProcess, seconds: float) -> None:
    """Read what a search says for so long; it goes on."""
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0:
        try:
            async with timeout(left):
                await engine.line()
        except TimeoutError:
            return


def _of(wanted: type[Answer]) -> Callable[[str], Answer | None]:
    def heard(line: str) -> Answer | None:
        answer = parse_answer(line)
        return answer if isinstance(answer, wanted) else None

    return heard


def _latency(what: str, ms: Sequence[float]) -> Latency:
    return Latency(what, len(ms), median(ms), max(ms))
