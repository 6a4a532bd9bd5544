"""``tilewire bench``: speed of the engine, deadlines, and a server under load."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from msgspec import Meta

from harness.figures import figure_rows, table
from protocol.channel import ChannelClosed

from . import options, study_run
from .failing import CommandFailed, sentences
from .preparing import seat_modules

if TYPE_CHECKING:
    from harness.lab.study_context import Field

app = App(name="bench", help="Measure speed, deadlines and load on this machine.")

_SELFPLAY = "harness.lab.bench.selfplay"
_SYNTHETIC = "synthetic"
"""The name of leaves that are made up."""
_SEED = 1


@Parameter(name="*")
@dataclass(frozen=True)
class _Playing:
    """The words and tables to play with, and how results are shown."""

    rules: study_run.StudyRulesOption = None
    lexicon: options.RulesLexiconOption = "scowl"
    words: options.Count | None = None
    """Play with this many of its words, chosen by the seed. [default: all]"""
    leaves: Annotated[
        options.LeavesOption,
        Parameter(
            help="trained, formula, a leave table (KLV2), or synthetic: made up. "
            "[default: the players' own]"
        ),
    ] = None
    winprob: Annotated[
        options.WinprobOption,
        Parameter(
            help="trained, formula, or a table of win probabilities (CSV); static players do not "
            "use it."
        ),
    ] = None
    threads: Annotated[
        options.ThreadsOption,
        Parameter(help="Threads, of a seat for each search; games are the same with any number."),
    ] = 1
    seed: options.SeedOption = 0
    json_: options.JsonOption = False
    """Print one JSON object."""

    def field(self, *modules: str) -> Field:
        """Load words, rules and tables, and compile what ``modules`` use, or fail."""
        lexicon, rules = study_run.load_words_and_rules(self.lexicon, self.rules)
        from harness.lab.bench.selfplay import sample_words
        from lexicons.leaves import synthetic_leaves
        from lexicons.tables import FORMULA

        if self.words is not None:
            with sentences("--words: "):
                lexicon = sample_words(lexicon, self.words, self.seed)
        if self.leaves != _SYNTHETIC:
            return study_run.load_field(lexicon, self.leaves, self.winprob, rules, modules)
        # They are made for no particular words, like the formula: no notice.
        field = study_run.load_field(lexicon, FORMULA, self.winprob, rules, modules)
        table = synthetic_leaves(field.rules.distribution, _SEED)
        return dataclasses.replace(field, leaves=table, leaves_name=f"{_SYNTHETIC}, seed {_SEED}")


# --- the engine alone -----------------------------------------------------------------------------


@app.command
def selfplay(*, games: study_run.Many = 2_000, playing: _Playing = _Playing()) -> None:
    """Play games between two static players; print how many a second.

    Args:
        games: How many.
    """
    field = playing.field(_SELFPLAY)
    from harness.lab.bench.selfplay import measure_selfplay

    with sentences():
        bench = measure_selfplay(field, games, playing.threads, playing.seed)
    study_run.show_figures(bench, playing.json_)


@app.command
def generate(*, games: study_run.Many = 200, playing: _Playing = _Playing()) -> None:
    """List all placements in each position of static games; print how long one takes.

    Args:
        games: Whose positions; each thread has some of its own.
    """
    field = playing.field(_SELFPLAY)
    from harness.lab.bench.selfplay import measure_generation

    with sentences():
        bench = measure_generation(field, games, playing.threads, playing.seed)
    study_run.show_figures(bench, playing.json_)


@app.command
def sim(
    *,
    rollouts: options.Count = 10_000,
    candidates: options.Count = 15,
    plies: options.Count | None = None,
    position: str | None = None,
    playing: _Playing = _Playing(),
) -> None:
    """Simulate a position; print how many rollouts of a candidate are made a second.

    Args:
        rollouts: How many in each of five runs, whose median is printed.
        candidates: How many moves of the highest static equity are rolled out, each as often.
        plies: Turns after a candidate. [default: 2, and then 4]
        position: A position (CGP). [default: one in mid-game]
    """
    field = playing.field("harness.lab.bench.sim")
    from harness.lab.bench.sim import MID_GAME, measure_sim

    with sentences():
        bench = measure_sim(
            field,
            study_run.load_chances(field, playing.winprob),
            position or MID_GAME,
            candidates=candidates,
            plies=(2, 4) if plies is None else (plies,),
            rollouts=rollouts,
            threads=playing.threads,
            seed=playing.seed,
        )
    study_run.show_figures(bench, playing.json_)


@app.command
def infer(*, plays: study_run.Many = 20, playing: _Playing = _Playing()) -> None:
    """Work out what plays tell that keep two to five tiles; print how long it takes.

    Args:
        plays: How many of each.
    """
    if playing.threads > 1:
        raise CommandFailed("what a play tells is worked out by one thread; leave --threads out")
    field = playing.field("harness.lab.bench.infer")
    from harness.lab.bench.infer import measure_infer

    with sentences():
        bench = measure_infer(field, plays, playing.seed)
    if playing.json_:
        study_run.show_figures(bench, as_json_text=True)
        return
    tables = {"all": bench.rows, "within budget": bench.within_budget}
    study_run.show_rows(tables, as_json_text=False)
    print("All leaves; below as many of five tiles as 0.3 s allow. Sample: the effective size.")


@app.command
def endgame(
    *,
    positions: study_run.Many = 300,
    time: options.PositiveDuration = 30_000,
    memory: options.Memory = options.USUAL_MEMORY,
    threads: options.ThreadsOption = 1,
    run: study_run.StudyRun = study_run.StudyRun(),
) -> None:
    """Solve endgames of static games; print how soon they are proven, and how good values are then.

    Args:
        positions: How many, each the first with an empty bag of a game of its own.
        time: For each, at most.
    """
    run.check_cores(threads)
    from engine.endgame.solver import least_memory
    from harness.lab.bench.endgame import EndgameStudy

    if memory < (least := least_memory(threads)):
        raise CommandFailed(f"--memory: for --threads {threads} it is {least >> 20}M or more")
    run.work(
        [EndgameStudy(run.field("harness.lab.bench.endgame"), run.seed, time, memory, threads)],
        positions,
    )


# --- conversations, and time ----------------------------------------------------------------------


@app.command
def deadlines(
    *,
    bot: str = "champion",
    moves: study_run.Many = 2_000,
    load: Annotated[int, Meta(ge=0, le=options.MOST_THREADS)] = 2,
    from_: Annotated[options.PositiveDuration, Parameter(name="--from")] = 20,
    to: options.PositiveDuration = 2_000,
    playing: _Playing = _Playing(),
) -> None:
    """Ask a seat for moves while all cores are busy; print how much of its time it leaves unused.

    Args:
        bot: The seat.
        moves: How many to ask for.
        load: Processes that keep cores busy, as nice as that of the seat.
        from_: The shortest time for a move.
        to: The longest; each order of magnitude between them is as likely.
    """
    if playing.words is not None or playing.leaves == _SYNTHETIC:
        raise CommandFailed("seats load tables by name: leave out --words and --leaves synthetic")
    if to < from_:
        raise CommandFailed("--to must be at least as long as --from")
    from harness.lab.bench.deadlines import DeadlineSettings, TimedAnswer, ask_for_moves, summary

    options.log_to_stderr(verbose=False)
    options.check_local(bot)
    field = playing.field(*seat_modules(bot))
    tables = options.TableOptions(playing.lexicon, playing.leaves, playing.winprob)
    given = tables.for_game(playing.rules or field.rules.name, playing.threads)
    answers: list[TimedAnswer] = []
    try:
        with sentences(), sentences(kinds=(ChannelClosed,), status=1):
            settings = DeadlineSettings(bot, given, moves, load, from_, to, playing.seed)
            options.run(ask_for_moves(settings, field, answers, study_run.telling(moves, "moves")))
    finally:
        if answers:
            bench = summary(settings, answers)
            if playing.json_:
                study_run.show_figures(bench, as_json_text=True)
            else:
                totals = {name: value for name, value in vars(bench).items() if name != "spans"}
                print(table(("figure", "value"), figure_rows(totals)), end="\n\n")
                study_run.show_rows({"spans": bench.spans}, as_json_text=False)
                print("\nIn milliseconds; over is after the end of the budget, below 0 before it.")


@app.command
def server(
    *,
    connections: Annotated[int, Meta(ge=1, le=10_000)] = 200,
    rate: Annotated[float, Meta(ge=1, le=1_000_000)] = 1_000.0,
    seconds: Annotated[float, Meta(ge=0.1)] = 15.0,
    searching: Annotated[int, Meta(ge=0, le=options.MOST_THREADS)] = 2,
    json_: options.JsonOption = False,
) -> None:
    """Load a server with small messages while seats search; print the round trips.

    Args:
        connections: How many at once.
        rate: Messages a second, all connections together.
        seconds: How long.
        searching: Seats that search meanwhile.
        json_: Print one JSON object.
    """
    from harness.lab.bench.load import measure_load

    options.log_to_stderr(verbose=False)
    with sentences(), sentences(kinds=(ChannelClosed,), status=1):
        figures = options.run(measure_load(connections, rate, seconds, searching))
    study_run.show_figures(figures, json_)
