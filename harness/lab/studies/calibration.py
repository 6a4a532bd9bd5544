"""How well leaves are inferred in finished games, where the truth is known.

After each turn of a player that kept tiles, with some left in the bag, the opponent's beliefs are
compared with the actual leave, and with the actual rack after drawing:

*prior*
    every rack as likely as its draw, given the tiles shown; *paper*
    as in Richards and Amir (2007): the last play only, assumed the best. It rules out some true
    leaves, an infinite loss, so it gets the same doubt as the others; *last*
    the last play only, with a learned style; *filter*
    the whole game.

Games are clustered by shared draws, for intervals of 95 %.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any, TypeAlias

import numpy as np

from engine.inference.equity_loss import Judges
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import DETERMINISTIC, Style, stranger
from engine.inference.rack_filter import RackFilter
from engine.inference.rack_forecast import tile_chances
from engine.rules.moves import Place
from engine.rules.position import Rack
from harness.lab.rows import Column, Tables, percent
from harness.lab.study import Record, Study
from harness.matches.significance import mean_and_error
from lexicons.tables import leaves_for

from .duel import Games, create
from .replayed_beliefs import PlayedGames, Seen, loss_of, random_share, share_of, take_in, told

BELIEFS = ("prior", "paper", "last", "filter")
TILE_BELIEFS = ("prior", "last", "filter")
BINS = 10
_AGAINST = {"paper": "prior", "last": "prior", "filter": "last"}
_FINE = 10_000
"""Files store tile chances as whole multiples of 1 / ``_FINE``."""
_Positions: TypeAlias = Sequence[tuple[int, Record]]
"""Turns, each with the number of its pair of games."""
_SIZES = ("all", "1", "2", "3", "4", "5", "6", "exchanges, passes")


@dataclass(frozen=True)
class LossRow:
    """How well a belief predicts leaves; errors are half the width of 95 % intervals."""

    belief: Annotated[str, Column("belief")]
    leaves: Annotated[str, Column("leaves")]
    """All, those of a size, or those of exchanges and passes, which are drawn."""
    positions: Annotated[int, Column("positions")]
    loss: Annotated[float | None, Column("nats a tile (95 %)", error="error", decimals=3)]
    """Mean log-loss of the true leave per tile."""
    error: float | None
    against: Annotated[str | None, Column("compared with")]
    difference: Annotated[
        float | None, Column("difference (95 %)", error="difference_error", decimals=4)
    ]
    """The loss less that of the other belief."""
    difference_error: float | None


@dataclass(frozen=True)
class BinRow:
    """How often a tile with a given predicted chance is held."""

    belief: Annotated[str, Column("belief")]
    of: Annotated[str, Column("tiles on")]
    """``leave``, or ``rack``: the leave and the tiles drawn."""
    cases: Annotated[int, Column("chances")]
    predicted: Annotated[float, percent("predicted")]
    observed: Annotated[float, percent("observed")]
    difference: Annotated[
        float, Column("observed less (95 %)", error="error", decimals=2, times=100, sign=True)
    ]
    error: float | None
    """Half the width of its 95 % interval."""


# --- games --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calibration(Study):
    """Both players' beliefs about each other in the games of two players.

    The count is in positions; games are whole, so there may be more.
    """

    games: Games
    racks: int
    """Most racks examined per turn."""
    given: PlayedGames | None = None
    """Finished games; None: they are played now."""

    def settings(self) -> dict[str, object]:
        """Return the settings that decide the records, including the style assumed of strangers."""
        return self.games.settings() | {
            "experiment": "calibration",
            "racks": self.racks,
            "stranger": hashlib.sha256(repr(stranger()).encode()).hexdigest()[:16],
        }

    @property
    def part(self) -> Record:
        """Return the two players."""
        return self.games.part

    def check(self, count: int) -> None:
        """Raise ``ValueError`` if the count is invalid, or a seat can't be taken."""
        super().check(count)
        for seat in self.games.seats:
            create(seat)

    def numbers(self, count: int) -> Iterable[int]:
        """Return the games' numbers; repeated draws come last, or not at all."""
        if self.given is None:
            return range(0, 2 * count, 2)
        return sorted(self.given.records, key=lambda number: (number % 2, number))

    def weight(self, record: Record) -> int:
        """Return the number of positions in a game."""
        return len(record["seen"])

    def record(self, number: int) -> Record:
        """Play a game or read it; return each seat's beliefs about the other."""
        field = self.games.field
        record = self.games.record(number) if self.given is None else self.given.records[number]
        game = self.games.replayed(record)
        judges = Judges(field.lexicon, field.rules, leaves_for(field.rules.distribution))
        seen = [
            position
            for seat in range(2)
            for position in _watched(told(game, seat), judges, self.racks)
        ]
        return {
            "number": number,
            "scores": record["scores"],
            "moves": record["moves"],
            "seen": seen,
        }

    def summary(self, records: Sequence[Record]) -> Tables:
        """Summarize losses, and tile chances by bins."""
        return {"losses": loss_rows(records), "bins": bin_rows(records)}


