"""The fault matrix: whatever an engine does, the game ends as it should and nothing is left."""

from __future__ import annotations

import asyncio

import pytest
from engine_games import HASTY, LONG, SHORT, EngineGames, play_engine
from passing_seats import Passer

from bot.equipment import Equipment
from bot.seat_text import parse_seat
from harness.arbiter.scorebook import Scorebook
from harness.seats.engines.engine import Engine
from harness.seats.engines.engine_seat import EngineSeat
from harness.seats.engines.process import EngineFailed
from harness.seats.seat_factory import SeatMaker
from protocol.parts import TimeControl

TWICE_CRASHED = ["crash", "crash"]


def verdict(book: Scorebook) -> tuple[str, int | None, list[str]]:
    """Return the outcome, the winner, and what the engine (seat 0) is charged with."""
    assert book.ended is not None
    assert {fault.seat for fault in book.ended.faults} <= {0}
    return book.ended.outcome, book.ended.winner, [fault.code for fault in book.ended.faults]


@pytest.mark.parametrize(
    ("fault", "clocks", "outcome", "charged"),
    [
        ("crash-start", LONG, "no_show", TWICE_CRASHED),
        ("crash-search", LONG, "crash", TWICE_CRASHED),
        ("segfault+children", LONG, "crash", TWICE_CRASHED),
        ("crash-after", LONG, "crash", TWICE_CRASHED),
        ("mute+deaf", LONG, "crash", TWICE_CRASHED),
        ("long-line", LONG, "stall", ["stall", "stall"]),
        ("illegal", LONG, "illegal", ["not_on_rack", "not_on_rack", "illegal"]),
        ("nonsense", LONG, "illegal", ["not_a_move", "not_a_move", "illegal"]),
        ("hang+children+deaf", SHORT, "time", ["time"]),
        ("flood+children", SHORT, "time", ["time"]),
        ("half", SHORT, "time", ["time"]),
    ],
)
async def test_who_fails_loses_and_leaves_nothing(
    games: EngineGames, fault: str, clocks: TimeControl, outcome: str, charged: list[str]
) -> None:
    book = await games.play(games.seat(fault=fault), clocks)
    found, winner, faults = verdict(book)
    assert (found, winner) == (outcome, 1)
    assert [code for code in faults if code != "no_show"] == charged
    assert len(book.evidence) == len([code for code in charged if code != "illegal"])


@pytest.mark.parametrize(
    ("fault", "start_s", "ready_ms"),
    [("hang-start", 0.1, 60_000), ("unready", 10, 500)],
)
async def test_who_does_not_get_ready_does_not_play(
    games: EngineGames, fault: str, start_s: float, ready_ms: int
) -> None:
    clocks = TimeControl(initial_ms=1_000, ready_ms=ready_ms)
    book = await games.play(games.seat(f"start={start_s}", fault=fault), clocks)
    outcome, winner, faults = verdict(book)
    assert (outcome, winner) == ("no_show", 1)
    assert faults[-1] == "no_show"


@pytest.mark.parametrize("fault", ["hang", "never-stops", "unready-later"])
async def test_who_hangs_with_time_on_the_clock_stalls(
    games: EngineGames, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.seats.engines.siu.STALL_S", 0.1)
    book = await games.play(games.seat(fault=fault), HASTY)
    assert verdict(book) == ("stall", 1, ["stall", "stall"])


@pytest.mark.parametrize(
    ("fault", "moves", "charged"),
    [
        ("noise+shout+deaf+stays+children+twice", "swap,pass", []),
        ("score", "swap,pass", ["wrong_score"] * 3),
        ("huge", "pass", ["wrong_score"] * 3),
        ("wrong-rack", "swap,swap,swap", ["wrong_rack"] * 3),
    ],
)
async def test_who_is_odd_or_wrong_plays_on(
    games: EngineGames, fault: str, moves: str, charged: list[str]
) -> None:
    book = await games.play(games.seat(fault=fault, moves=moves))
    outcome, _, faults = verdict(book)
    assert (outcome, faults) == ("zeroes", charged)
    assert len(book.turns) == 6
    assert all("last lines:\n> siu\n" in evidence for evidence in book.evidence)


async def test_who_fails_once_is_told_the_whole_game_and_plays_on(games: EngineGames) -> None:
    failed = games.folder / "failed"
    seat = games.seat(fault="crash-search", from_=2, once=failed, moves="swap")
    book = await games.play(seat)
    assert verdict(book)[0::2] == ("zeroes", ["crash"])
    assert "something broke" in book.evidence[0]
    told = [line.partition(" moves ")[2] for line in games.heard() if " moves " in line]
    first, before, after, last = told
    swapped = book.turns[0].rack
    assert first == f"rack.{swapped}"
    assert before.startswith(f"ex.{swapped[0]}.{swapped} pass rack.")
    assert after == before.replace(f".{swapped} ", " "), "what it held was known to the first"
    assert last.startswith(f"{before.rpartition(' ')[0].replace(f'.{swapped}', '')} ex.")


async def test_a_conversation_is_kept_if_the_seat_says_so(games: EngineGames) -> None:
    for query in ("", "log=yes"):
        kept = games.folder / f"engine{query}.log"
        once = games.folder / f"failed{query}"
        spec = parse_seat(games.seat(query, fault="noise+crash-search", once=once))
        seat = SeatMaker(spec, "engine", Equipment("scowl"), kept=kept).open(games.lexicon, 3)
        await play_engine(seat, Passer(), LONG, games.lexicon, games.folder)
        log = kept.with_suffix(".00003.log").read_text(encoding="utf-8")
        if not query:
            assert "something broke" in log
            assert "siuok" not in log
            continue
        said = [line.partition(" ")[2] for line in log.splitlines()]
        assert {"> siu", "< siuok", "< bestmove pass", "> quit"} <= {*said}
        assert any(line.startswith("stderr: ") and "something broke" in line for line in said)
        assert any(line.startswith("< not understood: ") for line in said)


class Failing(Engine):
    """An engine that fails at once."""

    is_closed = False

    async def ended(self) -> EngineFailed:
        return EngineFailed("crash", "it is gone")

    def evidence(self) -> str:
        return ""

    async def close(self) -> None:
        self.is_closed = True


class Closing:
    """A game session whose searches do not end."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def close(self) -> None:
        self.begun.set()
        await asyncio.Event().wait()


async def test_a_seat_that_is_stopped_while_it_cleans_up_ends_its_engine(
    games: EngineGames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.seats.engines.engine_seat.SETTLE_S", 0)
    engine, session = Failing(), Closing()
    seat = EngineSeat("it", lambda: engine, games.lexicon)
    came = asyncio.Event()
    seat.start(lambda _event: came.set())
    await came.wait()
    monkeypatch.setattr(seat, "_session", session)
    await session.begun.wait()
    await seat.stop()
    assert engine.is_closed
