"""A game as a value: position, bag, turns and ending.

The same rules, secret, nonces and moves give the same game, tile for tile, so games are stored as
moves and replayed. Clocks, resignations and forfeits belong elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from .bag import Bag, dealing_order
from .moves import Exchange, Move, Pass, Place
from .position import Position, Rack
from .rules import Rules, Words, canonical, check_move, rack_without, used_tiles

Reason: TypeAlias = Literal["out", "zeroes"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: ``rack`` is that before it, ``total`` the score after it, ``drawn`` in order."""

    seat: int
    rack: Rack
    move: Move
    score: int
    total: int
    drawn: tuple[int, ...] = ()
    words: tuple[tuple[int, ...], ...] = ()
    bingo: bool = False

    @property
    def scoreless(self) -> bool:
        """Whether it counts towards the scoreless limit; a placement never does."""
        return not isinstance(self.move, Place)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a game; ``adjustments`` were added to the scores for the final ``racks``."""

    reason: Reason
    adjustments: tuple[int, int]
    racks: tuple[Rack, Rack]


@dataclass(frozen=True, slots=True)
class Game:
    """A game between two turns, or ``over``, with final scores and the racks settled."""

    rules: Rules
    position: Position
    bag: Bag
    opening_racks: tuple[tuple[int, ...], tuple[int, ...]]  # each seat's tiles, in the order drawn
    turns: tuple[Turn, ...] = ()
    over: Ending | None = None
    opening: Position | None = None  # given at the start; its racks are what it gave

    @classmethod
    def start(cls, rules: Rules, bag: Bag, opening: Position | None = None) -> Game:
        """Deal: each seat draws what its rack lacks, as ``dealing_order`` has it.

        By default the board is empty and so are the racks; an ``opening`` has seat 0 on turn, and
        its tiles are not in the bag.
        """
        begun = opening or Position.empty(rules.layout)
        dealt = list(begun.racks)
        for seat in dealing_order(begun.racks):
            drawn, bag = bag.draw(rules.rack_size - len(dealt[seat]), seat)
            dealt[seat] = (*dealt[seat], *drawn)
        first, second = dealt
        position = replace(begun, racks=(tuple(sorted(first)), tuple(sorted(second))))
        return cls(rules, position, bag, (first, second), opening=opening)

    def play(self, move: Move, words: Words | None) -> Game:
        """Make the mover's move and draw; settle the racks if that ends the game.

        A placement is stored in its canonical description. Without ``words`` any word will do.

        Raises:
            IllegalMove: with the reason.
            ValueError: the game is over.
        """
        if self.over is not None:
            raise ValueError(f"the game is over ({self.over.reason}); no move can be made")
        position, rules, seat = self.position, self.rules, self.position.on_turn
        play = check_move(position, move, rules, words, len(self.bag))
        if isinstance(move, Place):
            move = canonical(move, position.board)
        rack, drawn, bag = self._draw(move, seat)
        score = play.score if play else 0
        total = position.scores[seat] + score
        turn = Turn(
            seat=seat,
            rack=position.racks[seat],
            move=move,
            score=score,
            total=total,
            drawn=drawn,
            words=play.words if play else (),
            bingo=play.bingo if play else False,
        )
        after = position.after(move, score, rack)
        played = replace(self, position=after, bag=bag, turns=(*self.turns, turn))
        settled = settlement(after, len(bag), seat, rules)
        if settled is None:
            return played
        reason, adjustments = settled
        ending = Ending(reason, adjustments, after.racks)
        return replace(played, position=adjusted(after, adjustments), over=ending)

    def _draw(self, move: Move, seat: int) -> tuple[Rack, tuple[int, ...], Bag]:
        if isinstance(move, Pass):
            return self.position.racks[seat], (), self.bag
        used = used_tiles(move)
        rack = rack_without(self.position.racks[seat], used)
        drawn, bag = self.bag.draw(self.rules.rack_size - len(rack), seat)
        if isinstance(move, Exchange):
            bag = bag.put_back(used)
        return tuple(sorted((*rack, *drawn))), drawn, bag


def settlement(
    position: Position, bag: int, mover: int, rules: Rules
) -> tuple[Reason, tuple[int, int]] | None:
    """Return why the game ends after a turn and the score adjustments; None if it goes on.

    The position is that after the turn of seat ``mover``, with both racks; ``bag`` counts tiles.
    """
    first, second = map(rules.distribution.value, position.racks)
    if not position.racks[mover] and not bag:
        return "out", (2 * second, 0) if mover == 0 else (0, 2 * first)
    if position.scoreless_turns >= rules.scoreless_limit:
        return "zeroes", (-first, -second)
    return None


def adjusted(position: Position, adjustments: tuple[int, int]) -> Position:
    """Return the position with ``adjustments`` added to the scores."""
    scores = position.scores
    return replace(position, scores=(scores[0] + adjustments[0], scores[1] + adjustments[1]))
