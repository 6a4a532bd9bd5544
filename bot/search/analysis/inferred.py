"""The leave and the next turn that an opponent, who knows its own rack, infers from a play."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bot.search.anytime import Anytime, time_until
from engine.inference.equity_loss import Judges, OpponentPlay
from engine.inference.inference import Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import Model, Style
from engine.inference.rack_filter import RackFilter
from engine.inference.rack_forecast import Sampled, bingo_chance, tile_chances
from engine.notation.move_text import format_exchange_count, format_move
from engine.rules.moves import PASS, Direction, Exchange, Move, Place
from engine.rules.position import Board, Position, Rack, bag_count, unseen
from engine.rules.rules import (
    IllegalMove,
    Rules,
    canonical,
    check_move,
    leave_of,
    may_exchange,
    stalled,
    used_tiles,
)
from lexicons.alphabet import Alphabet, as_tiles
from lexicons.arrays import F64
from lexicons.jit import load
from lexicons.store import Lexicon

BINGO_SAMPLES = 400

_REHEARSED = 200  # racks
_LOOKING = 0.9  # of the time; the rest sums up the result


@dataclass(frozen=True)
class ObservedPlay:
    """A play as the opponent sees it."""

    position: Position
    """Position before the play; the rack on turn is unknown."""
    move: Move | int
    """The play as told; a number is the count of an exchange."""
    play: OpponentPlay
    counts: tuple[int, ...]
    """Number of each tile unseen before the play, by tile number."""
    leave: Rack | None = None
    """The real leave, if known; the inference does not use it."""

    def drawn_to(self, kept: LeavePrior) -> int:
        """Count the tiles drawn to a leave; all of the rack if ``kept`` knows nothing."""
        play = self.play
        return play.kept + min(play.held - play.kept, play.bag) - kept.size

    def tiles_now(self, kept: LeavePrior) -> F64:
        """Return the probability that each tile is on the rack now, by a belief about the leave."""
        shown = Counter(self.play.tiles)
        unseen = tuple(count - shown[tile] for tile, count in enumerate(self.counts))
        return tile_chances(kept, unseen, self.drawn_to(kept))


class Truth(NamedTuple):
    """The real leave's place among all possible leaves."""

    leave: Rack
    rank: int | None
    """1 for the likeliest; equals share a rank. None: not among those looked at."""
    prior: float
    posterior: float


@dataclass(frozen=True, eq=False)
class Inferred:
    """The result of an inference."""

    observed: ObservedPlay
    model: Model
    posterior: Posterior
    """The posterior, with each leave once."""
    seconds: float
    """Seconds of the inference alone."""
    tiles: tuple[F64, F64]
    """Probability that each tile is on the rack now, by tile number: without the play, and by the
    posterior."""
    bingo: tuple[Sampled, Sampled]
    """Probability that the static choice on this board is a bingo, likewise."""

    @property
    def truth(self) -> Truth | None:
        """The place of the real leave among all."""
        leave, known = self.observed.leave, self.posterior
        if leave is None:
            return None
        at = np.flatnonzero((known.leaves == np.array(leave, np.uint8)).all(axis=1))
        if not len(at):
            return Truth(leave, None, 0.0, 0.0)
        posterior = float(known.posterior[at[0]])
        rank = 1 + int(np.count_nonzero(known.posterior > posterior))
        return Truth(leave, rank, float(known.prior[at[0]]), posterior)


def written_play(move: Move | int, alphabet: Alphabet) -> str:
    """Write a move as the opponent sees it: an exchange as its number of tiles."""
    told = len(move.tiles) if isinstance(move, Exchange) else move
    return format_exchange_count(told) if isinstance(told, int) else format_move(told, alphabet)