def _watched(events: Iterable[Any], judges: Judges, racks: int) -> Iterator[Record]:
    """Yield a record of each turn to infer from: each belief on the actual leave and rack."""
    trackers = {
        "paper": RackFilter(judges, Style.of(DETERMINISTIC), remembers=False, learns=False),
        "last": RackFilter(judges, stranger(), remembers=False),
        "filter": RackFilter(judges, stranger()),
    }
    for event in events:
        posteriors = {name: take_in(tracker, event, racks) for name, tracker in trackers.items()}
        last = posteriors["last"]
        if not isinstance(event, Seen) or last is None or not event.hides:
            continue
        placed = isinstance(event.play.move, Place)
        prior = LeavePrior.nothing()  # random tiles, if none were placed
        if placed:
            prior = LeavePrior(last.leaves, last.prior / last.prior.sum(), last.unseen)
        priors = {"prior": prior} | {name: tracker.prior for name, tracker in trackers.items()}
        yield {
            "turn": event.number,
            "size": len(event.leave),
            "placed": placed,
            "random": random_share(event.leave, event.left),
            "shares": {name: share_of(event.leave, belief) for name, belief in priors.items()},
            "doubts": {
                name: belief.doubt if belief.size else 1.0 for name, belief in priors.items()
            },
            "leave": _tiles(priors, event.leave, event.left),
            "rack": _tiles(priors, (*event.leave, *event.drawn), event.left),
        }


def _tiles(kept: dict[str, LeavePrior], held: Rack, left: Sequence[int]) -> dict[str, list[int]]:
    """Return which unseen tiles are held, and their chances by each belief."""
    tiles = [tile for tile, count in enumerate(left) if count]
    beliefs = {"random": LeavePrior.nothing()}
    # The summary mixes in as much doubt as is asked for.
    beliefs |= {name: replace(kept[name], doubt=0.0) for name in TILE_BELIEFS}
    chances = {
        name: tile_chances(entry, left, len(held) - entry.size)[tiles]
        for name, entry in beliefs.items()
    }
    return {
        "there": [int(tile in held) for tile in tiles],
        **{name: np.rint(_FINE * entry).astype(int).tolist() for name, entry in chances.items()},
    }


# --- summary ------------------------------------------------------------------------------------


def _all_positions(records: Sequence[Record]) -> _Positions:
    return [(record["number"] // 2, seen) for record in records for seen in record["seen"]]


def loss_rows(records: Sequence[Record]) -> list[LossRow]:
    """Return losses by belief and size."""
    positions, rows = _all_positions(records), list[LossRow]()
    for which in _SIZES:
        chosen = [(pair, seen) for pair, seen in positions if which in ("all", _kind(seen))]
        if which != "all" and not chosen:
            continue
        pairs = np.array([pair for pair, _ in chosen], np.int64)
        losses = {
            belief: np.array(
                [
                    loss_of(
                        seen["shares"][belief], seen["doubts"][belief], seen["random"], seen["size"]
                    )
                    for _, seen in chosen
                ]
            )
            for belief in BELIEFS
        }
        for belief, own in losses.items():
            against = _AGAINST.get(belief)
            less = mean_and_error(own - losses[against], pairs) if against else (None, None)
            mean = mean_and_error(own, pairs)
            rows.append(LossRow(belief, which, len(chosen), *mean, against, *less))
    return rows


def _kind(seen: Record) -> str:
    return str(seen["size"]) if seen["placed"] else _SIZES[-1]


def bin_rows(records: Sequence[Record]) -> list[BinRow]:
    """Return the tile chances in ten bins of equal count."""
    positions, rows = _all_positions(records), list[BinRow]()
    for subject, belief in product(("rack", "leave"), TILE_BELIEFS) if positions else ():
        chances, there, pairs = [], [], []
        for pair, seen in positions:
            tiles, share = seen[subject], seen["doubts"][belief]
            mixed = (1 - share) * np.array(tiles[belief]) + share * np.array(tiles["random"])
            chances.append(mixed / _FINE)
            there.append(np.array(tiles["there"], np.float64))
            pairs.append(np.full(len(mixed), pair))
        predicted, observed, pair_of = map(np.concatenate, (chances, there, pairs))
        for part in np.array_split(np.argsort(predicted, kind="stable"), BINS):
            difference, error = mean_and_error(observed[part] - predicted[part], pair_of[part])
            if difference is not None:
                means = float(predicted[part].mean()), float(observed[part].mean())
                rows.append(BinRow(belief, subject, len(part), *means, difference, error))
    return rows
