"""Every message of a game, cut to what its recipient may see: the only place that makes any.

A recipient is a seat (0 or 1), the spectators (``None``), or the host's own screen (``OWNER``).
Racks, tiles drawn and tiles exchanged go to their seat alone, and to the host's own screen, which
is for games whose seats can't look at it; the bag's secret goes to nobody before the end. Fields
not named here are not sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from msgspec import UNSET

from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_exchange_count
from engine.rules.bag import commitment
from protocol.messages import (
    Committed,
    Drawn,
    GameOver,
    Info,
    NewGame,
    Played,
    Refused,
    Started,
    YourTurn,
)
from protocol.parts import OUTCOMES, WITHDRAWN, Estimates, Style, thoughts_of

from .records import Accepted, Began, Ended, Opened, Record, RefusedMove, Thought, TurnRecord
from .scorebook import ATTEMPTS, Scorebook

OWNER: Literal["owner"] = "owner"

Recipient: TypeAlias = int | None

Viewer: TypeAlias = Recipient | Literal["owner"]

FromGame: TypeAlias = NewGame | Started | YourTurn | Info | Played | GameOver
"""A message to somebody who follows a game."""

MOST_NOTES = 20
"""Most texts of a turn that are told after the game."""

EVERYBODY: tuple[Recipient, ...] = (0, 1, None)


def new_game(
    book: Scorebook,
    recipient: Viewer,
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
        seq=book.ended.seq if book.ended else book.next_seq,
        players=opened.players,
        you=recipient if isinstance(recipient, int) else None,
        lexicon=opened.lexicon,
        lexicon_checksum=opened.lexicon_checksum,
        rules=opened.rules,
        time=opened.time,
        commitment=secret_hash if opened.committed else None,
        commitments=book.commitments.digests if opened.committed else None,
        clocks=book.clocks(now_ms) if has_begun else None,
        rack=_rack_of(book, recipient) if has_begun else None,
        opening=write_cgp(book.opening.without_racks(), book.rules) if book.opening else None,
        history=tuple(played(book, turn, recipient) for turn in missed),
        known_style=known_style if isinstance(recipient, int) else None,
    )


def _rack_of(book: Scorebook, recipient: Viewer) -> str | None:
    """Return the recipient's own rack, if it is a seat."""
    return book.rack_text(recipient) if isinstance(recipient, int) else None


def committed(book: Scorebook) -> Committed:
    """Return the message that both nonces are fixed."""
    return Committed(game=book.opened.game, commitments=book.commitments.digests)


def started(book: Scorebook, recipient: Viewer, now_ms: int) -> Started:
    """Return the message that the game has started."""
    return Started(
        game=book.opened.game,
        seq=0,
        bag=book.bag_count,
        clocks=book.clocks(now_ms),
        rack=_rack_of(book, recipient),
    )


def your_turn(book: Scorebook, now_ms: int, recipient: Viewer) -> YourTurn:
    """Return the question to the seat to move: the position with its own rack only.

    The host's own screen sees both racks in it.
    """
    assert book.game is not None, "the game has not begun"
    position = book.game.position
    if recipient != OWNER:
        own = position.racks[position.on_turn]
        position = replace(position, racks=(own, ()) if position.on_turn == 0 else ((), own))
    return YourTurn(
        game=book.opened.game,
        seq=book.next_seq,
        position=write_cgp(position, book.rules),
        rack=book.rack_text(position.on_turn),
        bag=book.bag_count,
        clocks=book.clocks(now_ms),
        deadline_ms=book.time_left(now_ms),
        attempt=book.attempt,
        challenge_ms=book.challenge_left(now_ms) or UNSET,
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


def played(book: Scorebook, turn: TurnRecord, recipient: Viewer) -> Played:
    """Return the message about a turn; exchanged tiles and the new rack only for its player."""
    own = recipient in (turn.seat, OWNER)
    return Played(
        game=book.opened.game,
        seq=turn.seq,
        seat=turn.seat,
        move=turn.move if own or turn.challenge is not UNSET else _public_move(book, turn.move),
        score=turn.score,
        scores=turn.scores,
        bag=turn.bag,
        clocks=turn.clocks,
        words=turn.words,
        rack=turn.rack_after if own else None,
        think_ms=turn.think_ms,
        lag_ms=turn.lag_ms,
        host_lag_ms=turn.host_lag_ms,
        challenge="open" if book.is_open and turn is book.turns[-1] else turn.challenge,
    )


def drawn(book: Scorebook, turn: TurnRecord) -> Drawn:
    """Return the message to the player of a play that it stands, with the rack after drawing."""
    return Drawn(game=book.opened.game, seq=turn.seq, rack=turn.rack_after)


def missed(book: Scorebook, seat: int, known: int) -> Iterator[Played | Drawn]:
    """Yield what a seat was not told; it knows the events before number ``known``."""
    for turn, later in zip_longest(book.turns, book.turns[1:]):
        if turn.seq >= known:
            yield played(book, turn, seat)
        elif turn.seq == known - 1 and _was_open(book, turn, later) and turn.seat == seat:
            yield drawn(book, turn)


def _was_open(book: Scorebook, turn: TurnRecord, later: TurnRecord | None) -> bool:
    """Return whether a play could be challenged, and stands."""
    if book.rules.challenge == "void" or turn.challenge is not UNSET or not turn.words:
        return False
    return not book.is_open if later is None else later.move != WITHDRAWN


def _public_move(book: Scorebook, move: str) -> str:
    """Hide which tiles were exchanged, not how many, which players also see at a table."""
    if not move.startswith("-") or move == "-":
        return move
    return format_exchange_count(len(book.rules.distribution.alphabet.tiles(move[1:])))


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
        racks=("", "") if OUTCOMES[ended.outcome].won_by == "nobody" else ended.racks,
        rack_adjustments=ended.rack_adjustments,
        time_penalties=ended.time_penalties,
        clocks=ended.clocks,
        faults=ended.faults,
        secret=opened.secret if opens else None,
        nonces=book.nonces if opens else None,
        moves=tuple(turn.move for turn in book.turns) if opens else (),
        mirrored=opened.mirrored,
        opening_racks=book.opening_racks if opens else None,
    )


