"""Running a study: shared options, words and tables, files, workers, progress, printing."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from cyclopts import Parameter
from msgspec import Meta

from bot.cores import usable_cores
from harness import figures
from harness.pictures import why_no_pictures

from . import options
from .failing import CommandFailed, print_json, sentences

if TYPE_CHECKING:
    from engine.rules.rules import Rules
    from harness.lab.rows import Tables
    from harness.lab.study import Record, RecordFile, Study
    from harness.lab.study_context import Field
    from lexicons.store import Lexicon
    from lexicons.win_probability import WinProbabilities

_T = TypeVar("_T")
_Then: TypeAlias = "Callable[[Sequence[Record]], object]"

Many: TypeAlias = Annotated[int, Meta(ge=1, le=100_000_000)]
"""A number of games or positions; results are kept in memory, so more would be a slip."""


StudyRulesOption: TypeAlias = Annotated[
    options.RulesOption, Parameter(show_default="those of the lexicon's tiles")
]


@Parameter(name="*")
@dataclass(frozen=True)
class StudyRun:
    """Words, tables, workers, and how results are kept and shown."""

    rules: StudyRulesOption = None
    lexicon: options.RulesLexiconOption = "scowl"
    leaves: options.LeavesOption = None
    workers: options.WorkersOption = 1
    """How many games or positions at once, each in a process and on a core of its own."""
    cluster: options.ClusterOption = None
    seed: options.SeedOption = 0
    out: Annotated[Path | None, Parameter(name="--out")] = None
    """Where results are kept, a line of JSON each; the same command resumes it."""
    json_: options.JsonOption = False
    """Print JSON."""

    def field(self, *modules: str, winprob: str | None = None) -> Field:
        """Load words, rules and a leave table, and compile what ``modules`` use, or fail."""
        lexicon, rules = load_words_and_rules(self.lexicon, self.rules)
        return load_field(lexicon, self.leaves, winprob, rules, modules)

    def check_cores(self, threads: int = 1) -> None:
        """Check that searches against the clock don't wait for each other, or fail."""
        cores = usable_cores()
        if self.cluster is None and self.workers * threads > cores:
            each = f" with --threads {threads}" if threads > 1 else ""
            raise CommandFailed(
                f"--workers {self.workers}{each}: searches against the clock need a core each, and "
                f"there are {cores} here"
            )

    def work(
        self, studies: Sequence[Study], count: int, *, above: Sequence[Any] = (), then: _Then = id
    ) -> Tables:
        """Do what is missing, show all results, also when stopped, and return them as rows.

        The studies share a file; each has ``count`` units. The rows ``above`` are shown first,
        and ``then`` is called with the records of the last one.
        """
        from engine.rules.rules import standard_rules
        from harness.lab.study import fill, open_records
        from harness.lab.study_context import rules_mark
        from harness.workers import open_workers

        def show(file: RecordFile) -> Tables:
            rows: dict[str, list[Any]] = {}
            for study in studies:
                for name, some in study.summary(file.chosen(study, count)).items():
                    rows.setdefault(name, list(above)).extend(some)
            if studies[0].one_row:
                (only,) = rows.values()
                show_figures(only[0] if only else None, self.json_)
            else:
                show_rows(rows, self.json_)
            then(file.chosen(studies[-1], count))
            return rows

        with resumable(self.out):
            for study in studies:
                study.check(count)
            settings = studies[0].settings()
            # A file says nothing of the usual rules.
            mark = self.rules and rules_mark(options.load_rule_set(self.rules))
            if mark and mark != rules_mark(standard_rules()):
                settings["rules"] = mark
            with open_records(self.out, settings) as file:
                try:
                    with (
                        options.working(f"{count:,} {studies[0].unit} to do"),
                        open_workers(self.workers, self.cluster, options.print_notice) as workers,
                    ):
                        for study in studies:
                            tell = telling(count, study.unit, study.name)
                            fill(study, file, count, workers, tell)
                except KeyboardInterrupt:
                    show(file)
                    raise
                return show(file)


def load_words_and_rules(lexicon: str, rules: str | None) -> tuple[Lexicon, Rules | None]:
    """Load what ``--lexicon`` and ``--rules`` name, or fail; without rules, None for them."""
    if rules is None:
        return options.load_words(lexicon), None
    loaded = options.load_rule_set(rules)
    tiles = loaded.distribution
    return options.load_words(options.lexicon_for(lexicon, tiles), tiles), loaded


