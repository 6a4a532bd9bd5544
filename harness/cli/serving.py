"""What commands that run a server share: bots, tables, memory, and its time until a signal."""

from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import gc
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec
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
from harness.server.server import MatchServer
from harness.server.tables import TableKind, Tables
from lexicons.store import Lexicon, load_lexicon
from protocol.errors import PeerError
from protocol.parts import TimeControl

from . import options
from .failing import CommandFailed, sentences
from .preparing import prepare

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


def prepare_bots(
    specs: Mapping[str, SeatSpec],
    equipment: Equipment,
    *modules: str,
    hidden: tuple[Path, ...] = (),
) -> None:
    """Try out each bot that could be wrong, and compile all kernels, before anybody plays."""
    prepare(
        (
            ("" if name == spec.text else f"bots.{name}: ", name, spec)
            for name, spec in specs.items()
        ),
        equipment,
        *modules,
        hidden=hidden,
    )


class HouseBots:
    """The bots of one table of a server.

    They don't see what is ``hidden``. With ``leave_out``, an engine that can't play there is left
    out; the function gets the reason.

    Raises:
        SeatError: an engine's options are invalid, or it can't play there.
    """

    def __init__(
        self,
        specs: Mapping[str, SeatSpec],
        equipment: Equipment,
        lexicon: Lexicon,
        seed: int | None = None,
        leave_out: Callable[[str], None] | None = None,
        hidden: tuple[Path, ...] = (),
    ) -> None:
        notice = options.say_once()
        self._specs, self._lexicon = specs, lexicon
        self._makers: dict[str, SeatMaker] = {}
        for name, spec in specs.items():
            maker = SeatMaker(spec, name, equipment, seed, notice=notice, hidden=hidden)
            try:
                maker.check(lexicon)
            except SeatError as error:
                if leave_out is None:
                    raise
                leave_out(f"{name} does not play there: {error}")
            else:
                self._makers[name] = maker
        self._numbers = count()  # of games, so that each has random numbers of its own
        self.seats: dict[str, Callable[[], Seat]] = {
            name: partial(self._seat, name) for name in self._makers
        }
        """By a bot's name, the function that makes its seat for a game."""

    def _seat(self, name: str) -> Seat:
        return self._makers[name].open(self._lexicon, next(self._numbers))

    async def lend(self, name: str) -> Worker:
        """Start or dial a bot for an arbiter elsewhere."""
        if self._specs[name].kind == "engine":
            raise PeerError("unknown_bot", f"{name} plays on this server only", close=1008)
        return await self._makers[name].worker(next(self._numbers))

    async def close(self) -> None:
        """End the processes of all bots."""
        for maker in self._makers.values():
            await maker.close()


class House:
    """The tables of one server, by its settings, each with bots of its own, which ``close`` ends.

    Bots don't see the files and folders that are ``hidden``.

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
        self._specs, self._equipment = specs, equipment
        self._seed, self._hidden = seed, hidden
        self._bots: list[HouseBots] = []
        main = self._open(MAIN, equipment, None)
        self.main_bots = self._bots[0]
        kinds = [self._open(name, *what) for name, what in others.items()]
        self.tables = Tables(main, kinds, self._of_game)

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
        where = f"table {name}: " if name else ""

        def leave_out(why: str) -> None:
            options.say(f"{where}{why}")

        beside = None if name == MAIN else leave_out
        bots = HouseBots(self._specs, equipment, lexicon, self._seed, beside, self._hidden)
        self._bots.append(bots)
        return TableKind(
            name=name,
            lexicon=lexicon,
            rules=rules or options.load_rule_set(equipment.rules),
            bots=bots.seats,
            time=time,
            equipment=equipment,
        )

    def _of_game(self, opened: Opened, location: str) -> TableKind | None:
        """Return a table for a resumed game whose own is no longer in the settings.

        None if its words can't be read.
        """
        rules = rules_in_play(opened.rules)
        try:
            lexicon = load_lexicon(location, rules.distribution)
        except (ValueError, OSError):
            return None
        equipment = dataclasses.replace(
            self._equipment, lexicon=location, leaves=None, win_probabilities=None
        )
        return self._open("", equipment, None, lexicon, rules)

    async def close(self) -> None:
        """End the processes of all bots."""
        for bots in self._bots:
            await bots.close()


def time_control(base: ServerTime, clock: Mapping[str, int | None], host: str) -> ServerTime:
    """Return a time control with the options that replace parts of it; or fail."""
    given = {name: ms for name, ms in clock.items() if ms is not None}
    if given.get("increment_ms"):
        given["max_overtime_ms"] = 0
    control = msgspec.structs.replace(base, **given)
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
        tell(
            f"stopping; games may end within {server.drain_s:.0f} s; "
            "a second signal (Ctrl-C) ends it at once"
        )
    left = await server.stop(at_once)
    are = "is" if left == 1 else "are"
    resumed = f"; {counted(left, 'game')} {are} left to be resumed at the next start"
    tell(f"stopped{resumed if left else ''}")
    return None


def tell(sentence: str) -> None:
    """Print what has happened, and when, made safe: names in it are chosen by others.

    Where it can't be printed, as on a full disk, the games go on.
    """
    with suppress(OSError):
        print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {plain(sentence)}", file=sys.stderr, flush=True)
