"""Training of a value network by stochastic gradient descent, sample after sample.

The network is that of ``engine.kernels.value_net`` with weights as floats. Steps are those of
AdaGrad (Duchi, Hazan and Singer 2011): the more a weight has changed, the smaller its next step.
The weights of one feature share one step size, like those of a word's embedding.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from engine.kernels.value_games import MOST_MEMBERS, Listed
from engine.kernels.value_net import NOTHING, add_row, count_row
from lexicons.arrays import F32, F64
from lexicons.jit import helper, kernel
from lexicons.value_net import CROSSINGS, LEAD, OUTPUTS, SCALE, TURNS, UNIT, Sights

_EPSILON = np.float32(1e-6)
_MOST_ERROR = np.float32(4)
_MEANS = np.float32(0.1)
"""Weight of the error of a turn's mean, where errors of differences in a turn have weight 1."""
_FINALS = np.float32(0.1)
"""Weight of the error of the final lead."""


class Weights(NamedTuple):
    """The weights; the sums of their squared gradients are in another of these.

    There the first four arrays have one column: the weights of a row share one sum.
    """

    lines: Annotated[F32, 2]  # [kinds × places × contents, width]
    start: Annotated[F32, 2]  # [kinds, width]
    counts: Annotated[F32, 2]  # [rows, width]
    own: Annotated[F32, 2]  # [rows, OUTPUTS] what counts add to outputs directly
    second: Annotated[F32, 2]  # [width, hidden]
    second_start: F32  # [hidden]
    last: Annotated[F32, 2]  # [OUTPUTS, hidden]
    last_start: F32  # [OUTPUTS]


class _Seen(NamedTuple):
    """What a net computes for one position, line by line; scratch."""

    rows: Any  # [lines, places] of weights
    sizes: Any  # [lines] rows of each; −1: off the board
    counts: Any  # [counts] rows of weights; −1: no such tile is kept
    sums: Any  # [lines, width] 0 where negative
    hidden: Any  # [lines, hidden]
    together: Any  # [hidden]
    outputs: Any  # [OUTPUTS]


class _Slopes(NamedTuple):
    """Gradients of one position; scratch."""

    outputs: Any  # [OUTPUTS]
    hidden: Any  # [hidden] of one line
    sums: Any  # [width] of one line
    counted: Any  # [width] of all lines
    second: Any  # [width, hidden]
    second_start: Any  # [hidden]


@kernel
def learn(
    weights: Weights,
    squares: Weights,
    sights: Sights,
    listed: Listed,
    rate: float,
    losses: Annotated[F64, 2],
) -> None:
    """Take a step for each position; weights and squares are modified in place.

    Errors of the differences between the moves of one turn count fully, those of their mean
    (``_MEANS``) and of the final lead (``_FINALS``) less. ``losses`` [TURNS + 1, 3] is added to. A
    row for each turn's gains gets three sums, in squares of ``UNIT``: squared errors of the
    differences, squared differences, and squared errors of the means. The last row gets the
    negative log-likelihood of the final leads, and their number. No step is taken if ``rate`` is 0.
    """
    all_seen, slopes = _scratch(weights, listed)
    outputs = all_seen.outputs
    mean_error, mean_gain = np.empty(TURNS, np.float32), np.empty(TURNS, np.float32)
    unit, step = np.float32(UNIT), np.float32(rate)
    first = 0
    while first < len(listed.groups):
        size = group_size(listed, first)
        mean_error[:] = 0
        mean_gain[:] = 0
        for nth in range(size):
            seen = _nth(all_seen, nth)
            _list_rows(sights, listed, first + nth, seen)
            _forward(weights, sights, seen, slopes.counted)
            for turn in range(TURNS):
                gain = listed.gains[first + nth, turn] / unit
                mean_gain[turn] += gain / size
                mean_error[turn] += (outputs[nth, turn] - gain) / size
        for turn in range(TURNS):
            losses[turn, 2] += mean_error[turn] * mean_error[turn]
        for nth in range(size):
            slopes.outputs[:] = 0
            for turn in range(TURNS):
                gain = listed.gains[first + nth, turn] / unit
                error = outputs[nth, turn] - gain - mean_error[turn]
                losses[turn, 0] += error * error
                losses[turn, 1] += (gain - mean_gain[turn]) ** 2
                slopes.outputs[turn] = _clipped(error + _MEANS * mean_error[turn])
            if listed.is_played[first + nth]:
                final = listed.finals[first + nth] / unit
                _final_errors(final, outputs[nth], slopes.outputs, losses)
            if rate > 0:
                _step(weights, squares, sights, _nth(all_seen, nth), slopes, step)
        first += size


