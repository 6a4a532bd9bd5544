"""Who moves first: drawn by lot, and in turns when the same two meet again."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

PAIRS_KEPT = 1_024
"""Pairs of players of whom it is known who moved first in their last game."""


@dataclass(eq=False)
class FirstMoves:
    """Who moved first when two players last met."""

    _first: dict[frozenset[str], str] = field(default_factory=dict)
    """By pair; the latest pairs only."""

    def moves_second(self, name: str, opponent: str) -> bool:
        """Return whether a player is to move second in the next game of two."""
        earlier = self._first.get(frozenset((name, opponent)))
        return bool(secrets.randbelow(2)) if earlier is None else earlier == name

    def note(self, first: str, second: str) -> None:
        """Note who moves first in a game."""
        pair = frozenset((first, second))
        self._first.pop(pair, None)
        self._first[pair] = first
        if len(self._first) > PAIRS_KEPT:
            del self._first[next(iter(self._first))]
