"""What a server answers to plain HTTP: the page, and JSON about games and standings.

The addresses and keys are described in ``docs/api.md``; they stay, others may be added. Of a
game that is on, only the host's own screen is told more than a spectator.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import structlog
from msgspec import Struct
from msgspec.structs import replace
from websockets.http11 import Request

from harness.arbiter.database import JournalError
from harness.arbiter.journal_reading import (
    KeptGame,
    PastGame,
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
from protocol.errors import PeerError
from protocol.messages import StandingList
from protocol.websocket import HttpAnswer

from .answers import FRESH_S, as_json, board_and_tiles, refuse_other_methods, wrong
from .hosting import CASUAL, Hosting
from .play import PlayAnswers

if TYPE_CHECKING:
    from .ladder.publishing import Publisher

PAST_LISTED = 50
"""Past games in an answer; its ``before`` leads to the earlier ones."""
MOST_WAITING = 16
"""Readings of the journal that may wait for their turn; requests for more are refused."""

log = structlog.get_logger(__name__)

_T = TypeVar("_T")


class OwnSight(Struct, frozen=True):
    """What the host's own screen shows."""

    live: bool
    """Whether racks and thoughts are shown while a game is on; else when it is over."""
    why: str = ""
    """Why they are not shown while it is on."""


@dataclass(eq=False)
class Web:
    """Answers plain HTTP requests to a server."""

    hosting: Hosting
    standings: Callable[[int | None], StandingList] | None
    """Returns how the tournament stands, with the games of a round; None: none is played."""
    monotonic: Callable[[], float] = time.monotonic
    ladder: Publisher | None = None
    play: PlayAnswers | None = None
    """None: a tournament is played, and nothing else."""
    analyses: bool = False
    """Whether the server offers analysis."""
    own: OwnSight | None = None
    """None: the server is no host's own screen."""
    corrected: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """As ``FolderContents.corrected``."""
    page: Page = field(default_factory=Page.read)
    _fresh: dict[tuple[str, ...], tuple[float, asyncio.Future[Any]]] = field(default_factory=dict)
    """What was read within the last second, or is being read, by what was asked for."""
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _waiting: int = 0

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
                return _told(self._games(query.get("before")))
            case ["games", file] if file.endswith(".gcg"):
                game = file.removesuffix(".gcg")
                host = self.hosting.games.get(game)
                if host is not None and host.book.ended is None:
                    return wrong(404, f"the game {game!r} is on; its GCG is here when it is over")
                return _told(self._read(self._gcg, game))
            case ["games", game]:
                return self._game(game)
            case ["standings", *number] if len(number) < 2:
                if self.standings is None:
                    return wrong(404, "no tournament is played on this server")
                try:
                    return as_json(self.standings(int(number[0]) if number else None))
                except (PeerError, ValueError):
                    return wrong(404, f"no round {number[0][:64]!r} has begun here")
            case ["play" | "words" | "study" | "casual" as asked]:
                if self.play is None:
                    return wrong(404, "a tournament is played on this server, and nothing else")
                if asked == "play":
                    return self.play.settings()
                if asked == "casual":
                    return self.play.casual(query)
                if asked == "study":
                    return self.play.study()
                return self.play.words(query.get("words", ""), query.get("table"))
            case ["ladder", *rest]:
                if self.ladder is None:
                    return wrong(404, "there is no ladder on this server")
                answer = self.ladder.answer(rest, query)
                if isinstance(answer, HttpAnswer):
                    return answer
                said = ("ladder", *rest, "?", *chain(*sorted(query.items())))
                return _told(self._shared(said, answer, self.hosting.journal.address))
        return wrong(
            404,
            "no such address; the API has /api/games, /api/games/ID, /api/games/ID.gcg, "
            "/api/standings, /api/standings/ROUND, /api/ladder, /api/play, /api/casual, "
            "/api/words, /api/study",
        )

    # --- lists ----------------------------------------------------------------------------------

    async def _games(self, before: str | None) -> HttpAnswer:
        journal = self.hosting.journal.address
        if before is None:
            past = await self._shared(("games",), read_past, journal, PAST_LISTED)
        else:
            past = await self._read(read_past, journal, PAST_LISTED, before)
            if not any(past) and not await self._read(has_game, journal, before):
                return wrong(400, f"before must be the id of a game (got {before[:64]!r})")
        return as_json(
            {
                "tournament": self.standings is not None,
                "ladder": self.ladder is not None,
                "own": self.own,
                "analysis": self.analyses,
                "study": self.analyses,
                "study_file": self.play is not None and self.play.offered.study is not None,
                "on": self.hosting.listed().games,
                "past": [_listed(it, self.corrected) for it in past.games],
                "before": past.before,
            }
        )

    # --- a game ---------------------------------------------------------------------------------

    def _game(self, game: str) -> HttpAnswer | Awaitable[HttpAnswer]:
        host = self.hosting.games.get(game)
        if host is None or host.book.ended is not None:
            asked = "game", game, str(self.corrected.get(game))
            return _told(self._shared(asked, self._disclose, game))
        if self.own is not None and self.own.live:
            return _told(self._read(self._live, game))
        return as_json(_shown(host.book) | {"casual": host.is_casual})

    def _disclose(self, game: str) -> HttpAnswer:
        kept, book = self._ended(game)
        shown = _shown(book, kept, None if self.own is None else OWNER)
        over = replace(shown["over"], **self.corrected.get(game, {}))
        return as_json(shown | {"over": over})

    def _live(self, game: str) -> HttpAnswer:
        """Return a game as the host's own screen sees it: consistent, as of its last record."""
        kept = read_game(self.hosting.journal.address, game)
        if kept is None:
            raise _NotTold(f"no game {game[:64]!r} is here")
        book = Scorebook.restored(kept.records, kept.note, self._words_of(kept))
        return as_json(_shown(book, kept, OWNER))

    def _gcg(self, game: str) -> HttpAnswer:
        _, book = self._ended(game)
        assert book.ended is not None
        if self.own is None and not is_open(book.opened, book.ended):
            raise _NotTold("its racks stay hidden: it is void, or half of a pair with equal draws")
        title = " – ".join(book.opened.players)
        return HttpAnswer(200, game_record(book, title, self.corrected.get(game, {})))

    def _ended(self, game: str) -> tuple[KeptGame, Scorebook]:
        kept = read_ended_game(self.hosting.journal.address, game)
        if kept is None:
            raise _NotTold(f"no game {game[:64]!r} is on here, or has ended here")
        lexicon = self._words_of(kept)
        if kept.is_short:
            raise _NotTold("it is an old game, whose moves are in the server's archive only")
        book = Scorebook.restored(kept.records, None, lexicon)
        if book.ended is None:
            raise JournalError(f"the end of game {game[:64]} is not in its records")
        return kept, book

    def _words_of(self, kept: KeptGame) -> Lexicon:
        lexicon = self.hosting.tables.lexicon_of(kept.opened)
        if lexicon is None:
            other = kept.opened.lexicon
            raise _NotTold(f"it was played with other words than are here now ({other})")
        return lexicon

    async def _shared(self, asked: tuple[str, ...], job: Callable[..., _T], *values: object) -> _T:
        """Run a job as ``_read`` does, once for all who ask for the same within a second."""
        now = self.monotonic()
        self._fresh = {key: it for key, it in self._fresh.items() if now - it[0] < FRESH_S}
        if asked not in self._fresh:
            self._fresh[asked] = now, asyncio.ensure_future(self._read(job, *values))
        reading: asyncio.Future[_T] = self._fresh[asked][1]
        try:
            return await asyncio.shield(reading)
        except Exception:
            self._fresh.pop(asked, None)  # the next request reads it again
            raise

    async def _read(self, job: Callable[..., _T], *values: object) -> _T:
        """Run a job that takes its time, in a thread, one at a time; _NotTold if many wait."""
        if self._waiting >= MOST_WAITING:
            raise _NotTold("too many games are being read; try again", status=503)
        self._waiting += 1

        async def in_turn() -> _T:
            try:
                async with self._one_at_a_time:
                    return await asyncio.to_thread(job, *values)
            finally:
                self._waiting -= 1

        # A thread can't be stopped, so its turn lasts on even if the request is cancelled.
        return await asyncio.shield(asyncio.create_task(in_turn()))


class _NotTold(Exception):
    """What is asked for is not told; the message says why."""

    def __init__(self, message: str, status: int = 404) -> None:
        super().__init__(message)
        self.status = status


async def _told(answer: Awaitable[HttpAnswer]) -> HttpAnswer:
    """Return an answer that is read in the journal, or the error if that fails."""
    try:
        return await answer
    except _NotTold as error:
        return wrong(error.status, str(error))
    except (JournalError, ValueError) as error:
        log.error("not told", reason=str(error))
        return wrong(500, "the game can't be read; the server's log says why")


def _listed(past: PastGame, corrected: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    ended = replace(past.ended, **corrected.get(past.game, {}))
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
        "casual": bool(past.label.get(CASUAL)),
    }


def _shown(book: Scorebook, kept: KeptGame | None = None, viewer: Viewer = None) -> dict[str, Any]:
    return {
        "begun": None if kept is None else moment(kept.created),
        "casual": kept is not None and bool(kept.label.get(CASUAL)),
        "offer": new_game(book, viewer, now_ms()),
        "over": game_over(book) if book.ended else None,
        "turns": None if kept is None else disclosed(kept.records, viewer),
        **board_and_tiles(book.rules),
    }
