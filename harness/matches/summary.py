"""A finished game's public summary: a result and a GCG."""

from __future__ import annotations

from engine.notation.gcg import write_gcg
from engine.notation.replaying import gcg_from_game
from harness.arbiter.scorebook import Scorebook

from .results import GameResult, SeatResult
from .schedule import PlannedGame

__all__ = ["game_record", "game_result"]


def game_result(book: Scorebook, planned: PlannedGame) -> GameResult:
    """Return a finished game's result, by side of the match."""
    ended = book.ended
    assert ended is not None, "the game is not over"
    seats = (_seat_result(book, 0), _seat_result(book, 1))
    away = any(fault.code == "disconnect" for fault in ended.faults)
    return GameResult(
        game=book.opened.game,
        number=planned.number,
        pair=planned.pair,
        first=planned.first,
        sides=(seats[planned.first], seats[1 - planned.first]),
        outcome=ended.outcome,
        winner=None if ended.winner is None else planned.side_of(ended.winner),
        turns=len(book.turns),
        seconds=sum(turn.think_ms for turn in book.turns) / 1_000,
        note="disconnect" if away else "",
    )


def _seat_result(book: Scorebook, seat: int) -> SeatResult:
    ended = book.ended
    assert ended is not None
    turns = [turn for turn in book.turns if turn.seat == seat]
    made = book.game.turns if book.game else ()
    return SeatResult(
        name=book.opened.players[seat],
        score=ended.scores[seat],
        moves=len(turns),
        think_ms=sum(turn.think_ms for turn in turns),
        longest_ms=max((turn.think_ms for turn in turns), default=0),
        overtime_ms=max(0, -ended.clocks[seat]) if book.opened.time.max_overtime_ms else 0,
        time_penalty=ended.time_penalties[seat],
        bingos=sum(turn.bingo for turn in made if turn.seat == seat),
        faults=tuple(fault.code for fault in ended.faults if fault.seat == seat),
    )


def game_record(book: Scorebook, title: str) -> str:
    """Return a finished game as GCG; facts without a line of their own in GCG go into a note."""
    ended, opened = book.ended, book.opened
    assert ended is not None, "the game is not over"
    if book.game is None:
        return f"#character-encoding UTF-8\n#note {title}: {ended.message}\n"
    game = gcg_from_game(
        book.game,
        opened.players,
        lexicon=opened.lexicon,
        title=title,
        id=f"tilewire {opened.game}",
        note="" if ended.outcome == "out" else ended.message,
        time_penalties=ended.time_penalties,
    )
    return write_gcg(game)
