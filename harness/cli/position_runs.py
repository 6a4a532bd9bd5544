"""What long runs have in common that work something out in one position after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from cyclopts import Parameter

from .failing import CommandFailed
from .field import load_field
from .long_runs import work_through
from .options import JsonOption, LeavesOption, LexiconOption, check_counts, load_words

if TYPE_CHECKING:
    from harness.lab.study_context import Field

__all__ = ["PositionRun", "Records", "check_memory"]

Records: TypeAlias = Sequence[dict[str, Any]]

_Common = TypeVar("_Common")


@Parameter(name="*")
@dataclass(frozen=True)
class PositionRun:
    """What is played with, and how it is shown."""

    lexicon: LexiconOption = "scowl"
    """An embedded lexicon, or a word list or KWG file."""
    leaves: LeavesOption = None
    """trained, formula or a leave table (KLV2) of the static players whose games positions are of.
    [default: the players' own]"""
    workers: int = 1
    """How many positions at once, each in a process and on a core of its own."""
    seed: int = 0
    """For those games, and for all else that chance does."""
    out: Annotated[Path | None, Parameter(name="--out")] = None
    """Where results are kept, a line of JSON a position; the same command goes on with it."""
    json_: JsonOption = False
    """Print JSON."""

    def field(self) -> Field:
        """Load words, rules and a leave table, or fail with a sentence."""
        check_counts(workers=self.workers)
        if self.seed < 0:
            raise CommandFailed(f"--seed {self.seed}: it is 0 or more")
        return load_field(load_words(self.lexicon), self.leaves)

    def work(
        self,
        experiment: str,
        settings: Mapping[str, object],
        count: int,
        function: Callable[[_Common, int], dict[str, Any]],
        common: _Common,
        field: Field,
        show: Callable[[Records], None],
    ) -> None:
        """Work out what is missing and show all that there is (``work_through``).

        Args:
            experiment: its name in the file.
            settings: what else a file has to agree with.
            count: how many positions.
            function: gives the record of a number; at the top of a module.
            common: what it needs besides.
            field: words and leaves, which the file is told by their checksums.
            show: shows records.
        """
        about = {**self._about(experiment, field), **settings}
        work_through(
            self.out,
            about,
            count,
            function,
            common,
            show,
            workers=self.workers,
            what="positions",
        )

    def _about(self, experiment: str, field: Field) -> dict[str, object]:
        """Say which games positions are of."""
        about = {"experiment": experiment, "seed": self.seed}
        return about | {"lexicon": field.lexicon.checksum, "leaves": field.leaves.checksum}


def check_memory(memory: int, threads: int = 1) -> None:
    """See that a solver can do with so much, before there is a file or a worker, or fail."""
    from engine.endgame import least_memory

    if memory < (least := least_memory(threads)):
        raise CommandFailed(
            f"--memory: with so many threads ({threads}) it is {least >> 20}M or more"
        )
