"""What an opponent may hold, followed through a game: a filter over what it keeps.

What it kept when it last drew, and random tiles, are the rack behind its next play; so what one
play tells is carried to the next. It changes with

* its plays (``engine.inference.inference``): what it had kept, and what this play tells;
* our own draws: a tile that we drew was not its (``LeavePrior.without``);
* tiles that it had to show: they are on its rack.

Each play also tells what kind of player it is (``engine.inference.likelihood``). The two are kept
apart: what it holds is worked out by what it is thought to be now, and the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.kernels.equity_terms import POINT
from engine.movegen.move_codec import pack
from engine.rules.moves import Move
from engine.rules.position import Position, Rack
from engine.simulation.rollout_input import Belief

from .inference import MOST_LISTED, Inference, Judges, Play, Posterior
from .leave_prior import LeavePrior, all_multisets, count_multisets, joined, priors_of
from .likelihood import Style

__all__ = ["DOUBT", "FULL_BAG", "RackFilter"]

DOUBT = 0.1
"""The share of samples that draw the opponent's rack as if nothing was known: no model of it is
true."""


FULL_BAG = 7
"""With fewer tiles in the bag good players look further than equity does, and make plays that seem
wild or greedy; these say nothing of how they play."""


@dataclass
class RackFilter:
    """Follows one opponent through one game.

    Args:
        judges: lexicon, rules and what leaves are worth to it.
        style: what kind of player it is thought to be.
        remembers: whether what earlier plays told counts (else the last play only, as in the
            paper).
        learns: whether plays tell what kind of player it is.
        doubt: how likely what one play tells is taken to be wrong after all, from the next on.
    """

    judges: Judges
    style: Style
    remembers: bool = True
    learns: bool = True
    doubt: float = 0.02

    def __post_init__(self) -> None:
        """Begin with nothing known."""
        self.prior = LeavePrior.nothing()
        self.last: Posterior | None = None
        """What its last play told."""

    def watch(
        self, play: Play, counts: Sequence[int], *, seed: int = 0, most_listed: int = MOST_LISTED
    ) -> Inference:
        """Begin to work out what a play tells; ``conclude`` takes it in.

        Args:
            play: what it did.
            counts: how many of each tile were unseen before it.
            seed: for what is drawn.
            most_listed: as for ``Inference``.

        Raises:
            ValueError: an empty bag.
        """
        before = self.prior if self.remembers else LeavePrior.nothing()
        return Inference(
            self.judges, play, counts, before, self.style, seed=seed, most_listed=most_listed
        )

    def conclude(self, inference: Inference) -> Posterior:
        """Take in what was found; return it.

        Where nothing was looked at, or nothing makes sense, it may hold anything from then on.
        """
        found = self.last = inference.posterior()
        self.prior = found.as_prior(self.doubt)
        if self.learns and len(found.leaves) and inference.play.bag >= FULL_BAG:
            self.style = self.style.learn(found.evidence)
        return found

    def drew(self, tiles: Rack, counts: Sequence[int]) -> None:
        """Take in that we drew tiles; ``counts`` were unseen before, by tile."""
        drawn = np.bincount(np.array(tiles, np.int64), minlength=len(counts)).tolist()
        self.prior = self.prior.without(drawn, counts) or LeavePrior.nothing()

    def showed(self, tiles: Rack, counts: Sequence[int], held: int) -> None:
        """Take in that it has these tiles, after a phony came off; ``counts`` are unseen.

        The rest of its rack of ``held`` tiles is thought to be what it was, so the phony is not to
        be taken for a play before. Where too much is possible, only the tiles that were seen are
        kept in mind.
        """
        shown = np.bincount(np.array(tiles, np.int64), minlength=len(counts)).tolist()
        left = [had - seen for had, seen in zip(counts, shown, strict=True)]
        known = LeavePrior(np.array([sorted(tiles)], np.uint8), np.ones(1))
        rest = held - len(tiles)
        if min(left) < 0 or rest < 0:
            self.prior = LeavePrior.nothing()
        elif count_multisets(left, rest) > MOST_LISTED:
            self.prior = known
        else:
            others = all_multisets(left, rest)
            racks = joined(others, tiles)
            priors = priors_of(racks, counts, self.prior)
            there = priors > 0
            self.prior = known
            if there.any():
                self.prior = LeavePrior(racks[there], priors[there] / priors.sum())

    def revealed(self, position: Position, move: Move) -> None:
        """Take in a play with a rack that is known, as all are once the bag is empty.

        Equity says too little of endings to tell how carefully somebody plays, and in many the
        highest score is best. But who passes a higher score by does not go by scores alone.

        Args:
            position: before the play; the rack of the player on turn is its.
            move: what it did.
        """
        greedy = [model for model in self.style.models if model.judge == "greedy"]
        if not self.learns or not greedy:
            return
        moves = self.judges["greedy"].arrays(position)
        own = moves.scores[moves.packed == pack(move)]
        if not len(own):  # no move that is known
            return
        loss = np.array([int(moves.scores.max()) - int(own[0])]) * POINT
        none = np.zeros(1)
        likely = {
            one.name: float((one.likelihood(loss) / one.likelihood(none))[0]) for one in greedy
        }
        self.style = self.style.learn([likely.get(one.name, 1.0) for one in self.style.models])

    def forget(self) -> None:
        """Begin again: it may hold anything."""
        self.prior = LeavePrior.nothing()

    def belief(self, doubt: float = DOUBT) -> Belief | None:
        """Return what simulations draw its rack from; None while nothing is known."""
        if not self.prior.size:
            return None
        return Belief(self.prior.tiles, self.prior.weights, max(doubt, self.prior.doubt))
