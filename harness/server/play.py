"""What the page asks for so that a person can play: bots, clock, name; and whether words are valid.

The person plays as any player does, over the server's WebSocket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace
from websockets.http11 import Request

from engine.notation.cgp import read_cgp, write_cgp
from engine.rules.rules import Rules
from harness.arbiter.clock import is_loopback
from harness.figures import plain
from lexicons.alphabet import BLANK, BLANK_FLAG
from protocol.errors import PeerError
from protocol.parts import TimeControl
from protocol.websocket import HttpAnswer

from .answers import as_json, wrong
from .tables import Casual, ServerTables, TableKind

MOST_WORDS = 16
"""Most words in a request; a play forms at most one per tile, and its main word."""
MOST_TILES = 32
MOST_CGP = 2_000
CLOCKS_MS = tuple(60_000 * minutes for minutes in (3, 5, 10, 25, 60))
"""What may be chosen of casual games, besides the table's own clock."""
NO_WORDS = "at this table players challenge words, so they can't be looked up"
_MOST_SHOWN = 200  # characters of an origin


@dataclass(frozen=True)
class Offered:
    """What a server offers to people; each field has a default, for a server of bots."""

    bots: Mapping[str, str] = field(default_factory=dict)
    """A sentence about each bot, by name, in the order in which they are shown."""
    name: str | None = None
    """The person's name, unless the person chooses another."""
    opponent: str | None = None
    """The opponent that was asked for when the server was started."""
    is_private: bool = False
    """Whether the server is for one person at this machine; it answers its own page only."""
    study: Mapping[str, Any] | None = None
    """What ``tilewire study`` was asked for: ``data`` (bytes or None), ``name``, ``turn``."""
    wins: Mapping[str, float] = field(default_factory=dict)
    """The percentage of games that a bot won against ``static``, by name, where it is measured."""


def refuse_strangers(request: Request, host: str) -> HttpAnswer | None:
    """Refuse a page of another origin, which could play in a person's name.

    The server is asked for by a name of loopback, or by ``host``, which it listens on.
    """
    if not _asks_by_our_name(request, host):
        return wrong(421, "this server answers at 127.0.0.1, and at the address that --host names")
    if not is_own_page(request):
        return wrong(403, "this server answers its own page only")
    return None


def refuse_foreign_page(request: Request, host: str) -> HttpAnswer | None:
    """Refuse a WebSocket that a page of another origin opens from a browser on this machine.

    Without tokens it could play as anybody here. Programs send no ``Origin``, and are let in. A
    server on another ``host`` than loopback may be asked for by any name.
    """
    origins = request.headers.get_all("Origin")
    by_our_name = not is_loopback(host) or _asks_by_our_name(request, host)
    if not origins or (by_our_name and is_own_page(request)):
        return None
    return wrong(
        403,
        f"a page of {plain(origins[0][:_MOST_SHOWN])} can't play here, only this server's own page "
        "can; a reverse proxy has to pass on Host, and to be in admission.proxies",
    )


def _asks_by_our_name(request: Request, host: str) -> bool:
    """Return whether a request asks for a name of loopback, or ``host``, at any port.

    A container's port may be published at another. Any other name may have been made to resolve to
    this machine (DNS rebinding).
    """
    try:
        names = [urlsplit(f"//{name}").hostname for name in request.headers.get_all("Host")]
    except ValueError:
        return False
    return len(names) == 1 and (is_loopback(names[0] or "") or names[0] == host.lower())


def is_own_page(request: Request) -> bool:
    """Return whether a request comes from no page, or from one of the server that it asks."""
    origins = request.headers.get_all("Origin")
    try:
        theirs = [urlsplit(origin).netloc for origin in origins]
    except ValueError:
        return False
    return not origins or theirs == request.headers.get_all("Host")