def is_open(opened: Opened, ended: Ended) -> bool:
    """Return whether nothing of a finished game is hidden any more.

    A game of a pair stays hidden, as its other game may still be on; so does a void game, which may
    be resumed.
    """
    return opened.committed and OUTCOMES[ended.outcome].won_by != "nobody"


def watched(book: Scorebook, now_ms: int, recipient: Viewer) -> Iterator[FromGame]:
    """Yield what somebody who begins to watch is told: the game so far, and its end.

    The host's own screen is also told both racks, and the thoughts of the current turn.
    """
    yield new_game(book, recipient, now_ms)
    if book.ended is not None:
        yield game_over(book)
    elif recipient == OWNER and book.on_turn is not None:
        yield your_turn(book, now_ms, OWNER)
        yield from (_info(book, thought) for thought in book.thoughts)


def on_own_screen(book: Scorebook, record: Record, now_ms: int) -> Iterator[FromGame]:
    """Yield what the host's own screen is told of a new record, once the book has it."""
    match record:
        case Began():
            yield started(book, OWNER, now_ms)
        case TurnRecord():
            yield played(book, record, OWNER)
        case Thought():
            yield _info(book, record)
        case Ended():
            yield game_over(book)
    if isinstance(record, Began | TurnRecord | Accepted) and book.on_turn is not None:
        yield your_turn(book, now_ms, OWNER)


def _info(book: Scorebook, thought: Thought) -> Info:
    return Info(game=book.opened.game, seq=thought.seq, **thoughts_of(thought))


class DisclosedTurn(Estimates, frozen=True, kw_only=True):
    """A turn as it is told after the game: what was held, played and thought.

    The estimates are the last that the seat sent; the search is that of the candidates.
    """

    seq: int
    seat: int
    rack: str
    move: str
    """In full, with exchanged tiles."""
    notes: tuple[str, ...] = ()
    """The last texts that the seat sent."""


def disclosed(records: Sequence[Record], recipient: Viewer) -> tuple[DisclosedTurn, ...] | None:
    """Return the turns of a game, from its journal; None if nobody but the host may see them.

    The host's own screen sees all, others those of a finished game that ``is_open``.
    """
    opened, ended = records[0], records[-1]
    assert isinstance(opened, Opened)
    if recipient != OWNER and not (isinstance(ended, Ended) and is_open(opened, ended)):
        return None
    thoughts: dict[int, list[Thought]] = {}
    for record in records:
        if isinstance(record, Thought):
            thoughts.setdefault(record.seq, []).append(record)
    return tuple(
        _disclosed(turn, thoughts.get(turn.seq, ()))
        for turn in records
        if isinstance(turn, TurnRecord)
    )


def _disclosed(turn: TurnRecord, thoughts: Sequence[Thought]) -> DisclosedTurn:
    last: dict[str, Any] = {}
    for thought in thoughts:
        sent = {name: getattr(thought, name) for name in Estimates.__struct_fields__}
        last |= {name: value for name, value in sent.items() if value and name != "search"}
        if thought.candidates:
            last["search"] = thought.search
    notes = [thought.text for thought in thoughts if thought.text]
    return DisclosedTurn(
        seq=turn.seq,
        seat=turn.seat,
        rack=turn.rack,
        move=turn.move,
        notes=tuple(notes[-MOST_NOTES:]),
        **last,
    )
