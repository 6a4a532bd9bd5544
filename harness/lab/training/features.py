"""Weights of the rack heuristic (``lexicons.rack_features``), learned by self-play.

A leave is worth the equity that follows. So each turn with a full rack and at least as many tiles
in the bag is an example: the equity of its move, less the mean, is the target for the leave that
the same player kept a turn before. Equity is the score plus the value of the next leave by the
current weights: a temporal difference without discount. A linear model of the features is fitted by
stochastic gradient descent on the squared error, in small batches and with a decaying step; games
are played in generations, each with the weights of the last.

The common part of all leaves goes into an intercept, which is discarded: the empty leave is worth
nothing, and only differences choose moves.

With simulation the games are those of *mc+rh* (``bot.players.cs221``), which rolls out a few moves
by the current weights; the target is still the plain equity. They take longer, so there are fewer
games; each generation is learned from several times instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bot.player import Budget, Choice, Player, View
from bot.players.cs221 import sampled_choice
from engine.kernels.moves import BLANK_CODE, LETTER_MASK, MAX_PLACED, PASS_MOVE, TILE_BITS
from engine.movegen.evaluation import PLAIN, POINT
from engine.rules.bag import SECRET_SIZE
from engine.rules.game import Game
from engine.rules.moves import PASS, Place
from engine.rules.position import Rack
from engine.rules.rules import Rules, leave_of
from engine.simulation.selfplay import StaticGames, play_static_games
from harness.lab.in_process import play_game
from harness.lab.study_context import Field
from harness.pictures import picture
from lexicons.alphabet import BLANK
from lexicons.arrays import F64, I64
from lexicons.leaves import LeaveTable
from lexicons.rack_features import (
    RackWeights,
    feature_names,
    leave_features,
    leave_table,
    tile_counts,
)
from lexicons.store import Lexicon


@dataclass(frozen=True)
class TrainingPace:
    """Games per generation, and how often each is learned from."""

    generation: int
    """Games played with the same weights."""
    passes: int


PACE = TrainingPace(generation=2_000, passes=1)
PACE_WITH_SIMULATION = TrainingPace(generation=250, passes=5)
BATCH = 64
FIRST_STEP = 0.05
STEPS_BEFORE_DECAY = 500
"""The step is the first, divided by √(1 + steps so far / this)."""

_SHIFTS = np.arange((MAX_PLACED - 1) * TILE_BITS, -1, -TILE_BITS, dtype=np.uint64)


@dataclass(frozen=True)
class Generation:
    """How well a generation's initial weights predicted it."""

    games: int
    """Of this generation and all before."""
    turns: int
    """Examples in this generation."""
    loss: float
    """The mean squared error, points²."""
    spread: float
    """The variance of the targets: the error without features."""

    def __str__(self) -> str:
        return (
            f"{self.games:,} games: squared error {self.loss:.2f} over {self.turns:,} turns "
            f"({self.spread:.2f} without features)"
        )


class Turns(NamedTuple):
    """Examples from games; at least one row."""

    features: F64
    """[turns, features + 1] of the leaves kept a turn before, and 1 for the intercept."""
    equities: F64
    """[turns] of the moves, in points."""


def train_features(
    lexicon: Lexicon,
    rules: Rules,
    games: int,
    seed: int = 0,
    tell: Callable[[Generation], object] = lambda generation: None,
    *,
    pace: TrainingPace | None = None,
    threads: int = 1,
    with_simulation: bool = False,
) -> RackWeights:
    """Play games by the current weights, and learn from each generation of them.

    The same seed gives the same weights in any number of threads. ``tell`` gets each generation.

    Raises:
        ValueError: no game at all or in a generation, no example, or as ``play_static_games``.
    """
    pace = pace or (PACE_WITH_SIMULATION if with_simulation else PACE)
    if games < 1 or pace.generation < 1:
        raise ValueError(
            f"{games} games in generations of {pace.generation}; both must be at least 1"
        )
    play = _sampled_turns if with_simulation else _static_turns
    letters = rules.distribution.alphabet.letters
    learner = _Learner(len(feature_names(letters)), np.random.default_rng(seed))
    for before in range(0, games, pace.generation):
        leaves = leave_table(RackWeights(letters, learner.points), rules.distribution)
        field = Field(lexicon, rules, leaves, own_leaves=True)
        count = min(pace.generation, games - before)
        turns = play(field, count, int(learner.chance.integers(1 << 62)), threads)
        loss, spread = learner.learn(turns, pace.passes)
        tell(Generation(before + count, len(turns.equities), loss, spread))
    made = {
        "lexicon": lexicon.name,
        "lexicon_checksum": lexicon.checksum,
        "seed": seed,
        "games": games,
    }
    return RackWeights(letters, learner.points, made)


class _Learner:
    def __init__(self, features: int, chance: np.random.Generator) -> None:
        self.chance = chance
        self._weights = np.zeros(features + 1)  # the last is the intercept
        self._steps = 0

    @property
    def points(self) -> tuple[float, ...]:
        """The weights without the intercept, rounded to a thousandth."""
        return tuple(np.round(self._weights[:-1], 3).tolist())

    def learn(self, turns: Turns, passes: int) -> tuple[float, float]:
        """Learn from all turns in each pass; return the loss before, and that without features."""
        targets = turns.equities - turns.equities.mean()
        loss = float(np.mean((turns.features @ self._weights - targets) ** 2))
        for _ in range(passes):
            order = self.chance.permutation(len(targets))
            for first in range(0, len(order), BATCH):
                batch = order[first : first + BATCH]
                rows = turns.features[batch]
                off = rows @ self._weights - targets[batch]
                step = FIRST_STEP / math.sqrt(1 + self._steps / STEPS_BEFORE_DECAY)
                self._weights -= step / len(batch) * (off @ rows)
                self._steps += 1
        return loss, float(np.mean(targets**2))


