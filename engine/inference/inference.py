"""Inference: what an opponent holds, given what it played (Richards and Amir 2007), and beyond.

By Bayes' rule the posterior of a rack is its prior (``engine.inference.leave_prior``) times the
likelihood of the play with it. That depends on how much better the best move was, as judged by a
model of the player (``engine.inference.likelihood``).

After a placement the possible racks are all listed if they are few; else, and after an exchange or
a pass, racks are drawn. They are examined as long as there is time. Listed racks come in the order
of *priority sampling* (Duffield, Lund and Thorup 2007): each has the priority prior / u, with u
uniform from 0 to 1. If those above a threshold t were examined, each stands for max(prior, t); so
sums over racks are unbiased wherever the work stops, and exact once every rack was examined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.rules.moves import Place
from engine.rules.position import Rack
from lexicons.arrays import F64, U8, Bools, dot

from .equity_loss import EquityLosses, Judges, OpponentPlay, best_kept
from .leave_prior import (
    CompletedRacks,
    LeavePrior,
    all_multisets,
    count_multisets,
    joined,
    priors_of,
)
from .likelihood import Style

MOST_LISTED = 200_000
"""Most leaves to list; beyond it racks are drawn. English has at most 27,405 leaves of four tiles,
142,506 of five."""

_UNLIKELY = 0.002  # judges with these odds or less are skipped: all cost the same time
_MANY = 2_000  # leaves, above which unlikely ones are dropped from a prior
_BLOCK = 1_000  # racks drawn at a time; each call has a fixed cost
_NOTHING = 1e-300  # avoids division by zero


@dataclass(frozen=True, eq=False)
class Posterior:
    """The belief after a play; arrays are by leave, in no particular order."""

    leaves: U8  # [count, size], each sorted
    prior: F64  # before the play was judged; less than 1 in all if not all were examined
    posterior: F64  # probabilities that add up to 1
    considered: int  # number of possible leaves, or of racks drawn
    surviving: int  # examined leaves that are still possible
    chances: F64  # of being examined, by leave; if drawn, the mass of leaves drawn repeatedly
    unseen: float  # prior mass of what was not examined
    effective: float  # sample size in draws from the prior; the number of leaves if all examined
    evidence: tuple[float, ...]  # likelihood of the play under each model of the style
    note: str = ""  # what went wrong, or why nothing can be inferred
    is_drawn: bool = False  # whether racks were drawn, rather than all leaves listed

    @property
    def entropy(self) -> float:
        """Entropy of the posterior, in bits."""
        return _entropy(self.posterior)

    @property
    def entropy_prior(self) -> float:
        """Entropy of the prior, in bits."""
        return _entropy(self.prior / max(float(self.prior.sum()), _NOTHING))

    def top(self, count: int) -> list[tuple[Rack, float, float]]:
        """Return the ``count`` likeliest leaves, each with prior and posterior."""
        order = np.lexsort((*self.leaves.T[::-1], -self.prior, -self.posterior))[:count]
        leaves = map(tuple, self.leaves[order].tolist())
        return list(
            zip(leaves, self.prior[order].tolist(), self.posterior[order].tolist(), strict=True)
        )

    def mass_of_top(self, count: int) -> float:
        """Return the posterior mass of the ``count`` likeliest leaves."""
        return float(np.sort(self.posterior)[::-1][:count].sum())

    def tempered(self, power: float) -> Posterior:
        """Return the belief by a power of the play's likelihood; below 1 the play counts less."""
        if power == 1:
            return self
        # If each leave was drawn only once, all chances are 0; then the odds are the prior.
        odds = np.divide(self.prior, self.chances, out=self.prior.copy(), where=self.chances > 0)
        weights = odds ** (1 - power) * self.posterior**power
        return replace(self, posterior=weights / max(float(weights.sum()), _NOTHING))

    def as_prior(self, doubt: float = 0.0) -> LeavePrior:
        """Return the posterior as the prior of the next play.

        Its doubt is the mass of what was not examined, at least ``doubt``. If there are many
        leaves, those too unlikely to matter are dropped.
        """
        known = self.posterior * self.chances
        least = doubt / 2 / len(known) if len(known) > _MANY else 0.0
        kept = known > least
        mass = float(known[kept].sum())
        if not mass > 0:
            return LeavePrior.nothing()
        unexamined = 1 - mass if self.unseen or doubt else 0.0
        return LeavePrior(self.leaves[kept], known[kept] / mass, max(doubt, unexamined))


