"""Play the positions of ``tilewire experiment oracle`` on from both moves, where these differ.

The oracle's judge plays statically after the move. Here a player takes both sides and plays the
game to its end, so that what a move gains later by better decisions, or loses by the opponent's,
counts. Both moves get the same deals of the unseen tiles. Clocks go by work (``by_work``):

    PYTHONPATH=.:tests python docs/results/oracle/continued.py last-301.jsonl --out continued.jsonl
"""

from __future__ import annotations

from docs.results.oracle import by_work  # noqa: F401  # first, since it changes the clocks

# isort: split
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import App, Parameter

from bot.player import Player
from engine.notation.cgp import read_cgp
from engine.notation.move_text import parse_move
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import Move
from engine.rules.position import Position, unseen
from harness.cli.study_run import StudyRun
from harness.lab.in_process import last_turn, unhurried, view_of
from harness.lab.positions import Situation
from harness.lab.rows import Column, Tables, percent
from harness.lab.studies.duel import create
from harness.lab.studies.oracle import STRATA, mean_and_standard_error
from harness.lab.study import Record, Study
from harness.lab.study_context import Field, ready
from lexicons.alphabet import as_tiles

app = App()


@dataclass(frozen=True)
class Row:
    """The positions of a stratum where the moves differ; errors are standard errors over them."""

    bag: Annotated[str, Column("bag")]
    positions: Annotated[int, Column("positions")]
    games: Annotated[int, Column("games")]
    judged: Annotated[float, percent("wins judged", error="judged_error", decimals=2)]
    """The first move's gain, by the judge of the oracle."""
    judged_error: float | None
    win: Annotated[float, percent("wins played on", error="win_error", decimals=2)]
    win_error: float | None
    points_judged: Annotated[
        float, Column("points judged", error="points_judged_error", decimals=2, sign=True)
    ]
    points_judged_error: float | None
    points: Annotated[
        float, Column("points played on", error="points_error", decimals=2, sign=True)
    ]
    points_error: float | None


@dataclass(frozen=True)
class Continued(Study):
    """Positions of an oracle's file, played on by ``seat`` from ``deals`` deals a move."""

    oracle: Record
    """The settings of the oracle's file."""
    positions: tuple[Record, ...]
    seat: str
    deals: int
    seed: int
    field: Field

    def settings(self) -> dict[str, object]:
        """Return the settings that decide the results."""
        return {
            "experiment": "continued",
            "oracle": self.oracle,
            "seat": self.seat,
            "deals": self.deals,
            "seed": self.seed,
            "lexicon": self.field.lexicon.checksum,
        }

    def numbers(self, count: int) -> Iterable[int]:
        """Return the numbers of the positions in the oracle's file."""
        return [record["number"] for record in self.positions[:count]]

    def record(self, number: int) -> Record:
        """Play a position on from both moves."""
        ready()
        (judged,) = (record for record in self.positions if record["number"] == number)
        rules = self.field.rules
        position = read_cgp(judged["cgp"], rules)
        moves = [
            parse_move(text, position.board, rules.distribution.alphabet)
            for text in judged["moves"]
        ]
        players = create(self.seat), create(self.seat)
        spreads = [
            [self._spread(players, self._deal(position, number, deal), move) for move in moves]
            for deal in range(self.deals)
        ]
        return {
            "number": number,
            "bag": judged["bag"],
            "judged": [judged["win"], judged["points"]],
            "spreads": spreads,
        }

    def _deal(self, position: Position, number: int, deal: int) -> Game:
        rules, seat = self.field.rules, position.on_turn
        tiles = np.array(as_tiles(unseen(position, seat, rules)))
        order = np.random.default_rng((self.seed, number, deal)).permutation(tiles).tolist()
        rack, left = sorted(order[: rules.rack_size]), order[rules.rack_size :]
        known = position.with_rack(1 - seat, tuple(rack))
        secret = b"%d %d %d" % (self.seed, number, deal)
        return Game(rules, known, Bag(tuple(left), DrawStream(secret)), known.racks)

    def _spread(self, players: tuple[Player, Player], game: Game, move: Move) -> int:
        """Play a game to its end after a move, and return the lead of the player who made it."""
        field, mover = self.field, game.position.on_turn
        views = []
        for seat, player in enumerate(players):
            position = game.position.with_rack(1 - seat, ())
            view = view_of(Situation(position, len(game.bag), ()), field, seed=seat)
            views.append(replace(view, seat=seat))
            player.warm_up(view.lexicon, view.rules)
            player.make_room(view)
            player.new_game(views[seat])
        while True:
            game = game.play(move, field.lexicon.graph.contains)
            if game.over is not None:
                return game.position.spread(mover)
            play = last_turn(game)
            for seat, player in enumerate(players):
                position = game.position.with_rack(1 - seat, ())
                views[seat] = views[seat].after(play, position, views[seat].clocks)
                player.observe(views[seat], play)
            seat = game.position.on_turn
            move = players[seat].choose(views[seat], unhurried()).move

    def summary(self, records: Sequence[Record]) -> Tables:
        """Compare the judge's gains with those of the games, by stratum and over all."""
        rows = [
            _row(name, some)
            for name, bags in STRATA.items()
            if (some := [record for record in records if record["bag"] in bags])
        ]
        return {"positions": [*rows, _row("together", records)] if len(rows) > 1 else rows}


def _row(name: str, records: Sequence[Record]) -> Row:
    spreads = np.array([record["spreads"] for record in records], np.float64)
    won = (np.sign(spreads) / 2).mean(axis=1)
    points = spreads.mean(axis=1)
    judged = np.array([record["judged"] for record in records])
    return Row(
        name,
        len(records),
        spreads.size,
        *mean_and_standard_error(judged[:, 0]),
        *mean_and_standard_error(won[:, 0] - won[:, 1]),
        *mean_and_standard_error(judged[:, 1]),
        *mean_and_standard_error(points[:, 0] - points[:, 1]),
    )


@app.default
def continued(
    file: Path,
    *,
    seat: str = "champion?time=300ms",
    deals: int = 4,
    bag: tuple[str, ...] = ("1-4", "5-7"),
    positions: int = 100_000,
    run: Annotated[StudyRun, Parameter(name="*")] = StudyRun(),
) -> None:
    """Play positions on.

    Args:
        file: The results of ``tilewire experiment oracle``, unpacked.
        seat: Who plays both sides.
        deals: How many of the unseen tiles, for each move.
        bag: Strata of tiles in the bag.
        positions: How many at most.
        run: As for an experiment; each of its options is one of this command.
    """
    wanted = [tiles for name in bag for tiles in STRATA[name]]
    oracle, *judged = map(json.loads, file.read_text("utf-8").splitlines())
    records = [record for record in judged if record["bag"] in wanted]
    records = sorted(records, key=lambda record: int(record["number"]))
    differing = tuple(record for record in records if len(set(record["moves"])) > 1)
    study = Continued(oracle, differing, seat, deals, run.seed, run.field())
    run.work([study], min(positions, len(differing)))


if __name__ == "__main__":
    app()
