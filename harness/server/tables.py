"""The kinds of table of a server: rules, words, clock, and the bots that can play there."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.rules.rule_sets import load_rules, rules_in_play
from engine.rules.rules import Rules
from harness.arbiter.records import Opened
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.arbiter.seat import Seat
from harness.game_kinds import MAIN, GameKind
from lexicons.store import Lexicon
from lexicons.text import did_you_mean
from protocol.errors import PeerError
from protocol.parts import TimeControl

if TYPE_CHECKING:
    from bot.equipment import Equipment


MOST_CASUAL = 256
"""Casual tables that are remembered, until a person seeks a game at them."""


@dataclass(frozen=True)
class Casual:
    """A person's game against a bot in which the person may have help; it counts for no ladder."""

    opening: str | None = None
    """The position (CGP) that it begins in, seat 0 first; None: an empty board."""
    seat: int | None = None
    """The person's seat; None: in turns with the bot."""


@dataclass(frozen=True, kw_only=True)
class TableKind:
    """What is played at a table."""

    lexicon: Lexicon
    rules: Rules = field(default_factory=load_rules)
    bots: dict[str, Callable[[], Seat]] = field(default_factory=dict)
    """Makes a seat for a built-in bot, by name."""
    time: TimeControl | None = None
    """None: the server's clock."""
    name: str = MAIN
    equipment: Equipment | None = None
    """The equipment of its bots; None: unknown."""
    casual: Casual | None = None
    """None: games here are no casual ones."""

    def suits(self, opened: Opened) -> bool:
        """Return whether a game can be played, or read, with the words of this table.

        Raises:
            ValueError: the game's rules make no sense.
        """
        if self.lexicon.checksum != opened.lexicon_checksum:
            return False
        return (
            self.lexicon.distribution.alphabet == rules_in_play(opened.rules).distribution.alphabet
        )


class ServerTables:
    """The tables of one server, the main one first.

    Args:
        other: makes the kind of a game of the journal whose words no table has, from where they
            were when it began; returns None if they can't be read.
    """

    def __init__(
        self,
        main: TableKind,
        others: Sequence[TableKind] = (),
        other: Callable[[Opened, str], TableKind | None] = lambda _opened, _location: None,
    ) -> None:
        self.main = main
        self._kinds = {kind.name: kind for kind in (main, *others)}
        self._other = other
        self._found: list[TableKind] = []
        """Kinds of resumed games whose table is gone."""
        self._casual: dict[str, TableKind] = {}
        """Tables of casual games, the latest only."""

    def __iter__(self) -> Iterator[TableKind]:
        return iter(self._kinds.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What ``seek.table`` may name; empty if there is nothing to choose."""
        return tuple(self._kinds) if len(self._kinds) > 1 else ()

    def find(self, name: str | None) -> TableKind:
        """Return the table of a name, by default the main one.

        Raises:
            PeerError: there is no such table.
        """
        kind = self._kinds.get(name or MAIN) or self._casual.get(name or MAIN)
        if kind is None:
            choices = (
                f"there are {', '.join(self.names)}" if self.names else "there is one kind only"
            )
            meant = did_you_mean(name or "", self._kinds)
            raise PeerError("unknown_table", f"no table is called {name!r} here{meant}; {choices}")
        return kind

    def add_casual(self, kind: TableKind, time: TimeControl, casual: Casual) -> str:
        """Add a table for a casual game by the rules of another; return what names it."""
        name = f"casual-{secrets.token_hex(8)}"
        self._casual[name] = replace(kind, time=time, casual=casual)
        if len(self._casual) > MOST_CASUAL:
            del self._casual[next(iter(self._casual))]
        return name

    def has_bot(self, name: str) -> bool:
        """Return whether a built-in bot plays at any of the tables."""
        return any(name in kind.bots for kind in self)

    def of_game(self, opened: Opened, location: str = "", began_at: str = MAIN) -> TableKind | None:
        """Return a table that has a game's words, and its rules if possible; None if none has.

        Of several, the table where it began comes first. A game goes on by the rules it began
        with, whatever the tables are now.

        Raises:
            ValueError: the game's rules make no sense.
        """
        kinds = sorted((*self, *self._found), key=lambda kind: kind.name != began_at)
        suiting: list[TableKind] = [kind for kind in kinds if kind.suits(opened)]
        if not suiting:
            found_kind: TableKind | None = self._other(opened, location) if location else None
            if found_kind is None or not found_kind.suits(opened):
                return None
            self._found.append(found_kind)
            return found_kind
        rules = rules_in_play(opened.rules)
        fitting = [kind for kind in suiting if kind.rules == rules]
        return (fitting or suiting)[0]

    def analysed(self) -> dict[str, GameKind]:
        """Return what can be analysed, by table."""
        return {
            kind.name: GameKind(
                equipment=kind.equipment, rules=rules_on_wire(kind.rules), words=kind.lexicon.name
            )
            for kind in self
            if kind.equipment is not None
        }

    def lexicon_of(self, opened: Opened) -> Lexicon | None:
        """Return the words of a game, if a table has them; raises as ``of_game``."""
        kind = self.of_game(opened)
        return None if kind is None else kind.lexicon
