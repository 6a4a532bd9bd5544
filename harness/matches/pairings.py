"""Schedules whose pairings are known in advance or follow from a bracket.

Entrants are numbered from 0, by seed. Berger tables: J. Berger, Schach-Jahrbuch 1892/93; FIDE
Handbook C.05, annex 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, field


class Pairing(NamedTuple):
    """Two entrants that meet; they swap seats after each game."""

    first: int
    """The entrant that moves first in the pairing's first game."""
    second: int


class Round(Struct, frozen=True, tag="paired", tag_field="decision"):
    """The pairings that are played at the same time; a decision of a tournament's folder."""

    number: int = field(name="round")
    """From 1. Where undecided pairings of a round play on, it has the number of that round."""
    pairings: tuple[Pairing, ...]
    byes: tuple[int, ...] = ()
    """Entrants that an odd field or the bracket leaves without an opponent."""


def round_robin(entrants: int, cycle: int = 0) -> list[Round]:
    """Pair everybody with everybody else once, by Berger tables.

    In a cycle, the number of games that an entrant begins differs by at most one from the number
    that it doesn't; the next cycle swaps the seats. With an odd number of entrants, each has a bye.

    Args:
        entrants: at least 2.
        cycle: from 0; rounds are numbered on from the cycle before.
    """
    last = entrants - 1 + entrants % 2  # fixed in the table; in an odd field, the bye
    rounds = []
    for turn in range(last):
        pivot = turn * (last + 1) // 2 % last
        ends = (pivot, last) if turn % 2 == 0 else (last, pivot)
        steps = range(1, (last + 1) // 2)
        pairs = [ends, *(((pivot + step) % last, (pivot - step) % last) for step in steps)]
        rounds.append(
            Round(
                cycle * last + turn + 1,
                tuple(_in_cycle(cycle, *pair) for pair in pairs if entrants not in pair),
                (pivot,) if entrants % 2 else (),
            )
        )
    return rounds


def gauntlet(entrants: int, cycle: int = 0) -> list[Round]:
    """Pair the first entrant with all the others once, one per round.

    First moves are balanced as in a round robin. Waiting entrants get no bye.

    Args:
        entrants: their number, including the first; at least 2.
        cycle: from 0; rounds are numbered on from the cycle before.
    """
    return [
        Round(cycle * (entrants - 1) + other, (_in_cycle(cycle + other - 1, 0, other),))
        for other in range(1, entrants)
    ]


def _in_cycle(cycle: int, first: int, second: int) -> Pairing:
    """Return a pairing whose seats are swapped in odd cycles."""
    return Pairing(first, second) if cycle % 2 == 0 else Pairing(second, first)


def knockout_round(
    entrants: int, previous: Sequence[Round] = (), winners: Sequence[int] = ()
) -> Round:
    """Return the next round of the bracket in which the best seeds meet last.

    Unless the number of entrants is a power of two, the best seeds have byes in the first round.
    The entrant that has moved first less often moves first, then the better seed.

    Args:
        entrants: at least 2.
        previous: all rounds before this one.
        winners: those of the last round's pairings, in any order.

    Raises:
        ValueError: a pairing does not have exactly one winner, or the final has been played.
    """
    bracket = [0]
    while len(bracket) < entrants:
        bracket = [seed for best in bracket for seed in (best, 2 * len(bracket) - 1 - best)]
    if previous:
        last = previous[-1]
        if any(
            (pairing.first in winners) == (pairing.second in winners) for pairing in last.pairings
        ):
            raise ValueError("each pairing of the last round needs one winner")
        alive = {*winners, *last.byes}
        if len(alive) == 1:
            raise ValueError("the final has been played")
        bracket = [seed for seed in bracket if seed in alive]
    firsts = Counter(pairing.first for past in previous for pairing in past.pairings)
    halves = [tuple(sorted(pair)) for pair in zip(bracket[::2], bracket[1::2], strict=True)]
    return Round(
        len(previous) + 1,
        tuple(
            _in_cycle(firsts[better] > firsts[worse], better, worse)
            for better, worse in halves
            if worse < entrants
        ),
        tuple(better for better, worse in halves if worse >= entrants),
    )
