"""A player's belief about its opponent's rack and style, followed through a game.

Turns are only noted when they happen. They are taken in on the player's turn, within a share of its
time.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from msgspec import structs

from bot.player import Believed, Budget, ExchangedCount, Observed, View
from engine.inference.equity_loss import Judges, OpponentPlay
from engine.inference.inference import MOST_LISTED, Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import Style
from engine.inference.rack_filter import DOUBT, RackFilter
from engine.inference.rack_forecast import BingoForecast, tile_chances
from engine.rules.moves import Exchange, Pass, Place
from engine.rules.position import Position, Rack
from engine.rules.rules import may_exchange, rack_tiles
from lexicons.alphabet import Alphabet
from lexicons.arrays import F64
from protocol.parts import MAX_LEAVES, LeaveChance

from .anytime import Anytime, time_until

SHARE = 0.1
"""Largest share of a turn for inference, which gains little (``docs/results/inference.md``)."""
LONGEST_MS = 400.0
"""Most time for inference; more adds next to nothing."""
RACKS = 4_000
"""Racks per play if rollouts are counted, so that the clock makes no difference."""
LISTED_A_MS = 600
"""Leaves that may be listed per millisecond of effort."""
_LISTED_A_RACK = 20  # leaves listed, at most, for each rack to be looked at
_BINGO_SAMPLES = 200
_TIME_FOR_BINGOS_MS = 100.0  # with less time the chance of a bingo is not estimated
_BINGO_SHARE = 0.4  # largest share of the time for that estimate
_BINGO_MS = 60.0  # most time for it: twice what it takes on a quiet core
_MOST_NOTED = 500  # characters


@dataclass(frozen=True)
class _Seen:
    """A play by the opponent."""

    play: OpponentPlay
    counts: tuple[int, ...]
    """Number of each tile that the opponent may have held."""
    given_back: Rack
    """Tiles that we exchanged since the opponent's last draw, which it may draw next."""
    seq: int

    @property
    def left(self) -> tuple[int, ...]:
        """Number of each tile unseen after the play."""
        shown, back = Counter(self.play.tiles), Counter(self.given_back)
        return tuple(count - shown[tile] + back[tile] for tile, count in enumerate(self.counts))


