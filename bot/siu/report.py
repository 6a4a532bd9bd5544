"""The report of a search: its results as answers, moves as text."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from bot.player import Considered
from engine.notation.cgp_moves import format_cgp_move
from engine.rules.moves import Move, Place
from engine.simulation.simulation import Estimate
from protocol.siu.answers import Answer, InfoSim, InfoText

from .modes import SearchTask

Told: TypeAlias = Callable[[Sequence[Answer], str | None], None]
"""Takes answers to write, and the best move so far, or None if unchanged."""


class Report:
    """Reports one search; moves that the front end named are written as it wrote them."""

    def __init__(self, task: SearchTask, told: Told) -> None:
        self._task, self._told = task, told
        self._board = task.situation.position.board
        self._alphabet = task.situation.rules.distribution.alphabet
        self._shown: set[Move] = set()
        """Moves with a reported result, which later reports update."""
        self._before: Sequence[Answer] = ()
        self._began = time.perf_counter()

    def text(self, move: Move) -> str:
        """Write a move."""
        return self._task.named.get(move) or format_cgp_move(move, self._board, self._alphabet)

    def line(self, moves: Sequence[Move]) -> tuple[str, ...]:
        """Write a line of play."""
        texts, board = [], self._board
        for at, move in enumerate(moves):
            texts.append(format_cgp_move(move, board, self._alphabet) if at else self.text(move))
            board = board.with_move(move) if isinstance(move, Place) else board
        return tuple(texts)

    def tell(self, *answers: Answer, best: Move | None = None) -> None:
        """Report answers, and the best move so far; None: unchanged."""
        self._told(answers, None if best is None else self.text(best))

    def tell_news(self, answers: Sequence[Answer], best: Move) -> None:
        """Report the answers that were not in the last call of this method."""
        self.tell(*(answer for answer in answers if answer not in self._before), best=best)
        self._before = answers

    def simulated(self, estimates: Iterable[Estimate | Considered]) -> tuple[InfoSim, ...]:
        """Write the results of the best moves, and of those requested or reported before."""
        wanted = {*self._task.only, *self._task.also} | self._shown
        shown = [
            estimate
            for rank, estimate in enumerate(estimates)
            if (rank < self._task.settings.lines or estimate.move in wanted) and estimate.samples
        ]
        self._shown.update(estimate.move for estimate in shown)
        return tuple(
            InfoSim(
                self.text(estimate.move),
                100 * min(max(_number(estimate.win), 0.0), 1.0),
                100 * _number(estimate.win_error),
                _number(estimate.equity),
                _number(estimate.equity_error),
                estimate.samples or 0,
            )
            for estimate in shown
        )

    def counted(self, nodes: int, depth: int | None = None) -> InfoText:
        """Write the amount of work, and its speed since this ``Report`` was made."""
        ms = max(round(1_000 * (time.perf_counter() - self._began)), 1)
        how_deep = "" if depth is None else f"depth {depth} "
        return InfoText(f"{how_deep}time {ms} nodes {nodes} nps {1_000 * nodes // ms}")


def _number(number: float | None) -> float:
    return number if number is not None and math.isfinite(number) else 0.0
