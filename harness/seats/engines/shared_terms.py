"""Terms shared by adapters: positions, rules, racks; no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from bot.player import Budget, View
from engine.notation.cgp import write_cgp
from engine.rules.position import Board, Position, Rack
from engine.rules.rules import Rules, standard_rules

__all__ = ["latest_ms", "opening", "other_rule", "some", "unseen_tiles"]

NAMED = 5  # words per sentence


def opening(rack: Rack, rules: Rules) -> str:
    """Return the CGP of the first turn of a game."""
    return write_cgp(Position(Board.empty(rules.layout), (rack, ()), (0, 0)), rules)


def unseen_tiles(view: View) -> Rack:
    """Return the tiles hidden from the player, sorted."""
    return tuple(tile for tile, count in enumerate(view.unseen) for _ in range(count))


def other_rule(rules: Rules, names: Sequence[str]) -> str | None:
    """Return the first of these rules that differs from the standard for the tiles."""
    standard = standard_rules(rules.distribution.name)
    return next((name for name in names if getattr(rules, name) != getattr(standard, name)), None)


def latest_ms(budget: Budget, lead_ms: int) -> int:
    """Return the longest search that leaves ``lead_ms``, or a quarter, for its answer."""
    last = budget.until_last_ms()
    return last - min(lead_ms, last // 4)


def some(words: Sequence[str]) -> str:
    """Count words and name a few, for a sentence."""
    if not words:
        return "none"
    return f"{len(words):,} ({', '.join(words[:NAMED])}{', …' if len(words) > NAMED else ''})"
