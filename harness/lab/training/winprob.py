"""Win probabilities by spread and unseen tiles, learned from games of static players.

A position is seen from the player on turn. Its *effective spread* is its lead, plus the worth of
the leave of its last turn, minus that of the opponent's: points still to come. It is rounded to a
whole point, half to even. With an empty bag leaves are worth nothing, and only points count.
*Unseen* tiles are those in the bag and on the opponent's rack; they fit on a rack exactly when the
bag is empty, since otherwise the opponent's rack is full.

Games are tallied in integers, so that the order of addition makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt

from engine.kernels.moves import EXCHANGE, MAX_PLACED, TILE_BITS
from engine.kernels.selfplay import Results
from engine.rules.rules import Rules
from harness.lab.positions import recorded_games
from harness.lab.rows import Column, percent
from harness.lab.study_context import Field
from harness.pictures import picture
from harness.workers import Workers
from lexicons.arrays import F64, I64
from lexicons.win_probability import WinProbabilities

MOST_SPREAD = 300
"""Larger spreads, either way, are clipped to this."""
GAMES_A_SHARE = 2_000

# Chosen by the log loss on 30,000 fresh games of a fit to 60,000; doubling or halving the trust
# in the prior changes it by less than 1 in 2,000.
_WINDOWS = ((32.0, 8.0), (16.0, 4.0), (8.0, 2.0), (4.0, 1.0), (2.0, 0.5))
"""Standard deviations of normal windows, in points and in tiles, the widest first."""
_TRUST = 2_000
"""Weight of the prior, in positions of a window."""
_TRUST_IN_ENDGAMES = 200
"""The same with an empty bag, where single points decide."""
_DEVIATION = 10.0
"""Standard deviation of points to come, in points per square root of the unseen tiles."""
_DRAWN = (1, 7, 20, 40, 60, 93)


@dataclass(frozen=True, eq=False)
class WinCounts:
    """How often the player on turn won; both arrays are [spreads, unseen].

    Rows are spreads from −MOST_SPREAD to MOST_SPREAD, columns counts of unseen tiles from 1.
    """

    games: I64
    half_wins: I64
    """2 per win, 1 per tie."""
    rack_size: int
    """With at most this many tiles unseen the bag is empty."""

    def __add__(self, other: WinCounts) -> WinCounts:
        return WinCounts(self.games + other.games, self.half_wins + other.half_wins, self.rack_size)


def share_out(games: int, seed: int) -> list[tuple[int, int]]:
    """Split games into shares for ``tally_share``: a number of games and a seed each.

    Raises:
        ValueError: fewer than one game.
    """
    if games < 1:
        raise ValueError(f"{games} games; there must be at least 1")
    shares = -(-games // GAMES_A_SHARE)
    seeds = np.random.SeedSequence(seed).generate_state(shares, np.uint64).tolist()
    sizes = [GAMES_A_SHARE] * (shares - 1) + [games - GAMES_A_SHARE * (shares - 1)]
    return list(zip(sizes, seeds, strict=True))


def play_and_tally(
    workers: Workers,
    field: Field,
    games: int,
    seed: int,
    tell: Callable[[int], object] = lambda played: None,
) -> WinCounts:
    """Play games of a static player with itself on workers, and tally every turn.

    The same seed gives the same games on any workers. ``tell`` is called with the games played.

    Raises:
        ValueError: as ``play_static_games``.
        WorkersError: workers keep dying.
    """
    total, played = None, 0
    for share, tally in workers.work_through(tally_share, field, share_out(games, seed)):
        total = tally if total is None else total + tally
        played += share[0]
        tell(played)
    assert total is not None
    return total


def tally_share(field: Field, share: tuple[int, int]) -> WinCounts:
    """Play a share of the games in one thread."""
    return tally_results(recorded_games(field, *share).results, field.rules)


def tally_results(results: Results, rules: Rules) -> WinCounts:
    """Tally every turn of recorded games.

    Raises:
        ValueError: a game took more turns than there was room to record.
    """
    room = results.moves.shape[1]
    taken = np.arange(room) < results.turns[:, np.newaxis]
    if results.turns.max(initial=0) > room:
        raise ValueError(f"a game of {results.turns.max()} turns, {room} of them recorded")
    most_unseen = rules.distribution.total - rules.rack_size
    shape = (2 * MOST_SPREAD + 1, most_unseen)
    spreads = effective_spreads(results).clip(-MOST_SPREAD, MOST_SPREAD)[taken]
    unseen = unseen_tiles(results, rules)[taken]
    cells = np.ravel_multi_index((spreads + MOST_SPREAD, unseen - 1), shape)
    ahead = results.scores[:, 0] - results.scores[:, 1]
    won = np.where(np.arange(room) % 2 == 0, 1, -1) * np.sign(ahead)[:, np.newaxis] + 1
    lost, tied, gained = (
        np.bincount(cells[won[taken] == half], minlength=shape[0] * shape[1]).reshape(shape)
        for half in range(3)
    )
    return WinCounts(lost + tied + gained, tied + 2 * gained, rules.rack_size)


def effective_spreads(results: Results) -> I64:
    """Return [games, room] the effective spread of the player on turn before each turn."""
    worth = results.spreads.astype(np.int64) * 1000
    kept = results.leaves.astype(np.int64)
    coming = np.zeros_like(worth)
    coming[:, 2:] += kept[:, :-2]
    coming[:, 1:] -= kept[:, :-1]
    worth += np.where(results.bags > 0, coming, 0)
    # Halves are exact as floats, so rint rounds them as intended.
    return np.rint(worth / 1000).astype(np.int64)


def unseen_tiles(results: Results, rules: Rules) -> I64:
    """Return [games, room] how many tiles are unseen to the player on turn."""
    fields = np.arange(MAX_PLACED, dtype=np.uint64) * np.uint64(TILE_BITS)
    tiles = results.moves[..., np.newaxis] >> fields & np.uint64((1 << TILE_BITS) - 1)
    counts = np.count_nonzero(tiles, axis=2)
    placed: I64 = np.where(results.moves < EXCHANGE, counts, 0).astype(np.int64)
    on_board = np.cumsum(placed, axis=1) - placed
    return rules.distribution.total - on_board - results.sizes.astype(np.int64)


def fit_win_probabilities(tally: WinCounts) -> WinProbabilities:
    """Estimate the win probability of the player on turn.

    The prior is that points still to come are normally distributed about 0. Then, from wide windows
    to narrow ones, it is corrected by the excess of wins over the estimate within the window; a
    window with few positions corrects little. At last each column is made non-decreasing in the
    spread. Positions with tiles in the bag and with an empty bag are fitted apart, since they say
    little about each other.
    """
    spreads = np.arange(-MOST_SPREAD, MOST_SPREAD + 1)
    unseen = np.arange(1, tally.games.shape[1] + 1)
    wins = tally.half_wins / 2
    values = [
        _fit(tally.games[:, columns], wins[:, columns], spreads, unseen[columns], trust)
        for columns, trust in (
            (slice(tally.rack_size), _TRUST_IN_ENDGAMES),
            (slice(tally.rack_size, None), _TRUST),
        )
    ]
    return WinProbabilities(
        spreads.astype(np.int32),
        unseen.astype(np.int32),
        np.concatenate(values, axis=1).astype(np.float32),
    )


def _fit(games: I64, wins: F64, spreads: I64, unseen: I64, trust: float) -> F64:
    """Return [spreads, unseen] the probabilities of some columns."""
    from scipy.optimize import isotonic_regression
    from scipy.special import ndtr

    believed: F64 = ndtr(spreads[:, np.newaxis] / (_DEVIATION * np.sqrt(unseen)))
    seen = np.zeros_like(believed)
    for window in _WINDOWS:
        seen = _within(window, games)
        more = _within(window, wins - games * believed)
        believed = (believed + more / (seen + trust)).clip(0, 1)
    for place, weights in enumerate((seen + 1).T):
        believed[:, place] = isotonic_regression(believed[:, place], weights=weights).x
    return believed


def _within(window: tuple[float, float], counts: npt.NDArray[np.generic]) -> F64:
    """Return each cell's weighted sum over the window about it; its own weight is 1."""
    from scipy.ndimage import gaussian_filter

    mean: F64 = gaussian_filter(counts.astype(np.float64), window, mode="constant")
    return mean * (2 * np.pi * window[0] * window[1])


