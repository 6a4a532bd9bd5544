"""Who seeks whom, by name: an opponent is found by index, however many wait.

Of two seeks that suit each other the later finds the earlier, so a seek that was tried in vain need
not be tried again: all seeks together cost as much as there are of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from protocol.messages import Seek


class Seeks:
    """Players' seeks, first come first served."""

    def __init__(self) -> None:
        self._wishes: dict[str, Seek] = {}
        self._places: dict[str, int] = {}
        """Who came first, by name."""
        self._seekers: dict[str | None, dict[str, None]] = {}
        """Who seeks an opponent (None: anyone), in the order of their places."""
        self._untried: dict[str, None] = {}
        self._next_place = count()

    def __contains__(self, name: str) -> bool:
        return name in self._wishes

    def __iter__(self) -> Iterator[str]:
        """Yield who seeks, the earliest first."""
        return iter(self._places)

    def put(self, name: str, wish: Seek) -> None:
        """Take a player's seek, in place of an earlier one, whose place it keeps if it is alike."""
        earlier = self._wishes.get(name)
        if earlier is None or earlier.opponent != wish.opponent:
            self.pop(name)
            self._places[name] = next(self._next_place)
            self._seekers.setdefault(wish.opponent, {})[name] = None
            self._untried[name] = None
        self._wishes[name] = wish

    def pop(self, name: str) -> Seek | None:
        """Remove and return a player's seek, if there is one."""
        wish = self._wishes.pop(name, None)
        if wish is None:
            return None
        del self._places[name]
        self._untried.pop(name, None)
        seekers = self._seekers[wish.opponent]
        del seekers[name]
        if not seekers:
            del self._seekers[wish.opponent]
        return wish

    def untried(self) -> Iterator[tuple[str, Seek]]:
        """Yield each seek that was not tried yet, the earliest first; it counts as tried then."""
        while self._untried:
            name = next(iter(self._untried))
            del self._untried[name]
            yield name, self._wishes[name]

    def partner(self, name: str) -> str | None:
        """Return the earliest other player whose seek suits a player's."""
        opponent = self._wishes[name].opponent
        if opponent is not None:
            return opponent if self._suits(opponent, name) else None
        anyone = (other for other in self._seekers.get(None, ()) if other != name)
        by_name = iter(self._seekers.get(name, ()))
        first = [other for other in (next(anyone, None), next(by_name, None)) if other is not None]
        return min(first, key=self._places.__getitem__, default=None)

    def _suits(self, name: str, other: str) -> bool:
        wish = self._wishes.get(name)
        return wish is not None and wish.opponent in (None, other)
