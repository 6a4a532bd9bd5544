"""A relay between two channels: a bot of one server plays at the table of another.

Both sides have exchanged hellos; only games are relayed. Pings are answered on their own side, so
that each connection's health is its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from protocol.channel import Channel, ChannelClosed
from protocol.link import Link
from protocol.messages import Decline, GameOver, Goodbye, Message, NewGame

PLAYED = "all games are over"
UNUSED = "it was not used"

LONGEST_TURN_S = 3_600.0
"""Longest time that a game with a lent bot may stand still, whatever its clocks say."""


class IdleWatch:
    """Notices when a bot is not used: it has no game, or a game that stands still.

    ``give_up`` is called after ``idle_s`` without a game. In a game it is called when there was no
    message for its longest turn and ``idle_s`` more, or for ``LONGEST_TURN_S`` if that is less.
    """

    def __init__(self, idle_s: float, give_up: Callable[[], None]) -> None:
        self._idle_s = idle_s
        self._turns_s: dict[str, float] = {}
        """How long each game that is on may stand still, in seconds."""
        self._give_up = give_up
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(idle_s, give_up)

    def carried(self, message: Message) -> None:
        """Note a message that was carried to either side."""
        match message:
            case NewGame(game=game, time=time):
                longest_s = (time.initial_ms + time.max_overtime_ms + time.ready_ms) / 1_000
                if time.increment_ms:  # a clock may grow to anything
                    longest_s = LONGEST_TURN_S
                self._turns_s[game] = min(LONGEST_TURN_S, longest_s + self._idle_s)
            case GameOver(game=game) | Decline(game=game) if game in self._turns_s:
                del self._turns_s[game]
            case _ if not self._turns_s:
                return  # messages between games don't count as use
        self._timer.cancel()
        self._timer = self._loop.call_later(self.patience_s, self._give_up)

    @property
    def patience_s(self) -> float:
        """How long there may be no message now."""
        return max(self._turns_s.values(), default=self._idle_s)

    def stop(self) -> None:
        """Watch no more."""
        self._timer.cancel()


class Relay:
    """Carries messages both ways until one side closes, or for a number of games.

    Unreadable messages are only answered. ``hear`` is called with each message that is carried, and
    with the arbiter's goodbye; what it raises ends the relay. ``games`` of None are any number, and
    with ``idle_s`` the bot is watched by ``IdleWatch``.
    """

    def __init__(
        self,
        arbiter: Channel,
        bot: Channel,
        games: int | None = None,
        hear: Callable[[Message], None] = lambda _message: None,
        idle_s: float | None = None,
    ) -> None:
        self._games, self._hear = games, hear
        self._over = set[str]()
        """Games that are over; a verdict may be sent twice."""
        self._end: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Why the relay ends, if neither side has closed."""
        self._arbiter, self._bot = Link(arbiter, self._to_bot), Link(bot, self._to_arbiter)
        self._watch = None if idle_s is None else IdleWatch(idle_s, self._give_up)

    async def run(self) -> str:
        """Relay until the end, close both sides, and return why it ended.

        That is ``PLAYED`` after ``games`` games, and ``UNUSED`` if the bot is not used.
        """
        links = self._arbiter, self._bot
        runs = [asyncio.create_task(link.run()) for link in links]
        try:
            ends: list[asyncio.Future[str]] = [self._end, *runs]
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            why = done.pop().result()
            for link, run in zip(links, runs, strict=True):
                if not run.done():
                    await link.flush()
                elif link.closing:
                    why = f"{link.channel.peer}: {link.closing}"
            return why
        finally:
            if self._watch is not None:
                self._watch.stop()
            for run in runs:
                run.cancel()
            await asyncio.gather(*runs, return_exceptions=True)
            gone = Goodbye(code="closed", message="the other side is gone")
            for link in links:
                with contextlib.suppress(ChannelClosed):
                    await link.channel.send(gone)
                await link.channel.close()

    def _to_bot(self, message: Message, _at_ms: int) -> None:
        if isinstance(message, Goodbye):
            self._hear(message)
        if isinstance(message, Goodbye) or self._end.done():
            return
        self._bot.send(message)
        self._carried(message)
        if self._games is not None and isinstance(message, GameOver):
            self._over.add(message.game)
            if len(self._over) == self._games:
                self._end.set_result(PLAYED)

    def _to_arbiter(self, message: Message, _at_ms: int) -> None:
        if not isinstance(message, Goodbye):
            self._arbiter.send(message)
            self._carried(message)

    def _carried(self, message: Message) -> None:
        self._hear(message)
        if self._watch is not None:
            self._watch.carried(message)

    def _give_up(self) -> None:
        if not self._end.done():
            self._arbiter.dismiss(1000, "unused", f"{UNUSED}: another may need it")
            self._end.set_result(UNUSED)
