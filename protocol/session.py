"""The two ends of the conversation, without I/O: messages in, events and messages out.

``_TABLE`` has, for each state and side, the messages that may be sent and the next states; anything
else is a protocol error (the pattern of h11's ``_state.py``). Time plays no part: when a deadline
passes, the arbiter sends ``game_over``, which every state allows.

``ArbiterSession`` and ``BotSession`` each hold a ``Conversation`` per game with one peer, sort out
repeated messages, and pass on the rest. A fault of the peer raises ``PeerError``, which has the
reply. A fault of our side raises ``RuntimeError`` and is a bug.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, cast

from msgspec import UNSET

from .errors import PeerError, wrong_role
from .messages import (
    Accept,
    Challenge,
    Committed,
    Decline,
    Drawn,
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
    Reveal,
    Started,
    YourTurn,
)


class Side(Enum):
    """The two ends of a conversation."""

    ARBITER = "arbiter"
    BOT = "bot"


class State(Enum):
    """Where a game stands between its arbiter and one of its bots."""

    UNKNOWN = "not offered, or asked for again"
    OFFERED = "offered: the bot gets ready"
    READY = "the bot is ready and waits for the start"
    TO_REVEAL = "both are committed: the bot reveals its nonce"
    REVEALED = "the bot has revealed its nonce and waits for the start"
    WAITING = "the bot waits for its turn"
    TO_MOVE = "the bot is to move"
    ANSWERED = "the bot has moved and waits for the verdict"
    OVER = "over"


_Next = dict[type, State]
"""The state after a message, by its type."""

_OFFER: _Next = {NewGame: State.OFFERED, GameOver: State.OVER}
"""Messages that an arbiter may send at any time: an offer, which also resumes a game; the end."""

_AGAIN: _Next = {Resume: State.UNKNOWN}
"""Messages that a bot may send at any time. It then waits for the new offer, so that none of
its messages is taken as an answer to an offer that it has not seen."""

_PLAY: _Next = {Played: State.WAITING, Drawn: State.WAITING, YourTurn: State.TO_MOVE}

_ANSWER: _Next = {
    Move: State.ANSWERED,
    Challenge: State.ANSWERED,
    Resign: State.ANSWERED,
    Accept: State.TO_MOVE,
    Info: State.TO_MOVE,
}

_ELSE: dict[State, tuple[_Next, _Next]] = {
    State.OFFERED: ({}, {Ready: State.READY, Decline: State.OVER}),
    # A turn comes here only after a resume, when the game has started before.
    State.READY: ({Started: State.WAITING, Committed: State.TO_REVEAL, **_PLAY}, {}),
    # The start comes only after the nonce, so that nobody can leave the nonce out.
    State.TO_REVEAL: ({}, {Reveal: State.REVEALED}),
    State.REVEALED: ({Started: State.WAITING}, {}),
    State.WAITING: (_PLAY, {}),
    State.TO_MOVE: ({}, _ANSWER),
    State.ANSWERED: ({Played: State.WAITING, Refused: State.TO_MOVE}, {}),
}
"""All other messages by state: those of the arbiter, and those of the bot."""

_TABLE: dict[State, dict[Side, _Next]] = {
    state: {Side.ARBITER: _OFFER | arbiter, Side.BOT: _AGAIN | bot}
    for state in State
    for arbiter, bot in [_ELSE.get(state, ({}, {}))]
}


class Conversation:
    """One game between an arbiter and a bot, as either end sees it.

    ``next_seq`` is the number of the next event: ``started`` (0), each ``played``, and
    ``game_over``. ``attempt`` is the next attempt of the current turn.
    """

    def __init__(self, game: str) -> None:
        self.game = game
        self.state = State.UNKNOWN
        self.next_seq = 0
        self.attempt = 1

    def check(self, sender: Side, message: GameMessage) -> None:
        """Check that ``sender`` may send this; raise PeerError: ``out_of_turn`` or ``bad_seq``."""
        if type(message) not in _TABLE[self.state][sender]:
            raise PeerError(
                "out_of_turn",
                f"{type(message).__struct_config__.tag!r} can't be sent now: {self.state.value}",
                retry="no",
                game=self.game,
            )
        expected = self._expected_seq(message)
        seq = getattr(message, "seq", None)
        if expected is not None and seq != expected:
            raise PeerError(
                "bad_seq",
                f"seq is {seq}; expected {expected}",
                retry="reconnect" if sender is Side.ARBITER else "corrected",
                game=self.game,
                seq=expected,
            )

    def advance(self, sender: Side, message: GameMessage) -> None:
        """Note a message of ``sender``; raise PeerError as ``check`` does."""
        self.check(sender, message)
        self.state = _TABLE[self.state][sender][type(message)]
        match message:
            case NewGame():
                self.next_seq, self.attempt = message.seq, 1
            case Started() | Played() | GameOver():
                self.next_seq, self.attempt = message.seq + 1, 1
            case YourTurn():
                self.attempt = message.attempt
            case Refused():
                self.attempt = message.attempt + 1

    def _expected_seq(self, message: GameMessage) -> int | None:
        match message:
            case NewGame() | GameOver():
                return None  # allowed at any time
            case Ready() | Committed() | Reveal() | Decline() | Resume():
                return None  # without a number
            case Drawn():
                return max(self.next_seq - 1, 0)  # about the last event
            case _:
                return self.next_seq


@dataclass(frozen=True, slots=True)
class Repeated:
    """An answer that was judged before: the peer wants the same verdict again."""

    message: Answer


Answer: TypeAlias = Move | Challenge | Resign
"""Messages that end a turn, or an attempt at it."""

InGame: TypeAlias = Ready | Reveal | Decline | Answer | Accept | Info
"""What a bot says in a game that it has taken up."""

FromBot: TypeAlias = InGame | Resume

FromArbiter: TypeAlias = (
    NewGame | Committed | Started | YourTurn | Played | Drawn | Refused | GameOver
)

KEPT_ENDED = 8
"""Ended games that are remembered, so that late copies of messages do no harm."""


class _Session:
    """The games of one connection: what both ends share."""

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

    def _forget_ended(self) -> None:
        """Forget old games, so that a connection of a thousand games stays small."""
        ended = [name for name, game in self.games.items() if game.state is State.OVER]
        for name in ended[:-KEPT_ENDED]:
            del self.games[name]


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
        """Return the message if the arbiter has to act on it; PeerError if it may not be sent now.

        A ``Repeated`` answer was judged before and wants the same verdict.
        """
        if not isinstance(message, FromBot):
            raise wrong_role(message, "a bot")
        game = self._known(message)
        if isinstance(message, Info | Accept) and message.seq < game.next_seq:
            return None  # crossed with the verdict on its move: not a fault
        if isinstance(message, Answer | Accept | Info) and self._crossed_with_offer(game):
            return None  # the turn will be asked and answered again
        if isinstance(message, Answer):
            attempt = game.attempt if isinstance(message, Resign) else message.attempt
            if message.seq < game.next_seq or attempt < game.attempt:
                return Repeated(message)
            if game.state is State.ANSWERED:
                return None  # the first copy is being judged
            if attempt > game.attempt:
                raise PeerError(
                    "bad_attempt",
                    f"attempt is {attempt}; expected {game.attempt}",
                    game=game.game,
                    seq=game.next_seq,
                )
        game.advance(Side.BOT, message)
        return message

    @staticmethod
    def _crossed_with_offer(game: Conversation) -> bool:
        """Return whether a started game was offered again and is not resumed yet."""
        return game.next_seq > 0 and game.state in (State.OFFERED, State.READY)


class BotSession(_Session):
    """The bot's end towards an arbiter.

    It keeps the answer to the current turn: if the connection is lost before the verdict and the
    turn is asked again, the same answer goes out without a new search.
    """

    side = Side.BOT

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[str, tuple[GameMessage, ...]] = {}
        """By game, the last answer, with the messages sent before it."""
        self._ended: deque[str] = deque(maxlen=KEPT_ENDED)

    def send(self, message: GameMessage) -> GameMessage:
        """Note the bot's message, and return it for sending."""
        self.keep(message)
        self._send(message)
        if isinstance(message, Decline):  # its end is still to come
            self._forget_ended()
        return message

    def keep(self, *messages: GameMessage) -> None:
        """If the last message is an answer, keep all for when the turn is asked again."""
        if isinstance(messages[-1], Answer):
            self._answers[messages[-1].game] = messages

    def receive(self, message: Message) -> tuple[FromArbiter | None, list[Message]]:
        """Take a message of the arbiter; return it if the bot has to act on it, and the replies.

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
            self.forget(message.game)
        if isinstance(message, YourTurn):
            again = self._answer_again(message)
            if again:
                return None, [cast("Message", self._send(said)) for said in again]
        return message, []

    @staticmethod
    def _is_needless(game: Conversation, message: FromArbiter) -> bool:
        """Return whether a message is a copy, or will come again with an awaited offer."""
        match message:
            case NewGame() | GameOver():
                return False
            case _ if game.state is State.UNKNOWN:
                return True
            case Started() | Played():
                return message.seq < game.next_seq
            case Drawn():
                return message.seq < game.next_seq - 1
            case Refused():
                return message.seq < game.next_seq or message.attempt < game.attempt
            case _:
                return False

    def _answer_again(self, turn: YourTurn) -> tuple[GameMessage, ...]:
        kept = self._answers.get(turn.game, ())
        answer = kept[-1] if kept else None
        if not isinstance(answer, Answer) or answer.seq != turn.seq:
            return ()
        if isinstance(answer, Challenge) and turn.challenge_ms is UNSET:
            return ()  # too late by now
        return () if not isinstance(answer, Resign) and answer.attempt != turn.attempt else kept

    def forget(self, game: str) -> None:
        """Count a game as over, whether or not its end was received."""
        self.games.pop(game, None)
        self._answers.pop(game, None)
        self._ended.append(game)
