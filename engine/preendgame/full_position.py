"""Positions of which everything is known, the order of the bag too."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from engine.movegen.evaluation import PASS_EQUITY
from engine.movegen.generator import RankedMove
from engine.rules.moves import PASS, Exchange, Move, Place
from engine.rules.position import Position, Rack
from engine.rules.rules import Rules, rack_tiles

__all__ = ["Deal", "passing", "tiles_of"]


@dataclass(frozen=True, slots=True)
class Deal:
    """A position with both racks, and the bag in the order in which it will be drawn."""

    position: Position
    bag: Rack
    over: bool = False
    """Whether the game is, and the racks are settled."""

    def after(self, move: Move, score: int, rules: Rules, seed: int = 0) -> Deal:
        """Give the deal after a legal move of the player on turn.

        Args:
            move: what he does.
            score: its points.
            rules: those of the game.
            seed: for the places where the tiles of an exchange go back.
        """
        position, seat = self.position, self.position.on_turn
        used = tiles_of(move)
        rack = list(position.racks[seat])
        for tile in used:
            rack.remove(tile)
        missing = rules.rack_size - len(rack)
        rack = sorted((*rack, *self.bag[:missing]))
        bag = self.bag[missing:]
        if isinstance(move, Exchange):
            # By what lies in the bag, too: or the tiles would go to the same places in every case.
            chance = random.Random(f"{seed} {self.bag} {position.racks}")
            bag = tuple(chance.sample((*bag, *used), len(bag) + len(used)))
        placed = isinstance(move, Place)
        racks, scores = list(position.racks), list(position.scores)
        racks[seat] = tuple(rack)
        scores[seat] += score
        moved = Position(
            position.board.with_move(move) if isinstance(move, Place) else position.board,
            (racks[0], racks[1]),
            (scores[0], scores[1]),
            1 - seat,
            0 if placed else position.scoreless_turns + 1,
        )
        return Deal(moved, bag)._settled(seat, rules)

    def _settled(self, mover: int, rules: Rules) -> Deal:
        """End the game if the move did, and settle the racks."""
        position, value = self.position, rules.distribution.value
        scores = list(position.scores)
        if not position.racks[mover] and not self.bag:
            scores[mover] += 2 * value(position.racks[1 - mover])
        elif position.scoreless_turns >= rules.scoreless_limit:
            for seat in range(2):
                scores[seat] -= value(position.racks[seat])
        else:
            return self
        return Deal(replace(position, scores=(scores[0], scores[1])), self.bag, over=True)


def passing(position: Position) -> RankedMove:
    """Give the pass of the player on turn."""
    return RankedMove(PASS, 0, PASS_EQUITY, position.racks[position.on_turn])


def tiles_of(move: Move) -> Rack:
    """Give the tiles that a move takes off the rack."""
    if isinstance(move, Place):
        return rack_tiles(move.placed)
    return move.tiles if isinstance(move, Exchange) else ()
