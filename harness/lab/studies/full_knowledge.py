"""``full-knowledge``: simulates like ``sim``, with its options, but sees the opponent's rack.

Its advantage is the most that any belief about the rack could gain (Richards and Amir 2007). No
arbiter reveals racks, so it plays in experiments only (``in_process.play_game``).
"""

from __future__ import annotations

from bot.player import View
from bot.players.sim import settings_of
from bot.search.strategy import Searching, Strategy
from engine.rules.position import Rack

__all__ = ["FullKnowledgePlayer"]


class FullKnowledgePlayer(Strategy):
    """Plays the move that wins most often against the opponent's actual rack.

    Raises:
        ValueError: an option is invalid.
    """

    def __init__(
        self,
        candidates: str = "",
        plies: str = "",
        iterations: str = "",
        time: str = "",
        bag: str = "",
    ) -> None:
        super().__init__(settings_of(candidates, plies, iterations, time, bag))
        self._seen: Rack | None = None

    def see(self, rack: Rack) -> None:
        """Look at the opponent's rack, before each choice."""
        self._seen = rack

    def begin(self, view: View) -> Searching:
        """Begin a search with both racks known.

        Raises:
            RuntimeError: ``see`` was not called.
        """
        if self._seen is None:
            raise RuntimeError("full-knowledge was not shown its opponent's rack; see play_game")
        return super().begin(view.holding(view.rack, self._seen))
