"""The reviews of many games: each turn's grade and cost, and what they come to by player.

The unit is a game, known by its content, so the records go on to hold when files are renamed or
more are added. Phonies, forced turns and costs that are unknown or not proven count in no figure.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from markupsafe import Markup

from bot.search.analysis.findings import Findings, SearchTools
from bot.search.analysis.over_racks import OverRacks
from engine.notation.move_text import format_full_move
from engine.rules.position import bag_count
from engine.rules.rules import Rules
from harness.analysis.review import ReviewedTurn, review
from harness.analysis.verdict import GRADED, GRADES, MISTAKES, grade, is_bingo
from harness.figures import counted
from harness.lab.rows import Column, Tables, cells, percent
from harness.lab.study import Record, Study
from harness.lab.study_context import rules_mark
from harness.matches.event_report.formats import page
from harness.matches.event_report.tables import ColumnFormat, ValueTable
from harness.matches.significance import mean_and_error
from lexicons.tables import win_probabilities_for

PHASES: Final = {"endgame": 0, "pre-endgame": 7, "midgame": 64, "opening": 1_000}
"""Phases of a game, each with the most tiles in the bag before a turn."""
UNRECORDED = "racks not recorded"
_MOST_COSTLY = 20
_SETTINGS = ("candidates", "plies", "seed", "seconds", "rollouts")
_BAGS = ", ".join(f"{name} {most}" for name, most in [*PHASES.items()][:-1])
TABLES: Final = {
    "players": (
        "Players",
        "Lost a turn: the mean chance to win lost against the best move, the index of a player, "
        "± 95 % over games; points: the same in points; missed: bingos that were the best. "
        f"Grades, {GRADED}.",
    ),
    "phases": (
        "Phases",
        f"By tiles in the bag before the turn: {_BAGS} at most, opening more.",
    ),
    "costliest": ("Costliest turns", "tilewire analyze FILE@LINE looks at a turn for longer."),
}
"""Titles of tables, and what they mean."""


@dataclass(frozen=True)
class PlayerRow:
    """Some turns of a player; errors are half the width of 95 % intervals over games."""

    label: Annotated[str, Column("player")]
    player: str
    part: str
    """``UNRECORDED``; of the other turns a phase, or empty for all."""
    games: Annotated[int, Column("games")]
    turns: Annotated[int, Column("turns")]
    lost: Annotated[float | None, percent("lost a turn", error="error", decimals=2)]
    """Mean chance to win lost a turn, the player's index."""
    error: float | None
    points: Annotated[float | None, Column("points", error="points_error")]
    """Mean points lost a turn."""
    points_error: float | None
    grades: Annotated[Mapping[str, int | None], Column("")]
    """Turns by grade; None if racks are not recorded."""
    bingos: Annotated[int | None, Column("bingos")]
    missed: Annotated[int | None, Column("missed")]
    """Turns whose best move was a bingo, and another, clearly worse, was played."""


@dataclass(frozen=True)
class TurnRow:
    """A turn, and what it cost."""

    turn: Annotated[str, Column("turn")]
    """The file and its line, as ``tilewire analyze`` takes it."""
    file: str
    line: int
    seat: int
    player: Annotated[str, Column("player")]
    phase: str
    played: Annotated[str | None, Column("played")]
    best: Annotated[str, Column("best")]
    """If the rack is not recorded, in how many of the racks that it may have been it was played."""
    lost: Annotated[float | None, percent("lost")]
    """None if the turn counts in no figure."""
    points: Annotated[float | None, Column("points")]
    grade: Annotated[str, Column("grade")] = ""
    bingo: bool = False
    missed: bool = False
    racks: int = 0
    """Racks over which the cost is an average; 0 if the rack is recorded."""


class GivenGame(NamedTuple):
    """A game to review."""

    file: str
    players: tuple[str, ...]
    """By seat."""
    turns: Sequence[ReviewedTurn]
    notices: int
    """Of what was not taken as it is written."""


