"""What a player of a ladder gains from helpers that play well and lose to it.

An honest pool of 60 bots, normal about 1500 with a standard deviation of 300 Elo, and a player of
1500. Its helpers have 2000, play everybody else as well as they can, and lose all games to it. All
are paired and rated as on the server (``harness.server.ladder.matchmaking``,
``harness.matches.rating_list``). By day everybody is there, until they have 60 games on average; in
the night after it only player and helpers are, until they have 60 more. ``--dodge``: the player
leaves each game against others before its first turn, and those games count for nothing.
"""

from __future__ import annotations

import argparse
from random import Random
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from harness.figures import table
from harness.matches.rating_list import CENTRE, WIDTH, Meetings, RatingList, rate_list
from harness.matches.ratings import ELO
from harness.server.ladder.matchmaking import REMEMBERED, Look, Match, Present, matches

POOL, STRENGTHS, HELPERS, FIRST_MOVE = 60, 300.0, 2_000.0, 20.0
GAMES_EACH = 60
RATED_EVERY = 100
PLACES = 16
"""Games at once."""
PLAYER = 0
"""Its number; then come the pool and the helpers."""


class Standing(NamedTuple):
    """How the player stands."""

    lift: float
    """Elo by which its rating is too high, if the mean of the pool is right."""
    opponents: float
    largest: float
    """Share of its games against the opponent that it met most."""
    helped: float
    """Share of its games against helpers."""


class Season:
    """A day, and perhaps a night."""

    def __init__(self, helpers: int, *, known: bool, dodge: bool, seed: int) -> None:
        self.random, self.chance, self.dodge = Random(seed), np.random.default_rng(seed), dodge
        pool = self.chance.normal(CENTRE, STRENGTHS, POOL)
        pool += CENTRE - pool.mean()
        self.strengths = np.concatenate(([CENTRE], pool, np.full(helpers, HELPERS)))
        self.bots = [Present(bot, CENTRE, STRENGTHS) for bot in range(self.strengths.size)]
        self.own = [self.bots[PLAYER], *self.bots[POOL + 1 :]]
        for bot in self.own if known else ():
            bot.owners = frozenset({"192.0.2.0/24"})
        self.rows: list[tuple[float, float, float]] = []
        self.listed: RatingList | None = None

    def play(self, present: list[Present], games: int) -> None:
        """Have those present play rated games, if there are any between them."""
        end, idle = len(self.rows) + games, 0
        while len(self.rows) < end and idle < 100:
            before = len(self.rows)
            for match in matches(Look(present, 0.0, 1.0, self.random), PLACES):
                if not self.bots[match.first].is_kin(self.bots[match.second]):
                    self.end(match)
            idle = 0 if len(self.rows) > before else idle + 1
            if before // RATED_EVERY < len(self.rows) // RATED_EVERY:
                self.rate()
        self.rate()

    def end(self, match: Match) -> None:
        """Have a game end, by strength and luck, or as was arranged."""
        helps = PLAYER in match and max(match) > POOL
        if self.dodge and PLAYER in match and not helps:
            return
        ahead = self.strengths[match.first] + FIRST_MOVE - self.strengths[match.second]
        won = (
            match.first == PLAYER
            if helps
            else self.chance.random() < 1 / (1 + np.exp(-ahead / ELO))
        )
        self.rows.append((*match, float(won)))
        for own, other, lead in ((*match, 1), (*match[::-1], -1)):
            bot = self.bots[own]
            bot.lead += lead
            bot.recent = (other, *bot.recent[: REMEMBERED - 1])

    def rate(self) -> None:
        """Compute ratings from all games so far."""
        first, second, points = np.array(self.rows).T
        games = Meetings(first.astype(np.int64), second.astype(np.int64), points)
        start = None if self.listed is None else self.listed.ratings
        self.listed = rate_list(games, np.full(len(self.bots), np.nan), start)
        for bot in self.bots:
            bot.rating = float(self.listed.ratings[bot.player])
            bot.deviation = float(self.listed.errors[bot.player]) / WIDTH

    def standing(self) -> Standing:
        """Return how the player stands now."""
        assert self.listed is not None
        ratings = self.listed.ratings
        met = [int(first + second) for first, second, _ in self.rows if PLAYER in (first, second)]
        others, counts = np.unique(met, return_counts=True)
        games = max(1, counts.sum())
        return Standing(
            float(ratings[PLAYER] - ratings[1 : POOL + 1].mean()),
            others.size,
            counts.max(initial=0) / games,
            counts[others > POOL].sum() / games,
        )


def row(whose: str, helpers: int, when: str, ended: list[Standing]) -> tuple[str, ...]:
    """Return a row of the table: means of seasons."""
    lifts = [each.lift for each in ended]
    error = WIDTH * stdev(lifts) / len(lifts) ** 0.5
    opponents, largest, helped = map(fmean, list(zip(*ended, strict=True))[1:])
    lift = f"{fmean(lifts):+.0f} ± {error:.0f}"
    return whose, f"{helpers}", when, lift, f"{opponents:.0f}", f"{largest:.0%}", f"{helped:.0%}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seasons", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dodge", action="store_true")
    given = parser.parse_args()
    rows = []
    for known, whose in ((False, "elsewhere"), (True, "one owner"))[: 2 - given.dodge]:
        for helpers in (0, 1, 5, 20)[known or given.dodge :]:
            days, nights = [], []
            for seed in range(given.seed, given.seed + given.seasons):
                season = Season(helpers, known=known, dodge=given.dodge, seed=seed)
                season.play(season.bots, GAMES_EACH * len(season.bots) // 2)
                days.append(season.standing())
                season.play(season.own, GAMES_EACH * len(season.own) // 2)
                nights.append(season.standing())
            rows.append(row(whose if helpers else "none", helpers, "day", days))
            if helpers:
                rows.append(row(whose, helpers, "and night", nights))
    head = (
        "helpers",
        "number",
        "after",
        "lift, Elo",
        "opponents",
        "largest share",
        "helpers' share",
    )
    print(table(head, rows))


if __name__ == "__main__":
    main()
