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
from bot.registry import SeatError, SeatSpec, about, known_bots
from harness.arbiter.clock import is_loopback
from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import files_at, is_url
from harness.config_file import read_config_file
from harness.game_kinds import MAIN
from harness.server.admission import Admission
from harness.server.analysis.process import AnalysisProcess
from harness.server.analysis.settings import AnalysisSettings
from harness.server.ladder.settings import (
    LadderSettings,
    ServerTime,
    check_ladder,
    check_table_name,
)
from harness.server.play import Offered
from harness.server.server import MatchServer
from harness.server.tables import TableKind, Tables
from harness.server.tokens import Gatekeeper
from lexicons.store import Lexicon
from protocol.accepting import check_address
from protocol.errors import PeerError

from . import options
from .access_files import AccessFiles, read_access_files, rereading
from .failing import CommandFailed, sentences
from .preparing import ANALYST
from .serving import (
    LOOPBACK,
    RESERVE_BYTES,
    House,
    prepare_bots,
    read_bots,
    return_freed_memory,
    tell,
    time_control,
    until_stopped,
)
from .standby import Standby

if TYPE_CHECKING:
    from harness.server.direction import Plan


class TableWords(TypedDict, total=False):
    """What is played at a table; only what was given."""

    rules: Annotated[options.RulesOption, Parameter(show_default="english")]
    lexicon: options.RulesLexiconOption
    leaves: options.LeavesOption
    winprob: options.WinprobOption


@Parameter(name="*")
class ServerSettings(TableWords, total=False):
    """Settings that are options of ``tilewire serve`` and keys of its TOML file.

    Only what was given is there: options replace what the file says, and both the defaults.
    """

    host: options.HostOption
    """The address to listen on. [default: 127.0.0.1]"""
    port: options.PortOption
    """The port; 0 for any. [default: 8484]"""
    db: str
    """The journal: a file, or postgresql://USER@HOST/DATABASE. [default: tilewire.db]"""
    standby: Annotated[bool, Parameter(negative="")]
    """Wait while another server has the journal, and go on with its games after it."""
    tokens: Path
    """A file of names and token hashes; then nobody else may play."""
    open_to_all: Annotated[bool, Parameter(negative="")]
    """Let anybody play at a --host that others reach, without --tokens."""
    admins: Path
    """A file of names and token hashes of those who may use tilewire admin."""
    tls_cert: Path
    """A certificate (PEM), to serve wss."""
    tls_key: Path
    """Its key (PEM)."""
    threads: Annotated[options.ThreadsOption, Parameter(show_default="1")]
    ponder: options.PonderOption
    seed: Annotated[
        options.SeedOption, Parameter(help="Seed of local bots' own choices; draws stay secret.")
    ]
    max_games: options.Count
    """Games at once. [default: one a core]"""


