"""What an analysing process is asked to do, as both ends of its pipe know it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from bot.equipment import Equipment
from protocol.parts import RulesInPlay

if TYPE_CHECKING:
    from engine.rules.rules import Rules

LENGTH = struct.Struct("<I")
"""Before each message: its length in bytes."""


MAIN = "main"
"""The table whose words and rules are meant where none is named."""


class GameKind(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The words, tables and rules that games of one kind are analysed with."""

    lexicon: str
    """A name or a path, as the tables behind it."""
    leaves: str | None = None
    win_probabilities: str | None = None
    rules: RulesInPlay = RulesInPlay()
    words: str = ""
    """What games call the lexicon."""

    @classmethod
    def of(cls, equipment: Equipment, rules: Rules | None = None, words: str = "") -> Self:
        """Return the kind of games that are played with an equipment, and these words."""
        return cls(
            words=words,
            lexicon=equipment.lexicon,
            leaves=equipment.leaves,
            win_probabilities=equipment.win_probabilities,
            rules=RulesInPlay() if rules is None else _on_wire(rules),
        )

    @property
    def equipment(self) -> Equipment:
        """Return what an analyst loads; it searches with one thread."""
        return Equipment(self.lexicon, self.leaves, self.win_probabilities)


def _on_wire(rules: Rules) -> RulesInPlay:
    from bot.seat.offers import rules_on_wire  # with numpy, which an analyst loads later

    return rules_on_wire(rules)


class Task(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game or a position to read, or a turn of it to analyse."""

    data: bytes
    """A GCG or a CGP, as it was given."""
    line: int | None = None
    """The line of the score sheet before which to analyse, 0 of a CGP; None: only read it."""
    move: str = ""
    """A move to compare with the best, in place of the played one."""
    seconds: float = 2.0
    rollouts: int | None = None
    """In place of a time; then the findings are the same everywhere."""
    seed: int = 0
    table: str | None = None
    """The table whose words and rules count; None: that which the game names the lexicon of."""
