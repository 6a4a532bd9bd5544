"""``experiment calibration``: beliefs of leaves, and the truth."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from harness import figures
from harness.cli.failing import CommandFailed
from harness.cli.field import load_field
from harness.cli.long_runs import (
    going_on,
    sentences,
    stranger_checksum,
    telling,
    with_error,
)
from harness.cli.options import JsonOption, LexiconOption, check_counts, load_words, say

if TYPE_CHECKING:
    from harness.lab.studies.calibration import BinRow, Calibration, LossRow
    from harness.lab.studies.games import Meeting
    from harness.lab.studies.record_file import Lines
    from harness.lab.studies.replayed_beliefs import Games

__all__ = ["calibration"]

_SEAT = "sim?time=150ms"


@Parameter(name="*")
@dataclass(frozen=True)
class _Watching:
    """What is played and watched with, and how it is shown."""

    lexicon: LexiconOption = "scowl"
    """An embedded lexicon, or a word list or KWG file."""
    racks: int = 200_000
    """So many are looked at for a turn, at most; with 200,000 none that leaves up to five tiles is
    left out."""
    workers: int = 1
    """How many games at once, each in a process."""
    seed: int = 0
    """For the bags and all else that chance does."""
    json_: JsonOption = False
    """Print one JSON object."""

    def meeting(self, seats: tuple[str, str]) -> Meeting:
        """Say who plays with what, or fail with a sentence."""
        from bot.registry import create_player, load_factory
        from bot.seat_text import parse_seat
        from harness.lab.studies.games import Meeting

        check_counts(racks=self.racks, workers=self.workers)
        field = load_field(load_words(self.lexicon))
        try:
            for seat in seats:
                create_player(parse_seat(seat), load_factory(parse_seat(seat)))
        except ValueError as error:
            raise CommandFailed(str(error)) from None
        return Meeting(seats, field.lexicon, field.rules, self.seed)

    def settings(self, experiment: str, meeting: Meeting, seed: int) -> dict[str, Any]:
        """Say what a file of results is of; what strangers are taken for is a part of it."""
        return {
            "experiment": experiment,
            "lexicon": meeting.lexicon.checksum,
            "seed": seed,
            "racks": self.racks,
            "stranger": stranger_checksum(),
        }


def calibration(
    *,
    out: Path,
    positions: int = 3_000,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    seat: str = _SEAT,
    doubt: float = 0.0,
    plot: Path | None = None,
    watching: _Watching | None = None,
) -> None:
    """Hold what is believed of an opponent's leaves against what he really kept.

    Losses are mean log-losses of the true leave for each of its tiles, in nats, of four beliefs:
    the prior; the paper's (the last play, deterministic, doubted by 2 % as the next two are);
    the last play with a style that is learnt; and the whole game. Chances of tiles are sorted into
    ten bins.

    Args:
        out: Where games and results are kept, a line of JSON a game; the same command goes on with
            it.
        positions: How many, or more: games are whole.
        from_: A file of games between two such players, which then are not played: of this
            command, or in its form. Their seed is that of the file.
        seat: Who plays both sides.
        doubt: Each belief but the prior is doubted at least so much, from 0 to 1; simulations
            doubt by 0.1.
        plot: A picture (PNG).
        watching: With what.
    """
    watching = watching or _Watching()
    check_counts(positions=positions)
    if not 0 <= doubt <= 1:
        raise CommandFailed(f"--doubt {doubt}: it is a share, from 0 to 1")
    from harness.lab.studies.calibration import Calibration, bin_rows, loss_rows
    from harness.lab.studies.record_file import open_lines

    meeting = watching.meeting((seat, seat))
    asked = Calibration(meeting, _given_games(from_, meeting), watching.racks)
    seed = meeting.seed if asked.games is None else asked.games.seed
    settings = watching.settings("calibration", meeting, seed)
    with going_on(out), open_lines(out, settings) as lines:
        records = _calibrate(asked, lines.of(players=[seat, seat]), positions, watching.workers)
    losses, bins = loss_rows(records, doubt), bin_rows(records, doubt)
    if plot is not None:
        _draw(losses, bins, plot)
    if watching.json_:
        rows = {
            "losses": [dataclasses.asdict(row) for row in losses],
            "bins": [dataclasses.asdict(row) for row in bins],
        }
        print(json.dumps(rows, ensure_ascii=False))
    else:
        print(figures.table(_LOSSES, list(map(_loss_row, losses))), end="\n\n")
        print(figures.table(_BINS, list(map(_bin_row, bins))))


def _given_games(path: Path | None, meeting: Meeting) -> Games | None:
    from harness.lab.studies.replayed_beliefs import read_games

    if path is None:
        return None
    with sentences("--from", path):
        return read_games(path, meeting.lexicon, meeting.seats)


def _calibrate(
    asked: Calibration, lines: Lines, positions: int, workers: int
) -> list[dict[str, Any]]:
    from harness.lab.studies.calibration import calibrate
    from harness.lab.workers import open_crew

    with open_crew(workers, tell=say) as crew:
        records = calibrate(asked, lines, positions, crew, telling(positions, "positions"))
    there = sum(len(one["seen"]) for one in records)
    if there < positions:
        say(f"the games of --from have {figures.counted(there, 'position')}, and no more")
    return records


def _draw(losses: Sequence[LossRow], bins: Sequence[BinRow], path: Path) -> None:
    from harness.lab.studies.calibration_plot import draw_calibration

    with sentences("--plot", path):
        draw_calibration(losses, bins, path)


# --- what is told ---------------------------------------------------------------------------------

_LOSSES = ("belief", "leaves", "positions", "nats a tile (95 %)", "less", "by (95 %)")
_BINS = ("belief", "tiles on", "chances", "predicted", "observed", "observed less (95 %)")


def _loss_row(row: LossRow) -> tuple[str, ...]:
    return (
        row.belief,
        row.leaves,
        f"{row.positions:,}",
        with_error(row.loss, row.error, 3),
        row.against or figures.DASH,
        with_error(row.difference, row.difference_error, 4),
    )


def _bin_row(row: BinRow) -> tuple[str, ...]:
    return (
        row.belief,
        row.of,
        f"{row.cases:,}",
        figures.share(row.predicted),
        figures.share(row.observed),
        with_error(row.difference, row.error, 2, times=100),
    )
