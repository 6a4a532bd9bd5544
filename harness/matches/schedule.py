"""The games of a tournament: its rounds, their pairings, and the games of each pairing.

Games come in pairs with the same draws where possible. Round robins and gauntlets are known from
the start. A Swiss or a knockout pairs each round when the round before it is over; the pairings
are stored, since a result may be corrected later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from .config import TournamentConfig
from .folder import Joined, MatchFolder, with_joined
from .pairings import Pairing, Round, gauntlet, knockout_round, round_robin
from .results import PlannedGame
from .standings import Standing, standings, unknown_game
from .swiss import SwissEntrant, swiss_round

MOST_PAIRS = 16
"""Most pairs of games in a knockout pairing; if it is tied then, spread and then seed decide."""


class Schedule:
    """The rounds of a tournament so far, and the games in them, numbered from 1."""

    def __init__(self, config: TournamentConfig, files: MatchFolder) -> None:
        self._files = files
        self.config = with_joined(config, files.decisions)
        """The settings, including entrants that joined later."""
        self._fresh_draws = self.config.fresh_draws()
        self._games = self._pairs = 0
        self.rounds: list[Round] = []
        self._rounds_per_cycle = 1 if self.depends_on_results else len(self._cycle(0))
        """Rounds per cycle, in which each pairing occurs once; they all get the same openings."""
        paired = [decision for decision in files.decisions if isinstance(decision, Round)]
        self._before = len(paired)
        self._known = iter(paired)
        if not self.depends_on_results:
            self._known = chain.from_iterable(map(self._cycle, range(self.config.rounds)))

    @property
    def depends_on_results(self) -> bool:
        """Whether each round is paired by the results of the rounds before it."""
        return self.config.format in ("swiss", "knockout")

    def check_known(self, planned: PlannedGame, players: Collection[str]) -> None:
        """Raise MatchError if a game of the journal is of a round or entrant that is unknown."""
        is_late = self.depends_on_results and planned.round > self._before
        if is_late or not set(players).issubset(self.config.names):
            raise unknown_game(planned.number, self._files.path)

    def expected(self) -> int | None:
        """Return how many games there will be; None if that depends on results."""
        config, pairings = self.config, len(self.config.seats) // 2
        if config.format == "knockout":
            return None
        if config.format != "swiss":
            pairings = sum(len(paired.pairings) for paired in self._cycle(0))
        return config.rounds * pairings * config.games

    def last_round(self) -> int | None:
        """Return the number of the last round; None if that depends on results."""
        is_known = self.config.format != "knockout"
        return self.config.rounds * self._rounds_per_cycle if is_known else None

    def next_round(
        self, absent: Collection[int] = (), away: Collection[int] = ()
    ) -> Iterator[PlannedGame] | None:
        """Pair the next round without ``absent`` entrants; return its games, None at the end.

        In a Swiss, no entrant that is ``away`` has a bye if somebody else can have it.

        Call it when all games of earlier rounds have been taken from their iterators and, where
        rounds depend on results, are over.
        """
        paired = next(self._known, None)
        if paired is None and self.depends_on_results:
            paired = self._pair(absent, away)
            if paired is not None:
                self._files.decide(paired)
        if paired is None:
            return None
        pairs = len(self.rounds) // self._rounds_per_cycle * -(-self.config.games // 2)
        self.rounds.append(paired)
        return chain.from_iterable(self._planned(two, paired, pairs) for two in paired.pairings)

    def had_begun(self, game: int) -> bool:
        """Return whether the next round had begun before the tournament was resumed.

        ``game`` is the highest number of a game that had begun. Call it when all games of the
        rounds so far have been taken.
        """
        if self.depends_on_results:
            return len(self.rounds) < self._before
        return game > self._games

    def is_at_its_end(self, absent: Collection[int] = ()) -> bool:
        """Return whether no round follows those so far, once their games are over; pair none."""
        if self._files.ended or not self.rounds:
            return self._files.ended
        if (last := self.last_round()) is None:
            return self._next_of_bracket(absent) is None
        return len(self.rounds) >= last

    def lacks_entrants(self, absent: Collection[int] = (), away: Collection[int] = ()) -> bool:
        """Return whether the next round has to wait for entrants.

        For two that can be paired in a Swiss; and while some are ``away``, for two that are not, or
        in a knockout, where losers may have left for good, for one.
        """
        is_swiss = self.config.format == "swiss"
        if not (is_swiss or away) or self.is_at_its_end(absent):
            return False
        left = {standing.entrant for standing in self._here(absent)}
        here, needed = left.difference(away), 1 if self.config.format == "knockout" else 2
        return (is_swiss and len(left) < 2) or len(here) < min(needed, len(left))

    def join(self, decision: Joined) -> None:
        """Add a guest, who is paired from the next round on; in a Swiss only."""
        self._files.decide(decision)
        self.config = with_joined(self.config, self._files.decisions)
        self._fresh_draws = self.config.fresh_draws()

    def _cycle(self, cycle: int) -> list[Round]:
        pair = round_robin if self.config.format == "round-robin" else gauntlet
        return pair(len(self.config.seats), cycle=cycle)

    # --- rounds that depend on results ----------------------------------------------------------

    def _pair(self, absent: Collection[int], away: Collection[int]) -> Round | None:
        """Pair the round after those so far; None if the tournament is over."""
        if self.config.format == "knockout":
            return self._next_of_bracket(absent)
        number, here = len(self.rounds) + 1, self._here(absent)
        if number > self.config.rounds or len(here) < 2:
            return None
        arranged = [
            arrangement.entrants
            for arrangement in self._files.arranged
            if arrangement.round == number
        ]
        odd = self.config.games % 2  # with an even number of games, first moves are balanced
        field = [
            SwissEntrant(
                entrant=standing.entrant,
                wins=standing.points,
                spread=standing.spread,
                opponents=tuple(standing.opponents),
                firsts=standing.firsts * odd,
                seconds=standing.seconds * odd,
                byes=self.config.rounds if standing.entrant in away else standing.byes,
            )
            for standing in here
            if (standing.entrant,) not in arranged
        ]
        by_hand = [two for two in arranged if len(two) == 2]
        hill = number > self.config.rounds - self.config.hill
        return swiss_round(number, field, by_hand, hill=hill)

    def _here(self, absent: Collection[int]) -> list[Standing]:
        """Return the entrants that can be paired, the leader first."""
        table = standings(self.config, self._files)
        return [
            standing
            for standing in table
            if not standing.withdrawn and standing.entrant not in absent
        ]

    def _next_of_bracket(self, absent: Collection[int]) -> Round | None:
        """Return the next round of a knockout, or more games for pairings tied in the last round.

        None if the final is decided.
        """
        stages: dict[int, Round] = {}
        for paired in self.rounds:
            stages.setdefault(paired.number, paired)
        if not stages:
            return knockout_round(len(self.config.seats))
        last = stages[len(stages)]
        winners = [self._winner(pairing, last.number, absent) for pairing in last.pairings]
        level = zip(last.pairings, winners, strict=True)
        if undecided := tuple(pairing for pairing, winner in level if winner is None):
            times = sum(paired.number == last.number for paired in self.rounds)
            if times * self.config.games % 2:  # the entrant that began has begun once more
                undecided = tuple(Pairing(each.second, each.first) for each in undecided)
            return Round(last.number, undecided)
        if len(last.pairings) + len(last.byes) == 1:
            return None
        decided = [winner for winner in winners if winner is not None]
        return knockout_round(len(self.config.seats), list(stages.values()), decided)

    def _winner(self, pairing: Pairing, number: int, absent: Collection[int]) -> int | None:
        """Return the winner of a knockout pairing; None if it plays on."""
        two = pairing, pairing[::-1]
        for entrant, other in two:
            if entrant in self._files.withdrawn:
                return other
        better, worse = sorted(pairing)
        names = [self.config.names[better], self.config.names[worse]]
        games = [
            result
            for result in self._files.counting()
            if result.round == number
            and not result.void
            and [seat.name for seat in result.sides] == names
        ]
        lead = sum(result.points - 0.5 for result in games)
        if not lead and len(games) < 2 * MOST_PAIRS:
            return next((other for entrant, other in two if entrant in absent), None)
        lead = lead or sum(result.spread for result in games)
        return better if lead >= 0 else worse

    def _planned(self, pairing: Pairing, paired: Round, pairs: int) -> Iterator[PlannedGame]:
        """Plan a pairing's games; every pairing has used ``pairs`` openings in earlier cycles."""
        openings = len(self.config.openings)
        sides = min(pairing), max(pairing)
        names = (self.config.names[side] for side in sides)
        shared = self.config.seed is not None and self._fresh_draws.keys().isdisjoint(names)
        for index in range(self.config.games):
            self._games += 1
            self._pairs += index % 2 == 0 or not shared
            yield PlannedGame(
                number=self._games,
                pair=self._pairs,
                first=sides.index(pairing[index % 2]),
                players=sides,
                round=paired.number,
                paired=shared,
                opening=(pairs + index // 2) % openings if openings else None,
            )