@dataclass(frozen=True)
class Reviews(Study):
    """Games to review, and how."""

    unit = "games"

    analysis: SearchTools
    games: Mapping[int, GivenGame]
    """By a number that tells their content."""

    def settings(self) -> dict[str, object]:
        """Return what decides the findings."""
        own, resources = self.analysis, self.analysis.resources
        chances = resources.win_probabilities or win_probabilities_for(own.rules.distribution)
        return {
            "experiment": "reviews",
            "rules": rules_mark(own.rules),
            "lexicon": resources.lexicon.checksum,
            "leaves": own.leaves.checksum,
            "winprob": hashlib.sha256(chances.values.tobytes()).hexdigest()[:16],
            **{name: getattr(own, name) for name in _SETTINGS},
        }

    def numbers(self, count: int) -> Iterable[int]:
        """Return the games' numbers, in the order of their files."""
        return self.games

    def record(self, number: int) -> Record:
        """Review a game."""
        reviewed = review(self.analysis, self.games[number].turns, lambda: False)
        turns = [_turn(turn, each, self.analysis.rules) for turn, each in reviewed if each]
        return {"number": number, "turns": turns}

    def summary(self, records: Sequence[Record]) -> Tables:
        """Return the players, by parts of their turns, and the costliest turns of all."""
        turns = [turn for turn in self.every_turn(records) if turn.lost is not None]
        parts: dict[tuple[str, str], list[TurnRow]] = defaultdict(list)
        for turn in turns:
            for part in (UNRECORDED,) if turn.racks else ("", turn.phase):
                parts[part, turn.player].append(turn)
        rows = [_player(*key, own) for key, own in parts.items()]
        rows.sort(key=lambda row: (-PHASES.get(row.part, 0), row.part, row.lost or 0, row.player))
        costly = [turn for turn in turns if turn.grade in MISTAKES]
        costly.sort(key=lambda turn: (-(turn.lost or 0), turn.file, turn.line))
        return {
            "players": [row for row in rows if row.part not in PHASES],
            "phases": [row for row in rows if row.part in PHASES],
            "costliest": costly[:_MOST_COSTLY],
        }

    def every_turn(self, records: Sequence[Record]) -> list[TurnRow]:
        """Return the turns of games, in the order of their files."""
        of_game = {record["number"]: record["turns"] for record in records}
        return [
            TurnRow(f"{file}@{turn['line']}", file, player=players[turn["seat"]], **turn)
            for number, (file, players, *_) in self.games.items()
            for turn in of_game.get(number, ())
        ]


def _turn(turn: ReviewedTurn, findings: Findings | OverRacks, rules: Rules) -> Record:
    """Return the fields of a ``TurnRow`` that go by the turn alone."""
    position, alphabet, cost = turn.position, rules.distribution.alphabet, None
    bag = bag_count(position.with_rack(position.on_turn, ()), rules)
    row: Record = {
        "line": turn.line,
        "seat": position.on_turn,
        "phase": next(phase for phase, most in PHASES.items() if bag <= most),
        "played": turn.played and format_full_move(turn.played, position.board, alphabet),
    }
    if isinstance(findings, OverRacks):
        row["racks"] = len(findings.each)
        row["best"] = f"✓ {findings.best_in}/{len(findings.each)}"
        cost = findings.cost if findings.is_known else None
    else:
        best, played, row["grade"] = findings.best, findings.played, grade(findings) or ""
        row["best"] = format_full_move(best.move, position.board, alphabet)
        row["bingo"] = played is not None and is_bingo(played, position, rules)
        is_mistake = row["grade"] in MISTAKES and not row["bingo"]
        row["missed"] = is_mistake and is_bingo(best, position, rules)
        cost = findings.ahead_of(played.move) if played and row["grade"] else None
    return row | {"lost": cost and cost.win, "points": cost and cost.equity}


def _player(part: str, player: str, turns: Sequence[TurnRow]) -> PlayerRow:
    files, game_of = np.unique([turn.file for turn in turns], return_inverse=True)
    graded = part != UNRECORDED or None
    return PlayerRow(
        f"{player}, {part}" if part else player,
        player,
        part,
        len(files),
        len(turns),
        *mean_and_error(np.array([turn.lost for turn in turns], np.float64), game_of),
        *mean_and_error(np.array([turn.points for turn in turns], np.float64), game_of),
        {size: graded and sum(turn.grade == size for turn in turns) for size in ("best", *GRADES)},
        graded and sum(turn.bingo for turn in turns),
        graded and sum(turn.missed for turn in turns),
    )


def as_html(study: Reviews, records: Sequence[Record], notes: Sequence[str]) -> str:
    """Return a page that needs no other file."""
    tables, turns = dict(study.summary(records)), study.every_turn(records)
    places = {turn.turn: place for place, turn in enumerate(turns)}
    link, target = Markup('<a href="#t{}">{}</a>'), Markup('<span id="t{}">{}</span>')
    tables["costliest"] = [
        replace(row, turn=link.format(places[row.turn], row.turn)) for row in tables["costliest"]
    ]
    games: dict[str, list[TurnRow]] = defaultdict(list)
    for row in turns:
        mark = Markup("<strong>{}</strong>" if row.grade in MISTAKES else "{}").format(row.grade)
        here = target.format(places[row.turn], row.line)
        games[row.file].append(replace(row, turn=here, grade=mark))
    counts = {game.file: game.notices for game in study.games.values()}
    notes_of = {file: f"Notices: {count}." if count else "" for file, count in counts.items()}
    size = f"{counted(len(games), 'game')}, {counted(len(turns), 'turn')}"
    return page(
        "lab/studies/reviews.html",
        event={"title": "Review of games", "summary": size},
        sheets=[_sheet(key, *TABLES[key], rows) for key, rows in tables.items() if rows],
        games=[_sheet("turns", file, notes_of[file], rows) for file, rows in games.items()],
        notes=notes,
        charts={},
    )


def _sheet(key: str, title: str, note: str, rows: Sequence[Any]) -> ValueTable:
    lines = [[*cells(row)] for row in rows]
    heads = tuple(ColumnFormat(head, Markup.escape) for head, _ in lines[0])
    return ValueTable(key, title, heads, [tuple(text for _, text in line) for line in lines], note)
