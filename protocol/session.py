"""The two ends of the conversation, without I/O: messages in, events and messages out.

``ArbiterSession`` is the arbiter's end towards one peer, ``BotSession`` the bot's. Each holds a
``Conversation`` per game, answers repetitions, and passes on the rest.
A thin shell feeds it arrivals and sends its results; neither end knows sockets or clocks, so tests
call them directly.

A fault of the peer raises ``PeerError``, which has its reply; a fault of our side raises
``RuntimeError`` and is a bug.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias, cast

from .conversation import Conversation, Side, State
from .errors import PeerError, wrong_role
from .messages import (
    Decline,
    GameMessage,
    GameOver,
    Info,
    Message,
    Move,
    NewGame,
    Played,
    Ready,
    Refused,
    Resign,
    Resume,
    Started,
    YourTurn,
)

__all__ = ["ArbiterSession", "BotSession", "FromArbiter", "FromBot", "Repeated"]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A move or resignation that was answered before: the peer wants the same answer again."""

    message: Move | Resign


FromBot: TypeAlias = Ready | Decline | Move | Resign | Info | Resume
"""A bot's messages that an arbiter acts on."""

FromArbiter: TypeAlias = NewGame | Started | YourTurn | Played | Refused | GameOver
"""An arbiter's messages that a bot acts on."""

KEPT_ENDED = 8
"""Ended games remembered, so that late copies do no harm."""


class _Session:
    """The games of one connection: the same at both ends."""

    side: Side

    def __init__(self) -> None:
        self.games: dict[str, Conversation] = {}

    def _send(self, message: GameMessage) -> GameMessage:
        game = self.games.setdefault(message.game, Conversation(message.game))
        try:
            game.advance(self.side, message)
        except PeerError as error:
            raise RuntimeError(f"we broke the protocol: {error}") from None
        return message

    def _known(self, message: GameMessage) -> Conversation:
        game = self.games.get(message.game)
        if game is None:
            raise PeerError(
                "unknown_game",
                f"no game {message.game!r} is on here",
                retry="no",
                game=message.game,
            )
        return game


class ArbiterSession(_Session):
    """The arbiter's end towards one bot."""

    side = Side.ARBITER

    def send(self, message: FromArbiter) -> FromArbiter:
        """Note the arbiter's message, and return it for sending."""
        self._send(message)
        if isinstance(message, GameOver):
            self._forget_ended()
        return message

    def receive(self, message: Message) -> FromBot | Repeated | None:
        """Handle a message from the bot; return what the arbiter has to act on, if anything.

        Raises:
            PeerError: the bot may not send this now; the reply gives the reason.
        """
        if not isinstance(message, FromBot):
            raise wrong_role(message, "a bot")
        game = self._known(message)
        if isinstance(message, Info) and message.seq < game.next_seq:
            return None  # crossed with the verdict on its move: not a fault
        if isinstance(message, Move | Resign | Info) and self._crossed_with_offer(game):
            return None  # the turn will be asked and answered again
        if isinstance(message, Move | Resign):
            attempt = message.attempt if isinstance(message, Move) else game.attempt
            if message.seq < game.next_seq or attempt < game.attempt:
                return Repeated(message)
            if game.state is State.ANSWERED:
                return None  # the first copy is being judged
            if attempt > game.attempt:
                raise PeerError(
                    "bad_attempt",
                    f"attempt {attempt} where {game.attempt} comes next",
                    game=game.game,
                    seq=game.next_seq,
                )
        game.advance(Side.BOT, message)
        return message

    @staticmethod
    def _crossed_with_offer(game: Conversation) -> bool:
        """Check whether a started game was offered anew and is not resumed yet."""
        return game.next_seq > 0 and game.state in (State.OFFERED, State.READY)

    def _forget_ended(self) -> None:
        """Forget old games, so that a connection of a thousand games stays small."""
        ended = [name for name, game in self.games.items() if game.state is State.OVER]
        for name in ended[:-KEPT_ENDED]:
            del self.games[name]


class BotSession(_Session):
    """The bot's end towards an arbiter.

    It keeps the answer to the current turn: if the connection is lost before the verdict and the
    turn is asked again, the same answer goes out without a new search.
    """

    side = Side.BOT

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[str, tuple[GameMessage, ...]] = {}
        """The last answer by game: a move or a resignation, after the messages that precede it."""
        self._ended: deque[str] = deque(maxlen=KEPT_ENDED)

    def send(self, message: GameMessage) -> GameMessage:
        """Note the bot's message, and return it for sending."""
        self.keep(message)
        return self._send(message)

    def keep(self, *messages: GameMessage) -> None:
        """Keep an answer for when the same turn is asked again.

        Args:
            messages: ending with a move or a resignation; otherwise they are dropped.
        """
        if isinstance(messages[-1], Move | Resign):
            self._answers[messages[-1].game] = messages

    def receive(self, message: Message) -> tuple[FromArbiter | None, list[Message]]:
        """Handle a message from the arbiter; return it if the bot has to act on it, and replies.

        Raises:
            PeerError: the arbiter may not send this now. After ``bad_seq`` the bot has missed
                something and may ask with ``Resume``.
        """
        if not isinstance(message, FromArbiter):
            raise wrong_role(message, "an arbiter")
        if message.game not in self.games and isinstance(message, NewGame | GameOver):
            if isinstance(message, GameOver) and message.game in self._ended:
                return None, []  # answers a move that crossed with the first copy
            game = self.games[message.game] = Conversation(message.game)
        else:
            game = self._known(message)
        if self._is_needless(game, message):
            return None, []
        game.advance(Side.ARBITER, message)
        if isinstance(message, GameOver):
            self._forget(message.game)
        if isinstance(message, YourTurn):
            again = self._answer_again(message)
            if again:
                return None, [cast("Message", self.send(said)) for said in again]
        return message, []

    @staticmethod
    def _is_needless(game: Conversation, message: FromArbiter) -> bool:
        """Check whether a message is a copy, or will be repeated by an awaited offer."""
        match message:
            case NewGame() | GameOver():
                return False
            case _ if game.state is State.UNKNOWN:
                return True
            case Started() | Played():
                return message.seq < game.next_seq
            case Refused():
                return message.seq < game.next_seq or message.attempt < game.attempt
            case _:
                return False

    def _answer_again(self, turn: YourTurn) -> tuple[GameMessage, ...]:
        kept = self._answers.get(turn.game, ())
        answer = kept[-1] if kept else None
        if not isinstance(answer, Move | Resign) or answer.seq != turn.seq:
            return ()
        return () if isinstance(answer, Move) and answer.attempt != turn.attempt else kept

    def _forget(self, game: str) -> None:
        self.games.pop(game, None)
        self._answers.pop(game, None)
        self._ended.append(game)
