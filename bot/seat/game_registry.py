"""The games of a bot: offered, set up, resumed, ended or abandoned, over any connections."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Callable

import structlog

from protocol.errors import PeerError
from protocol.messages import Decline, GameOver, NewGame
from protocol.session import FromArbiter

from .game_session import GameSession, begin
from .offers import Declined, resources_for, rules_of
from .player_thread import Bot, ThreadPlayer
from .player_view import MissedPlays

log = structlog.get_logger(__name__)

MAX_GAMES = 8
"""Most games at once on one connection: each takes a thread and memory for searches."""


def game_seed(seed: int, game: str) -> int:
    """Return the seed that a seeded bot's player has in a game, the same in any process."""
    return random.Random(f"{seed}/{game}").getrandbits(63)


class GameRegistry:
    """All games of one bot, by name.

    Args:
        bot: the bot.
        say: sends messages of a game, in order.
        ask_again: requests a game's missed events.
        complain: takes faults of the arbiter.
        failed: takes all other errors, such as those of the player's code.
    """

    def __init__(
        self,
        bot: Bot,
        *,
        send: Callable[..., None],
        ask_again: Callable[[str], None],
        complain: Callable[[PeerError], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self.finished = 0
        """Number of games over, without the ``earlier`` ones."""
        self.earlier = frozenset[str]()
        """Games in progress at the first welcome, which are resumed but not counted."""
        self.on: dict[str, GameSession[ThreadPlayer]] = {}
        """The games set up and not over, by name."""
        self._bot = bot
        self._send, self._ask_again = send, ask_again
        self._complain, self._failed = complain, failed
        self._offers: dict[str, NewGame] = {}
        """Games being set up, with the newest offer of each."""
        self._setups: set[asyncio.Task[None]] = set()
        self._missed: set[str] = set()
        """Games whose missing turns were requested."""
        self._last: ThreadPlayer | None = None
        """The player of the game that ended last."""

    def seen(self, name: str) -> int:
        """Return the number of the last known event of a game; -1: none."""
        game = self.on.get(name)
        return -1 if game is None else game.watched.seen

    def happened(self, event: FromArbiter, at_ms: int, round_trip_ms: int) -> None:
        """Handle an arbiter's message about a game; raise PeerError if it makes no sense."""
        if isinstance(event, NewGame):
            self._offered(event)
        elif isinstance(event, GameOver):
            game = self.on.pop(event.game, None)
            self._offers.pop(event.game, None)
            self._missed.discard(event.game)
            self.finished += event.game not in self.earlier
            log.info("game over", game=event.game, outcome=event.outcome, scores=event.scores)
            if game is not None:
                self._last = game.player
                game.over(event)
        elif event.game in self.on:  # if it is being set up, the arbiter asks once we are ready
            try:
                self.on[event.game].take(event, at_ms, round_trip_ms)
            except MissedPlays as missed:
                self._missed_plays(event.game, missed)

    def answered_again(self, name: str) -> None:
        """Note that a game's last answer is sent again."""
        if name in self.on:
            self.on[name].answered_again()

    def forget(self, name: str) -> None:
        """Abandon a game, or its setup, without a message."""
        self._offers.pop(name, None)
        self._missed.discard(name)
        game = self.on.pop(name, None)
        if game is not None:
            game.abandon()

    async def settle(self, timeout_s: float) -> None:
        """Wait until the last game's player has done its work, for ``timeout_s`` at most."""
        if self._last is not None:
            await asyncio.to_thread(self._last.thread.join, timeout_s)

    def _offered(self, offer: NewGame) -> None:
        game = self.on.get(offer.game)
        if game is not None:
            self._take_up(game, offer)
            return
        being_set_up = offer.game in self._offers
        # A setup also counts after its game has ended.
        setups = sum(not task.done() for task in self._setups)
        if not being_set_up and len(self.on) + setups >= MAX_GAMES:
            self._decline(offer.game, "busy", f"{MAX_GAMES} games are on here already")
            return
        self._offers[offer.game] = offer
        if not being_set_up:
            begin(self._set_up(offer.game), self._setups, self._failed)

    def _decline(self, name: str, code: str, why: str) -> None:
        log.warning("declined", game=name, code=code, why=why)
        self._send(Decline(game=name, code=code, message=why))

    async def _set_up(self, name: str) -> None:
        offer = self._offers.get(name)
        if offer is None:
            return  # ended before the setup began
        try:
            game = await self._prepared(offer)
        except Declined as declined:
            self._offers.pop(name, None)
            self._decline(name, declined.code, str(declined))
            return
        newest = self._offers.pop(name, None)
        if newest is None:
            game.abandon()  # ended during the setup
            return
        self.on[name] = game
        log.info("game", game=name, players=newest.players, seat=newest.you, seq=newest.seq)
        self._take_up(game, newest)

    async def _prepared(self, offer: NewGame) -> GameSession[ThreadPlayer]:
        """Return a game session with a warm player; raise Declined if the bot can't play it."""
        if offer.you is None:
            raise Declined("wrong_role", "a player plays; it does not watch")
        if self._bot.loaded is not None:
            await asyncio.shield(self._bot.loaded)
        rules = rules_of(offer)
        resources = await asyncio.to_thread(resources_for, self._bot.equipment, offer, rules)
        own = self._bot.seed
        seed = secrets.randbits(63) if own is None else game_seed(own, offer.game)
        player = ThreadPlayer(self._bot, f"player of {offer.game}", self._failed)
        try:
            game = GameSession(
                offer, rules, resources, player, seed=seed, send=self._send, failed=self._failed
            )
            await game.prepare()
        except BaseException:
            player.leave()
            raise
        return game

    def _take_up(self, game: GameSession[ThreadPlayer], offer: NewGame) -> None:
        try:
            game.offered(offer)
            self._missed.discard(game.name)
        except MissedPlays as missed:
            self._missed_plays(game.name, missed)
        except PeerError as error:
            self._complain(error)

    def _missed_plays(self, name: str, missed: MissedPlays) -> None:
        """Ask for missing turns; abandon the game if they are missing again."""
        if name in self._missed:
            self._decline(name, "missed_plays", str(missed))
            self.forget(name)
            return
        self._missed.add(name)
        self._ask_again(name)