def load_field(
    lexicon: Lexicon,
    leaves: str | None = None,
    winprob: str | None = None,
    rules: Rules | None = None,
    modules: Sequence[str] = (),
) -> Field:
    """Return words, rules and a leave table, and compile kernels, or fail with a sentence.

    ``rules`` None: the usual ones with the lexicon's tiles. ``leaves`` None: the players' own.
    ``winprob`` is only checked: ``load_chances`` returns it. ``modules`` are those whose kernels
    will be used.
    """
    from bot.equipment import Equipment
    from engine.rules.rule_sets import rules_for
    from harness.lab.study_context import Field
    from lexicons.tables import table_name

    options.compile_first(modules)
    rules = rules or rules_for(lexicon.distribution)
    loaded = options.load_given(Equipment(leaves=leaves, win_probabilities=winprob), lexicon)
    return Field.of(lexicon, rules, loaded.leaves, table_name(leaves, rules.distribution))


def load_chances(field: Field, winprob: str | None) -> WinProbabilities:
    """Return the named table, which isn't read twice, or the players' own chances of winning."""
    from lexicons.tables import load_win_probabilities, win_probabilities_for

    if winprob is None:
        return win_probabilities_for(field.rules.distribution)
    return load_win_probabilities(winprob, field.rules.distribution)


def show_rows(tables: Tables, as_json_text: bool) -> None:
    """Print tables as text, folded to the terminal's width, or as JSON: of one table, its list."""
    from harness.lab.rows import as_text

    from .board_view import terminal_width

    if as_json_text:
        objects = {name: list(map(dataclasses.asdict, rows)) for name, rows in tables.items()}
        print_json(objects if len(objects) > 1 else objects.popitem()[1])
    else:
        print(as_text(tables, terminal_width()))


def show_figures(row: Any, as_json_text: bool) -> None:
    """Print a row with a line for each field, or as a JSON object; None has no lines."""
    from harness.lab.rows import figures_text

    if as_json_text:
        print_json(row and dataclasses.asdict(row))
    elif row is not None:
        print(figures_text(row))


def check_writable(option: str, path: Path | None) -> None:
    """Check that the file of an option, if given, can be written, before hours are spent."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise CommandFailed(f"{option} {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise CommandFailed(f"{option} {path}: nothing can be written to {path.parent.absolute()}")
    if path.is_dir():
        raise CommandFailed(f"{option} {path} is a folder; a file is to be written")


def check_drawable(option: str) -> None:
    """Check that the pictures that an option asks for can be drawn, before work is spent."""
    if why_not := why_no_pictures():
        raise CommandFailed(f"{option}: {why_not}")


def draw_beside(out: Path, draw: Callable[[_T, Path], None], what: _T) -> None:
    """Draw a picture of what was written to ``out``, beside it, or say why there is none.

    Raises:
        OSError: the file can't be written.
    """
    path = out.with_name(f"{out.name}.png")
    if why_not := why_no_pictures():
        options.print_notice(f"{path} is left out: {why_not}")
    else:
        draw(what, path)


@contextmanager
def explaining(option: str = "", path: Path | None = None) -> Iterator[None]:
    """Turn what goes wrong with the file of an option, or with workers, into a sentence."""
    from harness.workers import WorkersError

    with (
        sentences(kinds=(WorkersError,), status=1),
        sentences("" if path is None else f"{option} {path}: ", (OSError,)),
        sentences(kinds=(ValueError, MemoryError)),
    ):
        yield


@contextmanager
def resumable(out: Path | None) -> Iterator[None]:
    """Turn what goes wrong into a sentence, and say after Ctrl-C how to resume."""
    with explaining("--out", out):
        try:
            yield
        except KeyboardInterrupt:
            options.print_notice(
                f"stopped; the same command goes on with {out}" if out else "stopped"
            )
            raise


def telling(
    wanted: int, what: str, of: str = "", *, clock: Callable[[], float] = time.monotonic
) -> Callable[[int], None]:
    """Return a function that reports progress of ``wanted`` units, and how long the rest takes.

    That goes by what came after its first call, since workers take their time to begin. ``what``
    names the units, in the plural, and ``of`` whose they are; ``clock`` is in seconds.
    """
    last_shown, every_s = clock(), options.FIRST_S
    began: tuple[float, int] | None = None

    def tell(there: int) -> None:
        nonlocal last_shown, every_s, began
        now, there = clock(), min(there, wanted)  # a last piece of work may bring more
        began = began or (now, there)
        pause_s = 0.5 if options.is_terminal() else every_s
        if there < wanted and now - last_shown <= pause_s:
            return
        last_shown, every_s = now, options.EVERY_S
        since, before = began
        left = ""
        if before < there < wanted:
            seconds = (now - since) / (there - before) * (wanted - there)
            left = f", {figures.minutes(seconds)} left"
        line = f"{of}: {there:,} of {wanted:,} {what}{left}".removeprefix(": ")
        if there < wanted:
            options.show_progress(line, there / wanted)
        else:
            options.print_notice(line)

    return tell