class Inference:
    """Infers what an opponent kept when it made a play; knows no clock.

    ``judges`` are in use until this is done. ``counts`` are the tiles unseen before the play (on
    the opponent's rack or in the bag), by tile number; ``before`` is what it may have kept earlier,
    the rest it drew. Racks are drawn after an exchange or a pass, and if more than ``most_listed``
    leaves are possible.

    Raises:
        ValueError: the bag is empty.
    """

    def __init__(
        self,
        judges: Judges,
        play: OpponentPlay,
        counts: Sequence[int],
        before: LeavePrior,
        style: Style,
        *,
        seed: int = 0,
        most_listed: int = MOST_LISTED,
    ) -> None:
        if play.bag < 1:
            raise ValueError(
                "the bag is empty, so that nothing is hidden; there is nothing to infer"
            )
        self.play, self.style = play, style
        self._counts, self._before = tuple(counts), before
        self._judges, self._note = judges, ""
        self._chance = np.random.default_rng(seed & (1 << 64) - 1)
        odds = {model.judge: style.odds_of(model.judge) for model in style.models}
        order = sorted(odds, key=odds.__getitem__, reverse=True)
        reach = {name: 0 for name in order if name == order[0] or odds[name] > _UNLIKELY}
        for model in style.models:
            if model.judge in reach:
                reach[model.judge] = max(reach[model.judge], model.reach)
        self._losses = {name: EquityLosses(judges[name], play, far) for name, far in reach.items()}
        self._racks, self._leaves, self._odds = self._candidates(most_listed)
        self._examined = {judge: np.zeros(0, np.int32) for judge in self._losses}
        self.looked_at = 0

    @property
    def is_over(self) -> bool:
        """Whether every rack was examined; never if racks are drawn."""
        return self.looked_at >= len(self._racks) and self._is_listed

    def _candidates(self, most_listed: int) -> tuple[U8, U8, F64]:
        play, counts = self.play, self._counts
        shown = np.bincount(np.array(play.tiles, np.int64), minlength=len(counts))
        left = [had - gone for had, gone in zip(counts, shown.tolist(), strict=True)]
        self._shown = shown.tolist()
        fits = 0 < play.held <= self._judges.rules.rack_size and play.kept >= 0
        if min(left) < 0 or not fits or sum(counts) < play.held:
            self._note = "the play has tiles that it can't have had"
            self._is_listed = True
            empty = np.zeros((0, play.held), np.uint8)
            return empty, empty[:, : max(play.kept, 0)], np.zeros(0)
        plain = isinstance(play.move, Place)
        self._is_listed = plain and count_multisets(left, play.kept) <= most_listed
        if not self._is_listed:
            self._draws = CompletedRacks(counts, self._before, self._shown, play.held)
            if not self._draws.knows:
                self._forget()
                self._draws = CompletedRacks(counts, self._before, self._shown, play.held)
            return self._draw(0)
        leaves = all_multisets(left, play.kept)
        racks = joined(leaves, play.tiles)
        priors = self._priors(racks)
        possible = np.flatnonzero(priors)
        priors = priors[possible] / priors.sum()
        chance = self._chance.random(len(possible))
        order = np.argsort(-priors / np.maximum(chance, 1e-12), kind="stable")
        self._priority = (priors / np.maximum(chance, 1e-12))[order]
        possible = possible[order]
        return racks[possible], leaves[possible], priors[order]

    def _priors(self, racks: U8) -> F64:
        known = priors_of(racks, self._counts, replace(self._before, doubt=0.0))
        if not known.any():
            self._forget()
            return priors_of(racks, self._counts, self._before)
        doubt = self._before.doubt
        if not doubt:
            return known
        return (1 - doubt) * known + doubt * priors_of(racks, self._counts, LeavePrior.nothing())

    def _forget(self) -> None:
        if self._before.size:
            self._note = "the play contradicts the earlier belief, which is dropped"
        self._before = LeavePrior.nothing()

    def _draw(self, count: int) -> tuple[U8, U8, F64]:
        play = self.play
        racks, odds = self._draws.draw(count, self._chance)
        if isinstance(play.move, Place):
            return racks, _without(racks, play.tiles), odds
        return racks, best_kept(self._judges["static"].leaves, racks, play.kept), odds

    def advance(self, racks: int) -> int:
        """Examine up to ``racks`` more racks; return how many."""
        # In blocks of one size, so that results don't depend on the calls.
        while not self._is_listed and self.looked_at + racks > len(self._racks):
            more = self._draw(_BLOCK)
            if not len(more[0]):
                break
            self._racks = np.concatenate((self._racks, more[0]))
            self._leaves = np.concatenate((self._leaves, more[1]))
            self._odds = np.concatenate((self._odds, more[2]))
        part = slice(self.looked_at, min(self.looked_at + racks, len(self._racks)))
        for judge, losses in self._losses.items():
            fresh = losses.of(self._racks[part], self._leaves[part])
            self._examined[judge] = np.concatenate((self._examined[judge], fresh))
        done = part.stop - part.start
        self.looked_at = part.stop
        return done

    def _judged(self, odds: F64) -> tuple[F64, tuple[float, ...]]:
        """Return the likelihood of the play by rack, and the evidence by model.

        A model whose judge was skipped gets the mean evidence of the others.
        """
        likelihood, known = np.zeros(len(odds)), 0.0
        evidence: list[float | None] = []
        for model, odd in zip(self.style.models, self.style.odds, strict=True):
            if model.judge not in self._examined:
                evidence.append(None)
                continue
            by_rack = model.likelihood(self._examined[model.judge])
            evidence.append(dot(odds, by_rack))
            likelihood += odd * by_rack
            known += odd
        mean = dot(odds, likelihood) / max(known, _NOTHING)
        return likelihood, tuple(mean if value is None else value for value in evidence)

    def posterior(self) -> Posterior:
        """Return the belief from the racks examined so far; the prior if none fits the play."""
        end = self.looked_at
        leaves, prior, unseen = self._leaves[:end], self._odds[:end], 0.0
        odds, chance = prior, np.zeros(end)  # of having been examined
        if self._is_listed:
            threshold = self._priority[end] if end < len(self._racks) else 0.0
            odds = np.maximum(prior, threshold)
            chance = prior / odds
            unseen = 1 - float(prior.sum()) if threshold else 0.0
        total = float(odds.sum())
        if not self._is_listed:
            prior = odds / max(total, _NOTHING)
        likelihood, evidence = self._judged(odds / max(total, _NOTHING))
        weights = odds * likelihood
        note, survives = self._note, bool(weights.any())
        if end and not survives:
            note = note or "no possible rack explains the play; the belief is unchanged"
            weights = odds
        total = float(weights.sum())
        if total:
            weights = weights / total
        # Kish's effective sample size (1965); chances of 1 add no error.
        error = float((weights**2 * (1 - chance)).sum())
        effective = min(1 / error, len(weights)) if error else float(len(weights))
        if not self._is_listed:
            leaves, prior, weights, once = _each_once(leaves, prior, weights)
            chance = np.ones(len(leaves))
            unseen = float(prior[once].sum()) if end else 1.0
            if once.any():  # Good (1953): unseen mass is about that of singletons
                # Not 1 less the singletons: if all are, that would be a rounding error.
                chance *= float(weights[~once].sum())
        return Posterior(
            leaves=leaves,
            prior=prior,
            posterior=weights,
            considered=len(self._racks) if self._is_listed else end,
            surviving=int(np.count_nonzero(weights)) if survives else 0,
            unseen=max(unseen, 0.0),
            chances=chance,
            effective=effective,
            evidence=evidence,
            is_drawn=not self._is_listed,
            note=note or ("" if self.play.kept else "all tiles were played; nothing is kept"),
        )


def _without(racks: U8, tiles: Rack) -> U8:
    stays = np.ones(racks.shape, bool)
    rows = np.arange(len(racks))
    for tile in tiles:
        at = np.argmax((racks == tile) & stays, axis=1)
        stays[rows, at] = False
    return racks[stays].reshape(len(racks), racks.shape[1] - len(tiles))


def _each_once(leaves: U8, prior: F64, posterior: F64) -> tuple[U8, F64, F64, Bools]:
    """Merge equal leaves, adding up their masses; also return which occurred once."""
    codes = np.zeros(len(leaves), np.int64)
    for column in leaves.T:
        codes = codes << 7 | column
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    prior_sums, posterior_sums = (
        np.bincount(which, weights=masses, minlength=len(first)).astype(np.float64)
        for masses in (prior, posterior)
    )
    return leaves[first], prior_sums, posterior_sums, np.bincount(which, minlength=len(first)) == 1


def _entropy(weights: F64) -> float:
    positive = weights[weights > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0
