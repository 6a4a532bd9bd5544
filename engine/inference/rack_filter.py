"""What an opponent may hold, followed through a game: a filter over its leaves.

What one play tells carries over to the next. The belief changes with

* its plays (``engine.inference.inference``);
* our own draws: a tile that we drew was not its (``LeavePrior.without``);
* tiles that it had to show: they are on its rack.

Each play also tells what kind of player it is (``engine.inference.likelihood``). The two beliefs
are kept apart: each is updated with the other as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.inference.equity_loss import Judges, OpponentPlay
from engine.movegen.evaluation import POINT
from engine.movegen.move_codec import pack
from engine.rules.moves import Move
from engine.rules.position import Position, Rack

from .inference import MOST_LISTED, Inference, Posterior
from .leave_prior import LeavePrior, all_multisets, count_multisets, joined, priors_of
from .likelihood import Style, likelihood_power

DOUBT = 0.1  # share of samples that draw the opponent's rack as if nothing was known
KEPT_DOUBT = 0.02  # probability that an inference is wrong after all

FULL_BAG = 7
"""With fewer tiles in the bag good players look beyond equity; their plays may seem wild or greedy
and say nothing of their style."""


@dataclass
class RackFilter:
    """Follows one opponent through one game.

    Without ``remembers`` only the last play counts, as in Richards and Amir (2007); ``learns`` is
    whether plays tell what kind of player it is, ``doubt`` the least doubt about what a play told.
    """

    judges: Judges
    style: Style
    remembers: bool = True
    learns: bool = True
    doubt: float = KEPT_DOUBT

    def __post_init__(self) -> None:
        self.prior = LeavePrior.nothing()

    def watch(
        self,
        play: OpponentPlay,
        counts: Sequence[int],
        *,
        seed: int = 0,
        most_listed: int = MOST_LISTED,
    ) -> Inference:
        """Start an inference (arguments as ``Inference``); ``conclude`` takes its result."""
        before = self.prior if self.remembers else LeavePrior.nothing()
        return Inference(
            self.judges, play, counts, before, self.style, seed=seed, most_listed=most_listed
        )

    def conclude(self, inference: Inference) -> Posterior:
        """Take in the posterior, as far as the play is to be heeded, and return it.

        If no examined rack explains the play, the belief stays as it was; if none was examined, any
        rack is possible.
        """
        posterior = inference.posterior().tempered(likelihood_power(inference.play.bag))
        self.prior = posterior.as_prior(self.doubt)
        if self.learns and len(posterior.leaves) and inference.play.bag >= FULL_BAG:
            self.style = self.style.learn(posterior.evidence)
        return posterior

    def drew(self, tiles: Rack, counts: Sequence[int]) -> None:
        """Take in that we drew tiles; ``counts`` were unseen before, by tile."""
        drawn = np.bincount(np.array(tiles, np.int64), minlength=len(counts)).tolist()
        self.prior = self.prior.without(drawn, counts) or LeavePrior.nothing()

    def showed(self, tiles: Rack, counts: Sequence[int], held: int) -> None:
        """Take in tiles seen on its rack after a phony came off; ``counts`` are unseen.

        The belief about the rest of its ``held`` tiles stays, so no inference must have been made
        from the phony. With too many possible racks only the tiles seen are remembered.
        """
        shown = np.bincount(np.array(tiles, np.int64), minlength=len(counts)).tolist()
        left = [had - seen for had, seen in zip(counts, shown, strict=True)]
        known = LeavePrior.certain(tiles)
        rest = held - len(tiles)
        if min(left) < 0 or rest < 0:
            self.prior = LeavePrior.nothing()
        elif count_multisets(left, rest) > MOST_LISTED:
            self.prior = known
        else:
            others = all_multisets(left, rest)
            racks = joined(others, tiles)
            priors = priors_of(racks, counts, self.prior)
            possible = priors > 0
            self.prior = known
            if possible.any():
                self.prior = LeavePrior(racks[possible], priors[possible] / priors.sum())

    def revealed(self, position: Position, move: Move) -> None:
        """Take in a play with a known rack, as every rack is once the bag is empty.

        Equity says too little of endgames, and the highest score is often best; but a player that
        passes up a higher score is not greedy. ``position`` is that before the play.
        """
        greedy = [model for model in self.style.models if model.judge == "greedy"]
        if not self.learns or not greedy:
            return
        moves = self.judges["greedy"].arrays(position)
        own = moves.scores[moves.packed == pack(move)]
        if not len(own):  # not a generated move
            return
        loss = np.array([int(moves.scores.max()) - int(own[0])]) * POINT
        none = np.zeros(1)
        likely = {
            kind.name: float((kind.likelihood(loss) / kind.likelihood(none))[0]) for kind in greedy
        }
        self.style = self.style.learn([likely.get(kind.name, 1.0) for kind in self.style.models])

    def forget(self) -> None:
        """Forget everything: any rack is possible."""
        self.prior = LeavePrior.nothing()

    def belief(self, doubt: float = DOUBT) -> LeavePrior | None:
        """Return what simulations draw its rack from; None while nothing is known."""
        if not self.prior.size:
            return None
        return replace(self.prior, doubt=max(doubt, self.prior.doubt))
