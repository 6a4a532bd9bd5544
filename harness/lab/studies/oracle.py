"""How much win probability one player's choices gain over another's, judged by a long simulation.

Positions come from games between static players, with tiles in the bag. Both players get the game
so far and choose a move, without a clock unless their options set one. Where the moves differ, a
simulation with equal samples of both estimates the first move's gain. The judge had no part in the
choices, so its sampling errors cancel over positions. Beyond its plies it relies on a table of win
probabilities: 64 plies reach the end of every game. It knows nothing of the opponent's rack.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from engine.movegen.generator import Generator, RankedMove
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.rules.moves import Move, Place
from engine.rules.rules import canonical, check_move
from engine.simulation.simulation import Simulation
from harness.lab.in_process import unhurried, view_of
from harness.lab.positions import Situation, situation_in_play
from harness.lab.rows import Column, Tables, percent
from harness.lab.study import Record, Study
from harness.lab.study_context import Field, ready
from lexicons.win_probability import WinProbabilities

from .duel import create

_BAGS = (("all", 1, 99), ("1–7", 1, 7), ("8–28", 8, 28), ("29–57", 29, 57), ("58–86", 58, 86))


@dataclass(frozen=True)
class OracleRow:
    """Positions by tiles in the bag; errors are standard errors over positions."""

    bag: Annotated[str, Column("tiles in the bag")]
    positions: Annotated[int, Column("positions")]
    differ: Annotated[float | None, percent("moves differ")]
    win: Annotated[
        float | None, percent("more wins, ± standard error", error="win_error", decimals=3)
    ]
    """Gain of the first player's choices; 0 where the moves are the same."""
    win_error: float | None
    points: Annotated[
        float | None, Column("more points", error="points_error", decimals=2, sign=True)
    ]
    points_error: float | None


@dataclass(frozen=True)
class Oracle(Study):
    """Two players' choices; win probabilities, plies and rollouts per move are the judge's."""

    seats: tuple[str, str]
    field: Field
    seed: int
    win_probabilities: WinProbabilities
    plies: int
    rollouts: int

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
            "seed": self.seed,
        }

    def check(self, count: int) -> None:
        """Raise ``ValueError`` if a seat can't be taken."""
        for seat in self.seats:
            create(seat)

    def record(self, number: int) -> Record:
        """Ask both players for a move in one position, and judge the moves."""
        ready()
        field = self.field
        situation = situation_in_play(field, self.seed, number)
        generator = Generator(field.lexicon, field.rules, field.leaves)
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
        simulation = Simulation(
            [generator],
            situation.position,
            chosen,
            self.win_probabilities,
            plies=self.plies,
            seed=seed,
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
        """Summarize positions by tiles in the bag."""
        rows = [
            _row(name, [record for record in records if least <= record["bag"] <= most])
            for name, least, most in _BAGS
        ]
        return {"positions": [row for row in rows if row.positions or row.bag == "all"]}


def _row(bag: str, records: Sequence[Record]) -> OracleRow:
    moves = [record["moves"] for record in records]
    differ = sum(first != second for first, second in moves) / len(moves) if moves else None
    win, points = ([record[name] for record in records] for name in ("win", "points"))
    return OracleRow(bag, len(records), differ, *_mean(win), *_mean(points))


def _mean(values: Sequence[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    many = len(values) > 1
    return float(np.mean(values)), (
        float(np.std(values, ddof=1) / np.sqrt(len(values))) if many else None
    )
