"""The legal messages of a game: one table, used by both ends.

A game between an arbiter and one bot is in a state of ``State``. ``_TABLE`` has, for each state and
side, the messages that may be sent and the next states; anything else is a protocol error (the
pattern of h11's ``_state.py``). Time plays no part: when a deadline passes the arbiter sends
``game_over``, which every state allows.
"""

from __future__ import annotations

from enum import Enum

from .errors import PeerError
from .messages import (
    Decline,
    GameMessage,
    GameOver,
    Info,
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

__all__ = ["Conversation", "Side", "State"]


class Side(Enum):
    """The two ends of a conversation."""

    ARBITER = "arbiter"
    BOT = "bot"


class State(Enum):
    """Where a game stands between its arbiter and one of its bots."""

    UNKNOWN = "not offered, or asked for again"
    OFFERED = "offered: the bot gets ready"
    READY = "the bot is ready and waits for the start"
    WAITING = "the bot waits for its turn"
    TO_MOVE = "the bot is to move"
    ANSWERED = "the bot has moved and waits for the verdict"
    OVER = "over"


_Next = dict[type, State]
"""The state after a message, by its type."""

_OFFER: _Next = {NewGame: State.OFFERED, GameOver: State.OVER}
"""Messages that an arbiter may send at any time: an offer, which also resumes a game; the end."""

_AGAIN: _Next = {Resume: State.UNKNOWN}
"""Messages that a bot may send at any time. After this it waits for the new offer, so that nothing
is taken as an answer to an unseen offer.
"""

_PLAY: _Next = {Played: State.WAITING, YourTurn: State.TO_MOVE}

_ELSE: dict[State, tuple[_Next, _Next]] = {
    State.OFFERED: ({}, {Ready: State.READY, Decline: State.OVER}),
    # A turn only after a resume: the start is past.
    State.READY: ({Started: State.WAITING, **_PLAY}, {}),
    State.WAITING: (_PLAY, {}),
    State.TO_MOVE: ({}, {Move: State.ANSWERED, Resign: State.ANSWERED, Info: State.TO_MOVE}),
    State.ANSWERED: ({Played: State.WAITING, Refused: State.TO_MOVE}, {}),
}
"""All other messages: those of the arbiter, and those of the bot."""

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
        """Check that ``sender`` may send this now, without any change.

        Raises:
            PeerError: ``out_of_turn`` or ``bad_seq``.
        """
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
                f"seq {seq} where {expected} comes next",
                retry="reconnect" if sender is Side.ARBITER else "corrected",
                game=self.game,
                seq=expected,
            )

    def advance(self, sender: Side, message: GameMessage) -> None:
        """Note a message of ``sender``.

        Raises:
            PeerError: as ``check``.
        """
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
            case NewGame() | GameOver() | Ready() | Decline() | Resume():
                return None  # allowed at any time, or without a number
            case _:
                return self.next_seq
