"""The equipment of studies and benchmarks: words, rules, leaves, and warm kernels."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from engine.rules.rules import Rules
from lexicons.jit import load
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon
from lexicons.tables import leaves_for, table_name

if TYPE_CHECKING:
    from engine.movegen.generator import Generator


@dataclass(frozen=True)
class Field:
    """Words, rules and leaves; sent to worker processes."""

    lexicon: Lexicon
    rules: Rules
    leaves: LeaveTable
    leaves_name: str = ""
    own_leaves: bool = False

    @classmethod
    def of(
        cls, lexicon: Lexicon, rules: Rules, leaves: LeaveTable | None = None, name: str = ""
    ) -> Field:
        """Return a field; without ``leaves`` it has the table that players use by default."""
        if leaves is not None:
            return cls(lexicon, rules, leaves, name)
        tiles = rules.distribution
        return cls(lexicon, rules, leaves_for(tiles), table_name(None, tiles), own_leaves=True)

    @cached_property
    def words(self) -> int:
        """The number of words in the lexicon."""
        return sum(1 for _ in self.lexicon.graph.words())

    def generator(self) -> Generator:
        """Return a generator of its moves, for one thread."""
        from engine.movegen.generator import Generator  # with kernels, which not all callers need

        return Generator(self.lexicon, self.rules, self.leaves)


def rules_mark(rules: Rules) -> str:
    """Return rules' name and a checksum of their tiles, board and numbers."""
    content = repr(asdict(rules)).encode()
    return f"{rules.name} {hashlib.sha256(content).hexdigest()[:12]}"


@cache
def ready() -> None:
    """Load all kernels, once a process, before timing anything."""
    load()
