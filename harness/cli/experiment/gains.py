"""``experiment gains``: where guessing the opponent's rack pays."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from harness import figures
from harness.cli.failing import CommandFailed
from harness.cli.field import load_chances, load_field
from harness.cli.long_runs import (
    sentences,
    show_rows,
    stranger_checksum,
    with_error,
    work_through,
)
from harness.cli.options import JsonOption, LexiconOption, check_counts, load_words, say

if TYPE_CHECKING:
    from harness.lab.studies.gains import GainRow, Gains

__all__ = ["gains"]


def gains(
    *,
    from_: Annotated[Path, Parameter(name="--from")],
    out: Path,
    seat: str = "sim?time=150ms",
    games: int = 150,
    rollouts: int = 2_000,
    truth: int = 2_000,
    racks: int = 20_000,
    workers: int = 1,
    lexicon: LexiconOption = "scowl",
    plot: Path | None = None,
    json_: JsonOption = False,
) -> None:
    """See in finished games where guessing the opponent's rack pays.

    Each turn after a play of the opponent is decided again: without a belief; by what all his plays
    tell (infer); by what the last one tells, as in Richards and Amir (2007) (last); with what he
    kept in sight (leave), and with his rack (full-knowledge). Where they choose differently, their
    moves are rolled out at length against the rack that he had, and held against that of the first.

    Args:
        from_: A file of games between two such players: of calibration, or in its form. Of two with
            the same draws only the first is taken.
        out: Where results are kept, a line of JSON a game; the same command goes on with it.
        seat: Who played both sides.
        games: How many.
        rollouts: By which a turn is decided, all moves together.
        truth: Rollouts of each move that is held against another.
        racks: So many are looked at for a turn of the opponent, at most.
        workers: How many games at once, each in a process.
        lexicon: An embedded lexicon, or a word list or KWG file.
        plot: A picture (PNG).
        json_: Print JSON, a list of rows.
    """
    check_counts(games=games, rollouts=rollouts, truth=truth, racks=racks, workers=workers)
    from harness.lab.studies.gains import gain_rows, gains_in

    asked = _asked(from_, lexicon, seat, (racks, rollouts, truth))
    there = asked.pairs()
    if not there:
        raise CommandFailed(f"{from_} lacks game 0 of {seat} – {seat}; let it be played first")
    if there < games:
        say(f"{from_} has {figures.counted(there, 'game')} that began a pair, and no more")

    def show(records: Sequence[dict[str, Any]]) -> None:
        rows = gain_rows(records)
        show_rows(rows, _HEADINGS, _row, json_)
        if plot is not None:
            _draw(rows, plot)

    work_through(
        out,
        _settings(asked),
        min(games, there),
        gains_in,
        asked,
        show,
        workers=workers,
        what="games",
    )


def _asked(path: Path, lexicon: str, seat: str, counts: tuple[int, int, int]) -> Gains:
    """Load what is worked with, or fail with a sentence."""
    from harness.lab.studies.gains import Gains
    from harness.lab.studies.games import Meeting
    from harness.lab.studies.replayed_beliefs import read_games

    field = load_field(load_words(lexicon))
    chances = load_chances(field, None)
    if chances is None:
        raise CommandFailed(f"no win probabilities are known for {field.rules.distribution.name}")
    with sentences("--from", path):
        found = read_games(path, field.lexicon, (seat, seat))
    meeting = Meeting((seat, seat), field.lexicon, field.rules, found.seed)
    return Gains(meeting, found, chances, *counts)


def _settings(asked: Gains) -> dict[str, object]:
    """Say what a file of results is of; what strangers are taken for is a part of it.

    Players with a clock play other games with the same seed, so the first game is a part of it too.
    """
    first = asked.games.records[0]
    return {
        "experiment": "gains",
        "lexicon": asked.meeting.lexicon.checksum,
        "seed": asked.games.seed,
        "players": asked.meeting.seats,
        "first": hashlib.sha256(" ".join(first["moves"]).encode()).hexdigest()[:16],
        "racks": asked.racks,
        "rollouts": asked.rollouts,
        "truth": asked.truth,
        "stranger": stranger_checksum(),
    }


# --- what is told ---------------------------------------------------------------------------------

_HEADINGS = (
    "player",
    "turns",
    "count",
    "other moves",
    "points a turn (95 %)",
    "wins a turn (95 %)",
    "points a game",
)


def _row(row: GainRow) -> tuple[str, ...]:
    return (
        row.player,
        row.turns,
        f"{row.count:,}",
        figures.share(row.differs),
        with_error(row.points, row.points_error, 2, sign=True),
        with_error(row.win, row.win_error, 2, times=100, sign=True, unit=" %"),
        figures.number(row.points_a_game, 2, sign=True),
    )


def _draw(rows: Sequence[GainRow], path: Path) -> None:
    from harness.lab.studies.plots import draw_gains

    with sentences("--plot", path):
        draw_gains(rows, path)