_WITH_A_TOURNAMENT = {
    *("host", "port", "tokens", "open_to_all", "admins", "tls_cert", "tls_key", "max_games"),
    "admission",
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


def _defaults() -> ServerFile:
    return {
        "host": LOOPBACK,
        "port": 8484,
        "db": "tilewire.db",
        "standby": False,
        "open_to_all": False,
        "rules": "english",
        "threads": 1,
        "ponder": False,
        "max_games": usable_cores(),
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
    time: Annotated[options.TimeOption | None, Parameter(show_default="25m")] = None,
    increment: options.IncrementOption | None = None,
    first_move: options.FirstMoveOption | None = None,
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
        said = read()
        clocks = {"time": time, "increment": increment, "first_move": first_move}
        others = {name for name, ms in clocks.items() if ms is not None}
        others |= {"ladder"} if ladder else set()
        if others := others | said.keys() - _WITH_A_TOURNAMENT:
            raise CommandFailed(
                f"not allowed with --tournament: {', '.join(sorted(others))}; words, clock and "
                f"bots of a tournament are set in {tournament}, and it has no ladder"
            )
        settings = _defaults() | said
        _run_tournament(settings, tournament, out, drain / 1_000, lambda: _defaults() | read())
        return
    if out is not None:
        raise CommandFailed("--out is the folder of a tournament, and needs --tournament")
    clock = {"initial_ms": time, "increment_ms": increment, "first_move_ms": first_move}

    def read_all() -> ServerFile:
        return _completed(read(), clock, ladder=ladder)

    settings = read_all()
    _check_standby(settings)
    threads, ponder = settings["threads"], settings["ponder"]
    specs = _bots(settings)
    access = read_access_files(settings, tell)
    options.say("loading words, tables and bots")
    equipped = partial(options.equipment_named, threads=threads, ponder=ponder)
    equipment = equipped(settings)
    if ponder:
        options.check_pondering(settings["max_games"], threads, "--max-games or --threads")
    hidden = (*access.hidden, *files_at(settings["db"]))
    analyst = [ANALYST] if settings["analysis"].workers else []
    prepare_bots(specs, equipment, *analyst, hidden=hidden)
    kinds = {name: (equipped(kind), kind.get("time")) for name, kind in settings["tables"].items()}
    with sentences(kinds=(JournalError, OSError, SeatError), status=1):
        house = House(specs, equipment, kinds, settings.get("seed"), hidden)
        options.run(_serve(settings, drain / 1_000, access, house, specs, read_all))


def _completed(said: ServerFile, clock: Mapping[str, int | None], *, ladder: bool) -> ServerFile:
    """Return settings with all defaults, and clocks as they are on this address; or fail."""
    settings = _defaults() | said
    host, tables = settings["host"], settings["tables"].copy()
    settings["time"] = time_control(settings["time"], clock, host)
    for name, kind in settings["tables"].items():
        if name == MAIN:
            raise CommandFailed(
                f"tables.{MAIN}: the settings outside [tables] are those of the table {MAIN}; "
                "choose another name"
            )
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
    if not settings["standby"]:
        return
    if not is_url(settings["db"]):
        raise CommandFailed(
            "--standby waits for a journal that several machines reach: "
            "--db postgresql://USER@HOST/DATABASE"
        )
    if not settings["admission"].proxies:
        options.say(
            "connections that come through a balancer count as one address, unless "
            "admission.proxies lists the balancer's"
        )


def _run_tournament(
    settings: ServerFile,
    file: Path,
    out: Path | None,
    drain_s: float,
    read: Callable[[], ServerFile],
) -> None:
    """Run a tournament until a signal comes, and print its table."""
    access = read_access_files(settings, tell)
    options.say("loading words, tables and bots")
    with sentences(kinds=(OSError,), status=1):  # before there is a folder
        options.run(check_address(settings["host"], settings["port"]))
    from .directed import plan_of  # brings numba in, which a server otherwise starts without
    from .match import FAILURES, print_table

    plan, words = plan_of(file, out, settings["host"], settings["max_games"], access)
    with plan.files as files:
        try:
            with sentences(kinds=(*FAILURES, PeerError), status=1):
                options.run(_serve_tournament(settings, drain_s, access, words, plan, read))
        finally:
            if files.results:
                print_table(files, plan.config, as_json=False)


async def _serve_tournament(
    settings: ServerFile,
    drain_s: float,
    access: AccessFiles,
    lexicon: Lexicon,
    plan: Plan,
    read: Callable[[], ServerFile],
) -> None:
    with closing(Journal(plan.files.path / "match.db", RESERVE_BYTES)) as journal:
        server = MatchServer(
            Tables(TableKind(lexicon=lexicon)),
            journal,
            Gatekeeper(journal, access.tokens),
            host=settings["host"],
            port=settings["port"],
            time=plan.config.time,
            max_games=settings["max_games"],
            drain_s=drain_s,
            tls=access.tls,
            tell=tell,
            admission=settings["admission"],
            admins=access.admins,
            plan=plan,
        )
        clock = {"time": plan.config.time}
        again = rereading(server, access, settings | clock, lambda: read() | clock, tell)
        told = asyncio.ensure_future(options.until_told_to_stop())
        await until_stopped(server, _started(server, str(plan.files.path), again), told)


def read_config(config: Path | None) -> ServerFile:
    """Read a server's configuration, or fail with a sentence; empty without a file."""
    if config is None:
        return {}
    with sentences():
        return read_config_file(config, ServerFile)


def _bots(settings: ServerFile) -> dict[str, SeatSpec]:
    """Return a server's bots by name, and check that those which the ladder names are there."""
    bots = {name: name for name in known_bots()} | settings["bots"]
    specs = read_bots(bots)
    if "ladder" in settings:
        with sentences():
            check_ladder(settings["ladder"], bots.keys(), {MAIN, *settings["tables"]})
    return specs


async def _serve(
    settings: ServerFile,
    drain_s: float,
    access: AccessFiles,
    house: House,
    specs: dict[str, SeatSpec],
    read: Callable[[], ServerFile],
) -> None:
    await check_address(settings["host"], settings["port"])  # before there is a journal
    standby, patient = settings["standby"], False
    told = asyncio.ensure_future(options.until_told_to_stop())  # heard between states, too
    in_effect = settings.copy()
    try:
        while True:
            if standby:
                journal = await _stand_by(settings, access, told, patient=patient)
                if journal is None:
                    return
            else:
                journal = Journal(settings["db"], RESERVE_BYTES)
            with closing(journal):
                try:
                    server = _server(journal, settings, drain_s, access, house, specs)
                    again = rereading(server, access, in_effect, read, tell)
                    kept = f"journal {journal.name}"
                    if "ladder" in settings:
                        at = " and ".join(settings["ladder"].tables)
                        kept += f", ladder at {at}" if at else ", ladder"
                    started = _started(server, kept, again, standby)
                    lost = await until_stopped(server, started, told)
                except JournalError as error:  # it can no longer be read
                    if not standby:
                        raise
                    lost = str(error)
            if lost is None:
                return
            tell(f"{lost}; the games are left to whoever has the journal next")
            standby = patient = True
    finally:
        told.cancel()
        await house.close()


async def _stand_by(
    settings: ServerFile, access: AccessFiles, told: asyncio.Future[asyncio.Event], *, patient: bool
) -> Journal | None:
    """Return the journal once this host may have it; None if a signal ends the wait."""
    address = settings["host"], settings["port"]
    async with Standby(settings["db"], access, settings["admission"], *address) as standby:
        settings["port"] = standby.port  # a balancer knows it by now
        return await standby.wait(told, patient=patient)


def _server(
    journal: Journal,
    settings: ServerFile,
    drain_s: float,
    access: AccessFiles,
    house: House,
    specs: dict[str, SeatSpec],
) -> MatchServer:
    """Return a server of the games of a journal."""
    retention = None
    if "keep_days" in settings:
        from harness.server.retention import Retention

        retention = Retention(settings["keep_days"], settings["archive"])
    return MatchServer(
        house.tables,
        journal,
        Gatekeeper(journal, access.tokens),
        house.main_bots.lend,
        host=settings["host"],
        port=settings["port"],
        time=settings["time"],
        max_games=settings["max_games"],
        drain_s=drain_s,
        tls=access.tls,
        tell=tell,
        admission=settings["admission"],
        analysis=settings["analysis"],
        analyst=partial(AnalysisProcess.start, hidden=(*access.hidden, *files_at(settings["db"]))),
        admins=access.admins,
        rated=settings.get("ladder"),
        retention=retention,
        offered=Offered({name: about(spec) for name, spec in specs.items()}),
    )


def _started(
    server: MatchServer,
    kept: str,
    again: Callable[[], None],
    has_waited: bool = False,
) -> Callable[[], None]:
    """Return a function to call when the server listens; after a wait it reads the files again."""

    def started() -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, again)
        if has_waited:
            again()
        url = f"{'wss' if server.tls else 'ws'}://{server.host}:{server.port}"
        tell(f"serving on {url}, {kept}")
        if server.tls is None and not is_loopback(server.host):
            options.say(
                f"what is sent to {server.host} can be read on its way, tokens too; serve wss by "
                "--tls-cert, here or in a reverse proxy"
            )
        if server.journal.notice:
            options.say(server.journal.notice)

    return started
