"""``experiment calibration``: beliefs about leaves, and the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from harness import figures
from harness.cli.failing import CommandFailed
from harness.cli.options import check_counts, say
from harness.cli.study_run import StudyRun, draw, sentences

if TYPE_CHECKING:
    from harness.lab.rows import Tables

__all__ = ["calibration"]


def calibration(
    *,
    positions: int = 3_000,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    seat: str = "sim?time=150ms",
    racks: int = 200_000,
    doubt: float = 0.0,
    plot: Path | None = None,
    run: StudyRun | None = None,
) -> None:
    """Compare what is believed of an opponent's leaves with what it really kept.

    Losses are mean log-losses of the true leave for each of its tiles, in nats, of four beliefs:
    the prior; the paper's (the last play, deterministic, doubted by 2 % as the next two are);
    the last play with a style that is learnt; and the whole game. Chances of tiles are sorted into
    ten bins.

    Args:
        positions: How many, or more: games are whole.
        from_: A file of games between two such players, which then are not played: of this
            command, or in its form. Their seed is that of the file.
        seat: Who plays both sides.
        racks: How many are looked at for a turn, at most; 200,000 leave out none that leaves up to
            five tiles.
        doubt: Each belief but the prior is doubted at least this much, from 0 to 1; simulations
            doubt by 0.1.
        plot: A picture (PNG).
        run: With what.
    """
    run = run or StudyRun()
    check_counts(positions=positions, racks=racks)
    if not 0 <= doubt <= 1:
        raise CommandFailed(f"--doubt {doubt}: it is a share, from 0 to 1")
    from harness.lab.studies.calibration import Calibration
    from harness.lab.studies.duel import Games
    from harness.lab.studies.replayed_beliefs import read_games

    field, seats, seed = run.field(), (seat, seat), run.seed
    given = None
    if from_ is not None:
        with sentences("--from", from_):
            given = read_games(from_, field.lexicon, seats)
        seed = given.seed
    games = Games(seats, field, seed, run.leaves is None)
    rows = run.work(
        [Calibration(games, racks, doubt, given)],
        positions,
        draw=lambda rows: _draw(rows, plot),
    )
    if (there := rows["losses"][0].positions) < positions:
        say(f"the games of --from have {figures.counted(there, 'position')}, and no more")


def _draw(rows: Tables, plot: Path | None) -> None:
    from harness.lab.studies.calibration_plot import draw_calibration

    draw(plot, lambda path: draw_calibration(rows["losses"], rows["bins"], path))
