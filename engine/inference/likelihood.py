"""Models of players: how likely a play is with a rack, and which model a player follows.

Each judges a play by its *loss*, that is, how much better the best move was:

* *deterministic*: only the best move is played (Richards and Amir 2007);
* *margin*: all moves within a margin of the best are equally likely;
* *soft*: the chance falls with the loss *g*: exp(−g / T) / Z(T), with a temperature T in points.

Real players vary in care, or know what equity does not: a model may have several temperatures,
each with its share. Z(T), the sum of exp(−g / T) over the moves of a rack, is taken to be the same
for all racks. That does not affect the rack inferred for a player of one temperature, only which
model fits.

No model is sure: ``floor`` is the least likelihood of a play.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from lexicons.arrays import F64

Judge: TypeAlias = Literal["static", "greedy"]  # moves are compared by equity, or by score alone

_POINT = 1_000
_FAR = 5.0  # temperatures; greater losses have likelihood 0 in a model without a floor
_TEMPERATURES = (0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
_ALTERNATIVES: dict[Judge, tuple[float, ...]] = {
    "static": (1.0, 1.15, 1.18, 1.25, 1.42, 1.64, 1.93, 2.76, 4.01, 8.21, 15.3, 39.4),
    "greedy": (1.0, 1.35, 1.36, 1.41, 1.61, 1.90, 2.27, 3.34, 4.96, 10.1, 18.0, 43.4),
}
"""Geometric means of Z by temperature, over 400 positions of games between static players."""
_MOVES = 500  # median number of moves of a rack: how often a floor counts, and the limit of Z
_MOST_POINTS = 1_000  # greatest margin or temperature: no play gives up as much
_POWERS = ((6, 0.5), (13, 0.7))
"""Pairs: most tiles in the bag, and the power of a play's likelihood."""
_STRANGENESS = 0.1  # share of the stranger's odds that remains for a known player


@dataclass(frozen=True)
class Model:
    """One kind of player.

    Raises:
        ValueError: a margin, temperature, share or floor out of range.
    """

    name: str
    judge: Judge = "static"
    margin: float = 0.0  # points below the best at which a play still counts as the best
    temperatures: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
    """Pairs: points beyond the margin over which the likelihood falls to 1/e (0: at once), and the
    share of turns. Shares add up to 1."""
    floor: float = 0.0  # least likelihood of any play

    def __post_init__(self) -> None:
        points = [("margin", self.margin)]
        points += (("temperature", temperature) for temperature, _ in self.temperatures)
        for name, value in points:
            if not 0 <= value <= _MOST_POINTS:
                raise ValueError(f"a {name} of {value:g}; it must be 0 to {_MOST_POINTS:,} points")
        shares = [share for _, share in self.temperatures]
        if not math.isclose(sum(shares), 1, abs_tol=1e-6) or min(shares) < 0:
            raise ValueError(f"shares of {shares}; each is 0 or more, and they add up to 1")
        if not 0 <= self.floor * _MOVES < 1:
            raise ValueError(
                f"a floor of {self.floor}; it must be 0 or more and below {1 / _MOVES}"
            )

    @property
    def reach(self) -> int:
        """Loss, in thousandths of a point, beyond which only the floor counts."""
        far = [
            temperature * (math.log(height / self.floor) if self.floor else _FAR)
            for temperature, height in self._heights()
            if height > self.floor
        ]
        return round((self.margin + max(far, default=0.0)) * _POINT)

    def likelihood(self, losses: npt.NDArray[Any]) -> F64:
        """Return the likelihood of a play by its loss with each rack, in thousandths of a point."""
        over = np.maximum(losses / _POINT - self.margin, 0.0)
        total = np.zeros(np.shape(losses))
        for temperature, height in self._heights():
            if temperature:
                total += height * np.exp(-over / temperature)
            else:
                total += np.where(over > 0, 0.0, height)
        return np.where(losses > self.reach, self.floor, np.maximum(total, self.floor))

    def _heights(self) -> list[tuple[float, float]]:
        rest = 1 - _MOVES * self.floor
        return [
            (temperature, rest * share / math.exp(self._log_alternatives(temperature)))
            for temperature, share in self.temperatures
        ]

    def _log_alternatives(self, temperature: float) -> float:
        """Return the logarithm of Z, which grows towards the number of moves.

        Between the temperatures measured it is linear in T, beyond the last in 1 / T.
        """
        log_alternatives = float(
            np.interp(temperature, _TEMPERATURES, np.log(_ALTERNATIVES[self.judge]))
        )
        last, most = _TEMPERATURES[-1], math.log(_MOVES)
        return (
            log_alternatives
            if temperature <= last
            else most - (most - log_alternatives) * last / temperature
        )


