"""How much analysis a server does for its visitors."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class AnalysisSettings(Struct, frozen=True, kw_only=True):
    """The table ``[analysis]`` of a server's configuration."""

    workers: Annotated[int, Meta(ge=0, le=64)] = 1
    """Processes that analyse, each with one thread; 0: the page offers no analysis."""
    seconds: Annotated[float, Meta(ge=0.1, le=600)] = 10.0
    """Most time for a turn, unless a number of rollouts is asked for."""
    seconds_per_hour: Annotated[float, Meta(ge=1, le=36_000)] = 1_800.0
    """Most time of these processes that an address may take an hour; as much at once."""
    per_visitor: Annotated[int, Meta(ge=1, le=1_000)] = 3
    """Requests of an address at once."""
    waiting: Annotated[int, Meta(ge=1, le=10_000)] = 30
    """Requests at once, of all visitors; those at work count."""
