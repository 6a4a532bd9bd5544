"""Entrants that miss their games, and play no more for it."""

from __future__ import annotations

from collections import defaultdict

from .folder import Absent, MatchFolder, Returned
from .results import NOT_OFFERED

NO_SHOWS = 2
"""Games missed in a row after which an entrant plays no more."""


class Absences:
    """Who is absent: until the tournament is resumed or, if ``directed``, until they return.

    Missed games are counted from the folder's results and decisions, so that a resumed directed
    tournament counts as one that ran on.
    """

    def __init__(self, files: MatchFolder, *, directed: bool) -> None:
        self._files = files
        self._directed = directed
        begin = 0 if directed else len(files.results)
        self._counted_after = defaultdict[int, int](lambda: begin)
        """How many of the first results don't count, by entrant: those before it returned."""
        self._absent: dict[int, str] = {}
        """Why entrants are absent or, if they have withdrawn since, were, by entrant."""
        for decision in files.decisions:
            match decision:
                case Absent(entrant=entrant, why=why):
                    self._absent[entrant] = why
                case Returned(entrant=entrant, after=after):
                    self._absent.pop(entrant, None)
                    self._counted_after[entrant] = len(files.results) if after is None else after

    @property
    def reasons(self) -> dict[int, str]:
        """Why entrants are absent, by entrant; those who have withdrawn are not."""
        gone = self._files.withdrawn
        return {entrant: why for entrant, why in self._absent.items() if entrant not in gone}

    def missed_too_many(self, entrant: int, name: str) -> bool:
        """Return whether an entrant has missed too many games, and is not absent yet."""
        return entrant not in self.reasons and self.missed_in_a_row(entrant, name) >= NO_SHOWS

    def missed_in_a_row(self, entrant: int, name: str) -> int:
        """Return how many of its last games an entrant has missed; walkovers don't count."""
        missed = 0
        for result in reversed(self._files.counting()[self._counted_after[entrant] :]):
            faults = [seat.faults for seat in result.sides if seat.name == name]
            if faults and result.note != NOT_OFFERED:
                if result.outcome != "no_show" or "no_show" not in faults[0]:
                    break
                missed += 1
        return missed

    def begin(self, entrant: int, why: str) -> None:
        """Leave out an entrant from now on."""
        if self._directed:
            self._files.decide(Absent(entrant, why))
        self._absent[entrant] = why

    def end(self, entrant: int, why: str = "") -> None:
        """Let an entrant that was absent, missed games or had withdrawn play again."""
        self._files.decide(Returned(entrant, len(self._files.results), why))
        self._absent.pop(entrant, None)
        self._counted_after[entrant] = len(self._files.results)
