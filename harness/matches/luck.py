"""The luck of a game's draws, which serves as a control variate for its result.

The **luck** of a draw is its value less the mean value of all draws that the bag could have given
to the leave instead. So its mean is 0, whatever is played and however strong the players are, and a
result less any fixed multiple of the luck has the same mean as the result, with a smaller error.
Poker has long been judged in this way (DIVAT: Zinkevich et al. 2006; AIVAT: Burch et al. 2018), as
has backgammon.

A draw is valued **when its owner is next on turn**, on the board that it then finds: by the best
static equity of its rack. What the opponent played in between tells nothing of the draw, since it
could not see it: given all that has happened but the draw itself, each draw from the bag as it was
is still equally likely. (Where the last tile is drawn the opponent can tell the rack; but such a
draw has no alternative, and no luck.) Hence the opponent must not know the order of the bag, as it
might after the other game of a pair with the same draws. All draws from a small bag are listed;
otherwise the mean is that of ``SAMPLES`` random draws or a few more, seeded by the game's tiles,
which adds little variance.

**In wins** the value is the win probability of the lead, with that equity added, for this number
of tiles; so a draw counts most where it decides most.

``luck_correction`` corrects results for luck.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np

from engine.inference.equity_loss import EquityLosses, OpponentPlay
from engine.movegen.generator import Generator
from engine.rules.bag import dealing_order
from engine.rules.game import Game, Turn
from engine.rules.moves import PASS, Exchange, Pass, Place
from engine.rules.position import Board, Position, Rack, tiles_of
from engine.rules.rules import Rules, leave_of
from lexicons.arrays import I64, U8
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon
from lexicons.win_probability import WinProbabilities

from .results import Luck

SAMPLES = 40
"""Fewest random draws to compare with; if a bag has no more possible draws, all are taken.

A game takes some 50 ms, and the samples add about 1 % to the variance of its luck; with 10 it takes
30 ms, and they add some 3 %."""
_REACH = 4_000_000
"""Thousandths of a point; larger than any equity."""
_USUAL_PLAY = 4
"""Tiles of a usual play, to estimate how many are unseen after the coming one."""


class DrawLuck(NamedTuple):
    """The luck of one draw, from its owner's view."""

    seat: int
    bag: int
    """Tiles in the bag before the draw."""
    points: float
    wins: float


