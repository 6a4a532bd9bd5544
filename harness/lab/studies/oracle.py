"""How much win probability one player's choices gain over another's, judged by a long simulation.

Positions come from games between static players, one a game, as many from each stratum of tiles in
the bag. Both players get the game so far and choose a move, without a clock unless their options
set one. They did not watch the game, so they have no belief about the opponent's rack. Where the
moves differ, a simulation with equal samples of both, common draws, a seed of its own and no prior
estimates the first move's gain: ten turns, to the end of the game with few tiles left. In a
pre-endgame games are played out in common cases, and their endgames solved
(``engine.preendgame.judging``). The judge had no part in the choices, so its sampling errors cancel
over positions. It knows nothing of the opponent's rack, and plays statically beyond the moves until
the bag is empty, so it can't credit better later decisions: paired games have the last word.

A stratum's mean gain a turn, times the turns that a player has there, is its gain a game.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Annotated, Final

import numpy as np

from bot.search.analysis.solving import Solvers
from bot.search.simulating import simulation_of
from engine.movegen.generator import Generator, RankedMove
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.preendgame import MOST_IN_BAG
from engine.preendgame.judging import CASES, judge
from engine.rules.moves import Move, Place
from engine.rules.rules import canonical, check_move
from engine.simulation.rollout_input import TO_THE_END
from harness.lab.in_process import unhurried, view_of
from harness.lab.positions import Situation, recorded_games, situation_in_play
from harness.lab.rows import Column, Tables, percent
from harness.lab.study import Record, Study
from harness.lab.study_context import Field, ready
from lexicons.arrays import F64
from lexicons.win_probability import WinProbabilities

from .duel import create

STRATA: Final = {
    "1-4": range(1, 5),
    "5-7": range(5, 8),
    "8-14": range(8, 15),
    "15-40": range(15, 41),
    "41-86": range(41, 87),
}
"""Tiles in the bag; the last stratum goes up to a full bag, which depends on the rules."""
PLIES = 10
"""Usual turns of the judge after a move."""
PLAYED_OUT = 20
"""Most tiles in the bag with which the judge usually plays to the end of the game."""
_MEMORY = 32 << 20
"""Bytes of the judge's solver, which is new for each position."""
_GAMES = 300
"""Static games whose turns are counted, and their seed."""
_GAMES_SEED = 1


@dataclass(frozen=True)
class OracleRow:
    """The positions of a stratum; errors are standard errors over positions."""

    bag: Annotated[str, Column("bag")]
    positions: Annotated[int, Column("positions")]
    differ: Annotated[float, percent("differ")]
    win: Annotated[float, percent("wins a turn", error="win_error", decimals=3)]
    """Gain of the first player's choices; 0 where the moves are the same."""
    win_error: float | None
    points: Annotated[float, Column("points a turn", error="points_error", decimals=2, sign=True)]
    points_error: float | None
    turns: Annotated[float, Column("turns a game", decimals=2)]
    """Of each player."""
    game_win: Annotated[float, percent("wins a game", error="game_win_error", decimals=2)]
    game_win_error: float | None
    game_points: Annotated[
        float, Column("points a game", error="game_points_error", decimals=2, sign=True)
    ]
    game_points_error: float | None