def _static_turns(field: Field, games: int, seed: int, threads: int) -> Turns:
    played = play_static_games(
        field.lexicon,
        field.rules,
        field.leaves,
        games,
        seed=seed,
        threads=threads,
        record=True,
        evaluation=PLAIN,
    )
    return observe(played, field.rules)


def observe(played: StaticGames, rules: Rules) -> Turns:
    """Pair the equity of each usable turn with the features of its player's last leave.

    Raises:
        ValueError: the games have no such turn.
    """
    results = played.results
    full, past = rules.rack_size, slice(0, -2)  # the same player's turn before is two turns back
    teaches = (
        (np.arange(2, results.moves.shape[1]) < results.turns[:, np.newaxis])
        & (results.sizes[:, 2:] == full)
        & (results.bags[:, 2:] >= full)
        & (results.moves[:, 2:] < PASS_MOVE)
        & (results.moves[:, past] < PASS_MOVE)
    )
    racks = results.racks[:, past][teaches][:, :full]
    kinds = len(rules.distribution.counts)
    moves = results.moves[:, past][teaches]
    codes = moves[:, np.newaxis] >> _SHIFTS & (LETTER_MASK | BLANK_CODE)
    letters = np.where(codes, codes & LETTER_MASK, np.uint64(kinds))
    used = tile_counts(np.where(codes & BLANK_CODE, np.uint64(BLANK), letters), kinds)
    kept = tile_counts(racks, kinds) - used
    equities = results.equities[:, 2:][teaches] / POINT
    return _turns(kept, equities, len(results.turns), rules)


def _turns(kept: I64, equities: F64, games: int, rules: Rules) -> Turns:
    """Pair leaves, as counts of their tiles, with the equities that followed."""
    if not len(equities):
        full = rules.rack_size
        raise ValueError(
            f"{games} games without a turn to learn from: a player's second or later, "
            f"with {full} tiles on the rack and as many in the bag"
        )
    features = leave_features(kept, rules.distribution)
    return Turns(np.column_stack((features, np.ones(len(features)))), equities)


# --- with simulation ------------------------------------------------------------------------------


class Lesson(NamedTuple):
    """A leave and the equity that followed."""

    leave: Rack
    equity: float
    """In points, of the same player's next move."""


def _sampled_turns(field: Field, games: int, seed: int, threads: int) -> Turns:
    played, leaves = play_sampled_games(field, games, seed=seed, threads=threads), field.leaves
    taught = [lesson for game in played for lesson in lessons(game, leaves)]
    kinds = len(field.rules.distribution.counts)
    kept = np.array([np.bincount(example.leave, minlength=kinds) for example in taught])
    return _turns(kept, np.array([example.equity for example in taught]), games, field.rules)


def play_sampled_games(field: Field, games: int, *, seed: int, threads: int) -> list[Game]:
    """Play games between two sampling players with the same leave table.

    Raises:
        ValueError: mismatched tile sets, or no thread.
    """
    chance = np.random.default_rng(seed)

    def play(secret: bytes) -> Game:
        return play_game((_Learning(field.leaves), _Learning(field.leaves)), field, secret)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(play, [chance.bytes(SECRET_SIZE) for _ in range(games)]))


class _Learning(Player):
    def __init__(self, leaves: LeaveTable) -> None:
        self._leaves = leaves

    def choose(self, view: View, budget: Budget) -> Choice:
        return sampled_choice(view, budget, self._leaves)


def lessons(game: Game, leaves: LeaveTable) -> Iterator[Lesson]:
    """Yield a lesson for each turn with a full rack and at least as many tiles in the bag."""
    full = game.rules.rack_size
    bag = game.rules.distribution.total - 2 * full
    for number, turn in enumerate(game.turns):
        if number >= 2 and len(turn.rack) == full <= bag:
            before = game.turns[number - 2]  # of the same player
            if PASS not in (before.move, turn.move):
                kept = leave_of(turn.rack, turn.move)
                worth = turn.score + leaves.value(kept)
                yield Lesson(leave_of(before.rack, before.move), worth)
        if isinstance(turn.move, Place):
            bag -= len(turn.drawn)


def draw_rack_weights(weights: RackWeights, path: str | Path) -> None:
    """Draw the weights as bars, the highest first, into a PNG file."""
    ranked = sorted(weights.by_name().items(), key=lambda weight: weight[1])
    names, points = zip(*ranked, strict=True)
    with picture(path, 7, 1 + 0.22 * len(names)) as figure:
        axes = figure.subplots()
        axes.barh(
            names, points, color=["#b2452f" if weight < 0 else "#2f6fb2" for weight in points]
        )
        axes.axvline(0, color="black", linewidth=0.8)
        axes.margins(y=0.01)
        axes.set_xlabel("points")
        axes.set_title("What the features of a leave are worth")
