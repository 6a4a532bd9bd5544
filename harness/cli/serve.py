"""``tilewire serve``."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, cast

import msgspec
from cyclopts import Parameter

from bot.cores import usable_cores
from bot.registry import LEVELS, SeatError, SeatSpec, usual_bots
from harness.arbiter.clock import is_loopback
from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import files_at, is_url
from harness.config_file import read_config_file
from harness.game_kinds import MAIN
from harness.server.admission import Admission
from harness.server.ladder.settings import (
    LadderSettings,
    ServerTime,
    check_ladder,
    check_table_name,
)
from harness.server.page_analysis.process import AnalysisProcess
from harness.server.page_analysis.queue import AnalysisSettings
from harness.server.server import MatchServer
from harness.server.tables import ServerTables, TableKind
from harness.server.tokens import Gatekeeper
from protocol.accepting import check_address
from protocol.errors import PeerError

from . import options
from .access_files import AccessFiles, read_access_files, rereading
from .failing import CommandFailed, sentences
from .preparing import ANALYST, prepare
from .serving import (
    LOOPBACK,
    RESERVE_BYTES,
    House,
    is_any,
    log_line,
    offered,
    reached_at,
    read_bots,
    return_freed_memory,
    time_control,
    until_stopped,
)
from .standby import Standby

if TYPE_CHECKING:
    from harness.server.retention import Retention


_DOOR = options.group("Address and access", 1)


class TableWords(TypedDict, total=False):
    """What is played at a table; only what was given."""

    rules: Annotated[options.RulesOption, options.WORDS]
    lexicon: Annotated[options.RulesLexiconOption, options.WORDS]
    leaves: Annotated[options.LeavesOption, options.WORDS]
    winprob: Annotated[options.WinprobOption, options.WORDS]


@Parameter(name="*")
class ServerSettings(TableWords, total=False):
    """Settings that are options of ``tilewire serve`` and keys of its TOML file.

    Only what was given is there: options replace what the file says, and both the defaults.
    """

    host: Annotated[options.HostOption, _DOOR]
    """The address to listen on. [default: 127.0.0.1]"""
    port: Annotated[options.PortOption, _DOOR]
    """The port; 0 for any. [default: 8484]"""
    db: str
    """The journal: a file, or postgresql://USER@HOST/DATABASE. [default: tilewire.db]"""
    standby: Annotated[bool, Parameter(negative="")]
    """Wait while another server has the journal, and go on with its games after it."""
    tokens: Annotated[Path, _DOOR]
    """A file of names and token hashes; then nobody else may play."""
    open_to_all: Annotated[bool, _DOOR, Parameter(negative="")]
    """Let anybody play at a --host that others reach, without --tokens."""
    admins: Annotated[Path, _DOOR]
    """A file of names and token hashes of those who may use tilewire admin."""
    tls_cert: Annotated[Path, _DOOR]
    """A certificate (PEM), to serve wss."""
    tls_key: Annotated[Path, _DOOR]
    """Its key (PEM)."""
    threads: Annotated[options.ThreadsOption, options.HERE, Parameter(show_default="1")]
    ponder: Annotated[options.PonderOption, options.HERE]
    seed: Annotated[
        options.SeedOption, Parameter(help="Seed of local bots' own choices; draws stay secret.")
    ]
    max_games: Annotated[options.Count, options.HERE]
    """Games at once. [default: one a core]"""
    require_containment: Annotated[options.ContainedOption, options.HERE]


THOUGHTS_DAYS = 1.0
"""Days for which a server that anybody may fill keeps what players without a token think."""

_WITH_A_TOURNAMENT = {
    *("host", "port", "tokens", "open_to_all", "admins", "tls_cert", "tls_key", "max_games"),
    *("admission", "require_containment"),
}
"""Settings allowed with ``--tournament``, whose file has all others."""


class TableFile(TableWords, total=False):
    """The keys of ``[tables.NAME]``."""

    time: ServerTime
    """Its clock; without it the server's."""


class ServerFile(ServerSettings, total=False):
    """The keys of a configuration file (TOML)."""

    bots: dict[str, str]
    """Built-in bots: name to seat, such as ``quick = "static?temperature=2"``."""
    time: ServerTime
    admission: Admission
    analysis: AnalysisSettings
    ladder: LadderSettings
    tables: dict[str, TableFile]
    """Tables beside the main one, by name."""
    keep_days: Annotated[float, msgspec.Meta(gt=0)]
    """Days after which a game's moves leave the journal; without it they never do."""
    archive: Path
    """The folder that they move to, as GCG by month."""
    thoughts_days: Annotated[float, msgspec.Meta(gt=0)]
    """Days after which thoughts in games of players without a token leave the journal; by default 1
    if others reach a server without ``tokens``, else never."""


