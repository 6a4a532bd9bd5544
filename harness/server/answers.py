"""Answers that are JSON: to plain HTTP, and what several have in them."""

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
"""Lists are made anew at most so often."""
_NO_SNIFFING = ("X-Content-Type-Options", "nosniff")


def as_json(value: object) -> HttpAnswer:
    """Return an answer that is JSON, to be asked for anew each time."""
    text = msgspec.json.encode(value).decode() + "\n"
    return HttpAnswer(200, text, JSON, (("Cache-Control", "no-store"), _NO_SNIFFING))


def refuse_other_methods(request: Request) -> HttpAnswer | None:
    """Refuse a request that is for something else than to be told."""
    if request.method in METHODS:
        return None
    return HttpAnswer(
        405, "only GET and HEAD are answered\n", headers=(("Allow", ", ".join(METHODS)),)
    )


def wrong(status: int, sentence: str) -> HttpAnswer:
    """Return the answer that there is nothing, and why."""
    return as_json({"error": sentence})._replace(status=status)


def board_and_tiles(rules: Rules) -> dict[str, Any]:
    """Return the board and the tiles, for who has neither."""
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
