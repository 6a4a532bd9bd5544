"""The bot's end of a conversation, on any channel: what arrives goes to its game, answers go out.

``BotRunner`` lives as long as the bot; its connections come and go (``bot.reconnect``). The event
loop does no heavy work, so that pings are answered while a search runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from protocol.channel import Channel, ChannelClosed, now_ms
from protocol.conversation import Side
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    Error,
    GameMessage,
    GameOver,
    Goodbye,
    Hello,
    Message,
    NewGame,
    Ping,
    Played,
    Pong,
    Refused,
    Resume,
    Seek,
    Seeking,
    Started,
    Welcome,
    YourTurn,
)
from protocol.session import BotSession, FromArbiter

from .equipment import Equipment
from .offers import Declined, Library, rules_in_play
from .player import Player
from .seatgame import SeatGame
from .watching import MissedPlays

__all__ = ["BotRunner", "TurnedAway"]

log = structlog.get_logger(__name__)

WELCOME_S = 10.0
FLUSH_S = 1.0
ERRORS_LIMIT = 20
"""Messages of one connection that make no sense before it is given up."""


class TurnedAway(Exception):
    """The other side does not want us, and would not the next time either; says why."""


class BotRunner:
    """A bot: it says hello, gets ready for games, plays them.

    Args:
        name: what it says it is called.
        make_player: makes a player, afresh for each game.
        equipment: what it has to play with; by default what is embedded.
        built_in: whether the player is one of the house.
        seed: for the chance of its players; none: a fresh one for each game.
        seek: what it asks a server for; none: it waits to be offered games.
        enough: after so many games it says goodbye; none: it stays.
        freeze: refuse compilation once a player is warm (for a process that does nothing else).
        preload: awaited before the first game is set up.
        clock: milliseconds, on the clock that arrivals are stamped with.
    """

    def __init__(
        self,
        name: str,
        make_player: Callable[[], Player],
        *,
        equipment: Equipment | None = None,
        built_in: bool = False,
        seed: int | None = None,
        seek: Seek | None = None,
        enough: int | None = None,
        freeze: bool = False,
        preload: Callable[[], Awaitable[None]] | None = None,
        software: str | None = None,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self.name = name
        self.finished = 0
        """Games that have ended."""
        self.welcomes = 0
        """Connections on which it was welcome."""
        self.games: dict[str, SeatGame] = {}
        """Those that are on."""
        self._make_player = make_player
        self._library = Library(equipment)
        self._built_in = built_in
        self._seed = seed
        self._seek = seek
        self._enough = enough
        self._freeze = freeze
        self._preload = preload
        self._software = software
        self._clock = clock
        self._session = BotSession()
        self._offers: dict[str, NewGame] = {}
        """Games that are being set up, with the newest offer of each."""
        self._setups: set[asyncio.Task[None]] = set()
        self._set_up_games = 0
        self._last: SeatGame | None = None
        self._channel: Channel | None = None
        self._outbox: asyncio.Queue[Message] = asyncio.Queue()
        self._failure: asyncio.Future[None] | None = None
        self._sought = False
        self._missed: set[str] = set()
        self._errors = 0

    # --- a connection ---------------------------------------------------------------------------

    async def converse(self, channel: Channel) -> str:
        """Speak on a channel until either side says goodbye; give the reason.

        Raises:
            ChannelClosed: the channel was lost; the games go on over another.
            TurnedAway: the other side does not want us.
            Exception: whatever the player's own code raises.
        """
        loop = asyncio.get_running_loop()
        self._failure = self._failure or loop.create_future()
        self._outbox, self._channel, self._errors = asyncio.Queue(), channel, 0
        self._sought = False
        writer = asyncio.create_task(_write(channel, self._outbox))
        talk = asyncio.create_task(self._talk(channel))
        try:
            ends: set[asyncio.Future[Any]] = {talk, self._failure}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if self._failure.done():
                self._failure.result()
            return await talk
        finally:
            self._channel = None
            talk.cancel()
            writer.cancel()
            await asyncio.gather(talk, writer, return_exceptions=True)
            with contextlib.suppress(ChannelClosed):
                await channel.close()

    async def _talk(self, channel: Channel) -> str:
        welcome = await self._greet(channel)
        self.welcomes += 1
        log.debug("welcome", peer=channel.peer, name=welcome.name, games=len(welcome.games))
        for game in {*self.games, *welcome.games}:
            self._ask_again(game)
        self._seek_on(going_on=bool(self.games or welcome.games))
        while self._enough is None or self.finished < self._enough:
            content, at_ms = await channel.receive()
            if isinstance(content, Goodbye):
                return f"{channel.peer} says goodbye: {content.message}"
            self._take(content, at_ms)
        reason = f"{self.finished} games are played"
        self._wire(Goodbye(code="done", message=reason))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._outbox.join(), FLUSH_S)
        return reason

    async def _greet(self, channel: Channel) -> Welcome:
        """Say hello, and wait for the welcome."""
        self._wire(Hello(role="player", name=self.name, software=self._software))
        try:
            async with asyncio.timeout(WELCOME_S):
                while True:
                    content = (await channel.receive()).content
                    match content:
                        case Welcome():
                            return content
                        case Ping(id=number):
                            self._wire(Pong(id=number))
                        case Error(retry="later" | "reconnect", message=message):
                            raise ChannelClosed(f"{channel.peer}: {message}")
                        case Error(message=message) | Goodbye(message=message):
                            raise TurnedAway(f"{channel.peer} turned us away: {message}")
                        case _:
                            raise TurnedAway(f"{channel.peer} did not answer hello with welcome")
        except TimeoutError:
            raise ChannelClosed(f"{channel.peer} does not answer") from None

    def _seek_on(self, *, going_on: bool) -> None:
        """Ask for games, once a connection, when no game of before is still going on."""
        if self._seek is None or self._sought or going_on:
            return
        self._sought = True
        left = self._seek.games - self.finished
        if left > 0:
            self._wire(Seek(opponent=self._seek.opponent, games=left))

    # --- sending --------------------------------------------------------------------------------

    def _wire(self, message: Message) -> None:
        """Send a message, if there is a connection."""
        if self._channel is not None:
            self._outbox.put_nowait(message)

    def _say(self, message: GameMessage) -> bool:
        """Say something about a game; tell whether it may be said now.

        Without a connection it is noted as said: a move goes out when it is asked for again.
        """
        conversation = self._session.games.get(message.game)
        if conversation is None:
            return False
        try:
            conversation.check(Side.BOT, message)
        except PeerError:
            return False
        self._wire(self._session.send(message))
        return True

    def _ask_again(self, game: str) -> None:
        """Ask for what was missed of a game, or for all of it."""
        known = self.games.get(game)
        seen = -1 if known is None else known.watched.seen
        self._wire(self._session.send(Resume(game=game, seen=seen)))

    # --- receiving ------------------------------------------------------------------------------

    def _take(self, content: Message | PeerError, at_ms: int) -> None:
        try:
            if isinstance(content, PeerError):
                raise content
            self._dispatch(content, at_ms)
        except PeerError as error:
            self._complain(error)

    def _dispatch(self, message: Message, at_ms: int) -> None:
        match message:
            case Error():
                self._told_off(message)
            case Seeking() | Welcome():
                log.info("seeking", opponent=getattr(message, "opponent", None))
            case _:
                talk = self._session.small_talk(message)
                event, replies = (
                    (None, talk) if talk is not None else self._session.receive(message)
                )
                for reply in replies:
                    self._wire(reply)
                if event is not None:
                    self._happen(event, at_ms)

    def _complain(self, error: PeerError) -> None:
        log.warning("not understood", code=error.code, why=error.reply.message)
        self._errors += 1
        self._wire(error.reply)
        if self._errors >= ERRORS_LIMIT:
            raise ChannelClosed(f"{self._errors} messages that make no sense, {error}")
        if error.code == "bad_seq" and error.reply.game is not None:
            self._ask_again(error.reply.game)

    def _told_off(self, error: Error) -> None:
        """The other side could not take something that we said."""
        log.warning("error", code=error.code, message=error.message, game=error.game)
        if error.game is not None:
            if error.code == "unknown_game":
                self._forget(error.game)
                self._seek_on(going_on=bool(self.games))
            return
        if self._sought and not self.games:
            if error.retry == "later":
                raise ChannelClosed(error.message)
            raise TurnedAway(error.message)

    def _happen(self, event: FromArbiter, at_ms: int) -> None:
        if isinstance(event, NewGame):
            self._offered(event)
            return
        if isinstance(event, GameOver):
            self._over(event)
            return
        game = self.games.get(event.game)
        if game is None:
            return  # it is being set up; the arbiter asks once we are ready
        lag_ms = 0 if self._channel is None else self._channel.lag_ms
        try:
            match event:
                case Started():
                    game.started(event)
                case Played():
                    game.played(event)
                case YourTurn():
                    game.asked(event, at_ms, lag_ms)
                case Refused():
                    game.refused(event, at_ms, lag_ms)
        except MissedPlays as missed:
            self._missed_plays(event.game, missed)

    # --- games ----------------------------------------------------------------------------------

    def _offered(self, offer: NewGame) -> None:
        game = self.games.get(offer.game)
        if game is not None:
            self._take_up(game, offer)
            return
        being_set_up = offer.game in self._offers
        self._offers[offer.game] = offer
        if not being_set_up:
            task = asyncio.create_task(self._set_up(offer.game))
            self._setups.add(task)
            task.add_done_callback(self._setup_done)

    def _setup_done(self, task: asyncio.Task[None]) -> None:
        self._setups.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._fail(error)

    async def _set_up(self, name: str) -> None:
        """Get ready for a game, whatever time it takes, and say so."""
        offer = self._offers[name]
        self._set_up_games += 1
        game: SeatGame | None = None
        try:
            if offer.you is None:
                raise Declined("wrong_role", "a player plays; it does not watch")
            if self._preload is not None:
                await self._preload()
            rules = rules_in_play(offer.rules)
            resources = await asyncio.to_thread(self._library.resources_for, offer, rules)
            game = SeatGame(
                offer,
                rules,
                resources,
                self._make_player,
                seed=self._next_seed(),
                built_in=self._built_in,
                say=self._say,
                failed=self._fail,
                clock=self._clock,
            )
            await game.prepare(freeze=self._freeze)
        except Declined as declined:
            log.warning("declined", game=name, code=declined.code, why=str(declined))
            self._offers.pop(name, None)
            self._say(Decline(game=name, code=declined.code, message=str(declined)))
            return
        newest = self._offers.pop(name, None)
        if newest is None:
            game.abandon()  # it ended before it began
            return
        self.games[name] = game
        log.info("game", game=name, players=newest.players, seat=newest.you, seq=newest.seq)
        self._take_up(game, newest)

    def _next_seed(self) -> int:
        """Give the seed of the next game: of a seeded bot the same in each run."""
        if self._seed is None:
            return random.SystemRandom().getrandbits(63)
        return random.Random(f"{self._seed}/{self._set_up_games}").getrandbits(63)

    def _take_up(self, game: SeatGame, offer: NewGame) -> None:
        try:
            game.offered(offer)
            self._missed.discard(game.name)
        except MissedPlays as missed:
            self._missed_plays(game.name, missed)
        except PeerError as error:
            self._complain(error)

    def _missed_plays(self, name: str, missed: MissedPlays) -> None:
        """Ask for turns that were not told; give the game up if they are not told then either."""
        if name in self._missed:
            log.error("game given up", game=name, why=str(missed))
            self._say(Decline(game=name, code="missed_plays", message=str(missed)))
            self._forget(name)
            return
        self._missed.add(name)
        self._ask_again(name)

    def _over(self, message: GameOver) -> None:
        game = self.games.pop(message.game, None)
        self._offers.pop(message.game, None)
        self._missed.discard(message.game)
        self.finished += 1
        log.info("game over", game=message.game, outcome=message.outcome, scores=message.scores)
        self._seek_on(going_on=bool(self.games))
        if game is not None:
            self._last = game
            game.over(message)

    async def settle(self, timeout_s: float) -> None:
        """Give the player of the last game a moment for what it does when a game is over."""
        if self._last is not None:
            await asyncio.to_thread(self._last.thread.join, timeout_s)

    def _forget(self, name: str) -> None:
        self._offers.pop(name, None)
        game = self.games.pop(name, None)
        if game is not None:
            game.abandon()

    def _fail(self, error: BaseException) -> None:
        """Something went wrong beside the conversation: end it with that."""
        if self._failure is not None and not self._failure.done():
            self._failure.set_exception(error)


async def _write(channel: Channel, outbox: asyncio.Queue[Message]) -> None:
    with contextlib.suppress(ChannelClosed):  # whoever receives learns of it too
        while True:
            await channel.send(await outbox.get())
            outbox.task_done()
