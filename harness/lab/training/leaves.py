"""What leaves are worth, learned from games of static players with themselves, in generations.

Each generation plays by the table of the one before; the first values no leave. Its games say
what followed each rack (``harness.lab.training.shares``); that is smoothed (``smoothing``), and a
leave is worth the mean of what it may become (``racks``), less that of the empty leave. So a blank
kept is worth what it brings on the next turn or, as the table so far values what is then kept, on
later ones: policy iteration (Howard 1960), with the mean points of a turn as the measure. The last
generation has most of the games, and in it rare leaves are forced into play (``forcing``).

Games come in rounds. After each round all that is known goes into a checkpoint; a round that was
killed is played again, from the same seeds. So a training that was stopped ends like one that was
not, however many workers took part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.rules.rules import Rules
from harness.lab.workers import Workers
from lexicons.leaves import MAX_WORTH, LeaveTable
from lexicons.store import Lexicon

from .checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from .forcing import missing, room_for
from .racks import Floats, Racks
from .shares import Ground, Share, Totals, play_share
from .smoothing import smooth

__all__ = ["Goal", "LeaveTraining", "Progress", "RoundDone", "TableMade"]

GENERATIONS = (0.02, 0.05, 0.13, 0.80)
"""What part of the games each generation plays: the first ones only have to come near."""
_FEWEST_GAMES = 100
_ROUNDS = 120
"""About how many rounds a training has …"""
_ROUND = (2_000, 100_000)
"""… and the fewest and the most games of each."""
_SHARES = 48
"""Parts in which the games of a round are handed out, but none below _SMALLEST_SHARE."""
_SMALLEST_SHARE = 100
_ROUND_BY_TIME = 20_000
_AHEAD = 1.1
"""Forcing runs ahead of the games a little, so that the floor is met at the end."""
_EXTRA_ROUNDS = 0.05
"""What part of the games may be played beyond them until each leave has its floor."""
_FORMAT = "tilewire leave training 1"


@dataclass(frozen=True)
class Goal:
    """How long to train, and what decides how it goes.

    Raises:
        ValueError: not exactly one of games and minutes, or a number that makes no sense.
    """

    games: int | None = None
    minutes: float | None = None
    seed: int = 0
    floor: int = 100
    """How many samples each leave should have in the last generation."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if (self.games is None) == (self.minutes is None):
            raise ValueError("a training has a number of games or of minutes, and not both")
        if self.games is not None and self.games < _FEWEST_GAMES:
            raise ValueError(f"{self.games} games; a training has {_FEWEST_GAMES} or more")
        if self.minutes is not None and not 0 < self.minutes < 1e6:
            raise ValueError(f"{self.minutes} minutes; there is more than none")
        if self.floor < 0 or self.seed < 0:
            raise ValueError("the floor of samples and the seed are 0 or more")


@dataclass
class Progress:
    """How far a training has come."""

    generation: int = 0
    """From 0; as many as there are when all is done."""
    round: int = 0
    """Of the generation, from 0."""
    games: int = 0
    """Of the generations before this one."""
    seconds: float = 0.0
    """Spent on rounds, over all runs."""
    tables: list[dict[str, float]] = field(default_factory=list)
    """What is known of the table of each generation that is over."""


@dataclass(frozen=True)
class RoundDone:
    """Told after each round."""

    generation: int
    games: int
    """All that were played so far."""
    share: float
    """How much of the training is done, 0 to 1."""
    games_per_s: float
    """In this round."""
    seconds_left: float
    """If all goes on like this round."""
    mean_score: float
    """Of a player in a game of this generation."""


@dataclass(frozen=True)
class TableMade:
    """Told after each generation."""

    generation: int
    leaves: LeaveTable
    games: int
    """Of this generation."""
    samples: int
    """Racks that were seen in them."""
    fewest_samples: int
    """Of all leaves."""
    below_floor: int
    """How many leaves have fewer samples than the floor."""
    movement: float
    """Points that leaves changed since the last table, the mean over all leaves, whatever sign."""
    noise: float
    """Points: the standard deviation of what follows a given rack."""
    trusted: float
    """How many samples of a rack count as much as its parts do."""


