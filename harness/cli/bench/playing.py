"""With what a measurement plays: words, tables, threads, and a seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter

from harness.cli.failing import CommandFailed
from harness.cli.field import load_field
from harness.cli.options import (
    JsonOption,
    LeavesOption,
    LexiconOption,
    ThreadsOption,
    WinprobOption,
    load_words,
)

if TYPE_CHECKING:
    from harness.lab.study_context import Field

__all__ = ["SYNTHETIC", "Playing"]

_T = TypeVar("_T")
SYNTHETIC = "synthetic"
"""The name of leaves that are made up."""
_SEED = 1


@Parameter(name="*")
@dataclass(frozen=True)
class Playing:
    """What is played with, and how it is shown."""

    lexicon: LexiconOption = "scowl"
    """An embedded lexicon, or a word list or KWG file."""
    words: int | None = None
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
            help="trained, or a table of win probabilities (CSV); static players do not use it."
        ),
    ] = None
    threads: Annotated[
        ThreadsOption, Parameter(help="Threads; games are the same with any number of them.")
    ] = 1
    seed: int = 0
    """For the bags, and all else that chance does."""
    json_: JsonOption = False
    """Print one JSON object."""

    def field(self) -> Field:
        """Load it, or fail with a sentence."""
        lexicon = load_words(self.lexicon)
        from harness.lab.bench.selfplay import sample_words
        from lexicons.tables import FORMULA

        if self.words is not None:
            try:
                lexicon = sample_words(lexicon, self.words, self.seed)
            except ValueError as error:
                raise CommandFailed(f"--words: {error}") from None
        if self.leaves != SYNTHETIC:
            return load_field(lexicon, self.leaves, self.winprob)
        from lexicons.leaves import synthetic_leaves

        field = load_field(lexicon, FORMULA, self.winprob)  # made up for no words, like that one
        table = synthetic_leaves(field.rules.distribution, _SEED)
        name = f"{SYNTHETIC}, seed {_SEED}"
        return dataclasses.replace(field, leaves=table, leaves_name=name)

    def measure(self, measure: Callable[[Field, int, int, int], _T], number: int) -> _T:
        """Call a measurement with a number of units, or fail with a sentence."""
        field = self.field()
        try:
            return measure(field, number, self.threads, self.seed)
        except ValueError as error:
            raise CommandFailed(str(error)) from None
