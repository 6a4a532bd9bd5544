"""The page of a match of one's own: its games as they happen, with racks and thoughts.

A bot that looked at it would know the opponent's rack. So a game is shown whole only when it is
over, unless all seats are on this machine and can read nothing of it (``why_not_live``). A bot that
is contained may still share the host's network and reach the port, so a request needs a cookie.

A browser gets the cookie for a code that the terminal shows and its user types. The code is not in
the address that a browser is started with: that is an argument, which every process of this user
can read. Nor is it in a file that leads to the page: a browser in a sandbox can't read that, and an
engine can. A code is good once. Requests under another name than the address itself, or by a
page of another origin, get nothing, so no other page reaches this one by DNS or by forms.
"""

from __future__ import annotations

import contextlib
import hmac
import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from typing import Self

from websockets.http11 import Request

from bot.seat.containment import containment
from bot.seat_text import parse_seat
from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.seat import Seat
from harness.arbiter.views import OWNER
from harness.matches.folder import MatchFolder
from harness.matches.standings import arrangements, round_game, standings
from harness.matches.tournament import Tournament
from lexicons.store import Lexicon
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import StandingList
from protocol.parts import RoundGame
from protocol.websocket import HttpAnswer, WebSocketChannel, listen

from .admission import Admission, Admissions
from .answers import as_json, wrong
from .bridge.pairing import Code, random_code
from .hello import read_hello
from .hosting import Hosting
from .spectating import Spectating
from .tables import ServerTables, TableKind
from .web import OwnSight, Web

HOST = "127.0.0.1"

CODE_HEADER = "X-Tilewire-Code"
"""Has the code; a browser lets no page of another origin send it without asking the server."""

MOST_GUESSES = 1_000
"""Wrong codes after which the code is replaced."""

MOST_LISTED = 50
"""Most finished games of the round in the standings."""


def why_not_live(seats: Sequence[str]) -> str:
    """Return why the games of these seats can't be shown while they are on; empty if they can."""
    for text in seats:
        spec = parse_seat(text)
        if spec.kind in ("remote", "guest"):
            return f"{text} plays elsewhere, and could be told what is seen here"
        if spec.kind == "engine":
            return f"{text} reads the files of this user, and so what a browser keeps"
        if not spec.built_in and not containment().apart:
            return f"{text} can't be kept apart from this user here: {containment().why_not}"
    return ""


class OwnScreen:
    """A host for a tournament that shows its games on a page, while ``listening``.

    ``tell`` takes sentences for the terminal, with the codes.
    """

    def __init__(
        self,
        tournament: Tournament,
        files: MatchFolder,
        lexicon: Lexicon,
        sight: OwnSight,
        tell: Callable[[str], None],
    ) -> None:
        self.journal = Journal(files.path / "match.db")
        self._tournament, self._files = tournament, files
        self._sight, self._tell = sight, tell
        self._lag = LagMeter()
        tables = ServerTables(TableKind(lexicon=lexicon))
        self._hosting = Hosting(tables, self.journal, self._lag)
        self._web = Web(self._hosting, self._standings, own=self._sight)
        self._code = _new_code()
        self._address = ""
        self._cookie = ""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Self]:
        """Serve the page inside ``async with``; raise OSError if no port can be had."""
        with closing(self.journal):
            async with self._lag:
                gate = Admissions(Admission()).enter
                server = await listen(HOST, 0, self._on_channel, on_http=self._on_http, gate=gate)
                port = next(iter(server.sockets)).getsockname()[1]
                self._address = f"{HOST}:{port}"
                cookie = secrets.token_urlsafe(32)
                self._cookie = f"tilewire-{port}={cookie}"  # all ports share cookies
                try:
                    yield self
                finally:
                    server.close(code=1001, reason="the match is over")
                    await server.wait_closed()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self._address}"

    @property
    def code(self) -> str:
        """The code that lets a browser in, once."""
        return self._code.text

    async def host(self, book: Scorebook, seats: tuple[Seat, Seat]) -> None:
        """Play a game of the journal to its end."""
        await self._hosting.play(self._hosting.open(book, seats), {}, fresh=False)

    # --- who may look ---------------------------------------------------------------------------

    def _on_http(
        self, request: Request, _address: str
    ) -> HttpAnswer | Awaitable[HttpAnswer] | None:
        path = request.path.partition("?")[0]
        upgrades = bool(request.headers.get_all("Upgrade"))
        acts = upgrades or request.method == "POST"
        if request.headers.get_all("Host") != [self._address]:
            return wrong(421, f"this page is at {self.url} only")
        origins = request.headers.get_all("Origin")
        if origins != [self.url] and (origins or acts):
            return wrong(403, f"only the page at {self.url} is answered")
        if path == "/api/enter":
            return self._enter(request)
        given = ";".join(request.headers.get_all("Cookie")).split(";")
        cookies = (cookie.strip().encode(errors="replace") for cookie in given)
        right = self._cookie.encode()
        if not any(hmac.compare_digest(cookie, right) for cookie in cookies):
            # Whatever it asks for, by whatever spelling.
            file = None if acts else self._web.page.answer(path, request.headers)
            return file or wrong(401, "type the code that the terminal shows")
        if upgrades:
            return None
        return self._web.answer(request) or wrong(404, "there is nothing here")

    def _enter(self, request: Request) -> HttpAnswer:
        if request.method != "POST":
            return wrong(405, "a code is sent by POST")
        if not self._code.accepts("".join(request.headers.get_all(CODE_HEADER)), 0):
            if not self._code.tries:
                self._code = _new_code()
                self._tell(
                    f"{MOST_GUESSES:,} wrong codes were sent to the page; if that was not you, a "
                    f"bot guesses. The code is {self.code} now"
                )
            return wrong(403, "that is not the code that the terminal shows")
        self._code = _new_code()
        self._tell(f"a browser has the page now; for another one the code is {self.code}")
        cookie = f"{self._cookie}; HttpOnly; SameSite=Strict; Path=/"
        answer = as_json(self._sight)
        return answer._replace(headers=(*answer.headers, ("Set-Cookie", cookie)))

    async def _on_channel(self, channel: WebSocketChannel, _request: Request) -> None:
        viewer = OWNER if self._sight.live else None
        with contextlib.suppress(ChannelClosed):
            try:
                await read_hello(channel)
                await Spectating(self._hosting, self._standings, viewer=viewer).serve(channel)
            except PeerError as error:
                await channel.send(error.reply)
                await channel.close(error.close or 1008, error.code)

    # --- standings ------------------------------------------------------------------------------

    def _standings(self, shown: int | None = None) -> StandingList:
        schedule, files = self._tournament.queue.schedule, self._files
        number = schedule.rounds[-1].number if schedule.rounds else 0
        of_round = [it for it in files.counting() if it.round == (shown or number)]
        results = [it for it in of_round if not it.void]
        playing = () if shown else sorted(self._tournament.playing.items())
        on = (
            RoundGame(number=at, players=it.opened.players, scores=it.scores, game=it.opened.game)
            for at, it in playing
            if it.ended is None
        )
        names, rounds = schedule.config.names, schedule.rounds
        return StandingList(
            round=number,
            rounds=schedule.last_round(),
            paused=self._files.pause.exists(),
            over=self._tournament.queue.over,
            rows=tuple(of.row() for of in standings(schedule.config, files)),
            games=(*on, *map(round_game, results[: -MOST_LISTED - 1 : -1])),
            arranged=tuple(arrangements(shown or number, rounds, names, files.arranged)),
        )


def _new_code() -> Code:
    return Code(random_code(), math.inf, MOST_GUESSES)
