"""The standings of a tournament: points, then cumulative spread, as in clubs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import UNSET

from harness.figures import counted
from protocol.parts import Arrangement, Presence, RoundGame, StandingRow

from .config import MatchError, TournamentConfig
from .folder import CORRECTED, Arranged, FolderContents, Joined, with_joined
from .pairings import Round
from .results import NOT_OFFERED, GameResult

BYE_SPREAD = 50
"""Spread that a Swiss bye adds for each game of a pairing; it counts as a win, too."""


@dataclass(slots=True)
class Standing:
    """An entrant's games so far."""

    entrant: int
    name: str
    games: int = 0
    wins: int = 0
    losses: int = 0
    ties: int = 0
    byes: int = 0
    """Rounds of a Swiss in which it had a bye."""
    half_byes: int = 0
    """Rounds that it missed for half a point a game."""
    points: float = 0.0
    """A win is 1, a tie ½; a bye is 1 for each game of a pairing."""
    spread: int = 0
    """Cumulative: own scores less the opponents', and ``BYE_SPREAD`` for byes."""
    played: int = 0
    """Games to which both sides came; ``games`` has the others, too."""
    scored: int = 0
    """Own scores of all games."""
    bingos: int = 0
    moves: int = 0
    think_ms: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    forfeits: int = 0
    """Games lost otherwise than by the score."""
    opponents: list[int | None] = field(default_factory=list)
    """Whom it was paired with, round by round; None for a bye and for a round that it missed."""
    firsts: int = 0
    """Rounds in which it moved first in the first game; ``seconds`` likewise."""
    seconds: int = 0
    reached: int = 0
    """The last round in which it was paired or had a bye; only in a Swiss or knockout."""
    last_lead: int = 0
    """Games won less games lost in that round of a knockout, and the spread of these games."""
    last_spread: int = 0
    last_came: bool = True
    """Whether it came to the last of these games."""
    withdrawn: bool = False

    @property
    def rate(self) -> float | None:
        """The share of the games that were won, a tie as half a win."""
        return (self.wins + self.ties / 2) / self.games if self.games else None

    @property
    def mean_score(self) -> float | None:
        """Mean own score per game that was played."""
        return self.scored / self.played if self.played else None

    @property
    def mean_bingos(self) -> float | None:
        """Bingos per game that was played."""
        return self.bingos / self.played if self.played else None

    @property
    def mean_move_ms(self) -> float | None:
        """Mean time per move, in milliseconds."""
        return self.think_ms / self.moves if self.moves else None

    def row(self, presence: Presence = "here") -> StandingRow:
        """Return its row of the protocol's standings."""
        return StandingRow(
            name=self.name,
            points=self.points,
            spread=self.spread,
            games=self.games,
            byes=self.byes,
            half_byes=self.half_byes or UNSET,
            presence=presence,
        )

    def as_object(self) -> dict[str, Any]:
        """Return a JSON object."""
        counts = "name", "games", "points", "wins", "losses", "ties", "byes", "half_byes"
        return {
            **{name: getattr(self, name) for name in counts},
            "win_rate": self.rate,
            "spread": self.spread,
            "mean_score": self.mean_score,
            "bingos_mean": self.mean_bingos,
            "move_ms_mean": self.mean_move_ms,
            "forfeits": self.forfeits,
            "faults": dict(self.faults.most_common()),
            "withdrawn": self.withdrawn,
        }


def standings(config: TournamentConfig, files: FolderContents) -> list[Standing]:
    """Return all entrants, including those that joined later, the leader first.

    Left out is who joined and withdrew before a round was paired with it.

    By points, then spread, then the order of the seats. In a gauntlet, whose entrants have unequal
    numbers of games, by points and spread per game; in a knockout by the last round and its result.

    Raises:
        MatchError: a result is of somebody who is no entrant.
    """
    config = with_joined(config, files.decisions)
    seats, gone = enumerate(config.names), files.withdrawn
    entrants = [Standing(number, name, withdrawn=number in gone) for number, name in seats]
    rounds = [decision for decision in files.decisions if isinstance(decision, Round)]
    for paired in rounds:
        _count_round(entrants, paired, config)
    for bye in files.arranged:
        if len(bye.entrants) == 1 and bye.round <= len(rounds):
            entrants[bye.entrants[0]].half_byes += 1
            entrants[bye.entrants[0]].points += config.games / 2
    by_name = {standing.name: standing for standing in entrants}
    for result in files.counting():
        if any(seat.name not in by_name for seat in result.sides):
            raise unknown_game(result.number, files.path)
        _count_game(by_name, result)

    def merit(standing: Standing) -> tuple[float, ...]:
        match config.format:
            case "gauntlet":
                played = max(standing.games, 1)
                return standing.points / played, standing.spread / played
            case "knockout":
                # As ``Schedule`` decides who goes on.
                return (
                    standing.reached,
                    not standing.withdrawn,
                    standing.last_lead,
                    standing.last_came,
                    standing.last_spread,
                )
            case _:
                return standing.points, standing.spread

    joined = {decision.name for decision in files.decisions if isinstance(decision, Joined)}
    listed = [
        standing
        for standing in entrants
        if not (standing.withdrawn and standing.name in joined)
        or standing.firsts + standing.seconds + standing.byes + standing.half_byes
    ]
    return sorted(listed, key=merit, reverse=True)  # stable, so the order of the seats remains


