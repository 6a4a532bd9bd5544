"""How likely a player is to make a play with a rack: models of players, and which one it may be.

All judge a play by its *loss*, by how much the best move would have been better, and differ in what
is better (the judge) and in how much that matters:

*deterministic*
    only the best will do (Richards and Amir 2007);
*margin*
    whatever is no more than so much below the best is as likely;
*soft*
    the chance falls with the loss *g*: exp(−g / T) / Z(T), with a temperature T in points.

Players of flesh and software are now careful and now not, or know what equity does not: a model may
have several temperatures, each with its share. Z(T) stands for all moves that could have been made:
the sum of exp(−g / T) over the moves of a rack, taken to be the same for all racks. It makes no
difference for what a player of one temperature holds, and all the difference for which fits it.

No model is sure: ``floor`` is the least likelihood of a play.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "DETERMINISTIC",
    "MODELS",
    "SIMULATING",
    "Judge",
    "Model",
    "Style",
    "margin",
    "soft",
    "stranger",
]

F64: TypeAlias = npt.NDArray[np.float64]
Judge: TypeAlias = Literal["static", "greedy"]
"""By what moves are compared: equity, or score alone."""

_POINT = 1_000
_FAR = 5.0  # temperatures; without a floor nothing is left beyond it
_TEMPERATURES = (0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
_ALTERNATIVES: dict[Judge, tuple[float, ...]] = {
    "static": (1.0, 1.15, 1.18, 1.25, 1.42, 1.64, 1.93, 2.76, 4.01, 8.21, 15.3, 39.4),
    "greedy": (1.0, 1.35, 1.36, 1.41, 1.61, 1.90, 2.27, 3.34, 4.96, 10.1, 18.0, 43.4),
}
"""Geometric means of Z by temperature, over 400 positions of games between static players."""
_MOVES = 500
"""Moves that a rack has, the median: so often a floor counts."""
_STRANGENESS = 0.1
"""What remains of a stranger in somebody who was met before."""


@dataclass(frozen=True)
class Model:
    """One kind of player.

    Raises:
        ValueError: a margin, a temperature, a share or a floor that is none.
    """

    name: str
    judge: Judge = "static"
    margin: float = 0.0
    """Points by which a play may be below the best and count as if it were."""
    temperatures: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
    """Points over which the likelihood falls to 1/e beyond the margin, 0: at once; and the share of
    turns in which it is so. Shares add up to 1."""
    floor: float = 0.0
    """Likelihood of any play."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        points = (self.margin, *(one for one, _ in self.temperatures))
        if not all(0 <= one < math.inf for one in points):
            raise ValueError(
                f"a margin of {self.margin} and temperatures of {points[1:]}; both are points, 0 "
                "or more"
            )
        shares = [share for _, share in self.temperatures]
        if not math.isclose(sum(shares), 1, abs_tol=1e-6) or min(shares) < 0:
            raise ValueError(f"shares of {shares}; each is 0 or more, and they add up to 1")
        if not 0 <= self.floor * _MOVES < 1:
            raise ValueError(f"a floor of {self.floor}; it is from 0 to {1 / _MOVES}, and below it")

    @property
    def reach(self) -> int:
        """Thousandths of a point beyond which every loss has the likelihood of the floor."""
        far = [
            temperature * (math.log(height / self.floor) if self.floor else _FAR)
            for temperature, height in self._heights()
            if height > self.floor
        ]
        return round((self.margin + max(far, default=0.0)) * _POINT)

    def likelihood(self, losses: npt.NDArray[Any]) -> F64:
        """Return the likelihood of a play by its loss with each rack, in thousandths of a point."""
        over = np.maximum(losses / _POINT - self.margin, 0.0)
        found = np.zeros(np.shape(losses))
        for temperature, height in self._heights():
            if temperature:
                found += height * np.exp(-over / temperature)
            else:
                found += np.where(over > 0, 0.0, height)
        return np.where(losses > self.reach, self.floor, np.maximum(found, self.floor))

    def _heights(self) -> list[tuple[float, float]]:
        """Return each temperature with the likelihood that it adds to a play without a loss."""
        logs = np.log(_ALTERNATIVES[self.judge])
        rest = 1 - _MOVES * self.floor
        return [
            (one, rest * share / math.exp(float(np.interp(one, _TEMPERATURES, logs))))
            for one, share in self.temperatures
        ]


