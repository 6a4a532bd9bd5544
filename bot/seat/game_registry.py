"""The games of a bot: each is offered, set up, taken up, and over in the end, or given up.

``GameRegistry`` lives as long as the bot and knows of no connection: what is to be said goes
through the functions that it is given. One game is ``bot.seat.game_session``'s.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping

import structlog

from bot.equipment import Equipment
from bot.player import Player
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    GameOver,
    NewGame,
)
from protocol.session import FromArbiter

from .game_session import GameSession
from .offers import Declined, Library, rules_in_play
from .player_thread import ThreadPlayer
from .player_view import MissedPlays

__all__ = ["GameRegistry"]

log = structlog.get_logger(__name__)

MAX_GAMES = 8
"""On one connection at once: each has a thread, and memory of its own for what it searches."""


class GameRegistry:
    """All games of one bot, by name.

    Args:
        make_player: makes a player, afresh for each game.
        equipment: what it has to play with; by default what is embedded.
        built_in: whether the player is built in.
        seed: for the chance of its players; None: fresh for each game.
        freeze: refuse compilation once a player is warm.
        preload: awaited before the first game is set up.
        say: takes messages of a game, to be said one after the other.
        ask_again: asks for what was missed of a game.
        complain: told what makes no sense of what the arbiter says.
        failed: told what else goes wrong, such as what the player's own code raises.
    """

    def __init__(
        self,
        make_player: Callable[[], Player],
        equipment: Equipment | None,
        *,
        built_in: bool,
        seed: int | None,
        freeze: bool,
        preload: Callable[[], Awaitable[None]] | None,
        say: Callable[..., None],
        ask_again: Callable[[str], None],
        complain: Callable[[PeerError], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self.finished = 0
        """Games that have ended."""
        self._make_player = make_player
        self._library = Library(equipment)
        self._built_in = built_in
        self._seed = seed
        self._freeze = freeze
        self._preload = preload
        self._say = say
        self._ask_again = ask_again
        self._complain = complain
        self._failed = failed
        self._on: dict[str, GameSession[ThreadPlayer]] = {}
        self._offers: dict[str, NewGame] = {}
        """Games that are being set up, with the newest offer of each."""
        self._setups: set[asyncio.Task[None]] = set()
        self._set_up_games = 0
        self._missed: set[str] = set()
        """Games of which turns were missing and have been asked for."""
        self._last: ThreadPlayer | None = None

    @property
    def on(self) -> Mapping[str, GameSession[ThreadPlayer]]:
        """The games that are set up and not over, by name."""
        return self._on

    def seen(self, name: str) -> int:
        """Return the number of the last event that is known of a game; -1: none."""
        game = self._on.get(name)
        return -1 if game is None else game.watched.seen

    def happened(self, event: FromArbiter, at_ms: int, lag_ms: int) -> None:
        """Take in what the arbiter says of a game.

        Raises:
            PeerError: it makes no sense.
        """
        if isinstance(event, NewGame):
            self._offered(event)
        elif isinstance(event, GameOver):
            self._over(event)
        elif event.game in self._on:  # else it is being set up: the arbiter asks once we are ready
            self._went_on(event, at_ms, lag_ms)

    def forget(self, name: str) -> None:
        """Abandon a game, or its setting up, without a word."""
        self._offers.pop(name, None)
        game = self._on.pop(name, None)
        if game is not None:
            game.abandon()

    async def settle(self, timeout_s: float) -> None:
        """Wait a moment for what the player of the last game does when it is over."""
        if self._last is not None:
            await asyncio.to_thread(self._last.thread.join, timeout_s)

    # --- setting up -----------------------------------------------------------------------------

    def _offered(self, offer: NewGame) -> None:
        game = self._on.get(offer.game)
        if game is not None:
            self._take_up(game, offer)
            return
        being_set_up = offer.game in self._offers
        if not being_set_up and len(self._on) + len(self._offers) >= MAX_GAMES:
            self._decline(offer.game, "busy", f"{MAX_GAMES} games are on here already")
            return
        self._offers[offer.game] = offer
        if not being_set_up:
            task = asyncio.create_task(self._set_up(offer.game))
            self._setups.add(task)
            task.add_done_callback(self._setup_done)

    def _decline(self, name: str, code: str, why: str) -> None:
        log.warning("declined", game=name, code=code, why=why)
        self._say(Decline(game=name, code=code, message=why))

    def _setup_done(self, task: asyncio.Task[None]) -> None:
        self._setups.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._failed(error)

    async def _set_up(self, name: str) -> None:
        """Get ready for a game, whatever time it takes, and say so."""
        offer = self._offers.get(name)
        if offer is None:
            return  # it was over before it was looked at
        try:
            game = await self._prepared(offer)
        except Declined as declined:
            self._offers.pop(name, None)
            self._decline(name, declined.code, str(declined))
            return
        newest = self._offers.pop(name, None)
        if newest is None:
            game.abandon()  # it ended before it began
            return
        self._on[name] = game
        log.info("game", game=name, players=newest.players, seat=newest.you, seq=newest.seq)
        self._take_up(game, newest)

    async def _prepared(self, offer: NewGame) -> GameSession[ThreadPlayer]:
        """Make a game with a player that is warm.

        Raises:
            Declined: it can't be played here.
        """
        self._set_up_games += 1
        if offer.you is None:
            raise Declined("wrong_role", "a player plays; it does not watch")
        if self._preload is not None:
            await self._preload()
        rules = rules_in_play(offer.rules)
        resources = await asyncio.to_thread(self._library.resources_for, offer, rules)
        player = ThreadPlayer(
            self._make_player,
            f"player of {offer.game}",
            built_in=self._built_in,
            freeze=self._freeze,
            failed=self._failed,
        )
        game = GameSession(
            offer,
            rules,
            resources,
            player,
            seed=self._next_seed(),
            say=self._say,
            failed=self._failed,
        )
        await game.prepare()
        return game

    def _next_seed(self) -> int:
        """Return the seed of the next game: for a seeded bot the same in each run."""
        if self._seed is None:
            return random.SystemRandom().getrandbits(63)
        return random.Random(f"{self._seed}/{self._set_up_games}").getrandbits(63)

    # --- a game ---------------------------------------------------------------------------------

    def _take_up(self, game: GameSession[ThreadPlayer], offer: NewGame) -> None:
        try:
            game.offered(offer)
            self._missed.discard(game.name)
        except MissedPlays as missed:
            self._missed_plays(game.name, missed)
        except PeerError as error:
            self._complain(error)

    def _went_on(self, event: FromArbiter, at_ms: int, lag_ms: int) -> None:
        game = self._on[event.game]
        try:
            game.take(event, at_ms, lag_ms)
        except MissedPlays as missed:
            self._missed_plays(game.name, missed)

    def _missed_plays(self, name: str, missed: MissedPlays) -> None:
        """Ask for turns that are missing; abandon the game if they are missing again."""
        if name in self._missed:
            log.error("game given up", game=name, why=str(missed))
            self._say(Decline(game=name, code="missed_plays", message=str(missed)))
            self.forget(name)
            return
        self._missed.add(name)
        self._ask_again(name)

    def _over(self, message: GameOver) -> None:
        game = self._on.pop(message.game, None)
        self._offers.pop(message.game, None)
        self._missed.discard(message.game)
        self.finished += 1
        log.info("game over", game=message.game, outcome=message.outcome, scores=message.scores)
        if game is not None:
            self._last = game.player
            game.over(message)
