"""What a server answers to plain HTTP: the page, and JSON about games and standings.

The addresses and keys are described in ``docs/server.md``; they stay, others may be added. Of a
game that is on, only the host's own screen is told more than a spectator.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import structlog
from msgspec import Struct
from websockets.http11 import Request

from harness.arbiter.database import JournalError
from harness.arbiter.journal_reading import (
    KeptGame,
    PastGame,
    PastGames,
    has_game,
    read_ended_game,
    read_game,
    read_past,
)
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.views import OWNER, Viewer, disclosed, game_over, is_open, new_game
from harness.figures import moment
from harness.matches.results import game_record
from harness.page import Page
from lexicons.store import Lexicon
from protocol.channel import now_ms
from protocol.messages import StandingList
from protocol.websocket import HttpAnswer

from .answers import FRESH_S, as_json, board_and_tiles, refuse_other_methods, wrong
from .hosting import Hosting
from .play import PlayAnswers

if TYPE_CHECKING:
    from .ladder.publishing import Publisher

PAST_LISTED = 50
"""Past games in an answer; its ``before`` leads to the earlier ones."""
KEPT_GAMES = 32
"""Answers about ended games that are kept: all spectators of a game ask at its end."""
MOST_WAITING = 16
"""Readings of the journal that may wait for their turn; requests for more are refused."""

log = structlog.get_logger(__name__)

_T = TypeVar("_T")
_Asked = TypeVar("_Asked")


class OwnSight(Struct, frozen=True):
    """What the host's own screen shows."""

    live: bool
    """Whether racks and thoughts are shown while a game is on; else when it is over."""
    why: str = ""
    """Why they are not shown while it is on."""


