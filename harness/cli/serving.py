"""What commands that run a server share: bots, tables, memory, and its time until a signal."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec, about, by_strength, wins_against_static
from bot.seat_text import parse_seat
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import Rules
from harness.arbiter.clock import check_time_control, lag_quota_ms
from harness.arbiter.records import Opened
from harness.arbiter.seat import Seat
from harness.figures import counted, plain
from harness.game_kinds import MAIN
from harness.seats.seat_factory import SeatMaker
from harness.seats.seats import Worker
from harness.server.ladder.settings import ServerTime
from harness.server.play import Offered
from harness.server.server import MatchServer
from harness.server.tables import ServerTables, TableKind
from lexicons.store import Lexicon, load_lexicon
from protocol.errors import PeerError
from protocol.parts import TimeControl
from protocol.websocket import address_text

from . import options
from .failing import CommandFailed, sentences

LOOPBACK = "127.0.0.1"

RESERVE_BYTES = 64 << 20
"""No game begins with less free on the journal's disk: one seldom takes more than 1 MiB."""

FULL_EVERY = 50
"""Collections of younger garbage for each full one, which stops all clocks for 10 to 50 ms with 200
connections. Python's default is 10. The garbage that waits is at most what 3,000 connections leave
behind."""


_ARENAS = -8
"""The parameter of glibc's ``mallopt`` that is called M_ARENA_MAX."""

TRIM_EVERY_S = 10.0
"""Interval at which freed memory goes back to the system; giving back 75 MB takes 10 ms."""


def return_freed_memory(every_s: float = TRIM_EVERY_S) -> None:
    """Have memory that an attack needed go back to the system; glibc would keep it for the next.

    Call this before there are threads. They share one heap, since what is freed in a thread's own
    is never given back. A thread of this function gives back what is free at an interval, not after
    full collections: these get ever rarer on a server with little garbage, which would seem to grow
    meanwhile.
    """
    allocator = ctypes.CDLL(None)
    if not hasattr(allocator, "malloc_trim"):  # another system's, or another C library
        return

    def trim() -> None:
        while True:
            time.sleep(every_s)
            allocator.malloc_trim(0)

    allocator.mallopt(_ARENAS, 1)
    threading.Thread(target=trim, name="memory", daemon=True).start()


def read_bots(texts: Mapping[str, str]) -> dict[str, SeatSpec]:
    """Read the seats of a server's bots by name, or fail with a sentence."""
    specs: dict[str, SeatSpec] = {}
    for name, text in texts.items():
        with sentences("" if name == text else f"bots.{name}: "):
            specs[name] = parse_seat(text)
    for name, spec in specs.items():
        if spec.kind == "guest":
            raise CommandFailed(f"bots.{name}: {spec.text} is no bot of this server's own")
    return specs


def offered(specs: Mapping[str, SeatSpec], **others: Any) -> Offered:
    """Return what a server offers to people: its bots, the weakest first."""
    descriptions = {name: about(specs[name]) for name in by_strength(specs)}
    wins = {name: wins_against_static(spec) for name, spec in specs.items()}
    return Offered(
        descriptions, wins={name: won for name, won in wins.items() if won is not None}, **others
    )


