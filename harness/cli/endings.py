"""``bench endgame`` and ``endgame-check``, ``experiment endings``: the solver of endgames."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from .. import figures
from .failing import CommandFailed
from .field import load_field
from .long_runs import check_cores, check_counts, fill, going_on, show_rows, telling, with_error
from .options import (
    Duration,
    JsonOption,
    LeavesOption,
    LexiconOption,
    ThreadsOption,
    load_words,
    say,
)
from .solving import USUAL_MEMORY, Memory

if TYPE_CHECKING:
    from ..bench.endgame_check import CheckRow
    from ..bench.selfplay import Field
    from ..experiments.played_out import PlayedOut

__all__ = ["endgame", "endgame_check", "endings"]

_Common = TypeVar("_Common")
_Records = Sequence[dict[str, Any]]


@Parameter(name="*")
@dataclass(frozen=True)
class _Solving:
    """What is played with, and how it is shown."""

    lexicon: LexiconOption = "scowl"
    """An embedded lexicon, or a word list or KWG file."""
    leaves: LeavesOption = None
    """trained, formula or a leave table (KLV2) of static players. [default: the players' own]"""
    workers: int = 1
    """How many positions at once, each in a process and on a core of its own."""
    seed: int = 0
    """For the games that positions are of."""
    out: Annotated[Path | None, Parameter(name="--out")] = None
    """Where results are kept, a line of JSON a position; the same command goes on with it."""
    json_: JsonOption = False
    """Print JSON."""

    def field(self) -> Field:
        """Load words, rules and a leave table, or fail with a sentence."""
        check_counts(workers=self.workers)
        return load_field(load_words(self.lexicon), self.leaves)

    def work(
        self,
        experiment: str,
        settings: Mapping[str, object],
        count: int,
        function: Callable[[_Common, int], dict[str, Any]],
        common: _Common,
        show: Callable[[_Records], None],
    ) -> None:
        """Work out what is missing and show all that there is, also when it is stopped.

        One worker is this process itself.
        """
        from ..experiments.games import open_players
        from ..experiments.lines import open_lines

        about = {"experiment": experiment, "seed": self.seed, **settings}
        with going_on(self.out), open_lines(self.out, about) as lines:
            try:
                if lines.missing(count):
                    with open_players(self.workers, say) as crew:
                        fill(lines, count, crew, function, common, telling(count, "positions"))
            except KeyboardInterrupt:
                show(lines.records)
                raise
            show(lines.records[:count])


def endgame(
    *,
    positions: int = 300,
    time: Duration = 30_000,
    memory: Memory = USUAL_MEMORY,
    threads: ThreadsOption = 1,
    solving: _Solving | None = None,
) -> None:
    """Solve endgames of static games; print how soon they are proven, and how good values are then.

    Args:
        positions: How many, each the first with an empty bag of a game of its own.
        time: For each, at most.
        memory: That the solver may take.
        threads: That it searches with.
        solving: With what.
    """
    solving = solving or _Solving()
    check_counts(positions=positions, threads=threads)
    _check_time(time, solving.workers)
    from ..bench.endgame import Proving, endgame_summary, proven_in

    field = solving.field()
    _check_memory(memory, threads)

    def show(records: _Records) -> None:
        found = endgame_summary(records, time, memory)
        if solving.json_:
            print(json.dumps(found and dataclasses.asdict(found), ensure_ascii=False))
        elif found is not None:
            print(figures.table(("figure", "value"), _figures(dataclasses.asdict(found))))

    solving.work(
        "bench endgame",
        {**_about(field), "time_ms": time, "memory": memory, "threads": threads},
        positions,
        proven_in,
        Proving(field, solving.seed, time, memory, threads),
        show,
    )


def endgame_check(
    *, small: int = 500, real: int = 200, nodes: int = 20_000, solving: _Solving | None = None
) -> None:
    """See whether proven values of endgames are right: by plain minimax, and by each other.

    Exit status 1 says that something differs.

    Args:
        small: How many endgames of three tiles a side at most are held against plain minimax.
        real: How many first positions with an empty bag are proven in several ways.
        nodes: That the first proof of a real one may take; those that take more are passed over.
        solving: With what.
    """
    solving = solving or _Solving()
    check_counts(nodes=nodes)
    if min(small, real) < 0 or not small + real:
        raise CommandFailed(f"--small {small} --real {real}: there is at least one endgame")
    from ..bench.endgame_check import Checking, check_rows, checked, differences

    field = solving.field()
    wrong = 0

    def show(records: _Records) -> None:
        nonlocal wrong
        rows, differ = check_rows(records), differences(records)
        wrong = len(differ)
        if solving.json_:
            found = {"rows": rows, "differences": differ}
            print(json.dumps(found, default=dataclasses.asdict, ensure_ascii=False))
            return
        show_rows(rows, _CHECK, _check_row, as_json=False)
        for one in differ:
            print(f"{one.number}, {one.what}: {one.found}, not {one.expected}: {one.cgp}")

    solving.work(
        "bench endgame-check",
        {**_about(field), "small": small, "nodes": nodes},
        small + real,
        checked,
        Checking(field, solving.seed, small, nodes),
        show,
    )
    if wrong:
        raise CommandFailed(f"{wrong} comparisons differ", status=1)


def endings(
    *,
    positions: int = 1_000,
    time: Duration = 1_000,
    memory: Memory = USUAL_MEMORY,
    solving: _Solving | None = None,
) -> None:
    """See what solving endgames gains on static play, from the moment the bag is empty.

    Each position is played twice, the solver once in either seat.

    Args:
        positions: How many, each the first with an empty bag of a game of its own.
        time: For a turn of the solver.
        memory: That the solver may take.
        solving: With what.
    """
    solving = solving or _Solving()
    check_counts(positions=positions)
    _check_time(time, solving.workers)
    from ..experiments.played_out import PlayingOut, played_out, played_out_row

    field = solving.field()
    _check_memory(memory, 1)

    def show(records: _Records) -> None:
        show_rows([played_out_row(records)], _PLAYED_OUT, _played_out_row, solving.json_)

    solving.work(
        "endings",
        {**_about(field), "time_ms": time, "memory": memory},
        positions,
        played_out,
        PlayingOut(field, solving.seed, time, memory),
        show,
    )


# --- what is given --------------------------------------------------------------------------------


def _about(field: Field) -> dict[str, object]:
    """Say which games positions are of, words and leaves by checksums."""
    leaves = hashlib.sha256(field.leaves.values.tobytes()).hexdigest()
    return {"lexicon": field.lexicon.checksum, "leaves": leaves}


def _check_time(time_ms: int, workers: int) -> None:
    """See that solvers have time, and a core each, or fail."""
    if time_ms < 1:
        raise CommandFailed("--time is a millisecond or more")
    check_cores(workers)


def _check_memory(memory: int, threads: int) -> None:
    """See that a solver can do with so much, before there is a file or a worker."""
    from engine.endgame import least_memory

    if memory < (least := least_memory(threads)):
        raise CommandFailed(f"--memory: {threads} threads take {least >> 20}M or more")


# --- what is told ---------------------------------------------------------------------------------

_CHECK = ("endgames", "by", "compared", "differ", "not proven")
_PLAYED_OUT = (
    "positions",
    "gain, points a game (95 %)",
    "games won (95 %)",
    "proven at once",
    "won for sure",
    "lost nonetheless",
    "short of what was proven",
)


def _figures(found: dict[str, Any]) -> list[tuple[str, str]]:
    proven = found["proven"]
    return [
        ("positions", f"{found['positions']:,}"),
        *((f"proven in {at}", figures.share(one)) for at, one in proven.items()),
        ("median time to the proof", figures.duration(found["median_ms"])),
        ("… of those proven", figures.duration(found["median_of_proven_ms"])),
        ("nodes a second", f"{found['nodes_per_s']:,}"),
        ("plies where nothing was proven, median", figures.number(found["depth"])),
        ("memory, most", f"{found['memory_mb']:,.1f} MB"),
        ("memory it was told", f"{found['memory_told_mb']:,.0f} MB"),
        ("of those proven: the same value after 1 s", figures.share(found["same_early"])),
        ("… within 2 points", figures.share(found["near_early"])),
        ("… the same, of those proven later", figures.share(found["held_early"])),
    ]


def _check_row(row: CheckRow) -> tuple[str, ...]:
    return row.endgames, row.what, f"{row.compared:,}", f"{row.differ:,}", f"{row.unproven:,}"


def _played_out_row(row: PlayedOut) -> tuple[str, ...]:
    return (
        f"{row.positions:,}",
        with_error(row.gain, row.gain_error, 2, sign=True),
        with_error(row.won, row.won_error, 1, times=100, unit=" %"),
        f"{row.proven:,} of {2 * row.positions:,}",
        f"{row.won_for_sure:,}",
        f"{row.lost_nonetheless:,}",
        f"{row.short:,}",
    )
