"""Records and results of games for tests, with everything that a test does not name filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from harness.arbiter.records import Ended, Opened
from harness.matches.config import TournamentConfig
from harness.matches.results import GameResult, SeatResult
from harness.matches.statistics import MatchStatistics, match_statistics
from protocol.parts import Accusation, Outcome, RulesInPlay, TimeControl


def opened(game: str = "g") -> Opened:
    """Make the first record of a game, whose words, rules and times do not matter."""
    return Opened(
        game=game,
        players=("one", "two"),
        lexicon="words",
        lexicon_checksum="00",
        rules=RulesInPlay(),
        time=TimeControl(),
        secret="ab",
        committed=True,
        mirrored=False,
    )


def ended(
    winner: int | None, outcome: Outcome = "out", *absent: int, code: str = "no_show"
) -> Ended:
    """Make the last record of a game, and accuse seats that were ``absent`` of a fault."""
    scores = (400, 400) if winner is None else (450, 350) if winner == 0 else (350, 450)
    return Ended(
        seq=24,
        outcome=outcome,
        winner=winner,
        scores=scores,
        message="",
        racks=("", ""),
        rack_adjustments=(0, 0),
        time_penalties=(0, 0),
        clocks=(0, 0),
        faults=tuple(Accusation(seat=seat, code=code, message="") for seat in absent),
    )


def match_config(**others: Any) -> TournamentConfig:
    """Make the settings of a match of 2 games between two static players, 10 s each."""
    values: dict[str, Any] = {
        "seats": ("static", "static"),
        "names": ("Old", "New"),
        "games": 2,
        "time": TimeControl(initial_ms=10_000),
        "lexicon": "scowl",
        "lexicon_checksum": "00",
        "seed": 7,
    }
    return TournamentConfig(**(values | others))


def seat(name: str = "static", score: int = 400, **others: Any) -> SeatResult:
    """Make one side's part of a game: 12 moves in 6 s, the longest 900 ms."""
    values: dict[str, Any] = {"moves": 12, "think_ms": 6_000, "longest_ms": 900} | others
    return SeatResult(name=name, score=score, **values)


def game(number: int, scores: tuple[int, int], **others: Any) -> GameResult:
    """Make a game that the higher score wins; games 0 and 1, 2 and 3, … are pairs."""
    winner = None if scores[0] == scores[1] else int(scores[1] > scores[0])
    values: dict[str, Any] = {
        "game": f"g{number}",
        "number": number,
        "pair": number // 2,
        "first": number % 2,
        "sides": (seat("static", scores[0]), seat("monte carlo", scores[1])),
        "outcome": "out",
        "winner": winner,
        "turns": 24,
        "seconds": 12.5,
    }
    return GameResult(**(values | others))


def swapped(result: GameResult) -> GameResult:
    """Tell the same game with side a as side b."""
    winner = None if result.winner is None else 1 - result.winner
    return replace(result, first=1 - result.first, sides=result.sides[::-1], winner=winner)


def stats_of(
    results: Sequence[GameResult], names: tuple[str, str] | None = None
) -> MatchStatistics:
    """Compute the statistics of a match, by default under the names of its last game."""
    if names is None:
        names = (results[-1].sides[0].name, results[-1].sides[1].name) if results else ("a", "b")
    return match_statistics(results, names)
