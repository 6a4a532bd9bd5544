"""A player as its seat asks it: the verbs of ``bot.player.Player``; only moves are waited for.

``bot.seat.player_thread.ThreadPlayer`` runs a ``Player`` in a thread of this process;
``harness.seats.engines.engine.Engine`` asks a program of somebody else's. ``GameSession`` drives
either.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Observed, Result, View
from engine.rules.moves import Move

__all__ = ["SeatPlayer"]


class SeatPlayer:
    """A player in one game. ``start`` comes first, and is awaited."""

    async def start(self, view: View) -> None:
        """Get ready for a game, which may be on already; no clock runs yet.

        Raises:
            Declined: the player can't play this game.
        """
        raise NotImplementedError

    async def choose(self, view: View, budget: Budget) -> Choice | str:
        """Choose a move; the budget says how long it should take, and how long it may.

        It is cancelled when the answer is no longer wanted.

        Returns:
            The choice, or a text that is no move: the arbiter then says what is wrong with it.
        """
        raise NotImplementedError

    def new_game(self, view: View) -> None:
        """The game begins, or goes on after a crash: then ``view`` is where it stands."""

    def observe(self, view: View, play: Observed) -> None:
        """A turn was taken, the player's own included; ``view`` is after it."""

    def ponder(self, view: View, budget: Budget) -> None:
        """The opponent thinks: the time may be used until ``budget.expired``."""

    def refused(self, view: View, move: Move, message: str) -> None:
        """The move was against the rules; ``choose`` is called again after this."""

    def game_over(self, view: View, result: Result) -> None:
        """The game has ended."""

    def leave(self) -> None:
        """Nothing more will be asked in this game."""
