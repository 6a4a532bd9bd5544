"""Answers to plain HTTP requests: JSON, and content that several share."""

from __future__ import annotations

from typing import Any

import msgspec
from websockets.http11 import Request

from engine.rules.rules import Rules
from lexicons.alphabet import BLANK_FLAG
from protocol.websocket import HttpAnswer

JSON = "application/json"
FRESH_S = 1.0
"""Time for which a list is served before it is made again."""
AGAIN_SOON = "Retry-After", "1"
"""The header of an answer from a host that does not serve now."""
_NO_SNIFFING = ("X-Content-Type-Options", "nosniff")


def as_json(value: object) -> HttpAnswer:
    """Return a JSON answer that is not to be cached."""
    text = msgspec.json.encode(value).decode() + "\n"
    return HttpAnswer(200, text, JSON, (("Cache-Control", "no-store"), _NO_SNIFFING))


def refuse_other_methods(request: Request) -> HttpAnswer | None:
    """Refuse a request that is neither GET nor HEAD; return None for those."""
    if request.method in ("GET", "HEAD"):
        return None
    return HttpAnswer(405, "only GET and HEAD are answered\n", headers=(("Allow", "GET, HEAD"),))


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
