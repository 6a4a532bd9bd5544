"""The tables of a report, as values: each is written to the page, to Markdown and to CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from harness.arbiter.records import verdict
from harness.figures import DASH, counted, duration, number, plain, share, tally
from harness.matches.config import TournamentConfig
from harness.matches.folder import CORRECTED, FolderContents
from harness.matches.pairings import Round
from harness.matches.ratings import PlayerRating, Ratings
from harness.matches.report import (
    BINS,
    COLUMNS,
    MOST_CROSSED,
    bin_width,
    binned,
    cross_table,
    points_text,
    rating_notes,
    standing_notes,
)
from harness.matches.results import GameResult
from harness.matches.significance import FEWEST_UNITS
from harness.matches.standings import Standing, arrangements, round_game
from protocol.parts import OUTCOMES

MOST_LISTED = 1_000
"""Games of all rounds that are listed."""
MOST_FAULTS = 200
"""Games with faults that are listed."""


class ColumnFormat(NamedTuple):
    """A column of a table, and how its values are written."""

    head: str
    write: Callable[[Any], str] = plain
    name: str = ""
    """The full name, where the head is short for it."""
    unknown: str = ""
    """What stands in a cell without a value."""


@dataclass(frozen=True)
class ValueTable:
    """A table of values; None is an empty cell."""

    key: str
    title: str
    fields: tuple[ColumnFormat, ...]
    rows: list[tuple[Any, ...]]
    """The first value names the row."""
    note: str = ""

    def without_empty(self) -> ValueTable:
        """Return the table without the columns that have no value."""
        columns = zip(self.fields, zip(*self.rows, strict=True), strict=True)
        full = [(field, cells) for field, cells in columns if field.unknown or set(cells) != {None}]
        fields, cells = zip(*full, strict=True)
        return replace(self, fields=fields, rows=list(zip(*cells, strict=True)))

    def texts(self) -> list[list[str]]:
        """Return the rows as text."""
        return [
            [
                field.unknown if value is None else field.write(value)
                for field, value in zip(self.fields, row, strict=True)
            ]
            for row in self.rows
        ]


def _whole(value: int) -> str:
    return f"{value:,}"


def _signed(value: float) -> str:
    return number(value, 0, sign=True)


def standings_sheet(table: Sequence[Standing]) -> ValueTable:
    """Return the standings, the leader first."""
    notes = [f"{note[0].upper()}{note[1:]}." for note in standing_notes(table)]
    return ValueTable(
        "standings",
        "Standings",
        (
            ColumnFormat("name"),
            ColumnFormat("place", str),
            *(ColumnFormat(column.head, column.write) for column in COLUMNS),
        ),
        [
            (standing.name, place, *(column.value(standing) for column in COLUMNS))
            for place, standing in enumerate(table, start=1)
        ],
        " ".join(notes),
    )


def rounds_sheet(
    config: TournamentConfig, files: FolderContents, results: Sequence[GameResult]
) -> ValueTable:
    """Return the games that are over by round: who won, and why if not by score; and byes."""
    over = [result for result in results if not result.void or result.number in files.missed]
    rounds = [decision for decision in files.decisions if isinstance(decision, Round)]
    listed: list[tuple[Any, ...]] = []
    for round_number, games in groupby(
        sorted(over, key=lambda result: result.round), key=lambda result: result.round
    ):
        for result in sorted(games, key=lambda result: result.number):
            game, is_corrected = round_game(result), result.note.startswith(CORRECTED)
            won = verdict(
                (result.sides[0].name, result.sides[1].name), result.winner, void=result.void
            )
            if is_corrected or OUTCOMES[result.outcome].won_by != "score":
                won += f" ({result.note if is_corrected else result.outcome})"
            score = " – ".join(map(str, game.scores or ()))
            listed.append((str(result.number), round_number, " – ".join(game.players), score, won))
        for bye in arrangements(round_number, rounds, config.names, files.arranged):
            if bye.round == round_number:
                half = "half a point a game" if bye.half else None
                listed.append(("bye", round_number, bye.names[0], None, half))
    left_out = len(listed) - MOST_LISTED
    return ValueTable(
        "rounds",
        "Rounds",
        (
            ColumnFormat("game"),
            ColumnFormat("round", str),
            ColumnFormat("who"),
            ColumnFormat("score"),
            ColumnFormat("result"),
        ),
        listed[:MOST_LISTED],
        f"And {left_out:,} more." if left_out > 0 else "",
    )


def cross_sheet(
    config: TournamentConfig, names: Sequence[str], results: Sequence[GameResult]
) -> ValueTable:
    """Return points against each other: a square, or a list if that would be large or empty."""
    cells = cross_table(results)
    title = "Points against each other"
    if len(names) <= MOST_CROSSED and config.format != "knockout":
        points = [[cells.get((name, other), (None,))[0] for other in names] for name in names]
        opponents = [
            ColumnFormat(str(place), points_text, plain(name))
            for place, name in enumerate(names, start=1)
        ]
        return ValueTable(
            "cross",
            title,
            (ColumnFormat("name"), ColumnFormat("place", str), *opponents),
            [(name, place, *points[place - 1]) for place, name in enumerate(names, start=1)],
        )
    pairings = [
        (f"{plain(a)} – {plain(b)}", cells[a, b][0], cells[b, a][0], int(cells[a, b][1]))
        for a, b in combinations(names, 2)
        if (a, b) in cells
    ]
    fields = (
        ColumnFormat("who"),
        ColumnFormat("points", points_text),
        ColumnFormat("of the other", points_text),
    )
    return ValueTable("cross", title, (*fields, ColumnFormat("games", _whole)), pairings)


def ratings_sheet(ratings: Ratings) -> ValueTable:
    """Return ratings with errors, the best first."""
    rated = sorted(ratings.players, key=_by_rating)
    notes = [f"{note[0].upper()}{note[1:]}." for note in rating_notes(ratings)]
    if any(player.units < FEWEST_UNITS for player in rated):
        notes.append(f"Fewer than {FEWEST_UNITS} pairs can't tell skill from luck.")
    notes.append("A pair is two games with the same draws; a game alone counts as one.")
    return ValueTable(
        "ratings",
        "Ratings",
        (
            *(ColumnFormat("name"), ColumnFormat("Elo", _signed, unknown=DASH)),
            ColumnFormat("±", lambda error: number(error, 0)),
            *(ColumnFormat("from", _signed), ColumnFormat("to", _signed)),
            *(ColumnFormat("games", _whole), ColumnFormat("pairs", _whole)),
        ),
        [
            (player.name, player.rating, player.error, *player.interval, player.games, player.units)
            for player in rated
        ],
        " ".join(notes),
    )


def superiority_sheet(ratings: Ratings) -> ValueTable | None:
    """Return how likely each player is stronger than each other.

    None if that would be large, or nothing is known yet.
    """
    unknown = all(chance is None for row in ratings.superiority for chance in row)
    if unknown or len(ratings.players) > MOST_CROSSED:
        return None
    order = sorted(
        range(len(ratings.players)), key=lambda index: _by_rating(ratings.players[index])
    )
    names = [ratings.players[index].name for index in order]
    numbered = enumerate(names, start=1)
    return ValueTable(
        "superiority",
        "Chance of being the stronger",
        (
            *(ColumnFormat("name"), ColumnFormat("rank", str)),
            *(ColumnFormat(str(rank), share, plain(name)) for rank, name in numbered),
        ),
        [
            (name, rank, *(ratings.superiority[index][other] for other in order))
            for rank, (name, index) in enumerate(zip(names, order, strict=True), start=1)
        ],
        "Of the player of the row over that of the column.",
    )


def _by_rating(of: PlayerRating) -> tuple[int, int, float, float]:
    """Sort those without a rating above the others if they won more than they lost, else below."""
    won = of.points / max(of.games, 1)
    place = 1 if of.rating is not None else 0 if won > 0.5 else 2
    return of.component, place, -(of.rating or 0.0), -won


def _own(name: str, results: Sequence[GameResult]) -> list[tuple[int, int]]:
    """Return a player's score and spread in each of its games."""
    return [
        (side.score, side.score - result.sides[1 - seat].score)
        for result in results
        for seat, side in enumerate(result.sides)
        if side.name == name
    ]


