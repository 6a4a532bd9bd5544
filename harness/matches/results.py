"""The games of a tournament, as planned and as they ended.

**Sides** of a pairing: 0 is side a, 1 is side b, whoever moves first; a match has one pairing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from engine.notation.gcg import GcgGame, GcgPlayer, write_gcg
from engine.notation.replaying import gcg_from_game
from harness.arbiter.records import Turn
from harness.arbiter.scorebook import Scorebook
from protocol.messages import Played
from protocol.parts import Outcome, RulesInPlay

FORFEITS: frozenset[Outcome] = frozenset(
    {"resign", "time", "illegal", "crash", "stall", "no_show", "challenge"}
)
"""Outcomes that decide a game against one side, whatever the score."""

NOT_OFFERED = "not offered"
"""The note of a walkover."""

Side = Annotated[int, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One game of the schedule; a journal stores its fields as the game's label."""

    number: int
    """From 1."""
    pair: int
    """From 1; games 1 and 2 are pair 1. Unpaired games are each a pair of their own."""
    first: int
    """The side of the pairing (0 or 1) that moves first."""
    players: tuple[int, int] = (0, 1)
    """The entrants of the tournament that are sides 0 and 1."""
    round: int = 1
    paired: bool = True
    """Whether it shares its draws with the other game of its pair."""
    opening: int | None = None
    """Index in the openings of the tournament, from 0; None: it has no openings."""

    def side_of(self, seat: int) -> int:
        """Return the side at a seat or, equally, the seat of a side."""
        return seat if self.first == 0 else 1 - seat

    def entrant(self, seat: int) -> int:
        """Return the entrant at a seat."""
        return self.players[self.side_of(seat)]


class SeatResult(Struct, frozen=True):
    """One side's part of a game."""

    name: str
    score: int
    """The final score, adjusted for racks and overtime; if broken off, the score at that point."""
    moves: Count
    """Turns taken: plays, exchanges and passes."""
    think_ms: Count
    """Clock used in all turns."""
    longest_ms: Count
    overtime_ms: Count = 0
    """How far the clock fell below zero."""
    time_penalty: Count = 0
    """Points deducted for overtime, included in ``score``."""
    bingos: Count = 0
    faults: tuple[str, ...] = ()
    """Fault codes, such as ``illegal`` or ``disconnect``."""
    challenges: tuple[Count, Count] | UnsetType = UNSET
    """Its challenges won and lost; UNSET where none can be made."""


class GameResult(Struct, frozen=True):
    """The end of a game between side a and side b."""

    game: str
    number: int
    """The game's place in the schedule; a void game is replayed under its number."""
    pair: int
    """Games of a pair share an opening, with seats swapped."""
    first: Side
    sides: tuple[SeatResult, SeatResult]
    outcome: Outcome
    winner: Side | None
    """None for a tie or a void game."""
    turns: Count
    seconds: float
    """Duration of both sides' turns, by their clocks."""
    note: str = ""
    round: int = 1

    @property
    def void(self) -> bool:
        """Whether the game does not count: the host failed, or neither side came."""
        return self.outcome == "host_error" or (self.outcome == "no_show" and self.winner is None)

    @property
    def forfeit(self) -> bool:
        """Whether the game was lost by other means than the score."""
        return self.outcome in FORFEITS and not self.void

    @property
    def spread(self) -> int:
        """Side a's score less side b's at the end."""
        return self.sides[0].score - self.sides[1].score

    @property
    def points(self) -> float:
        """Side a's points: 1, ½ or 0; a forfeit is 1 or 0 too."""
        return 0.5 if self.winner is None else 1.0 - self.winner

    @property
    def was_played(self) -> bool:
        """Whether both sides came; if not, it counts in the standings but not in ratings."""
        return self.outcome != "no_show"


@dataclass(frozen=True)
class Luck:
    """The luck of a game's draws, by seat; the other seat's counts against it."""

    points: tuple[float, float]
    wins: tuple[float, float]

    @property
    def balance(self) -> tuple[float, float]:
        """Points and wins that the draws gave seat 0 more than seat 1."""
        return self.points[0] - self.points[1], self.wins[0] - self.wins[1]


def game_result(book: Scorebook, planned: PlannedGame) -> GameResult:
    """Return a finished game's result, by side of the pairing."""
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
        turns=sum(turn.challenge is UNSET for turn in book.turns),
        seconds=sum(turn.think_ms for turn in book.turns) / 1_000,
        note="disconnect" if away else "",
        round=planned.round,
    )


def walkover(
    planned: PlannedGame, game: str, names: tuple[str, str], gone: Sequence[bool]
) -> GameResult:
    """Return the result of a game not offered because sides are gone; arguments are by side."""
    nothing = SeatResult(name="", score=0, moves=0, think_ms=0, longest_ms=0)
    a, b = (
        replace(nothing, name=name, faults=("no_show",) if is_gone else ())
        for name, is_gone in zip(names, gone, strict=True)
    )
    return GameResult(
        game=game,
        number=planned.number,
        pair=planned.pair,
        first=planned.first,
        sides=(a, b),
        outcome="no_show",
        winner=None if all(gone) else gone.index(False),
        turns=0,
        seconds=0.0,
        note=NOT_OFFERED,
        round=planned.round,
    )


def _seat_result(book: Scorebook, seat: int) -> SeatResult:
    ended = book.ended
    assert ended is not None
    turns = [turn for turn in book.turns if turn.charged == seat]
    made = book.game.turns if book.game else ()
    return SeatResult(
        name=book.opened.players[seat],
        score=ended.scores[seat],
        moves=sum(turn.challenge is UNSET for turn in turns),
        think_ms=sum(turn.think_ms for turn in turns),
        longest_ms=max((turn.think_ms for turn in turns), default=0),
        overtime_ms=max(0, -ended.clocks[seat]) if book.opened.time.max_overtime_ms else 0,
        time_penalty=ended.time_penalties[seat],
        bingos=sum(turn.bingo for turn in made if turn.seat == seat),
        faults=tuple(fault.code for fault in ended.faults if fault.seat == seat),
        challenges=counted_challenges(turns, book.opened.rules),
    )


def counted_challenges(
    own: Sequence[Turn | Played], rules: RulesInPlay
) -> tuple[int, int] | UnsetType:
    """Count the challenges won and lost on a seat's clock; UNSET under the rule ``void``."""
    if rules.challenge == "void":
        return UNSET
    return sum(turn.challenge == "won" for turn in own), sum(
        turn.challenge == "lost" for turn in own
    )


def game_record(book: Scorebook, title: str) -> str:
    """Return a finished game as GCG; facts without a line of their own in GCG go into a note."""
    ended, opened = book.ended, book.opened
    assert ended is not None, "the game is not over"
    if book.game is None:
        return write_gcg(
            GcgGame(
                players=tuple(map(GcgPlayer, ("player1", "player2"), opened.players)),
                title=title,
                id=f"tilewire {opened.game}",
                lexicon=opened.lexicon,
                note=ended.message,
            )
        )
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
