"""The two ends of the conversation, without I/O: messages in, events and messages out.

``_TABLE`` has, for each state and side, the messages that may be sent and the next states; anything
else is a protocol error (the pattern of h11's ``_state.py``). Time plays no part: when a deadline
passes, the arbiter sends ``game_over``, which every state allows.

``ArbiterSession`` is one game with one bot, ``BotSession`` all games of a connection. They sort out
repeated messages, and pass on the rest. A fault of the peer raises ``PeerError``, which has the
reply. A fault of our side raises ``RuntimeError`` and is a bug.

An arbiter has a record of its game, which says what event and attempt is next; a bot learns that
from the arbiter's messages, and its session keeps it.
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


def _state_after(state: State, sender: Side, message: GameMessage) -> State:
    """Return the state after a message; raise PeerError: ``out_of_turn``."""
    after = _TABLE[state][sender].get(type(message))
    if after is None:
        raise PeerError(
            "out_of_turn",
            f"{type(message).__struct_config__.tag!r} can't be sent now: {state.value}",
            retry="no",
            game=message.game,
        )
    return after


def _check_seq(sender: Side, message: GameMessage, next_seq: int) -> None:
    """Check the number of a message that is about a certain event.

    Raises:
        PeerError: ``bad_seq``: it is another event's.
    """
    seq = getattr(message, "seq", None)
    if seq is None or isinstance(message, NewGame | GameOver):  # these two may have any number
        return
    # Drawn has the number of the play that it follows.
    expected = max(next_seq - 1, 0) if isinstance(message, Drawn) else next_seq
    if seq != expected:
        raise PeerError(
            "bad_seq",
            f"seq is {seq}; expected {expected}",
            retry="reconnect" if sender is Side.ARBITER else "corrected",
            game=message.game,
            seq=expected,
        )


class Conversation:
    """One game as its bot sees it.

    ``next_seq`` is the number of the next event: ``started`` (0), each ``played``, and
    ``game_over``. ``attempt`` is the next attempt of the current turn.
    """

    def __init__(self) -> None:
        self.state = State.UNKNOWN
        self.next_seq = 0
        self.attempt = 1

    def check(self, sender: Side, message: GameMessage) -> None:
        """Check that ``sender`` may send this; raise PeerError: ``out_of_turn`` or ``bad_seq``."""
        _state_after(self.state, sender, message)
        _check_seq(sender, message, self.next_seq)

    def advance(self, sender: Side, message: GameMessage) -> None:
        """Note a message of ``sender``; raise PeerError as ``check`` does."""
        self.check(sender, message)
        self.state = _state_after(self.state, sender, message)
        match message:
            case NewGame():
                self.next_seq, self.attempt = message.seq, 1
            case Started() | Played() | GameOver():
                self.next_seq, self.attempt = message.seq + 1, 1
            case YourTurn():
                self.attempt = message.attempt
            case Refused():
                self.attempt = message.attempt + 1


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


def _unknown(game: str) -> PeerError:
    return PeerError("unknown_game", f"no game {game!r} is on here", retry="no", game=game)


def _our_bug(error: PeerError) -> RuntimeError:
    return RuntimeError(f"we broke the protocol: {error}")


class ArbiterSession:
    """The arbiter's end of one game with one bot."""

    def __init__(self, game: str) -> None:
        self.state = State.UNKNOWN
        self._game = game

    def send(self, message: FromArbiter) -> FromArbiter:
        """Note the arbiter's message, and return it for sending."""
        try:
            self.state = _state_after(self.state, Side.ARBITER, message)
        except PeerError as error:
            raise _our_bug(error) from None
        return message

    def receive(
        self, message: Message, next_seq: int, next_attempt: int
    ) -> FromBot | Repeated | None:
        """Return the message if the arbiter has to act on it; PeerError if it may not be sent now.

        ``next_seq`` is the number of the game's next event, ``next_attempt`` that of the bot's
        next attempt, 1 if it is not its turn. A ``Repeated`` answer was judged before and wants
        the same verdict.
        """
        if not isinstance(message, FromBot):
            raise wrong_role(message, "a bot")
        if message.game != self._game:
            raise _unknown(message.game)
        if isinstance(message, Info | Accept) and message.seq < next_seq:
            return None  # crossed with the verdict on its move: not a fault
        was_offered_again = next_seq > 0 and self.state in (State.OFFERED, State.READY)
        if was_offered_again and isinstance(message, Answer | Accept | Info):
            return None  # the turn will be asked and answered again
        if isinstance(message, Answer):
            attempt = next_attempt if isinstance(message, Resign) else message.attempt
            if message.seq < next_seq or attempt < next_attempt:
                return Repeated(message)
            if self.state is State.ANSWERED:
                return None  # the first copy is being judged
            if attempt > next_attempt:
                raise PeerError(
                    "bad_attempt",
                    f"attempt is {attempt}; expected {next_attempt}",
                    game=self._game,
                    seq=next_seq,
                )
        after = _state_after(self.state, Side.BOT, message)
        _check_seq(Side.BOT, message, next_seq)
        self.state = after
        return message


class BotSession:
    """The bot's end towards an arbiter.

    It keeps the answer to the current turn: if the connection is lost before the verdict and the
    turn is asked again, the same answer goes out without a new search.
    """

    def __init__(self) -> None:
        self.games: dict[str, Conversation] = {}
        self._answers: dict[str, tuple[GameMessage, ...]] = {}
        """By game, the last answer, with the messages sent before it."""
        self._ended: deque[str] = deque(maxlen=KEPT_ENDED)

    def send(self, message: GameMessage) -> GameMessage:
        """Note the bot's message, and return it for sending."""
        self.store_answers(message)
        self._send(message)
        if isinstance(message, Decline):  # its end is still to come
            # Forget old games, so that a connection of a thousand games stays small.
            ended = [name for name, game in self.games.items() if game.state is State.OVER]
            for name in ended[:-KEPT_ENDED]:
                del self.games[name]
        return message

    def _send(self, message: GameMessage) -> GameMessage:
        try:
            self.games.setdefault(message.game, Conversation()).advance(Side.BOT, message)
        except PeerError as error:
            raise _our_bug(error) from None
        return message

    def store_answers(self, *messages: GameMessage) -> None:
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
        if message.game not in self.games:
            if isinstance(message, GameOver) and message.game in self._ended:
                return None, []  # answers a move that crossed with the first copy
            if not isinstance(message, NewGame | GameOver):
                raise _unknown(message.game)
            self.games[message.game] = Conversation()
        game = self.games[message.game]
        if self._is_needless(game, message):
            return None, []
        game.advance(Side.ARBITER, message)
        if isinstance(message, GameOver):
            self.forget(message.game)
        if isinstance(message, YourTurn):
            again = self._answer_again(message)
            if again:
                return None, [cast("Message", self._send(answer)) for answer in again]
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
        answers = self._answers.get(turn.game, ())
        answer = answers[-1] if answers else None
        if not isinstance(answer, Answer) or answer.seq != turn.seq:
            return ()
        if isinstance(answer, Challenge) and turn.challenge_ms is UNSET:
            return ()  # too late by now
        return () if not isinstance(answer, Resign) and answer.attempt != turn.attempt else answers

    def forget(self, game: str) -> None:
        """Count a game as over, whether or not its end was received."""
        self.games.pop(game, None)
        self._answers.pop(game, None)
        self._ended.append(game)