def spreads_sheet(names: Sequence[str], results: Sequence[GameResult]) -> ValueTable:
    """Return a histogram of each player's spreads, a row per bin."""
    width = bin_width([result.spread for result in results])
    counts = [binned([spread for _, spread in _own(name, results)], width) for name in names]
    used = [bin for bin in range(BINS) if any(count[bin] for count in counts)]
    return ValueTable(
        "spreads",
        "Games by spread",
        (
            ColumnFormat("spread", lambda edge: f"{_signed(edge)} to {_signed(edge + width - 1)}"),
            *(ColumnFormat(plain(name), _whole) for name in names),
        ),
        [
            ((bin - BINS // 2) * width, *(count[bin] for count in counts))
            for bin in (range(used[0], used[-1] + 1) if used else ())
        ],
    )


def scores_sheet(names: Sequence[str], results: Sequence[GameResult]) -> ValueTable:
    """Return the distribution of each player's scores."""
    fields = (
        *(ColumnFormat("name"), ColumnFormat("games", _whole), ColumnFormat("mean", number)),
        *(ColumnFormat("sd", number), ColumnFormat("lowest", number)),
        *(ColumnFormat("25 %", number), ColumnFormat("median", number)),
        *(ColumnFormat("75 %", number), ColumnFormat("highest", number)),
    )
    table: list[tuple[Any, ...]] = []
    for name in names:
        scores = np.array([score for score, _ in _own(name, results)], dtype=np.float64)
        if scores.size:
            spread = float(scores.std(ddof=1)) if scores.size > 1 else None
            quantiles = np.quantile(scores, (0.0, 0.25, 0.5, 0.75, 1.0)).tolist()
            table.append((name, scores.size, float(scores.mean()), spread, *quantiles))
        else:
            table.append((name, 0, *[None] * 7))
    return ValueTable("scores", "Scores", fields, table)


def times_sheet(
    names: Sequence[str], think_ms: Mapping[str, Mapping[int, list[int]]]
) -> ValueTable | None:
    """Return each player's mean times by its own turn; None if there are none."""
    last = max((turn for name in names for turn in think_ms[name]), default=0)
    if not last:
        return None
    means = [
        [fmean(ms) if (ms := think_ms[name].get(turn)) else None for name in names]
        for turn in range(1, last + 1)
    ]
    return ValueTable(
        "times",
        "Time by turn",
        (ColumnFormat("own turn", str), *(ColumnFormat(plain(name), duration) for name in names)),
        [(turn, *row) for turn, row in enumerate(means, start=1)],
        "The mean of the games that had the turn.",
    )


def faults_sheet(results: Sequence[GameResult]) -> ValueTable | None:
    """Return the games with faults, forfeits or no valid end; None if there are none."""
    odd = [
        result
        for result in results
        if result.forfeit or result.void or any(side.faults for side in result.sides)
    ]
    if not odd:
        return None
    left_out = len(odd) - MOST_FAULTS
    return ValueTable(
        "faults",
        "Faults",
        (
            ColumnFormat("game", str),
            *map(ColumnFormat, ("players", "faults", "outcome", "forfeited by")),
        ),
        [
            (
                result.number,
                f"{result.sides[result.first].name} – {result.sides[1 - result.first].name}",
                "; ".join(
                    f"{side.name}: {tally(Counter(side.faults))}"
                    for side in result.sides
                    if side.faults
                ),
                "void"
                if result.void
                else result.note
                if result.note.startswith(CORRECTED)
                else result.outcome,
                result.sides[1 - result.winner].name
                if result.forfeit and result.winner is not None
                else None,
            )
            for result in odd[:MOST_FAULTS]
        ],
        f"And {counted(left_out, 'game')} more." if left_out > 0 else "",
    )
