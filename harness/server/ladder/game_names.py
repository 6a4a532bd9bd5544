"""The names of the games that were played, in the order in which they ended.

A game takes 24 bytes here. The journal has everything else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_ROW = np.dtype([("game", "S16"), ("players", "u4", 2)])
BLOCK = 1_024
"""Games in an array; a single array for all would be copied as it grows."""


class Numbered(NamedTuple):
    """A game, by its number among those of a table and by its name."""

    number: int
    game: str


class GameNames:
    """The names of games, and who played them."""

    def __init__(self) -> None:
        self._blocks: list[npt.NDArray[Any]] = []
        self.games = 0

    def add(self, game: str, players: tuple[int, int]) -> None:
        """Add a game."""
        at = self.games % BLOCK
        if not at:
            self._blocks.append(np.zeros(BLOCK, _ROW))
        self._blocks[-1][at] = (game.encode(), players)
        self.games += 1

    def latest(self, before: int, most: int, player: int | None = None) -> list[Numbered]:
        """Return games numbered below ``before``, the latest first, all or those of a player.

        Another thread may add games meanwhile.
        """
        latest: list[Numbered] = []
        end = min(before, self.games)
        for block in reversed(range(-(-end // BLOCK))):
            begins = block * BLOCK
            rows = self._blocks[block][: end - begins]
            is_asked_for = np.full(rows.size, fill_value=True)
            if player is not None:
                is_asked_for = (rows["players"] == player).any(axis=1)
            for at in np.flatnonzero(is_asked_for)[::-1][: most - len(latest)]:
                latest.append(Numbered(begins + int(at), rows["game"][at].decode()))
            if len(latest) == most:
                break
        return latest
