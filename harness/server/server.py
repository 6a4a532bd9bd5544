"""``tilewire serve``: a server that treats each peer by its declared role.

An *arbiter* runs a game elsewhere and is connected to a bot in a process of its own. A *player* is
seated by our arbiter. A *spectator* watches. A *director* runs the tournament, an *admin* the
server. A misbehaving peer loses at most its own connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import structlog
from msgspec.structs import replace
from websockets.asyncio.server import Server, ServerConnection
from websockets.http11 import Request

from bot.seat.runtime import software
from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.figures import plain
from harness.game_kinds import GameKind
from harness.seats.seats import Worker
from protocol.channel import ChannelClosed
from protocol.errors import PeerError, wrong_role
from protocol.link import Link
from protocol.messages import (
    Error,
    GameMessage,
    Games,
    Goodbye,
    Message,
    Resume,
    Seek,
    StandingList,
    Standings,
    Watch,
    Welcome,
)
from protocol.metered import Metered
from protocol.parts import TimeControl
from protocol.websocket import HttpAnswer, WebSocketChannel, listen

from .administration import Administration
from .admission import WRONG_TOKEN, Admission, Admissions, Caller
from .analysis.conversation import converse
from .analysis.live_games import why_not_analyse
from .analysis.messages import SUBPROTOCOL as ANALYSIS
from .analysis.queue import AnalysisQueue, Engine
from .analysis.settings import AnalysisSettings
from .answers import AGAIN_SOON, FRESH_S, as_json, greeting, refuse_other_methods
from .bans import Bans, check_name
from .hello import HELLO_S, read_hello, welcome
from .hosting import Hosting
from .ladder.settings import LadderSettings
from .lobby import Lobby
from .metrics import Metrics
from .play import Offered, PlayAnswers, refuse_strangers
from .relay import Relay
from .spectating import Spectating
from .tables import Tables
from .tokens import Gatekeeper, KnownTokens, WrongToken, check_listed, forbidden
from .web import Web

if TYPE_CHECKING:
    from .direction import Direction, Plan
    from .ladder.publishing import Publisher
    from .retention import Retention

log = structlog.get_logger(__name__)

EXTRA_HELLO_S = 2.0
"""Time for a hello on a connection that has a place kept for players with a game."""

_COSTS: Mapping[type[Message], int] = {
    Watch: 20,
    Resume: 20,
    Games: 10,
    Standings: 10,
    Seek: 5,
}
"""Extra cost, in frames, of messages that take more work or get larger answers than others."""


@dataclass(eq=False)
class MatchServer:
    """A server, from ``start`` to ``stop``."""

    tables: Tables
    """What is played here."""
    journal: Journal
    """Has all games; unfinished ones are resumed."""
    gatekeeper: Gatekeeper
    open_bot: Callable[[str], Awaitable[Worker]] | None = None
    """Starts or dials a bot by name for an arbiter elsewhere; None: no bot is lent."""
    _: KW_ONLY
    host: str = "127.0.0.1"
    port: int = 0
    """0 for any free port; once the server listens, its actual port."""
    time: TimeControl = field(default_factory=TimeControl)
    max_games: int = 2
    """Games at once; more wait until one is over."""
    drain_s: float = 30.0
    """Time for games to end after SIGTERM; unfinished ones resume at the next start."""
    tls: ssl.SSLContext | None = None
    tell: Callable[[str], None] = lambda _sentence: None
    """Takes a sentence about whatever happens; the names in it are as peers chose them."""
    admission: Admission = field(default_factory=Admission)
    """Who is let in."""
    rated: LadderSettings | None = None
    """The ladder on which players without a named opponent play; None: there is none."""
    retention: Retention | None = None
    """None: the journal keeps all games whole."""
    plan: Plan | None = None
    """A tournament to run; players then play in it only."""
    analysis: AnalysisSettings = field(default_factory=AnalysisSettings)
    analyst: Callable[[Mapping[str, GameKind]], Awaitable[Engine]] | None = None
    """Starts an analysis process, given what is played at each table; None: no analysis."""
    admins: KnownTokens | None = None
    """The admins' tokens; None: the server has no admins."""
    offered: Offered = field(default_factory=Offered)
    """What the page offers to people who want to play."""
    playing: asyncio.Task[None] | None = None
    """The tournament, once the server listens; it ends before the server only if it fails."""
    _server: Server | None = None
    _listed: tuple[float, StandingList] | None = None
    """The last standings, after the time when they were made (monotonic seconds)."""

    def __post_init__(self) -> None:
        self._bots = self.tables.main.bots
        self._metrics = Metrics()
        self._lag = LagMeter(self._metrics.loop_late)
        self._admissions = Admissions(self.admission)
        self._hosting = Hosting(
            self.tables,
            self.journal,
            self._lag,
            self.gatekeeper.has_token,
            self.tell,
            self._metrics.game_ended,
        )
        self._lobby = Lobby(
            self._hosting, self.time, self.max_games, self.gatekeeper, self._admissions
        )
        self._metrics.watch(self._lobby, self._admissions)
        self.direction = None if self.plan is None else _directing(self.plan, self._lobby)
        self._bans = Bans(self.journal)
        self._administration = Administration(
            self._lobby,
            self._bans,
            self.gatekeeper.invitations,
            is_directed=self.plan is not None,
        )
        self._background: list[asyncio.Task[None]] = []
        self._analyses = None if self.analyst is None else self._make_analysis(self.analyst)
        self._web = Web(
            self._hosting,
            None if self.direction is None else self._standings,
            ladder=None if self.rated is None else self._make_ladder(self.rated),
            play=self._make_play() if self.plan is None else None,
            analyses=self._analyses is not None,
        )

    def _make_play(self) -> PlayAnswers:
        needs_token = self.gatekeeper.tokens is not None
        return PlayAnswers(
            self.tables, self.offered, lambda: self._lobby.time, needs_token=needs_token
        )

    def _make_analysis(
        self, start: Callable[[Mapping[str, GameKind]], Awaitable[Engine]]
    ) -> AnalysisQueue | None:
        if not self.analysis.workers:
            return None
        tables = self.tables
        return AnalysisQueue(
            self.analysis,
            lambda: start(tables.analysed()),
            partial(why_not_analyse, self._hosting, self._lobby.players),
            lambda table: tables.find(table).rules,
        )

    def _make_ladder(self, settings: LadderSettings) -> Publisher:
        from .ladder.ladder import Ladder  # imports numpy, which other servers start without
        from .ladder.publishing import Publisher

        find = self.tables.find
        ladder = Ladder(
            settings,
            self.time,
            self.gatekeeper.has_token,
            plays=lambda kind, bot: bot in find(kind).bots,
        )
        self._lobby.waiting.ladder = ladder
        return Publisher(ladder, lambda kind: find(kind).lexicon.name)

    async def start(self) -> None:
        """Resume unfinished games, and listen.

        Raises:
            OSError: the address can't be had.
            JournalError: the journal can't be read.
        """
        if self.direction is None:  # a tournament resumes its games itself
            self._lobby.restore_all()
        await self._lag.__aenter__()
        self._server = await listen(
            self.host,
            self.port,
            self._on_channel,
            on_http=self._on_http,
            tls=self.tls,
            gate=self._admissions.enter,
            others={ANALYSIS: self._on_analysis},
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        if self.direction is not None:
            self.playing = asyncio.create_task(self.direction.play())
        if self._lobby.ladder is not None:
            rating = self._lobby.ladder.run(self.journal.address, self._lobby.pair_soon)
            self._background.append(self._in_background("the ladder", rating))
        if self.retention is not None:
            dropping = self.retention.run(self.journal, self.tables)
            self._background.append(self._in_background("old games", dropping))
        log.info("listening", host=self.host, port=self.port, bots=sorted(self._bots))

    @staticmethod
    def _in_background(what: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start background work, and log its failure."""

        def ended(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (error := task.exception()) is not None:
                log.error("background work failed", what=what, exc_info=error)

        task = asyncio.create_task(work)
        task.add_done_callback(ended)
        return task

    async def stop(self, at_once: asyncio.Event | None = None) -> int:
        """Begin no game, wait for games or ``at_once``, close; return how many are unfinished."""
        assert self._server is not None, "the server was not started"
        left = await self._lobby.drain(self.drain_s, at_once or asyncio.Event())
        if self.direction is not None and self.playing is not None:
            await self.direction.close()
            self.playing.cancel()
            await asyncio.wait([self.playing])
        if self._analyses is not None:
            await self._analyses.close()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        self._server.close(code=1001, reason="the server is closing")
        await self._server.wait_closed()
        await self._lag.__aexit__(None, None, None)
        return left

    def change(self, *, max_games: int, time: TimeControl, admission: Admission) -> None:
        """Apply new settings; running games keep their clocks."""
        self._lobby.max_games, self._lobby.time = max_games, time
        if self._lobby.ladder is not None:
            self._lobby.ladder.change_time(time)
        self._admissions.change(admission)
        self._lobby.pair_soon()

    def _on_http(self, request: Request) -> HttpAnswer | Awaitable[HttpAnswer] | None:
        if self.offered.is_private and (refusal := refuse_strangers(request, self.host)):
            return refusal
        if (refusal := refuse_other_methods(request)) is not None:
            return refusal
        if request.path == "/healthz":
            return self._health()
        if request.path == "/serving":
            if self.journal.is_held:
                return HttpAnswer(200, "this host serves\n")
            return HttpAnswer(503, "another host may serve by now\n", headers=(AGAIN_SOON,))
        if request.path == "/metrics":
            return self._metrics.answer()
        if any("websocket" in value.lower() for value in request.headers.get_all("Upgrade")):
            return None
        return self._web.answer(request) or HttpAnswer(426, self._greeting(request))

    def _health(self) -> HttpAnswer:
        trouble = self.journal.trouble()
        status = "closing" if self._lobby.closing else "failing" if trouble else "ok"
        health = {"status": status, "games": len(self._hosting.games)}
        if trouble:
            health["journal"] = plain(trouble)
        return as_json(health)._replace(status=503 if trouble else 200)

    def _greeting(self, request: Request) -> str:
        host = next(iter(request.headers.get_all("Host")), f"{self.host}:{self.port}")
        url = f"{'wss' if self.tls else 'ws'}://{host}"
        return greeting(
            url, tournament=self.direction is not None, ladder=self._lobby.ladder is not None
        )

    async def _on_analysis(self, connection: ServerConnection, request: Request) -> None:
        caller = cast("Caller", cast("Metered", connection).visit)

        def check() -> None:
            self._bans.check("", caller.address)
            self._admissions.check_place(caller, keeps_place=False)

        await converse(connection, request, self._analyses, caller.address, check)

    # --- a connection ---------------------------------------------------------------------------

    async def _on_channel(self, channel: WebSocketChannel, request: Request) -> None:
        caller = cast("Caller", channel.visit)
        try:
            await self._converse(channel, request, caller)
        except (PeerError, JournalError) as failed:
            await self._turn_away(channel, caller, _refusal(failed))
        except ChannelClosed as closed:
            log.debug("closed", peer=channel.peer, reason=str(closed))

    async def _turn_away(self, channel: WebSocketChannel, caller: Caller, error: PeerError) -> None:
        """Send the refusal, and close the channel.

        The caller must keep no name for the error: its traceback leads to the caller's frame, and
        from there to the connection, which only a full collection would then free.
        """
        log.info("turned away", peer=channel.peer, code=error.code)
        self._metrics.turned_away(error.code)
        if isinstance(error, WrongToken):
            self._admissions.charge_handshakes(caller, WRONG_TOKEN)
        if error.code == "forbidden":
            self.tell(f"{channel.peer} was turned away: {error.reply.message}")
        with contextlib.suppress(ChannelClosed):
            await channel.send(error.reply)
        await channel.close(error.close or 1008, error.code)

    async def _converse(self, channel: WebSocketChannel, request: Request, caller: Caller) -> None:
        hello = await read_hello(channel, EXTRA_HELLO_S if caller.is_extra else HELLO_S)
        log.info("hello", peer=channel.peer, role=hello.role, name=hello.name)
        token = _bearer(request) or hello.token
        if hello.role == "admin":
            if self.admins is None:
                raise forbidden("this server has no admins; it is started without --admins FILE")
            check_listed(self.admins.read(), hello.name, token, "admin")
        else:
            self._bans.check(hello.name, caller.address)
        keeps_place = hello.role == "admin" or (
            hello.role == "player" and self._lobby.players.has_game(hello.name)
        )
        self._admissions.check_place(caller, keeps_place=keeps_place)
        match hello.role:
            case "arbiter":
                self.gatekeeper.check(hello.name, token)
                await self._lend_bot(channel, _bot_name(request), caller)
            case "player":
                await self._admit_player(hello.name, token, channel.peer, caller)
                await self._serve_player(channel, hello.name, caller)
            case "spectator":
                with self._admissions.spectator():
                    charge = partial(_charge, caller)
                    await Spectating(self._hosting, self._standings, charge).serve(channel)
            case "director":
                direction = self._directed()
                check_listed(direction.directors, hello.name, token, "director")
                await direction.serve(channel, hello.name)
            case "admin":
                await self._administration.serve(channel, hello.name)

    async def _admit_player(self, name: str, token: str | None, peer: str, caller: Caller) -> None:
        """Check that a player may log in; PeerError or JournalError if not."""
        check_name(name)
        if name in self._bots:
            raise forbidden(f"{name!r} is a bot of this server's own")
        check_claim = partial(self._admissions.check_claim, caller)
        if self.direction is not None:
            joins = self.direction.check_player(name)
            if joins and token is None:
                check_claim(self.direction.entrants)
        used_from = self._lobby.players.used_from(name)
        await self.gatekeeper.admit(
            name, token, used_from=used_from, peer=peer, check_claim=check_claim
        )
        self._bans.check(name, caller.address)  # it may be banned by now

    async def _lend_bot(self, channel: WebSocketChannel, name: str, caller: Caller) -> None:
        if self.open_bot is None or not self._bots:
            when = "here" if self.plan is None else "during a tournament"
            raise PeerError("unknown_bot", f"no bot is lent {when}", close=1008)
        if name not in self._bots:
            known = ", ".join(sorted(self._bots))
            raise PeerError(
                "unknown_bot", f"no bot is called {name!r} here; there are {known}", close=1008
            )
        with self._lobby.lend(caller.address):
            try:
                bot = await self.open_bot(name)
            except (ChannelClosed, OSError) as error:
                log.error("bot did not come up", bot=name, reason=str(error))
                raise PeerError(
                    "busy", f"{name} did not come up", retry="later", close=1013
                ) from None
            try:
                await channel.send(Welcome(name=name, software=software()))
                log.info("bot lent", peer=channel.peer, bot=name)
                self.tell(f"{name} is lent to {channel.peer}")
                idle_s = self._admissions.config.lent_idle_s
                reason = await Relay(channel, bot.channel, idle_s=idle_s).run()
                log.info("bot back", peer=channel.peer, bot=name, reason=reason)
                self.tell(f"{name} is back from {channel.peer}")
            finally:
                await bot.kill()

    async def _serve_player(self, channel: WebSocketChannel, name: str, caller: Caller) -> None:
        def hear(message: Message, _at_ms: int) -> None:
            _charge(caller, message)
            match message:
                case Error() | Goodbye():
                    pass
                case Seek():
                    (self.direction or self._lobby).seek(player, message)
                case Standings():
                    link.send(self._standings())
                case _ if isinstance(message, GameMessage):
                    self._lobby.resume(player, link, message)
                case _:
                    raise wrong_role(message, "a player")

        player = self._lobby.players.named(name)
        link = Link(channel, hear)
        older = self._lobby.arrive(player, link)
        why = "the host failed"
        try:
            if older is not None:
                why_not = "you logged in elsewhere, and the newest login counts"
                older.dismiss(1008, "replaced", why_not)
            bots, games = tuple(sorted(self._bots)), self._lobby.games_of(player)
            tables = self.tables.names
            link.send(replace(welcome(), bots=bots, games=games, tables=tables))
            self.tell(f"{name} is here{' again' if older else ''}, from {channel.peer}")
            if self.direction is not None:
                self.direction.arrived(name)
            why = await link.run()
        finally:
            if player.link is link:
                self.tell(f"{name} left")
            self._lobby.depart(player, link, why)

    def _standings(self) -> StandingList:
        """Return the standings, at most a second old; PeerError if there is no tournament."""
        direction, now = self._directed(), monotonic()
        if self._listed is None or now - self._listed[0] >= FRESH_S:
            self._listed = now, direction.standing_list()
        return self._listed[1]

    def _directed(self) -> Direction:
        if self.direction is None:
            raise PeerError("no_tournament", "no tournament is played on this server", retry="no")
        return self.direction


def _refusal(failed: PeerError | JournalError) -> PeerError:
    """Return the refusal for a peer whose login failed."""
    if isinstance(failed, PeerError):
        return failed
    log.error("login not kept", reason=str(failed))
    why = "the server can't store logins now; try again soon"
    return PeerError("host_error", why, retry="later", close=1013)


def _charge(caller: Caller, message: Message) -> None:
    caller.charge(_COSTS.get(type(message), 0))


def _directing(plan: Plan, lobby: Lobby) -> Direction:
    from .direction import Direction  # imports numba, which other servers start without

    return Direction(plan, lobby)


def _bot_name(request: Request) -> str:
    """Return the name of the bot that the path of a connection asks for."""
    return unquote(request.path.split("?")[0].strip("/"))


def _bearer(request: Request) -> str | None:
    headers = request.headers.get_all("Authorization")
    if len(headers) > 1:
        raise forbidden(f"{len(headers)} Authorization headers were sent; send one")
    scheme, _, token = "".join(headers).partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None
