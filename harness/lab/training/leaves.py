"""Leave values, learned from self-play of static players in generations.

Each generation plays by the table of the one before; the first values no leave. Its games tell the
equity that followed each rack (``harness.lab.training.shares``); this is smoothed (``smoothing``),
and a leave is worth the mean of the racks it may become (``racks``), less that of the empty leave.
So a kept blank is worth its gain on the next turn or, by the previous table's value of the next
leave, on later turns: policy iteration (Howard 1960), with the mean points of a turn as the
measure. The last generation has most of the games, and forces rare leaves into play.

Games come in rounds. After each round the state goes into a checkpoint; an interrupted round is
replayed from the same seeds. So a resumed training by games, not by minutes, ends like an
uninterrupted one, with any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.rules.rules import Rules
from harness.lab.study_context import Field, rules_mark
from harness.pictures import picture
from harness.workers import Workers
from lexicons.leaves import MAX_WORTH, LeaveMatrix, LeaveTable, leave_places, possible_leaves
from lexicons.store import Lexicon

from .checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from .racks import Racks
from .shares import Share, Totals, missing, play_share, room_for
from .smoothing import REACH, smooth

GENERATIONS = (0.02, 0.05, 0.13, 0.80)
"""Each generation's share of the games: the first only need to come near."""
_FEWEST_GAMES = 100
_ROUNDS = 120
"""Approximate number of rounds of a training …"""
_ROUND = (2_000, 100_000)
"""… and the fewest and the most games of each."""
_SHARES = 48
"""Parts of a round's games for workers, at least _SMALLEST_SHARE games each."""
_SMALLEST_SHARE = 100
_ROUND_BY_TIME = 20_000
_AHEAD = 1.1
"""Forcing runs slightly ahead of the games, so that the floor is met at the end."""
_EXTRA_ROUNDS = 0.05
"""Limit, as a share of the games, of extra games until each leave has its floor."""
_FORMAT = "tilewire leave training 1"


@dataclass(frozen=True)
class Goal:
    """The length and the settings of a training.

    Raises:
        ValueError: not exactly one of games and minutes, or an invalid number.
    """

    games: int | None = None
    minutes: float | None = None
    seed: int = 0
    floor: int = 100
    """Wanted samples per leave in the last generation."""

    def __post_init__(self) -> None:
        if (self.games is None) == (self.minutes is None):
            raise ValueError("a training has a number of games or of minutes, and not both")
        if self.games is not None and self.games < _FEWEST_GAMES:
            raise ValueError(f"{self.games} games; a training has {_FEWEST_GAMES} or more")
        if self.minutes is not None and not 0 < self.minutes < 1e6:
            raise ValueError(f"{self.minutes} minutes; they must be above 0 and below 1,000,000")
        if self.floor < 0 or self.seed < 0:
            raise ValueError("the floor of samples and the seed are 0 or more")


@dataclass
class TrainingProgress:
    """Progress of a training; ``games`` are of earlier generations, ``seconds`` of all runs."""

    generation: int = 0
    """From 0; the number of generations at the end."""
    round: int = 0
    games: int = 0
    seconds: float = 0.0
    tables: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class RoundDone:
    """The report after each round."""

    generation: int
    games: int
    """In all so far."""
    share: float
    """Of the training done, 0 to 1."""
    games_per_s: float
    seconds_left: float
    """At the speed of this round; each generation to come has another at least."""
    mean_score: float
    """Per player and game in this generation."""


@dataclass(frozen=True)
class TableMade:
    """The report after each generation, on its games; ``samples`` are racks seen in them."""

    generation: int
    leaves: LeaveTable
    games: int
    samples: int
    fewest_samples: int
    below_floor: int
    movement: float
    """Mean absolute change of all leaves since the last table, in points."""
    noise: float
    """Standard deviation of the equity after a given rack, in points."""
    trusted: float
    """Samples of a rack that count as much as its parts do."""
    is_solved: bool
    """Whether the smoothing found its solution; if not, the leaves are worth nearly this."""


Tell = Callable[[RoundDone | TableMade], object]