@helper
def _scratch(weights: Weights, listed: Listed) -> Any:
    """Return room for the positions of a turn and the gradients of one."""
    lines, places = listed.lines.shape[1:]
    width, hidden = weights.second.shape
    seen = _Seen(
        np.empty((MOST_MEMBERS, lines, places), np.int64),
        np.empty((MOST_MEMBERS, lines), np.int64),
        np.empty((MOST_MEMBERS, listed.counts.shape[1]), np.int64),
        np.empty((MOST_MEMBERS, lines, width), np.float32),
        np.empty((MOST_MEMBERS, lines, hidden), np.float32),
        np.empty((MOST_MEMBERS, hidden), np.float32),
        np.empty((MOST_MEMBERS, OUTPUTS), np.float32),
    )
    slopes = _Slopes(
        np.empty(OUTPUTS, np.float32),
        np.empty(hidden, np.float32),
        np.empty(width, np.float32),
        np.empty(width, np.float32),
        np.empty((width, hidden), np.float32),
        np.empty(hidden, np.float32),
    )
    return seen, slopes


@helper
def _nth(seen: _Seen, nth: Any) -> Any:
    """Return the scratch of one of several positions."""
    return _Seen(
        seen.rows[nth],
        seen.sizes[nth],
        seen.counts[nth],
        seen.sums[nth],
        seen.hidden[nth],
        seen.together[nth],
        seen.outputs[nth],
    )


@helper
def group_size(listed: Listed, first: Any) -> Any:
    """Return how many entries from ``first`` on belong to one turn."""
    end = first + 1
    while end < len(listed.groups) and listed.groups[end] == listed.groups[first]:
        end += 1
    return end - first


@helper
def _final_errors(final: Any, outputs: Any, errors: Any, losses: Any) -> None:
    """Add a final lead's negative log-likelihood by a logistic distribution, and its gradient."""
    log_scale = _clipped(outputs[SCALE])
    scale = np.exp(log_scale)
    away = (final - outputs[LEAD]) / scale
    losses[TURNS, 0] += log_scale + abs(away) + 2 * np.log1p(np.exp(-abs(away)))
    losses[TURNS, 1] += 1
    slope = np.tanh(away / 2)
    errors[LEAD] = -_FINALS * slope / scale
    errors[SCALE] = _FINALS * _clipped(1 - away * slope)


@helper
def _clipped(value: Any) -> Any:
    return np.float32(min(max(value, -_MOST_ERROR), _MOST_ERROR))


@helper
def _list_rows(sights: Sights, listed: Listed, at: Any, seen: _Seen) -> None:
    """List the rows of weights to be added up, for each line and for all."""
    places, tiles = sights.places, len(sights.shares)
    contents = tiles + CROSSINGS
    for line in range(len(sights.kinds)):
        kind, size = np.int64(sights.kinds[line]), np.int64(0)
        for place in range(places):
            content = np.int64(listed.lines[at, line, place])
            if content != NOTHING:
                seen.rows[line, size] = (kind * places + place) * contents + content
                size += 1
        seen.sizes[line] = size if kind >= 0 else np.int64(-1)
    for nth in range(len(seen.counts)):
        count = np.int64(listed.counts[at, nth])
        seen.counts[nth] = count_row(sights, nth, count) if count or nth >= tiles else -1


