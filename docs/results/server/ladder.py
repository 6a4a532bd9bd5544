"""A simulated ladder: what its pairings gain over random ones, and whether its intervals hold.

Bots whose strengths are normal with a standard deviation of 300 Elo; the first move is worth 20. A
game takes 5 to 15 s, and a hundred are on at once. After a game a bot leaves with a chance of one
in twenty, and is away for about as long as it was there, so half of them are present. Pairings are
those of ``harness.server.ladder.matchmaking``, or random among those who wait; ratings are
computed anew each 4,000 games, as on the server from all games so far. Three minutes on one core:
run it with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import heapq
import time
from collections.abc import Callable
from random import Random

import numpy as np
from scipy.special import ndtri
from scipy.stats import spearmanr

from harness.figures import number, table
from harness.matches.rating_list import CENTRE, Meetings, RatingList, rate_list
from harness.matches.ratings import ELO
from harness.server.ladder.matchmaking import REMEMBERED, Look, Match, Present, matches

STRENGTHS, FIRST_MOVE = 300.0, 20.0
AT_ONCE = 100
RATED_EVERY = 4_000
STAY = 20
"""Games that a bot stays for, on average."""
GAME_S = (5.0, 15.0)
PATIENCE_S = 2.0

Pairer = Callable[[Look, int], list[Match]]


def at_random(look: Look, places: int) -> list[Match]:
    """Pair those who wait by chance."""
    waiting = [bot.player for bot in look.present if bot.waits]
    look.random.shuffle(waiting)
    return list(map(Match, waiting[::2], waiting[1::2]))[:places]


PAIRINGS: dict[str, Pairer] = {"by what a game tells": matches, "random": at_random}


class Ladder:
    """Bots that come, play and go."""

    def __init__(self, bots: int, games: int, pair: Pairer, seed: int) -> None:
        self.chance, self.random, self.pair = np.random.default_rng(seed), Random(seed), pair
        strengths = self.chance.normal(CENTRE, STRENGTHS, bots)
        self.strengths = strengths - strengths.mean() + CENTRE
        self.bots = [Present(bot, CENTRE, STRENGTHS) for bot in range(bots)]
        self.here = {bot.player: bot for bot in self.bots}
        """Who is present."""
        self.events: list[tuple[float, int, Match | int]] = []
        """Ends of games, and bots that come back."""
        self.rows = np.zeros((3, games))
        self.played = self.on = 0
        self.pairing_s = self.rating_s = 0.0
        self.listed: RatingList | None = None

    def run_to(self, games: int) -> None:
        """Play until so many games are over."""
        now = 0.0
        while self.played < games:
            self.begin(now)
            now, _, event = heapq.heappop(self.events)
            if isinstance(event, int):
                self.here[event] = self.bots[event]
                self.bots[event].waits, self.bots[event].since_s = True, now
                continue
            self.end(event, now)
            if self.played % RATED_EVERY == 0:
                self.rate()

    def begin(self, now: float) -> None:
        """Pair those who wait."""
        present = list(self.here.values())
        began = time.process_time()
        made = self.pair(Look(present, now, PATIENCE_S, self.random), AT_ONCE - self.on)
        self.pairing_s += time.process_time() - began
        for match in made:
            self.bots[match.first].waits = self.bots[match.second].waits = False
            self.push(now + self.random.uniform(*GAME_S), match)
            self.on += 1

    def push(self, at: float, event: Match | int) -> None:
        """Note what comes; the number keeps two at the same time from being compared."""
        heapq.heappush(self.events, (at, self.random.getrandbits(60), event))

    def end(self, match: Match, now: float) -> None:
        """Have a game end, by strength and luck."""
        ahead = self.strengths[match.first] + FIRST_MOVE - self.strengths[match.second]
        won = self.chance.random() < 1 / (1 + np.exp(-ahead / ELO))
        self.rows[:, self.played] = match.first, match.second, won
        self.played += 1
        self.on -= 1
        for own, other, lead in ((*match, 1), (*match[::-1], -1)):
            bot = self.bots[own]
            bot.lead += lead
            bot.recent = (other, *bot.recent[: REMEMBERED - 1])
            bot.waits = self.random.random() >= 1 / STAY
            bot.since_s = now
            if not bot.waits:
                del self.here[own]
                self.push(now + self.random.uniform(*GAME_S) * STAY, own)

    def rate(self) -> None:
        """Compute ratings from all games so far."""
        first, second, points = self.rows[:, : self.played]
        games = Meetings(first.astype(np.int64), second.astype(np.int64), points)
        began = time.process_time()
        start = None if self.listed is None else self.listed.ratings
        self.listed = rate_list(games, np.full(len(self.bots), np.nan), start)
        self.rating_s = time.process_time() - began
        for bot in self.bots:
            bot.rating = float(self.listed.ratings[bot.player])
            bot.deviation = float(self.listed.errors[bot.player] / ndtri(0.975))

    def row(self) -> tuple[str, ...]:
        """Return how far ratings are off now."""
        assert self.listed is not None
        off = self.listed.ratings - self.strengths
        return (
            number(self.played, 0),
            number(float(np.sqrt(np.mean(off**2))), 1),
            number(float(np.abs(off).max()), 0),
            number(float(spearmanr(self.listed.ratings, self.strengths)[0]), 4),
            number(float(self.listed.errors.mean()), 1),
            f"{np.mean(np.abs(off) <= self.listed.errors):.1%}",
            number(max(abs(bot.lead) for bot in self.bots), 0),
            number(1_000 * self.pairing_s / self.played, 2),
            number(self.rating_s, 1),
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, default=1_000)
    parser.add_argument("--games", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows = []
    for name, pair in PAIRINGS.items():
        ladder = Ladder(given.bots, given.games, pair, given.seed)
        for part in (8, 4, 2, 1):
            ladder.run_to(given.games // part)
            ladder.rate()
            rows.append((name, *ladder.row()))
    head = ("pairings", "games", "error (rms), Elo", "largest", "rank correlation")
    print(table((*head, "±", "hold the truth", "lead", "pairing, ms", "rating, s"), rows))


if __name__ == "__main__":
    main()
