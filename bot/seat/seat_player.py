"""The seat's interface to a player: the verbs of ``bot.player.Player``; only moves are awaited.

``bot.seat.player_thread.ThreadPlayer`` runs a ``Player`` in a thread;
``harness.seats.engines.engine.Engine`` asks a foreign program. ``GameSession`` drives either.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Observed, Result, View
from engine.rules.moves import Move

__all__ = ["SeatPlayer"]


class SeatPlayer:
    """A player in one game. ``start`` comes first, and is awaited."""

    async def start(self, view: View) -> None:
        """Get ready for a game, possibly in progress; no clock runs yet.

        Raises:
            Declined: the player can't play this game.
        """
        raise NotImplementedError

    async def choose(self, view: View, budget: Budget) -> Choice | str:
        """Choose a move within the budget; cancelled when the answer is no longer wanted.

        Returns:
            The choice, or text that is not a move, for the arbiter to refuse.
        """
        raise NotImplementedError

    def new_game(self, view: View) -> None:
        """Begin a game, or resume it after a crash: ``view`` is the current state."""

    def observe(self, view: View, play: Observed) -> None:
        """Note a turn, the player's own included; ``view`` is after it."""

    def ponder(self, view: View, budget: Budget) -> None:
        """Use the opponent's time until ``budget.expired``."""

    def refused(self, view: View, move: Move, message: str) -> None:
        """Note that a move was illegal; ``choose`` is called again after this."""

    def game_over(self, view: View, result: Result) -> None:
        """Note the end of the game."""

    def leave(self) -> None:
        """Note that nothing more will be asked in this game."""
