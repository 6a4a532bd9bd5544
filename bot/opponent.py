"""What a player believes of its opponent in a game: told of turns, asked when it is to move.

Turns are noted as they are seen, which takes no time, and taken in when the player is on turn: on
its own clock, for so long as it is given.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from engine.holding import Kept
from engine.inference import MOST_LISTED, Inference, Judges, Play, Posterior
from engine.likelihood import Style
from engine.moves import Exchange, Pass, Place
from engine.outlook import tile_chances
from engine.position import Position, Rack
from engine.rollouts import Belief
from engine.rules import rack_tiles
from engine.tracking import DOUBT, Tracker
from lexicons.tables import leaves_for

from .player import Believed, ExchangedCount, Observed, View

__all__ = ["Effort", "Opponent", "look_until"]

FIRST_RACKS = 32
SLICE_MS = 5.0
LISTED_A_MS = 600
"""Leaves that may be listed for each millisecond that there is."""
TOP = 20
"""Leaves that are told."""


@dataclass(frozen=True)
class Effort:
    """How much is done for a belief."""

    ms: float | None = None
    """For so long at most, or …"""
    racks: int = 0
    """… so many racks of each play."""

    @property
    def most_listed(self) -> int:
        """More leaves than that are drawn and not listed."""
        if self.ms is None:
            return min(MOST_LISTED, 3 * self.racks)
        return min(MOST_LISTED, int(self.ms * LISTED_A_MS))


@dataclass(frozen=True)
class _Drawn:
    """We drew tiles, when so many of each were unseen."""

    tiles: Rack
    counts: tuple[int, ...]


@dataclass(frozen=True)
class _Seen:
    """The opponent made a play, when so many of each were unseen."""

    play: Play
    counts: tuple[int, ...]
    seq: int


@dataclass(frozen=True)
class _Revealed:
    """The opponent made a play with a rack that was known."""

    position: Position
    move: Place | Pass


def _with_his_rack(view: View) -> Position:
    """Give the position with what is unseen, all of which he has, on his rack."""
    his = tuple(Counter(dict(enumerate(view.unseen))).elements())
    own = view.position.racks[view.seat]
    racks = (his, own) if view.opponent == 0 else (own, his)
    return replace(view.position, racks=racks, on_turn=view.opponent)


class Opponent:
    """Follows the opponent of one game.

    Args:
        view: the game as it begins, or where it is taken up.
        style: what kind of player he is thought to be.
        remembers: whether more than his last play counts.
        learns: whether his plays tell what kind of player he is.
        clock: in seconds.
    """

    def __init__(
        self,
        view: View,
        style: Style,
        *,
        remembers: bool = True,
        learns: bool = True,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        leaves = view.leaves or leaves_for(view.rules.distribution)
        judges = Judges(view.lexicon, view.rules, leaves)
        self.tracker = Tracker(judges, style, remembers=remembers, learns=learns)
        self.told: Believed | None = None
        """What the last play told."""
        self._before = view
        self._returned: Rack = ()  # what we gave back in our last turn
        self._news: list[_Drawn | _Seen | _Revealed] = []
        self._clock = clock

    # --- what happens -----------------------------------------------------------------------------

    def observe(self, view: View, play: Observed) -> None:
        """Note a turn; ``view`` is after it."""
        before, self._before = self._before, view
        if not before.rack and view.bag:  # taken up in mid-game: nothing is known of what we held
            return
        if play.seat == view.seat:
            self._note_own(before, view, play)
        else:
            self._note_his(before, play)

    def _note_own(self, before: View, view: View, play: Observed) -> None:
        used: Rack = ()
        match play.move:
            case Place(placed=placed):
                used = rack_tiles(placed)
            case Exchange(tiles=tiles):
                used = tiles
        drawn = Counter(view.rack) - (Counter(before.rack) - Counter(used))
        self._returned = used if isinstance(play.move, Exchange) else ()
        if drawn:
            self._news.append(_Drawn(tuple(drawn.elements()), before.unseen))

    def _note_his(self, before: View, play: Observed) -> None:
        if isinstance(play.move, ExchangedCount):
            move: Place | Pass | int = play.move.count
        elif isinstance(play.move, Exchange):
            move = len(play.move.tiles)
        else:
            move = play.move
        returned = Counter(self._returned)  # after he drew, so that he has none of these
        counts = tuple(count - returned[tile] for tile, count in enumerate(before.unseen))
        held = sum(before.unseen) - before.bag
        if not before.bag:
            if not isinstance(move, int):
                self._news.append(_Revealed(_with_his_rack(before), move))
            return
        seen = Play(before.position.board, move, play.score, held, before.bag)
        self._news.append(_Seen(seen, counts, play.seq))

    # --- what it tells ----------------------------------------------------------------------------

    def think(self, effort: Effort) -> None:
        """Take in all that was noted."""
        news, self._news = self._news, []
        for one in news:
            if isinstance(one, _Drawn):
                self.tracker.drew(one.tiles, one.counts)
            elif isinstance(one, _Revealed):
                self.tracker.revealed(one.position, one.move)
            else:
                self._take_in(one, effort)

    def _take_in(self, seen: _Seen, effort: Effort) -> None:
        began = self._clock()
        inference = self.tracker.watch(
            seen.play, seen.counts, seed=seen.seq, most_listed=effort.most_listed
        )
        if effort.ms is None:
            inference.advance(effort.racks)
        else:
            look_until(inference, began + effort.ms / 1_000, self._clock)
        found = self.tracker.conclude(inference)
        self.told = self._believed(found, seen, self._clock() - began)

    def _believed(self, found: Posterior, seen: _Seen, seconds: float) -> Believed:
        drawn = seen.play.held - seen.play.kept
        left = np.array(seen.counts) - np.bincount(
            np.array(seen.play.tiles, np.int64), minlength=len(seen.counts)
        )
        drawn = min(drawn, int(left.sum()) - self.tracker.kept.size)
        return Believed(
            considered=found.considered,
            surviving=found.surviving,
            top=tuple(found.top(TOP)),
            mass_top10=found.mass_of_top(10),
            entropy_prior=found.entropy_prior,
            entropy=found.entropy,
            unseen=found.unseen,
            effective=found.effective,
            tiles=self._tile_chances(left.tolist(), drawn),
            seconds=seconds,
            note=found.note,
            style=self.tracker.style.named(),
        )

    def _tile_chances(self, left: list[int], drawn: int) -> list[float]:
        """Say how likely each tile is on his rack, what is doubted being any rack."""
        kept = self.tracker.kept
        known = tile_chances(kept, left, drawn)
        random = tile_chances(Kept.nothing(), left, kept.size + drawn)
        found: list[float] = ((1 - kept.doubt) * known + kept.doubt * random).tolist()
        return found

    def belief(self, view: View, doubt: float = DOUBT) -> Belief | None:
        """Give what simulations draw his rack from; None where nothing is hidden, or known."""
        return self.tracker.belief(doubt) if view.bag else None


def look_until(
    inference: Inference, end: float, clock: Callable[[], float] = time.perf_counter
) -> None:
    """Go on with an inference until a time, in slices by the speed of the last.

    Args:
        inference: what is worked out.
        end: in seconds, by the clock.
        clock: in seconds.
    """
    racks = FIRST_RACKS
    while not inference.is_over and (now := clock()) < end:
        done = inference.advance(racks)
        took_ms = max((clock() - now) * 1_000, 0.001)
        left_ms = (end - now) * 1_000 - took_ms
        racks = max(1, int(done / took_ms * min(SLICE_MS, max(left_ms, 0.1))))