def unknown_game(number: int, folder: Path) -> MatchError:
    """Return what is wrong with a folder that has a game of unknown players or of no round."""
    return MatchError(
        f"{folder}: decisions.jsonl lacks who plays game {number}, or its round; put all files of "
        "the folder back, as 'tilewire backup FOLDER COPY' copies them"
    )


def what_is_left(config: TournamentConfig, files: FolderContents) -> str:
    """Return how far a Swiss is that is not over; empty if it is, and for other formats."""
    rounds = [decision for decision in files.decisions if isinstance(decision, Round)]
    planned = sum(len(paired.pairings) for paired in rounds) * config.games
    open_ = planned - len(files.counted | files.missed)
    if config.format != "swiss" or (len(rounds) >= config.rounds and not open_):
        return ""
    return f"not over: round {len(rounds)} of {config.rounds}, {counted(open_, 'game')} open"


def round_game(result: GameResult) -> RoundGame:
    """Return a game that is over as a round lists it, by seat."""
    first, second = (result.sides[side] for side in (result.first, 1 - result.first))
    return RoundGame(
        number=result.number,
        players=(first.name, second.name),
        scores=(first.score, second.score),
        game=None if result.note == NOT_OFFERED else result.game,
        outcome=CORRECTED if result.note.startswith(CORRECTED) else result.outcome,
        winner=None if result.winner is None else result.winner ^ result.first,
    )


def arrangements(
    number: int, rounds: Sequence[Round], names: Sequence[str], arranged: Sequence[Arranged]
) -> Iterator[Arrangement]:
    """Yield the byes of a round, and the byes and pairs that are set for rounds to come."""
    for paired in rounds:
        for entrant in paired.byes if paired.number == number else ():
            yield Arrangement(round=number, names=(names[entrant],))
    for arrangement in sorted(arranged, key=lambda arrangement: arrangement.round):
        is_bye = len(arrangement.entrants) == 1
        if arrangement.round > len(rounds) or (is_bye and arrangement.round == number):
            who = tuple(names[entrant] for entrant in arrangement.entrants)
            yield Arrangement(round=arrangement.round, names=who, half=is_bye)


def _count_round(entrants: Sequence[Standing], paired: Round, config: TournamentConfig) -> None:
    for one, other in paired.pairings:
        first, second = entrants[one], entrants[other]
        first.firsts += 1
        second.seconds += 1
        first.opponents.append(other)
        second.opponents.append(one)
        first.reached = second.reached = paired.number
    if config.format == "swiss":
        paired_now = {entrant for pairing in paired.pairings for entrant in pairing}
        for standing in entrants:
            if standing.entrant not in paired_now:
                standing.opponents.append(None)
    for entrant in paired.byes:
        standing = entrants[entrant]
        standing.reached = paired.number
        if config.format == "swiss":
            standing.byes += 1
            standing.points += config.games
            standing.spread += config.games * BYE_SPREAD


def _count_game(table: Mapping[str, Standing], result: GameResult) -> None:
    for side, seat in enumerate(result.sides):
        standing = table[seat.name]
        standing.faults.update(seat.faults)
        if result.void:
            continue
        spread = -result.spread if side else result.spread
        standing.games += 1
        standing.played += result.was_played
        standing.wins += result.winner == side
        standing.losses += result.winner == 1 - side
        standing.ties += result.winner is None
        standing.points += 0.5 if result.winner is None else float(result.winner == side)
        standing.spread += spread
        standing.scored += seat.score
        standing.bingos += seat.bingos
        standing.moves += seat.moves
        standing.think_ms += seat.think_ms
        standing.forfeits += result.forfeit and result.winner == 1 - side
        if result.round == standing.reached:
            standing.last_lead += (result.winner == side) - (result.winner == 1 - side)
            standing.last_spread += spread
            standing.last_came = result.was_played or result.winner == side