@dataclass(frozen=True)
class Oracle(Study):
    """Two players' choices; win probabilities, plies and rollouts per move are the judge's.

    ``plies`` None means ``PLIES``, or to the end of the game with ``PLAYED_OUT`` tiles or fewer in
    the bag; with ``MOST_IN_BAG`` or fewer, endgames are solved. ``bags`` names the strata that
    positions are taken from.
    """

    seats: tuple[str, str]
    field: Field
    seed: int
    win_probabilities: WinProbabilities
    plies: int | None
    rollouts: int
    bags: tuple[str, ...] = tuple(STRATA)

    def settings(self) -> dict[str, object]:
        """Return the settings that decide the results, tables as checksums of their content."""
        table = self.win_probabilities
        arrays = (table.spreads, table.unseen, table.values)
        content = b"".join(array.tobytes() for array in arrays)
        return {
            "experiment": "oracle",
            "players": list(self.seats),
            "lexicon": self.field.lexicon.checksum,
            "leaves": self.field.leaves.checksum,
            "own_leaves": self.field.own_leaves,
            "winprob": hashlib.sha256(content).hexdigest(),
            "judge_plies": self.plies,
            "judge_rollouts": self.rollouts,
            "judge_cases": None if self.plies else CASES,
            "seed": self.seed,
        }

    def check(self, count: int) -> None:
        """Raise ``ValueError`` if the count is invalid, or a seat can't be taken."""
        super().check(count)
        for seat in self.seats:
            create(seat)

    @property
    def strata(self) -> dict[str, range]:
        """Return the tiles in the bag of all strata under these rules, by name."""
        rules = self.field.rules
        *others, (last, tiles) = STRATA.items()
        fullest = rules.distribution.total - 2 * rules.rack_size
        return dict(others) | {last: range(tiles.start, fullest + 1)}

    def numbers(self, count_: int) -> Iterator[int]:
        """Return numbers of positions in ``bags``; a number modulo all strata is its stratum."""
        wanted = {which for which, name in enumerate(STRATA) if name in self.bags}
        return islice((number for number in count() if number % len(STRATA) in wanted), count_)

    def record(self, number: int) -> Record:
        """Ask both players for a move in one position, and judge the moves."""
        ready()
        field, bags = self.field, tuple(self.strata.values())[number % len(STRATA)]
        situation = situation_in_play(field, self.seed, number, bags)
        generator = field.generator()
        every = {ranked.move: ranked for ranked in generator.everything(situation.position)}
        seed = int(np.random.SeedSequence((self.seed, number)).generate_state(3)[2])
        chosen = [every[self._choice(seat, situation, seed)] for seat in self.seats]
        gain = self._judged(generator, situation, chosen, seed) if chosen[0] != chosen[1] else {}
        alphabet = field.rules.distribution.alphabet
        return {
            "number": number,
            "cgp": write_cgp(situation.position, field.rules),
            "bag": situation.bag,
            "moves": [format_move(ranked.move, alphabet) for ranked in chosen],
            "win": 0.0,
            "points": 0.0,
        } | gain

    def _choice(self, seat: str, situation: Situation, seed: int) -> Move:
        """Return a player's move, as listed by the generator.

        Raises:
            IllegalMove: it is against the rules.
        """
        field, player = self.field, create(seat)
        view = view_of(situation, field, seed)
        player.warm_up(view.lexicon, view.rules)
        player.make_room(view)
        player.new_game(view)
        move, position = player.choose(view, unhurried()).move, situation.position
        check_move(position, move, field.rules, field.lexicon.graph.contains, situation.bag)
        return canonical(move, position.board) if isinstance(move, Place) else move

    def _judged(
        self, generator: Generator, situation: Situation, chosen: Sequence[RankedMove], seed: int
    ) -> Record:
        if self.plies is None and situation.bag <= MOST_IN_BAG:
            field = self.field
            solver = Solvers().solver(field.lexicon, field.rules, memory=_MEMORY)
            verdict = judge(solver, generator, situation.position, chosen, seed=~seed)
            return {"win": verdict.win, "points": verdict.points}
        usual = TO_THE_END if situation.bag <= PLAYED_OUT else PLIES
        view = replace(view_of(situation, self.field), win_probabilities=self.win_probabilities)
        simulation = simulation_of(
            view,
            chosen,
            [generator],
            plies=self.plies or usual,
            seed=~seed,  # not that of the players, whose luck would count twice
            rule="equal",
            use_prior=False,
            limit=2 * self.rollouts,
        )
        while simulation.advance(2 * self.rollouts):
            pass
        known = {estimate.move: estimate for estimate in simulation.estimates()}
        first, second = (known[ranked.move] for ranked in chosen)
        return {"win": first.win - second.win, "points": first.equity - second.equity}

    def summary(self, records: Sequence[Record]) -> Tables:
        """Summarize positions by stratum, then over all; with none missing, a whole game."""
        games = recorded_games(self.field, _GAMES, _GAMES_SEED).results.bags
        rows = [
            _row(tiles, some, float(np.isin(games, tiles).sum()) / len(games) / 2)
            for name, tiles in self.strata.items()
            if name in self.bags and (some := [each for each in records if each["bag"] in tiles])
        ]
        name = "a game" if len(rows) == len(STRATA) else "together"
        return {"positions": [*rows, _total(name, rows)] if rows else []}


def _row(bags: range, records: Sequence[Record], turns: float) -> OracleRow:
    differ = sum(len(set(record["moves"])) > 1 for record in records) / len(records)
    win, win_error = mean_and_standard_error([record["win"] for record in records])
    points, points_error = mean_and_standard_error([record["points"] for record in records])
    return OracleRow(
        f"{bags.start}-{bags.stop - 1}",
        len(records),
        differ,
        win,
        win_error,
        points,
        points_error,
        turns,
        turns * win,
        None if win_error is None else turns * win_error,
        turns * points,
        None if points_error is None else turns * points_error,
    )


def _total(name: str, rows: Sequence[OracleRow]) -> OracleRow:
    """Sum up a game's turns in strata; the gain a turn is that of the mean turn."""
    turns = sum(row.turns for row in rows)
    win, win_error = sum(row.game_win for row in rows), _root([row.game_win_error for row in rows])
    points = sum(row.game_points for row in rows)
    points_error = _root([row.game_points_error for row in rows])
    return OracleRow(
        name,
        sum(row.positions for row in rows),
        sum(row.turns * row.differ for row in rows) / turns,
        win / turns,
        None if win_error is None else win_error / turns,
        points / turns,
        None if points_error is None else points_error / turns,
        turns,
        win,
        win_error,
        points,
        points_error,
    )


def mean_and_standard_error(values: Sequence[float] | F64) -> tuple[float, float | None]:
    """Return the mean and its standard error, which is None for a single value."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
    return float(np.mean(values)), error


def _root(errors: Sequence[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    return math.hypot(*known) if len(known) == len(errors) else None
