"""Rules for which candidates get the next samples (best-arm identification).

A rule shares out the next ``samples``: ``int64[candidates]``, whose sum is ``samples``.

``top_two``      half of the samples to the leader, half to the challenger that is hardest to tell
                 from it (EB-TCI of Jourdan, Degenne, Baudry, de Heide and Kaufmann, *Top Two
                 Algorithms Revisited*, 2022)
``elimination``  equal samples to all that may still be the best; those clearly behind the leader
                 drop out (Even-Dar, Mannor and Mansour 2006; with paired samples Kim and Nelson
                 2001)
``equal``        the same number to each, as a yardstick for the others
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from lexicons.arrays import I64, Bools

from .arm_statistics import ArmStatistics

Rule: TypeAlias = Callable[[ArmStatistics, int], I64]

_PORTIONS: Final = 8  # portions in which ``top_two`` shares out samples


def equal(statistics: ArmStatistics, samples: int) -> I64:
    """Share samples equally, the fewest so far first."""
    return _level(statistics.samples, np.ones(len(statistics.samples), np.bool_), samples)


def elimination(statistics: ArmStatistics, samples: int) -> I64:
    """Share samples equally among candidates not clearly behind."""
    alive = (statistics.scores() <= statistics.boundary) & ~statistics.twins
    alive[statistics.leader] = True
    return _level(statistics.samples, alive, samples)


def top_two(statistics: ArmStatistics, samples: int) -> I64:
    """Split samples between the leader and the challengers hardest to tell from it."""
    leader, counts = statistics.leader, statistics.samples.copy()
    idle = statistics.twins
    idle[leader] = True
    allocated = 0
    while allocated < samples:
        portion = min(-(-samples // _PORTIONS), samples - allocated)
        chosen = leader
        if 2 * (counts - statistics.samples)[leader] > allocated:
            cost = statistics.scores(counts) ** 2 / 2 + np.log(counts)
            cost[idle] = math.inf
            cheapest = int(np.argmin(cost))
            chosen = cheapest if math.isfinite(cost[cheapest]) else leader
        counts[chosen] += portion
        allocated += portion
    shares: I64 = counts - statistics.samples
    return shares


RULES: Final[dict[str, Rule]] = {
    "top-two": top_two,
    "elimination": elimination,
    "equal": equal,
}


def _level(counts: I64, among: Bools, samples: int) -> I64:
    """Assign samples one by one to the candidate with the fewest, of ties the first."""
    after = counts.copy()
    which = np.flatnonzero(among)
    order = which[np.argsort(counts[which], kind="stable")]
    for n in range(1, len(order) + 1):  # fill the lowest up to the next, level by level
        low = order[:n]
        room = int((counts[order[n]] - after[low]).sum()) if n < len(order) else samples
        if room >= samples:
            each, rest = divmod(samples, n)
            after[low] += each
            after[np.sort(low)[:rest]] += 1
            break
        after[low] = counts[order[n]]
        samples -= room
    allocated: I64 = after - counts
    return allocated