class Web:
    """Answers plain HTTP requests to a server."""

    def __init__(
        self,
        hosting: Hosting,
        standings: Callable[[], StandingList] | None,
        monotonic: Callable[[], float] = time.monotonic,
        ladder: Publisher | None = None,
        play: PlayAnswers | None = None,
        analyses: bool = False,
        own: OwnSight | None = None,
    ) -> None:
        self._hosting, self._journal = hosting, hosting.journal.address
        self._standings, self._ladder = standings, ladder
        self._play, self._own, self._analyses = play, own, analyses
        self._monotonic = monotonic
        self.page = Page.read()
        self._past: tuple[float, asyncio.Future[PastGames]] | None = None
        self._ended_games: dict[str, asyncio.Future[HttpAnswer]] = {}
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    def answer(self, request: Request) -> HttpAnswer | Awaitable[HttpAnswer] | None:
        """Answer a plain HTTP request; None: nothing is at its address."""
        if (refusal := refuse_other_methods(request)) is not None:
            return refusal
        try:
            parts = urlsplit(request.path)
        except ValueError as error:
            return wrong(400, f"invalid address: {error}")
        if "\0" in unquote(request.path):  # an error in PostgreSQL
            return wrong(400, "invalid address: it has a NUL in it")
        match [unquote(part) for part in parts.path.split("/")[1:]]:
            case ["api", *path]:
                query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
                return self._api(path, query)
        return self.page.answer(parts.path, request.headers)

    def _api(
        self, path: list[str], query: dict[str, str]
    ) -> HttpAnswer | Awaitable[HttpAnswer] | None:
        match path:
            case ["games"]:
                return self._games(query.get("before"))
            case ["games", file] if file.endswith(".gcg"):
                game = file.removesuffix(".gcg")
                host = self._hosting.games.get(game)
                if host is not None and host.book.ended is None:
                    return wrong(404, f"the game {game!r} is on; its GCG is here when it is over")
                return self._read_answer(self._gcg, game)
            case ["games", game]:
                return self._game(game)
            case ["standings"]:
                if self._standings is None:
                    return wrong(404, "no tournament is played on this server")
                return as_json(self._standings())
            case ["play" | "words" as asked]:
                if self._play is None:
                    return wrong(404, "a tournament is played on this server, and nothing else")
                return (
                    self._play.settings()
                    if asked == "play"
                    else self._play.words(query.get("words", ""), query.get("table"))
                )
            case ["ladder", *rest]:
                if self._ladder is None:
                    return wrong(404, "there is no ladder on this server")
                answer = self._ladder.answer(rest, query)
                if isinstance(answer, HttpAnswer):
                    return answer
                return self._read_answer(answer, self._journal)
        return wrong(
            404,
            "no such address; the API has /api/games, /api/games/ID, /api/games/ID.gcg, "
            "/api/standings, /api/ladder, /api/play, /api/words",
        )

    # --- lists ----------------------------------------------------------------------------------

    async def _games(self, before: str | None) -> HttpAnswer:
        try:
            if before is None:
                past = await asyncio.shield(self._latest())
            else:
                past = await self._read(read_past, self._journal, PAST_LISTED, before)
                if not any(past) and not await self._read(has_game, self._journal, before):
                    return wrong(400, f"before must be the id of a game (got {before[:64]!r})")
        except (JournalError, _Busy) as error:
            return _failed(error)
        return as_json(
            {
                "tournament": self._standings is not None,
                "ladder": self._ladder is not None,
                "own": self._own,
                "analysis": self._analyses,
                "on": self._hosting.listed().games,
                "past": list(map(_listed, past.games)),
                "before": past.before,
            }
        )

    def _latest(self) -> asyncio.Future[PastGames]:
        """Return the reading of the latest games, shared by all requests within a second."""
        now = self._monotonic()
        if self._past is None or now - self._past[0] >= FRESH_S:
            reading = self._read(read_past, self._journal, PAST_LISTED)
            self._past = now, asyncio.ensure_future(reading)
        return self._past[1]

    # --- a game ---------------------------------------------------------------------------------

    def _game(self, game: str) -> HttpAnswer | Awaitable[HttpAnswer]:
        host = self._hosting.games.get(game)
        if host is None or host.book.ended is not None:
            return self._ended_game(game)
        if self._own is not None and self._own.live:
            return self._read_answer(self._live, game)
        return as_json(_shown(host.book))

    async def _ended_game(self, game: str) -> HttpAnswer:
        """Return a game that ended, read once for all requests."""
        if game not in self._ended_games:
            if len(self._ended_games) == KEPT_GAMES:
                del self._ended_games[next(iter(self._ended_games))]
            self._ended_games[game] = asyncio.ensure_future(self._disclosed(game))
        return await asyncio.shield(self._ended_games[game])

    async def _disclosed(self, game: str) -> HttpAnswer:
        """Read a game that ended; if that fails, the next request reads it again."""
        answer = None
        try:
            answer = await self._read_answer(self._disclose, game)
        finally:
            is_told = answer is not None and answer.status == 200
            if not is_told and self._ended_games.get(game) is asyncio.current_task():
                del self._ended_games[game]
        return answer

    async def _read_answer(self, tell: Callable[[_Asked], HttpAnswer], asked: _Asked) -> HttpAnswer:
        try:
            return await self._read(tell, asked)
        except _Unknown as error:
            return wrong(404, str(error))
        except (JournalError, ValueError, _Busy) as error:
            return _failed(error)

    def _disclose(self, game: str) -> HttpAnswer:
        kept, book = self._ended(game)
        return as_json(_shown(book, kept, None if self._own is None else OWNER))

    def _live(self, game: str) -> HttpAnswer:
        """Return a game as the host's own screen sees it: consistent, as of its last record."""
        kept = read_game(self._journal, game)
        if kept is None:
            raise _Unknown(f"no game {game[:64]!r} is here")
        book = Scorebook.restored(kept.records, kept.note, self._words_of(kept))
        return as_json(_shown(book, kept, OWNER))

    def _gcg(self, game: str) -> HttpAnswer:
        _, book = self._ended(game)
        assert book.ended is not None
        if self._own is None and not is_open(book.opened, book.ended):
            raise _Unknown("its racks stay hidden: it is void, or half of a pair with equal draws")
        return HttpAnswer(200, game_record(book, " – ".join(book.opened.players)))

    def _ended(self, game: str) -> tuple[KeptGame, Scorebook]:
        kept = read_ended_game(self._journal, game)
        if kept is None:
            raise _Unknown(f"no game {game[:64]!r} is on here, or has ended here")
        lexicon = self._words_of(kept)
        if kept.is_short:
            raise _Unknown("it is an old game, whose moves are in the server's archive only")
        book = Scorebook.restored(kept.records, None, lexicon)
        if book.ended is None:
            raise JournalError(f"the end of game {game[:64]} is not in its records")
        return kept, book

    def _words_of(self, kept: KeptGame) -> Lexicon:
        lexicon = self._hosting.tables.lexicon_of(kept.opened)
        if lexicon is None:
            other = kept.opened.lexicon
            raise _Unknown(f"it was played with other words than are here now ({other})")
        return lexicon

    async def _read(self, job: Callable[..., _T], *values: object) -> _T:
        """Run a job that reads the journal, in a thread, one at a time; raise _Busy."""
        if self._waiting >= MOST_WAITING:
            raise _Busy("too many games are being read; try again")
        self._waiting += 1

        async def in_turn() -> _T:
            try:
                async with self._one_at_a_time:
                    return await asyncio.to_thread(job, *values)
            finally:
                self._waiting -= 1

        # A thread can't be stopped, so its turn lasts on even if the request is cancelled.
        return await asyncio.shield(asyncio.create_task(in_turn()))


class _Unknown(Exception):
    """There is no such game; the message says so."""


class _Busy(Exception):
    """Too much is asked for at once; the message says so."""


def _failed(error: Exception) -> HttpAnswer:
    if isinstance(error, _Busy):
        return wrong(503, str(error))
    log.error("not told", reason=str(error))
    return wrong(500, "the game can't be read; the server's log says why")


def _listed(past: PastGame) -> dict[str, Any]:
    ended = past.ended
    return {
        "game": past.game,
        "begun": moment(past.created),
        "players": past.opened.players,
        "scores": ended.scores,
        "turns": max(0, ended.seq - 1),
        "rules": past.opened.rules.name,
        "lexicon": past.opened.lexicon,
        "outcome": ended.outcome,
        "winner": ended.winner,
        "message": ended.message,
    }


def _shown(book: Scorebook, kept: KeptGame | None = None, viewer: Viewer = None) -> dict[str, Any]:
    return {
        "begun": None if kept is None else moment(kept.created),
        "offer": new_game(book, viewer, now_ms()),
        "over": game_over(book) if book.ended else None,
        "turns": None if kept is None else disclosed(kept.records, viewer),
        **board_and_tiles(book.rules),
    }