class LuckMeter:
    """Measures the luck of games; for one thread at a time.

    Raises:
        ValueError: as ``Generator``.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        rules: Rules,
        leaves: LeaveTable,
        chances: WinProbabilities,
        samples: int = SAMPLES,
    ) -> None:
        self._generator = Generator(lexicon, rules, leaves)
        self._chances = chances
        self._samples = samples

    def of(self, game: Game | None) -> Luck | None:
        """Return the luck of a game, over or not; None if a rack is unknown or none was dealt."""
        if game is None or not is_known(game):
            return None
        draws = list(self.draws(game))
        first, second = ([draw for draw in draws if draw.seat == seat] for seat in (0, 1))
        return Luck(
            (sum(draw.points for draw in first), sum(draw.points for draw in second)),
            (sum(draw.wins for draw in first), sum(draw.wins for draw in second)),
        )

    def draws(self, game: Game) -> Iterator[DrawLuck]:
        """Yield the luck of each draw whose owner came to its next turn; racks must be known."""
        # The seed is the same whenever the game is restored.
        tiles = bytes(chain(*game.opening_racks, *(turn.drawn for turn in game.turns)))
        seed = int.from_bytes(hashlib.sha256(tiles).digest()[:8], "big")
        chance, table = np.random.default_rng(seed), self._chances
        for draw in _judged_draws(game):
            racks = draw.racks(self._samples, chance)
            play = OpponentPlay(
                draw.board, PASS, 0, racks.shape[1], max(draw.left, 1), draw.may_exchange
            )
            # What a pass loses is what the best play is worth.
            losses = EquityLosses(self._generator, play, _REACH).of(racks, racks[:, :0])
            points = losses / 1000
            # Seen from the opponent, whose turn it will be.
            opposite = self._generator.leaves.value(draw.opposite) if draw.left else 0.0
            spreads = np.rint(opposite - draw.lead - points).astype(np.int64) - table.spreads[0]
            unseen = draw.left + len(draw.kept) + len(draw.drawn) - _USUAL_PLAY - table.unseen[0]
            rows, columns = table.values.shape
            lost = table.values[spreads.clip(0, rows - 1), min(max(unseen, 0), columns - 1)]
            wins = 1 - lost.astype(np.float64)
            yield DrawLuck(
                draw.seat,
                int(draw.bag.sum()),
                float(points[0] - points[1:].mean()),
                float(wins[0] - wins[1:].mean()),
            )


def is_known(game: Game) -> bool:
    """Return whether every rack and draw of a game is known; a remote arbiter tells fewer."""
    racks, size = [sorted(rack) for rack in game.opening_racks], game.rules.rack_size
    begun = game.opening or Position.empty(game.rules.layout)
    dealt = sum(map(len, racks)) - sum(map(len, begun.racks))
    bag = int(_to_draw(begun, game.rules).sum()) - dealt
    if bag and any(len(rack) != size for rack in racks):
        return False
    for turn in _as_it_stands(game):
        if sorted(turn.rack) != racks[turn.seat]:
            return False
        kept = leave_of(turn.rack, turn.move)
        wanted = 0 if isinstance(turn.move, Pass) else min(size - len(kept), bag)
        if len(turn.drawn) != wanted:
            return False
        racks[turn.seat] = sorted((*kept, *turn.drawn))
        bag -= len(turn.drawn) if isinstance(turn.move, Place) else 0
    return True


@dataclass(frozen=True)
class _JudgedDraw:
    """A draw, and the position at its owner's next turn."""

    seat: int
    bag: I64
    """Number of tiles in the bag before it, by kind; int[kinds]."""
    kept: Rack
    drawn: Rack
    board: Board
    lead: int
    """Points ahead."""
    opposite: Rack
    """What the opponent kept, before its draw."""
    left: int
    """Tiles in the bag at that turn."""
    may_exchange: bool
    """Whether the owner has an exchange left."""

    def racks(self, samples: int, chance: np.random.Generator) -> U8:
        """Return racks [racks, tiles]: the actual one, then others that the bag could give."""
        tiles = np.repeat(np.arange(len(self.bag), dtype=np.uint8), self.bag)
        count = len(self.drawn)
        if comb(len(tiles), count) <= samples:
            others = np.array(list(combinations(tiles.tolist(), count)), np.uint8)
        else:
            # Dealing out whole bags makes the mean vary less than independent draws would.
            dealt = len(tiles) // count
            bags = np.tile(tiles, (-(-samples // dealt), 1))
            others = chance.permuted(bags, axis=1)[:, : dealt * count].reshape(-1, count)
        draws = np.vstack((np.array(self.drawn, np.uint8), others))
        kept = np.tile(np.array(self.kept, np.uint8), (len(draws), 1))
        return np.sort(np.hstack((kept, draws)), axis=1)


def _judged_draws(game: Game) -> Iterator[_JudgedDraw]:
    """Yield the draws that had an alternative, at their owners' turns."""
    kinds = len(game.rules.distribution.counts)
    begun = game.opening or Position.empty(game.rules.layout)
    bag = _to_draw(begun, game.rules)
    pending: list[tuple[I64, Rack, Rack] | None] = [None, None]
    for seat in dealing_order(begun.racks):
        rack, held = game.opening_racks[seat], len(begun.racks[seat])
        pending[seat] = bag, rack[:held], rack[held:]
        bag = bag - _counts(rack[held:], kinds)
    board, scores = begun.board, list(begun.scores)
    left_on: list[Rack] = [(), ()]
    exchanges = list(begun.exchanges)
    turns = list(_as_it_stands(game))
    if game.over is None:  # the player on turn passes, for its draw
        on_turn, now = game.position.on_turn, game.position
        turns.append(Turn(on_turn, now.racks[on_turn], PASS, 0, now.scores[on_turn]))
    for turn in turns:
        seat, draw = turn.seat, pending[turn.seat]
        if draw is not None and 0 < len(draw[2]) < draw[0].sum():
            lead = scores[seat] - scores[1 - seat]
            left = exchanges[seat] < game.rules.exchange_limit
            yield _JudgedDraw(seat, *draw, board, lead, left_on[1 - seat], int(bag.sum()), left)
        kept = leave_of(turn.rack, turn.move)
        pending[seat] = None if isinstance(turn.move, Pass) else (bag, kept, turn.drawn)
        left_on[seat] = () if isinstance(turn.move, Pass) else kept
        bag = bag - _counts(turn.drawn, kinds)
        if isinstance(turn.move, Exchange):
            bag = bag + _counts(turn.move.tiles, kinds)
            exchanges[seat] += 1
        elif isinstance(turn.move, Place):
            board = board.with_move(turn.move)
        scores[seat] = turn.total


def _to_draw(begun: Position, rules: Rules) -> I64:
    """Count the tiles, by kind, that are neither on the board nor on racks."""
    counts = np.array(rules.distribution.counts, np.int64)
    return counts - _counts(tuple(tiles_of(begun.board, begun.racks)), len(counts))


def _counts(tiles: Rack, kinds: int) -> I64:
    return np.bincount(np.array(tiles, np.int64), minlength=kinds)


def _as_it_stands(game: Game) -> Iterator[Turn]:
    """Yield the turns, with plays that were challenged off as passes."""
    for turn in game.turns:
        yield replace(turn, move=PASS) if turn.withdrawn else turn
