"""Pairing on a ladder: the next games are those that would tell most.

**What a game tells.** With p the chance that one of two wins, and s² and t² the variances of their
ratings in natural units, a game is expected to take w (s⁴ + t⁴) / (1 + w (s² + t²)) off the sum of
these variances, w = p (1 − p): most if the two are near each other, and little is known of them.

**Rematches.** A game tells less if the two have just met: games of the same few players show how
far they are apart, and nothing of the rest. What an opponent is worth comes back as both play their
next ``REMEMBERED`` games.

**Chance.** A player looks at ``CANDIDATES`` of those present, drawn by lot, and no more. So the
work of a look grows with the players and not with their pairs. It is also better than looking at
all: if only neighbours met, the errors of their differences would add up along the list.

**Owners.** A game between players of one owner tells nothing. It is begun, and not rated, only
where nobody else waits, after all who found somebody else have chosen.

**Waiting.** If an opponent that would tell more is present, but plays, a player waits for it; the
longer it has waited, the less a game has to tell. When places are short, players choose first if
little is known of them, or if they have waited for long.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from harness.matches.ratings import ELO

CANDIDATES = 16
REMEMBERED = 10


@dataclass(slots=True, eq=False)
class Present:
    """A player that is present: it waits for a game, or plays."""

    player: int
    rating: float
    """Elo."""
    deviation: float
    """The standard error of the rating, Elo; 0 for an anchor."""
    lead: int = 0
    """Games in which it moved first, less those in which it moved second."""
    recent: tuple[int, ...] = ()
    """Its last opponents, the latest first."""
    waits: bool = True
    """Whether it can play now; false while it plays."""
    since_s: float = 0.0
    """When it began to wait, in monotonic seconds."""
    chooses: bool = True
    """False for an anchor, which others choose."""
    owners: frozenset[str] = frozenset()
    """What tells whose it is; players that share any of it count as one owner's."""

    def is_kin(self, other: Present) -> bool:
        """Return whether another player counts as the same owner's."""
        return not self.owners.isdisjoint(other.owners)


class Match(NamedTuple):
    """Two players that are to play, as in ``Present.player``."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Look:
    """A look at who is present."""

    present: Sequence[Present]
    now_s: float
    patience_s: float
    """A player that has waited for this long takes any opponent."""
    random: Random

    def patience_used(self, player: Present) -> float:
        """Return the share of its patience that a player has waited for; it may exceed 1."""
        return (self.now_s - player.since_s) / self.patience_s


def matches(look: Look, places: int) -> list[Match]:
    """Return the games to begin now, at most as many as there are places."""

    def urgency(player: Present) -> float:
        return player.deviation**2 * (1 + look.patience_used(player))

    made: list[Match] = []
    matched: set[int] = set()
    waiting = (player for player in look.present if player.waits and player.chooses)
    choosers = deque(sorted(waiting, key=urgency, reverse=True))
    looks = 2 * places  # more than places, since some wait on
    last: set[int] = set()
    """Those that found nobody but their owner's, and choose again when all others have chosen."""
    while choosers and looks and len(made) < places:
        chooser = choosers.popleft()
        if chooser.player in matched:
            continue
        other = _best(chooser, look, matched)
        if other is not None and chooser.is_kin(other) and chooser.player not in last:
            last.add(chooser.player)
            choosers.append(chooser)
            continue
        looks -= 1
        if other is not None:
            matched |= {chooser.player, other.player}
            first, second = chooser, other
            if first.lead == second.lead:
                first, second = look.random.sample((first, second), 2)
            elif first.lead > second.lead:
                first, second = second, first
            made.append(Match(first.player, second.player))
    return made


def _best(chooser: Present, look: Look, taken: set[int]) -> Present | None:
    """Return the opponent whose game tells most, or None to wait for one that is busy."""
    others = look.present
    if len(others) > CANDIDATES + 1:
        others = look.random.sample(others, CANDIDATES + 1)
    best, kin, most, missed = None, None, -1.0, 0.0
    for other in others:
        if other.player == chooser.player:
            continue
        is_free = other.waits and other.player not in taken
        if chooser.owners and chooser.is_kin(other):
            kin = other if is_free else kin
            continue
        worth = information(chooser, other)
        if not is_free:
            missed = max(missed, worth)
        elif worth > most:
            best, most = other, worth
    if best is None:
        best, most = kin, 0.0  # what such a game tells
    return best if most >= missed * (1 - look.patience_used(chooser)) else None


def information(one: Present, other: Present) -> float:
    """Return what a game is expected to take off the variances of both ratings."""
    chance = 1 / (1 + math.exp(min((other.rating - one.rating) / ELO, 500.0)))
    weight = chance * (1 - chance)
    s, t = (one.deviation / ELO) ** 2, (other.deviation / ELO) ** 2
    since_they_met = min(_since(one, other.player), _since(other, one.player))
    freshness = (since_they_met / REMEMBERED) ** 2
    return weight * (s * s + t * t) / (1 + weight * (s + t)) * freshness


def _since(player: Present, opponent: int) -> int:
    recent = player.recent[:REMEMBERED]
    return recent.index(opponent) if opponent in recent else REMEMBERED
