"""The contents of a report on a match or tournament, as values: its tables, faults and games.

All is read from its folder, to which a running event may still write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from harness.arbiter.journal_reading import read_games
from harness.figures import DASH, counted, duration, plain
from harness.matches.config import TournamentConfig, read_config
from harness.matches.folder import FolderContents, with_joined
from harness.matches.report import TITLES, MatchSummary, heading, summarize, verdict
from harness.matches.standings import standings
from harness.matches.statistics import rows

from . import tables
from .games import MOST_GAMES, EventGames
from .tables import ValueTable

MOST_TRANSCRIPTS = 50
MOST_OF_A_TRANSCRIPT = 6_000
"""Characters; the middle of a longer transcript is left out."""


class Transcript(NamedTuple):
    """What was kept of a game in which something went wrong."""

    file: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """What a match has shown, beyond the tables of any event."""

    summary: str
    lines: list[tuple[str, str]]
    names: tuple[str, str]
    sides: list[tuple[str, str, str]]
    """Rows of statistics: a label, and a text for each side."""
    values: dict[str, Any]
    """As in its ``summary.json``."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """A match or tournament, as it is reported."""

    title: str
    summary: str
    settings: list[tuple[str, str]]
    match: Verdict | None
    """None for a tournament."""
    standings: ValueTable
    rounds: ValueTable | None
    cross: ValueTable | None
    ratings: ValueTable | None
    superiority: ValueTable | None
    spreads: ValueTable
    """A row per bin, a column per player; ``times`` likewise, with a row per turn."""
    scores: ValueTable
    times: ValueTable | None
    faults: ValueTable | None
    transcripts: list[Transcript]
    transcripts_note: str
    games: dict[str, Any]
    """``EventGames.values``."""
    games_note: str

    @property
    def sheets(self) -> list[ValueTable]:
        """All tables, in their order."""
        ratings = None if self.ratings is None else self.ratings.without_empty()
        strength = self.standings, self.rounds, self.cross, ratings, self.superiority
        play = self.spreads, self.scores, self.times, self.faults
        return [part for part in (*strength, *play) if part is not None]


def read_event(folder: Path) -> Event:
    """Read a match or tournament.

    Raises:
        MatchError: the folder holds no match or tournament.
        JournalError, ValueError, OSError: a file can't be read, or no game is over.
    """
    config = read_config(folder)
    files = FolderContents(folder)
    config, results = with_joined(config, files.decisions), files.counting()
    counting = sorted((it for it in results if not it.void), key=lambda it: it.number)
    if not counting:
        raise ValueError(f"no game in {folder} is over; there is nothing to report yet")
    table = standings(config, files)
    names = [of.name for of in table]
    told = summarize(config, files)
    match = _verdict(told) if isinstance(told, MatchSummary) else None
    ratings = None if isinstance(told, MatchSummary) else told.ratings
    played = [it for it in counting if it.was_played]
    journal = folder / "match.db"
    games = EventGames(names, counting, read_games(journal) if journal.exists() else ())
    faults = sorted((folder / "games").glob("*.faults.txt"))
    transcripts, half = [], MOST_OF_A_TRANSCRIPT // 2
    for file in faults[:MOST_TRANSCRIPTS]:
        lines = file.read_text("utf-8", "replace").splitlines()
        text = "\n".join(plain(line.expandtabs()) for line in lines)
        if (left_out := len(text) - 2 * half) > 0:
            text = f"{text[:half]}\n… {left_out:,} characters …\n{text[-half:]}"
        transcripts.append(Transcript(plain(file.name), text))
    more = len(faults) - len(transcripts)
    title, void = " against ".join(map(plain, config.names)), len(results) - len(counting)
    if not config.is_match:
        kind = TITLES[config.format]
        title = f"{kind[0].upper()}{kind[1:]} of {counted(len(names), 'player')}"
    summary = counted(len(counting), "game") + (f", {void:,} void" if void else "")
    if not isinstance(told, MatchSummary) and told.left:
        summary += f", {told.left}"
    summary += f". {plain(names[0])} is first."
    shown, games_note = len(games.values["games"]), ""
    if not shown:
        games_note = "The games are in the journal (match.db), which is not here."
    elif shown < len(counting):
        why = "the others were not played"
        if len(counting) > MOST_GAMES:
            why = f"the first and the last of each pairing, at most {MOST_GAMES:,} games"
        games_note = f"{shown:,} of {len(counting):,} games: {why}."
    return Event(
        title=title,
        summary=match.summary if match else summary,
        settings=_settings(config, games.began),
        match=match,
        standings=tables.standings_sheet(table),
        rounds=None if match else tables.rounds_sheet(config, files, results),
        cross=None if match else tables.cross_sheet(config, names, results),
        ratings=None if ratings is None else tables.ratings_sheet(ratings),
        superiority=None if ratings is None else tables.superiority_sheet(ratings),
        spreads=tables.spreads_sheet(names, played),
        scores=tables.scores_sheet(names, played),
        times=tables.times_sheet(names, games.think_ms),
        faults=tables.faults_sheet(results),
        transcripts=transcripts,
        transcripts_note=f"{more:,} more in games/*.faults.txt." if more else "",
        games=games.values,
        games_note=games_note,
    )


def _verdict(match: MatchSummary) -> Verdict:
    stats = match.stats
    a, b = stats.sides
    *lines, last = verdict(stats)
    shown = [(of.label, ", ".join(filter(None, (of.figure, of.rest.strip())))) for of in lines]
    return Verdict(
        summary=f"{heading(stats)}. {last.rest}",
        lines=shown + match.further_rows(),
        names=(plain(a.name), plain(b.name)),
        sides=[*rows(stats, "scores"), *rows(stats, "time"), *rows(stats, "faults")],
        values=match.as_object(),
    )


def _settings(config: TournamentConfig, began: Sequence[float]) -> list[tuple[str, str]]:
    time = config.time
    clock = duration(time.initial_ms)
    if time.increment_ms:
        clock += f", and {duration(time.increment_ms)} a move"
    if time.max_overtime_ms:
        clock += f"; overtime {time.overtime_penalty} points a minute"
        clock += f", at most {duration(time.max_overtime_ms)}"
    if time.move_cap_ms is not None:
        clock += f"; at most {duration(time.move_cap_ms)} a move"
    games = config.games * (1 if config.format == "swiss" else config.rounds)
    said = [
        ("games", f"{games:,}" + " a pairing" * (not config.is_match)),
        ("clocks", clock),
        ("words", plain(config.lexicon)),
        ("seed", DASH if config.seed is None else str(config.seed)),
    ]
    if began:
        first, last = (datetime.fromtimestamp(of(began), UTC) for of in (min, max))
        said.append(("started", f"{first:%Y-%m-%d %H:%M} UTC, the last game {last:%Y-%m-%d %H:%M}"))
    for at, (name, seat) in enumerate(zip(config.names, config.seats, strict=True), start=1):
        said.append((f"seat {at}", plain(name if name == seat else f"{name}: {seat}")))
    said += [("moved", plain(sentence)) for sentence in config.moved]
    return said