@dataclass(frozen=True)
class Tenth:
    """Positions with predictions in one tenth of 0 to 1 (the last with 1); None: no positions."""

    name: Annotated[str, Column("predicted")]
    positions: Annotated[int, Column("positions")]
    predicted: Annotated[float | None, percent("on average")]
    won: Annotated[float | None, percent("won")]
    """A tie is half a win."""
    difference: Annotated[float | None, Column("won more", decimals=2, sign=True)]
    """Excess of wins over the prediction, in percentage points."""


def calibration(table: WinProbabilities, tally: WinCounts) -> list[Tenth]:
    """Compare predictions with games other than those that the table was learned from."""
    spreads = np.arange(-MOST_SPREAD, MOST_SPREAD + 1)
    unseen = np.arange(1, tally.games.shape[1] + 1)
    rows = (spreads - table.spreads[0]).clip(0, len(table.spreads) - 1)
    columns = (unseen - table.unseen[0]).clip(0, len(table.unseen) - 1)
    values = table.values[np.ix_(rows, columns)]
    tenths = np.minimum(values * 10, 9).astype(np.int64)
    positions, predicted, won = (
        np.bincount(tenths.ravel(), cells.ravel(), 10).tolist()
        for cells in (tally.games, tally.games * values.astype(np.float64), tally.half_wins / 2)
    )
    rows = []
    for number, (there, said, came) in enumerate(zip(positions, predicted, won, strict=True)):
        name = f"{10 * number}–{10 * number + 10} %"
        if there:
            more = 100 * (came / there - said / there)
            rows.append(Tenth(name, int(there), said / there, came / there, more))
        else:
            rows.append(Tenth(name, 0, None, None, None))
    return rows


def draw_win_probabilities(table: WinProbabilities, path: str | Path) -> None:
    """Draw a table into a PNG file: some columns as curves, and all of it as a map."""
    with picture(path, 13, 5) as figure:
        curves, whole = figure.subplots(1, 2)
        for unseen in _DRAWN:
            if table.unseen[0] <= unseen <= table.unseen[-1]:
                column = table.values[:, unseen - table.unseen[0]]
                curves.plot(table.spreads, 100 * column, label=f"{unseen} unseen")
        curves.set(xlabel="spread of the player on turn, points", ylabel="wins, %", ylim=(0, 100))
        curves.grid(alpha=0.3)
        curves.legend()
        colours = whole.pcolormesh(
            table.unseen, table.spreads, 100 * table.values, cmap="RdBu", vmin=0, vmax=100
        )
        whole.set(xlabel="unseen tiles", ylabel="spread of the player on turn, points")
        figure.colorbar(colours, ax=whole, label="wins, %")
        figure.suptitle("How likely the player on turn is to win")
