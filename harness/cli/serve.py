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

import msgspec

from bot.cores import usable_cores
from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec, known_bots
from bot.seat_text import parse_seat
from harness.arbiter.clock import LOCAL_READY_MS, check_time_control, lag_quota_ms
from harness.arbiter.journal import Journal, JournalError
from harness.arbiter.seat import Seat
from harness.figures import counted
from harness.seats.engines import Context, engine_for
from harness.seats.seat_factory import WorkerMaker, open_remote, seat_for
from harness.seats.seats import Worker
from harness.server.server import MatchServer, ServerConfig
from harness.server.tokens import Gatekeeper, read_token_file
from protocol.channel import Channel
from protocol.errors import PeerError
from protocol.parts import TimeControl

from .failing import CommandFailed
from .options import (
    Duration,
    LeavesOption,
    LexiconOption,
    PonderOption,
    SeedOption,
    ThreadsOption,
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

__all__ = ["ServeFile", "read_config", "serve"]


class ServeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a configuration file (TOML) may say; options of the command line go before it."""

    host: str | None = None
    port: int | None = None
    db: str | None = None
    tokens: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    lexicon: str | None = None
    leaves: str | None = None
    winprob: str | None = None
    threads: int | None = None
    ponder: bool = False
    seed: int | None = None
    max_games: int | None = None
    bots: dict[str, str] = {}
    """Built-in bots: name to seat, such as ``quick = "static?temperature=2"``."""
    time: TimeControl | None = None


def serve(
    *,
    host: str | None = None,
    port: int | None = None,
    db: Path | None = None,
    config: Path | None = None,
    tokens: Path | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    lexicon: LexiconOption | None = None,
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    threads: ThreadsOption | None = None,
    ponder: PonderOption = False,
    seed: SeedOption | None = None,
    time: Duration | None = None,
    increment: Duration | None = None,
    first_move: Duration | None = None,
    max_games: int | None = None,
    drain: Duration = 30_000,
    verbose: VerboseOption = False,
) -> None:
    """Serve arbiters, players and spectators over WebSockets.

    An arbiter that dials ``ws://HOST:PORT/BOT`` gets that bot; a player is seated against a bot
    or another player; a spectator watches. ``/healthz`` tells whether all is well. SIGTERM lets
    games end, for as long as ``--drain`` says; what is left goes on at the next start.

    Args:
        host: The address to listen on. [default: 127.0.0.1]
        port: The port; 0 for any. [default: 8484]
        db: The journal. [default: tilewire.db]
        config: A TOML file with these settings, and ``[bots]`` and ``[time]``.
        tokens: A file of names and token hashes; then nobody else may play.
        tls_cert: A certificate (PEM), to serve wss.
        tls_key: Its key (PEM).
        lexicon: An embedded lexicon, or a word list or KWG file. [default: scowl]
        leaves: trained, formula, or a leave table (KLV2) for local bots. [default: the bots' own]
        winprob: trained, or a table of win probabilities (CSV) for local bots that use one.
        threads: How many each local bot may search with. [default: 1]
        ponder: Let local bots search while their opponent thinks, if the cores are enough for the
            threads of as many games as may be on at once.
        seed: For the own chance of local bots; what is drawn stays secret.
        time: Each side's clock. [default: 25m]
        increment: Added after each move; then there is no overtime.
        first_move: The longest that a seat's first turn may take; more is a no-show.
        max_games: Games at once. [default: one a core]
        drain: How long games may go on after SIGTERM.
        verbose: Log what happens to stderr.
    """
    log_to_stderr(verbose)
    file = read_config(config)
    address = host or file.host or "127.0.0.1"
    control = _time_control(
        file.time or TimeControl(ready_ms=LOCAL_READY_MS), time, increment, first_move, address
    )
    try:
        check_time_control(control)
        bots = {name: parse_seat(text) for name, text in {**_house(), **file.bots}.items()}
        known = _path(tokens, file.tokens)
        allowed = None if known is None else read_token_file(known)
    except (ValueError, OSError) as error:
        raise CommandFailed(str(error)) from None
    server_config = ServerConfig(
        host=address,
        port=_port(_first(port, file.port, 8484)),
        time=control,
        max_games=_most(_first(max_games, file.max_games, usable_cores())),
        drain_s=drain / 1_000,
        tls=_tls(_path(tls_cert, file.tls_cert), _path(tls_key, file.tls_key)),
    )
    equipment = equip(
        lexicon or file.lexicon or "scowl",
        leaves or file.leaves,
        winprob or file.winprob,
        _first(threads, file.threads, 1),
        ponder=ponder or file.ponder,
    )
    if equipment.ponder:
        check_pondering(server_config.max_games, equipment.threads, "--max-games or --threads")
    path = _path(db, file.db) or Path("tilewire.db")
    chance = file.seed if seed is None else seed
    try:
        run(_serve(server_config, equipment, path, allowed, bots, chance))
    except (JournalError, OSError, SeatError) as error:
        raise CommandFailed(str(error), status=1) from None


def _time_control(
    base: TimeControl,
    time: int | None,
    increment: int | None,
    first_move: int | None,
    address: str,
) -> TimeControl:
    """Put the options of the command line over what the file says."""
    initial_ms = base.initial_ms if time is None else time
    return msgspec.structs.replace(
        base,
        initial_ms=initial_ms,
        increment_ms=base.increment_ms if increment is None else increment,
        max_overtime_ms=0 if increment else base.max_overtime_ms,
        first_move_ms=base.first_move_ms if first_move is None else first_move,
        lag_ms=base.lag_ms or lag_quota_ms(initial_ms, [address]),
    )


def _house() -> dict[str, str]:
    return {name: name for name in known_bots()}


def _first(option: int | None, setting: int | None, usual: int) -> int:
    return option if option is not None else setting if setting is not None else usual


def _port(number: int) -> int:
    if not 0 <= number < 1 << 16:
        raise CommandFailed(f"port {number}: it is 0 to 65535, and 0 is any that is free")
    return number


def _most(games: int) -> int:
    if games < 1:
        raise CommandFailed(f"max_games {games}: it is 1 or more")
    return games


def _path(option: Path | None, text: str | None) -> Path | None:
    return option or (Path(text) if text else None)


def read_config(config: Path | None) -> ServeFile:
    """Read a server's configuration, or fail with a sentence; without a file nothing is said."""
    if config is None:
        return ServeFile()
    try:
        said = tomllib.loads(config.read_text(encoding="utf-8"))
        file = msgspec.convert(said, ServeFile)
    except OSError as error:
        raise CommandFailed(f"{config}: {error.strerror}") from None
    except ValueError as error:
        raise CommandFailed(f"{config}: {error}") from None
    if file.time is None:
        return file
    if unknown := said["time"].keys() - set(TimeControl.__struct_fields__):
        raise CommandFailed(f"{config}: there is no {min(unknown)!r} in [time]")
    ready_ms = said["time"].get("ready_ms", LOCAL_READY_MS)
    return msgspec.structs.replace(file, time=msgspec.structs.replace(file.time, ready_ms=ready_ms))


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
    for name, spec in bots.items():
        if spec.kind == "engine":  # its options are read before anybody plays
            engine_for(spec, Context(name, equipment.lexicon, lexicon, equipment.threads))
    journal = Journal(db)
    notice = say_once()
    makers = {
        name: WorkerMaker(spec, name, equipment, seed, reuse=spec.built_in, notice=notice)
        for name, spec in bots.items()
        if spec.kind == "local"
    }
    numbers = count()  # of games, so that each has chance of its own

    def seat(name: str) -> Seat:
        return seat_for(bots[name], name, makers.get(name), equipment, lexicon, next(numbers))

    house: dict[str, Callable[[], Seat]] = {name: partial(seat, name) for name in bots}

    async def open_bot(name: str) -> tuple[Channel, Worker | None]:
        if bots[name].kind == "engine":
            raise PeerError("unknown_bot", f"{name} plays on this server only", close=1008)
        if name in makers:
            worker = await makers[name].make(next(numbers))
            return worker.channel, worker
        return await open_remote(bots[name]), None

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
    """Wait for a signal to stop; give what is set by a second one."""
    stop, at_once = asyncio.Event(), asyncio.Event()

    def told() -> None:
        (at_once if stop.is_set() else stop).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told)
    await stop.wait()
    return at_once
