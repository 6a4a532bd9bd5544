"""Where move text, CGP and GCG meet positions."""

from __future__ import annotations

from .cgp import Cgp, read_cgp, write_cgp
from .gcg import (
    EventKind,
    GcgError,
    GcgEvent,
    GcgGame,
    GcgPlayer,
    GcgPragma,
    read_gcg,
    write_gcg,
)
from .magpie_moves import (
    MagpieMove,
    parse_magpie_endgame,
    parse_magpie_generated,
    parse_magpie_move,
    parse_magpie_preendgame,
    parse_magpie_simulated,
)
from .move_text import (
    NotationError,
    format_exchange_count,
    format_full_move,
    format_move,
    format_square,
    parse_exchange_count,
    parse_move,
    parse_square,
)
from .recording import gcg_from_game
from .replaying import Replay, ReplayStep, replay

__all__ = [
    "Cgp",
    "EventKind",
    "GcgError",
    "GcgEvent",
    "GcgGame",
    "GcgPlayer",
    "GcgPragma",
    "MagpieMove",
    "NotationError",
    "Replay",
    "ReplayStep",
    "format_exchange_count",
    "format_full_move",
    "format_move",
    "format_square",
    "gcg_from_game",
    "parse_exchange_count",
    "parse_magpie_endgame",
    "parse_magpie_generated",
    "parse_magpie_move",
    "parse_magpie_preendgame",
    "parse_magpie_simulated",
    "parse_move",
    "parse_square",
    "read_cgp",
    "read_gcg",
    "replay",
    "write_cgp",
    "write_gcg",
]