def observe(position: Position, move: Move | int, rules: Rules, lexicon: Lexicon) -> ObservedPlay:
    """Return a play as the opponent sees it; a complete rack on turn must allow the move.

    Raises:
        ValueError: the game is over, the opponent's rack is partly given, or the move is illegal.
    """
    seat, text = position.on_turn, rules.distribution.alphabet.text
    rack, ours = position.racks[seat], position.racks[1 - seat]
    before = position.with_rack(seat, ())
    counts, bag = unseen(before, 1 - seat, rules), bag_count(before, rules)
    if turns := stalled(position, rules):
        raise ValueError(f"the game is over, after {turns}")
    if 0 < len(ours) < rules.rack_size and bag:
        raise ValueError(
            f"{text(ours)} is not the opponent's whole rack, "
            f"which has {rules.rack_size} tiles while there is a bag"
        )
    count = move if isinstance(move, int) else len(used_tiles(move))
    if count > rules.rack_size:
        raise ValueError(f"a move of {count} tiles; a rack holds {rules.rack_size}")
    known = rack if len(rack) == rules.rack_size else None
    # The exchanged tiles don't affect legality.
    some = known or as_tiles(counts)
    named = Exchange(some[:move]) if isinstance(move, int) else move
    if lacking := Counter(used_tiles(named)) - Counter(dict(enumerate(counts))):
        raise ValueError(
            f"{text(sorted(lacking.elements()))} can't have been on the rack: none is left outside "
            "the board and the other rack"
        )
    held = position.with_rack(seat, known or used_tiles(named))
    try:
        made = check_move(held, named, rules, lexicon.graph.contains, bag)
    except IllegalMove as error:
        of = f" of {lexicon.name}" if error.code == "not_a_word" else ""
        raise ValueError(f"{error}{of}") from None
    seen = canonical(move, before.board) if isinstance(move, Place) else move
    if isinstance(seen, Exchange):
        seen = count
    score = made.score if made else 0
    play = OpponentPlay(
        before.board, seen, score, rules.rack_size, bag, may_exchange(position, rules)
    )
    leave = None
    if known is not None and not isinstance(move, int):
        leave = leave_of(known, move)
    return ObservedPlay(before, move, play, counts, leave)


def infer(
    judges: Judges,
    observed: ObservedPlay,
    model: Model,
    *,
    racks: int,
    seconds: float | None = None,
    seed: int = 0,
) -> Inferred:
    """Infer the leave behind a play from at most ``racks`` racks, or for ``seconds``.

    A trivial inference comes first, so that ``seconds`` excludes compiling and loading; one rack is
    looked at in any case. ``judges`` hold the player's leave values.

    Raises:
        ValueError: the bag is empty.
    """
    style, nothing = Style.of(model), LeavePrior.nothing()
    _rehearse(judges, style)
    play, before = observed.play, observed.position
    posterior, took = look(
        judges, play, observed.counts, style, racks=racks, seconds=seconds, seed=seed
    )
    made = PASS if isinstance(play.move, int) else play.move
    again = replace(
        before.after(made, play.score, (), judges.rules), on_turn=before.on_turn
    )  # plays again
    beliefs = nothing, posterior.as_prior()
    tiles = [observed.tiles_now(kept) for kept in beliefs]
    bingo = [
        bingo_chance(judges["static"], again, kept, observed.drawn_to(kept), BINGO_SAMPLES, seed)
        for kept in beliefs
    ]
    return Inferred(observed, model, posterior, took, (tiles[0], tiles[1]), (bingo[0], bingo[1]))


def look(
    judges: Judges,
    play: OpponentPlay,
    counts: Sequence[int],
    style: Style,
    *,
    racks: int,
    seconds: float | None = None,
    seed: int = 0,
) -> tuple[Posterior, float]:
    """Look at no more than ``racks`` racks, or for ``seconds``; return the belief and the time.

    One rack is looked at in any case. ``counts`` are the unseen tiles before the play.

    Raises:
        ValueError: the bag is empty.
    """
    began = time.perf_counter()
    inference = RackFilter(judges, style).watch(play, counts, seed=seed)
    if seconds is None:
        inference.advance(racks)
    else:
        Anytime(inference).run(time_until(began + seconds * _LOOKING), lambda: inference.is_over)
    if not inference.looked_at:
        inference.advance(1)
    posterior = inference.posterior()
    return posterior, time.perf_counter() - began


def _rehearse(judges: Judges, style: Style) -> None:
    """Compile and load an inference's needs, by two trivial inferences on an empty board.

    A tile is placed from the only possible rack, all As; and a tile is exchanged from enough racks
    to read much of the words and leaves from disk.
    """
    load()
    rules = judges["static"].rules
    size = rules.rack_size
    board, (row, column) = Board.empty(rules.layout), rules.layout.start
    every = rules.distribution.counts
    only_as = [size * (tile == 1) for tile in range(len(every))]
    for move, counts in (Place(row, column, Direction.ACROSS, (1,)), only_as), (1, every):
        play = OpponentPlay(board, move, score=0, held=size, bag=size)
        inference = RackFilter(judges, style).watch(play, counts)
        inference.advance(_REHEARSED)
        inference.posterior()