class LeaveTraining:
    """A training of one leave table; without a ``checkpoint`` file no state is stored.

    Raises:
        ValueError: racks too small to have all the parts that ``smoothing`` looks at.
    """

    def __init__(
        self, lexicon: Lexicon, rules: Rules, goal: Goal, checkpoint: Path | None = None
    ) -> None:
        if rules.rack_size < len(REACH):
            raise ValueError(
                f"racks of {rules.rack_size}; leaves are learned for racks of {len(REACH)} or more"
            )
        leaves = LeaveTable.zero(rules.distribution, rules.rack_size)
        self.field, self.goal = Field(lexicon, rules, leaves), goal
        self.racks = Racks(rules.distribution, rules.rack_size)
        self.totals = Totals.none(self.racks)
        self.progress = TrainingProgress()
        self._checkpoint = checkpoint

    @property
    def games(self) -> int:
        """The number of games played so far."""
        return self.progress.games + self.totals.games

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that a checkpoint must share to be resumed."""
        return {
            "format": _FORMAT,
            "lexicon": self.field.lexicon.checksum,
            "rules": rules_mark(self.field.rules),
            **asdict(self.goal),
        }

    def run(self, workers: Workers, tell: Tell, clock: Callable[[], float]) -> LeaveTable:
        """Train to the end; ``clock`` returns monotonic seconds."""
        while self.progress.generation < len(GENERATIONS):
            while (games := self._next_round()) > 0:
                began = clock()
                for _, tally in workers.work_through(play_share, self.field, self._shares(games)):
                    self.totals.add(tally)
                took = clock() - began
                self.progress.seconds += took
                self.progress.round += 1
                tell(self._round_done(games, took))
                self._keep()
            tell(self._next_generation())
            self._keep()
        return self.field.leaves

    def resume(self) -> None:
        """Resume from the checkpoint.

        Raises:
            CheckpointError: it is damaged, or of a training with other settings.
            OSError: it cannot be read.
        """
        assert self._checkpoint is not None
        about, arrays = read_checkpoint(self._checkpoint)
        for name, value in self.settings.items():
            if (old := about["settings"].get(name)) != value:
                raise CheckpointError(
                    f"{self._checkpoint} is of a training with {name} {old!r:.80}, not "
                    f"{value!r:.80}; go on with the same options, or delete it to begin anew"
                )
        self.progress = TrainingProgress(**about["progress"])
        leaves = replace(self.field.leaves, values=arrays["leaves"])
        self.field = replace(self.field, leaves=leaves)
        self.totals = Totals(arrays["counts"], arrays["sums"], **about["totals"])

    def _keep(self) -> None:
        if self._checkpoint is None:
            return
        totals = dict(vars(self.totals))
        arrays = {name: totals.pop(name) for name in ("counts", "sums")}
        arrays["leaves"] = self.field.leaves.values
        about = {"settings": self.settings, "progress": vars(self.progress), "totals": totals}
        write_checkpoint(self._checkpoint, about, arrays)

    # --- rounds -------------------------------------------------------------------------------

    def _next_round(self) -> int:
        """Return the games of the generation's next round; 0 if it is over."""
        until = sum(GENERATIONS[: self.progress.generation + 1])
        if self.goal.games is None:
            under_way = self.progress.round == 0 or self.share_done < until - 1e-9
            return _ROUND_BY_TIME if under_way else 0
        least, most = _ROUND
        games = min(max(self.goal.games // _ROUNDS, least), most)
        left = round(self.goal.games * until) - self.games
        if left > 0:
            return min(games, left)
        if not self._is_last:
            return 0
        behind = len(self._behind(self.goal.floor, games))
        room = round(self.goal.games * (1 + _EXTRA_ROUNDS)) - self.games
        # A game has room for several leaves, but some can't be dealt.
        return max(0, min(games, behind, room))

    @property
    def share_done(self) -> float:
        """The share of the training done, 0 to 1."""
        if self.goal.games is not None:
            return min(1.0, self.games / self.goal.games)
        assert self.goal.minutes is not None
        return min(1.0, self.progress.seconds / (60 * self.goal.minutes))

    @property
    def _is_last(self) -> bool:
        return self.progress.generation == len(GENERATIONS) - 1

    def _shares(self, games: int) -> list[Share]:
        """Return the shares of a round; the leaves to be forced are dealt like cards."""
        forced = self.racks.by_size[self.racks.rack_size - 1][:0]
        if self._is_last:
            before = sum(GENERATIONS[:-1])
            done = max(0.0, self.share_done - before) / GENERATIONS[-1]
            round_share = games / (self.goal.games * GENERATIONS[-1]) if self.goal.games else 0.05
            floor = self.goal.floor * min(1.0, _AHEAD * (done + round_share))
            forced = self._behind(floor, games)
        count = max(1, min(_SHARES, games // _SMALLEST_SHARE))
        parts = [games // count + (nth < games % count) for nth in range(count)]
        return [
            Share(part, (*self._seed, nth), forced[nth::count][: room_for(part)])
            for nth, part in enumerate(parts)
        ]

    @property
    def _seed(self) -> tuple[int, int, int]:
        return self.goal.seed, self.progress.generation, self.progress.round

    def _behind(self, floor: float, games: int) -> LeaveMatrix:
        """List leaves below a floor, as many as can be forced in some games."""
        seed = int(np.random.SeedSequence(self._seed).generate_state(1)[0])
        return missing(self.racks, self.totals.counts, floor, room_for(games), seed)

    def _round_done(self, games: int, seconds: float) -> RoundDone:
        speed = games / max(seconds, 1e-9)
        if self.goal.games is not None:
            left = (self.goal.games - self.games) / speed
        else:
            left = 60 * (self.goal.minutes or 0) - self.progress.seconds
        return RoundDone(
            generation=self.progress.generation,
            games=self.games,
            share=self.share_done,
            games_per_s=speed,
            seconds_left=max(left, (len(GENERATIONS) - 1 - self.progress.generation) * seconds),
            mean_score=self.totals.points / (2 * self.totals.games),
        )

    # --- tables -------------------------------------------------------------------------------

    def _next_generation(self) -> TableMade:
        """Make the table from the generation's games, and reset the counts."""
        smoothed = smooth(self.totals.samples, self.racks)
        means = self.racks.means(smoothed.worths)
        values = np.zeros(len(means), np.int32)
        for of_size in self.racks.places[1:-1]:
            values[of_size] = np.rint(means[of_size] - means[0])  # above the empty leave's
        limit = MAX_WORTH * 1000
        leaves = replace(self.field.leaves, values=np.clip(values, -limit, limit))
        places = np.concatenate(self.racks.places[1:-1])
        samples = self.racks.samples(self.totals.counts)[places]
        moved = np.abs(leaves.values[places].astype(np.int64) - self.field.leaves.values[places])
        made = TableMade(
            generation=self.progress.generation,
            leaves=leaves,
            games=self.totals.games,
            samples=int(self.totals.counts.sum()),
            fewest_samples=int(samples.min()),
            below_floor=int(np.count_nonzero(samples < self.goal.floor)),
            movement=round(float(moved.mean()) / 1000, 3),
            noise=round(smoothed.noise / 1000, 3),
            trusted=round(smoothed.trusted, 3),
            is_solved=smoothed.is_solved,
        )
        about = {name: value for name, value in vars(made).items() if name != "leaves"}
        self.progress.tables.append(about)
        self.field = replace(self.field, leaves=leaves)
        self.progress.games = self.games
        self.totals = Totals.none(self.racks)
        self.progress.generation += 1
        self.progress.round = 0
        return made


def draw_leaves(leaves: LeaveTable, path: str | Path) -> None:
    """Draw into a PNG file the values of tiles, of pairs, and how all leaves are spread."""
    letters = list(leaves.distribution.alphabet.letters)
    counts = leaves.distribution.counts
    with picture(path, 15, 9) as figure:
        grid = figure.add_gridspec(2, 2, height_ratios=(2, 3))
        axes = figure.add_subplot(grid[0, :])
        worths = [leaves.value((tile,)) for tile in range(len(letters))]
        colours = ["tab:blue" if worth > 0 else "tab:red" for worth in worths]
        axes.bar(letters, worths, color=colours)
        axes.set_title("one tile")
        axes.grid(axis="y", alpha=0.3)

        axes = figure.add_subplot(grid[1, 0])
        joint = np.full((len(letters), len(letters)), np.nan)
        for first in range(len(letters)):
            for second in range(len(letters)):
                if counts[first] >= 1 + (first == second):
                    pair = leaves.value((first, second))
                    joint[first, second] = pair - worths[first] - worths[second]
        far = float(np.nanmax(np.abs(joint))) or 1.0
        mesh = axes.pcolormesh(joint, cmap="RdBu", vmin=-far, vmax=far)
        middles = np.arange(len(letters)) + 0.5
        axes.set_xticks(middles, letters, fontsize=8)
        axes.set_yticks(middles, letters, fontsize=8)
        axes.set_title("two tiles, beyond what each is worth alone")
        figure.colorbar(mesh, ax=axes)

        axes = figure.add_subplot(grid[1, 1])
        for size, matrix in enumerate(possible_leaves(leaves.distribution, leaves.rack_size)):
            if size > 1:
                values = leaves.values[leave_places(matrix, leaves.arrays)] / 1000
                axes.hist(values, bins=80, density=True, histtype="step", label=f"{size} tiles")
        axes.set_title("how leaves of a size are spread")
        axes.legend()
        axes.grid(alpha=0.3)
        figure.suptitle("What leaves are worth, in points")
