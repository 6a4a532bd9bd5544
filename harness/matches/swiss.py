"""Swiss pairings and king of the hill, from the standings so far.

A Swiss round is the matching of least cost among all pairings of the field (S. Ólafsson, "Weighted
matching in chess tournaments", J. Oper. Res. Soc. 41 (1990), 17–24; J. Edmonds, "Paths, trees, and
flowers", Canad. J. Math. 17 (1965), 449–467). The rules, in order of precedence:

1. The bye goes to an entrant with the fewest byes.
2. As few rematches as possible.
3. Games begun and games not begun differ by at most one for everybody (`SwissEntrant.lead`).
4. A rematch is with the opponent met least often, then longest ago.
5. The bye goes to the lowest standing.
6. Entrants meet others with the same number of wins; a float costs the square of the difference.
7. Within a score group the top half meets the lower half in order (the slide: 1–4, 2–5, 3–6), and a
   float is between neighbours in the standings. tsh, which runs most tournaments of this game, does
   so too (its "ideal Swiss rank distance" is half the group: swiss-notes.txt of tsh 3.070), as does
   FIDE's Dutch system (C.04.3).

Rounds that an entrant missed before it joined do not count as wins (FIDE C.04.2, late entries).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import rustworkx

from .pairings import Pairing, Round


@dataclass(frozen=True, slots=True)
class SwissEntrant:
    """An entrant's results so far; entrants that have withdrawn are left out of the field."""

    entrant: int
    wins: float = 0
    """A tie is half a win, a bye is a win."""
    spread: int = 0
    """The sum over all games."""
    opponents: tuple[int | None, ...] = ()
    """The opponent of each round so far; None for a bye and for a round before it joined."""
    firsts: int = 0
    """Games in which the entrant moved first."""
    seconds: int = 0
    byes: int = 0

    @property
    def lead(self) -> int:
        """Games that the entrant has begun, less games that it has not."""
        return self.firsts - self.seconds


_Pairs = list[tuple[SwissEntrant, SwissEntrant | None]]
"""The better standing first; None for the bye."""


def swiss_round(
    number: int,
    field: Sequence[SwissEntrant],
    by_hand: Sequence[tuple[int, ...]] = (),
    *,
    hill: bool = False,
) -> Round:
    """Pair the field by the rules above, but for entrants who are paired ``by_hand``.

    Rule 3 can't hold if, say, the last two entrants have both begun one game more than not. It
    always holds if pairings have an even number of games, or if the field is even and constant.

    King of the ``hill``: first meets second, third fourth and so on, though they may have met.
    """
    ranked = _ranked(field)
    pairs: _Pairs = []
    for two in by_hand:
        here = [standing for standing in ranked if standing.entrant in two]
        if len(here) == 2:
            pairs.append((here[0], here[1]))
            ranked = [standing for standing in ranked if standing not in here]
    if not hill:
        return _round(number, [*pairs, *_matching(ranked)])
    if len(ranked) % 2:
        fewest = min(standing.byes for standing in ranked)
        resting = [standing for standing in ranked if standing.byes == fewest][-1]
        ranked.remove(resting)
        pairs.append((resting, None))
    return _round(number, [*zip(ranked[::2], ranked[1::2], strict=True), *pairs])


def _ranked(field: Sequence[SwissEntrant]) -> list[SwissEntrant]:
    return sorted(field, key=lambda standing: (-standing.wins, -standing.spread, standing.entrant))


def _matching(ranked: Sequence[SwissEntrant]) -> _Pairs:
    """Return the pairs of least cost, best standing first."""
    size = len(ranked) + len(ranked) % 2
    graph = rustworkx.PyGraph[None, int](multigraph=False)
    graph.add_nodes_from([None] * size)
    graph.add_edges_from(list(_edges(ranked)))
    least = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=lambda cost: -cost)
    pairs = sorted((min(pair), max(pair)) for pair in least)
    return [(ranked[high], ranked[low] if low < len(ranked) else None) for high, low in pairs]


