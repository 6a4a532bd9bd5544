"""``tilewire serve``."""

from __future__ import annotations

import asyncio
import signal
import ssl
import tomllib
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, TypedDict, cast

import msgspec
from cyclopts import Parameter

from bot.cores import usable_cores
from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec, known_bots
from bot.seat_text import parse_seat
from harness.arbiter.clock import LOCAL_READY_MS, check_time_control, lag_quota_ms
from harness.arbiter.journal import Journal, JournalError
from harness.arbiter.seat import Seat
from harness.figures import counted
from harness.seats.seat_factory import SeatMaker
from harness.seats.seats import Worker
from harness.server.server import MatchServer, ServerConfig
from harness.server.tokens import Gatekeeper, read_token_file
from protocol.errors import PeerError
from protocol.parts import TimeControl

from .failing import CommandFailed
from .options import (
    Count,
    Duration,
    FirstMoveOption,
    IncrementOption,
    LeavesOption,
    LexiconOption,
    PonderOption,
    SeedOption,
    ThreadsOption,
    TimeOption,
    VerboseOption,
    WinprobOption,
    check_pondering,
    equip,
    load_equipped,
    log_to_stderr,
    run,
    say,
    say_once,
)

__all__ = ["ServerFile", "ServerSettings", "read_config", "serve"]


@Parameter(name="*")
class ServerSettings(TypedDict, total=False):
    """Settings that are options of ``tilewire serve`` and keys of its TOML file.

    Only what was given is there: options replace what the file says, and both the defaults.
    """

    host: str
    """The address to listen on. [default: 127.0.0.1]"""
    port: int
    """The port; 0 for any. [default: 8484]"""
    db: Path
    """The journal. [default: tilewire.db]"""
    tokens: Path
    """A file of names and token hashes; then nobody else may play."""
    tls_cert: Path
    """A certificate (PEM), to serve wss."""
    tls_key: Path
    """Its key (PEM)."""
    lexicon: Annotated[LexiconOption, Parameter(show_default="scowl")]
    leaves: LeavesOption
    winprob: WinprobOption
    threads: Annotated[ThreadsOption, Parameter(show_default="1")]
    ponder: PonderOption
    seed: Annotated[
        SeedOption, Parameter(help="Seed of local bots' own choices; draws stay secret.")
    ]
    max_games: Count
    """Games at once. [default: one a core]"""


class ServerFile(ServerSettings, total=False):
    """The keys of a configuration file (TOML)."""

    bots: dict[str, str]
    """Built-in bots: name to seat, such as ``quick = "static?temperature=2"``."""
    time: TimeControl


def _defaults() -> ServerFile:
    return {
        "host": "127.0.0.1",
        "port": 8484,
        "db": Path("tilewire.db"),
        "lexicon": "scowl",
        "threads": 1,
        "ponder": False,
        "max_games": usable_cores(),
        "bots": {},
        "time": TimeControl(ready_ms=LOCAL_READY_MS),
    }


def serve(
    *,
    config: Path | None = None,
    options: ServerSettings | None = None,
    time: Annotated[TimeOption | None, Parameter(show_default="25m")] = None,
    increment: IncrementOption | None = None,
    first_move: FirstMoveOption | None = None,
    drain: Duration = 30_000,
    verbose: VerboseOption = False,
) -> None:
    """Serve arbiters, players and spectators over WebSockets.

    An arbiter that dials ``ws://HOST:PORT/BOT`` gets that bot; a player is seated against a bot
    or another player; a spectator watches. ``/healthz`` tells whether all is well. After
    SIGTERM, games may end within ``--drain``; those that are left go on at the next start.

    Args:
        config: A TOML file with the settings below, ``[bots]`` and ``[time]``; options replace
            what it says.
        drain: How long games may go on after SIGTERM.
    """
    log_to_stderr(verbose)
    settings = _defaults() | read_config(config) | cast("ServerFile", options or {})
    host, threads, ponder = settings["host"], settings["threads"], settings["ponder"]
    control = _time_control(settings["time"], time, increment, first_move, host)
    bots = {name: name for name in known_bots()} | settings["bots"]
    try:
        check_time_control(control)
        specs = {name: parse_seat(text) for name, text in bots.items()}
        allowed = read_token_file(settings["tokens"]) if "tokens" in settings else None
    except (ValueError, OSError) as error:
        raise CommandFailed(str(error)) from None
    if not 0 <= (port := settings["port"]) < 1 << 16:
        raise CommandFailed(f"port must be 0 to 65535, and 0 is any that is free (got {port})")
    server_config = ServerConfig(
        host=host,
        port=port,
        time=control,
        max_games=settings["max_games"],
        drain_s=drain / 1_000,
        tls=_tls(settings.get("tls_cert"), settings.get("tls_key")),
    )
    tables = settings.get("leaves"), settings.get("winprob")
    equipment = equip(settings["lexicon"], *tables, threads, ponder=ponder)
    if ponder:
        check_pondering(server_config.max_games, threads, "--max-games or --threads")
    serving = _serve(server_config, equipment, settings["db"], allowed, specs, settings.get("seed"))
    try:
        run(serving)
    except (JournalError, OSError, SeatError) as error:
        raise CommandFailed(str(error), status=1) from None


