"""``tilewire bench``: speed of the engine, deadlines, faults, and a server under load."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
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
    load_words,
    log_to_stderr,
    make_folder,
    run,
    say,
)
from .preparing import seat_modules
from .study_run import (
    Many,
    StudyRulesOption,
    StudyRun,
    draw_beside,
    load_chances,
    load_field,
    load_words_and_rules,
    show_figures,
    show_rows,
)

if TYPE_CHECKING:
    from harness.lab.bench.selfplay import Bench
    from harness.lab.study_context import Field

app = App(name="bench", help="Measure speed, deadlines, faults and load on this machine.")

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
def faults(*, json_: JsonOption = False) -> None:
    """Misbehave on real sockets, and as a foreign engine; print each outcome and how soon it came.

    Args:
        json_: Print a list of JSON objects.
    """
    from harness.lab.bench.faults import call_engine_faults, call_faults

    log_to_stderr(verbose=False)
    calls = [*_converse(call_faults()), *run(call_engine_faults())]
    show_rows({"calls": calls}, json_)


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


@app.command
def attack(
    *,
    attack: Annotated[list[str] | None, Parameter(negative="")] = None,
    seconds: Annotated[float, Meta(ge=0.5, le=600)] = 10.0,
    addresses: Annotated[int, Meta(ge=1, le=200)] = 4,
    json_: JsonOption = False,
) -> None:
    """Attack a server on which two honest bots ping and play; print what they notice.

    The control is the same attacker against a bare echo beside the server, which shares its cores.

    Args:
        attack: Which attacks, by name; may be repeated. [default: all]
        seconds: How long each, and its control.
        addresses: Addresses of loopback from which attackers come.
        json_: Print a list of JSON objects, one for each attack.
    """
    from harness.lab.bench.attack import Siege, besiege
    from harness.lab.bench.attackers import ATTACKS

    names = tuple(attack or ATTACKS)
    if unknown := [name for name in names if name not in ATTACKS]:
        raise CommandFailed(f"--attack {unknown[0]}: there are {', '.join(ATTACKS)}")
    log_to_stderr(verbose=False)
    sieges: list[Siege] = []

    def tell(siege: Siege) -> None:
        sieges.append(siege)
        if not json_:
            say(f"{len(sieges)} of {len(names)}: {siege.attack}")

    try:
        _converse(besiege(names, seconds, addresses, tell))
    finally:
        if sieges:
            show_rows({"attacks": sieges}, json_)


@app.command
def watch(
    *,
    pages: Annotated[int, Meta(ge=1, le=10_000)] = 500,
    rounds: Annotated[int, Meta(ge=1, le=1_000)] = 5,
    think: PositiveDuration = 250,
    json_: JsonOption = False,
) -> None:
    """Have pages watch a game on a server; print what its players notice.

    Each round is three games: one that nobody watches, one that all watch, and the control, where
    a bare server beside it pushes the same bytes to as many connections.

    Args:
        pages: How many.
        rounds: How many; medians of all are printed.
        think: Time that a player takes for a move.
        json_: Print a list of JSON objects, one for each kind of game.
    """
    from harness.lab.bench.watching import Watched, medians
    from harness.lab.bench.watching import watch as measure

    log_to_stderr(verbose=False)
    games: list[Watched] = []

    def tell(game: Watched) -> None:
        games.append(game)
        say(f"game {len(games)} of {3 * rounds}, {game.game}: p99 {game.p99_ms} ms")

    _converse(measure(load_words("scowl"), pages, rounds, think / 1_000, tell))
    if games:
        show_rows({"games": medians(games)}, json_)


@app.command
def idle(
    *,
    connections: Annotated[int, Meta(ge=1, le=60_000)] = 3_000,
    rate: Annotated[float, Meta(ge=1, le=100_000)] = 2_000.0,
    seconds: Annotated[float, Meta(ge=0.1, le=3_600)] = 20.0,
    json_: JsonOption = False,
) -> None:
    """Open connections that do nothing; print what they cost, and a message beside a bare echo's.

    Args:
        connections: How many.
        rate: Messages a second, when they are measured.
        seconds: How long, the server's and the echo's each.
        json_: Print one JSON object.
    """
    from harness.lab.bench.idle import measure_idle

    log_to_stderr(verbose=False)
    with sentences():
        show_figures(_converse(measure_idle(connections, rate, seconds)), json_)


@app.command
def soak(
    *,
    out: Path,
    seconds: Annotated[float, Meta(ge=10, le=86_400)] = 7_200.0,
    resume: Annotated[bool, Parameter(negative="")] = False,
    ladder: Annotated[bool, Parameter(negative="")] = False,
    seed: SeedOption = 1,
    json_: JsonOption = False,
) -> None:
    """Watch a server for hours while bots come, play, misbehave and leave, and others attack it.

    Prints how its memory grows with games, and what of processes, descriptors and files is left,
    for each piece in the folder; a plot lies beside the samples.

    Args:
        out: A folder for the journal, the samples and the plot.
        seconds: How long a piece is.
        resume: Add a piece to those in the folder, on the same journal.
        ladder: Have the server run a ladder, on which the bots are rated.
        json_: Print a list of JSON objects, one for each piece.
    """
    from harness.lab.bench import soak as soaking

    log_to_stderr(verbose=False)
    with sentences():
        samples = soaking.read_samples(out)
    if bool(samples) != resume:
        why = "has pieces of a soak; add one by --resume" if samples else "has no piece to add to"
        raise CommandFailed(f"--out {out} {why}")
    folder = make_folder(out)
    piece = 1 + max((sample.piece for sample in samples), default=0)

    def tell(sample: soaking.Sample) -> None:
        samples.append(sample)
        soaking.write_sample(folder, sample)
        if len(samples) % 12 == 0:
            say(f"{sample.seconds:,.0f} s, {sample.games:,} games, {sample.memory_mb:.1f} MB")

    try:
        _converse(soaking.soak(folder, seconds, piece, seed, tell, ladder=ladder))
    finally:
        if samples:
            draw_beside(folder / "soak.png", soaking.draw, samples)
            show_rows({"pieces": soaking.summary(samples)}, json_)
