"""A relay between two channels: a bot of one server plays at the table of another.

Both sides have exchanged hellos; only games are relayed. Pings are answered on their own side, so
that each connection's health is its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from protocol.channel import Channel, ChannelClosed
from protocol.link import Link
from protocol.messages import Challenge, Decline, GameOver, Goodbye, Message, Move, NewGame, Played

PLAYED = "all games are over"
UNUSED = "it was not used"
RECALLED = "players wait for its place"

_GOODBYES = {
    UNUSED: ("unused", f"{UNUSED}: another may need it"),
    RECALLED: ("recalled", f"{RECALLED}; come again later"),
}

FIRST_GAME_S = 5.0
"""Time that a bot just lent has to begin its first game, though players wait for its place."""

LONGEST_TURN_S = 3_600.0
"""Longest time that a game with a lent bot may stand still, whatever its clocks say."""

EVENTS_A_TURN = 3
"""Events between two turns of a bot: its own, a challenge of it, and its opponent's."""


@dataclass(slots=True)
class _Game:
    """A game that is on, as far as it shows whether it goes on."""

    patience_s: float
    """How long it may stand still."""
    answered: int = -1
    """The last event that the bot has answered."""
    played: int = -1
    """The last event that was played."""
    due: int = EVENTS_A_TURN
    """Events that may follow before the bot has to answer again."""


