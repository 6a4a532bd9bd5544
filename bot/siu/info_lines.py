"""Reports of searches: moves as text, lines of results, and their frequency."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from bot.choice import Considered
from engine.notation.cgp_moves import format_cgp_move
from engine.rules.moves import Move, Place
from engine.simulation.simulation import Estimate
from protocol.siu.answers import Answer, InfoSim

from .modes import Task

__all__ = ["Pulse", "Texts", "Told", "sim_lines"]

Told: TypeAlias = Callable[[Sequence[Answer], str | None], None]
"""Takes answers to write, and the best move so far, or None if unchanged."""

EVERY_S = 0.1
LATE_SHARE = 0.1  # of the time, for computing reports


class Texts:
    """Writes the moves of a search, named moves as the front end wrote them."""

    def __init__(self, task: Task) -> None:
        self._named = task.named
        self._board = task.situation.position.board
        self._alphabet = task.situation.rules.distribution.alphabet
        self.told: set[Move] = set()
        """Moves with a reported result, to be kept up to date."""

    def __call__(self, move: Move) -> str:
        """Return a move's text."""
        return self._named.get(move) or format_cgp_move(move, self._board, self._alphabet)

    def line(self, moves: Sequence[Move]) -> tuple[str, ...]:
        """Write a line of play."""
        texts, board = [], self._board
        for at, move in enumerate(moves):
            texts.append(format_cgp_move(move, board, self._alphabet) if at else self(move))
            board = board.with_move(move) if isinstance(move, Place) else board
        return tuple(texts)


class Pulse:
    """Decides when a report is due: often, but not for most of the time."""

    def __init__(self) -> None:
        self._began = 0.0
        self._next = time.perf_counter() + EVERY_S

    def is_due(self) -> bool:
        """Check whether a report is due; the report lasts until ``done``."""
        self._began = time.perf_counter()
        return self._began >= self._next

    def done(self) -> None:
        """Note that a report was made."""
        now = time.perf_counter()
        self._next = now + max(EVERY_S, (now - self._began) / LATE_SHARE)


def sim_lines(
    task: Task, estimates: Iterable[Estimate | Considered], text: Texts
) -> tuple[InfoSim, ...]:
    """Write the results of the best moves, and of those requested or reported before."""
    wanted = {*task.only, *task.also} | text.told
    shown = [
        estimate
        for rank, estimate in enumerate(estimates)
        if (rank < task.settings.lines or estimate.move in wanted) and estimate.samples
    ]
    text.told.update(estimate.move for estimate in shown)
    return tuple(_line(estimate, text(estimate.move)) for estimate in shown)


def _line(estimate: Estimate | Considered, name: str) -> InfoSim:
    return InfoSim(
        name,
        100 * min(max(_number(estimate.win), 0.0), 1.0),
        100 * _number(estimate.win_error),
        _number(estimate.equity),
        _number(estimate.equity_error),
        estimate.samples or 0,
    )


def _number(number: float | None) -> float:
    return number if number is not None and math.isfinite(number) else 0.0
