"""Answers to plain HTTP that are JSON."""

from __future__ import annotations

import msgspec

from protocol.websocket import HttpAnswer

JSON = "application/json"
_NO_SNIFFING = ("X-Content-Type-Options", "nosniff")


def as_json(value: object) -> HttpAnswer:
    """Return an answer that is JSON, to be asked for anew each time."""
    text = msgspec.json.encode(value).decode() + "\n"
    return HttpAnswer(200, text, JSON, (("Cache-Control", "no-store"), _NO_SNIFFING))


def wrong(status: int, sentence: str) -> HttpAnswer:
    """Return the answer that there is nothing, and why."""
    return as_json({"error": sentence})._replace(status=status)
