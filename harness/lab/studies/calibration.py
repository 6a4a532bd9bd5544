"""How well leaves are guessed, where the truth is known: in games that were played.

After each turn of a player who kept tiles, with some left in the bag, the other's beliefs are held
against what he really kept, and against the rack that he really drew to it:

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

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.inference.inference import Judges, Posterior
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import DETERMINISTIC, Style, stranger
from engine.inference.rack_filter import RackFilter
from engine.inference.rack_forecast import tile_chances
from engine.rules.moves import Place
from engine.rules.position import Rack
from harness.lab.workers import Crew
from harness.matches.significance import Floats, mean_and_error

from .games import Meeting, played, replayed
from .record_file import Lines
from .replayed_beliefs import (
    Games,
    Seen,
    judges_for,
    loss_of,
    random_share,
    share_of,
    take_in,
    told,
)

__all__ = [
    "BELIEFS",
    "TILE_BELIEFS",
    "BinRow",
    "Calibration",
    "LossRow",
    "bin_rows",
    "calibrate",
    "calibrated",
    "loss_rows",
]

BELIEFS = ("prior", "paper", "last", "filter")
TILE_BELIEFS = ("prior", "last", "filter")
"""Those whose chances of tiles are looked at."""
BINS = 10
_AGAINST = {"paper": "prior", "last": "prior", "filter": "last"}
_FINE = 10_000
"""Chances of tiles are kept in files as whole numbers of so many parts."""
_SIZES = ("all", "1", "2", "3", "4", "5", "6", "exchanges, passes")

_Record = dict[str, Any]


class Calibration(NamedTuple):
    """What is asked of each game."""

    meeting: Meeting
    games: Games | None
    """Those that were played before; None: they are to be played."""
    racks: int
    """Looked at for each turn, at most."""

    def order(self) -> Iterator[int]:
        """Give the numbers of games, those that share draws with others last, or not at all."""
        if self.games is None:
            return itertools.count(0, 2)
        return iter(sorted(self.games.records, key=lambda number: (number % 2, number)))


@dataclass(frozen=True)
class LossRow:
    """How well one belief foresees leaves; errors are half the width of 95 % intervals."""

    belief: str
    leaves: str
    """Which: all, of so many tiles, or those of exchanges and passes, which are drawn."""
    positions: int
    loss: float | None
    """Mean log-loss of the true leave for each of its tiles, in nats."""
    error: float | None
    against: str | None
    difference: float | None
    """The loss less that of the other belief."""
    difference_error: float | None


@dataclass(frozen=True)
class BinRow:
    """How often a tile is there that one belief gives chances of about the same size."""

    belief: str
    of: str
    """``leave``, or ``rack``: the leave and what was drawn to it."""
    cases: int
    predicted: float
    observed: float
    difference: float
    """Observed less predicted."""
    error: float | None
    """Half the width of its 95 % interval."""


# --- games --------------------------------------------------------------------------------------


def calibrate(
    calibration: Calibration,
    lines: Lines,
    positions: int,
    crew: Crew,
    tell: Callable[[int], object],
) -> list[_Record]:
    """Have the crew work through games until there are positions enough, and give their records.

    Args:
        calibration: what is asked.
        lines: where records go; those that are there are not worked out again.
        positions: so many, or more: games are whole. Fewer if there are no more games.
        crew: the workers.
        tell: told after each game how many positions there are.
    """
    passed: list[int] = []

    def enough() -> list[_Record]:
        there = {one["number"]: one for one in lines.records}
        return [there[number] for number in passed if number in there]

    def missing() -> Iterator[int]:
        for number in calibration.order():
            if _positions(enough()) >= positions:
                return
            passed.append(number)
            if not any(one["number"] == number for one in lines.records):
                yield number

    for _, record in crew.work_through(calibrated, calibration, missing()):
        lines.add(record)
        tell(_positions(enough()))
    counts = np.cumsum([len(one["seen"]) for one in enough()])
    return enough()[: int(np.searchsorted(counts, positions)) + 1]


def _positions(records: Iterable[_Record]) -> int:
    return sum(len(one["seen"]) for one in records)


def calibrated(calibration: Calibration, number: int) -> _Record:
    """Play a game or take it up, and give what either seat believed of the other."""
    meeting, games = calibration.meeting, calibration.games
    seed = meeting.seed if games is None else games.seed
    record = played(meeting, number) if games is None else games.records[number]
    game = replayed(record, seed, meeting.rules)
    judges = judges_for(meeting.lexicon, meeting.rules)
    seen = [one for seat in range(2) for one in _watched(told(game, seat), judges, calibration)]
    return {"number": number, "scores": record["scores"], "moves": record["moves"], "seen": seen}


def _watched(events: Iterable[Any], judges: Judges, calibration: Calibration) -> Iterator[_Record]:
    trackers = {
        "paper": RackFilter(judges, Style.of(DETERMINISTIC), remembers=False, learns=False),
        "last": RackFilter(judges, stranger(), remembers=False),
        "filter": RackFilter(judges, stranger()),
    }
    for event in events:
        found = {
            name: take_in(tracker, event, calibration.racks) for name, tracker in trackers.items()
        }
        last = found["last"]
        if isinstance(event, Seen) and last is not None and event.hides:
            kept = {"prior": _prior(last, event)}
            yield _held_against(event, kept | {name: one.prior for name, one in trackers.items()})


def _prior(last: Posterior, seen: Seen) -> LeavePrior:
    """Give what would be believed if any rack made the play; random tiles, if it shows none."""
    if not isinstance(seen.play.move, Place):
        return LeavePrior.nothing()
    return LeavePrior(last.leaves, last.prior / last.prior.sum(), last.unseen)


def _held_against(seen: Seen, kept: dict[str, LeavePrior]) -> _Record:
    """Give the record of a turn: what each belief says of what he kept and has."""
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
    """Say which tiles that are unseen are held, and what chance each belief gives them."""
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
    seen: _Record


def _all_positions(records: Sequence[_Record]) -> list[_Position]:
    clusters = {pair: at for at, pair in enumerate(sorted({one["number"] // 2 for one in records}))}
    return [
        _Position(clusters[one["number"] // 2], seen) for one in records for seen in one["seen"]
    ]


def loss_rows(records: Sequence[_Record], doubt: float = 0.0) -> list[LossRow]:
    """Add losses up.

    Args:
        records: of games.
        doubt: every belief but the prior is doubted so much at least.
    """
    positions = _all_positions(records)
    return [
        _loss_row(belief, which, positions, doubt)
        for which in _SIZES
        for belief in BELIEFS
        if which == "all" or any(_kind(one.seen) == which for one in positions)
    ]


def _kind(seen: _Record) -> str:
    return str(seen["size"]) if seen["placed"] else _SIZES[-1]


def _doubt(belief: str, seen: _Record, least: float) -> float:
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


def bin_rows(records: Sequence[_Record], doubt: float = 0.0) -> list[BinRow]:
    """Sort all chances of tiles that are unseen into ten bins of equal count, by size.

    Args:
        records: of games.
        doubt: every belief but the prior is doubted so much at least.
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
