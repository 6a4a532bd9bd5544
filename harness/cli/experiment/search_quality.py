"""``experiment regret``: how good simulations are, by longer ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from harness import figures
from harness.cli.failing import CommandFailed
from harness.cli.field import load_chances, load_field
from harness.cli.long_runs import check_cores, show_rows, with_error, work_through
from harness.cli.options import (
    Duration,
    JsonOption,
    LeavesOption,
    LexiconOption,
    WinprobOption,
    check_counts,
    check_durations,
    load_words,
    parse_duration,
)

if TYPE_CHECKING:
    from harness.lab.studies.regret import RegretRow
    from harness.lab.studies.searches import Ground

__all__ = ["regret"]


@Parameter(name="*")
@dataclass(frozen=True)
class _Searching:
    """What is searched, and how it is shown."""

    lexicon: LexiconOption = "scowl"
    """An embedded lexicon, or a word list or KWG file."""
    leaves: LeavesOption = None
    """trained, formula or a leave table (KLV2). [default: the players' own]"""
    winprob: WinprobOption = None
    """trained, or a table of win probabilities (CSV). [default: the players' own]"""
    candidates: int = 15
    """How many moves of the highest static equity are compared."""
    plies: int = 2
    """Turns after a candidate."""
    workers: int = 1
    """How many positions at once, each in a process and, for regret, on a core of its own."""
    seed: int = 0
    """For the positions and all else that chance does."""
    json_: JsonOption = False
    """Print JSON, a list of rows."""

    def ground(self) -> Ground:
        """Load what is searched with, or fail with a sentence."""
        check_counts(candidates=self.candidates, plies=self.plies, workers=self.workers)
        from harness.lab.studies.searches import Ground

        field = load_field(load_words(self.lexicon), self.leaves, self.winprob)
        chances = load_chances(field, self.winprob)
        if chances is None:
            raise CommandFailed(f"{field.rules.distribution.name} tiles need --winprob")
        return Ground(
            lexicon=field.lexicon,
            rules=field.rules,
            leaves=field.leaves,
            win_probabilities=chances,
            candidates=self.candidates,
            plies=self.plies,
            seed=self.seed,
        )


def regret(
    *,
    out: Path,
    positions: int = 200,
    times: str = "50ms,200ms,1s",
    reference: Duration = 20_000,
    rules: str = "top-two,elimination,ocba,equal",
    searching: _Searching | None = None,
) -> None:
    """Choose moves by short simulations, and see by a long one what each choice costs.

    Args:
        out: Where results are kept, a line of JSON a position; the same command goes on with it.
        positions: How many, each of a game between static players, with tiles in the bag.
        times: How long the short ones take: durations, with commas between.
        reference: How long the long one takes, in two halves.
        rules: How samples are shared out: names of rules, with commas between.
        searching: With what.
    """
    searching = searching or _Searching()
    check_counts(positions=positions)
    check_cores(searching.workers)
    named, times_ms = _rules(rules), tuple(map(_milliseconds, times.split(",")))
    check_durations(reference=reference)
    from harness.lab.studies.regret import Question, regret_rows, regrets_in

    ground = searching.ground()
    settings = {
        "experiment": "regret",
        "rules": named,
        "times_ms": times_ms,
        "reference_ms": reference,
        **ground.about(),
    }

    def show(records: Sequence[dict[str, Any]]) -> None:
        rows = regret_rows(records, named, times_ms)
        show_rows(rows, _REGRET, _regret_row, searching.json_)

    question = Question(ground, named, times_ms, reference)
    work_through(
        out,
        settings,
        positions,
        regrets_in,
        question,
        show,
        workers=searching.workers,
        what="positions",
    )


# --- what is given --------------------------------------------------------------------------------


def _rules(text: str) -> tuple[str, ...]:
    from engine.simulation.sampling import RULES

    named = tuple(text.split(","))
    for one in named:
        if one not in RULES:
            raise CommandFailed(f"--rules: no rule is called {one!r}; known: {', '.join(RULES)}")
    return named


def _milliseconds(text: str) -> int:
    try:
        time_ms = parse_duration(text)
    except ValueError as error:
        raise CommandFailed(f"--times: {error}") from None
    check_durations(times=time_ms)
    return time_ms


# --- what is told ---------------------------------------------------------------------------------


_REGRET = (
    "rule",
    "time",
    "positions",
    "regret, win % (95 %)",
    "at least",
    "points",
    "best chosen",
    "rollouts",
    "more than equal's",
)


def _regret_row(row: RegretRow) -> tuple[str, ...]:
    return (
        row.rule,
        figures.duration(row.time_ms) if row.time_ms else figures.DASH,
        f"{row.positions:,}",
        with_error(row.regret, row.regret_error, 3),
        with_error(row.at_least, row.at_least_error, 3),
        with_error(row.points, row.points_error, 2),
        figures.share(row.same),
        f"{row.rollouts:,}",
        with_error(row.over_equal, row.over_equal_error, 3),
    )
