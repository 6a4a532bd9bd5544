"""What the page asks for so that a person can play: bots, clock, name; and whether words are valid.

The person plays as any player does, over the server's WebSocket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from websockets.http11 import Request

from harness.arbiter.clock import is_loopback
from lexicons.alphabet import BLANK, BLANK_FLAG
from protocol.errors import PeerError
from protocol.parts import TimeControl
from protocol.websocket import HttpAnswer

from .answers import as_json, wrong
from .tables import TableKind, Tables

MOST_WORDS = 16
"""Most words in a request; a play forms at most one per tile, and its main word."""
MOST_TILES = 32


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


def refuse_strangers(request: Request, host: str) -> HttpAnswer | None:
    """Refuse a page of another origin, which could play in a person's name.

    The server is asked for by a name of loopback, or by ``host``, which it listens on; at any port,
    since a container's may be published at another. Any other name may have been made to resolve to
    this machine (DNS rebinding).
    """
    hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
    try:
        names = [urlsplit(f"//{host}").hostname for host in hosts]
        theirs = [urlsplit(origin).netloc for origin in origins]
    except ValueError:
        names, theirs = [], []
    if len(names) != 1 or not (is_loopback(names[0] or "") or names[0] == host.lower()):
        return wrong(421, "this server answers at 127.0.0.1, and at the address that --host names")
    if theirs and theirs != hosts:
        return wrong(403, "this server answers its own page only")
    return None


class PlayAnswers:
    """Answers what a person's page asks.

    Args:
        time: returns the server's time control for a game that begins now.
        needs_token: whether nobody may play without a token.
    """

    def __init__(
        self,
        tables: Tables,
        offered: Offered,
        time: Callable[[], TimeControl],
        *,
        needs_token: bool,
    ) -> None:
        self._tables, self._offered, self._time = tables, offered, time
        self._needs_token = needs_token

    def settings(self) -> HttpAnswer:
        """Return the choices before a game; ``tables`` is empty if there is only one table."""
        offered, several = self._offered, bool(self._tables.names)
        return as_json(
            {
                "opponent": offered.opponent,
                "token": self._needs_token,
                "name": offered.name,
                **self._at(self._tables.main),
                "tables": [
                    {"name": kind.name, **self._at(kind)} for kind in self._tables if several
                ],
            }
        )

    def _at(self, kind: TableKind) -> dict[str, Any]:
        """Return what there is to choose at a table."""
        abouts = self._offered.bots.items()
        return {
            "bots": [{"name": name, "about": about} for name, about in abouts if name in kind.bots],
            "time": kind.time or self._time(),
            "rules": kind.rules.name,
            "lexicon": kind.lexicon.name,
            "words": _tells_words(kind),
        }

    def words(self, text: str, table: str | None = None) -> HttpAnswer:
        """Return which of some words, separated by commas, are valid at a table."""
        try:
            kind = self._tables.find(table)
        except PeerError as error:
            return wrong(400, error.reply.message)
        if not _tells_words(kind):
            why = "at this table players challenge words, so they can't be looked up"
            return wrong(403, why)
        words = [word for word in text.split(",") if word]
        if not words:
            return wrong(400, "no word is asked for; write /api/words?words=CAT,DOG")
        if len(words) > MOST_WORDS:
            return wrong(400, f"{len(words)} words are asked for, and at most {MOST_WORDS} may be")
        try:
            return as_json({"words": {word: _is_word(kind, word) for word in words}})
        except ValueError as error:
            return wrong(400, str(error))


def _tells_words(kind: TableKind) -> bool:
    """Return whether looking words up gives nothing away: invalid plays are refused at once."""
    return kind.rules.challenge == "void"


def _is_word(kind: TableKind, word: str) -> bool:
    tiles = [tile & ~BLANK_FLAG for tile in kind.lexicon.distribution.alphabet.tiles(word)]
    if BLANK in tiles:
        raise ValueError(f"{word[:MOST_TILES]!r} has a blank; write the letter that it is")
    return len(tiles) <= MOST_TILES and kind.lexicon.graph.contains(tiles)
