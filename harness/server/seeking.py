"""Which player seeks which, by name, and who moves first: in turns when the same two meet again.

An opponent is found by index, however many wait.

Of two seeks that suit each other the later finds the earlier, so a seek that was tried in vain need
not be tried again: the work grows with the number of seeks.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, TypeAlias

from protocol.messages import Seek

if TYPE_CHECKING:
    from .ladder.ladder import Ladder

PAIRS_KEPT = 1_024
"""Pairs of players of whom it is known who moved first in their last game."""

_Wanted: TypeAlias = tuple[str | None, str | None]
"""An opponent and a table."""


def _wanted(wish: Seek) -> _Wanted:
    return wish.opponent, wish.table


class Seeks:
    """Players' seeks, first come first served."""

    def __init__(self) -> None:
        self._wishes: dict[str, Seek] = {}
        self._places: dict[str, int] = {}
        """Order of arrival, by name."""
        self._seekers: dict[_Wanted, dict[str, None]] = {}
        """Players that seek an opponent (None: anyone) at a table, in the order of their places."""
        self._untried: dict[str, None] = {}
        self._next_place = count()

    def __contains__(self, name: str) -> bool:
        return name in self._wishes

    def __iter__(self) -> Iterator[str]:
        """Yield the names of players that seek, the earliest first."""
        return iter(self._places)

    def put(self, name: str, wish: Seek) -> None:
        """Take a player's seek, in place of an earlier one; if both are alike, keep its place."""
        earlier = self._wishes.get(name)
        if earlier is None or _wanted(earlier) != _wanted(wish):
            self.pop(name)
            self._places[name] = next(self._next_place)
            self._seekers.setdefault(_wanted(wish), {})[name] = None
            self._untried[name] = None
        self._wishes[name] = wish

    def pop(self, name: str) -> Seek | None:
        """Remove and return a player's seek, if there is one."""
        wish = self._wishes.pop(name, None)
        if wish is None:
            return None
        del self._places[name]
        self._untried.pop(name, None)
        seekers = self._seekers[_wanted(wish)]
        del seekers[name]
        if not seekers:
            del self._seekers[_wanted(wish)]
        return wish

    def untried(self) -> Iterator[tuple[str, Seek]]:
        """Yield each seek that was not tried yet, the earliest first; it counts as tried then."""
        while self._untried:
            name = next(iter(self._untried))
            del self._untried[name]
            yield name, self._wishes[name]

    def try_again(self, name: str) -> None:
        """Have a seek count as not tried yet, before all others."""
        self._untried = {name: None} | self._untried

    def partner(self, name: str) -> str | None:
        """Return the earliest other player at the same table whose seek suits a player's."""
        opponent, table = _wanted(self._wishes[name])
        if opponent is not None:
            theirs = self._wishes.get(opponent)
            suits = theirs and theirs.table == table and theirs.opponent in (None, name)
            return opponent if suits else None
        anyone = (other for other in self._seekers.get((None, table), ()) if other != name)
        by_name = iter(self._seekers.get((name, table), ()))
        first = [other for other in (next(anyone, None), next(by_name, None)) if other is not None]
        return min(first, key=self._places.__getitem__, default=None)


@dataclass(eq=False)
class Waiting:
    """Seeks of all players that wait: for an opponent, on the ladder, or held back."""

    may_play: Callable[[str], bool]
    """Returns whether the address of a player may have another game now."""
    seeks: Seeks = field(default_factory=Seeks)
    ladder: Ladder | None = None
    """Pairs players that name no opponent; ``take_ladder`` sets it."""
    _held_back: dict[str, Seek] = field(default_factory=dict)
    """Seeks of players whose address has as many games as it may."""

    def take_ladder(self, ladder: Ladder) -> None:
        """Have a ladder pair players that name no opponent; it sees who is held back."""
        self.ladder, ladder.held_back = ladder, self._held_back

    def __contains__(self, name: str) -> bool:
        rated = self.ladder is not None and name in self.ladder
        return rated or name in self.seeks or name in self._held_back

    def is_held_back(self, name: str) -> bool:
        """Return whether a player waits because its address has as many games as it may."""
        return name in self._held_back

    def put(self, name: str, wish: Seek) -> None:
        """Take a player's seek, in place of an earlier one."""
        if not self.may_play(name):
            if name not in self._held_back:
                self.withdraw(name)
            self._held_back[name] = wish
            return
        self._held_back.pop(name, None)
        if self.ladder is None:
            self.seeks.put(name, wish)
        elif wish.opponent is None:
            self.seeks.pop(name)
            self.ladder.put(name, wish)
        else:
            self.ladder.pop(name)
            self.seeks.put(name, wish)

    def withdraw(self, name: str) -> Seek | None:
        """Remove and return a player's seek, if there is one."""
        rated = None if self.ladder is None else self.ladder.pop(name)
        return self._held_back.pop(name, None) or self.seeks.pop(name) or rated

    def hold_back(self, concerned: Callable[[str], bool]) -> dict[str, Seek]:
        """Hold back the seeks of concerned players until ``let_go``; return these seeks."""
        names = [name for name in chain(self.seeks, self.ladder or ()) if concerned(name)]
        held = {name: wish for name in names if (wish := self.withdraw(name)) is not None}
        self._held_back |= held
        return held

    def let_go(self) -> None:
        """Seek again for players held back whose address may now have another game."""
        for name in list(self._held_back):
            if self.may_play(name):
                self.put(name, self._held_back[name])


@dataclass(eq=False)
class FirstMoves:
    """Who moved first when two players last met."""

    _first: dict[frozenset[str], str] = field(default_factory=dict)
    """By pair; the latest pairs only."""

    def moves_second(self, name: str, opponent: str) -> bool:
        """Return whether a player is to move second in the next game of two."""
        earlier = self._first.get(frozenset((name, opponent)))
        return bool(secrets.randbelow(2)) if earlier is None else earlier == name

    def note(self, first: str, second: str) -> None:
        """Note who moves first in a game."""
        pair = frozenset((first, second))
        self._first.pop(pair, None)
        self._first[pair] = first
        if len(self._first) > PAIRS_KEPT:
            del self._first[next(iter(self._first))]