def _defaults() -> ServerFile:
    return {
        "host": LOOPBACK,
        "port": 8484,
        "db": "tilewire.db",
        "standby": False,
        "open_to_all": False,
        "threads": 1,
        "ponder": False,
        "max_games": usable_cores(),
        "require_containment": False,
        "bots": {},
        "tables": {},
        "time": ServerTime(),
        "admission": Admission(),
        "analysis": AnalysisSettings(),
        "archive": Path("archive"),
    }


def serve(
    *,
    config: Path | None = None,
    given: ServerSettings | None = None,
    time: Annotated[
        options.TimeOption | None, options.CLOCKS, Parameter(show_default="25m")
    ] = None,
    increment: Annotated[options.IncrementOption | None, options.CLOCKS] = None,
    first_move: Annotated[options.FirstMoveOption | None, options.CLOCKS] = None,
    ladder: Annotated[bool, Parameter(negative="")] = False,
    drain: options.Duration = 30_000,
    tournament: Path | None = None,
    out: Path | None = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Serve arbiters, players and spectators over WebSockets, run a ladder or a tournament.

    An arbiter that dials ``ws://HOST:PORT/BOT`` gets that bot; a player is seated against a bot
    or another player; a spectator watches. ``/healthz`` tells whether all is well. After
    SIGTERM, games may end within ``--drain``; those that are left go on at the next start.

    On a ladder, players who seek any opponent are paired and rated as long as they stay; ``/api/``
    has the lists, players and games. With ``--tournament`` the players are its entrants:
    seats ``guest:NAME`` dial in by that name.

    Args:
        config: A TOML file with the settings below, ``[bots]``, ``[time]``, ``[tables.NAME]``,
            ``[admission]``, ``[analysis]`` and ``[ladder]``; options replace what it says.
        ladder: Run a ladder, also without ``[ladder]`` in the file.
        drain: How long games may go on after SIGTERM.
        tournament: A TOML file with the tournament to run: keys of ``tilewire tournament``, and
            ``wait``, ``no_show``, ``directors``, ``open``.
        out: The tournament's folder, where it goes on if it was begun.
            [default: tournaments/TIME]
    """
    options.log_to_stderr(verbose)
    return_freed_memory()

    def read() -> ServerFile:
        return read_config(config) | cast("ServerFile", given or {})

    if tournament is not None:
        file_settings = read()
        own = {"time": time, "increment": increment, "first_move": first_move}
        own["ladder"] = ladder or None
        named = {name for name, value in own.items() if value is not None}
        _check_tournament_settings(tournament, named | file_settings.keys())
        settings = _defaults() | file_settings
        options.check_containment(settings["require_containment"])
        _run_tournament(settings, tournament, out, drain / 1_000, lambda: _defaults() | read())
        return
    if out is not None:
        raise CommandFailed("--out is the folder of a tournament, and needs --tournament")
    clock = {"initial_ms": time, "increment_ms": increment, "first_move_ms": first_move}

    def read_all() -> ServerFile:
        return _completed(read(), clock, ladder=ladder)

    options.check_containment((settings := read_all())["require_containment"])
    _check_standby(settings)
    threads, ponder = settings["threads"], settings["ponder"]
    specs, access = _bots(settings), read_access_files(settings, log_line)
    options.print_notice("loading words, tables and bots")
    equipped = partial(options.equipment_named, threads=threads, ponder=ponder)
    equipment = equipped(settings)
    if ponder:
        options.check_pondering(settings["max_games"], threads, "--max-games or --threads")
    hidden = (*access.hidden, *files_at(settings["db"]))
    analyst = [ANALYST] if settings["analysis"].workers else []
    seats = (
        ("" if name == spec.text else f"bots.{name}: ", name, spec)
        for name, spec in specs.items()
        if name not in LEVELS or name in settings["bots"]
    )
    prepare(seats, equipment, *analyst, hidden=hidden)
    kinds = {name: (equipped(kind), kind.get("time")) for name, kind in settings["tables"].items()}
    with sentences(kinds=(JournalError, OSError, SeatError), status=1):
        house = House(specs, equipment, kinds, settings.get("seed"), hidden)
        options.run(_serve(settings, drain / 1_000, access, house, read_all))


def _check_tournament_settings(tournament: Path, named: set[str]) -> None:
    if others := named - _WITH_A_TOURNAMENT:
        raise CommandFailed(
            f"not allowed with --tournament: {', '.join(sorted(others))}; words, clock and "
            f"bots of a tournament are set in {tournament}, and it has no ladder"
        )


def _completed(said: ServerFile, clock: Mapping[str, int | None], *, ladder: bool) -> ServerFile:
    """Return settings with all defaults, and clocks as they are on this address; or fail."""
    settings = _defaults() | said
    host, tables = settings["host"], settings["tables"].copy()
    settings["time"] = time_control(settings["time"], clock, host)
    for name, kind in settings["tables"].items():
        if name == MAIN:
            why = f"the settings outside [tables] are those of the table {MAIN}"
            raise CommandFailed(f"tables.{MAIN}: {why}; choose another name")
        with sentences(f"tables.{name}: "):
            check_table_name(name)
            if "time" in kind:
                tables[name] = {**kind, "time": time_control(kind["time"], {}, host)}
    settings["tables"] = tables
    if ladder or "ladder" in settings:
        asked = settings.get("ladder", LadderSettings())
        clocks = {name: time_control(time, {}, host) for name, time in asked.tables.items()}
        settings["ladder"] = msgspec.structs.replace(asked, tables=clocks)
    _bots(settings)
    return settings


def _check_standby(settings: ServerFile) -> None:
    """Check what several hosts need to stand by for each other, or fail with a sentence."""
    if settings["standby"] and not is_url(settings["db"]):
        raise CommandFailed(
            "--standby waits for a journal that several machines reach: "
            "--db postgresql://USER@HOST/DATABASE"
        )
    if settings["standby"] and not settings["admission"].proxies:
        options.print_notice(
            "connections through a balancer count as one address, "
            "unless admission.proxies lists the balancer's"
        )


def _run_tournament(
    settings: ServerFile,
    file: Path,
    out: Path | None,
    drain_s: float,
    read: Callable[[], ServerFile],
) -> None:
    """Run a tournament until a signal comes, and print its table."""
    access = read_access_files(settings, log_line)
    options.print_notice("loading words, tables and bots")
    with sentences(kinds=(OSError,), status=1):  # before there is a folder
        options.run(check_address(settings["host"], settings["port"]))
    from .directed import plan_of  # brings numba in, which a server otherwise starts without
    from .match import FAILURES, print_table

    plan, words = plan_of(file, out, settings["host"], settings["max_games"], access)
    clock = {"time": plan.config.time}

    async def run() -> None:
        with closing(Journal(plan.files.path / "match.db", RESERVE_BYTES)) as journal:
            server = MatchServer(
                ServerTables(TableKind(lexicon=words)),
                journal,
                Gatekeeper(journal, access.tokens, plan.entrants),
                host=settings["host"],
                port=settings["port"],
                time=plan.config.time,
                max_games=settings["max_games"],
                drain_s=drain_s,
                tls=access.tls,
                log_line=log_line,
                admission=settings["admission"],
                admins=access.admins,
                plan=plan,
            )
            reread = rereading(server, access, settings | clock, lambda: read() | clock, log_line)
            interrupted = asyncio.ensure_future(options.until_interrupted())
            started = partial(_started, server, str(plan.files.path), reread)
            await until_stopped(server, started, interrupted)

    with plan.files as files, sentences(kinds=(*FAILURES, PeerError), status=1):
        try:
            options.run(run())
            options.print_notice(f"tilewire serve --tournament {file} --out {files.path} goes on")
        finally:
            if files.results:
                print_table(files, plan.config, as_json=False)


def read_config(config: Path | None) -> ServerFile:
    """Read a server's configuration, or fail with a sentence; empty without a file."""
    if config is None:
        return {}
    with sentences():
        return read_config_file(config, ServerFile)


def _bots(settings: ServerFile) -> dict[str, SeatSpec]:
    """Return a server's bots by name, and check that those which the ladder names are there."""
    specs = read_bots(usual_bots() | settings["bots"])
    if "ladder" in settings:
        with sentences():
            check_ladder(settings["ladder"], specs.keys(), {MAIN, *settings["tables"]})
    return specs


async def _serve(
    settings: ServerFile,
    drain_s: float,
    access: AccessFiles,
    house: House,
    read: Callable[[], ServerFile],
) -> None:
    await check_address(settings["host"], settings["port"])  # before there is a journal
    standby, patient = settings["standby"], False
    interrupted = asyncio.ensure_future(options.until_interrupted())  # heard between states, too
    in_effect = settings.copy()
    try:
        while True:
            if standby:
                address = settings["host"], settings["port"]
                waits = Standby(settings["db"], access, settings["admission"], *address)
                async with waits.listening():
                    settings["port"] = waits.port  # a balancer knows it by now
                    journal = await waits.wait(interrupted, patient=patient)
                if journal is None:  # a signal ended the wait
                    return
            else:
                journal = Journal(settings["db"], RESERVE_BYTES)
            with closing(journal):
                try:
                    server = _server(journal, settings, drain_s, access, house)
                    reread = rereading(server, access, in_effect, read, log_line)
                    storage = f"journal {journal.name}"
                    if "ladder" in settings:
                        tables_text = " and ".join(settings["ladder"].tables)
                        storage += f", ladder at {tables_text}" if tables_text else ", ladder"
                    places = settings["max_games"]
                    most = settings["admission"].most_lent(places)
                    storage += f", lent bots have {most} of {places} places at most"
                    started = partial(_started, server, storage, reread, has_waited=standby)
                    lost = await until_stopped(server, started, interrupted)
                except JournalError as error:  # it can no longer be read
                    if not standby:
                        raise
                    lost = str(error)
            if lost is None:
                return
            log_line(f"{lost}; the games are left to whoever has the journal next")
            standby = patient = True
    finally:
        interrupted.cancel()
        await house.close()


def _server(
    journal: Journal, settings: ServerFile, drain_s: float, access: AccessFiles, house: House
) -> MatchServer:
    """Return a server of the games of a journal.

    A player's name stays the player's: the bot for people that has it by now is left out.
    """
    players = journal.claimed_names() | (access.tokens.read().keys() if access.tokens else set())
    taken = [name for name in LEVELS if name in players and name not in settings["bots"]]
    if taken:
        options.print_notice(
            f"players have the names {', '.join(taken)}, so the bots of these names are left out; "
            "under [bots] they may have other names"
        )
    house.leave_out(taken)
    return MatchServer(
        house.tables,
        journal,
        Gatekeeper(journal, access.tokens),
        house.lend,
        host=settings["host"],
        port=settings["port"],
        time=settings["time"],
        max_games=settings["max_games"],
        drain_s=drain_s,
        tls=access.tls,
        log_line=log_line,
        admission=settings["admission"],
        analysis=settings["analysis"],
        analyst=partial(AnalysisProcess.start, hidden=(*access.hidden, *files_at(settings["db"]))),
        admins=access.admins,
        rated=settings.get("ladder"),
        retention=retention_of(settings, is_open=access.tokens is None),
        offered=offered(house.specs),
    )


def retention_of(settings: ServerFile, *, is_open: bool) -> Retention | None:
    """Return what leaves the journal of a server, and when; None: nothing does."""
    is_reached = not is_loopback(settings["host"]) or settings["admission"].proxies
    default = THOUGHTS_DAYS if is_reached and is_open else None
    keep_days = settings.get("keep_days")
    thoughts_days = settings.get("thoughts_days", default)
    if keep_days is None and thoughts_days is None:
        return None
    from harness.server.retention import Retention

    return Retention(keep_days, settings["archive"], thoughts_days)


def _started(
    server: MatchServer, storage: str, reread: Callable[[], None], *, has_waited: bool = False
) -> None:
    """Print where a server listens, and warn of what is unsafe; have SIGHUP reread its files.

    A standby that has waited rereads them at once: they may have changed meanwhile.
    """
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reread)
    if has_waited:
        reread()
    s = "" if server.tls is None else "s"
    address, everywhere = reached_at(server.host, server.port), ""
    if is_any(server.host):
        everywhere = " at all IPv4 addresses" if "." in server.host else " at all addresses"
    log_line(f"serving on ws{s}://{address}, page http{s}://{address}/{everywhere}, {storage}")
    if server.tls is None and not is_loopback(server.host):
        options.print_notice(
            f"what is sent to {server.host} can be read on its way, tokens too; serve wss by "
            "--tls-cert, here or in a reverse proxy"
        )
    if server.journal.notice:
        options.print_notice(server.journal.notice)
