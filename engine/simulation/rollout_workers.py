"""Rollouts in one thread or several.

Each sample has a number and random numbers of its own, so results don't depend on threads or order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from engine.kernels.board import set_up
from engine.kernels.game import new_game
from engine.kernels.rollouts import Candidates, Chances, Holdings, Scene, lay_out, roll_out
from engine.movegen.generator import Generator
from engine.rules.position import Position
from lexicons.arrays import I64

from .rollout_results import RolloutResults

_CALL = (4, 32)  # samples of one kernel call, where several threads share the work


class RolloutWorkers:
    """Roll candidates out in threads and add to ``results``.

    ``generators`` are one per thread, for exclusive use; ``results`` are for as many threads.
    """

    def __init__(
        self,
        generators: Sequence[Generator],
        position: Position,
        given: tuple[Scene, Holdings, Chances, Candidates],
        results: RolloutResults,
    ) -> None:
        self._given = given
        self._results = results
        self._generators = generators
        self._games = [new_game(generator.rules, mirrored=True) for generator in generators]
        for generator in generators:
            set_up(generator.state["board"], position.board)
            lay_out(generator.state, generator.words.words)
        self._tasks: deque[tuple[int, int, int]] = deque()
        others = len(generators) - 1
        self._pool = ThreadPoolExecutor(others) if others else None

    @property
    def is_idle(self) -> bool:
        """Whether no work is planned."""
        return not self._tasks

    def plan(self, candidate: int, first: int, count: int) -> None:
        """Plan ``count`` samples of a candidate, from number ``first`` on."""
        self._tasks.append((candidate, first, count))

    def work(self, rollouts: int) -> int:
        """Do up to ``rollouts`` of those planned; return the number done."""
        left = wanted = min(rollouts, sum(count for _, _, count in self._tasks))
        threads = len(self._generators)
        fewest, most = (wanted, wanted) if threads == 1 else _CALL
        lock = threading.Lock()

        def work(thread: int) -> None:
            nonlocal left
            while True:
                with lock:
                    # Smaller and smaller shares, so that all threads end at about the same time.
                    share = min(left, max(fewest, min(most, left // (2 * threads))))
                    left -= share
                    tasks = self._next_batch(share)
                if not share:
                    return
                generator = self._generators[thread]
                roll_out(
                    generator.state,
                    self._games[thread],
                    generator.words.words,
                    generator.leaves.arrays,
                    *self._given,
                    tasks,
                    self._results.values,
                    self._results.tallies[thread],
                )

        others = [self._pool.submit(work, thread) for thread in range(1, threads) if self._pool]
        work(0)
        for other in others:
            other.result()
        return wanted

    def _next_batch(self, rollouts: int) -> I64:
        batches: list[tuple[int, int, int]] = []
        while rollouts:
            candidate, first, count = self._tasks.popleft()
            if count > rollouts:
                self._tasks.appendleft((candidate, first + rollouts, count - rollouts))
                count = rollouts
            batches.append((candidate, first, count))
            rollouts -= count
        return np.array(batches, np.int64)
