"""What a play tells of the rack behind it, worked out for people.

The player on turn makes a play; the other, who knows his own rack, asks what was kept, and what
comes next.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bot.search.anytime import Anytime, time_until
from engine.inference.inference import Inference, Judges, Play, Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import Model, Style
from engine.inference.rack_forecast import Sampled, bingo_chance, tile_chances
from engine.movegen.generator import ScoredMove
from engine.notation import (
    NotationError,
    format_exchange_count,
    format_move,
    parse_exchange_count,
    parse_move,
)
from engine.rules.moves import PASS, Direction, Exchange, Move, Pass, Place
from engine.rules.position import Board, Position, Rack, bag_count, unseen
from engine.rules.rules import IllegalMove, Rules, canonical, check_move, rack_tiles
from engine.simulation.replies import after
from lexicons.alphabet import Alphabet
from lexicons.jit import warm_up
from lexicons.store import Lexicon

__all__ = [
    "BINGO_SAMPLES",
    "Inferred",
    "Observed",
    "Truth",
    "infer",
    "observe",
    "read_play",
    "written_play",
]

BINGO_SAMPLES = 400

_REHEARSED = 200  # racks
_LOOKING = 0.9  # of the time; adding up what was found takes the rest

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Observed:
    """A play as the other player sees it."""

    position: Position
    """Before it; the rack of the player on turn is not known."""
    move: Move | int
    """As it was told; a number is an exchange of that many tiles."""
    play: Play
    counts: tuple[int, ...]
    """How many of each tile were unseen before it, by tile number."""
    leave: Rack | None = None
    """What he really kept, where that is known; nothing is worked out by it."""

    @property
    def counts_after(self) -> tuple[int, ...]:
        """How many of each tile are unseen after it."""
        shown = Counter(self.play.tiles)
        return tuple(count - shown[tile] for tile, count in enumerate(self.counts))

    @property
    def drawn(self) -> int:
        """How many tiles he drew after it."""
        return min(self.play.held - self.play.kept, self.play.bag)

    @property
    def position_after(self) -> Position:
        """The position after it, as if it was his turn again."""
        move = PASS if isinstance(self.play.move, int) else self.play.move
        moved = after(self.position, ScoredMove(move, self.play.score))
        return replace(moved, on_turn=self.position.on_turn)


class Truth(NamedTuple):
    """What he really kept, among all that he may have kept."""

    leave: Rack
    rank: int | None
    """1 for the likeliest; equals share a rank. None if it is not among those looked at."""
    prior: float
    posterior: float


@dataclass(frozen=True, eq=False)
class Inferred:
    """What is known after a play."""

    observed: Observed
    model: Model
    posterior: Posterior
    """Each leave once."""
    seconds: float
    """For the inference alone."""
    tiles: tuple[F64, F64]
    """How likely each tile is on his rack now, by tile number: if nothing was known, and by the
    posterior."""
    bingo: tuple[Sampled, Sampled]
    """How likely his static choice on this board is a bingo, likewise."""

    @property
    def truth(self) -> Truth | None:
        """Say where the leave that he really kept is among all."""
        leave, found = self.observed.leave, self.posterior
        if leave is None:
            return None
        at = np.flatnonzero((found.leaves == np.array(leave, np.uint8)).all(axis=1))
        if not len(at):
            return Truth(leave, None, 0.0, 0.0)
        posterior = float(found.posterior[at[0]])
        rank = 1 + int(np.count_nonzero(found.posterior > posterior))
        return Truth(leave, rank, float(found.prior[at[0]]), posterior)


# --- what was seen ------------------------------------------------------------------------------


def read_play(text: str, board: Board, alphabet: Alphabet) -> Move | int:
    """Read a move, or from ``-3`` how many tiles were exchanged.

    Raises:
        NotationError: it is none.
    """
    try:
        return parse_exchange_count(text.strip())
    except NotationError:
        return parse_move(text, board, alphabet)


def written_play(move: Move | int, alphabet: Alphabet) -> str:
    """Write a move as the opponent sees it: of an exchange the number of tiles."""
    match move:
        case Exchange():
            return format_exchange_count(len(move.tiles))
        case int():
            return format_exchange_count(move)
    return format_move(move, alphabet)


def observe(position: Position, move: Move | int, rules: Rules, lexicon: Lexicon) -> Observed:
    """See a move of the player on turn with the eyes of the other.

    Args:
        position: before it. If his rack is given in full, the move has to be possible with it.
        move: an exchange that names its tiles is seen as their number.
        rules: the rules.
        lexicon: the words.

    Raises:
        ValueError: the game is over, the other's rack is given in part, or the move is not possible
            or not legal; says why.
    """
    seat = position.on_turn
    first, second = position.racks
    before = replace(position, racks=((), second) if seat == 0 else (first, ()))
    counts, bag = unseen(before, 1 - seat, rules), bag_count(before, rules)
    if position.scoreless_turns >= rules.scoreless_limit:
        raise ValueError(
            f"the game is over, after {position.scoreless_turns} scoreless turns in a row"
        )
    ours = before.racks[1 - seat]
    if 0 < len(ours) < rules.rack_size and bag:
        raise ValueError(
            f"{rules.distribution.alphabet.text(ours)} is not the whole rack of whoever looks on, "
            f"which has {rules.rack_size} tiles while there is a bag"
        )
    rack = position.racks[seat]
    known = rack if len(rack) == rules.rack_size else None
    some = known or tuple(chain.from_iterable(map(repeat, range(len(counts)), counts)))
    score = _check(before, _named(move, some, rules), known, counts, bag, rules, lexicon)
    seen = _as_seen(move, before.board)
    play = Play(before.board, seen, score, rules.rack_size, bag)
    return Observed(before, move, play, counts, _leave(known, move))


def _named(move: Move | int, some: Rack, rules: Rules) -> Move:
    """Give a move whose tiles are known; which ones are exchanged makes it no less legal."""
    count = move if isinstance(move, int) else len(_used(move))
    if count > rules.rack_size:
        raise ValueError(f"a move of {count} tiles; a rack holds {rules.rack_size}")
    return Exchange(some[:move]) if isinstance(move, int) else move


def _check(
    before: Position,
    move: Move,
    known: Rack | None,
    counts: tuple[int, ...],
    bag: int,
    rules: Rules,
    lexicon: Lexicon,
) -> int:
    """See that a move is legal with some rack, the one that is known if any; give its score."""
    used = _used(move)
    lacking = Counter(used) - Counter(dict(enumerate(counts)))
    if lacking:
        tiles = rules.distribution.alphabet.text(sorted(lacking.elements()))
        raise ValueError(
            f"{tiles} can't have been on his rack: all there are of it lie on the board or on the "
            "other rack"
        )
    rack = known or used
    racks = (rack, before.racks[1]) if before.on_turn == 0 else (before.racks[0], rack)
    try:
        made = check_move(replace(before, racks=racks), move, rules, lexicon.graph.contains, bag)
    except IllegalMove as error:
        of = f" of {lexicon.name}" if error.code == "not_a_word" else ""
        raise ValueError(f"{error}{of}") from None
    return made.score if made else 0


def _used(move: Move) -> Rack:
    """Give the tiles that leave the rack."""
    match move:
        case Place():
            return rack_tiles(move.placed)
        case Exchange():
            return move.tiles
        case Pass():
            return ()


def _as_seen(move: Move | int, board: Board) -> Place | Pass | int:
    match move:
        case Place():
            return canonical(move, board)
        case Exchange():
            return len(move.tiles)
    return move


def _leave(known: Rack | None, move: Move | int) -> Rack | None:
    """Give what stays of a rack, if it is known and so is what leaves it."""
    if known is None or isinstance(move, int):
        return None
    return tuple(sorted((Counter(known) - Counter(_used(move))).elements()))


# --- what it tells ------------------------------------------------------------------------------


def infer(
    judges: Judges,
    observed: Observed,
    model: Model,
    *,
    racks: int,
    seconds: float | None = None,
    seed: int = 0,
) -> Inferred:
    """Work out what a play tells.

    Kernels are warmed up first, and a first inference on nothing is made, so that neither
    compiling nor loading counts in ``seconds``.

    Args:
        judges: lexicon, rules and what leaves are worth to him.
        observed: what he did.
        model: what kind of player he is.
        racks: look at so many of his racks at most, or …
        seconds: … for so long.
        seed: for what is drawn.

    Raises:
        ValueError: an empty bag.
    """
    style, nothing = Style.of(model), LeavePrior.nothing()
    _rehearse(judges, style)
    began = time.perf_counter()
    inference = Inference(judges, observed.play, observed.counts, nothing, style, seed=seed)
    if seconds is None:
        inference.advance(racks)
    else:
        Anytime(inference).run(time_until(began + seconds * _LOOKING), lambda: inference.is_over)
    found = inference.posterior()
    took = time.perf_counter() - began
    kept = found.as_prior()
    now, drawn = observed.counts_after, observed.drawn
    on_rack = found.leaves.shape[1] + drawn
    position, generator = observed.position_after, judges["static"]
    return Inferred(
        observed,
        model,
        found,
        took,
        (tile_chances(nothing, now, on_rack), tile_chances(kept, now, drawn)),
        (
            bingo_chance(generator, position, nothing, on_rack, BINGO_SAMPLES, seed),
            bingo_chance(generator, position, kept, drawn, BINGO_SAMPLES, seed),
        ),
    )


def _rehearse(judges: Judges, style: Style) -> None:
    """Compile or load all that an inference takes, by two on an empty board.

    A tile is placed of a rack of As, the only one there is; and a tile is exchanged of enough
    racks to have read much of the words and leaves from disk. Nothing that is found is kept.
    """
    warm_up()
    rules = judges["static"].rules
    size = rules.rack_size
    board, (row, column) = Board.empty(rules.layout), rules.layout.start
    every = rules.distribution.counts
    only_as = [size * (tile == 1) for tile in range(len(every))]
    for move, counts in (Place(row, column, Direction.ACROSS, (1,)), only_as), (1, every):
        play = Play(board, move, score=0, held=size, bag=size)
        inference = Inference(judges, play, counts, LeavePrior.nothing(), style)
        inference.advance(_REHEARSED)
        inference.posterior()
