"""``tilewire play``: a server for one person, who plays on its page or in the terminal."""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from bot.cores import usable_cores
from bot.equipment import Equipment
from bot.registry import LEVELS, SeatError, SeatSpec, known_bots, usual_bots
from bot.seat_text import LONGEST_NAME, parse_seat
from harness.arbiter.clock import is_loopback
from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import files_at
from harness.figures import plain
from harness.matches.config import told_apart
from harness.server.admission import Admission, check_admission
from harness.server.ladder.settings import ServerTime
from harness.server.page_analysis.process import AnalysisProcess
from harness.server.page_analysis.queue import AnalysisSettings
from harness.server.play import Offered
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper
from lexicons.text import did_you_mean
from protocol.accepting import check_address
from protocol.parts import TimeControl

from . import options
from .failing import CommandFailed, sentences
from .preparing import ANALYST, prepare
from .serving import (
    LOOPBACK,
    RESERVE_BYTES,
    House,
    offered,
    reached_at,
    read_bots,
    time_control,
    until_stopped,
)

PORT = 8484
"""The port with ``--host``, which others have to know."""

ANYBODY = "club"
"""The bot in a terminal, if none is named."""
OWN_ANALYSIS = AnalysisSettings(seconds=600, seconds_per_hour=36_000, per_visitor=30)
NOBODY = "you"
"""The name of a person whose login name can't be used."""


def play(
    bot: str | None = None,
    /,
    *,
    name: str | None = None,
    time: options.TimeOption = 25 * 60_000,
    increment: options.IncrementOption = 0,
    host: options.HostOption = LOOPBACK,
    port: options.PortOption | None = None,
    db: Path = Path("play.db"),
    terminal: Annotated[bool, Parameter(negative="")] = False,
    no_browser: Annotated[bool, Parameter(negative="")] = False,
    rules: options.RulesOption = None,
    tables: options.TableOptions = options.TableOptions(),
    threads: options.ThreadsOption = 1,
    require_containment: options.ContainedOption = False,
    verbose: options.VerboseOption = False,
) -> None:
    """Play against a bot yourself, in the browser or in the terminal.

    Starts a server that only this machine reaches, and opens its page. Ctrl-C ends it; a game that
    is on then goes on at the next start with the same journal.

    Args:
        bot: The opponent: a bot's name, a level such as beginner, or a seat such as
            static?temperature=5. [default: chosen on the page; in a terminal, club]
        name: Your name. [default: that of the only open game in --db; your login name]
        host: The address to listen on; in a container 0.0.0.0.
        port: The port; 0 for any that is free. [default: 0; with another --host 8484]
        db: The journal, with all of your games.
        terminal: Play in this terminal instead.
        no_browser: Print the page's address, and open no browser.
    """
    options.log_to_stderr(verbose)
    options.check_containment(require_containment)
    if terminal and sys.stdin is None:  # closed by whoever started this
        raise CommandFailed("--terminal needs standard input")
    clock = time_control(ServerTime(), {"initial_ms": time, "increment_ms": increment}, host)
    specs, opponent = _bots(bot)
    person = _person(name, specs)
    options.say("loading words, tables and bots")
    games = max(2, usable_cores())
    with sentences():
        check_admission(Admission(), games)
    equipment = tables.for_game(rules, threads)
    own = [("", name, spec) for name, spec in specs.items() if name not in LEVELS]
    prepare(own, equipment, ANALYST, hidden=files_at(db))
    offers = offered(specs, name=person, opponent=opponent, is_private=True)
    house = OwnServer(equipment, specs, offers, clock, games, host, port, db, name is not None)
    with sentences(kinds=(JournalError, OSError, SeatError), status=1):
        is_chosen = rules is not None or tables.lexicon != Equipment.lexicon
        kept = f"your games are kept in {db}"
        page = partial(on_page, house, "play", kept, opens=not no_browser)
        options.run(_in_terminal(house, is_chosen=is_chosen) if terminal else page())


def _bots(asked: str | None) -> tuple[dict[str, SeatSpec], str | None]:
    """Return the bots by name, with the one that is asked for, and the name of that one."""
    specs = read_bots(usual_bots())
    if asked is None or asked in specs:
        return specs, asked
    with sentences():
        try:
            spec = parse_seat(asked)
        except SeatError as error:
            name = asked.partition("?")[0]
            if ":" in name or name in known_bots():
                raise
            here = f"here also {', '.join(LEVELS)}, without options"
            raise SeatError(f"{error}; {here}{did_you_mean(name, LEVELS)}") from None
    if spec.kind == "guest":
        raise CommandFailed(f"{asked}: a guest dials in to a tournament; name a bot")
    if (name := spec.name) in specs:
        namesake = replace(specs[name], name=name)  # club's own name is static
        name = told_apart(namesake, spec)[1]
    return {name: spec} | specs, name


