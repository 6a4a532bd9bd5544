"""``experiment endings``, ``preendings`` and ``late``: what solving the ends of games is worth."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from cyclopts import Parameter

from harness import figures
from harness.cli.failing import CommandFailed
from harness.cli.long_runs import check_cores, show_rows, with_error
from harness.cli.options import Duration, check_counts, check_durations
from harness.cli.position_runs import PositionRun, Records, check_memory
from harness.cli.preendgame import ModelName
from harness.cli.solving import USUAL_MEMORY, Memory

if TYPE_CHECKING:
    from harness.lab.studies.late_games import LateRow, ThinkingRow
    from harness.lab.studies.played_out import PlayedOut
    from harness.lab.studies.preendings import PreEndingsRow

__all__ = ["endings", "late", "preendings"]

ChooserName: TypeAlias = Literal["preendgame", "champion"]


def endings(
    *,
    positions: int = 1_000,
    time: Duration = 1_000,
    memory: Memory = USUAL_MEMORY,
    solving: PositionRun | None = None,
) -> None:
    """See what solving endgames gains on static play, from the moment the bag is empty.

    Each position is played twice, the solver once in either seat.

    Args:
        positions: How many, each the first with an empty bag of a game of its own.
        time: For a turn of the solver.
        memory: That the solver may take.
        solving: With what.
    """
    solving = solving or PositionRun()
    check_counts(positions=positions)
    check_durations(time=time)
    check_cores(solving.workers)
    from harness.lab.studies.played_out import PlayingOut, played_out, played_out_row

    field = solving.field()
    check_memory(memory)

    def show(records: Records) -> None:
        show_rows([played_out_row(records)], _PLAYED_OUT, _played_out_row, solving.json_)

    solving.work(
        "endings",
        {"time_ms": time, "memory": memory},
        positions,
        played_out,
        PlayingOut(field, solving.seed, time, memory),
        field,
        show,
    )


def preendings(
    *,
    positions: int = 100,
    time: Duration = 5_000,
    bag: int = 1,
    within: int | None = None,
    proof: Duration = 20_000,
    by: ChooserName = "preendgame",
    model: ModelName = "rational",
    memory: Memory = USUAL_MEMORY,
    playing: PositionRun | None = None,
) -> None:
    """See what solving pre-endgames gains on simulating them.

    Both choose a move in the same time. Where they differ, both moves are played out by the solver
    in every case of bag and other rack; one that leaves tiles in the bag by the model, in 400 cases
    at most.

    Args:
        positions: How many, each of a game of its own between static players.
        time: For a choice.
        bag: Tiles in the bag, 1 to 7; with each the cases are more than twice as many.
        within: Only positions in which nobody leads by more points; others are mostly decided.
        proof: At most so long for each case that a choice is judged in.
        by: Who solves: preendgame, with the moves of the highest static equity, or champion, with
            the best of a simulation of its own.
        model: The opponent, as tilewire preendgame takes him, while there are tiles in the bag.
        memory: That the solver may take.
        playing: With what.
    """
    playing = playing or PositionRun()
    check_counts(positions=positions, within=within)
    check_durations(time=time, proof=proof)
    check_cores(playing.workers)
    field = playing.field()
    from engine.preendgame import MOST_IN_BAG
    from harness.lab.studies.preendings import PreEndings, chosen_in, preendings_row

    if not 1 <= bag <= MOST_IN_BAG:
        raise CommandFailed(f"--bag {bag}: a pre-endgame has 1 to {MOST_IN_BAG} tiles in it")
    check_memory(memory)
    asked: dict[str, object] = {"bag": bag, "time_ms": time, "proof_ms": proof}
    asked |= {"by": by, "model": model, "memory": memory, "within": within}

    def show(records: Records) -> None:
        row = preendings_row(records)
        if playing.json_:
            print(json.dumps(dataclasses.asdict(row), ensure_ascii=False))
        else:
            print(figures.table(("figure", "value"), _preendings_figures(row)))

    playing.work(
        "preendings",
        asked,
        positions,
        chosen_in,
        PreEndings(field, playing.seed, bag, time, proof, by, model, memory, within),
        field,
        show,
    )


def late(
    *,
    seats: Annotated[tuple[str, str], Parameter(name="--seats", negative="")] = (
        "champion",
        "champion?exact=no",
    ),
    positions: int = 2_000,
    clock: Duration = 60_000,
    once: Annotated[bool, Parameter(name="--once", negative="")] = False,
    playing: PositionRun | None = None,
) -> None:
    """Play one player against another from where the bag has seven tiles or fewer, on clocks.

    Each position is played twice with the same bag, the players in either seat.

    Args:
        seats: The player and the opponent, both on this machine: built-in players, from
            modules, files or installed packages.
        positions: How many, each of a game of its own between static players.
        clock: The clock of a whole game; the share of it that is left when so few tiles are in the
            bag is for the rest.
        once: Play each position once, with the player on turn in every other one.
        playing: With what.
    """
    playing = playing or PositionRun()
    check_counts(positions=positions)
    check_durations(clock=clock)
    check_cores(playing.workers)
    field = playing.field()
    from harness.lab.studies.late_games import (
        LateGames,
        late_games,
        late_row,
        player_of,
        thinking_rows,
    )

    try:
        for seat in seats:
            player_of(seat)
    except ValueError as error:
        raise CommandFailed(str(error)) from None

    def show(records: Records) -> None:
        row, thinking = late_row(seats, records), thinking_rows(records)
        if playing.json_:
            found = dataclasses.asdict(row) | {"thinking": list(map(dataclasses.asdict, thinking))}
            print(json.dumps(found, ensure_ascii=False))
        else:
            print(figures.table(_LATE, [_late_row(row)]))
            print()
            print(figures.table(_THINKING, list(map(_thinking_row, thinking))))

    playing.work(
        "late",
        {"seats": seats, "clock_ms": clock, "once": once},
        positions,
        late_games,
        LateGames(seats, field, playing.seed, clock, once),
        field,
        show,
    )


# --- what is told ---------------------------------------------------------------------------------

_PLAYED_OUT = (
    "positions",
    "gain, points a game (95 %)",
    "games won (95 %)",
    "proven at once",
    "won for sure",
    "lost nonetheless",
    "short of what was proven",
)


def _played_out_row(row: PlayedOut) -> tuple[str, ...]:
    return (
        f"{row.positions:,}",
        with_error(row.gain, row.gain_error, 2, sign=True),
        with_error(row.won, row.won_error, 1, times=100, unit=" %"),
        f"{row.proven:,} of {row.with_turn:,}",
        f"{row.won_for_sure:,}",
        f"{row.lost_nonetheless:,}",
        f"{row.short:,}",
    )


def _preendings_figures(row: PreEndingsRow) -> list[tuple[str, str]]:
    win_gain = with_error(row.win_gain, row.win_gain_error, 2, times=100, sign=True, unit=" %")
    return [
        ("positions", f"{row.positions:,}"),
        ("choices differ in", f"{row.differ:,}"),
        ("there: won by the simulation's choice", figures.share(row.sim_win)),
        ("… by the pre-endgame's", figures.share(row.exact_win)),
        ("it wins more often in", f"{row.more_wins:,}"),
        ("… less often in", f"{row.fewer_wins:,}"),
        ("as often, and gains more points in", f"{row.more_points:,}"),
        ("… fewer points in", f"{row.fewer_points:,}"),
        ("games won more, of all positions (95 %)", win_gain),
        (
            "points more, of all positions (95 %)",
            with_error(row.points_gain, row.points_gain_error, 2, sign=True),
        ),
        ("cases whose points are proven", figures.share(row.proven)),
        ("cases whose winner is proven", figures.share(row.decided)),
        ("positions judged by a model", f"{row.modelled:,}"),
        (
            "games won more, without these (95 %)",
            with_error(
                row.solved_win_gain,
                row.solved_win_gain_error,
                2,
                times=100,
                sign=True,
                unit=" %",
            ),
        ),
    ]


_LATE = (
    "player – opponent",
    "positions",
    "games",
    "gain, points a game (95 %)",
    "games won (95 %)",
    "better in",
    "worse in",
    "overtime",
)
_THINKING = ("in the bag", "turns", "opponent's", "mean", "opponent's", "longest", "opponent's")


def _late_row(row: LateRow) -> tuple[str, ...]:
    return (
        f"{row.player} – {row.opponent}",
        f"{row.positions:,}",
        f"{row.games:,}",
        with_error(row.gain, row.gain_error, 2, sign=True),
        with_error(row.won, row.won_error, 1, times=100, unit=" %"),
        f"{row.better:,}",
        f"{row.worse:,}",
        " – ".join(map(str, row.overtime)),
    )


def _thinking_row(row: ThinkingRow) -> tuple[str, ...]:
    return (
        str(row.bag),
        *(f"{turns:,}" for turns in row.turns),
        *map(figures.duration, row.mean_ms),
        *map(figures.duration, row.longest_ms),
    )
