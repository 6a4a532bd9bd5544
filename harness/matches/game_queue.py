"""Which games of a tournament are to be played, and in which order.

Games come in units: single games, pairs on a cluster, or all games of a directed pairing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby

from harness.arbiter.journal_reading import KeptGame

from .absences import Absences
from .config import TournamentConfig
from .folder import MatchFolder
from .pairings import Round
from .results import PlannedGame
from .schedule import Schedule


class GameQueue:
    """The games of a tournament that are to be played.

    Once ``enough`` returns true, no further game begins. With ``in_pairs``, both games of a pair
    are one unit.

    A ``directed`` tournament goes round by round, and waits at its end for corrections, and before
    a round if it lacks entrants; ``away`` returns those not connected. While ``hold`` returns true,
    no game begins, but games under way continue; call ``look_again`` when that changes. ``paired``
    is called with each round, and with None when it waits for one of these.
    """

    def __init__(
        self,
        config: TournamentConfig,
        files: MatchFolder,
        enough: Callable[[], bool],
        *,
        in_pairs: bool,
        directed: bool,
        hold: Callable[[], bool],
        away: Callable[[], Collection[int]],
        paired: Callable[[Round | None], None],
    ) -> None:
        self._files = files
        self._enough = enough
        self._in_pairs, self._directed = in_pairs, directed
        self._hold, self._away, self._paired = hold, away, paired
        self.schedule = Schedule(config, files)
        self.absences = Absences(files, directed=directed)
        self.planned: dict[int, PlannedGame] = {}
        """The games of a directed tournament's rounds so far, by number."""
        self.unfinished: dict[int, KeptGame] = {}
        """Unfinished games of the journal that are not played on yet, by number."""
        self.over = False
        """Whether no game is left to play; false again once a result is annulled."""
        self._lacks_entrants = False
        self._todo: Iterator[list[PlannedGame]] = iter(())
        """Units of the last round."""
        self._waiting: list[list[PlannedGame]] = []
        """Units for later: of players who are busy, on hold, or of results annulled."""
        self._busy = Counter[int]()
        """Number of units that each entrant is playing."""
        self._changed = asyncio.Event()

    def resume(self, unfinished: Mapping[int, KeptGame]) -> None:
        """Go on with a journal's unfinished games, by number.

        All rounds of a directed tournament that had begun are planned, since their games may be
        unfinished or be corrected.
        """
        self.unfinished.update(unfinished)
        if not self._directed:
            return
        last = max((*self._files.counted, *self._files.missed, *unfinished), default=0)
        units: list[list[PlannedGame]] = []
        while self.schedule.had_begun(last) and (games := self.schedule.next_round()) is not None:
            units += self._units(games)
        self._todo = iter(units)
        if units:
            self._paired(self.schedule.rounds[-1])

    # --- what is next ---------------------------------------------------------------------------

    async def next(self) -> list[PlannedGame]:
        """Return the next unit to play, or none at the end; wait for games that it depends on.

        Call ``done`` when it has been played.
        """
        by_round = self._directed or self.schedule.depends_on_results
        while not self._enough():
            if games := self._next_unit():
                self._busy.update(games[0].players)
                return games
            done = self._directed and self.is_complete()
            is_held = self._hold() and not done and (self._directed or self._waiting)
            if is_held or (by_round and self._busy.total()):
                await self._changed.wait()
            elif not done and (planned := self._next_round()) is not None:
                self.over = self._lacks_entrants = False
                self._todo = self._units(planned)
                self._paired(self.schedule.rounds[-1])
            else:
                lacks = self._directed and not done
                if (self.over, self._lacks_entrants) != (not lacks, lacks):
                    self.over, self._lacks_entrants = not lacks, lacks
                    self._paired(None)
                if not self._directed:
                    break
                await self._changed.wait()
        return []

    def done(self, games: list[PlannedGame]) -> None:
        """Note that a unit has been played, or given up."""
        self._busy.subtract(games[0].players)
        self.look_again()

    def _next_round(self) -> Iterator[PlannedGame] | None:
        absent, away = self.absences.reasons, self._away()
        lacks = self.schedule.lacks_entrants(absent, away)
        return None if lacks else self.schedule.next_round(absent, away)

    def _next_unit(self) -> list[PlannedGame]:
        for unit in self._waiting:
            if self._may_begin(unit):
                self._waiting.remove(unit)
                return unit
        for unit in self._todo:
            games = [each for each in unit if self.is_due(each)]
            if games and self._may_begin(games):
                return games
            if games:
                self._waiting.append(games)
                # While held no other may begin; they stay unread, for there may be millions.
                if self._hold() and unit[0].number > max(self.unfinished, default=0):
                    break
        return []

    def _may_begin(self, unit: list[PlannedGame]) -> bool:
        """Return whether a unit can be played now; in a directed tournament, one per player."""
        if self._hold() and not self.is_on(unit):
            return False
        return not (self._directed and any(self._busy[player] for player in unit[0].players))

    def _units(self, games: Iterator[PlannedGame]) -> Iterator[list[PlannedGame]]:
        if self._directed:
            planned = list(games)
            self.planned |= {each.number: each for each in planned}
            return (list(pairing) for _, pairing in groupby(planned, key=lambda it: it.players))
        if self._in_pairs:
            return (list(pair) for _, pair in groupby(games, key=lambda it: it.pair))
        return ([game] for game in games)

    async def may_play(self, game: PlannedGame) -> bool:
        """Wait while the tournament is on hold; return whether a game is to be played then."""
        while self._hold() and not self.is_on([game]):
            await self._changed.wait()
        return not self._enough() and self.is_due(game)

    def is_due(self, game: PlannedGame) -> bool:
        """Return whether a game has no result yet, and is to have one.

        Games of entrants that are gone have a result only in a directed tournament.
        """
        is_open = not self.has_result(game.number)
        return is_open and (self._directed or not any(self.gone(game)))

    def is_on(self, games: list[PlannedGame]) -> bool:
        """Return whether any of these games was unfinished when the tournament was resumed."""
        return any(each.number in self.unfinished for each in games)

    def gone(self, game: PlannedGame) -> list[bool]:
        """Return for each side of a game whether it is absent or, if directed, has withdrawn."""
        withdrawn = self._files.withdrawn if self._directed else ()
        return [side in self.absences.reasons or side in withdrawn for side in game.players]

    def has_result(self, number: int) -> bool:
        """Return whether a game has a result that counts, or was missed by both entrants."""
        return number in self._files.counted or number in self._files.missed

    def is_complete(self) -> bool:
        """Return whether a directed tournament has nothing left to play, also once no game begins.

        ``over`` is what the tables have found, and they look no more once it is enough.
        """
        done = all(map(self.has_result, self.planned))
        return done and self.schedule.is_at_its_end(self.absences.reasons)

    # --- what changes it ------------------------------------------------------------------------

    def look_again(self) -> None:
        """Wake waiting tables to check whether a game may begin."""
        self._changed.set()
        self._changed.clear()

    def play_again(self, number: int) -> None:
        """Have a game of a directed tournament played again, since its result was annulled."""
        self._waiting.append([self.planned[number]])
        self.over = False
        self.look_again()

    def welcome_back(self, entrant: int) -> None:
        """Let an entrant that missed games play again from the next round on."""
        name = self.schedule.config.names[entrant]
        if entrant in self.absences.reasons or self.absences.missed_in_a_row(entrant, name):
            self.take_back(entrant)

    def take_back(self, entrant: int, why: str = "") -> None:
        """Let an entrant that was absent, missed games or had withdrawn play again."""
        self.absences.end(entrant, why)
        self.look_again()
