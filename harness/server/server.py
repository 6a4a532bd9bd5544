"""``tilewire serve``: a server that treats each peer by its declared role.

An *arbiter* runs a game elsewhere and is connected to a bot in a process of its own. A *player* is
seated by our arbiter. A *spectator* watches. A *director* runs the tournament, an *admin* the
server. A misbehaving peer loses at most its own connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from time import monotonic, time
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

import structlog
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from websockets.asyncio.server import Server, ServerConnection
from websockets.http11 import Request

from bot.cores import usable_cores
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
    Hello,
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
from protocol.websocket import HttpAnswer, WebSocketChannel, address_text, listen

from .administration import Administration
from .admission import WRONG_TOKEN, Admission, Admissions, Caller, block_of, is_here
from .answers import AGAIN_SOON, FRESH_S, as_json, refuse_other_methods
from .bans import Bans, check_name
from .hello import HELLO_S, read_hello, welcome
from .hosting import Hosting
from .ladder.settings import LadderSettings
from .lobby import Lobby
from .metrics import Metrics
from .names import OWN, looks
from .page_analysis.conversation import SUBPROTOCOL as ANALYSIS
from .page_analysis.conversation import converse
from .page_analysis.live_games import LentGames, why_not_analyse
from .page_analysis.queue import Analyse, AnalysisQueue, AnalysisSettings, Job, Read, TaskRunner
from .play import Offered, PlayAnswers, refuse_foreign_page, refuse_strangers, tells_words
from .relay import Relay
from .spectating import Spectating
from .tables import ServerTables
from .tokens import Gatekeeper, Holder, KnownTokens, WrongToken, check_listed, forbidden
from .web import Web

if TYPE_CHECKING:
    from .direction import Plan, TournamentDirection
    from .ladder.publishing import Publisher
    from .retention import Retention

log = structlog.get_logger(__name__)

EXTRA_HELLO_S = 2.0
"""Time for a hello on a connection that has a place kept for players with a game."""

_COSTS: Mapping[type[Message], int] = {Watch: 20, Resume: 20, Games: 10, Standings: 10, Seek: 5}
"""Extra cost, in frames, of messages that take more work or get larger answers than others."""


@dataclass(eq=False)
class MatchServer:
    """A server, from ``start`` to ``stop``."""

    tables: ServerTables
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
    analyst: Callable[[Mapping[str, GameKind]], Awaitable[TaskRunner]] | None = None
    """Starts an analysis process, given what is played at each table; None: no analysis."""
    admins: KnownTokens | None = None
    """The admins' tokens; None: the server has no admins."""
    offered: Offered = field(default_factory=Offered)
    """What the page offers to people who want to play."""
    playing: asyncio.Task[None] | None = None
    """The tournament, once the server listens; it ends before the server only if it fails."""
    _server: Server | None = None
    _listed: dict[int | None, tuple[float, StandingList]] = field(default_factory=dict)
    """The last standings, by round, after the time when they were made (monotonic seconds)."""

    def __post_init__(self) -> None:
        self._bots = self.tables.main.bots
        self._event = self.gatekeeper.claims.event
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
        self.direction: TournamentDirection | None = None
        if self.plan is not None:
            from .direction import (
                TournamentDirection,  # imports numba, which other servers start without
            )

            self.direction = TournamentDirection(self.plan, self._lobby)
        self._bans = Bans(self.journal)
        self._administration = Administration(
            self._lobby, self._bans, self.gatekeeper.invitations, is_directed=self.plan is not None
        )
        persons = () if self.rated is None else self.rated.persons
        entrants = () if self.plan is None else self.plan.config.names
        own = (bot for kind in self.tables for bot in kind.bots)
        self.gatekeeper.reserved = frozenset((OWN, *own, *entrants, *persons))
        for known in (self.gatekeeper.tokens, self.admins):
            if known is not None:
                known.changed = self.check_tokens
        self._background: list[asyncio.Task[None]] = []
        tables, start = self.tables, self.analyst
        self._analyses: AnalysisQueue | None = None
        if start is not None and self.analysis.workers:
            self._analyses = AnalysisQueue(
                self.analysis,
                lambda: start(tables.analysed()),
                partial(why_not_analyse, self._hosting, self._lobby.players),
                lambda table: tables.find(table).rules,
                own_cores=self._free_cores if self.offered.is_private else None,
                tells_words=tells_words if self.offered.study is None else lambda _rules: True,
            )
        needs_token = self.gatekeeper.tokens is not None
        play = PlayAnswers(tables, self.offered, lambda: self._lobby.time, needs_token=needs_token)
        self._web = Web(
            self._hosting,
            None if self.direction is None else self._standings,
            ladder=None if self.rated is None else self._make_ladder(self.rated),
            play=play if self.plan is None else None,
            analyses=self._analyses is not None,
            corrected={} if self.plan is None else self.plan.files.corrected,
        )

    def _free_cores(self) -> int:
        """Count the cores that the games that are on leave free, those of absent players too."""
        equipment = self.tables.main.equipment
        return usable_cores() - len(self._hosting.games) * (equipment.threads if equipment else 1)

    def _make_ladder(self, settings: LadderSettings) -> Publisher:
        from .ladder.ladder import Ladder  # imports numpy, which other servers start without
        from .ladder.publishing import Publisher

        find = self.tables.find
        ladder = Ladder(
            settings,
            self.time,
            self.gatekeeper.has_token,
            self._lobby.owners,
            plays=lambda kind, bot: bot in find(kind).bots,
        )
        self._lobby.waiting.take_ladder(ladder)
        return Publisher(ladder, lambda kind: find(kind).lexicon.name)

    async def start(self) -> None:
        """Resume unfinished games, and listen.

        Raises:
            OSError: the address can't be had.
            JournalError: the journal can't be read.
        """
        looks(OWN)  # reads a table, for a tenth of a second, before a clock runs
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
        if self._analyses is not None and self.offered.study is not None:
            # Its processes load the words while the browser starts.
            for asked in Read(id=0, data=b""), Analyse(id=0, data=b""):
                await self._analyses.submit(Job(asked, "127.0.0.1", lambda *_, **__: None))
        if self.direction is not None:
            self.playing = asyncio.create_task(self.direction.play())
        if self._lobby.ladder is not None:
            rating = self._lobby.ladder.run(self.journal.address, self._lobby.pair_soon)
            self._background.append(asyncio.create_task(_logged("the ladder", rating)))
        if self.retention is not None:
            dropping = self.retention.run(self.journal, self.tables, self.gatekeeper.has_token)
            self._background.append(asyncio.create_task(_logged("old games", dropping)))
        log.info("listening", host=self.host, port=self.port, bots=sorted(self._bots))

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

    def check_tokens(self) -> None:
        """Soon close all connections whose name or token is gone; their games go on."""
        asyncio.get_running_loop().call_soon(self._admissions.check_tokens)

    def _on_http(self, request: Request, address: str) -> HttpAnswer | Awaitable[HttpAnswer] | None:
        upgrades = any("websocket" in it.lower() for it in request.headers.get_all("Upgrade"))
        if self.offered.is_private and (refusal := refuse_strangers(request, self.host)):
            return refusal
        if upgrades and is_here(address) and (refusal := refuse_foreign_page(request, self.host)):
            return refusal
        if (refusal := refuse_other_methods(request)) is not None:
            return refusal
        if request.path == "/healthz":
            trouble = self.journal.trouble()
            status = "closing" if self._lobby.closing else "failing" if trouble else "ok"
            health = {"status": status, "games": len(self._hosting.games)}
            if trouble:
                health["journal"] = plain(trouble)
            return as_json(health)._replace(status=503 if trouble else 200)
        if request.path == "/serving":
            if self.journal.is_held:
                return HttpAnswer(200, "this host serves\n")
            return HttpAnswer(503, "another host may serve by now\n", headers=(AGAIN_SOON,))
        if request.path == "/metrics":
            return self._metrics.answer()
        if upgrades:
            return None
        if (answer := self._web.answer(request)) is not None:
            return answer
        return HttpAnswer(
            426,
            "nothing is here but WebSockets: follow games by tilewire watch, have a bot play by "
            "tilewire connect; the page is at /\n",
        )

    async def _on_analysis(self, connection: ServerConnection, request: Request) -> None:
        caller = cast("Caller", cast("Metered", connection).visit)

        def check() -> None:
            self._bans.check("", caller.address)
            self._admissions.check_place(caller, keeps_place=False)
            _, port, *_ = connection.remote_address or ("?", 0)
            caller.introduce("analysis", "", address_text(caller.address, port))

        await converse(connection, request, self._analyses, caller.address, check, caller.attach)

    # --- a connection ---------------------------------------------------------------------------

    async def _on_channel(self, channel: WebSocketChannel, request: Request) -> None:
        caller = cast("Caller", channel.visit)
        try:
            await self._converse(channel, request, caller)
        except PeerError as refusal:
            await self._turn_away(channel, caller, refusal)
        except JournalError as error:
            log.error("login not kept", reason=str(error))
            why = "the server can't store logins now; try again soon"
            not_kept = PeerError("host_error", why, retry="later", close=1013)
            await self._turn_away(channel, caller, not_kept)
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
        if hello.event and hello.event != self._event:
            why = "another event or server has this address now; to join it, start anew"
            raise PeerError("other_event", why, retry="no", close=1008)
        headers = request.headers.get_all("Authorization")
        if len(headers) > 1:
            raise forbidden(f"{len(headers)} Authorization headers were sent; send one")
        scheme, _, bearer = "".join(headers).partition(" ")
        token = (bearer.strip() if scheme.lower() == "bearer" else "") or hello.token
        check = partial(self._check_token, hello, token)
        if hello.role == "admin":
            check()
        else:
            self._bans.check(hello.name, caller.address)
        keeps_place = hello.role == "admin" or (
            hello.role == "player" and self._lobby.players.has_game(hello.name)
        )
        self._admissions.check_place(caller, keeps_place=keeps_place)

        def attach(link: Link) -> None:
            caller.attach(partial(link.dismiss, 1008))

        if hello.role == "player":
            await self._admit_player(hello.name, token, caller)
        else:
            check()
        if token is not None:
            caller.check = check
        is_spectator = hello.role == "spectator"
        with self._admissions.spectator() if is_spectator else contextlib.nullcontext():
            caller.introduce(hello.role, hello.name, channel.peer)
            match hello.role:
                case "arbiter":
                    name = unquote(request.path.split("?")[0].strip("/"))  # of the bot it wants
                    await self._lend_bot(channel, name, caller)
                case "player":
                    # On a private server names go by address: its port, and so what the page's
                    # browser keeps for it, changes at each start.
                    secret = UNSET if self.offered.is_private else hello.secret
                    await self._serve_player(channel, hello.name, secret, caller, attach)
                case "spectator":
                    charge = partial(_charge, caller)
                    watching = Spectating(self._hosting, self._standings, charge)
                    await watching.serve(channel, attach)
                case "director":
                    await self._directed().serve(channel, hello.name, attach, check)
                case "admin":
                    await self._administration.serve(channel, hello.name, attach, check)

    def _check_token(self, hello: Hello, token: str | None) -> None:
        """Check that a peer has the token of its name, as it is now; PeerError if not."""
        match hello.role:
            case "player" | "arbiter":
                self.gatekeeper.check(hello.name, token)
            case "director":
                directors = self._directed().plan.directors()
                check_listed(directors, hello.name, token, "director")
            case "admin":
                if self.admins is None:
                    none = "this server has no admins; it is started without --admins FILE"
                    raise forbidden(none)
                check_listed(self.admins.read(), hello.name, token, "admin")

    async def _admit_player(self, name: str, token: str | None, caller: Caller) -> None:
        """Check that a player may log in; PeerError or JournalError if not."""
        check_name(name)
        if name in self._bots:
            raise forbidden(f"{name!r} is a bot of this server's own")
        check_claim = partial(self._admissions.check_claim, caller)
        is_new = self.rated is None or name not in self.rated.persons
        if self.direction is not None:
            is_new = self.direction.check_player(name)
            if is_new and token is None:
                check_claim(self.direction.entrants, 0)
        before = time() - self._admissions.config.unused_name_days * 86_400
        self.gatekeeper.claims.expire(before, self._lobby.players.__contains__)
        await self.gatekeeper.admit(
            name,
            token,
            is_in_use=self._lobby.players.is_in_use(name),
            address=caller.address,
            check_claim=check_claim,
            is_new=is_new,
        )
        self._bans.check(name, caller.address)  # it may be banned by now

    async def _lend_bot(self, channel: WebSocketChannel, name: str, caller: Caller) -> None:
        if self.open_bot is None or not self._bots:
            when = "here" if self.plan is None else "during a tournament"
            raise PeerError("unknown_bot", f"no bot is lent {when}", close=1008)
        if name not in self._bots:
            unknown = f"no bot is called {name!r} here; there are {', '.join(sorted(self._bots))}"
            raise PeerError("unknown_bot", unknown, close=1008)
        with self._lobby.lend(caller.address) as loan:
            try:
                bot = await self.open_bot(name)
            except (ChannelClosed, OSError) as error:
                log.error("bot did not come up", bot=name, reason=str(error))
                why = f"{name} did not come up"
                raise PeerError("busy", why, retry="later", close=1013) from None
            try:
                await channel.send(Welcome(name=name, software=software()))
                log.info("bot lent", peer=channel.peer, bot=name)
                self.tell(f"{name} is lent to {channel.peer}")
                idle_s = self._admissions.config.lent_idle_s
                lent = LentGames(self._hosting, self._lobby.players, caller.address)
                relay = Relay(
                    channel,
                    bot.channel,
                    hear=lent.check,
                    idle_s=idle_s,
                    is_wanted=lambda: self._lobby.lacks_place,
                )
                loan.take_back = relay.take_back
                caller.attach(relay.end)
                reason = await relay.run()
                log.info("bot back", peer=channel.peer, bot=name, reason=reason)
                self.tell(f"{name} is back from {channel.peer}")
            finally:
                await bot.kill()

    async def _serve_player(
        self,
        channel: WebSocketChannel,
        name: str,
        secret: str | UnsetType,
        caller: Caller,
        attach: Callable[[Link], None],
    ) -> None:
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
        if self.gatekeeper.has_token(name):
            secret, player.holder = UNSET, Holder()
        else:
            secret = player.hold(secret, block_of(caller.address))
        link = Link(channel, hear)
        attach(link)
        older = self._lobby.arrive(player, link)
        why = "the host failed"
        try:
            if older is not None:
                why_not = "you logged in elsewhere, and the newest login counts"
                older.dismiss(1008, "replaced", why_not)
            bots, games = tuple(sorted(self._bots)), self._lobby.games_of(player)
            tables = self.tables.names
            there = replace(welcome(), bots=bots, games=games, tables=tables)
            link.send(replace(there, secret=secret, event=self._event))
            self.tell(f"{name} is here{' again' if older else ''}, from {channel.peer}")
            if self.direction is not None:
                self.direction.arrived(name)
            why = await link.run()
        finally:
            if player.link is link:
                self.tell(f"{name} left")
            self._lobby.depart(player, link, why)

    def _standings(self, shown: int | None = None) -> StandingList:
        """Return the standings, at most a second old; PeerError if there is no tournament."""
        direction, now = self._directed(), monotonic()
        if shown not in self._listed or now - self._listed[shown][0] >= FRESH_S:
            self._listed[shown] = now, direction.standing_list(shown)
        return self._listed[shown][1]

    def _directed(self) -> TournamentDirection:
        if self.direction is None:
            raise PeerError("no_tournament", "no tournament is played on this server", retry="no")
        return self.direction


def _charge(caller: Caller, message: Message) -> None:
    caller.charge(_COSTS.get(type(message), 0))


async def _logged(what: str, work: Awaitable[None]) -> None:
    """Do background work, and log its failure."""
    try:
        await work
    except Exception as error:
        log.error("background work failed", what=what, exc_info=error)
