"""The standings of a tournament: points, then cumulative spread, as in clubs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol.parts import Presence, StandingRow

from .config import TournamentConfig
from .folder import FolderContents, with_joined
from .pairings import Round
from .results import GameResult

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
            presence=presence,
        )

    def as_object(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "name": self.name,
            "games": self.games,
            "points": self.points,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "byes": self.byes,
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

    By points, then spread, then the order of the seats. In a gauntlet, whose entrants have unequal
    numbers of games, by points and spread per game; in a knockout by the last round and its result.
    """
    config = with_joined(config, files.decisions)
    entrants = [
        Standing(at, name, withdrawn=at in files.withdrawn) for at, name in enumerate(config.names)
    ]
    for decision in files.decisions:
        if isinstance(decision, Round):
            _count_round(entrants, decision, config)
    by_name = {of.name: of for of in entrants}
    for result in files.counting():
        _count_game(by_name, result)

    def merit(of: Standing) -> tuple[float, ...]:
        match config.format:
            case "gauntlet":
                played = max(of.games, 1)
                return of.points / played, of.spread / played
            case "knockout":
                # As ``Schedule`` decides who goes on.
                return of.reached, not of.withdrawn, of.last_lead, of.last_came, of.last_spread
            case _:
                return of.points, of.spread

    return sorted(entrants, key=merit, reverse=True)  # stable, so the order of the seats remains


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
        for of in entrants:
            if of.entrant not in paired_now:
                of.opponents.append(None)
    for entrant in paired.byes:
        of = entrants[entrant]
        of.reached = paired.number
        if config.format == "swiss":
            of.byes += 1
            of.points += config.games
            of.spread += config.games * BYE_SPREAD


def _count_game(table: Mapping[str, Standing], result: GameResult) -> None:
    for side, seat in enumerate(result.sides):
        of = table[seat.name]
        of.faults.update(seat.faults)
        if result.void:
            continue
        other = result.sides[1 - side]
        of.games += 1
        of.played += result.was_played
        of.wins += result.winner == side
        of.losses += result.winner == 1 - side
        of.ties += result.winner is None
        of.points += 0.5 if result.winner is None else float(result.winner == side)
        of.spread += seat.score - other.score
        of.scored += seat.score
        of.bingos += seat.bingos
        of.moves += seat.moves
        of.think_ms += seat.think_ms
        of.forfeits += result.forfeit and result.winner == 1 - side
        if result.round == of.reached:
            of.last_lead += (result.winner == side) - (result.winner == 1 - side)
            of.last_spread += seat.score - other.score
            of.last_came = result.was_played or result.winner == side
