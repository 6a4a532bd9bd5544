"""``experiment duel``, ``cs221`` and ``richards-amir``: players against each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from harness.cli.failing import CommandFailed
from harness.cli.field import load_field
from harness.cli.options import Duration
from harness.cli.study_run import StudyRun, draw, sentences, show_rows

from .engine_table import AgainstEngine

if TYPE_CHECKING:
    from harness.lab.rows import Tables
    from harness.lab.studies.duel import Judge
    from harness.lab.study_context import Field

__all__ = ["cs221", "duel", "richards_amir"]

_KERNEL_GAMES = 40_000
_GAMES = 400


def duel(
    player: str,
    opponent: str,
    /,
    *,
    games: int | None = None,
    plot: Path | None = None,
    run: StudyRun | None = None,
) -> None:
    """Play one player against another, in pairs of games with the same draws.

    Simple players meet in kernels, thousands of games a second: greedy, vanilla, rh, static, and
    leave tables that static plays by. All others meet turn by turn, without clocks.

    Args:
        player: A seat, or a leave table: trained, formula, or a file (KLV2).
        opponent: The same.
        games: How many. [default: 400; in kernels 40,000]
        plot: Draw by how much the player is ahead into this file (PNG).
        run: With what.
    """
    run = run or StudyRun()
    from harness.lab.studies.duel import JUDGES, Games, play_duel

    names = player, opponent
    tables = [name for name in names if _is_leave_table(name)]
    if not tables and (run.out is not None or not set(names) <= set(JUDGES)):
        study = Games(names, run.field(), run.seed, run.leaves is None)
        run.work([study], games or _GAMES, draw=lambda rows: _draw(plot, rows))
        return
    if run.out is not None or run.cluster is not None:
        raise CommandFailed(
            f"{tables[0]} is a leave table, whose games are played in kernels here and not kept; "
            "leave --out and --cluster out"
        )
    field = run.field()
    with sentences("--plot", plot):
        judges = _judge(player, field), _judge(opponent, field)
        number = _KERNEL_GAMES if games is None else games
        row = play_duel(names, judges, field, number, threads=run.workers, seed=run.seed)
    show_rows({"duels": [row]}, run.json_)
    _draw(plot, {"duels": [row]})


def cs221(
    *,
    games: int = 300,
    against: AgainstEngine | None = None,
    run: StudyRun | None = None,
) -> None:
    """Play the tables of CS221 (Stanford 2016): simple players, and those that sample.

    Static, rh and vanilla play each other in kernels; vanilla, rh, mc and mc+rh each play vanilla
    turn by turn. With --engine the last four, and champion, play matches against that engine
    instead, as the students' did against Quackle's Speedy Player.

    Args:
        games: How many for each two.
        against: An engine to play against.
        run: With what.
    """
    run, against = run or StudyRun(), against or AgainstEngine()
    if against.engine is not None:
        against.play(games, run)
        return
    against.check_unused()
    from harness.lab.studies.duel import Games
    from harness.lab.studies.published import CS221_PLAYERS, kernel_duels

    field = run.field()
    with sentences("--out", run.out):
        in_kernels = kernel_duels(field, games, run.workers, run.seed)
    studies = [Games((player, "vanilla"), field, run.seed) for player in CS221_PLAYERS]
    run.work(studies, games, above=in_kernels)


def richards_amir(
    *,
    table: Literal[1, 2] = 1,
    games: int = _GAMES,
    time: Duration | None = None,
    iterations: int | None = None,
    memory: str | None = None,
    model: str | None = None,
    plot: Annotated[Path | None, Parameter(name="--plot")] = None,
    run: StudyRun | None = None,
) -> None:
    """See what the opponent's rack is worth: tables 1 and 2 of Richards and Amir (2007).

    Table 1: full-knowledge, which sees the rack, against sim. Table 2: infer, which guesses it,
    against sim; the paper's player is --memory last.

    Args:
        table: 1 or 2.
        games: How many, in pairs with the same draws.
        time: For a turn of either player, inference included. [default: 150ms]
        iterations: Rollouts of each candidate instead, as many for both.
        memory: game or last, as the option of infer. [default: infer's own]
        model: style, deterministic, margin or soft, as the option of infer. [default: infer's own]
        plot: Draw what came of it into this file (PNG).
        run: With what.
    """
    run = run or StudyRun()
    if time is not None and iterations is not None:
        raise CommandFailed("--time or --iterations ends a search, not both")
    if table == 1 and (memory is not None or model is not None):
        raise CommandFailed("--memory and --model are for --table 2; full-knowledge infers nothing")
    if iterations is None:
        run.check_cores()
    from harness.lab.studies.published import Limit, RichardsAmir

    limit = Limit(150 if time is None else time, iterations)
    seats = limit.seats(table, memory=memory, model=model) if table == 2 else limit.seats(table)
    study = RichardsAmir(seats, run.field(), run.seed, run.leaves is None, table)
    run.work([study], games, draw=lambda rows: _draw(plot, rows))


def _is_leave_table(name: str) -> bool:
    from lexicons.tables import LEAVE_TABLES

    return name in LEAVE_TABLES or name.endswith(".klv2")


def _judge(name: str, field: Field) -> Judge:
    from harness.lab.studies.duel import JUDGES, judge_of

    if name in JUDGES:
        return judge_of(name, field)
    return judge_of("static", load_field(field.lexicon, name))


def _draw(path: Path | None, rows: Tables) -> None:
    from harness.lab.studies.published import draw_duels

    draw(path, lambda at: draw_duels(rows["duels"], at))
