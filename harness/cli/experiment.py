"""``tilewire experiment``: players against each other, their choices, and their beliefs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from cyclopts import App, Parameter

from harness import figures

from .failing import CommandFailed, sentences
from .options import Count, say
from .preparing import seat_modules
from .study_run import Many, StudyRun, explaining, load_field, show_rows

if TYPE_CHECKING:
    from harness.lab.studies.duel import KernelEvaluator
    from harness.lab.study_context import Field

app = App(
    name="experiment", help="Compare players: who is better, by how much, and what they believe."
)

_KERNEL_GAMES = 40_000
_GAMES = 400


# --- players against each other -------------------------------------------------------------------


@app.command
def duel(
    player: str,
    opponent: str,
    /,
    *,
    games: Many | None = None,
    by_work: Annotated[bool, Parameter(negative="")] = False,
    run: StudyRun = StudyRun(),
) -> None:
    """Play one player against another, in pairs of games with the same draws.

    Simple players meet in kernels, thousands of games a second: greedy, vanilla, rh, static, and
    leave tables that static plays by. All others meet turn by turn, without clocks; with --out,
    --cluster or --by-work simple ones do, too, and leave tables are refused.

    Args:
        player: A seat, or a leave table: trained, formula, or a file (KLV2).
        opponent: The same.
        games: How many. [default: 400; in kernels 40,000]
        by_work: A turn's time is counted in work done, rollouts, nodes and racks, not by the clock:
            the same games on every machine, however busy. Only searches of tilewire are counted.
    """
    from harness.lab.studies.duel import JUDGES, Games, play_duel
    from lexicons.tables import TABLE_NAMES

    names = player, opponent
    tables = [name for name in names if name in TABLE_NAMES or name.endswith(".klv2")]
    by_turns = by_work or run.out is not None or run.cluster is not None
    if not tables and (by_turns or not set(names) <= set(JUDGES)):
        if not by_work:
            _check_cores(run, *names)
        study = Games(names, run.field(*seat_modules(*names)), run.seed, by_work)
        run.work([study], games or _GAMES)
        return
    if by_turns:
        raise CommandFailed(
            f"{tables[0]} is a leave table, whose games are played in kernels here and not kept; "
            "leave --out, --cluster and --by-work out"
        )
    field = run.field("engine.simulation.selfplay")
    with explaining():
        judges = _judge(player, field), _judge(opponent, field)
        number = _KERNEL_GAMES if games is None else games
        row = play_duel(*judges, field, number, threads=run.workers, seed=run.seed)
    show_rows({"duels": [row]}, run.json_)


def _check_cores(run: StudyRun, *seats: str) -> None:
    """Check that seats with a time for their searches have a core each, or fail."""
    from harness.lab.studies.duel import is_timed

    with sentences():
        timed = any(map(is_timed, seats))
    if timed:
        run.check_cores()


def _judge(name: str, field: Field) -> KernelEvaluator:
    from bot.registry import known_bots
    from harness.lab.studies.duel import JUDGES, judge_of

    if name in JUDGES:
        return judge_of(name, field)
    if name.partition("?")[0] in known_bots():
        raise CommandFailed(f"{name} plays turn by turn, and a leave table in kernels only")
    return judge_of("static", load_field(field.lexicon, name))._replace(name=name)


@app.command
def cs221(*, games: Many = 300, weights: Path | None = None, run: StudyRun = StudyRun()) -> None:
    """Play the tables of CS221 (Stanford 2016): simple players, and those that sample.

    Static, rh and vanilla play each other in kernels; vanilla, rh, mc and mc+rh each play vanilla
    turn by turn.

    Args:
        games: How many for each two.
        weights: Features of leaves for rh and mc+rh (``tilewire train features``).
            [default: built-in, for English tiles]
    """
    from harness.lab.studies.duel import CS221_PLAYERS, Games, kernel_duels
    from lexicons.rack_features import read_rack_weights

    field = run.field("engine.simulation.selfplay", *seat_modules(*CS221_PLAYERS))
    with explaining("--weights", weights):
        features = None if weights is None else read_rack_weights(weights)
    with explaining():
        in_kernels = kernel_duels(field, games, run.workers, run.seed, features)
    field = replace(field, own_leaves=True)  # --leaves are for the kernels
    given = "" if weights is None else f"?weights={quote(str(weights))}"
    players = [player + given if "rh" in player else player for player in CS221_PLAYERS]
    studies = [Games((player, "vanilla"), field, run.seed) for player in players]
    run.work(studies, games, above=in_kernels)


# --- choices and beliefs --------------------------------------------------------------------------


@app.command
def calibration(
    *,
    positions: Many = 3_000,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    seat: str = "sim?time=150ms",
    racks: Count = 200_000,
    run: StudyRun = StudyRun(),
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
    """
    from harness.lab.studies.calibration import Calibration
    from harness.lab.studies.duel import Games
    from harness.lab.studies.replayed_beliefs import read_games

    field, seats = run.field("harness.lab.studies.calibration", *seat_modules(seat)), (seat, seat)
    if from_ is None:
        _check_cores(run, seat)
        study = Calibration(Games(seats, field, run.seed), racks)
    else:
        with explaining("--from", from_):
            given = read_games(from_, field.lexicon, seats)
        study = Calibration(Games(seats, field, given.seed), racks, given)
    rows = run.work([study], positions)
    if (there := rows["losses"][0].positions) < positions:
        say(f"the games of --from have {figures.counted(there, 'position')}, and no more")
