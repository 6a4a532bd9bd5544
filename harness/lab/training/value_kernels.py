"""A network learns position values, sample after sample, by stochastic gradient descent.

The network is that of ``engine.kernels.value_net`` with weights of floats. Steps are those of
AdaGrad (Duchi, Hazan and Singer 2011): the more a weight was changed already, the less it is.
The weights of one feature share one step, as those of a word do in its embedding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine.kernels.value_games import MOST_FEATURES, MOST_MEMBERS, Listed
from lexicons.arrays import F32, I32
from lexicons.jit import helper, kernel
from lexicons.value_net import LEAD, OUTPUTS, SCALE, UNIT, VALUE

_EPSILON = np.float32(1e-6)
_MOST_ERROR = np.float32(3)
_MEANS = np.float32(0.1)
"""What an error of the mean of a turn's moves counts, beside errors of their differences."""
_FINALS = np.float32(0.1)
"""What the final lead counts."""


class Weights(NamedTuple):
    """What is learned, and as much for the squares of its gradients."""

    first: F32  # [features, width + OUTPUTS]
    start: F32  # [width + OUTPUTS]
    second: F32  # [width, hidden]
    second_start: F32  # [hidden]
    last: F32  # [OUTPUTS, hidden]
    last_start: F32  # [OUTPUTS]


class Shared(NamedTuple):
    """What features have in common while they are learned."""

    parents: I32  # [features, n] rows whose weights are added to a feature's own; −1: none
    transposed: I32  # [features] the feature when rows and columns are swapped


@kernel
def learn(
    weights: Weights,
    squares: Weights,
    shared: Shared,
    listed: Listed,
    rate: float,
    losses: Any,
) -> None:
    """Take a step for each position; weights and squares are modified in place.

    By how much the moves of one turn differ counts fully, their mean and the final lead less.
    ``losses`` [5] gets sums, in squares of ``UNIT``: of squared errors of the differences; of the
    differences squared; of squared errors of the means; then the negative log-likelihood of the
    final leads, and their number. No step is taken if ``rate`` is 0.
    """
    columns, hidden = len(weights.start), weights.second.shape[1]
    sums = np.empty((MOST_MEMBERS, columns), np.float32)
    inner = np.empty((MOST_MEMBERS, hidden), np.float32)
    outputs = np.empty((MOST_MEMBERS, OUTPUTS), np.float32)
    errors = np.empty(OUTPUTS, np.float32)
    sum_errors = np.empty(columns, np.float32)
    inner_errors = np.empty(hidden, np.float32)
    rows = np.empty((MOST_MEMBERS, MOST_FEATURES * (1 + shared.parents.shape[1])), np.int64)
    counts = np.empty(MOST_MEMBERS, np.int64)
    unit = np.float32(UNIT)
    first = 0
    while first < len(listed.ends):
        size = _group_size(listed, first)
        mean_error, mean_gain = np.float32(0), np.float32(0)
        for nth in range(size):
            counts[nth] = _list_rows(shared, listed, first + nth, rows[nth])
            _put_out(weights, rows[nth], counts[nth], sums[nth], inner[nth], outputs[nth])
            gain = listed.gains[first + nth] / unit
            mean_gain += gain / size
            mean_error += (outputs[nth, VALUE] - gain) / size
        losses[2] += mean_error * mean_error
        for nth in range(size):
            gain = listed.gains[first + nth] / unit
            error = outputs[nth, VALUE] - gain - mean_error
            losses[0] += error * error
            losses[1] += (gain - mean_gain) ** 2
            errors[VALUE] = _clipped(error + _MEANS * mean_error)
            errors[LEAD], errors[SCALE] = 0, 0
            if listed.is_played[first + nth]:
                _final_errors(listed.finals[first + nth] / unit, outputs[nth], errors, losses)
            if rate > 0:
                _errors_within(weights, sums[nth], inner[nth], errors, sum_errors, inner_errors)
                _step(
                    weights,
                    squares,
                    rows[nth],
                    counts[nth],
                    sums[nth],
                    inner[nth],
                    errors,
                    sum_errors,
                    inner_errors,
                    rate,
                )
        first += size


@helper
def _group_size(listed: Listed, first: Any) -> Any:
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
    losses[3] += log_scale + abs(away) + 2 * np.log1p(np.exp(-abs(away)))
    losses[4] += 1
    slope = np.tanh(away / 2)
    errors[LEAD] = -_FINALS * slope / scale
    errors[SCALE] = _FINALS * _clipped(1 - away * slope)


