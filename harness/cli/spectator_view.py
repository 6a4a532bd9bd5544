"""A spectator's knowledge of a game: a value, replaced at each message."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.seat.offers import Declined, beginning
from engine.notation.move_text import NotationError, format_full_move, parse_told
from engine.rules.moves import Move, Place
from engine.rules.position import Board, bag_count, unseen
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import Rules
from protocol.messages import GameOver, NewGame, Played, Started
from protocol.parts import UPHELD, WITHDRAWN


@dataclass(frozen=True, slots=True)
class MoveView:
    """A move of a game; ``move`` is text for people."""

    number: int
    name: str
    move: str
    score: int
    totals: tuple[int, int] = (0, 0)
    clock_ms: int = 0


@dataclass(frozen=True, slots=True)
class Followed:
    """A spectator's knowledge of a game at one moment."""

    offer: NewGame
    rules: Rules
    board: Board
    scores: tuple[int, int]
    clocks: tuple[int, int]
    """At ``at_ms``."""
    bag: int
    seq: int
    """The number of the next event."""
    at_ms: int
    """Arrival of the last message, on the clock of ``now_ms``."""
    moves: tuple[MoveView, ...] = ()
    last_move: Move | None = None
    """None also for an exchange whose tiles are hidden, and after a challenge."""
    before: Board | None = None
    """The board before the last event."""
    mover: int = 1
    """The seat of the last event; the other is to move."""
    over: GameOver | None = None

    @classmethod
    def offered(cls, offer: NewGame, at_ms: int) -> Followed:
        """Return the game as offered; raise ValueError if its rules or moves make no sense."""
        try:
            rules = rules_in_play(offer.rules)
            begun = beginning(offer, rules)
        except (ValueError, Declined) as error:
            raise ValueError(f"this game can't be shown: {error}") from None
        time = offer.time.initial_ms
        known = cls(
            offer=offer,
            rules=rules,
            board=begun.board,
            scores=begun.scores,
            clocks=(time, time),
            bag=bag_count(begun, rules) if offer.seq else sum(unseen(begun, 0, rules)),
            seq=min(offer.seq, 1),
            at_ms=at_ms,
        )
        for play in offer.history:
            known = known.played(play, at_ms)
        return replace(known, seq=offer.seq, clocks=offer.clocks or known.clocks)

    @property
    def on_turn(self) -> int | None:
        """The seat to move; None before the start and after the end."""
        return None if self.over or not self.seq else 1 - self.mover

    def started(self, message: Started, at_ms: int) -> Followed:
        """Return the game after both seats reported ready."""
        return replace(self, seq=1, bag=message.bag, clocks=message.clocks, at_ms=at_ms)

    def played(self, message: Played, at_ms: int) -> Followed:
        """Return the game after a turn; raise ValueError if the move does not fit the board."""
        board, text, last_move = self._moved(message)
        seat = message.seat
        move = MoveView(
            number=message.seq,
            name=self.offer.players[seat],
            move=text,
            score=message.score,
            totals=message.scores,
            clock_ms=message.clocks[seat],
        )
        return replace(
            self,
            board=board,
            scores=message.scores,
            clocks=message.clocks,
            bag=message.bag,
            seq=message.seq + 1,
            at_ms=at_ms,
            moves=(*self.moves, move),
            last_move=last_move,
            before=self.board,
            mover=seat,
        )

    def _moved(self, message: Played) -> tuple[Board, str, Move | None]:
        alphabet = self.rules.distribution.alphabet
        if message.move == WITHDRAWN:
            return self.before or self.board, f"takes back {' and '.join(message.words)}", None
        if message.move == UPHELD:
            return self.board, "challenged in vain", None
        if message.challenge == "lost":
            return self.board, "loses the turn by a challenge", None
        try:
            move = parse_told(message.move, self.board, alphabet)
        except NotationError as error:
            raise ValueError(
                f"move {message.seq} of the server does not fit the board: {error}"
            ) from None
        if isinstance(move, int):
            return self.board, f"exchanges {move}", None
        board = self.board.with_move(move) if isinstance(move, Place) else self.board
        return board, format_full_move(move, self.board, alphabet), move

    def ended(self, message: GameOver, at_ms: int) -> Followed:
        """Return the finished game."""
        clocks = self.clocks_at(at_ms)
        return replace(self, over=message, scores=message.scores, clocks=clocks, at_ms=at_ms)

    def clocks_at(self, at_ms: int) -> tuple[int, int]:
        """Return both clocks, the running one charged since the last message."""
        shown = list(self.clocks)
        if self.on_turn is not None:
            shown[self.on_turn] -= at_ms - self.at_ms
        return shown[0], shown[1]