def _person(name: str | None, bots: dict[str, SeatSpec]) -> str:
    """Return a person's name, by default that of the login."""
    if name is not None:
        if name in bots:
            raise CommandFailed(f"--name {name}: a bot has that name; choose another")
        if not name.isprintable() or len(name) > LONGEST_NAME:
            raise CommandFailed(f"--name has at most {LONGEST_NAME} printable characters")
        return name
    try:
        login = getpass.getuser()[:LONGEST_NAME]
    except (KeyError, OSError):
        return NOBODY
    return login if login.isprintable() and login not in bots else NOBODY


@dataclass
class OwnServer:
    """The parts of a person's own server; its port of None is ``PORT``, or any on loopback."""

    equipment: Equipment
    specs: dict[str, SeatSpec]
    offered: Offered
    clock: TimeControl
    games: int
    host: str
    port: int | None
    db: Path
    is_named: bool = False
    listens: bool = False

    def tell(self, sentence: str) -> None:
        """Print what becomes of games of an earlier start; the person sees the rest."""
        if not self.listens:
            options.say(plain(sentence))

    def _take_up(self, journal: Journal) -> None:
        """Take the name, and the bot, of the person's game that is open, or of the only one."""
        opened: dict[str, str] = {}
        for kept in journal.unfinished(lambda _damaged: None):
            sides = kept.label.get("sides") or ()
            bots = [side["name"] for side in sides if side["kind"] == "bot"]
            if bots and bots[0] in self.specs:
                opened |= {side["name"]: bots[0] for side in sides if side["kind"] != "bot"}
        offered, own = self.offered, (self.offered.name or NOBODY).casefold()
        mine = [name for name in opened if name.casefold() == own]
        if not mine and not self.is_named and len(opened) == 1:
            mine = [*opened]
        if mine:
            bot = opened[mine[0]]
            if offered.opponent not in (None, bot):
                options.say(f"your game against {bot} is open and comes first")
            self.offered = replace(offered, name=mine[0], opponent=offered.opponent or bot)

    @asynccontextmanager
    async def server(self) -> AsyncIterator[MatchServer]:
        """Make the server, which does not listen yet; later end its bots and close its journal."""
        hidden = files_at(self.db)
        house = House(self.specs, self.equipment, hidden=hidden)
        port = (0 if is_loopback(self.host) else PORT) if self.port is None else self.port
        await check_address(self.host, port)  # before there is a journal
        # Its clock comes first: an analysis may have a core that a game leaves free.
        idle = bool(self.specs) and usable_cores() <= self.equipment.threads
        with closing(Journal(self.db, RESERVE_BYTES)) as journal:
            self._take_up(journal)
            try:
                yield MatchServer(
                    house.tables,
                    journal,
                    Gatekeeper(journal),
                    house.lend,
                    host=self.host,
                    port=port,
                    time=self.clock,
                    max_games=self.games,
                    drain_s=0,
                    tell=self.tell,
                    offered=self.offered,
                    analysis=OWN_ANALYSIS,
                    analyst=partial(AnalysisProcess.start, idle=idle, hidden=hidden),
                )
            finally:
                await house.close()


async def on_page(house: OwnServer, view: str, kept: str, *, opens: bool) -> None:
    """Serve a person's page, and open its ``view``, until a signal comes; say what is ``kept``."""
    async with house.server() as server:

        def started() -> None:
            house.listens = True
            url = f"http://{reached_at(house.host, server.port)}/#/{view}"
            print(f"{view} at {url} (Ctrl-C ends it; {kept})", flush=True)
            if not is_loopback(house.host):
                options.say(f"anybody who can reach {house.host} may {view} here, as you may")
            if opens:
                options.open_in_browser(url)

        told = asyncio.ensure_future(options.until_told_to_stop())
        await until_stopped(server, started, told)


async def _in_terminal(house: OwnServer, *, is_chosen: bool) -> None:
    """Play in the terminal; fail if chosen rules or words are not those of a game that goes on."""
    from engine.rules.rule_sets import rules_in_play

    from .play_terminal import Terminal, play_games  # imports numba

    async with house.server() as server:
        name = house.offered.name or NOBODY
        for kept in server.journal.unfinished(lambda _damaged: None) if is_chosen else ():
            opened, main = kept.opened, server.tables.main
            is_same = main.suits(opened) and rules_in_play(opened.rules) == main.rules
            if name in opened.players and not is_same:
                raise CommandFailed(
                    f"your game in {house.db} has {opened.rules.name} rules and {opened.lexicon} "
                    "words: finish it without --rules and --lexicon, or begin one in another --db"
                )
        await server.start()
        house.listens = True
        try:
            terminal = Terminal(Console(), sys.stdin.fileno())
            url = f"ws://{reached_at(house.host, server.port)}"
            opponent = house.offered.opponent or ANYBODY
            await play_games(url, name, opponent, house.equipment, terminal)
        finally:
            if await server.stop():
                print(f"\nthe game goes on when you come again; it is kept in {house.db}")