def _edges(ranked: Sequence[SwissEntrant]) -> Iterator[tuple[int, int, int]]:
    """Yield the ranks of each possible pair and its cost; the rank after the last is the bye.

    A cost is a number whose digits are the rules: all pairs of a round add up to less than one unit
    of the next digit. It takes 107 bits for 1,000 entrants and 100 rounds; rustworkx has 127.
    """
    count = len(ranked)
    rounds = max((len(standing.opponents) for standing in ranked), default=0)
    fewest = min((standing.byes for standing in ranked), default=0)
    wins = [round(2 * standing.wins) for standing in ranked]
    leads = [standing.lead for standing in ranked]
    group = Counter(wins)

    pairs = count // 2 + 1
    float_unit = count**2 * pairs
    bye_unit = float_unit * ((max(wins, default=0) - min(wins, default=0)) ** 2 * pairs + 1)
    again_unit = bye_unit * (count + 1)
    lead_unit = again_unit * (rounds + 1) ** 2 * pairs
    rematch_unit = lead_unit * (2 * max(map(abs, leads), default=0) + 1) * pairs
    for high, better in enumerate(ranked):
        met = Counter(better.opponents)
        last = {opponent: number for number, opponent in enumerate(better.opponents, 1)}
        for low in range(high + 1, count):
            entrant = ranked[low].entrant
            gap = wins[high] - wins[low]
            distance = 1 if gap else group[wins[high]] // 2
            cost = (low - high - distance) ** 2 + float_unit * gap**2
            cost += lead_unit * _beyond_one(leads[high], leads[low])
            if entrant in last:
                cost += rematch_unit + again_unit * (met[entrant] * rounds + last[entrant])
            yield high, low, cost
        if count % 2 and better.byes == fewest:
            yield high, count, bye_unit * (count - high)


@cache
def _beyond_one(lead: int, other: int) -> int:
    """Return by how much two leads exceed one, in total, after a game that the smaller begins."""
    smaller, larger = sorted((lead, other))
    return max(0, abs(smaller + 1) - 1) + max(0, abs(larger - 1) - 1)


def _round(number: int, pairs: _Pairs) -> Round:
    """Choose who moves first: the entrant with the smaller lead; if both are 0, look ahead.

    The pairs of this round in which both leads are 0 and those of a likely next round form chains.
    Along a chain the first moves alternate, so that likely next opponents are not both ahead.
    """
    change: dict[int, int] = {}
    """1 for an entrant that moves first, -1 for its opponent."""
    level: dict[int, int] = {}
    """The opponent, where either may move first."""
    for better, worse in pairs:
        if worse is not None:
            if better.lead == worse.lead == 0:
                level |= {better.entrant: worse.entrant, worse.entrant: better.entrant}
            else:
                ahead = 1 if better.lead <= worse.lead else -1
                change |= {better.entrant: ahead, worse.entrant: -ahead}
    after = [_played(*pair, change) for pair in pairs] + [
        _played(worse, better, change) for better, worse in pairs if worse is not None
    ]
    upcoming: dict[int, int] = {}
    for better, worse in _matching(_ranked(after)):
        if worse is not None:
            upcoming |= {better.entrant: worse.entrant, worse.entrant: better.entrant}

    def alternate(entrant: int, lead: int) -> None:
        while (other := upcoming.get(entrant, -1)) in level and other not in change:
            entrant = level[other]
            change[other], change[entrant] = -lead, lead

    for standing in after:
        if standing.lead:
            alternate(standing.entrant, standing.lead)
    for board, (better, _) in enumerate(pairs):
        if better.entrant in level and better.entrant not in change:
            ahead = -1 if board % 2 else 1
            change |= {better.entrant: ahead, level[better.entrant]: -ahead}
            alternate(better.entrant, ahead)
            alternate(level[better.entrant], -ahead)
    return Round(
        number,
        tuple(
            Pairing(*sorted((better.entrant, worse.entrant), key=change.__getitem__, reverse=True))
            for better, worse in pairs
            if worse is not None
        ),
        tuple(better.entrant for better, worse in pairs if worse is None),
    )


def _played(
    standing: SwissEntrant, opponent: SwissEntrant | None, change: dict[int, int]
) -> SwissEntrant:
    ahead = change.get(standing.entrant, 0)
    return replace(
        standing,
        opponents=(*standing.opponents, None if opponent is None else opponent.entrant),
        firsts=standing.firsts + (ahead > 0),
        seconds=standing.seconds + (ahead < 0),
        byes=standing.byes + (opponent is None),
    )
