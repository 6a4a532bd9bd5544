"""The bot's end of a conversation, on any channel: messages go to games, and answers out.

``BotRunner`` lives as long as the bot; connections come and go. The event loop does no heavy work,
so it answers pings during a search.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.link import Link
from protocol.messages import (
    Error,
    GameMessage,
    GameOver,
    Goodbye,
    Hello,
    Message,
    Ping,
    Pong,
    Resign,
    Resume,
    Seeking,
    Welcome,
    YourTurn,
)
from protocol.session import BotSession, FromArbiter, Side

from .game_registry import GameRegistry
from .player_thread import Bot
from .runtime import software

log = structlog.get_logger(__name__)

WELCOME_S = 10.0
FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 10.0


class TurnedAway(Exception):
    """The other side rejects us for good; the message and ``code`` give the reason."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class _Goodbye(Exception):
    """The other side said goodbye; the message gives the reason."""


class BotRunner:
    """Says hello for a bot, gets it ready for games, and plays them.

    ``on_message`` is called with each message accepted from the other side, before it is acted on,
    and with each message sent, even while the connection is lost. If it raises, the conversation
    ends. ``secret`` is the one by which an earlier run of the bot would come back to its game.
    """

    def __init__(
        self,
        bot: Bot,
        on_message: Callable[[Message], None] = lambda _message: None,
        *,
        secret: str = "",
    ) -> None:
        self._bot = bot
        self._on_message = on_message
        self._secret = secret
        self._event: str | UnsetType = UNSET
        """What we play in; another event at the same address is not joined."""
        self._welcomes = 0
        self._session = BotSession()
        self.games = GameRegistry(
            bot,
            send=self._send,
            ask_again=self._ask_again,
            complain=self._complain,
            failed=self._fail,
        )
        self._link: Link | None = None
        self._failure: asyncio.Future[None] | None = None
        self._sought = False
        """Whether we have asked for games on this connection."""
        self._put_off = False
        """Whether the other side put off our seek."""
        self._played_out = ""
        """Reason for leaving, once enough games are played."""

    def resign(self, game: str) -> None:
        """Resign a game, in place of the move that its player is to make."""
        self._send(Resign(game=game, seq=self.games.seen(game) + 1))

    async def run(
        self,
        dial: Callable[[], Awaitable[Channel]],
        *,
        patience_s: float = 300.0,
        lost: Callable[[str], None] = lambda _why: None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> str:
        """Play over connections that may be lost; return the reason for the end.

        It dials again after waits that double and vary randomly, so that a restarted server is not
        overrun. The waits since the last welcome add up to about ``patience_s`` at most; the time
        that dialling takes does not count. A bot that was never welcomed does not retry. ``lost``
        is called with the reason before each wait. ``jitter`` returns a random number from 0 to 1.

        Raises:
            ChannelClosed: nobody answers at first, or before patience ends.
            Exception: as ``converse``.
        """
        welcomes, wait_s, waited_s = 0, FIRST_WAIT_S, 0.0
        while True:
            try:
                return await self.converse(await dial())
            except ChannelClosed as closed:
                if self._welcomes > welcomes:
                    welcomes = self._welcomes
                    if not self._put_off:
                        wait_s, waited_s = FIRST_WAIT_S, 0.0
                if welcomes == 0 or waited_s >= patience_s:
                    raise
                pause_s = wait_s * (0.5 + jitter() / 2)
                log.warning("connection lost", why=str(closed), dial_again_in_s=round(pause_s, 2))
                lost(str(closed))
            await sleep(pause_s)
            waited_s += pause_s
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def converse(self, channel: Channel) -> str:
        """Talk on a channel until either side says goodbye; return the reason.

        Raises:
            ChannelClosed: the channel was lost; games continue on another.
            TurnedAway: the other side rejects us.
            Exception: any error of the player's code.
        """
        self._failure = self._failure or asyncio.get_running_loop().create_future()
        talk = asyncio.create_task(self._talk(channel))
        try:
            ends: set[asyncio.Future[Any]] = {talk, self._failure}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            self.check()
            return await talk
        finally:
            self._link = None
            talk.cancel()
            await asyncio.gather(talk, return_exceptions=True)
            with contextlib.suppress(ChannelClosed):
                await channel.close()

    async def _talk(self, channel: Channel) -> str:
        welcome = await self._greet(channel)
        if not self._welcomes:
            self.games.earlier = frozenset(welcome.games)
        self._welcomes += 1
        self._on_message(welcome)
        log.debug("welcome", peer=channel.peer, name=welcome.name, games=len(welcome.games))
        self._sought, self._put_off, self._played_out = False, False, ""
        link = self._link = Link(channel, self._receive)
        for game in {*self.games.on, *welcome.games}:
            self._ask_again(game)
        self._seek_on(resumed=bool(welcome.games))
        self._leave_if_done()
        try:
            why = await link.run()
        except _Goodbye as goodbye:
            return str(goodbye)
        if self._played_out:
            return self._played_out
        raise ChannelClosed(f"{channel.peer}: {link.closing}" if link.closing else why)

    def _leave_if_done(self) -> None:
        seek, link, count = self._bot.seek, self._link, self.games.finished
        if seek is None or link is None or count < seek.games or self._played_out:
            return
        self._played_out = "1 game is played" if count == 1 else f"{count} games are played"
        link.send(Goodbye(code="done", message=self._played_out))
        link.close_soon(1000, "")

    async def _greet(self, channel: Channel) -> Welcome:
        try:
            async with asyncio.timeout(WELCOME_S):
                hello = Hello(
                    role="player",
                    name=self._bot.name,
                    software=software(),
                    secret=self._secret,
                    event=self._event,
                )
                await channel.send(hello)
                while True:
                    content = (await channel.receive()).content
                    match content:
                        case Welcome():
                            self._secret = content.secret or self._secret
                            self._event = content.event or self._event
                            return content
                        case Ping(id=number):
                            await channel.send(Pong(id=number))
                        case Error(retry="later" | "reconnect", message=message):
                            raise ChannelClosed(f"{channel.peer}: {message}")
                        case Error() | Goodbye():
                            why = f"{channel.peer} turned us away: {content.message}"
                            raise TurnedAway(why, content.code)
                        case _:
                            raise TurnedAway(f"{channel.peer} did not answer hello with welcome")
        except TimeoutError:
            why = f"{channel.peer} did not answer hello within {WELCOME_S:g} s"
            raise ChannelClosed(why) from None

    def _seek_on(self, *, resumed: bool = False) -> None:
        """Ask for games, once per connection, unless an earlier game continues.

        If the bot is still loading, ask when it is loaded, since an opponent would have to wait.
        """
        seek, loaded = self._bot.seek, self._bot.loaded
        if seek is None or self._sought or resumed or self.games.on:
            return
        if loaded is not None and not loaded.done():
            loaded.add_done_callback(self._loaded)
            return
        self._sought = True
        if (left := seek.games - self.games.finished) > 0:
            self._wire(replace(seek, games=left))

    def _loaded(self, loaded: asyncio.Future[Any]) -> None:
        if not loaded.cancelled() and loaded.exception() is None:
            self._seek_on()

    def _wire(self, message: Message) -> None:
        self._on_message(message)
        if self._link is not None:
            self._link.send(message)

    def _send(self, *messages: GameMessage) -> None:
        """Send messages of a game; keep those that end in an answer, for when it is asked again.

        Without a connection they count as sent, and those that end in no answer are lost.
        """
        conversation = self._session.games.get(messages[0].game)
        if conversation is None:
            return
        try:
            conversation.check(Side.BOT, messages[0])
        except PeerError:
            self._session.store_answers(*messages)
            return
        for message in messages:
            self._wire(self._session.send(message))
        self._session.store_answers(*messages)

    def _ask_again(self, game: str) -> None:
        self._wire(self._session.send(Resume(game=game, seen=self.games.seen(game))))

    def _receive(self, message: Message, at_ms: int) -> None:
        try:
            match message:
                case Goodbye(message=why) if self._link is not None:
                    self._on_message(message)
                    raise _Goodbye(f"{self._link.channel.peer} says goodbye: {why}")
                case Error():
                    self._receive_error(message)
                    self._on_message(message)
                case Seeking(opponent=opponent):
                    log.info("seeking", opponent=opponent)
                    self._on_message(message)
                case Welcome():  # again, which changes nothing
                    self._on_message(message)
                case _:
                    event, replies = self._session.receive(message)
                    self._on_message(message)
                    for reply in replies:
                        self._wire(reply)
                    if event is not None:
                        self._happen(event, at_ms)
                    elif replies and isinstance(message, YourTurn):
                        self.games.answered_again(message.game)
        except PeerError as error:
            self._complain(error)
        self._leave_if_done()

    def _complain(self, error: PeerError) -> None:
        log.warning("not understood", code=error.code, why=error.reply.message)
        if self._link is not None:
            self._link.refuse(error)
        if error.code == "bad_seq" and error.reply.game is not None:
            self._ask_again(error.reply.game)

    def _receive_error(self, error: Error) -> None:
        """Take an error of the other side about a message of ours."""
        log.warning("error", code=error.code, message=error.message, game=error.game)
        if error.game is not None:
            if error.code == "unknown_game":
                self.games.forget(error.game)
                self._session.forget(error.game)
                self._seek_on()
            return
        if self._sought and not self.games.on:
            if error.retry == "later":
                self._put_off = True
                raise ChannelClosed(error.message)
            raise TurnedAway(error.message, error.code)

    def _happen(self, event: FromArbiter, at_ms: int) -> None:
        round_trip_ms = 0 if self._link is None else self._link.channel.round_trip_ms
        try:
            self.games.happened(event, at_ms, round_trip_ms)
        finally:  # the game is over even if its end makes no sense
            if isinstance(event, GameOver):
                self._seek_on()

    def check(self) -> None:
        """Raise the error of the player's code, if there is one that was not raised yet."""
        if self._failure is not None and self._failure.done():
            failed, self._failure = self._failure, None
            failed.result()

    def _fail(self, error: BaseException) -> None:
        if self._failure is not None and not self._failure.done():
            self._failure.set_exception(error)