class House:
    """The tables of one server, by its settings, each with bots of its own, which ``close`` ends.

    Bots don't see the files and folders that are ``hidden``. An engine that can't play at a table
    beside the main one is left out there.

    Raises:
        SeatError: an engine's options are invalid, or it can't play at the main table.
        CommandFailed: words, tables or rules can't be read.
    """

    def __init__(
        self,
        specs: Mapping[str, SeatSpec],
        equipment: Equipment,
        others: Mapping[str, tuple[Equipment, TimeControl | None]] = {},
        seed: int | None = None,
        hidden: tuple[Path, ...] = (),
    ) -> None:
        self.specs, self._equipment = dict(specs), equipment
        self._seed, self._hidden = seed, hidden
        self._makers: list[SeatMaker] = []
        self._lent: dict[str, SeatMaker] = {}
        """Those of the main table, by a bot's name."""
        self._numbers = count()  # of games, so that each has random numbers of its own
        main = self._open(MAIN, equipment, None)
        kinds = [self._open(name, *what) for name, what in others.items()]
        self.tables = ServerTables(main, kinds, self._of_game)

    def _open(
        self,
        name: str,
        equipment: Equipment,
        time: TimeControl | None,
        lexicon: Lexicon | None = None,
        rules: Rules | None = None,
    ) -> TableKind:
        """Open a table; a game's own words and rules replace those of the equipment."""
        lexicon = lexicon or options.load_equipped(equipment)
        seats: dict[str, Callable[[], Seat]] = {}
        notice = options.notice_once()
        for bot, spec in self.specs.items():
            hidden = self._hidden
            maker = SeatMaker(spec, bot, equipment, self._seed, notice=notice, hidden=hidden)
            try:
                maker.check(lexicon)
            except SeatError as error:
                if name == MAIN:
                    raise
                where = f"table {name}: " if name else ""
                options.print_notice(f"{where}{bot} does not play there: {error}")
                continue
            self._makers.append(maker)
            self._lent.setdefault(bot, maker)  # the main table comes first
            seats[bot] = partial(self._seat, maker, lexicon)
        return TableKind(
            name=name,
            lexicon=lexicon,
            rules=rules or options.load_rule_set(equipment.rules),
            bots=seats,
            time=time,
            equipment=equipment,
        )

    def _seat(self, maker: SeatMaker, lexicon: Lexicon) -> Seat:
        return maker.open(lexicon, next(self._numbers))

    def leave_out(self, names: Iterable[str]) -> None:
        """Offer no bots of these names."""
        for name in names:
            self.specs.pop(name, None)
            for kind in self.tables:
                kind.bots.pop(name, None)

    async def lend(self, name: str) -> Worker:
        """Start or dial a bot for an arbiter elsewhere."""
        if self.specs[name].kind == "engine":
            raise PeerError("unknown_bot", f"{name} plays on this server only", close=1008)
        return await self._lent[name].worker(next(self._numbers))

    def _of_game(self, opened: Opened, location: str) -> TableKind | None:
        """Return a table for a resumed game whose own is no longer in the settings.

        None if its words can't be read.
        """
        rules = rules_in_play(opened.rules)
        try:
            lexicon = load_lexicon(location, rules.distribution)
        except (ValueError, OSError):
            return None
        own = self._equipment
        equipment = replace(own, lexicon=location, leaves=None, win_probabilities=None)
        return self._open("", equipment, None, lexicon, rules)

    async def close(self) -> None:
        """End the processes of all bots."""
        for maker in self._makers:
            await maker.close()


def time_control(base: ServerTime, clock: Mapping[str, int | None], host: str) -> ServerTime:
    """Return a time control with the options that replace parts of it; or fail."""
    clock_ms = {name: ms for name, ms in clock.items() if ms is not None}
    if clock_ms.get("increment_ms"):
        clock_ms["max_overtime_ms"] = 0
    control = msgspec.structs.replace(base, **clock_ms)
    lag_ms = control.lag_ms or lag_quota_ms(control.initial_ms, [host])
    control = msgspec.structs.replace(control, lag_ms=lag_ms)
    with sentences():
        check_time_control(control)
    return control


def is_any(host: str) -> bool:
    """Return whether a ``--host`` stands for all addresses of the machine."""
    with suppress(ValueError):
        return ip_address(host).is_unspecified
    return not host


def reached_at(host: str, port: int) -> str:
    """Return where this machine reaches a server that listens at a ``--host`` and a port."""
    if is_any(host):
        host = "::1" if ":" in host else LOOPBACK
    return address_text(host, port)


async def until_stopped(
    server: MatchServer, started: Callable[[], None], told: asyncio.Future[asyncio.Event]
) -> str | None:
    """Run a server until a signal comes, its tournament can't go on, or its journal is lost.

    ``started`` is called when it listens; ``told`` is done by the signal. Return why the journal is
    lost, None if it isn't.
    """
    lost = server.journal.lost()
    await server.start()
    gc.collect()
    gc.freeze()  # a full collection over numba's objects would stop all clocks for 50 ms
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, FULL_EVERY)
    started()
    ends: set[asyncio.Future[Any]] = {told, lost}
    if server.playing is not None:
        ends.add(server.playing)
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if not told.done():
        at_once = asyncio.Event()
        at_once.set()
        await server.stop(at_once)
        if lost.done():
            return lost.result()
        assert server.playing is not None
        await server.playing
        return None
    at_once = told.result()
    if server.drain_s:
        hurry = "a second signal (Ctrl-C) ends it at once"
        log_line(f"stopping; games may end within {server.drain_s:.0f} s; {hurry}")
    left = await server.stop(at_once)
    are = "is" if left == 1 else "are"
    resumed = f"; {counted(left, 'game')} {are} left to be resumed at the next start"
    log_line(f"stopped{resumed if left else ''}")
    return None


def log_line(sentence: str) -> None:
    """Print what has happened, and when, made safe: names in it are chosen by others.

    Where it can't be printed, as on a full disk, the games go on.
    """
    with suppress(OSError):
        print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {plain(sentence)}", file=sys.stderr, flush=True)
