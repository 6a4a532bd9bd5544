"""What the page and the server say to each other about analysis: JSON in text frames."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

SUBPROTOCOL = "tilewire.analysis.v1"

MOST_DATA = 100_000
"""Bytes of a game or a position, as base64."""


class Analyse(Struct, frozen=True, kw_only=True, tag="analyse"):
    """Read a game or a position, and analyse each turn of it, or one."""

    id: Annotated[int, Meta(ge=0, le=2**31)]
    """The page's number for this request, which the answers have, too."""
    data: bytes
    """A GCG or a CGP, in base64."""
    line: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    """The line of the score sheet before which to analyse, 0 of a CGP; null: every turn."""
    move: Annotated[str, Meta(max_length=100)] = ""
    """A move to compare with the best, in place of the played one."""
    seconds: Annotated[float, Meta(ge=0.1, le=600)] = 2.0
    """Time for a turn; no more than the server allows."""
    rollouts: Annotated[int, Meta(ge=2, le=20_000)] | None = None
    """In place of a time: the findings are then those of ``tilewire analyze`` with this number."""
    seed: Annotated[int, Meta(ge=0, le=2**62)] = 0


class Cancel(Struct, frozen=True, kw_only=True, tag="cancel"):
    """End a request; its ``done`` follows."""

    id: Annotated[int, Meta(ge=0, le=2**31)]


class Ping(Struct, frozen=True, kw_only=True, tag="ping"):
    """Ask for a ``pong``: a network that is gone answers nothing."""


Asked: TypeAlias = Analyse | Cancel | Ping

_DECODER: msgspec.json.Decoder[Asked] = msgspec.json.Decoder(Asked)


def decode(frame: str) -> Asked:
    """Read a request.

    Raises:
        ValueError: it is none; the message says why.
    """
    if len(frame) > MOST_DATA * 4 // 3 + 1_000:
        raise ValueError(f"a game or a position has at most {MOST_DATA:,} bytes")
    try:
        return _DECODER.decode(frame)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def encode(kind: str, id: int | None, **known: Any) -> str:
    """Write an answer.

    ``waiting`` says how many requests are ``ahead`` of this one; ``game`` what was read, ``so_far``
    and ``turn`` what a turn came to, ``left_out`` why one was not analysed; ``done`` is the end,
    and so is ``error``, with a ``code`` and a sentence; ``pong`` answers a ping.
    """
    return msgspec.json.encode({"type": kind, "id": id, **known}).decode()
