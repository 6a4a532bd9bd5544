"""A value net, learned from games of static players.

Shares of the games are played anywhere and learned from in order, in this process, and are not
kept. So the same seed learns the same net with any workers, and a training that was stopped goes on
from its checkpoint as if it had not been.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.kernels.game import new_game
from engine.kernels.value_games import (
    MEMBER,
    MOST_MEMBERS,
    Listed,
    Wanted,
    list_positions,
)
from engine.kernels.value_net import SUMS
from engine.simulation.selfplay import deals_of
from harness.lab.study_context import Field, rules_mark
from harness.workers import Workers
from lexicons.arrays import F64
from lexicons.value_net import (
    CROSSINGS,
    OUTPUTS,
    REPLY,
    TURNS,
    VALUE,
    Sights,
    ValueNet,
    sights_of,
)

from .checkpoint import check_settings, read_checkpoint, write_checkpoint
from .value_kernels import Weights, learn

WIDTH = 32
HIDDEN = 16
WANTED = Wanted(members=4, among=12, explored=10_000)
_RATE = 0.06
_FIRST_SQUARES = 0.01
GAMES_A_SHARE = 64
"""Games that are played and learned from together."""
_POSITIONS_A_GAME = 32 * WANTED.members
_CHECKED_SHARES = 16
_REPORTS = 50
_FEWEST_GAMES = 2 * GAMES_A_SHARE
_LEARNING, _CHECKING = 0, 1
_FORMAT = "tilewire value training 2"


@dataclass(frozen=True)
class Goal:
    """The length of a training.

    Raises:
        ValueError: too few games.
    """

    games: int
    seed: int = 0
    width: int = WIDTH
    hidden: int = HIDDEN

    def __post_init__(self) -> None:
        if self.games < _FEWEST_GAMES:
            raise ValueError(f"{self.games} games; a training has {_FEWEST_GAMES} or more")


class Share(NamedTuple):
    """Games that are played together."""

    seed: tuple[int, int, int]
    """Of the training, the kind of share, and its number."""
    games: int
    wanted: Wanted = WANTED


@dataclass(frozen=True)
class Losses:
    """How well a net predicts games that it does not learn from."""

    games: int
    """Number of games that it had learned from."""
    told: float
    """Share explained of how a turn's moves differ in their gains of the next two turns: 1 less the
    mean squared error over that without a net."""
    reply_told: float
    """The same for the next turn."""
    final: float
    """Mean negative log-likelihood of the final lead, in units of ``lexicons.value_net.UNIT``."""
    seconds_left: float = 0.0


Tell = Callable[[Losses], object]


class ValueTraining:
    """A training of one net; without a ``checkpoint`` file nothing is kept before the end."""

    def __init__(self, field: Field, goal: Goal, checkpoint: Path | None = None) -> None:
        self.field, self.goal = field, goal
        self.done = 0
        """Shares learned from."""
        self.curve: list[Losses] = []
        self._checkpoint = checkpoint
        rules = field.rules
        self._sights = sights_of(rules.layout, rules.distribution)
        chance = np.random.default_rng((goal.seed, 2))
        self.weights, self.squares = _new_weights(self._sights, goal.width, goal.hidden, chance)

    @property
    def games(self) -> int:
        """The games learned from so far."""
        return self.done * GAMES_A_SHARE

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that a checkpoint must share to be resumed."""
        field = self.field
        return {
            "format": _FORMAT,
            "lexicon": field.lexicon.checksum,
            "rules": rules_mark(field.rules),
            "leaves": field.leaves.checksum,
            **asdict(self.goal),
        }

    def run(self, workers: Workers, tell: Tell, clock: Callable[[], float]) -> ValueNet:
        """Train to the end; ``clock`` returns monotonic seconds."""
        shares = share_count(self.goal.games)
        checked = max(1, min(_CHECKED_SHARES, shares // 8))
        fresh = list(self._played(workers, _CHECKING, range(checked)))
        began, before = clock(), self.done
        every = max(1, shares // _REPORTS)
        for listed in self._played(workers, _LEARNING, range(self.done, shares)):
            rate = _RATE * (1 - self.done / shares)
            learn(self.weights, self.squares, self._sights, listed, rate, no_losses())
            self.done += 1
            if self.done % every == 0 or self.done == shares:
                speed = (clock() - began) / (self.done - before)
                self.curve.append(self._check(fresh, speed * (shares - self.done)))
                self._keep()
                tell(self.curve[-1])
        return self.net()

    def net(self) -> ValueNet:
        """Return the net learned so far, its weights rounded to integers where a net has these."""
        weights, rules = self.weights, self.field.rules
        kinds, width = weights.start.shape
        by_themselves = ((0, 0), (0, OUTPUTS))  # no line adds to outputs directly
        lines = np.pad(weights.lines, by_themselves)
        counts = np.concatenate((weights.counts, weights.own), axis=1)
        most = max(float(np.abs(lines).max()), float(np.abs(counts).max()), 1e-6)
        unit = most / np.iinfo(np.int16).max
        return ValueNet(
            rules.layout,
            rules.distribution,
            lines=np.rint(lines / unit)
            .astype(np.int16)
            .reshape(kinds, self._sights.places, -1, width + OUTPUTS),
            start=np.rint(np.pad(weights.start, by_themselves) / unit).astype(np.int32),
            counts=np.rint(counts / unit).astype(np.int16),
            unit=unit,
            second=weights.second,
            second_start=weights.second_start,
            last=weights.last,
            last_start=weights.last_start,
            lexicon_checksum=self.field.lexicon.checksum,
        )

    def resume(self) -> None:
        """Resume from the checkpoint.

        Raises:
            CheckpointError: it is damaged, or of a training with other settings.
            OSError: it cannot be read.
        """
        assert self._checkpoint is not None
        about, arrays = read_checkpoint(self._checkpoint)
        check_settings(self._checkpoint, about["settings"], self.settings)
        self.done = about["done"]
        self.curve = [Losses(**losses) for losses in about["curve"]]
        self.weights = Weights(*(arrays[name] for name in Weights._fields))
        self.squares = Weights(*(arrays[f"squares_{name}"] for name in Weights._fields))

    def _keep(self) -> None:
        if self._checkpoint is None:
            return
        arrays = dict(self.weights._asdict())
        arrays |= {f"squares_{name}": array for name, array in self.squares._asdict().items()}
        curve = [asdict(losses) for losses in self.curve]
        about = {"settings": self.settings, "done": self.done, "curve": curve}
        write_checkpoint(self._checkpoint, about, arrays)

    def _played(self, workers: Workers, kind: int, numbers: range) -> Iterator[Listed]:
        return played(workers, self.field, (self.goal.seed, kind), numbers)

    def _check(self, fresh: list[Listed], seconds_left: float) -> Losses:
        losses = no_losses()
        for listed in fresh:
            learn(self.weights, self.squares, self._sights, listed, 0.0, losses)
        return Losses(
            games=self.games,
            told=round(1 - float(losses[VALUE, 0] / losses[VALUE, 1]), 5),
            reply_told=round(1 - float(losses[REPLY, 0] / losses[REPLY, 1]), 5),
            final=round(float(losses[TURNS, 0] / losses[TURNS, 1]), 5),
            seconds_left=seconds_left,
        )


def no_losses() -> F64:
    """Return zeros for ``learn`` to add to."""
    return np.zeros((TURNS + 1, 3))


def share_count(games: int) -> int:
    """Return the number of shares for a number of games, rounded up to whole shares."""
    return -(-games // GAMES_A_SHARE)


def played(
    workers: Workers, field: Field, seed: tuple[int, int], numbers: range
) -> Iterator[Listed]:
    """Play shares of games on workers; yield the positions of each in order."""
    shares = (Share((*seed, number), GAMES_A_SHARE) for number in numbers)
    waiting: dict[int, Listed] = {}
    wanted = numbers.start
    for share, listed in workers.work_through(play_share, field, shares):
        waiting[share.seed[-1]] = listed
        while wanted in waiting:
            yield waiting.pop(wanted)
            wanted += 1


def play_share(field: Field, share: Share) -> Listed:
    """Play a share of the games, and list their positions."""
    rules = field.rules
    generator = field.generator()
    chance = np.random.SeedSequence(share.seed)
    deals = deals_of(rules, share.games, int(chance.generate_state(1)[0]))
    sights = sights_of(rules.layout, rules.distribution)
    room = share.games * _POSITIONS_A_GAME
    while True:
        listed = _room_for(room, sights)
        count = list_positions(
            generator.state,
            np.concatenate([new_game(rules, mirrored=True)] * 2),
            generator.words.words,
            generator.leaves.arrays,
            sights,
            np.zeros(1, SUMS),
            np.zeros(MOST_MEMBERS, MEMBER),
            deals,
            share.wanted,
            listed,
        )
        if count >= 0:
            return Listed._make(array[:count] for array in listed)
        room *= 2


def _room_for(positions: int, sights: Sights) -> Listed:
    return Listed(
        lines=np.empty((positions, len(sights.kinds), sights.places), np.uint8),
        counts=np.empty((positions, len(sights.begins) - 1), np.uint8),
        groups=np.empty(positions, np.int32),
        gains=np.empty((positions, TURNS), np.float32),
        finals=np.empty(positions, np.float32),
        is_played=np.empty(positions, np.bool_),
    )


def _new_weights(
    sights: Sights, width: int, hidden: int, chance: np.random.Generator
) -> tuple[Weights, Weights]:
    """Return random weights, and small sums of squares."""
    kinds, rows = int(sights.kinds.max()) + 1, int(sights.begins[-1])
    contents = kinds * sights.places * (len(sights.shares) + CROSSINGS)
    shapes = {
        "lines": (contents, width),
        "start": (kinds, width),
        "counts": (rows, width),
        "own": (rows, OUTPUTS),
        "second": (width, hidden),
        "second_start": (hidden,),
        "last": (OUTPUTS, hidden),
        "last_start": (OUTPUTS,),
    }
    weights = Weights(**{name: np.zeros(shape, np.float32) for name, shape in shapes.items()})
    for array, deviation in (
        (weights.lines, 0.1),
        (weights.counts, 0.02),
        (weights.second, (2 / width) ** 0.5),
        (weights.last, 0.05),
    ):
        array[...] = chance.normal(0, deviation, array.shape)
    of_rows = (np.full((len(array), 1), _FIRST_SQUARES, np.float32) for array in weights[:4])
    others = (np.full_like(array, _FIRST_SQUARES) for array in weights[4:])
    return weights, Weights(*of_rows, *others)
