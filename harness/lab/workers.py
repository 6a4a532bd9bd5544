"""Workers that long work is shared out to: processes here, a Dask cluster, or this process alone.

A share may be done anywhere, in any order, and twice if a worker dies over it; its result is
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
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Crew", "CrewError", "open_crew"]

_MOST_DEATHS = 3
"""So many workers die in a row, with no share finished between them, before it is no chance."""
_CONNECTING_S = 10
_INSTALL = "a cluster needs Dask: pip install -e '.[cluster]' where tilewire was checked out"

_Common = TypeVar("_Common")
_Share = TypeVar("_Share")
_Result = TypeVar("_Result")
_Result_co = TypeVar("_Result_co", covariant=True)


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
    workers: int = 1,
    cluster: str | None = None,
    tell: Callable[[str], object] = print,
    *,
    alone: bool = False,
) -> Iterator[Crew]:
    """Have workers for the time of a block.

    Args:
        workers: how many processes on this machine, if there is no cluster.
        cluster: the address of a Dask scheduler, ``tcp://host:port``.
        tell: told in a sentence what is waited for.
        alone: a single worker is this process itself, which starts no other. It saves the start and
            compiles nothing twice; but whoever stops it waits for the kernel that is running, and
            one that dies over a share takes all with it.

    Raises:
        CrewError: Dask is not installed, or nobody answers at the address.
        ValueError: fewer than one worker.
    """
    if cluster is not None:
        with _connected(cluster) as client:
            yield _Cluster(client, tell)
        return
    if workers < 1:
        raise ValueError(f"{workers} workers; there is at least one")
    if alone and workers == 1:
        yield _Alone()
        return
    with tempfile.TemporaryDirectory(prefix="tilewire-crew-") as folder:
        crew = _Processes(workers, Path(folder))
        try:
            yield crew
        finally:
            crew.close()


class _Alone:
    """No workers: the process itself does one share after another."""

    def work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        common: _Common,
        shares: Iterable[_Share],
    ) -> Iterator[tuple[_Share, _Result]]:
        """See ``Crew``."""
        for share in shares:
            yield share, function(common, share)


class _Future(Protocol[_Result_co]):
    """What becomes of a share that a worker has; of ``concurrent.futures`` or of Dask."""

    def result(self) -> _Result_co: ...


class _Shares(Generic[_Share, _Result]):
    """Shares on their way: some not handed out yet, some with workers; none is ever forgotten."""

    def __init__(self, shares: Iterable[_Share]) -> None:
        self._coming = iter(shares)
        self._next: deque[_Share] = deque()
        self._with_workers: dict[_Future[_Result], _Share] = {}

    def work_through(
        self,
        submit: Callable[[_Share], _Future[_Result]],
        first_done: Callable[[Collection[Any]], Iterable[_Future[_Result]]],
        at_once: Callable[[], int],
    ) -> Iterator[tuple[_Share, _Result]]:
        """Keep so many shares with the workers until all are done."""
        while True:
            room = at_once() - len(self._with_workers) - len(self._next)
            self._next.extend(islice(self._coming, max(0, room)))
            while self._next:
                self._with_workers[submit(self._next[0])] = self._next[0]
                self._next.popleft()  # not before it is handed out, which may fail
            if not self._with_workers:
                return
            for future in first_done(self._with_workers):
                result = future.result()
                yield self._with_workers.pop(future), result

    @property
    def under_way(self) -> list[_Future[_Result]]:
        """Those that are with workers."""
        return list(self._with_workers)

    def take_back(self) -> None:
        """Have those that are with workers handed out again."""
        self._next.extend(self._with_workers.values())
        self._with_workers.clear()


# --- processes on this machine ------------------------------------------------------------------


class _Processes:
    """Worker processes; those that die are replaced.

    What all shares have in common and what comes of each pass through files in ``folder``. A large
    result in the pool's own pipe would block the pool forever if its worker died halfway.
    """

    def __init__(self, workers: int, folder: Path) -> None:
        self._workers, self._folder = workers, folder
        self._open()

    def work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        common: _Common,
        shares: Iterable[_Share],
    ) -> Iterator[tuple[_Share, _Result]]:
        """See ``Crew``."""
        path, deaths = self._write(common), 0
        on_their_way: _Shares[_Share, str] = _Shares(shares)

        def at_once() -> int:
            return 2 * self._workers

        def submit(share: _Share) -> Future[str]:
            return self._pool.submit(_work, function, path, share)

        try:
            while True:
                try:
                    for share, result in on_their_way.work_through(submit, _first_done, at_once):
                        deaths = 0
                        yield share, _take(Path(result))
                    return
                except BrokenProcessPool:
                    deaths += 1
                    if deaths == _MOST_DEATHS:
                        raise CrewError(
                            f"{deaths} worker processes in a row died over their work; is there "
                            "enough memory for them? Fewer --workers need less"
                        ) from None
                    self._renew()
                    on_their_way.take_back()
        finally:
            if on_their_way.under_way:  # the caller stopped early, or a share failed
                self._renew()

    def close(self) -> None:
        """End the workers at once: what they are at is of no use any more."""
        # No future is cancelled: the pool's own thread stumbles over those when workers are gone.
        self._lifeline.close()
        self._pool.shutdown()

    def _open(self) -> None:
        context = multiprocessing.get_context("spawn")  # forks of threads and of numba go wrong
        end, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self._workers, mp_context=context, initializer=_begin, initargs=(end,)
        )

    def _renew(self) -> None:
        self.close()
        self._open()

    def _write(self, common: object) -> Path:
        """Lay something where workers find it, once, under a name that tells it from others."""
        packed = pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
        path = self._folder / hashlib.sha256(packed).hexdigest()
        if not path.exists():
            path.write_bytes(packed)
        return path


def _first_done(futures: Collection[Future[str]]) -> Iterable[Future[str]]:
    return wait(futures, return_when=FIRST_COMPLETED).done


def _begin(lifeline: Connection) -> None:
    """Begin a worker: it leaves interrupts to its parent, and ends when that lets go of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    # Nothing ever comes but the end: the parent closed the other side, or was killed.
    lifeline.poll(None)
    os._exit(1)


