"""Every message of a game, cut to what its recipient may see: the only place that makes any.

A recipient is a seat (0 or 1) or the spectators (``None``). Racks, tiles drawn and tiles exchanged
go to their owner alone; the bag's secret goes to nobody before the end. Fields not named here are
not sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from msgspec import Struct

from engine.notation.cgp import write_cgp
from engine.rules.bag import commitment
from protocol.messages import Committed, GameOver, NewGame, Played, Refused, Started, YourTurn
from protocol.parts import Belief, Candidate, Search, Style

from .records import Ended, Opened, Record, RefusedMove, Thought, Turn
from .scorebook import ATTEMPTS, Scorebook

Recipient: TypeAlias = int | None

MOST_NOTES = 20
"""Texts of a turn that are told after the game."""

EVERYBODY: tuple[Recipient, ...] = (0, 1, None)


def new_game(
    book: Scorebook,
    recipient: Recipient,
    now_ms: int,
    *,
    seen: int = -1,
    known_style: Style | None = None,
) -> NewGame:
    """Return an offer of a game, or of its events after ``seen``."""
    opened, has_begun = book.opened, book.game is not None
    racks = book.opening_racks
    secret_hash = commitment(bytes.fromhex(opened.secret), "/".join(racks) if racks else None).hex()
    missed = [turn for turn in book.turns if turn.seq > seen]
    return NewGame(
        game=opened.game,
        seq=book.next_seq if has_begun else 0,  # also if it ended without a start
        players=opened.players,
        you=recipient,
        lexicon=opened.lexicon,
        lexicon_checksum=opened.lexicon_checksum,
        rules=opened.rules,
        time=opened.time,
        commitment=secret_hash if opened.committed else None,
        commitments=book.commitments.digests if opened.committed else None,
        clocks=book.clocks(now_ms) if has_begun else None,
        rack=book.rack_text(recipient) if has_begun and recipient is not None else None,
        opening=_without_racks(book),
        history=tuple(played(book, turn, recipient) for turn in missed),
        known_style=None if recipient is None else known_style,
    )


def _without_racks(book: Scorebook) -> str | None:
    """Return the opening as everybody may know it; None if there is none."""
    if book.opening is None:
        return None
    return write_cgp(replace(book.opening, racks=((), ())), book.rules)


def committed(book: Scorebook) -> Committed:
    """Return the message that both nonces are fixed."""
    return Committed(game=book.opened.game, commitments=book.commitments.digests)


def started(book: Scorebook, recipient: Recipient, now_ms: int) -> Started:
    """Return the message that the game has started."""
    return Started(
        game=book.opened.game,
        seq=0,
        bag=book.bag_count,
        clocks=book.clocks(now_ms),
        rack=None if recipient is None else book.rack_text(recipient),
    )


def your_turn(book: Scorebook, now_ms: int) -> YourTurn:
    """Return the question to the seat to move: the position with its own rack only."""
    assert book.game is not None, "the game has not begun"
    position = book.game.position
    own = position.racks[position.on_turn]
    hidden = replace(position, racks=(own, ()) if position.on_turn == 0 else ((), own))
    return YourTurn(
        game=book.opened.game,
        seq=book.next_seq,
        position=write_cgp(hidden, book.rules),
        rack=book.rack_text(position.on_turn),
        bag=book.bag_count,
        clocks=book.clocks(now_ms),
        deadline_ms=book.time_left(now_ms),
        attempt=book.attempt,
    )


def refused(book: Scorebook, refusal: RefusedMove, now_ms: int) -> Refused:
    """Return the reply to an illegal move."""
    return Refused(
        game=book.opened.game,
        seq=refusal.seq,
        attempt=refusal.attempt,
        code=refusal.code,
        message=refusal.message,
        attempts_left=ATTEMPTS - refusal.attempt,
        deadline_ms=book.time_left(now_ms),
    )


def played(book: Scorebook, turn: Turn, recipient: Recipient) -> Played:
    """Return the message about a turn; exchanged tiles and the new rack only for its player."""
    own = recipient == turn.seat
    return Played(
        game=book.opened.game,
        seq=turn.seq,
        seat=turn.seat,
        move=turn.move if own else _public_move(turn.move),
        score=turn.score,
        scores=turn.scores,
        bag=turn.bag,
        clocks=turn.clocks,
        words=turn.words,
        rack=turn.rack_after if own else None,
        think_ms=turn.think_ms,
        lag_ms=turn.lag_ms,
        host_lag_ms=turn.host_lag_ms,
    )


def _public_move(move: str) -> str:
    """Hide which tiles were exchanged, not how many, which players also see at a table."""
    is_exchange = move.startswith("-") and len(move) > 1
    return f"-{exchanged_count(move)}" if is_exchange else move


def exchanged_count(move: str) -> int:
    """Count the tiles in the text of an exchange; brackets enclose a single tile."""
    count, inside = 0, False
    for character in move[1:]:
        inside = (inside or character == "[") and character != "]"
        count += not inside
    return count


def game_over(book: Scorebook) -> GameOver:
    """Return the verdict, the same for everybody.

    A committed secret is opened, with the moves that draws depend on, if the game ``is_open``.
    """
    opened, ended = book.opened, book.ended
    assert ended is not None, "the game is on"
    opens = is_open(opened, ended)
    return GameOver(
        game=opened.game,
        seq=ended.seq,
        outcome=ended.outcome,
        winner=ended.winner,
        scores=ended.scores,
        message=ended.message,
        racks=("", "") if ended.outcome == "host_error" else ended.racks,
        rack_adjustments=ended.rack_adjustments,
        time_penalties=ended.time_penalties,
        faults=ended.faults,
        secret=opened.secret if opens else None,
        nonces=book.nonces if opens else None,
        moves=tuple(turn.move for turn in book.turns) if opens else (),
        mirrored=opened.mirrored,
        opening_racks=book.opening_racks if opens else None,
    )


def is_open(opened: Opened, ended: Ended) -> bool:
    """Return whether nothing of a finished game is hidden any more.

    Not a game of a pair, whose second may still be on, nor a void one, which may be resumed.
    """
    return opened.committed and ended.outcome != "host_error"


class ReviewedTurn(Struct, frozen=True, kw_only=True):
    """A turn as it is told after the game: what was held, played and thought."""

    seq: int
    seat: int
    rack: str
    move: str
    """In full, with exchanged tiles."""
    notes: tuple[str, ...] = ()
    """The last texts that the seat sent."""
    candidates: tuple[Candidate, ...] = ()
    """As the seat saw them last, like its search and its belief."""
    search: Search | None = None
    belief: Belief | None = None


def reviewed(records: Sequence[Record]) -> tuple[ReviewedTurn, ...] | None:
    """Return the turns of a finished game, from its journal; None unless it ``is_open``."""
    opened, ended = records[0], records[-1]
    assert isinstance(opened, Opened)
    assert isinstance(ended, Ended)
    if not is_open(opened, ended):
        return None
    thoughts: dict[int, list[Thought]] = {}
    for record in records:
        if isinstance(record, Thought):
            thoughts.setdefault(record.seq, []).append(record)
    return tuple(
        _reviewed(turn, thoughts.get(turn.seq, ())) for turn in records if isinstance(turn, Turn)
    )


def _reviewed(turn: Turn, thoughts: Sequence[Thought]) -> ReviewedTurn:
    last_first = thoughts[::-1]
    candidates = next((thought for thought in last_first if thought.candidates), None)
    notes = [thought.text for thought in thoughts if thought.text]
    return ReviewedTurn(
        seq=turn.seq,
        seat=turn.seat,
        rack=turn.rack,
        move=turn.move,
        notes=tuple(notes[-MOST_NOTES:]),
        candidates=candidates.candidates if candidates else (),
        search=candidates.search if candidates else None,
        belief=next((thought.belief for thought in last_first if thought.belief), None),
    )
