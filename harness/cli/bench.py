"""``tilewire bench``: speed of the engine, deadlines, and a server under load."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import App, Parameter
from msgspec import Meta

from harness.figures import figure_rows, table

from .failing import CommandFailed, sentences
from .options import (
    MOST_THREADS,
    USUAL_MEMORY,
    Count,
    JsonOption,
    LeavesOption,
    Memory,
    PositiveDuration,
    RulesLexiconOption,
    SeedOption,
    TableOptions,
    ThreadsOption,
    WinprobOption,
    check_local,
    log_to_stderr,
    run,
    say,
)
from .preparing import seat_modules
from .study_run import (
    Many,
    StudyRulesOption,
    StudyRun,
    load_chances,
    load_field,
    load_words_and_rules,
    show_figures,
    show_rows,
)

if TYPE_CHECKING:
    from harness.lab.bench.selfplay import Bench
    from harness.lab.study_context import Field

app = App(name="bench", help="Measure speed, deadlines and load on this machine.")

_T = TypeVar("_T")
_SELFPLAY = "harness.lab.bench.selfplay"
_SYNTHETIC = "synthetic"
"""The name of leaves that are made up."""
_SEED = 1


@Parameter(name="*")
@dataclass(frozen=True)
class _Playing:
    """The words and tables to play with, and how results are shown."""

    rules: StudyRulesOption = None
    lexicon: RulesLexiconOption = "scowl"
    words: Count | None = None
    """Play with this many of its words, chosen by the seed. [default: all]"""
    leaves: Annotated[
        LeavesOption,
        Parameter(
            help="trained, formula, a leave table (KLV2), or synthetic: made up. "
            "[default: the players' own]"
        ),
    ] = None
    winprob: Annotated[
        WinprobOption,
        Parameter(
            help="trained, formula, or a table of win probabilities (CSV); static players do not "
            "use it."
        ),
    ] = None
    threads: Annotated[
        ThreadsOption, Parameter(help="Threads; games are the same with any number of them.")
    ] = 1
    seed: SeedOption = 0
    json_: JsonOption = False
    """Print one JSON object."""

    def field(self, *modules: str) -> Field:
        lexicon, rules = load_words_and_rules(self.lexicon, self.rules)
        from harness.lab.bench.selfplay import sample_words
        from lexicons.leaves import synthetic_leaves
        from lexicons.tables import FORMULA

        if self.words is not None:
            with sentences("--words: "):
                lexicon = sample_words(lexicon, self.words, self.seed)
        if self.leaves != _SYNTHETIC:
            return load_field(lexicon, self.leaves, self.winprob, rules, modules)
        # They are made for no particular words, like the formula: no notice.
        field = load_field(lexicon, FORMULA, self.winprob, rules, modules)
        table = synthetic_leaves(field.rules.distribution, _SEED)
        return dataclasses.replace(field, leaves=table, leaves_name=f"{_SYNTHETIC}, seed {_SEED}")

    def measure(
        self, measure: Callable[[Field, int, int, int], _T], number: int, module: str
    ) -> _T:
        """Run a measurement of ``number`` units with these threads and this seed, or fail.

        ``module`` has the measurement, and imports its kernels.
        """
        field = self.field(module)
        with sentences():
            return measure(field, number, self.threads, self.seed)


@Parameter(name="*")
@dataclass(frozen=True)
class _Asking(_Playing):
    """The same for a seat that is asked."""

    threads: Annotated[ThreadsOption, Parameter(help="Threads for each search of the seat.")] = 1


# --- the engine alone -----------------------------------------------------------------------------


@app.command
def selfplay(*, games: Many = 2_000, playing: _Playing = _Playing()) -> None:
    """Play games between two static players; print how many a second.

    Args:
        games: How many.
    """
    from harness.lab.bench.selfplay import measure_selfplay

    show_figures(playing.measure(measure_selfplay, games, _SELFPLAY), playing.json_)


@app.command
def generate(*, games: Many = 200, playing: _Playing = _Playing()) -> None:
    """List all placements in each position of static games; print how long one takes.

    Args:
        games: Whose positions; each thread has some of its own.
    """
    from harness.lab.bench.selfplay import measure_generation

    show_figures(playing.measure(measure_generation, games, _SELFPLAY), playing.json_)


@app.command
def sim(
    *,
    rollouts: Count = 10_000,
    candidates: Count = 15,
    plies: Count | None = None,
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
    from harness.lab.bench.sim import MID_GAME, SimSettings, measure_sim

    def measure(field: Field, rollouts: int, threads: int, seed: int) -> Bench:
        depths = (2, 4) if plies is None else (plies,)
        chances = load_chances(field, playing.winprob)
        settings = SimSettings(chances, candidates, depths, rollouts, threads)
        return measure_sim(field, settings, position or MID_GAME, seed)

    show_figures(playing.measure(measure, rollouts, "harness.lab.bench.sim"), playing.json_)


@app.command
def infer(*, plays: Many = 20, playing: _Playing = _Playing()) -> None:
    """Work out what plays tell that keep two to five tiles; print how long it takes.

    Args:
        plays: How many of each.
    """
    from harness.lab.bench.infer import measure_infer

    if playing.threads > 1:
        raise CommandFailed("what a play tells is worked out by one thread; leave --threads out")
    bench = playing.measure(
        lambda field, plays, _threads, seed: measure_infer(field, plays, seed),
        plays,
        "harness.lab.bench.infer",
    )
    if playing.json_:
        show_figures(bench, as_json_text=True)
        return
    show_rows({"all": bench.rows, "within budget": bench.within_budget}, as_json_text=False)
    print(
        "All leaves; below as many of five tiles as 0.3 s allow. The sample is the effective size."
    )


@app.command
def endgame(
    *,
    positions: Many = 300,
    time: PositiveDuration = 30_000,
    memory: Memory = USUAL_MEMORY,
    threads: ThreadsOption = 1,
    run: StudyRun = StudyRun(),
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
        raise CommandFailed(
            f"--memory: with so many threads ({threads}) it is {least >> 20}M or more"
        )
    run.work(
        [EndgameStudy(run.field("harness.lab.bench.endgame"), run.seed, time, memory, threads)],
        positions,
    )


# --- conversations, and time ----------------------------------------------------------------------


def _converse(main: Coroutine[Any, Any, _T]) -> _T:
    """Run conversations with a process, or fail with a sentence if it ends or never comes up."""
    from protocol.channel import ChannelClosed

    with sentences(kinds=(ChannelClosed,), status=1):
        return run(main)


@app.command
def deadlines(
    *,
    bot: str = "champion",
    moves: Many = 2_000,
    load: Annotated[int, Meta(ge=0, le=MOST_THREADS)] = 2,
    from_: Annotated[PositiveDuration, Parameter(name="--from")] = 20,
    to: PositiveDuration = 2_000,
    playing: _Asking = _Asking(),
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
        raise CommandFailed(
            "a seat loads its words and tables by name; leave --words and --leaves synthetic out"
        )
    if to < from_:
        raise CommandFailed("--to must be at least as long as --from")
    from harness.lab.bench.deadlines import Answer, DeadlineSettings, ask_for_moves, summary

    log_to_stderr(verbose=False)
    check_local(bot)
    field = playing.field(*seat_modules(bot))
    tables = TableOptions(playing.lexicon, playing.leaves, playing.winprob).for_rules(field.rules)
    given = tables.equipment(playing.threads, rules=playing.rules or field.rules.name)
    answers: list[Answer] = []

    def tell(done: int) -> None:
        if done % 100 == 0:
            say(f"{done:,} of {moves:,} moves")

    try:
        with sentences():
            settings = DeadlineSettings(bot, given, moves, load, from_, to, playing.seed)
            _converse(ask_for_moves(settings, field, answers, tell))
    finally:
        if answers:
            bench = summary(settings, answers)
            if playing.json_:
                show_figures(bench, as_json_text=True)
            else:
                totals = {name: value for name, value in vars(bench).items() if name != "spans"}
                print(table(("figure", "value"), figure_rows(totals)), end="\n\n")
                show_rows({"spans": bench.spans}, as_json_text=False)
                print("\nIn milliseconds; over is after the end of the budget, below 0 before it.")


@app.command
def server(
    *,
    connections: Annotated[int, Meta(ge=1, le=10_000)] = 200,
    rate: Annotated[float, Meta(ge=1, le=1_000_000)] = 1_000.0,
    seconds: Annotated[float, Meta(ge=0.1)] = 15.0,
    searching: Annotated[int, Meta(ge=0, le=MOST_THREADS)] = 2,
    json_: JsonOption = False,
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

    log_to_stderr(verbose=False)
    with sentences():
        show_figures(_converse(measure_load(connections, rate, seconds, searching)), json_)
