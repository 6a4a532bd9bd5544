"""``tilewire train``: leave tables, win probabilities and rack features."""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from msgspec import Meta

from harness import figures
from harness.pictures import why_no_pictures

from . import options, study_run
from .failing import CommandFailed

if TYPE_CHECKING:
    from engine.rules.rules import Rules
    from harness.lab.training.leaves import RoundDone, TableMade
    from lexicons.store import Lexicon

app = App(name="train", help="Learn from self-play what leaves and leads are worth.")

_SHOWN_LEAVES = ("?", "S", "Q", "QU", "EEIO", "AEINST")


@Parameter(name="*")
@dataclass(frozen=True)
class _Terms:
    """Rules, words and chance."""

    rules: study_run.StudyRulesOption = None
    lexicon: options.RulesLexiconOption = "scowl"
    distribution: options.WordsDistributionOption = None
    seed: Annotated[
        options.SeedOption,
        Parameter(help="Seed of all that is drawn; the same seed learns the same."),
    ] = 0

    def load(self, *modules: str) -> tuple[Lexicon, Rules]:
        """Load words and rules, and compile what ``modules`` use, or fail."""
        from engine.rules.rule_sets import rules_for

        options.compile_first(modules)
        if self.distribution is None:
            lexicon, rules = study_run.load_words_and_rules(self.lexicon, self.rules)
        elif self.rules is None:
            lexicon, rules = options.load_words_in(self.distribution, self.lexicon), None
        else:
            raise CommandFailed("--rules have tiles of their own; leave --distribution out")
        return lexicon, rules or rules_for(lexicon.distribution)

    def written(self) -> str:
        """Return the options that decide what is learned."""
        text = f" --lexicon {self.lexicon} --seed {self.seed}"
        for name in ("rules", "distribution"):
            if value := getattr(self, name):
                text += f" --{name} {value}"
        return text


@Parameter(name="*")
@dataclass(frozen=True)
class _Playing(_Terms):
    """The same, and who plays."""

    workers: options.WorkersOption = 1
    """Processes on this machine; with --games they make no difference to what is learned."""
    cluster: options.ClusterOption = None


@app.command
def leaves(
    *,
    out: Path,
    games: study_run.Many | None = None,
    minutes: Annotated[float, Meta(ge=0.01)] | None = None,
    floor: Annotated[int, Meta(ge=0)] = 100,
    resume: Annotated[bool, Parameter(negative="")] = False,
    playing: _Playing = _Playing(),
) -> None:
    """Learn what each leave is worth; write a table (KLV2), its manifest and a picture.

    What is known is kept beside the table after each round of games, in OUT.checkpoint, until the
    table is written.

    Args:
        out: The table to write, F.klv2.
        games: How many to play.
        minutes: How long to play, instead; 20,000 games at least in each of four generations.
        floor: How often each leave should be seen at least.
        resume: Go on with a training that was stopped.
    """
    study_run.check_writable("--out", out)
    from harness.lab.training.checkpoint import locked
    from harness.lab.training.leaves import Goal, LeaveTraining, draw_leaves
    from harness.workers import open_workers
    from lexicons.klv import write_klv

    checkpoint = out.with_name(f"{out.name}.checkpoint")
    with study_run.explaining():
        goal = Goal(games, minutes, playing.seed, floor)
    with study_run.explaining(), locked(out):
        if checkpoint.exists() and not resume:
            raise CommandFailed(f"{checkpoint} is of a stopped run: --resume goes on, or delete it")
        if resume and not checkpoint.exists():
            raise CommandFailed(f"--resume: there is no {checkpoint} to go on with")
        for half_written in checkpoint.parent.glob(f".{checkpoint.name}.*"):
            half_written.unlink()  # nobody else writes it now
        lexicon, rules = playing.load("harness.lab.training.leaves")
        training = LeaveTraining(lexicon, rules, goal, checkpoint)
        if resume:
            training.resume()
            options.print_notice(f"going on after {training.games:,} games")
        try:
            with (
                options.working("playing games"),
                open_workers(playing.workers, playing.cluster, options.print_notice) as workers,
            ):
                table = training.run(workers, partial(_show_round, floor), time.monotonic)
        except KeyboardInterrupt:
            if checkpoint.exists():
                options.print_notice(
                    f"stopped; {checkpoint} has what is known, and --resume goes on"
                )
            raise
        write_klv(out, table)
        study_run.draw_beside(out, draw_leaves, table)
        length = f"--games {games}" if games is not None else f"--minutes {minutes:g}"
        command = ("leaves", length, f"--floor {floor}")
        tables = training.progress.tables
        learned = {"generations": tables, "fewest_samples": tables[-1]["fewest_samples"]}
        _describe(out, command, playing, lexicon, training.games, learned)
        checkpoint.unlink(missing_ok=True)


