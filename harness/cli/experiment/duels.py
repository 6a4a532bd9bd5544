"""``experiment duel`` and ``experiment cs221``: simple players, in kernels or turn by turn."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from harness import figures
from harness.cli.failing import CommandFailed
from harness.cli.field import load_field
from harness.cli.long_runs import going_on, telling, with_error
from harness.cli.options import (
    JsonOption,
    LeavesOption,
    LexiconOption,
    ThreadsOption,
    load_words,
)

from .engine_table import COLUMNS, AgainstEngine

if TYPE_CHECKING:
    from harness.lab.studies.duel import Duel, Judge
    from harness.lab.study_context import Field

__all__ = ["cs221", "duel"]


@Parameter(name="*")
@dataclass(frozen=True)
class _Playing:
    """What is played with, and how it is shown."""

    lexicon: LexiconOption = "scowl"
    """An embedded lexicon, or a word list or KWG file."""
    threads: ThreadsOption = 1
    """How many games at once; they are the same in any number of threads."""
    seed: int = 0
    """For the bags."""
    json_: JsonOption = False
    """Print one JSON object a pair of players, in a list."""

    def field(self, leaves: str | None) -> Field:
        """Load words, rules and a leave table, or fail with a sentence."""
        return load_field(load_words(self.lexicon), leaves)

    def show(self, *tables: Sequence[Duel]) -> None:
        """Print what came of it."""
        if self.json_:
            rows = [dataclasses.asdict(one) for table in tables for one in table]
            print(json.dumps(rows, ensure_ascii=False))
            return
        print("\n\n".join(figures.table(COLUMNS, list(map(_row, one))) for one in tables))


def duel(
    player: str, opponent: str, /, *, games: int = 40_000, playing: _Playing | None = None
) -> None:
    """Play one player against another, in pairs of games with the same draws.

    Args:
        player: greedy, vanilla, rh, or the leave table that static plays by: trained, formula, or a
            file (KLV2).
        opponent: The same.
        games: How many.
        playing: With what.
    """
    playing = playing or _Playing()
    from harness.lab.studies.duel import play_duel

    field = playing.field(None)
    judges = _judge(player, field), _judge(opponent, field)
    try:
        found = play_duel(
            (player, opponent),
            judges,
            field.lexicon,
            field.rules,
            games,
            threads=playing.threads,
            seed=playing.seed,
        )
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    playing.show([found])


def cs221(
    *,
    games: int = 300,
    leaves: LeavesOption = None,
    out: Annotated[Path | None, Parameter(name="--out")] = None,
    against: AgainstEngine | None = None,
    playing: _Playing | None = None,
) -> None:
    """Play the tables of CS221 (Stanford 2016): simple players, and those who sample.

    Static, rh and vanilla play each other in kernels; vanilla, rh, mc and mc+rh each play vanilla
    turn by turn. With --engine the last four, and champion, play matches against that engine
    instead, as the students' did against Quackle's Speedy Player.

    Args:
        games: How many for each two.
        leaves: trained, formula, or a leave table (KLV2) for static. [default: the players' own]
        out: A file (JSON lines) for the games of the second table; those that it has are not
            played again.
        against: An engine to play against.
        playing: With what.
    """
    playing, against = playing or _Playing(), against or AgainstEngine()
    if against.engine is not None:
        against.play(
            games=games,
            lexicon=playing.lexicon,
            leaves=leaves,
            seed=playing.seed,
            concurrency=playing.threads,
            out=out,
            as_json=playing.json_,
        )
        return
    against.check_unused()
    from harness.lab.studies.cs221 import measure_cs221, measure_sampling
    from lexicons.rack_features import leave_table, shipped_rack_weights

    field = playing.field(leaves)
    racks = leave_table(shipped_rack_weights(), field.rules.distribution)
    with going_on(out):
        found = measure_cs221(field, racks, games, playing.threads, playing.seed)
        sampled = measure_sampling(
            field,
            games,
            playing.threads,
            playing.seed,
            out,
            lambda player: telling(games, "games", player),
        )
    playing.show(found, sampled)


def _judge(name: str, field: Field) -> Judge:
    """Say what a player judges by."""
    from engine.movegen.evaluation import PLAIN
    from harness.lab.studies.duel import Judge, greedy, static, vanilla
    from lexicons.rack_features import leave_table, shipped_rack_weights

    if name == "greedy":
        return greedy(field.leaves)
    if name == "vanilla":
        return vanilla(field.leaves)
    if name == "rh":
        return Judge(leave_table(shipped_rack_weights(), field.rules.distribution), PLAIN)
    return static(load_field(field.lexicon, name).leaves)


def _row(one: Duel) -> tuple[str, ...]:
    return (
        f"{one.player} – {one.opponent}",
        f"{one.games:,}",
        figures.share(one.wins),
        figures.number(one.mean),
        figures.number(one.opponent_mean),
        with_error(one.difference, one.error, 2, sign=True),
        figures.number(100 * one.lost_twice, 2, unit=" %"),
        figures.number(one.largest_ratio, 2),
    )
