"""Workers that a training hands its shares out to: processes here, or a Dask cluster.

A share may be played anywhere, in any order, and twice if a worker dies over it; its result is
given once. Whatever all shares have in common (words, tables) goes to each worker once.

Workers of a cluster are started by its users, with tilewire installed beside them:
``dask scheduler``, and on each machine ``dask worker tcp://scheduler:8786``.
"""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Crew", "CrewError", "open_crew"]

_MOST_DEATHS = 3
"""So many workers may die before a share is finished; then the fault is not chance."""
_CONNECTING_S = 10
_INSTALL = 'a cluster needs Dask: pip install "tilewire[cluster]"'

_Common = TypeVar("_Common")
_Share = TypeVar("_Share")
_Result = TypeVar("_Result")


class CrewError(RuntimeError):
    """There are no workers, or they keep dying; the sentence says what to do."""


class Crew(Protocol):
    """Workers, wherever they are."""

    def work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        common: _Common,
        shares: Iterable[_Share],
    ) -> Iterator[tuple[_Share, _Result]]:
        """Call a function for each share; give each with its result, the first to finish first.

        ``function`` is at the top of a module, and all else can be pickled. Shares are drawn as
        workers come free.

        Raises:
            CrewError: workers keep dying.
            Exception: what the function raises.
        """
        ...


@contextmanager
def open_crew(
    workers: int = 1, cluster: str | None = None, tell: Callable[[str], object] = print
) -> Iterator[Crew]:
    """Have workers for the time of a block.

    Args:
        workers: how many processes on this machine, if there is no cluster.
        cluster: the address of a Dask scheduler, ``tcp://host:port``.
        tell: told in a sentence what is waited for.

    Raises:
        CrewError: Dask is not installed, or nobody answers at the address.
    """
    if cluster is not None:
        with _connected(cluster) as client:
            yield _Cluster(client, tell)
        return
    with tempfile.TemporaryDirectory(prefix="tilewire-train-") as folder:
        crew = _Processes(workers, Path(folder))
        try:
            yield crew
        finally:
            crew.close()


class _Shares(Generic[_Share, _Result]):
    """Shares on their way: some not handed out yet, some with workers; none is ever forgotten."""

    def __init__(self, shares: Iterable[_Share]) -> None:
        self._coming = iter(shares)
        self._next: list[_Share] = []
        self._waiting: dict[Future[_Result], _Share] = {}

    def work_through(
        self, submit: Callable[[_Share], Future[_Result]], at_once: Callable[[], int]
    ) -> Iterator[tuple[_Share, _Result]]:
        """Keep so many shares with the workers until all are done."""
        while True:
            room = at_once() - len(self._waiting) - len(self._next)
            self._next.extend(islice(self._coming, max(0, room)))
            while self._next:
                self._waiting[submit(self._next[-1])] = self._next[-1]
                self._next.pop()
            if not self._waiting:
                return
            done, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
            for future in done:
                result = future.result()
                yield self._waiting.pop(future), result

    def take_back(self) -> None:
        """Have those that are with workers handed out again."""
        for future in self._waiting:
            future.cancel()
        self._next.extend(self._waiting.values())
        self._waiting.clear()


# --- processes on this machine ------------------------------------------------------------------


class _Processes:
    """Worker processes; those that die are replaced."""

    def __init__(self, workers: int, folder: Path) -> None:
        self._workers, self._folder = workers, folder
        self._pool = self._new_pool()

    def work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        common: _Common,
        shares: Iterable[_Share],
    ) -> Iterator[tuple[_Share, _Result]]:
        """See ``Crew``."""
        path, deaths = self._write(common), 0
        on_their_way: _Shares[_Share, _Result] = _Shares(shares)

        def submit(share: _Share) -> Future[_Result]:
            return self._pool.submit(_work, function, path, share)

        while True:
            try:
                for done in on_their_way.work_through(submit, lambda: 2 * self._workers):
                    deaths = 0
                    yield done
                return
            except BrokenProcessPool:
                deaths += 1
                if deaths > _MOST_DEATHS:
                    raise CrewError(
                        f"{deaths} worker processes in a row died over their work; is there enough "
                        "memory for them?"
                    ) from None
                self._pool.shutdown()
                self._pool = self._new_pool()
                on_their_way.take_back()

    def close(self) -> None:
        """End the workers, each after the share that it has."""
        self._pool.shutdown(cancel_futures=True)

    def _new_pool(self) -> Executor:
        context = multiprocessing.get_context("spawn")  # forks of threads and of numba go wrong
        return ProcessPoolExecutor(self._workers, mp_context=context, initializer=_begin)

    def _write(self, common: object) -> Path:
        """Lay something where workers find it, once, under a name that tells it from others."""
        packed = pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
        path = self._folder / hashlib.sha256(packed).hexdigest()
        if not path.exists():
            path.write_bytes(packed)
        return path


def _begin() -> None:
    """Begin a worker: it leaves interrupts to its parent, and ends when that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work(function: Callable[[_Common, _Share], _Result], common: Path, share: _Share) -> _Result:
    return function(_read(common), share)


@lru_cache(maxsize=1)
def _read(path: Path) -> Any:
    return pickle.loads(path.read_bytes())


# --- a cluster ----------------------------------------------------------------------------------


class _Cluster:
    """The workers of a Dask scheduler, which replaces those that die by others."""

    def __init__(self, client: Any, tell: Callable[[str], object]) -> None:
        self._client, self._tell = client, tell

    def work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        common: _Common,
        shares: Iterable[_Share],
    ) -> Iterator[tuple[_Share, _Result]]:
        """See ``Crew``."""
        from distributed.scheduler import KilledWorker

        self._wait_for_workers()
        there = self._client.scatter(common, broadcast=True)
        executor = self._client.get_executor(pure=False)

        def submit(share: _Share) -> Future[_Result]:
            future: Future[_Result] = executor.submit(function, there, share)
            return future

        on_their_way: _Shares[_Share, _Result] = _Shares(shares)
        try:
            yield from on_their_way.work_through(submit, self._at_once)
        except KilledWorker as error:
            raise CrewError(f"workers of the cluster keep dying over their work: {error}") from None
        finally:
            on_their_way.take_back()

    def _at_once(self) -> int:
        """Say how many shares to have under way, as workers come and go."""
        threads: int = sum(self._client.nthreads().values())
        return max(2, 2 * threads)

    def _wait_for_workers(self) -> None:
        if not self._client.nthreads():
            address = self._client.scheduler.address
            self._tell(f"waiting for workers: dask worker {address}")
            self._client.wait_for_workers(1)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise CrewError(_INSTALL) from None
    # What workers do at their end is the cluster's to log.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client: Any = Client(  # type: ignore[no-untyped-call]
            address, timeout=_CONNECTING_S, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise CrewError(
            f"no Dask scheduler answers at {address} ({error}); start one by `dask scheduler`, and "
            "workers by `dask worker ADDRESS`"
        ) from None
    with client:
        yield client
