"""Tables of matches and tournaments, with names as plain text without control characters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.figures import (
    DASH,
    counted,
    duration,
    fitting,
    number,
    plain,
    plain_text,
    share,
    shortened,
)
from harness.writing import write_file
from lexicons.tables import luck_weights

from .config import TournamentConfig
from .folder import FolderContents, MatchFolder, with_joined
from .luck_correction import CorrectedMatch, corrected
from .luck_correction import rows as luck_rows
from .ratings import PlayerRating, Ratings, rate_results
from .results import GameResult
from .sequential import FEWEST_PAIRS, SequentialTest, TestState, state_of, write_hypothesis
from .significance import FEWEST_UNITS, SIGNIFICANT, Interval
from .standings import Standing, standings, what_is_left
from .statistics import MatchStatistics, as_json_object, match_statistics, rows

WIDTH = 80
"""Columns of the table, if the terminal is wide enough."""
LABELS = 18
"""Columns of its labels."""
NAME_WIDTH = 28
"""Most columns of a name in the table of a tournament."""
MANY_FORFEITS = 0.05
"""Share of the games, beyond which wins say who is ahead, and not spread."""
MOST_CROSSED = 10
"""Most entrants whose results against each other are shown as a square."""
BINS = 24
"""Columns of the histogram, half of them on either side of 0."""
BIN_WIDTHS = (10, 20, 25, 50, 100, 250, 500, 1_000)
BLOCKS = " ▁▂▃▄▅▆▇█"


# --- the table at the end -----------------------------------------------------------------------


def table_text(
    stats: MatchStatistics,
    results: Sequence[GameResult],
    columns: int = WIDTH,
    further: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the result of a match as a table, at most ``WIDTH`` columns wide.

    ``results`` give the histogram; ``further`` rows come last: ``MatchSummary.further_rows``.
    """
    width = max(40, min(columns, WIDTH))
    below = Table.grid(padding=(0, 2))
    below.add_column(width=LABELS)
    below.add_column(overflow="fold")
    *lines, last = verdict(stats)
    for label, figure, rest in lines:
        below.add_row(label, Text(figure + rest))
    if len(spreads := [result.spread for result in results if not result.void]) > 1:
        counts, end = binned(spreads, step := bin_width(spreads)), step * BINS // 2
        bars = "".join(BLOCKS[-(-count * (len(BLOCKS) - 1) // max(counts))] for count in counts)
        bars = f"{bars[: BINS // 2]}│{bars[BINS // 2 :]}"
        below.add_row("games by spread", f"{number(-end, 0)} {bars} {number(end, 0, sign=True)}")
    below.add_row("", Text(last.rest))
    for row in further:
        below.add_row(*row)
    table = Table(box=box.ROUNDED, title=heading(stats), width=width)
    table.add_column("", width=LABELS)
    for side in stats.sides:
        table.add_column(Text(plain(side.name)), justify="right", ratio=1, overflow="fold")
    lost_rate = None if stats.win_rate is None else 1 - stats.win_rate
    won = (
        ("games won", f"{stats.wins:,}", f"{stats.losses:,}"),
        ("win rate", share(stats.win_rate), share(lost_rate)),
        *rows(stats, "scores"),
    )
    for section in (won, rows(stats, "time"), rows(stats, "faults")):
        for cells in section:
            table.add_row(*map(Text, cells))
        table.add_section()
    return plain_text(Group(table, Padding(below, (0, 0, 0, 1))), width)


def test_sentence(test: SequentialTest, state: TestState) -> str:
    """Return what a sequential test has found."""
    accepted = ""
    if state.is_decided:
        h0, h1 = (write_hypothesis(test, mean) for mean in (test.h0, test.h1))
        more = state.verdict == "accepted H1"
        accepted = f", {h1} or more, not {h0}" if more else f", {h0} or less, not {h1}"
    return f"{state.verdict}{accepted}, after {counted(state.pairs, 'pair')}; {_llr(state)}"


def test_progress(state: TestState) -> str:
    """Return how far a sequential test is, in few words."""
    more = f", about {state.further_games:,} more games" if state.further_games else ""
    return f"{_llr(state)}{more}"


def _llr(state: TestState) -> str:
    """Return the log likelihood ratio with its bounds, and whether there are too few pairs."""
    bounds = f"bounds {number(state.lower, 2)} and {number(state.upper, 2)}"
    few = f", at least {FEWEST_PAIRS} pairs" if state.pairs < FEWEST_PAIRS else ""
    return f"LLR {number(state.llr, 2, sign=True)} ({bounds}){few}"


def heading(stats: MatchStatistics) -> str:
    """Return how many games a match had."""
    text = counted(stats.games, "game")
    if stats.paired:
        text += f" in {counted(stats.units, 'pair')}"
    if stats.ties:
        text += f", {stats.ties:,} tied"
    if stats.void:
        text += f", {stats.void:,} void"
    return text


class ReportLine(NamedTuple):
    """A line of what a match has shown: its label, the figure, and what follows it."""

    label: str
    figure: str
    rest: str


def verdict(stats: MatchStatistics) -> list[ReportLine]:
    """Return what a match has shown; the last line is a sentence."""
    can_tell = stats.units >= FEWEST_UNITS
    biased = ", biased" if stats.stopped_early else ""
    elo = _interval(stats.elo_ci95, 0) if can_tell else ""
    spread = number(stats.mean_spread, sign=True, unit=" points")
    lines = [
        ReportLine("spread a game", spread, _interval(stats.spread_ci95, 1) + biased),
        ReportLine("Elo difference", number(stats.elo, 0, sign=True), elo + biased),
    ]
    if can_tell and stats.p_value is not None:
        p = "below 0.001" if stats.p_value < 0.001 else f"{stats.p_value:.2g}"
        lines.append(ReportLine("p-value", "", f"{p}: how often equal players end this far apart"))
    return [*lines, ReportLine("", "", _sentence(stats))]


def _interval(interval: Interval, decimals: int) -> str:
    """Write a 95 % interval, or the one end that is known, to follow its figure."""
    low, high = (None if end is None else number(end, decimals, sign=True) for end in interval)
    if low and high:
        return f"   95 %: {low} to {high}"
    return f"   95 %: above {low}" if low else f"   95 %: below {high}" if high else ""


def _sentence(stats: MatchStatistics) -> str:
    if stats.stopped_early:
        return (
            "The test stopped the match once it had enough. Spread, Elo and their intervals are "
            "exaggerated by that, in favour of what it accepted, and there is no p-value."
        )
    if stats.p_value is None or stats.mean_spread is None:
        return "No game has been played."
    lead, measure, is_luck = stats.mean_spread, "spread", stats.p_value >= SIGNIFICANT
    forfeits = sum(sum(side.forfeits.values()) for side in stats.sides)
    note = f" Forfeits: {forfeits:,}; their spread is at best 0 for who lost." if forfeits else ""
    if forfeits > MANY_FORFEITS * stats.games:
        lead, measure = stats.wins - stats.losses, "wins"
        is_luck = (stats.elo_ci95[0] or 0) <= 0 <= (stats.elo_ci95[1] or 0)
    if not lead:
        return f"Neither side is ahead on {measure}.{note}"
    ahead = f"{plain(stats.sides[lead < 0].name)} is ahead on {measure}"
    if lead * (stats.wins - stats.losses) < 0:
        ahead = f"{ahead}, {plain(stats.sides[lead > 0].name)} on games won"
    if stats.units < FEWEST_UNITS:
        units = "pairs" if stats.paired else "games"
        return f"{ahead}; fewer than {FEWEST_UNITS} {units} can't tell skill from luck.{note}"
    luck = "but luck may explain it" if is_luck else "by more than luck explains"
    return f"{ahead}, {luck}.{note}"


def bin_width(spreads: Sequence[int]) -> int:
    """Return the width of the columns of a histogram of spreads."""
    furthest = max(map(abs, spreads), default=0)
    return next((width for width in BIN_WIDTHS if width * BINS // 2 > furthest), BIN_WIDTHS[-1])


def binned(spreads: Sequence[int], width: int) -> list[int]:
    """Count spreads in ``BINS`` columns about 0; the outermost have everything beyond, too."""
    counts = [0] * BINS
    for spread in spreads:
        counts[min(max(spread // width + BINS // 2, 0), BINS - 1)] += 1
    return counts


# --- the table of a tournament ------------------------------------------------------------------


def standings_table(
    config: TournamentConfig,
    table: Sequence[Standing],
    width: int = WIDTH,
    ratings: Ratings | None = None,
    most: int | None = None,
) -> Table:
    """Return the standings, the leader first: ``most`` rows, and columns as ``width`` allows."""
    columns = [*COLUMNS]
    if ratings is not None:
        rated = {standing.name: standing for standing in ratings.players}
        columns.insert(
            3, StandingsColumn("rating", lambda standing: rated[standing.name], write_rating)
        )
    heads = ["", "name", *(column.head for column in columns)]
    rows = [
        [str(place), shortened(plain(standing.name), NAME_WIDTH)]
        + [column.write(column.value(standing)) for column in columns]
        for place, standing in enumerate(table, start=1)
    ]
    fit = fitting(heads, rows, width - 4, drop=_DROPPED, gap=3)  # without the frame
    games = sum(standing.games for standing in table) // 2
    title = f"{TITLES[config.format]}, {counted(games, 'game')}"
    shown = Table(box=box.ROUNDED, title=Text(title, style="bold"), title_style="", header_style="")
    for at in fit:
        name = heads[at] == "name"
        shown.add_column(heads[at], justify="left" if name else "right", no_wrap=True)
    for row in rows[:most]:
        cells = [Text(row[at], style="bold" if heads[at] == "name" else "") for at in fit]
        shown.add_row(*cells)
    return shown


class StandingsColumn(NamedTuple):
    """A column of the standings."""

    head: str
    value: Callable[[Standing], Any]
    write: Callable[[Any], str]


def points_text(points: float | None) -> str:
    """Write points, a half as ½."""
    if points is None:
        return ""
    whole, half = divmod(round(2 * points), 2)
    if not half:
        return f"{whole:,}"
    return f"{whole:,}½" if whole else "½"


COLUMNS = (
    StandingsColumn("games", lambda of: of.games, lambda games: f"{games:,}"),
    StandingsColumn("points", lambda of: of.points, points_text),
    StandingsColumn("spread", lambda of: of.spread, lambda spread: number(spread, 0, sign=True)),
    StandingsColumn("rate", lambda of: of.rate, share),
    StandingsColumn("mean", lambda of: of.mean_score, number),
    StandingsColumn("bingos", lambda of: of.mean_bingos, lambda bingos: number(bingos, 2)),
    StandingsColumn("a move", lambda of: of.mean_move_ms, duration),
    StandingsColumn(
        "faults", lambda of: of.faults.total(), lambda faults: f"{faults:,}" if faults else ""
    ),
)
_DROPPED = ("faults", "a move", "bingos", "mean", "rate")
"""Columns that are left out, in this order, if there is no room."""
TITLES = {
    "round-robin": "round robin",
    "gauntlet": "gauntlet",
    "swiss": "Swiss",
    "knockout": "knockout",
}


def write_rating(of: PlayerRating) -> str:
    """Write a rating with its error."""
    error = "" if of.error is None else f" ± {number(of.error, 0)}"
    return number(of.rating, 0, sign=True) + error


def standing_notes(table: Sequence[Standing]) -> list[str]:
    """Return who had byes, in how many rounds, and how these count; and who has withdrawn."""
    notes = []
    for result, byes in (("won", "byes"), ("tied", "half_byes")):
        entrants = [
            f"{plain(standing.name)} {rounds}"
            for standing in table
            if (rounds := getattr(standing, byes))
        ]
        if entrants:
            byes_count = f"byes by round, each game of which counts as {result}"
            notes.append(f"{byes_count}: {', '.join(entrants)}")
    if withdrawn := [plain(standing.name) for standing in table if standing.withdrawn]:
        notes.append(f"withdrawn: {', '.join(withdrawn)}")
    return notes


def rating_notes(ratings: Ratings) -> list[str]:
    """Return notes on ratings: their errors, the first move, and who can't be compared."""
    notes = []
    rated = [
        player for player in ratings.players if player.rating is not None and not player.anchored
    ]
    if rated:
        note = f"ratings: Elo, with 95 % intervals from {FEWEST_UNITS} pairs on"
        if all(player.error is None for player in rated):
            note = "ratings: Elo; no intervals"
            if rated[0].units < FEWEST_UNITS:
                note += f": fewer than {FEWEST_UNITS} pairs"
        if ratings.first_move is not None and ratings.first_move_error is not None:
            first = number(ratings.first_move, 0, sign=True)
            note += f"; the first move: {first} ± {number(ratings.first_move_error, 0)}"
        notes.append(note)
    if any(player.rating is None for player in ratings.players):
        notes.append(f"{DASH}: no rating, as wins and losses don't connect the player to others")
    groups: dict[int, list[str]] = {}
    for player in ratings.players:
        if player.games:
            groups.setdefault(player.component, []).append(plain(player.name))
    if len(groups) > 1:
        apart = "; ".join(", ".join(names) for names in groups.values())
        note = "ratings of these groups can't be compared, since they have not met"
        notes.append(f"{note}: {apart}")
    return notes


def cross_table(results: Sequence[GameResult]) -> dict[tuple[str, str], list[float]]:
    """Return the first's points against the second, and their games, by each two names."""
    cells: dict[tuple[str, str], list[float]] = {}
    for result in results:
        if not result.void:
            a, b = (seat.name for seat in result.sides)
            for pair, points in (((a, b), result.points), ((b, a), 1 - result.points)):
                cell = cells.setdefault(pair, [0.0, 0.0])
                cell[0] += points
                cell[1] += 1
    return cells


def _cross_table(table: Sequence[Standing], results: Sequence[GameResult]) -> Table:
    cells = cross_table(results)
    shown = Table(box=box.ROUNDED, header_style="", title=Text("points against each other"))
    shown.add_column("", justify="right")
    shown.add_column("name", overflow="fold")
    for place in range(1, len(table) + 1):
        shown.add_column(str(place), justify="right", no_wrap=True)
    for place, standing in enumerate(table, start=1):
        row = [cells.get((standing.name, other.name)) for other in table]
        texts = [points_text(cell[0]) if cell else "" for cell in row]
        texts[place - 1] = "·"
        shown.add_row(str(place), Text(shortened(plain(standing.name), NAME_WIDTH)), *texts)
    return shown


def _reasons(fresh_draws: Mapping[str, str]) -> str:
    """Write who could remember draws, and how."""
    names: dict[str, list[str]] = {}
    for name, why in fresh_draws.items():
        names.setdefault(why, []).append(plain(name))
    return "; ".join(f"{', '.join(who)} could remember ({why})" for why, who in names.items())


def _note(text: str) -> Padding:
    return Padding(Text(text), (0, 0, 0, 1))


# --- what is told, in all its forms -------------------------------------------------------------


@dataclass(frozen=True)
class MatchSummary:
    """The result of a match so far."""

    results: list[GameResult]
    stats: MatchStatistics
    less_luck: CorrectedMatch | None
    """None: no luck was measured."""
    test: SequentialTest | None
    state: TestState | None
    """Of the test."""
    fresh_draws: dict[str, str]
    """Why pairs share no draws: players, and how each could remember them."""

    def further_rows(self) -> list[tuple[str, str]]:
        """Return rows beyond the result: less luck, draws that differ, a sequential test."""
        shown = luck_rows(self.less_luck) if self.less_luck else []
        if self.fresh_draws:
            shown.append(("draws", f"new in each game; {_reasons(self.fresh_draws)}"))
        if self.test is not None and self.state is not None:
            shown.append(("sequential test", test_sentence(self.test, self.state)))
        return shown

    def text(self, columns: int = WIDTH) -> str:
        """Return a table as text."""
        return table_text(self.stats, self.results, columns, self.further_rows())

    def as_object(self) -> dict[str, Any]:
        """Return a JSON object."""
        test = {"test": vars(self.test) | vars(self.state)} if self.test and self.state else {}
        luck = {} if self.less_luck is None else {"luck": asdict(self.less_luck)}
        fresh = {"fresh_draws": self.fresh_draws} if self.fresh_draws else {}
        return as_json_object(self.stats) | test | luck | fresh


@dataclass(frozen=True)
class TournamentSummary:
    """The standings of a tournament so far."""

    config: TournamentConfig
    results: list[GameResult]
    games: int
    """Those that count."""
    table: list[Standing]
    ratings: Ratings
    fresh_draws: dict[str, str]
    """Players whose games share no draws, and how each could remember them."""
    left: str
    """How far it is, if it is not over."""

    def text(self, columns: int = WIDTH) -> str:
        """Return the standings with ratings, and points against each other, as text."""
        width = max(columns, 40)
        notes = standing_notes(self.table) + [self.left] * bool(self.left)
        if self.fresh_draws:
            notes.append(f"draws are new in some games; {_reasons(self.fresh_draws)}")
        is_crossed = len(self.table) <= MOST_CROSSED and self.config.format != "knockout"
        parts: list[RenderableType] = [
            standings_table(self.config, self.table, width, self.ratings),
            *map(_note, rating_notes(self.ratings)),
            *([_cross_table(self.table, self.results)] if is_crossed else []),
            *map(_note, notes),
        ]
        return plain_text(Group(*parts), width)

    def as_object(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "format": self.config.format,
            "games": self.games,
            "void": len(self.results) - self.games,
            **({"fresh_draws": self.fresh_draws} if self.fresh_draws else {}),
            "standings": [row.as_object() for row in self.table],
            "cross": [
                {"name": a, "against": b, "points": points, "games": int(games)}
                for (a, b), (points, games) in cross_table(self.results).items()
            ],
            "ratings": {
                "first_move": self.ratings.first_move,
                "first_move_error": self.ratings.first_move_error,
                "players": [asdict(row) for row in self.ratings.players],
                "superiority": self.ratings.superiority,
            },
        }


Summary: TypeAlias = MatchSummary | TournamentSummary


def summarize(config: TournamentConfig, files: FolderContents) -> Summary:
    """Work out the result of a match or tournament so far."""
    config, results = with_joined(config, files.decisions), files.counting()
    fresh = config.fresh_draws()
    if not config.is_match:
        table = standings(config, files)
        names = [standing.name for standing in sorted(table, key=lambda standing: standing.entrant)]
        ratings = rate_results(results, names, dict(config.anchors))
        fresh = {name: why for name, why in fresh.items() if name in names}
        left = what_is_left(config, files)
        return TournamentSummary(config, results, len(files.counted), table, ratings, fresh, left)
    less_luck = None
    if files.lucks:
        lucks = [files.lucks.get(result.game) for result in results]
        less_luck = corrected(results, lucks, luck_weights())
    state = None if config.test is None else state_of(config.test, results)
    stopped = state is not None and state.is_decided
    stats = match_statistics(results, (config.names[0], config.names[1]), stopped_early=stopped)
    return MatchSummary(results, stats, less_luck, config.test, state, fresh)


def write_summary(config: TournamentConfig, files: MatchFolder) -> Summary:
    """Write ``summary.json`` and ``summary.txt`` of the games so far; return what they tell.

    Each is replaced atomically.
    """
    summary = summarize(config, files)
    as_json = json.dumps(summary.as_object(), indent=2, ensure_ascii=False)
    for name, text in (("summary.json", f"{as_json}\n"), ("summary.txt", summary.text())):
        write_file(files.path / name, text)
    return summary