DETERMINISTIC = Model("deterministic")


def margin(points: float) -> Model:
    """Return the margin model.

    Raises:
        ValueError: as ``Model``.
    """
    return Model("margin", margin=points)


def soft(temperature: float) -> Model:
    """Return a soft model of one temperature.

    Raises:
        ValueError: as ``Model``.
    """
    return Model("soft", temperatures=((temperature, 1.0),), floor=_FLOOR)


_FLOOR = 0.0002
SIMULATING = Model(
    "simulating", temperatures=((0.25, 0.15), (1.0, 0.73), (3.0, 0.12)), floor=_FLOOR
)
"""A player who simulates: it makes the static favourite in three turns of four, and is 0.6 points
below it in the mean. Fitted to the losses of its plays by expectation and maximisation."""

MODELS = {"deterministic": DETERMINISTIC, "margin": margin(3.0), "soft": SIMULATING}
"""The models that have a name, with what they usually have."""

_STRANGER = {
    Model("static", temperatures=((0.1, 1.0),), floor=_FLOOR): 0.2,
    SIMULATING: 0.5,
    Model("loose", temperatures=((3.0, 1.0),), floor=_FLOOR): 0.2,
    Model("wild", temperatures=((8.0, 1.0),), floor=_FLOOR): 0.02,
    Model("greedy", judge="greedy", temperatures=((0.1, 1.0),), floor=_FLOOR): 0.08,
}
"""Kinds of players, and how often one meets them."""


@dataclass(frozen=True)
class Style:
    """What kind of player one may be: models, and how likely each is.

    Raises:
        ValueError: odds that are none.
    """

    models: tuple[Model, ...]
    odds: tuple[float, ...]
    """Of each, adding up to 1."""

    def __post_init__(self) -> None:
        """Check the odds."""
        fits = len(self.odds) == len(self.models) and min(self.odds, default=0) >= 0
        if not fits or not math.isclose(sum(self.odds), 1, abs_tol=1e-6):
            raise ValueError(
                f"odds {self.odds} for {len(self.models)} models; each has its own, and they add "
                "up to 1"
            )

    @classmethod
    def of(cls, model: Model) -> Style:
        """Return the style of a player who is known to be of a kind."""
        return cls((model,), (1.0,))

    def learn(self, evidence: Sequence[float]) -> Style:
        """Take in how likely a play was by each model (Bayes); none likely, and nothing changes."""
        found = np.array(self.odds) * np.array(evidence)
        total = float(found.sum())
        if not 0 < total < math.inf:
            return self
        return replace(self, odds=tuple((found / total).tolist()))

    def odds_of(self, judge: Judge) -> float:
        """Compute how likely it goes by a judge."""
        pairs = zip(self.models, self.odds, strict=True)
        return sum(odd for model, odd in pairs if model.judge == judge)

    def named(self) -> dict[str, float]:
        """Return the odds by the names of the models."""
        return {model.name: odd for model, odd in zip(self.models, self.odds, strict=True)}


def stranger(known: Mapping[str, float] | None = None) -> Style:
    """Return what is thought of a player whom nobody knows, or of whom something was learnt before.

    Args:
        known: odds by the name of a model, as they were after other games. A part of a stranger
            remains in them, so that it may have changed.
    """
    odds = np.array(list(_STRANGER.values()))
    before = np.array([max((known or {}).get(one.name, 0.0), 0.0) for one in _STRANGER])
    if 0 < before.sum() < math.inf:
        odds = (1 - _STRANGENESS) * before / before.sum() + _STRANGENESS * odds
    return Style(tuple(_STRANGER), tuple(odds.tolist()))
