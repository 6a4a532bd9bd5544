"""What each recipient may see. The only place where hidden things become messages.

A recipient is a seat (0 or 1) or a spectator (``None``). Racks, tiles drawn and tiles exchanged
are told to their owner alone; the secret behind the bag is told to nobody before the end. What is
not named here is not sent.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocol.messages import GameOver, NewGame, Played, Started
from protocol.parts import Style

from .records import Ended, Opened, Turn

__all__ = ["Recipient", "ended_for", "offer_for", "played_for", "started_for"]

Recipient = int | None


def played_for(game: str, turn: Turn, recipient: Recipient) -> Played:
    """Tell a recipient of a turn."""
    own = recipient == turn.seat
    return Played(
        game=game,
        seq=turn.seq,
        seat=turn.seat,
        move=turn.move if own else _public_move(turn),
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


def _public_move(turn: Turn) -> str:
    """Hide which tiles were exchanged, not how many: the bag on the table shows that too."""
    is_exchange = turn.move.startswith("-") and len(turn.move) > 1
    return f"-{exchanged_count(turn.move)}" if is_exchange else turn.move


def exchanged_count(move: str) -> int:
    """Count the tiles in the text of an exchange; a tile in brackets is one."""
    count, inside = 0, False
    for character in move[1:]:
        inside = (inside or character == "[") and character != "]"
        count += not inside
    return count


def started_for(
    game: str, racks: tuple[str, str], bag: int, clocks: tuple[int, int], recipient: Recipient
) -> Started:
    """Tell a recipient that the game has begun."""
    rack = None if recipient is None else racks[recipient]
    return Started(game=game, seq=0, bag=bag, clocks=clocks, rack=rack)


def offer_for(
    opened: Opened,
    commitment: str,
    recipient: Recipient,
    *,
    seq: int = 0,
    turns: Sequence[Turn] = (),
    clocks: tuple[int, int] | None = None,
    rack: str | None = None,
    known_style: Style | None = None,
) -> NewGame:
    """Offer a game, or what a recipient has missed of it."""
    return NewGame(
        game=opened.game,
        seq=seq,
        players=opened.players,
        you=recipient,
        lexicon=opened.lexicon,
        lexicon_checksum=opened.lexicon_checksum,
        rules=opened.rules,
        time=opened.time,
        commitment=commitment if opened.committed else None,
        clocks=clocks,
        rack=None if recipient is None else rack,
        history=tuple(played_for(opened.game, turn, recipient) for turn in turns),
        known_style=None if recipient is None else known_style,
    )


def ended_for(
    opened: Opened, ended: Ended, nonces: tuple[str, str] | None, turns: Sequence[Turn]
) -> GameOver:
    """Tell anyone how a game ended; now all may be known.

    The secret is opened where it was committed to, with the moves that draws depend on. Where a
    pair of games shares an order there is no commitment, and the order stays closed, since the
    second game may still be on. A void game opens nothing: it may have to be played on.
    """
    void = ended.outcome == "host_error"
    opens = opened.committed and not void
    return GameOver(
        game=opened.game,
        seq=ended.seq,
        outcome=ended.outcome,
        winner=ended.winner,
        scores=ended.scores,
        message=ended.message,
        racks=("", "") if void else ended.racks,
        rack_adjustments=ended.rack_adjustments,
        time_penalties=ended.time_penalties,
        faults=ended.faults,
        secret=opened.secret if opens else None,
        nonces=nonces if opens else None,
        moves=tuple(turn.move for turn in turns) if opens else (),
        mirrored=opened.mirrored,
    )