class IdleWatch:
    """Notices when a bot is not used: it has no game, or a game that stands still.

    ``give_up`` is called with ``UNUSED`` after ``idle_s`` without a game. In a game it is called
    when no turn was taken for its longest turn and ``idle_s`` more, or for ``LONGEST_TURN_S`` if
    that is less; so long may games also be begun without any turn. Turns are those of the bot,
    which nobody can make up, and the few events that can follow each.

    If players wait for its place (``is_wanted``), ``give_up`` is called with ``RECALLED`` once the
    bot has ended its games, or has begun none at first.
    """

    def __init__(
        self,
        idle_s: float,
        give_up: Callable[[str], None],
        is_wanted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._idle_s = idle_s
        self._games: dict[str, _Game] = {}
        self._give_up, self._is_wanted = give_up, is_wanted
        self._loop = asyncio.get_running_loop()
        self._moved_at = self._loop.time()
        """When the last turn was taken, or the bot was lent."""
        self._timer = self._loop.call_later(idle_s, give_up, UNUSED)
        self._is_new = True
        """Whether the bot may still begin its first game."""
        self._newness = self._loop.call_later(FIRST_GAME_S, self._note_free)

    def refuses(self, offer: NewGame) -> bool:
        """Whether a game would begin beside another while players wait for the place.

        Else games that overlap would never end together.
        """
        return bool(self._games) and offer.game not in self._games and self._is_wanted()

    def to_bot(self, message: Message) -> None:
        """Note a message of the arbiter."""
        match message:
            case NewGame(game=game, time=time) if game not in self._games:
                longest_s = (time.initial_ms + time.max_overtime_ms + time.ready_ms) / 1_000
                if time.increment_ms:  # a clock may grow to anything
                    longest_s = LONGEST_TURN_S
                self._games[game] = _Game(min(LONGEST_TURN_S, longest_s + self._idle_s))
                self._is_new = False
                self._renew()
            case Played(game=game, seq=seq) if (on := self._games.get(game)) is not None:
                if on.due and seq > on.played:
                    on.due -= 1
                    on.played = seq
                    self._move()
            case GameOver(game=game):
                self._drop(game)

    def to_arbiter(self, message: Message) -> None:
        """Note a message of the bot."""
        match message:
            case Move(game=game, seq=seq) | Challenge(game=game, seq=seq) if game in self._games:
                on = self._games[game]
                if seq > on.answered:
                    on.due = EVENTS_A_TURN
                    on.answered = seq
                    self._move()
            case Decline(game=game):
                self._drop(game)

    def _move(self) -> None:
        self._moved_at = self._loop.time()
        self._renew()

    def _drop(self, game: str) -> None:
        if self._games.pop(game, None) is not None:
            self._renew()
            self._note_free()

    def _note_free(self) -> None:
        self._is_new = False
        if self.is_free and self._is_wanted():
            self._give_up(RECALLED)

    def _renew(self) -> None:
        self._timer.cancel()
        last = min(self._moved_at + LONGEST_TURN_S, self._loop.time() + self.patience_s)
        self._timer = self._loop.call_at(last, self._give_up, UNUSED)

    @property
    def is_free(self) -> bool:
        """Whether the bot is between games."""
        return not (self._games or self._is_new)

    @property
    def patience_s(self) -> float:
        """How long there may be no turn now."""
        return max((game.patience_s for game in self._games.values()), default=self._idle_s)

    @property
    def due_at(self) -> float:
        """When the bot is given up, on the loop's clock, unless a turn is taken."""
        return self._timer.when()

    def stop(self) -> None:
        """Watch no more."""
        self._timer.cancel()
        self._newness.cancel()


class Relay:
    """Carries messages both ways until one side closes, or for a number of games.

    Unreadable messages are only answered. ``hear`` is called with each message before it is carried
    to the bot, or once it is on its way to the arbiter, and with the arbiter's goodbye. What it
    raises ends the relay; a ``PeerError`` that closes the connection is what the arbiter is told.
    ``games`` of None are any number, and with ``idle_s`` the bot is watched by ``IdleWatch``, whose
    ``is_wanted`` this is.
    """

    def __init__(
        self,
        arbiter: Channel,
        bot: Channel,
        games: int | None = None,
        on_message: Callable[[Message], None] = lambda _message: None,
        idle_s: float | None = None,
        is_wanted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._games, self._on_message = games, on_message
        self._over = set[str]()
        """Games that are over; a verdict may be sent twice."""
        self._end: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Why the relay ends, if neither side has closed."""
        self._arbiter, self._bot = Link(arbiter, self._to_bot), Link(bot, self._to_arbiter)
        self._watch = None if idle_s is None else IdleWatch(idle_s, self._give_up, is_wanted)

    async def run(self) -> str:
        """Relay until the end, close both sides, and return why it ended.

        That is ``PLAYED`` after ``games`` games, ``UNUSED`` if the bot is not used, and
        ``RECALLED`` if players have its place from now on.
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
                if link.closing is None:  # else it closes by itself: nobody waits for a slow peer
                    with contextlib.suppress(ChannelClosed):
                        await link.channel.send(gone)
                    await link.channel.close()

    def _to_bot(self, message: Message, _at_ms: int) -> None:
        if isinstance(message, Goodbye):
            self._on_message(message)
        if isinstance(message, Goodbye) or self._end.done():
            return
        if isinstance(message, NewGame) and self._watch and self._watch.refuses(message):
            why = f"{RECALLED}; no game begins beside another"
            self._arbiter.send(Decline(game=message.game, code="busy", message=why))
            return
        self._on_message(message)  # first: what may not be carried raises
        self._bot.send(message)
        if self._watch is not None:
            self._watch.to_bot(message)
        if self._games is not None and isinstance(message, GameOver):
            self._over.add(message.game)
            if len(self._over) == self._games:
                self._end.set_result(PLAYED)

    def _to_arbiter(self, message: Message, _at_ms: int) -> None:
        if not isinstance(message, Goodbye):
            self._arbiter.send(message)
            self._on_message(message)
            if self._watch is not None:
                self._watch.to_arbiter(message)

    def end(self, code: str, message: str) -> None:
        """Say goodbye to the arbiter, and end the relay."""
        if not self._end.done():
            self._arbiter.dismiss(1008, code, message)
            self._end.set_result(message)

    def take_back(self) -> bool:
        """Take the bot back if it is between games; return whether the relay ends."""
        if self._watch is not None and self._watch.is_free:
            self._give_up(RECALLED)
        return self._end.done()

    def _give_up(self, why: str) -> None:
        if not self._end.done():
            self._arbiter.dismiss(1000, *_GOODBYES[why])
            self._end.set_result(why)