Tell = Callable[[RoundDone | TableMade], object]


class LeaveTraining:
    """A training of one leave table.

    Args:
        lexicon: the words.
        rules: the rules.
        goal: how long, and from what seed.
        checkpoint: the file that keeps what is known; None keeps nothing.
    """

    def __init__(
        self, lexicon: Lexicon, rules: Rules, goal: Goal, checkpoint: Path | None = None
    ) -> None:
        self.lexicon, self.rules, self.goal = lexicon, rules, goal
        self.racks = Racks(rules.distribution, rules.rack_size)
        self.totals = Totals.none(self.racks)
        self.leaves = LeaveTable.zero(rules.distribution, rules.rack_size)
        self.progress = Progress()
        self._checkpoint = checkpoint

    @property
    def games(self) -> int:
        """How many games were played so far."""
        return self.progress.games + self.totals.games

    @property
    def settings(self) -> dict[str, Any]:
        """What has to be the same for a checkpoint to be resumed."""
        tiles = self.rules.distribution
        return {
            "format": _FORMAT,
            "lexicon": self.lexicon.checksum,
            "tiles": [list(tiles.alphabet.letters), list(tiles.counts)],
            "points": [list(tiles.points), list(tiles.vowels)],
            "games": self.goal.games,
            "minutes": self.goal.minutes,
            "seed": self.goal.seed,
            "floor": self.goal.floor,
        }

    def run(self, workers: Workers, tell: Tell, clock: Callable[[], float]) -> LeaveTable:
        """Train to the end; ``clock`` gives seconds that only go up."""
        while self.progress.generation < len(GENERATIONS):
            while (games := self._next_round()) > 0:
                began = clock()
                self._play(workers, games)
                took = clock() - began
                self.progress.seconds += took
                self.progress.round += 1
                tell(self._round_done(games, took))
                self._keep()
            tell(self._next_generation())
            self._keep()
        return self.leaves

    def resume(self) -> None:
        """Go on where a checkpoint is.

        Raises:
            CheckpointError: it is damaged, or of a training with other settings.
            OSError: it cannot be read.
        """
        assert self._checkpoint is not None
        about, arrays = read_checkpoint(self._checkpoint)
        kept = about["settings"]
        for name, value in self.settings.items():
            if kept.get(name) != value:
                raise CheckpointError(
                    f"{self._checkpoint} is of a training with {name} {kept.get(name)!r:.80}, not "
                    f"{value!r:.80}; go on with the same options, or delete it to begin anew"
                )
        self.progress = Progress(**about["progress"])
        self.leaves = replace(self.leaves, values=arrays["leaves"])
        self.totals = Totals(
            arrays["counts"].astype(np.int64), arrays["sums"].astype(np.int64), **about["totals"]
        )

    def _keep(self) -> None:
        if self._checkpoint is None:
            return
        totals = dict(vars(self.totals))
        arrays = {"counts": totals.pop("counts"), "sums": totals.pop("sums")}
        arrays["leaves"] = self.leaves.values
        about = {"settings": self.settings, "progress": vars(self.progress), "totals": totals}
        write_checkpoint(self._checkpoint, about, arrays)

    # --- rounds -------------------------------------------------------------------------------

    def _next_round(self) -> int:
        """Return how many games the next round of this generation has; 0 if it is over."""
        until = sum(GENERATIONS[: self.progress.generation + 1])
        if self.goal.games is None:
            under_way = self.progress.round == 0 or self.share_done < until - 1e-9
            return _ROUND_BY_TIME if under_way else 0
        least, most = _ROUND
        games = min(max(self.goal.games // _ROUNDS, least), most)
        left = round(self.goal.games * until) - self.games
        if left > 0:
            return min(games, left)
        return self._extra_games(games) if self._is_last else 0

    def _extra_games(self, games: int) -> int:
        """Return how many games to play beyond all, for leaves below the floor."""
        assert self.goal.games is not None
        behind = len(self._behind(float(self.goal.floor), room_for(games)))
        room = round(self.goal.games * (1 + _EXTRA_ROUNDS)) - self.games
        # One game may give as many leaves as there is room for, but some can't be given.
        return max(0, min(games, behind, room))

    @property
    def share_done(self) -> float:
        """How much of the training is done, 0 to 1."""
        if self.goal.games is not None:
            return min(1.0, self.games / self.goal.games)
        assert self.goal.minutes is not None
        return min(1.0, self.progress.seconds / (60 * self.goal.minutes))

    @property
    def _is_last(self) -> bool:
        return self.progress.generation == len(GENERATIONS) - 1

    def _play(self, workers: Workers, games: int) -> None:
        ground = Ground(self.lexicon, self.rules, self.leaves)
        shares = list(self._shares(games))
        for _, tally in workers.work_through(play_share, ground, shares):
            self.totals.add(tally)

    def _shares(self, games: int) -> Iterator[Share]:
        """Yield the shares of a round; the leaves to be forced are dealt like cards."""
        forced = self._forced(games)
        count = max(1, min(_SHARES, games // _SMALLEST_SHARE))
        for nth in range(count):
            part = games // count + (nth < games % count)
            yield Share(part, (*self._seed, nth), forced[nth::count][: room_for(part)])

    @property
    def _seed(self) -> tuple[int, int, int]:
        return self.goal.seed, self.progress.generation, self.progress.round

    def _forced(self, games: int) -> Any:
        """Return the leaves to be forced in a round: those that were seldom seen."""
        if not self._is_last:
            return self.racks.by_size[self.racks.rack_size - 1][:0]
        before = sum(GENERATIONS[:-1])
        done = max(0.0, self.share_done - before) / GENERATIONS[-1]
        round_share = games / (self.goal.games * GENERATIONS[-1]) if self.goal.games else 0.05
        floor = self.goal.floor * min(1.0, _AHEAD * (done + round_share))
        return self._behind(floor, room_for(games))

    def _behind(self, floor: float, room: int) -> Any:
        seed = int(np.random.SeedSequence(self._seed).generate_state(1)[0])
        return missing(self.racks, self.totals.counts, floor, room, seed)

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
            seconds_left=max(0.0, left),
            mean_score=self.totals.points / (2 * self.totals.games),
        )

    # --- tables -------------------------------------------------------------------------------

    def _next_generation(self) -> TableMade:
        """Make the table from what was seen, and reset the counts."""
        smoothed = smooth(self.totals.samples, self.racks)
        leaves = self._table(self.racks.means(smoothed.worths))
        places = np.concatenate(self.racks.places[1:-1])
        samples = self.racks.samples(self.totals.counts)[places]
        moved = np.abs(leaves.values[places].astype(np.int64) - self.leaves.values[places])
        made = TableMade(
            generation=self.progress.generation,
            leaves=leaves,
            games=self.totals.games,
            samples=int(self.totals.counts.sum()),
            fewest_samples=int(samples.min()),
            below_floor=int(np.count_nonzero(samples < self.goal.floor)),
            movement=float(moved.mean()) / 1000,
            noise=smoothed.noise / 1000,
            trusted=smoothed.trusted,
        )
        about = {name: value for name, value in vars(made).items() if name != "leaves"}
        rounded = {name: round(about[name], 3) for name in ("movement", "noise", "trusted")}
        self.progress.tables.append(about | rounded)
        self.leaves = leaves
        self.progress.games = self.games
        self.totals = Totals.none(self.racks)
        self.progress.generation += 1
        self.progress.round = 0
        return made

    def _table(self, means: Floats) -> LeaveTable:
        """Value leaves by what they are worth more than the empty one."""
        values = np.zeros(len(means), np.int32)
        for places in self.racks.places[1:-1]:
            values[places] = np.rint(means[places] - means[0])
        limit = MAX_WORTH * 1000
        return replace(self.leaves, values=np.clip(values, -limit, limit))
