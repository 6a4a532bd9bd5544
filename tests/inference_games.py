"""Ends of games as an opponent's observer sees them, with few enough tiles unseen to count all."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import NamedTuple

from inference_reference import without
from rollout_positions import RULES, generator, position_of

from engine.inference.equity_loss import OpponentPlay
from engine.movegen.generator import RankedMove
from engine.rules.moves import Place
from engine.rules.position import Position, Rack, unseen
from lexicons.alphabet import BLANK


@cache
def late_game_position(bag: int, hidden_blanks: int) -> Position:
    """Give a position of a static game with both racks, so many tiles in the bag, and so many
    blanks that the player who is not on turn doesn't see.
    """
    for game in count():
        for turn in range(14, 24):
            try:
                position = position_of(game, turn, both=True)
            except (ValueError, IndexError):
                break
            hidden = unseen(position, 1 - position.on_turn, RULES)
            if sum(hidden) == bag + RULES.rack_size and hidden[BLANK] == hidden_blanks:
                return position
    raise AssertionError("count() has no end")


class LateGame:
    """A game that is played on: he, of whom nothing is known at first, and we, who watch him."""

    def __init__(self, bag: int, seed: int, hidden_blanks: int = 0) -> None:
        position = late_game_position(bag, hidden_blanks)
        self._chance = random.Random(seed)
        self._generator = generator()
        self.board = position.board
        self.ours = position.racks[1 - position.on_turn]
        self.kept: Rack = ()
        """What he kept when he last drew."""
        hidden = unseen(position, 1 - position.on_turn, RULES)
        self._hidden = [tile for tile, many in enumerate(hidden) for _ in range(many)]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many of each tile we don't see."""
        kinds = range(len(RULES.distribution.counts))
        return tuple(self._hidden.count(tile) for tile in kinds)

    @property
    def bag(self) -> int:
        return len(self._hidden) - RULES.rack_size

    def ranked(self, rack: Rack, best: int = 1) -> list[RankedMove]:
        return self._generator.best(Position(self.board, (rack, ()), (0, 0)), best)

    def he_plays(self, most: int, nth: int = 0, tries: int = 40) -> OpponentPlay:
        """Have him draw until his best move, or the nth after it, takes so many tiles or fewer."""
        drawn = without(self._hidden, self.kept)
        assert drawn is not None
        for _ in range(tries):
            draw = self._chance.sample(drawn, RULES.rack_size - len(self.kept))
            rack = tuple(sorted((*self.kept, *draw)))
            *_, chosen = self.ranked(rack, nth + 1)
            if isinstance(chosen.move, Place) and len(chosen.move.placed) <= most:
                return self._put_down(chosen)
        raise LookupError(f"no rack plays {most} tiles or fewer")

    def _put_down(self, chosen: RankedMove) -> OpponentPlay:
        assert isinstance(chosen.move, Place)
        play = OpponentPlay(self.board, chosen.move, chosen.score, RULES.rack_size, self.bag)
        self.board = self.board.with_move(chosen.move)
        self.kept = chosen.leave
        for tile in play.tiles:
            self._hidden.remove(tile)
        return play

    def we_play(self) -> Rack:
        """Play a tile; give what we draw, which he doesn't hold."""
        for chosen in self.ranked(self.ours, 128):
            if isinstance(chosen.move, Place) and len(chosen.move.placed) == 1:
                self.board = self.board.with_move(chosen.move)
                drawn = self.draw(len(chosen.move.placed))
                self.ours = tuple(sorted((*chosen.leave, *drawn)))
                return drawn
        raise LookupError("there is no such move")

    def draw(self, tiles: int) -> Rack:
        """Take tiles that he doesn't hold from what is unseen."""
        others = without(self._hidden, self.kept)
        assert others is not None
        drawn = tuple(sorted(self._chance.sample(others, tiles)))
        for tile in drawn:
            self._hidden.remove(tile)
        return drawn


class Turn(NamedTuple):
    """A play of his, and what we drew after it, each with how many of each tile we did not see."""

    play: OpponentPlay
    counts: tuple[int, ...]
    drawn: Rack
    counts_then: tuple[int, ...]


@cache
def turns(bag: int, blanks: int, most: Sequence[int], seed: int) -> list[Turn]:
    """Play on from a position, each time his best play, which has to be short.

    After each of them we play a tile and draw one, except after the last.

    Raises:
        LookupError: with this seed there is no such game.
    """
    game, found = LateGame(bag, seed, blanks), []
    for nth, tiles in enumerate(most):
        counts = game.counts
        play = game.he_plays(tiles)
        counts_then = game.counts
        drawn = game.we_play() if nth + 1 < len(most) else ()
        found.append(Turn(play, counts, drawn, counts_then))
    return found
