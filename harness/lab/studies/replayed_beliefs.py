"""Finished games as one player sees the other's turns, and its beliefs beside the truth.

A belief about a leave is scored as players use it: the leave's share among leaves thought kept and,
for the doubted part (``LeavePrior.doubt``), its share of random racks. Leaves are examined in the
order of their prior, up to a number of racks; an unexamined leave has only the doubt. The leave of
an exchange or a pass is drawn, and scored by its frequency among the draws.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.inference.equity_loss import OpponentPlay
from engine.inference.inference import Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.rack_filter import RackFilter
from engine.rules.game import Game
from engine.rules.moves import Exchange, Place
from engine.rules.position import Board, Position, Rack, unseen
from engine.rules.rules import leave_of
from harness.writing import whole_lines
from lexicons.store import Lexicon

ALL_LISTED = 1_000_000
"""No English rack has more: there are 736,281 leaves of six tiles."""


class Drew(NamedTuple):
    """The watching player drew tiles."""

    tiles: Rack
    counts: tuple[int, ...]
    """Tiles unseen by it before, by tile number."""


@dataclass(frozen=True)
class Seen:
    """A turn of the other player: its visible and hidden parts."""

    play: OpponentPlay
    counts: tuple[int, ...]
    """Tiles that it may have had, by tile number: unseen, less those that the watching player
    exchanged since the other drew."""
    left: tuple[int, ...]
    """Tiles unseen after it, by tile number."""
    number: int
    """Index of the turn in the game, from 0."""
    leave: Rack
    drawn: Rack

    @property
    def hides(self) -> bool:
        """Whether it kept tiles and the bag is not empty, so that there is something to infer."""
        return bool(self.leave) and sum(self.left) > len(self.leave) + len(self.drawn)


# --- a game -------------------------------------------------------------------------------------


def told(game: Game, seat: int) -> Iterator[Drew | Seen]:
    """Yield a seat's information about the other's rack while there are tiles in the bag."""
    board = Board.empty(game.rules.layout)
    own = tuple(sorted(game.opening_racks[seat]))
    back: Rack = ()  # exchanged by the seat in its last turn
    for number, turn in enumerate(game.turns):
        racks = (own, ()) if seat == 0 else ((), own)
        counts = unseen(Position(board, racks, (0, 0)), seat, game.rules)
        leave = leave_of(turn.rack, turn.move)
        if turn.seat == seat:
            own = tuple(sorted((*leave, *turn.drawn)))
            back = turn.move.tiles if isinstance(turn.move, Exchange) else ()
            if turn.drawn:
                yield Drew(tuple(sorted(turn.drawn)), counts)
        else:
            held = len(turn.rack)
            if sum(counts) == held:
                return
            move = len(turn.move.tiles) if isinstance(turn.move, Exchange) else turn.move
            play = OpponentPlay(board, move, turn.score, held, sum(counts) - held)
            had, left = _without(counts, back), _without(counts, play.tiles)
            yield Seen(play, had, left, number, leave, tuple(sorted(turn.drawn)))
        if isinstance(turn.move, Place):
            board = board.with_move(turn.move)


def _without(counts: Sequence[int], tiles: Rack) -> tuple[int, ...]:
    gone = Counter(tiles)
    return tuple(count - gone[tile] for tile, count in enumerate(counts))


# --- beliefs ------------------------------------------------------------------------------------


def take_in(tracker: RackFilter, event: Drew | Seen, racks: int) -> Posterior | None:
    """Update a tracker from ``racks`` racks at most; return its belief after the other's turn."""
    if isinstance(event, Drew):
        tracker.drew(event.tiles, event.counts)
        return None
    inference = tracker.watch(event.play, event.counts, seed=event.number, most_listed=ALL_LISTED)
    inference.advance(racks)
    return tracker.conclude(inference)


def share_of(leave: Rack, kept: LeavePrior) -> float:
    """Return this leave's share among the leaves thought kept."""
    if kept.size != len(leave):
        return 0.0
    return float(kept.weights[(kept.tiles == np.array(leave, np.uint8)).all(axis=1)].sum())


def random_share(leave: Rack, left: tuple[int, ...]) -> float:
    """Return the hypergeometric chance that random tiles of those left are this leave."""
    ways = prod(comb(left[tile], leave.count(tile)) for tile in set(leave))
    return ways / comb(sum(left), len(leave))


def loss_of(share: float, doubt: float, random: float, size: int) -> float:
    """Return the log-loss of a leave per tile, in nats."""
    return -math.log((1 - doubt) * share + doubt * random) / size


# --- files --------------------------------------------------------------------------------------


class PlayedGames(NamedTuple):
    """Finished games."""

    seed: int
    records: dict[int, dict[str, Any]]
    """By game number, as returned by ``duel.Games.record``."""


def read_games(path: Path, lexicon: Lexicon, seats: tuple[str, str]) -> PlayedGames:
    """Read two players' games from a file of ``duel.Games``, or of another study with games.

    Raises:
        OSError: the file can't be read.
        ValueError: it is not such a file, is of other words, or has no game of these players.
    """
    try:
        lines = whole_lines(path.read_bytes()).splitlines()
        first, *records = map(json.loads, lines)
        words, seed = first["lexicon"], int(first["seed"])
        every = [(game["players"], game["number"], list(game["moves"])) for game in records]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is not a results file with games and their moves") from None
    if words != lexicon.checksum:
        raise ValueError(f"{path} has games with other words than {lexicon.name}; name its lexicon")
    chosen = {
        number: record
        for (players, number, _), record in zip(every, records, strict=True)
        if players == list(seats)
    }
    if not chosen:
        others = sorted({" – ".join(players) for players, _, _ in every})
        raise ValueError(
            f"{path} has no game {' – '.join(seats)}; it has: {', '.join(others) or 'none'}"
        )
    return PlayedGames(seed, chosen)
