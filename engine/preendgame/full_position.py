"""Positions with everything known, even the order of the bag."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.movegen.evaluation import PASS_EQUITY
from engine.movegen.generator import RankedMove
from engine.rules.game import adjusted, settlement
from engine.rules.moves import PASS, Exchange, Move, Place
from engine.rules.position import Position, Rack
from engine.rules.rules import Rules, rack_tiles

__all__ = ["FullPosition", "passing", "tiles_of"]


@dataclass(frozen=True, slots=True)
class FullPosition:
    """A position with both racks, and the bag in drawing order."""

    position: Position
    bag: Rack
    over: bool = False
    """Whether the game is over, and the racks are settled."""

    def after(self, move: Move, score: int, rules: Rules, seed: int = 0) -> FullPosition:
        """Return the full position after a legal move of the player on turn.

        Args:
            move: legal.
            score: points of the move.
            rules: of the game.
            seed: for the places of exchanged tiles in the bag.
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
            # Seeded by the bag too; else the tiles would go to the same places in every case.
            chance = random.Random(f"{seed} {self.bag} {position.racks}")
            bag = tuple(chance.sample((*bag, *used), len(bag) + len(used)))
        after = position.after(move, score, tuple(rack))
        settled = settlement(after, len(bag), seat, rules)
        if settled is None:
            return FullPosition(after, bag)
        return FullPosition(adjusted(after, settled[1]), bag, over=True)


def passing(position: Position) -> RankedMove:
    """Return the pass of the player on turn."""
    return RankedMove(PASS, 0, PASS_EQUITY, position.racks[position.on_turn])


def tiles_of(move: Move) -> Rack:
    """Return the tiles that a move takes off the rack."""
    if isinstance(move, Place):
        return rack_tiles(move.placed)
    return move.tiles if isinstance(move, Exchange) else ()
