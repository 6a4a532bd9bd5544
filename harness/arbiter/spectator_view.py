"""What a spectator knows of a game: a value, made anew by each message that he gets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.seat.offers import Declined, rules_in_play
from engine.notation import NotationError, parse_exchange_count, parse_move
from engine.rules.moves import Place
from engine.rules.position import Board
from engine.rules.rules import Rules
from harness.board_view import MoveView, clock_text, fresh_squares, move_text
from protocol.messages import GameOver, NewGame, Played, Started

__all__ = ["Followed"]


@dataclass(frozen=True, slots=True)
class Followed:
    """What a spectator knows of a game at one moment."""

    offer: NewGame
    rules: Rules
    board: Board
    scores: tuple[int, int]
    clocks: tuple[int, int]
    """As they were at ``at_ms``."""
    bag: int
    seq: int
    """The number of the event that comes next."""
    at_ms: int
    """When the last message arrived, on the clock of ``now_ms``."""
    moves: tuple[MoveView, ...] = ()
    fresh: frozenset[tuple[int, int]] = frozenset()
    over: GameOver | None = None

    @classmethod
    def offered(cls, offer: NewGame, at_ms: int) -> Followed:
        """Take up a game where the server says it is.

        Raises:
            ValueError: it is played with what isn't known here, or its moves don't fit.
        """
        try:
            rules = rules_in_play(offer.rules)
        except Declined as error:
            raise ValueError(f"this game can't be shown: {error}") from None
        time = offer.time.initial_ms
        begun = rules.rack_size * 2 if offer.seq else 0
        known = cls(
            offer=offer,
            rules=rules,
            board=Board.empty(rules.layout),
            scores=(0, 0),
            clocks=(time, time),
            bag=rules.distribution.total - begun,
            seq=min(offer.seq, 1),
            at_ms=at_ms,
        )
        for play in offer.history:
            known = known.played(play, at_ms)
        return replace(known, seq=offer.seq, clocks=offer.clocks or known.clocks)

    @property
    def on_turn(self) -> int | None:
        """The seat that thinks; seat 0 makes event 1, and they take turns."""
        return None if self.over or not self.seq else (self.seq - 1) % 2

    def started(self, message: Started, at_ms: int) -> Followed:
        """Both are ready."""
        return replace(self, seq=1, bag=message.bag, clocks=message.clocks, at_ms=at_ms)

    def played(self, message: Played, at_ms: int) -> Followed:
        """A turn was taken.

        Raises:
            ValueError: the move doesn't fit the board.
        """
        board, text, fresh = self._moved(message)
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
            fresh=fresh,
        )

    def _moved(self, message: Played) -> tuple[Board, str, frozenset[tuple[int, int]]]:
        alphabet = self.rules.distribution.alphabet
        try:
            if message.move[:1] == "-" and message.move[1:].isdecimal():
                count = parse_exchange_count(message.move)
                return self.board, f"exchanges {count}", frozenset()
            move = parse_move(message.move, self.board, alphabet)
        except NotationError as error:
            raise ValueError(
                f"move {message.seq} of the server does not fit the board: {error}"
            ) from None
        board = self.board.with_move(move) if isinstance(move, Place) else self.board
        text = move_text(move, self.board, alphabet)
        return board, text, fresh_squares(move, self.board)

    def ended(self, message: GameOver, at_ms: int) -> Followed:
        """The game is over."""
        clocks = self.clocks_at(at_ms)
        return replace(self, over=message, scores=message.scores, clocks=clocks, at_ms=at_ms)

    def clocks_at(self, at_ms: int) -> tuple[int, int]:
        """Tell what the clocks show, the one that runs reckoned on from the last message."""
        first, second = self.clocks
        passed = at_ms - self.at_ms
        match self.on_turn:
            case 0:
                return first - passed, second
            case 1:
                return first, second - passed
            case _:
                return self.clocks

    @property
    def heading(self) -> str:
        """Who plays what."""
        first, second = self.offer.players
        time = self.offer.time
        clock = clock_text(time.initial_ms)
        if time.increment_ms:
            clock += f" + {time.increment_ms / 1_000:g} s"
        return f"{first} – {second}, {clock} each, lexicon {self.offer.lexicon}"

    @property
    def result(self) -> str:
        """How the game ended; empty while it is on."""
        if self.over is None:
            return ""
        first, second = self.over.scores
        score = f"{first} to {second}"
        if self.over.winner is not None:
            verdict = f"{self.offer.players[self.over.winner]} wins, {score}"
        elif self.over.outcome in ("no_show", "host_error"):
            verdict = "no result"
        else:
            verdict = f"tied, {score}"
        return f"{verdict} ({self.over.message})"
