"""The seats of a table: who is there, and what each is told.

``TableSeats`` makes the messages of a game, each cut to what its recipient may see
(``harness.arbiter.views``), and says them to who can take them now. What it says goes to the end of
a list that the caller gives. What is ruled, and when, is for ``harness.arbiter.table``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from engine.notation.cgp import write_cgp
from engine.rules.bag import commitment
from protocol.errors import PeerError
from protocol.messages import Message, Move, NewGame, Refused, Resign, YourTurn
from protocol.parts import Style
from protocol.session import ArbiterSession, FromArbiter

from . import views
from .records import RefusedMove, Turn
from .scorebook import Scorebook
from .views import Recipient

__all__ = ["Sends", "TableSeat", "TableSeats"]

Sends: TypeAlias = list[tuple[Recipient, Message]]
"""Messages, each to a seat or (``None``) to every spectator."""


@dataclass(slots=True)
class TableSeat:
    """One side of the table, as far as its connection goes."""

    number: int
    session: ArbiterSession | None = None
    live: bool = False
    """Whether it has said that it is ready since it last came."""
    been_live: bool = False
    """Whether it has ever said so to this table: in a restored game nobody has at first."""
    nonce: str = ""
    failures: int = 0
    disconnects: int = 0


class TableSeats:
    """Both seats of one game.

    Args:
        book: the game.
        known_styles: what each seat is told of how its opponent plays, by seat; nobody else is.
        attempts: moves against the rules in one turn that lose the game.
    """

    def __init__(
        self,
        book: Scorebook,
        known_styles: tuple[Style | None, Style | None],
        attempts: int,
    ) -> None:
        self._book = book
        self._game = book.opened.game
        self._known_styles = known_styles
        self._attempts = attempts
        self._sides = (TableSeat(0), TableSeat(1))

    def __getitem__(self, number: int) -> TableSeat:
        return self._sides[number]

    def __iter__(self) -> Iterator[TableSeat]:
        return iter(self._sides)

    # --- to one seat ----------------------------------------------------------------------------

    def offer(self, side: TableSeat, now_ms: int, seen: int, sends: Sends) -> None:
        """Offer a seat the game from event ``seen`` + 1 on; if it is over, say how it ended."""
        side.live = False
        if self._book.ended is not None:
            self._say(side, self.verdict(), sends)
        else:
            self._say(side, self._offer_for(side.number, now_ms, seen), sends)

    def catch_up(self, side: TableSeat, sends: Sends) -> None:
        """Tell a seat that is ready what was played since the game was offered to it."""
        assert side.session is not None
        known = side.session.games[self._game].next_seq
        for turn in self._book.turns:
            if turn.seq >= known:
                self._say(side, views.played_for(self._game, turn, side.number), sends)

    def ask(self, side: TableSeat, now_ms: int, sends: Sends) -> None:
        """Ask a seat for its move; its clock runs."""
        book = self._book
        assert book.game is not None
        position = book.game.position
        own = position.racks[side.number]
        hidden = replace(position, racks=(own, ()) if side.number == 0 else ((), own))
        turn = YourTurn(
            game=self._game,
            seq=book.next_seq,
            position=write_cgp(hidden, book.rules),
            rack=book.rack_text(side.number),
            bag=book.bag_count,
            clocks=book.clocks(now_ms),
            deadline_ms=book.time_left(now_ms),
            attempt=book.attempt,
        )
        self._say(side, turn, sends)

    def refuse(self, side: TableSeat, refused: RefusedMove, now_ms: int, sends: Sends) -> None:
        """Tell a seat that its move is against the rules, and that it may try again."""
        self._say(side, self._refusal(refused, now_ms), sends)

    def answer_again(self, side: TableSeat, message: Move | Resign, now_ms: int) -> Message:
        """Answer a repeated move as it was answered before.

        Raises:
            PeerError: it was not this seat's to move.
        """
        book = self._book
        if book.ended is not None and message.seq >= book.ended.seq:
            return self.verdict()
        if message.seq == book.next_seq:  # then a refused move it was, perhaps long ago
            for refused in book.refusals:
                if (refused.seq, refused.attempt) == (message.seq, _attempt(message)):
                    return self._refusal(refused, now_ms)
        for turn in book.turns:
            if turn.seq == message.seq and turn.seat == side.number:
                return views.played_for(self._game, turn, side.number)
        raise PeerError(
            "out_of_turn",
            f"event {message.seq} was not this seat's to move",
            retry="no",
            game=self._game,
            seq=message.seq,
        )

    def _refusal(self, refused: RefusedMove, now_ms: int) -> Refused:
        return Refused(
            game=self._game,
            seq=refused.seq,
            attempt=refused.attempt,
            code=refused.code,
            message=refused.message,
            attempts_left=self._attempts - refused.attempt,
            deadline_ms=self._book.time_left(now_ms),
        )

    # --- to all ---------------------------------------------------------------------------------

    def began(self, now_ms: int, sends: Sends) -> None:
        """Tell all that the tiles are dealt."""
        book = self._book
        racks = book.rack_text(0), book.rack_text(1)
        for recipient in (0, 1, None):
            started = views.started_for(
                self._game, racks, book.bag_count, book.clocks(now_ms), recipient
            )
            self._say(recipient, started, sends)

    def played(self, turn: Turn, sends: Sends) -> None:
        """Tell all of a turn."""
        for recipient in (0, 1, None):
            self._say(recipient, views.played_for(self._game, turn, recipient), sends)

    def ended(self, sends: Sends) -> None:
        """Tell all how the game ended."""
        for recipient in (0, 1, None):
            self._say(recipient, self.verdict(), sends)

    def watched(self, now_ms: int) -> list[Message]:
        """What a spectator who comes now has to know: the game so far, and how it ended."""
        offer = self._offer_for(None, now_ms, seen=-1)
        return [offer] if self._book.ended is None else [offer, self.verdict()]

    def verdict(self) -> FromArbiter:
        """Tell how the game ended; it has to be over."""
        book = self._book
        assert book.ended is not None
        return views.ended_for(book.opened, book.ended, book.nonces, book.turns)

    # --- either ---------------------------------------------------------------------------------

    def _offer_for(self, recipient: Recipient, now_ms: int, seen: int) -> NewGame:
        book = self._book
        commit = commitment(bytes.fromhex(book.opened.secret)).hex()
        style = None if recipient is None else self._known_styles[recipient]
        if book.game is None:
            return views.offer_for(book.opened, commit, recipient, known_style=style)
        return views.offer_for(
            book.opened,
            commit,
            recipient,
            seq=book.next_seq,
            turns=[turn for turn in book.turns if turn.seq > seen],
            clocks=book.clocks(now_ms),
            rack=None if recipient is None else book.rack_text(recipient),
            known_style=style,
        )

    def _say(self, recipient: TableSeat | Recipient, message: FromArbiter, sends: Sends) -> None:
        """Send to a seat that can take it, or to the spectators.

        A seat that is away, or that has not said that it is ready since it came back, gets what
        it misses with the offer, or once it is ready.
        """
        if recipient is None:
            sends.append((None, message))
            return
        side = recipient if isinstance(recipient, TableSeat) else self[recipient]
        over = self._book.ended is not None
        if side.session is not None and (side.live or over or isinstance(message, NewGame)):
            sends.append((side.number, side.session.send(message)))


def _attempt(message: Move | Resign) -> int | None:
    return message.attempt if isinstance(message, Move) else None
