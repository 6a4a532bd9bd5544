"""Loading what studies and benchmarks are played with: words, rules, tables."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .options import load_given, say

if TYPE_CHECKING:
    from harness.lab.study_context import Field
    from lexicons.store import Lexicon
    from lexicons.win_probability import WinProbabilities

__all__ = ["load_chances", "load_field"]


def load_field(lexicon: Lexicon, leaves: str | None = None, winprob: str | None = None) -> Field:
    """Return words, the usual rules and a leave table, or fail with a sentence.

    Args:
        lexicon: the words.
        leaves: a name or path; None: the players' own.
        winprob: a name or path, which is checked; ``load_chances`` returns the table.
    """
    from bot.equipment import Equipment
    from engine.rules.rules import standard_rules
    from harness.lab.study_context import Field
    from lexicons.tables import leaves_name

    _tell_of_compiling()
    rules = standard_rules()
    given = load_given(Equipment(leaves=leaves, win_probabilities=winprob), lexicon)
    return Field.of(lexicon, rules, given.leaves, leaves_name(leaves, rules.distribution))


def load_chances(field: Field, winprob: str | None) -> WinProbabilities | None:
    """Return the win probabilities to simulate with, the players' own if none are named.

    A table that ``load_field`` has read is not read again.
    """
    from lexicons.tables import load_win_probabilities, win_probabilities_for

    if winprob is None:
        return win_probabilities_for(field.rules.distribution)
    return load_win_probabilities(winprob, field.rules.distribution)


@cache
def _tell_of_compiling() -> None:
    """Have compilation announced, once per process."""
    from lexicons.jit import announce_compilation

    announce_compilation(say)