@dataclass(frozen=True)
class PlayAnswers:
    """Answers what a person's page asks."""

    tables: ServerTables
    offered: Offered
    time: Callable[[], TimeControl]
    """Returns the server's time control for a game that begins now."""
    _: KW_ONLY
    needs_token: bool
    """Whether nobody may play without a token."""

    def settings(self) -> HttpAnswer:
        """Return the choices before a game; ``tables`` is empty if there is only one table."""
        tables, offered = self.tables, self.offered
        several = tables if tables.names else ()
        return as_json(
            {
                "opponent": offered.opponent,
                "token": self.needs_token,
                "name": offered.name,
                **self._at(tables.main),
                "tables": [{"name": kind.name, **self._at(kind)} for kind in several],
            }
        )

    def _at(self, kind: TableKind) -> dict[str, Any]:
        """Return what there is to choose at a table."""
        abouts = self.offered.bots.items()
        return {
            "bots": [
                {"name": name, "about": about, "wins": self.offered.wins.get(name)}
                for name, about in abouts
                if name in kind.bots
            ],
            "time": kind.time or self.time(),
            "clocks": self._clocks(kind),
            "rules": kind.rules.name,
            "lexicon": kind.lexicon.name,
            "words": tells_words(kind.rules),
        }

    def _clocks(self, kind: TableKind) -> list[int]:
        """Return what each may have for a casual game, in milliseconds; not more than the table's.

        On a person's own machine it may be more: nobody waits for the place.
        """
        own_ms = (kind.time or self.time()).initial_ms
        others = [ms for ms in CLOCKS_MS if self.offered.is_private or ms < own_ms]
        return sorted({own_ms, *others})

    def casual(self, query: Mapping[str, str]) -> HttpAnswer:
        """Return the name of a table for a casual game, which a person may seek against a bot.

        ``position`` (CGP) is where it begins, with the person in the seat that ``seat`` says: 0
        moves first. Of its racks only that seat's counts; the rest is drawn.
        """
        try:
            kind = self.tables.find(query.get("table"))
            time = kind.time or self.time()
            clock = int(query.get("clock") or time.initial_ms)
            if clock not in self._clocks(kind):
                allowed = ", ".join(map(str, self._clocks(kind)))
                raise ValueError(f"clock must be one of {allowed} milliseconds (got {clock})")
            casual = Casual()
            if "position" in query:
                casual = _opening(query["position"], int(query.get("seat", "0") == "1"), kind.rules)
        except PeerError as error:
            return wrong(400, error.reply.message)
        except ValueError as error:
            return wrong(400, str(error))
        time = replace(time, initial_ms=clock)
        return as_json({"table": self.tables.add_casual(kind, time, casual)})

    def study(self) -> HttpAnswer:
        """Return what the server was started to study."""
        if self.offered.study is None:
            return wrong(404, "this server was not started by tilewire study")
        return as_json({**self.offered.study, "lexicon": self.tables.main.lexicon.name})

    def words(self, text: str, table: str | None = None) -> HttpAnswer:
        """Return which of some words, separated by commas, are valid at a table."""
        try:
            kind = self.tables.find(table)
        except PeerError as error:
            return wrong(400, error.reply.message)
        if not tells_words(kind.rules):
            return wrong(403, NO_WORDS)
        words = [word for word in text.split(",") if word]
        if not words:
            return wrong(400, "no word is asked for; write /api/words?words=CAT,DOG")
        if len(words) > MOST_WORDS:
            return wrong(400, f"{len(words)} words are asked for, and at most {MOST_WORDS} may be")
        try:
            return as_json({"words": {word: _is_word(kind, word) for word in words}})
        except ValueError as error:
            return wrong(400, str(error))


def _opening(cgp: str, seat: int, rules: Rules) -> Casual:
    """Return a game that begins in a position.

    Raises:
        ValueError: it can't begin there; the message says why.
    """
    from harness.matches.openings import check_opening  # reads games, which few servers do

    if len(cgp) > MOST_CGP:
        raise ValueError(f"a position has at most {MOST_CGP} characters (got {len(cgp)})")
    position = read_cgp(cgp, rules)
    position = position.with_rack(1 - seat, ())
    check_opening(position, rules)
    return Casual(write_cgp(position, rules), seat)


def tells_words(rules: Rules) -> bool:
    """Return whether looking words up gives nothing away: invalid plays are refused at once."""
    return rules.challenge == "void"


def _is_word(kind: TableKind, word: str) -> bool:
    tiles = [tile & ~BLANK_FLAG for tile in kind.lexicon.distribution.alphabet.tiles(word)]
    if BLANK in tiles:
        raise ValueError(f"{word[:MOST_TILES]!r} has a blank; write the letter that it is")
    return len(tiles) <= MOST_TILES and kind.lexicon.graph.contains(tiles)