def read_config(config: Path | None) -> ServerFile:
    """Read a server's configuration, or fail with a sentence; empty without a file."""
    if config is None:
        return {}
    try:
        said = tomllib.loads(config.read_text(encoding="utf-8"))
        said = {name: value for name, value in said.items() if value != ""}
        file = msgspec.convert(said, ServerFile, dec_hook=lambda kind, value: kind(value))
    except OSError as error:
        raise CommandFailed(f"{config}: {error.strerror}") from None
    except ValueError as error:
        raise CommandFailed(f"{config}: {error}") from None
    if unknown := said.keys() - ServerFile.__annotations__.keys():
        raise CommandFailed(f"{config}: there is no {min(unknown)!r} in a server's settings")
    if "time" in said:
        if unknown := said["time"].keys() - set(TimeControl.__struct_fields__):
            raise CommandFailed(f"{config}: there is no {min(unknown)!r} in [time]")
        ready_ms = said["time"].get("ready_ms", LOCAL_READY_MS)
        file["time"] = msgspec.structs.replace(file["time"], ready_ms=ready_ms)
    return file


def _time_control(
    base: TimeControl,
    time: int | None,
    increment: int | None,
    first_move: int | None,
    host: str,
) -> TimeControl:
    """Return the file's time control with the options of the command line in its place."""
    initial_ms = base.initial_ms if time is None else time
    return msgspec.structs.replace(
        base,
        initial_ms=initial_ms,
        increment_ms=base.increment_ms if increment is None else increment,
        max_overtime_ms=0 if increment else base.max_overtime_ms,
        first_move_ms=base.first_move_ms if first_move is None else first_move,
        lag_ms=base.lag_ms or lag_quota_ms(initial_ms, [host]),
    )


def _tls(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if cert is None and key is None:
        return None
    if cert is None:
        raise CommandFailed("--tls-key needs --tls-cert")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        raise CommandFailed(f"no TLS with {cert} and {key or cert}: {error}") from None
    return context


async def _serve(
    config: ServerConfig,
    equipment: Equipment,
    db: Path,
    allowed: dict[str, str] | None,
    bots: dict[str, SeatSpec],
    seed: int | None,
) -> None:
    lexicon = load_equipped(equipment)
    notice = say_once()
    makers = {
        name: SeatMaker(spec, name, equipment, seed, notice=notice) for name, spec in bots.items()
    }
    for maker in makers.values():
        maker.check(lexicon)  # before anybody plays
    journal = Journal(db)
    numbers = count()  # of games, so that each has random numbers of its own

    def seat(name: str) -> Seat:
        return makers[name].open(lexicon, next(numbers))

    house: dict[str, Callable[[], Seat]] = {name: partial(seat, name) for name in bots}

    async def open_bot(name: str) -> Worker:
        if bots[name].kind == "engine":
            raise PeerError("unknown_bot", f"{name} plays on this server only", close=1008)
        return await makers[name].worker(next(numbers))

    server = MatchServer(config, lexicon, journal, Gatekeeper(journal, allowed), house, open_bot)
    try:
        await server.start()
        scheme = "wss" if config.tls else "ws"
        say(f"serving on {scheme}://{config.host}:{server.port}, journal {db}")
        at_once = await _until_told_to_stop()
        say(
            f"stopping; games may end within {config.drain_s:.0f} s; "
            "a second signal (Ctrl-C) ends it at once"
        )
        left = await server.stop(at_once)
        if left:
            are = "is" if left == 1 else "are"
            say(f"{counted(left, 'game')} {are} left to be resumed at the next start")
    finally:
        for maker in makers.values():
            await maker.close()
        journal.close()


async def _until_told_to_stop() -> asyncio.Event:
    """Wait for a signal to stop; return the event that a second signal sets."""
    stop, at_once = asyncio.Event(), asyncio.Event()

    def told() -> None:
        (at_once if stop.is_set() else stop).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told)
    await stop.wait()
    return at_once