class OpponentModel:
    """The belief about the opponent of one game, from its beginning or where it is resumed.

    Args:
        view: the game so far.
        style: prior of the opponent's style.
        remembers: whether plays before the last count.
        learns: whether its plays update the style.
        doubt: least share of rollouts, 0 to 1, that draw its rack without any belief.
        racks: racks looked at per play; by default as many as a share of the turn allows.
    """

    def __init__(
        self,
        view: View,
        style: Style,
        *,
        remembers: bool = True,
        learns: bool = True,
        doubt: float = DOUBT,
        racks: int | None = None,
    ) -> None:
        self.tracker = RackFilter(judges_for(view), style, remembers=remembers, learns=learns)
        self.told: Believed | None = None
        """The belief after the last play."""
        self.known: Rack = ()
        """Tiles that it certainly holds, by other evidence of the game."""
        self._doubt, self._racks = doubt, racks
        self._before = view
        self._returned: Rack = ()  # tiles we gave back in our last turn
        self._news: list[_Seen | Callable[[], None]] = []
        """Turns not taken in yet: a play, or a call that tells the tracker of any other turn."""

    def observe(self, view: View, play: Observed) -> None:
        """Note a turn; ``view`` is after it."""
        before, self._before = self._before, view
        if not before.rack:  # resumed in mid-game: our rack before is unknown
            return
        if play.seat != view.seat:
            self._note_theirs(before, play)
            return
        used: Rack = ()
        match play.move:
            case Place(placed=placed) if not play.withdrawn:
                used = rack_tiles(placed)
            case Exchange(tiles=tiles):
                used = tiles
        drawn = Counter(view.rack) - (Counter(before.rack) - Counter(used))
        self._returned = used if isinstance(play.move, Exchange) else ()
        if drawn:
            self._news.append(partial(self.tracker.drew, tuple(drawn.elements()), before.unseen))

    def _note_theirs(self, before: View, play: Observed) -> None:
        if play.lost:
            return  # it didn't choose to pass, so the turn tells nothing
        self.told = None  # it was about the play before
        back = Counter(self._returned)
        counts = tuple(count - back[tile] for tile, count in enumerate(before.unseen))
        held = sum(before.unseen) - before.bag
        if play.withdrawn:
            if isinstance(play.move, Place):  # a phony that came off: its tiles are on the rack
                tiles = rack_tiles(play.move.placed)
                self._news.append(partial(self.tracker.showed, tiles, counts, held))
            return
        if isinstance(play.move, ExchangedCount):
            move: Place | Pass | int = play.move.count
        elif isinstance(play.move, Exchange):
            move = len(play.move.tiles)
        else:
            move = play.move
        if not 0 < held <= before.rules.rack_size:
            self._lose_track(f"the opponent can't have {held} tiles")
            return
        if not before.bag:
            if not isinstance(move, int):
                held_by_both = before.holding(before.rack, before.unseen_tiles).position
                position = replace(held_by_both, on_turn=before.opponent)
                self._news.append(partial(self._revealed, position, move))
            return
        position, allowed = before.position, may_exchange(before.position, before.rules)
        seen = OpponentPlay(position.board, move, play.score, held, before.bag, allowed)
        self._news.append(_Seen(seen, counts, self._returned, play.seq))

    def take_in(self, view: View, budget: Budget) -> None:
        """Take in the noted turns, within a share of the turn's time, and then certain tiles."""
        if self._racks is not None:
            self.think(racks=self._racks, remaining_ms=budget.remaining_ms, clock=budget.seconds)
        else:
            ms = min(SHARE * budget.remaining_ms(), LONGEST_MS)
            self.think(ms=ms, clock=budget.seconds)
        if self.known:
            reveal(self.tracker, self.known, view)

    def think(
        self,
        *,
        ms: float | None = None,
        racks: int = 0,
        remaining_ms: Callable[[], float] = lambda: math.inf,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Take in all noted turns, within ``ms`` milliseconds or with ``racks`` racks per play.

        With ``racks`` it ends early only if no time remains. If ``ms`` is 0 or less, nothing is
        taken in yet, so that what is known stays. A contradiction resets the belief, and ``told``
        says why. ``told`` has the chance of a bingo if the last turn is a play and there is time.
        """
        if ms is not None and ms <= 0:
            return
        news, self._news = self._news, []
        last = news[-1] if news and (ms is None or ms >= _TIME_FOR_BINGOS_MS) else None
        end, bingo_ms = None, remaining_ms
        if ms is not None:
            end = clock() + ms / 1_000
            bingo_ms = time_until(end, clock)
            if isinstance(last, _Seen):
                end -= min(_BINGO_SHARE * ms, _BINGO_MS) / 1_000
        listed = _LISTED_A_RACK * racks if ms is None else int(ms * LISTED_A_MS)
        plays = sum(isinstance(event, _Seen) for event in news)
        for event in news:
            try:
                if isinstance(event, _Seen):
                    left_ms = remaining_ms
                    if end is not None:
                        now = clock()
                        left_ms = time_until(now + (end - now) / plays, clock)
                    plays -= 1
                    most = racks if ms is None else None
                    self._take_in(event, min(MOST_LISTED, listed), most, left_ms, clock)
                    if event is last and self.told is not None:
                        bingo = self._bingo(event, bingo_ms, clock)
                        self.told = structs.replace(self.told, bingo=bingo)
                else:
                    event()
            except ValueError as error:
                self._lose_track(str(error))

    def _take_in(
        self,
        seen: _Seen,
        listed: int,
        most: int | None,
        left_ms: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        began = clock()
        inference = self.tracker.watch(seen.play, seen.counts, seed=seen.seq, most_listed=listed)
        Anytime(inference, most=most).run(left_ms, lambda: inference.is_over, clock)
        posterior = self.tracker.conclude(inference)
        seconds, alphabet = clock() - began, self._before.rules.distribution.alphabet
        tiles = tile_chances(self.tracker.prior, seen.left, self._drawn(seen))
        told = believed(posterior, tiles, alphabet)
        self.told = structs.replace(told, seconds=seconds, style=self._style())

    def _revealed(self, position: Position, move: Place | Pass) -> None:
        self.tracker.revealed(position, move)
        self.told = Believed(note="the bag is empty", style=self._style())

    def _lose_track(self, why: str) -> None:
        self.tracker.forget()
        self.told = Believed(note=f"nothing is known of the opponent's rack: {why}"[:_MOST_NOTED])

    def _style(self) -> dict[str, float]:
        return self.tracker.style.named() if self.tracker.learns else {}

    def _bingo(
        self, seen: _Seen, left_ms: Callable[[], float], clock: Callable[[], float]
    ) -> float | None:
        """Return the probability that the opponent's static choice on this board is a bingo.

        None if there is not enough time.
        """
        kept, view = self.tracker.prior, self._before
        theirs = replace(view.holding(view.rack).position, on_turn=view.opponent)
        judge, drawn = self.tracker.judges["static"], self._drawn(seen)
        forecast = BingoForecast(judge, theirs, kept, drawn, _BINGO_SAMPLES, seen.seq)
        Anytime(forecast).run(left_ms, lambda: forecast.is_over, clock)
        return forecast.sampled.chance if forecast.is_over else None

    def _drawn(self, seen: _Seen) -> int:
        held = min(self._before.rules.rack_size, sum(seen.left))
        return max(held - self.tracker.prior.size, 0)

    def belief(self, view: View) -> LeavePrior | None:
        """Return the belief for simulations; None if nothing is hidden or nothing is known."""
        if not view.bag or view.position.racks[view.opponent]:
            return None
        # Missed turns may have left impossible leaves, which simulations refuse.
        self.tracker.prior = self.tracker.prior.part_of(view.unseen) or LeavePrior.nothing()
        return self.tracker.belief(0.0 if self.known else self._doubt)


def believed(known: Posterior, tiles: F64, alphabet: Alphabet) -> Believed:
    """Return a belief as it is reported; ``tiles`` are the chances of each tile on the rack."""
    return Believed(
        leaves_considered=known.considered,
        leaves_surviving=known.surviving,
        top=tuple(
            LeaveChance(leave=alphabet.text(leave), prior=prior, posterior=chance)
            for leave, prior, chance in known.top(MAX_LEAVES)
        ),
        mass_top10=known.mass_of_top(10),
        entropy_prior=known.entropy_prior,
        entropy=known.entropy,
        unseen=known.unseen,
        effective=known.effective,
        tiles={alphabet.tile_text(tile): chance for tile, chance in enumerate(tiles.tolist())},
        note=known.note,
    )


def judges_for(view: View) -> Judges:
    """Return judges of plays with the lexicon, rules and leave table of a view."""
    return Judges(view.lexicon, view.rules, view.leave_table)


def reveal(tracker: RackFilter, known: Rack, view: View) -> None:
    """Take in tiles that the opponent certainly holds; the belief about the rest may be wrong."""
    if tracker.prior.size:
        tracker.prior = replace(tracker.prior, doubt=max(tracker.prior.doubt, DOUBT))
    tracker.showed(known, view.unseen, min(view.rules.rack_size, sum(view.unseen)))
