"""Kinds of games that a server has: their words, tables and rules, by the name of a table."""

from __future__ import annotations

from msgspec import Struct

from bot.equipment import Equipment
from protocol.parts import RulesInPlay

MAIN = "main"
"""The table whose words and rules apply where none is named."""


class GameKind(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The words, tables and rules of games of one kind, which are played and analysed with them."""

    equipment: Equipment
    rules: RulesInPlay = RulesInPlay()
    words: str = ""
    """The name that games give the lexicon."""
