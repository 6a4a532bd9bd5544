"""Plays random Swiss events and counts what the pairings could have avoided.

Run from the repository's root: ``python docs/results/tournaments/swiss_events.py --events 1000``.
Every round is judged with networkx, by itself: the fewest rematches from a maximum matching of the
entrants that have not met, the best balance of first moves from a minimum-cost matching.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import networkx as nx

from harness.matches.pairings import Round
from harness.matches.swiss import SwissEntrant, swiss_round

BYE = -1
"""The vertex that stands for the bye."""
KINDS = ("even field", "odd field", "late joiners and withdrawals")


@dataclass(slots=True)
class Tally:
    """What came of the events of one kind."""

    events: int = 0
    rounds: int = 0
    rematches: int = 0
    avoidable_rematches: int = 0
    avoidable_byes: int = 0
    """Second byes (third, …) while somebody else had fewer."""
    unbalanced: int = 0
    """Rounds in which somebody gets or keeps a lead of 2 or more games begun, or not begun."""
    avoidable_unbalanced: int = 0
    """Those in which a pairing with as few rematches would have been better balanced."""
    forced_unbalanced: int = 0
    """Those in which no pairing would have been better balanced, rematches or not."""
    worst: int = 0

    def add(self, field: Sequence[SwissEntrant], paired: Round) -> None:
        """Judge one round."""
        by_entrant = {standing.entrant: standing for standing in field}
        pairs = [(by_entrant[p.first], by_entrant[p.second]) for p in paired.pairings]
        fewest = min(standing.byes for standing in field)
        self.rounds += 1
        self.avoidable_byes += sum(by_entrant[entrant].byes > fewest for entrant in paired.byes)
        rematches = sum(have_met(*pair) for pair in pairs)
        self.rematches += rematches
        if rematches:
            self.avoidable_rematches += rematches - fewest_rematches(field)
        leads = [first.lead + 1 for first, _ in pairs] + [second.lead - 1 for _, second in pairs]
        self.worst = max([self.worst, *map(abs, leads)])
        excess = sum(max(0, abs(lead) - 1) for lead in leads)
        if excess:
            self.unbalanced += 1
            self.avoidable_unbalanced += excess > least_excess(field, rematch=10_000)
            self.forced_unbalanced += excess == least_excess(field, rematch=0)


def have_met(one: SwissEntrant, other: SwissEntrant) -> bool:
    """Return whether two have met before."""
    return other.entrant in one.opponents


def candidates(field: Sequence[SwissEntrant]) -> Iterator[tuple[int, int, bool, int]]:
    """Yield whom a round may pair: both, whether they have met, how far leads would exceed one."""
    fewest = min(standing.byes for standing in field)
    for at, one in enumerate(field):
        for other in field[at + 1 :]:
            excess = min(
                max(0, abs(one.lead + step) - 1) + max(0, abs(other.lead - step) - 1)
                for step in (-1, 1)
            )
            yield one.entrant, other.entrant, have_met(one, other), excess
        if len(field) % 2 and one.byes == fewest:
            yield one.entrant, BYE, False, 0


def fewest_rematches(field: Sequence[SwissEntrant]) -> int:
    """Return how many rematches the next round needs at least."""
    fresh = nx.Graph([(one, other) for one, other, met, _ in candidates(field) if not met])
    return (len(field) + 1) // 2 - len(nx.max_weight_matching(fresh, maxcardinality=True))


def least_excess(field: Sequence[SwissEntrant], rematch: int) -> int:
    """Return how far leads exceed one at best, if a rematch is as bad as ``rematch`` games."""
    graph: nx.Graph[int] = nx.Graph()
    for one, other, met, excess in candidates(field):
        graph.add_edge(one, other, weight=-(met * rematch + excess), excess=excess)
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    return sum(graph.edges[pair]["excess"] for pair in matching)


def play(
    rng: random.Random, entrants: int, rounds: int, late: float = 0, leaving: float = 0
) -> Iterator[tuple[list[SwissEntrant], Round, float]]:
    """Play an event; yield the field of each round, its pairings and the CPU seconds they took.

    Args:
        rng: chance.
        entrants: all of them, also those who join late.
        rounds: how many to play.
        late: how likely an entrant joins after round 1.
        leaving: how likely an entrant withdraws before the end.
    """
    table = [SwissEntrant(entrant) for entrant in range(entrants)]
    strengths = [rng.gauss(0, 60) for _ in table]
    joins = [rng.randint(2, rounds) if rng.random() < late else 1 for _ in table]
    leaves = [rng.randint(2, rounds) if rng.random() < leaving else rounds + 1 for _ in table]
    for number in range(1, rounds + 1):
        field = [s for s in table if joins[s.entrant] <= number < leaves[s.entrant]]
        if len(field) > 1:
            began = time.process_time()
            paired = swiss_round(number, field)
            yield field, paired, time.process_time() - began
            for bye in paired.byes:
                rested = table[bye]
                table[bye] = replace(
                    rested, wins=rested.wins + 1, spread=rested.spread + 50, byes=rested.byes + 1
                )
            for pairing in paired.pairings:
                first, second = table[pairing.first], table[pairing.second]
                expected = strengths[pairing.first] - strengths[pairing.second]
                spread = round(rng.gauss(expected, 100))
                points = 0.5 if spread == 0 else float(spread > 0)
                table[pairing.first] = replace(
                    first,
                    wins=first.wins + points,
                    spread=first.spread + spread,
                    opponents=(*first.opponents, second.entrant),
                    firsts=first.firsts + 1,
                )
                table[pairing.second] = replace(
                    second,
                    wins=second.wins + 1 - points,
                    spread=second.spread - spread,
                    opponents=(*second.opponents, first.entrant),
                    seconds=second.seconds + 1,
                )
        table = [
            s if len(s.opponents) == number else replace(s, opponents=(*s.opponents, None))
            for s in table
        ]


def play_events(events: int, seed: int, most: int = 200) -> dict[str, Tally]:
    """Play random events of 4 to ``most`` entrants and 3 to 30 rounds; half have a fixed field."""
    tallies = {kind: Tally() for kind in KINDS}
    for event in range(events):
        rng = random.Random(f"{seed} {event}")
        entrants = round(4 * (most / 4) ** rng.random())  # as many events of 4–8 as of 100–200
        moving = rng.random() < 0.5
        tally = tallies[KINDS[2 if moving else entrants % 2]]
        tally.events += 1
        late, leaving = (rng.uniform(0, 0.2), rng.uniform(0, 0.3)) if moving else (0, 0)
        for field, paired, _ in play(rng, entrants, rng.randint(3, 30), late, leaving):
            tally.add(field, paired)
    return tallies


def main() -> None:
    """Play the events of the command line; print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(
        "| | events | rounds | rematches | avoidable | second byes avoidable "
        "| rounds with a lead of 2 or more | avoidable | forced | worst |"
    )
    print("| --- |" + " ---: |" * 9)
    for kind, tally in play_events(options.events, options.seed).items():
        print(
            f"| {kind} | {tally.events} | {tally.rounds} | {tally.rematches} "
            f"| {tally.avoidable_rematches} | {tally.avoidable_byes} | {tally.unbalanced} "
            f"| {tally.avoidable_unbalanced} | {tally.forced_unbalanced} | {tally.worst} |"
        )
    slowest = max(taken for _, _, taken in play(random.Random(options.seed), 200, 30))
    print(f"\n200 entrants, 30 rounds: slowest round {slowest:.2f} s of CPU time")


if __name__ == "__main__":
    main()