@helper
def _list_rows(shared: Shared, listed: Listed, at: Any, rows: Any) -> Any:
    """List the rows of weights to be added up; every other turn is seen transposed."""
    count = np.int64(0)
    for nth in range(listed.ends[at - 1] if at else 0, listed.ends[at]):
        feature = np.int64(listed.features[nth])
        if listed.groups[at] & 1:
            feature = np.int64(shared.transposed[feature])
        rows[count] = feature
        count += 1
        for parent in shared.parents[feature]:
            if parent >= 0:
                rows[count] = parent
                count += 1
    return count


@helper
def _clipped(value: Any) -> Any:
    return np.float32(min(max(value, -_MOST_ERROR), _MOST_ERROR))


@helper
def _put_out(
    weights: Weights, listed: Any, count: Any, sums: Any, inner: Any, outputs: Any
) -> None:
    width, hidden = weights.second.shape
    for column in range(len(sums)):
        sums[column] = weights.start[column]
    for nth in range(count):
        row = weights.first[listed[nth]]
        for column in range(len(sums)):
            sums[column] += row[column]
    for unit in range(hidden):
        inner[unit] = weights.second_start[unit]
    for column in range(width):
        value = sums[column]
        if value > 0:
            row = weights.second[column]
            for unit in range(hidden):
                inner[unit] += value * row[unit]
    for output in range(OUTPUTS):
        total = weights.last_start[output] + sums[width + output]
        for unit in range(hidden):
            if inner[unit] > 0:
                total += weights.last[output, unit] * inner[unit]
        outputs[output] = total


@helper
def _errors_within(
    weights: Weights, sums: Any, inner: Any, errors: Any, sum_errors: Any, inner_errors: Any
) -> None:
    width, hidden = weights.second.shape
    for unit in range(hidden):
        total = np.float32(0)
        if inner[unit] > 0:
            for output in range(OUTPUTS):
                total += errors[output] * weights.last[output, unit]
        inner_errors[unit] = total
    for column in range(width):
        total = np.float32(0)
        if sums[column] > 0:
            row = weights.second[column]
            for unit in range(hidden):
                total += row[unit] * inner_errors[unit]
        sum_errors[column] = total
    for output in range(OUTPUTS):
        sum_errors[width + output] = errors[output]


@helper
def _step(
    weights: Weights,
    squares: Weights,
    listed: Any,
    count: Any,
    sums: Any,
    inner: Any,
    errors: Any,
    sum_errors: Any,
    inner_errors: Any,
    rate: Any,
) -> None:
    width, hidden = weights.second.shape
    for output in range(OUTPUTS):
        error = errors[output]
        _change(weights.last_start, squares.last_start, output, error, rate)
        for unit in range(hidden):
            if inner[unit] > 0:
                _change(weights.last[output], squares.last[output], unit, error * inner[unit], rate)
    for unit in range(hidden):
        if inner_errors[unit] != 0:
            _change(weights.second_start, squares.second_start, unit, inner_errors[unit], rate)
    for column in range(width):
        value = sums[column]
        if value > 0:
            row, row_squares = weights.second[column], squares.second[column]
            for unit in range(hidden):
                gradient = value * inner_errors[unit]
                total = row_squares[unit] + gradient * gradient
                row_squares[unit] = total
                row[unit] -= rate * gradient / np.sqrt(total + _EPSILON)
    mean = np.float32(0)
    for column in range(len(sums)):
        mean += sum_errors[column] * sum_errors[column]
        _change(weights.start, squares.start, column, sum_errors[column], rate)
    mean /= len(sums)
    for nth in range(count):
        feature = listed[nth]
        total = squares.first[feature, 0] + mean
        squares.first[feature, 0] = total
        row, step = weights.first[feature], np.float32(rate) / np.sqrt(total + _EPSILON)
        for column in range(len(sums)):
            row[column] -= step * sum_errors[column]


@helper
def _change(weights: Any, squares: Any, at: Any, gradient: Any, rate: Any) -> None:
    total = squares[at] + gradient * gradient
    squares[at] = total
    weights[at] -= np.float32(rate) * gradient / np.sqrt(total + _EPSILON)
