"""The best moves by score, leave and the value of the position that they lead to."""

from __future__ import annotations

import numpy as np

from engine.kernels.value_net import SUMS, rank_by_value
from engine.rules.position import Position, unseen
from lexicons.arrays import F32
from lexicons.value_net import ValueNet

from .generator import Generator, RankedMove, passing

AMONG = 20
"""Moves of the highest equity that are valued."""


class PositionValue:
    """Ranks the best moves of a generator by a net.

    Raises:
        ValueError: the net is for other tiles or another board.
    """

    def __init__(self, generator: Generator, net: ValueNet) -> None:
        net.check(generator.rules.layout, generator.rules.distribution)
        self._generator, self._net = generator, net
        self._sums = np.zeros(1, SUMS)

    @property
    def outputs(self) -> F32:
        """The net's outputs (``lexicons.value_net``) for the move that was valued last."""
        outputs: F32 = self._sums["outputs"][0].copy()
        return outputs

    def best(self, position: Position, count: int = 1, among: int = AMONG) -> list[RankedMove]:
        """Return the best ``count`` moves, whose equity is score, leave and value.

        The ``among`` moves of the highest static equity are valued. With an empty bag, on which
        nets are not trained, moves and equities are the generator's. A pass comes only if there is
        nothing else.

        Raises:
            ValueError: as ``Generator.best``, or over 128 moves are to be valued.
        """
        generator = self._generator
        turn = generator.keep_best(position, max(among, count))
        if turn.bag:
            hidden = unseen(position, position.on_turn, generator.rules)
            self._sums["unseen"][0, : len(hidden)] = hidden
            rank_by_value(
                generator.state,
                generator.words.words,
                self._net.arrays,
                self._sums,
                turn.bag,
                position.scoreless_turns,
            )
        return generator.kept(position)[:count] or [passing(position)]