DETERMINISTIC = Model("deterministic")


def margin(points: float) -> Model:
    """Return the margin model; raises as ``Model``."""
    return Model("margin", margin=points)


def soft(temperature: float) -> Model:
    """Return a soft model of one temperature; raises as ``Model``."""
    return Model("soft", temperatures=((temperature, 1.0),), floor=_FLOOR)


_FLOOR = 0.0002
SIMULATING = Model(
    "simulating", temperatures=((0.25, 0.15), (1.0, 0.73), (3.0, 0.12)), floor=_FLOOR
)
"""A simulating player: it plays the static favourite in three turns of four and loses 0.6 points
on average. Fitted to the losses of its plays by expectation maximisation."""

MODELS = {"deterministic": DETERMINISTIC, "margin": margin(3.0), "soft": SIMULATING}


def likelihood_power(bag: int) -> float:
    """Return the power to which a play's likelihood is raised with ``bag`` tiles in the bag.

    With few tiles good players look beyond equity, so the loss of a play says less of the leave.
    Fitted to the leaves of players that think to the end of the game
    (``docs/results/inference.md``).
    """
    return next((power for most, power in _POWERS if bag <= most), 1.0)


_STRANGER = {  # kinds of players and how common they are
    Model("static", temperatures=((0.1, 1.0),), floor=_FLOOR): 0.2,
    SIMULATING: 0.5,
    Model("loose", temperatures=((3.0, 1.0),), floor=_FLOOR): 0.2,
    Model("wild", temperatures=((8.0, 1.0),), floor=_FLOOR): 0.02,
    Model("greedy", judge="greedy", temperatures=((0.1, 1.0),), floor=_FLOOR): 0.08,
}


@dataclass(frozen=True)
class Style:
    """Belief about a kind of player: models and their odds.

    Raises:
        ValueError: odds that are negative, too few or don't add up to 1.
    """

    models: tuple[Model, ...]
    odds: tuple[float, ...]  # one per model, adding up to 1

    def __post_init__(self) -> None:
        fits = len(self.odds) == len(self.models) and min(self.odds, default=0) >= 0
        if not fits or not math.isclose(sum(self.odds), 1, abs_tol=1e-6):
            raise ValueError(
                f"odds {self.odds} for {len(self.models)} models; each has its own, and they add "
                "up to 1"
            )

    @classmethod
    def of(cls, model: Model) -> Style:
        """Return the style of a player known to follow one model."""
        return cls((model,), (1.0,))

    def learn(self, evidence: Sequence[float]) -> Style:
        """Return the style updated by a play's likelihood by model; unchanged if all are 0."""
        weights = np.array(self.odds) * np.array(evidence)
        total = float(weights.sum())
        if not 0 < total < math.inf:
            return self
        return replace(self, odds=tuple((weights / total).tolist()))

    def odds_of(self, judge: Judge) -> float:
        """Return the odds of the models with this judge."""
        pairs = zip(self.models, self.odds, strict=True)
        return sum(odd for model, odd in pairs if model.judge == judge)

    def named(self) -> dict[str, float]:
        """Return odds by model name."""
        return {model.name: odd for model, odd in zip(self.models, self.odds, strict=True)}


def stranger(known: Mapping[str, float] | None = None) -> Style:
    """Return the style of an unknown player, or of one met before.

    ``known`` are odds by model name; they are mixed with a stranger's, since players change.
    """
    odds = np.array(list(_STRANGER.values()))
    before = np.array([max((known or {}).get(model.name, 0.0), 0.0) for model in _STRANGER])
    if 0 < before.sum() < math.inf:
        odds = (1 - _STRANGENESS) * before / before.sum() + _STRANGENESS * odds
    return Style(tuple(_STRANGER), tuple(odds.tolist()))