@app.command
def winprob(
    *,
    out: Path,
    leaves: Annotated[
        options.LeavesOption,
        Parameter(help="What the players judge leaves by. [default: what built-in players have]"),
    ] = None,
    games: study_run.Many = 500_000,
    check: Annotated[int, Meta(ge=0, le=100_000_000)] = 200_000,
    json_: options.JsonOption = False,
    playing: _Playing = _Playing(),
) -> None:
    """Learn how likely the player on turn is to win; write a table (CSV), its manifest, a picture.

    Args:
        out: The table to write, F.csv.
        games: How many to learn from.
        check: How many more to hold the table against; 0 for none.
        json_: Print as JSON what the check found.
    """
    study_run.check_writable("--out", out)
    lexicon, rules = playing.load("engine.simulation.selfplay")
    from harness.lab.training.winprob import (
        calibration,
        draw_win_probabilities,
        fit_win_probabilities,
        play_and_tally,
    )
    from harness.workers import open_workers
    from lexicons.win_probability import write_win_probabilities

    field = study_run.load_field(lexicon, leaves, rules=rules)
    with (
        study_run.explaining(),
        options.working("playing games"),
        open_workers(playing.workers, playing.cluster, options.print_notice) as workers,
    ):
        play = partial(play_and_tally, workers, field)
        table = fit_win_probabilities(play(games, playing.seed, study_run.telling(games, "games")))
        write_win_probabilities(out, table)
        study_run.draw_beside(out, draw_win_probabilities, table)
        leaves_option = (f"--leaves {leaves}",) if leaves else ()
        command = ("winprob", f"--games {games}", *leaves_option)
        _describe(out, command, playing, lexicon, games, {"leaves": field.leaves_name})
        tenths = []
        if check:
            tell = study_run.telling(check, "games", "check")
            tenths = calibration(table, play(check, playing.seed + 1, tell))
        if check or json_:
            study_run.show_rows({"tenths": tenths}, json_)


@app.command
def features(
    *,
    out: Path,
    games: study_run.Many | None = None,
    with_simulation: Annotated[bool, Parameter(negative="")] = False,
    threads: Annotated[
        options.ThreadsOption, Parameter(help="Games at once; what is learned is the same.")
    ] = 1,
    terms: _Terms = _Terms(),
) -> None:
    """Learn the weights of CS221's rack features; write them (JSON) and a picture.

    Args:
        out: The weights to write, F.json.
        games: How many to learn from. [default: 40,000; with simulation 3,000]
        with_simulation: Have mc+rh play, which samples before it moves; the weights are for it.
    """
    study_run.check_writable("--out", out)
    lexicon, rules = terms.load()
    from harness.lab.training.features import draw_rack_weights, train_features
    from lexicons.rack_features import write_rack_weights

    if games is None:
        games = 3_000 if with_simulation else 40_000
    with study_run.explaining(), options.working("playing games"):
        weights = train_features(
            lexicon,
            rules,
            games,
            terms.seed,
            lambda generation: options.print_notice(str(generation)),
            threads=threads,
            with_simulation=with_simulation,
        )
        simulating = " --with-simulation" if with_simulation else ""
        command = f"tilewire train features{terms.written()} --games {games}{simulating}"
        weights = replace(weights, made={"command": command, **weights.made})
        write_rack_weights(out, weights)
        study_run.draw_beside(out, draw_rack_weights, weights)
    options.print_notice(f"{out} is written")


def _show_round(floor: int, news: RoundDone | TableMade) -> None:
    from harness.lab.training.leaves import GENERATIONS, RoundDone

    if isinstance(news, RoundDone):
        options.print_notice(
            f"generation {news.generation + 1} of {len(GENERATIONS)}: {news.games:,} games "
            f"({figures.share(news.share)}), {news.games_per_s:,.0f} a second, "
            f"{figures.minutes(news.seconds_left)} left, {news.mean_score:.1f} points a player"
        )
        return
    values = []
    for text in _SHOWN_LEAVES:
        with suppress(ValueError):  # there are no such tiles
            tiles = news.leaves.distribution.alphabet.tiles(text)
            values.append(f"{text} {figures.number(news.leaves.value(tiles))}")
    options.print_notice(
        f"table {news.generation + 1}: {news.samples:,} racks in {news.games:,} games; leaves "
        f"moved {news.movement:.2f} points on average; {', '.join(values)}"
    )
    if news.generation + 1 == len(GENERATIONS):
        options.print_notice(
            f"the leave seen least was in {news.fewest_samples:,} racks; {news.below_floor:,} were "
            f"in fewer than {floor:,}"
        )


def _describe(
    out: Path,
    command: tuple[str, ...],
    playing: _Terms,
    lexicon: Lexicon,
    games: int,
    learned: dict[str, Any],
) -> None:
    """Write a manifest beside a table; its kind is the name of the command."""
    from lexicons.manifest import Manifest, write_manifest

    manifest = Manifest(
        kind=command[0],
        command=f"tilewire train {' '.join(command)}{playing.written()} --out {out.name}",
        seed=playing.seed,
        games=games,
        lexicon=lexicon.name,
        lexicon_checksum=lexicon.checksum,
        tiles=lexicon.distribution.name,
        version=version("tilewire"),
        sha256=hashlib.sha256(out.read_bytes()).hexdigest(),
        figures=learned,
    )
    write_manifest(out, manifest)
    drawn = "" if why_no_pictures() else f" and {out.name}.png"
    options.print_notice(f"{out} is written, with {out.name}.json{drawn}")
