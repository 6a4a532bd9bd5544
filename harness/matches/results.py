"""The games of a tournament, as planned and as they ended.

**Sides** of a pairing: 0 is side a, 1 is side b, whoever moves first; a match has one pairing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict, replace

from engine.notation.gcg import GcgGame, GcgPlayer, write_gcg
from engine.notation.replaying import gcg_from_game
from harness.arbiter.records import Ended, Opened, TurnRecord, charged_seat, result_text
from harness.arbiter.scorebook import Scorebook
from protocol.messages import GameOver, NewGame, Played
from protocol.parts import OUTCOMES, Outcome, is_void

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
    """Turns taken: plays, exchanges, passes, and a turn in which the game was lost and won."""
    think_ms: Count
    """Clock used in all turns, the last one too."""
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
        return is_void(self.outcome, self.winner)

    @property
    def forfeit(self) -> bool:
        """Whether the game was lost by other means than the score."""
        return OUTCOMES[self.outcome].won_by == "opponent" and not self.void

    @property
    def spread(self) -> int:
        """Side a's score less side b's at the end; of a forfeit, at best 0 for who lost it."""
        spread = self.sides[0].score - self.sides[1].score
        if self.forfeit:
            return min(spread, 0) if self.winner else max(spread, 0)
        return spread

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
    made = book.game.turns if book.game else ()
    bingos = [sum(turn.bingo for turn in made if turn.seat == seat) for seat in (0, 1)]
    side_0, side_1 = (
        seat_result(seat, book.opened, book.turns, ended, bingos[seat], book.resting_clocks[seat])
        for seat in (planned.first, 1 - planned.first)
    )
    return GameResult(
        game=book.opened.game,
        number=planned.number,
        pair=planned.pair,
        first=planned.first,
        sides=(side_0, side_1),
        outcome=ended.outcome,
        winner=None if ended.winner is None else planned.side_of(ended.winner),
        turns=sum(turn.challenge is UNSET for turn in book.turns),
        seconds=(side_0.think_ms + side_1.think_ms) / 1_000,
        note="" if ended.outcome == "out" else result_text(book.opened.players, ended),
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


def seat_result(
    seat: int,
    game: Opened | NewGame,
    turns: Sequence[TurnRecord | Played],
    over: Ended | GameOver,
    bingos: int,
    clock_ms: int,
) -> SeatResult:
    """Return a seat's part of a game; ``clock_ms`` is its clock after the last of the turns.

    If ``over`` has no clocks, the time of the turn in which the game ended is unknown, and left
    out.
    """
    own_turns = [turn for turn in turns if charged_seat(turn.seat, turn.move) == seat]
    left_ms = clock_ms if over.clocks is None else over.clocks[seat]
    unfinished_ms = max(0, clock_ms - left_ms)
    lost_on_turn = unfinished_ms > 0 and OUTCOMES[over.outcome].won_by == "opponent"
    challenges: tuple[int, int] | UnsetType = UNSET
    if game.rules.challenge != "void":
        results = [turn.challenge for turn in own_turns]
        challenges = results.count("won"), results.count("lost")
    return SeatResult(
        name=game.players[seat],
        score=over.scores[seat],
        moves=sum(turn.challenge in (UNSET, "open") for turn in own_turns) + lost_on_turn,
        think_ms=sum(turn.think_ms for turn in own_turns) + unfinished_ms,
        longest_ms=max([unfinished_ms, *(turn.think_ms for turn in own_turns)]),
        overtime_ms=max(0, -left_ms) if game.time.max_overtime_ms else 0,
        time_penalty=over.time_penalties[seat],
        bingos=bingos,
        faults=tuple(fault.code for fault in over.faults if fault.seat == seat),
        challenges=challenges,
    )


def csv_row(result: GameResult) -> dict[str, Any]:
    """Return a game as a line of ``results.csv``, by column: sides in order, and flat."""
    names = [seat.name for seat in result.sides]
    winner = None if result.winner is None else names[result.winner]
    row = asdict(result) | {"first": names[result.first], "winner": winner}
    row |= {"spread": result.spread, "points": result.points}
    for side, seat in zip("ab", row.pop("sides"), strict=True):
        for name, value in asdict(seat).items():
            flat = " ".join(map(str, value)) if isinstance(value, tuple) else value
            row[f"{side}_{name}"] = None if value is UNSET else flat
    return row


CSV_COLUMNS = tuple(csv_row(walkover(PlannedGame(1, 1, 0), "", ("", ""), (True, False))))


def game_record(book: Scorebook, title: str, corrected: Mapping[str, Any] = {}) -> str:
    """Return a finished game as GCG; a note tells what GCG has no line for.

    The note also tells a result that was ``corrected`` (``FolderContents.corrected``).
    """
    ended, opened = book.ended, book.opened
    assert ended is not None, "the game is not over"
    id = f"tilewire {opened.game}"
    terms: dict[str, Any] = {"title": title, "id": id, "lexicon": opened.lexicon}
    if ended.outcome != "out" or corrected or book.game is None:
        terms["note"] = result_text(opened.players, replace(ended, **corrected))
    if book.game is None:
        players = tuple(map(GcgPlayer, ("player1", "player2"), opened.players))
        return write_gcg(GcgGame(players=players, **terms))
    penalties = ended.time_penalties
    return write_gcg(gcg_from_game(book.game, opened.players, time_penalties=penalties, **terms))