def _work(function: Callable[[_Common, _Share], _Result], common: Path, share: _Share) -> str:
    """Leave the result in a file; give its path."""
    result = function(_read(common), share)
    with tempfile.NamedTemporaryFile(dir=common.parent, delete=False) as file:
        pickle.dump(result, file, pickle.HIGHEST_PROTOCOL)
    return file.name


def _take(path: Path) -> Any:
    with path.open("rb") as file:
        result = pickle.load(file)
    path.unlink()
    return result


@lru_cache(maxsize=1)
def _read(path: Path) -> Any:
    return pickle.loads(path.read_bytes())


# --- a cluster ----------------------------------------------------------------------------------


class _Cluster:
    """The workers of a Dask scheduler, which replaces those that die by others."""

    def __init__(self, client: Any, tell: Callable[[str], object]) -> None:
        self._client, self._tell = client, tell
        self._address: str = client.scheduler.address

    def work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        common: _Common,
        shares: Iterable[_Share],
    ) -> Iterator[tuple[_Share, _Result]]:
        """See ``Crew``."""
        with self._failing_in_sentences():
            self._wait_for_workers()
            yield from self._work_through(function, self._send(common), _Shares(shares))

    def _work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        there: Any,
        on_their_way: _Shares[_Share, _Result],
    ) -> Iterator[tuple[_Share, _Result]]:
        from distributed import as_completed

        done: Any = as_completed(loop=self._client.loop)  # type: ignore[no-untyped-call]

        def submit(share: _Share) -> _Future[_Result]:
            future: _Future[_Result] = self._client.submit(function, there, share, pure=False)
            done.add(future)
            return future

        try:
            yield from on_their_way.work_through(submit, lambda _: [next(done)], self._at_once)
        finally:
            if self._client.status == "running":
                self._client.cancel(on_their_way.under_way)

    @contextmanager
    def _failing_in_sentences(self) -> Iterator[None]:
        from distributed import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise CrewError(f"workers of the cluster keep dying over their work: {error}") from None
        except Exception as error:
            if self._is_lost(error):
                raise CrewError(
                    f"the Dask scheduler at {self._address} is gone, and with it what its workers "
                    "were at; start it again by `dask scheduler`"
                ) from None
            raise

    def _is_lost(self, error: Exception) -> bool:
        """Tell whether it is the cluster that failed, and not the work."""
        from distributed.client import ClosedClientError
        from distributed.comm.core import CommClosedError

        gone = (CancelledError, CommClosedError, ClosedClientError)
        return isinstance(error, gone) or self._client.status != "running"

    def _send(self, common: object) -> Any:
        """Have something at the cluster, as the result of a task.

        Were it scattered, it would be lost with the only worker that holds it; a task is done again
        elsewhere.
        """
        from dask.config import set as configured

        packed = pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
        # It is sent once a call, which is what the warning about its size asks for.
        with configured({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self._client.submit(pickle.loads, packed, pure=False)

    def _at_once(self) -> int:
        """Say how many shares to have under way, as workers come and go."""
        threads: int = sum(self._client.nthreads().values())
        return max(2, 2 * threads)

    def _wait_for_workers(self) -> None:
        if not self._client.nthreads():
            self._tell(f"waiting for workers: dask worker {self._address}")
            self._client.wait_for_workers(1)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError:
        raise CrewError(_INSTALL) from None
    # What workers do at their end is the cluster's to log.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address)  # a client that fails over its address can't be closed
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
