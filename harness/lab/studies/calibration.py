"""How well leaves are inferred, where the truth is known: in games that were played.

After each turn of a player that kept tiles, with some left in the bag, the other's beliefs are
compared with what it really kept, and with the rack that it really drew to it:

*prior*
    every rack as likely as it is to be drawn, given the tiles that were shown;
*paper*
    as in Richards and Amir (2007): the last play only, and only the best will do. What it rules out
    is true now and then, which would cost infinitely much: so it gets the doubt that the others
    have as well;
*last*
    the last play only, with a style that is learnt;
*filter*
    what was known before it too: the whole game.

Games are clustered by the draws that they share, for intervals of 95 %.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.inference.inference import Judges, Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import DETERMINISTIC, Style, stranger
from engine.inference.rack_filter import RackFilter
from engine.inference.rack_forecast import tile_chances
from engine.rules.moves import Place
from engine.rules.position import Rack
from harness.lab.rows import Tables, column, percent
from harness.lab.study import Record, Study
from harness.matches.significance import Floats, mean_and_error
from lexicons.tables import leaves_for

from .duel import Games, create
from .replayed_beliefs import PlayedGames, Seen, loss_of, random_share, share_of, take_in, told

__all__ = [
    "BELIEFS",
    "TILE_BELIEFS",
    "BinRow",
    "Calibration",
    "LossRow",
    "bin_rows",
    "loss_rows",
]

BELIEFS = ("prior", "paper", "last", "filter")
TILE_BELIEFS = ("prior", "last", "filter")
"""Those whose chances of tiles are looked at."""
BINS = 10
_AGAINST = {"paper": "prior", "last": "prior", "filter": "last"}
_FINE = 10_000
"""Chances of tiles are kept in files as whole numbers of this many parts."""
_SIZES = ("all", "1", "2", "3", "4", "5", "6", "exchanges, passes")


@dataclass(frozen=True)
class LossRow:
    """How well a belief foresees leaves; errors are half the width of 95 % intervals."""

    belief: Annotated[str, column("belief")]
    leaves: Annotated[str, column("leaves")]
    """Which: all, of a number of tiles, or those of exchanges and passes, which are drawn."""
    positions: Annotated[int, column("positions")]
    loss: Annotated[float | None, column("nats a tile (95 %)", error="error", decimals=3)]
    """Mean log-loss of the true leave for each of its tiles."""
    error: float | None
    against: Annotated[str | None, column("less")]
    difference: Annotated[float | None, column("by (95 %)", error="difference_error", decimals=4)]
    """The loss less that of the other belief."""
    difference_error: float | None


@dataclass(frozen=True)
class BinRow:
    """How often a tile is there to which a belief gives about the same chance."""

    belief: Annotated[str, column("belief")]
    of: Annotated[str, column("tiles on")]
    """``leave``, or ``rack``: the leave and what was drawn to it."""
    cases: Annotated[int, column("chances")]
    predicted: Annotated[float, percent("predicted")]
    observed: Annotated[float, percent("observed")]
    difference: Annotated[
        float, column("observed less (95 %)", error="error", decimals=2, times=100, sign=False)
    ]
    error: float | None
    """Half the width of its 95 % interval."""


# --- games --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calibration(Study):
    """Both players' beliefs about each other in games between two of a kind.

    The count is one of positions: games are whole, so there may be more of them.
    """

    games: Games
    """Who plays, or played."""
    racks: int
    """Looked at for each turn, at most."""
    doubt: float = 0.0
    """Every belief but the prior is doubted at least this much."""
    given: PlayedGames | None = None
    """Games that were played before; None: they are to be played."""

    def settings(self) -> dict[str, object]:
        """Return what decides the records; what strangers are taken for is a part of it."""
        return {
            "experiment": "calibration",
            "lexicon": self.games.field.lexicon.checksum,
            "seed": self.games.seed,
            "racks": self.racks,
            "stranger": hashlib.sha256(repr(stranger()).encode()).hexdigest()[:16],
        }

    @property
    def part(self) -> Record:
        """Return the two players."""
        return self.games.part

    def check(self, count: int) -> None:
        """Check that the seat can be taken.

        Raises:
            ValueError: it can't.
        """
        create(self.games.seats[0])

    def numbers(self, count: int) -> Iterable[int]:
        """Return the numbers of games, those that share draws with others last, or not at all."""
        if self.given is None:
            return range(0, 2 * count, 2)
        return sorted(self.given.records, key=lambda number: (number % 2, number))

    def weight(self, record: Record) -> int:
        """Return how many positions a game has."""
        return len(record["seen"])

    def record(self, number: int) -> Record:
        """Play a game or take it up; return what either seat believed of the other."""
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
        """Add losses up, and sort chances of tiles into bins."""
        return {"losses": loss_rows(records, self.doubt), "bins": bin_rows(records, self.doubt)}


def _watched(events: Iterable[Any], judges: Judges, racks: int) -> Iterator[Record]:
    trackers = {
        "paper": RackFilter(judges, Style.of(DETERMINISTIC), remembers=False, learns=False),
        "last": RackFilter(judges, stranger(), remembers=False),
        "filter": RackFilter(judges, stranger()),
    }
    for event in events:
        found = {name: take_in(tracker, event, racks) for name, tracker in trackers.items()}
        last = found["last"]
        if isinstance(event, Seen) and last is not None and event.hides:
            kept = {"prior": _prior(last, event)}
            yield _compared(event, kept | {name: one.prior for name, one in trackers.items()})


def _prior(last: Posterior, seen: Seen) -> LeavePrior:
    """Return the belief if any rack made the play; random tiles, if it shows none."""
    if not isinstance(seen.play.move, Place):
        return LeavePrior.nothing()
    return LeavePrior(last.leaves, last.prior / last.prior.sum(), last.unseen)


def _compared(seen: Seen, kept: dict[str, LeavePrior]) -> Record:
    """Return the record of a turn: what each belief says of what was kept and is held."""
    rack = (*seen.leave, *seen.drawn)
    return {
        "turn": seen.number,
        "size": len(seen.leave),
        "placed": isinstance(seen.play.move, Place),
        "random": random_share(seen.leave, seen.left),
        "shares": {name: share_of(seen.leave, one) for name, one in kept.items()},
        "doubts": {name: one.doubt if one.size else 1.0 for name, one in kept.items()},
        "leave": _tiles(kept, seen.leave, seen.left),
        "rack": _tiles(kept, rack, seen.left),
    }


def _tiles(kept: dict[str, LeavePrior], held: Rack, left: Sequence[int]) -> dict[str, list[int]]:
    """Return which unseen tiles are held, and the chance that each belief gives them."""
    tiles = [tile for tile, count in enumerate(left) if count]
    beliefs = {"random": LeavePrior.nothing(), **{name: kept[name] for name in TILE_BELIEFS}}
    chances = {
        name: tile_chances(one, left, len(held) - one.size)[tiles] for name, one in beliefs.items()
    }
    return {
        "there": [int(tile in held) for tile in tiles],
        **{name: np.rint(_FINE * one).astype(int).tolist() for name, one in chances.items()},
    }


# --- sums ---------------------------------------------------------------------------------------


class _Position(NamedTuple):
    cluster: int
    seen: Record


def _all_positions(records: Sequence[Record]) -> list[_Position]:
    clusters = {pair: at for at, pair in enumerate(sorted({one["number"] // 2 for one in records}))}
    return [
        _Position(clusters[one["number"] // 2], seen) for one in records for seen in one["seen"]
    ]


def loss_rows(records: Sequence[Record], doubt: float = 0.0) -> list[LossRow]:
    """Add losses up.

    Args:
        records: of games.
        doubt: every belief but the prior is doubted at least this much.
    """
    positions = _all_positions(records)
    return [
        _loss_row(belief, which, positions, doubt)
        for which in _SIZES
        for belief in BELIEFS
        if which == "all" or any(_kind(one.seen) == which for one in positions)
    ]


def _kind(seen: Record) -> str:
    return str(seen["size"]) if seen["placed"] else _SIZES[-1]


def _doubt(belief: str, seen: Record, least: float) -> float:
    found: float = seen["doubts"][belief]
    return found if belief == "prior" else max(found, least)


def _loss_row(belief: str, which: str, positions: list[_Position], doubt: float) -> LossRow:
    those = [one for one in positions if which in ("all", _kind(one.seen))]

    def losses(of: str) -> Floats:
        return np.array(
            [
                loss_of(seen["shares"][of], _doubt(of, seen, doubt), seen["random"], seen["size"])
                for _, seen in those
            ]
        )

    against = _AGAINST.get(belief)
    own, clusters = losses(belief), np.array([one.cluster for one in those], np.int64)
    less = own - losses(against) if against else None
    return LossRow(
        belief,
        which,
        len(those),
        *_mean(own, clusters),
        against,
        *((None, None) if less is None else _mean(less, clusters)),
    )


def _mean(values: Floats, clusters: npt.NDArray[np.int64]) -> tuple[float | None, float | None]:
    units, unit_of = np.unique(clusters, return_inverse=True)
    return mean_and_error(values, unit_of, len(units))


def bin_rows(records: Sequence[Record], doubt: float = 0.0) -> list[BinRow]:
    """Sort all chances of tiles that are unseen into ten bins of equal count, by size.

    Args:
        records: of games.
        doubt: every belief but the prior is doubted at least this much.
    """
    positions = _all_positions(records)
    return [
        row
        for of in ("rack", "leave")
        for belief in TILE_BELIEFS
        for row in _bins(belief, of, positions, doubt)
    ]


def _bins(belief: str, of: str, positions: list[_Position], doubt: float) -> Iterator[BinRow]:
    chances, there, clusters = [], [], []
    for cluster, seen in positions:
        found, share = seen[of], _doubt(belief, seen, doubt)
        mixed = (1 - share) * np.array(found[belief]) + share * np.array(found["random"])
        chances.append(mixed / _FINE)
        there.append(np.array(found["there"], np.float64))
        clusters.append(np.full(len(mixed), cluster))
    if not positions:
        return
    predicted, observed = np.concatenate(chances), np.concatenate(there)
    cluster_of = np.concatenate(clusters)
    for part in np.array_split(np.argsort(predicted, kind="stable"), BINS):
        difference, error = _mean(observed[part] - predicted[part], cluster_of[part])
        if difference is not None:
            means = float(predicted[part].mean()), float(observed[part].mean())
            yield BinRow(belief, of, len(part), *means, difference, error)
