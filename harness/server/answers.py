"""Answers to plain HTTP requests: JSON, content that several share, and what stands elsewhere."""

from __future__ import annotations

from typing import Any

import msgspec
from websockets.http11 import Request

from engine.rules.rules import Rules
from lexicons.alphabet import BLANK_FLAG
from protocol.websocket import HttpAnswer

JSON = "application/json"
METHODS = ("GET", "HEAD")
FRESH_S = 1.0
"""Time for which a list is served before it is made again."""
AGAIN_SOON = "Retry-After", "1"
"""The header of an answer from a host that does not serve now."""
_NO_SNIFFING = ("X-Content-Type-Options", "nosniff")

_TOURNAMENT = """\
This is a tilewire server: a tournament of bots is played here, over WebSockets.
Follow a game, or see how it stands, with the program tilewire:

    tilewire watch {url}
    tilewire direct {url} standings
"""

_LADDER = """\
This is a tilewire server: bots play on a ladder here, over WebSockets.
See how it stands, follow a game, or have a bot play, with the program tilewire:

    {web}/api/ladder
    tilewire watch {url}
    tilewire connect {url} --bot static --name ann --token-file ann.token
"""

_GAMES = """\
This is a tilewire server: bots play crossword games here, over WebSockets.
Follow a game, or have a bot play one, with the program tilewire:

    tilewire watch {url}
    tilewire connect {url} --bot greedy --opponent greedy
"""


def as_json(value: object) -> HttpAnswer:
    """Return a JSON answer that is not to be cached."""
    text = msgspec.json.encode(value).decode() + "\n"
    return HttpAnswer(200, text, JSON, (("Cache-Control", "no-store"), _NO_SNIFFING))


def refuse_other_methods(request: Request) -> HttpAnswer | None:
    """Refuse a request that is neither GET nor HEAD; return None for those."""
    if request.method in METHODS:
        return None
    return HttpAnswer(
        405, "only GET and HEAD are answered\n", headers=(("Allow", ", ".join(METHODS)),)
    )


def wrong(status: int, sentence: str) -> HttpAnswer:
    """Return an error as JSON: an HTTP status, and a sentence that says why."""
    return as_json({"error": sentence})._replace(status=status)


def board_and_tiles(rules: Rules) -> dict[str, Any]:
    """Return the board and the tiles, for a page that has neither."""
    layout, tiles = rules.layout, rules.distribution
    text = tiles.alphabet.tile_text
    return {
        "board": {
            "columns": layout.columns,
            "letter": layout.letter_multipliers,
            "word": layout.word_multipliers,
            "start": layout.start[0] * layout.columns + layout.start[1],
        },
        "tiles": [
            {
                "tile": text(tile),
                "blanked": text(tile | BLANK_FLAG),
                "count": count,
                "points": points,
            }
            for tile, (count, points) in enumerate(zip(tiles.counts, tiles.points, strict=True))
        ],
    }


def greeting(url: str, *, tournament: bool, ladder: bool) -> str:
    """Return what can be done at a server, whose ``url`` begins with ws:// or wss://."""
    text = _TOURNAMENT if tournament else _LADDER if ladder else _GAMES
    return text.format(url=url, web=url.replace("ws", "http", 1))