@helper
def _forward(weights: Weights, sights: Sights, seen: _Seen, counted: Any) -> None:
    """Compute the outputs; ``counted`` [width] is scratch."""
    width, hidden = weights.second.shape
    counted[:] = 0
    seen.outputs[:] = weights.last_start
    for row in seen.counts:
        if row >= 0:
            add_row(counted, weights.counts[row])
            add_row(seen.outputs, weights.own[row])
    for line in range(len(seen.sizes)):
        if seen.sizes[line] >= 0:
            sums, numbers = seen.sums[line], seen.hidden[line]
            sums[:] = counted
            add_row(sums, weights.start[sights.kinds[line]])
            for nth in range(seen.sizes[line]):
                add_row(sums, weights.lines[seen.rows[line, nth]])
            numbers[:] = weights.second_start
            for column in range(width):
                sums[column] = max(sums[column], np.float32(0))
                if sums[column] > 0:
                    for nth in range(hidden):
                        numbers[nth] += sums[column] * weights.second[column, nth]
    for nth in range(hidden):
        seen.together[nth] = _pool(seen, nth, nth < hidden // 2)
        for output in range(OUTPUTS):
            seen.outputs[output] += weights.last[output, nth] * seen.together[nth]


@helper
def _pool(seen: _Seen, nth: Any, adds: Any) -> Any:
    """Return the sum of a hidden number over the lines, where above 0, or its smooth maximum."""
    together, most = np.float32(0), np.float32(-np.inf)
    for line in range(len(seen.sizes)):
        if seen.sizes[line] >= 0:
            together += max(seen.hidden[line, nth], np.float32(0))
            most = max(most, seen.hidden[line, nth])
    if not adds:
        together = np.float32(0)
        for line in range(len(seen.sizes)):
            if seen.sizes[line] >= 0:
                together += np.exp(seen.hidden[line, nth] - most)
        together = most + np.log(together)
    return together


@helper
def _step(
    weights: Weights, squares: Weights, sights: Sights, seen: _Seen, slopes: _Slopes, rate: Any
) -> None:
    """Take a step down the slope of the outputs."""
    width, hidden = weights.second.shape
    wanted = np.empty(hidden, np.float32)  # slopes of ``seen.together``
    for nth in range(hidden):
        wanted[nth] = 0
        for output in range(OUTPUTS):
            slope = slopes.outputs[output]
            wanted[nth] += slope * weights.last[output, nth]
            _change(
                weights.last[output], squares.last[output], nth, slope * seen.together[nth], rate
            )
    for output in range(OUTPUTS):
        _change(weights.last_start, squares.last_start, output, slopes.outputs[output], rate)
    slopes.second[:] = 0
    slopes.second_start[:] = 0
    slopes.counted[:] = 0
    for line in range(len(seen.sizes)):
        if seen.sizes[line] >= 0:
            _step_line(weights, squares, sights.kinds[line], seen, slopes, wanted, line, rate)
    for column in range(width):
        for nth in range(hidden):
            slope = slopes.second[column, nth]
            _change(weights.second[column], squares.second[column], nth, slope, rate)
    for nth in range(hidden):
        _change(weights.second_start, squares.second_start, nth, slopes.second_start[nth], rate)
    for row in seen.counts:
        if row >= 0:
            _change_row(weights.counts, squares.counts, row, slopes.counted, rate)
            _change_row(weights.own, squares.own, row, slopes.outputs, rate)


@helper
def _step_line(
    weights: Weights,
    squares: Weights,
    kind: Any,
    seen: _Seen,
    slopes: _Slopes,
    wanted: Any,
    line: Any,
    rate: Any,
) -> None:
    """Change a line's rows of weights; add to the slopes of weights that all lines share."""
    width, hidden = weights.second.shape
    for nth in range(hidden):
        number = seen.hidden[line, nth]
        if nth < hidden // 2:
            slopes.hidden[nth] = wanted[nth] if number > 0 else np.float32(0)
        else:
            slopes.hidden[nth] = wanted[nth] * np.exp(number - seen.together[nth])
        slopes.second_start[nth] += slopes.hidden[nth]
    for column in range(width):
        value, slope = seen.sums[line, column], np.float32(0)
        if value > 0:
            row, to = weights.second[column], slopes.second[column]
            for nth in range(hidden):
                slope += slopes.hidden[nth] * row[nth]
                to[nth] += value * slopes.hidden[nth]
        slopes.sums[column] = slope
        slopes.counted[column] += slope
    _change_row(weights.start, squares.start, kind, slopes.sums, rate)
    for nth in range(seen.sizes[line]):
        _change_row(weights.lines, squares.lines, seen.rows[line, nth], slopes.sums, rate)


@helper
def _change_row(weights: Any, squares: Any, row: Any, slopes: Any, rate: Any) -> None:
    total = np.float32(0)
    for column in range(len(slopes)):
        total += slopes[column] * slopes[column]
    total = squares[row, 0] + total / len(slopes)
    squares[row, 0] = total
    step, changed = rate / np.sqrt(total + _EPSILON), weights[row]
    for column in range(len(slopes)):
        changed[column] -= step * slopes[column]


@helper
def _change(weights: Any, squares: Any, at: Any, slope: Any, rate: Any) -> None:
    total = squares[at] + slope * slope
    squares[at] = total
    weights[at] -= rate * slope / np.sqrt(total + _EPSILON)
