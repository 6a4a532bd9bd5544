"""Workers for long work: processes here, a Dask cluster, or this process alone.

A share may be done anywhere, in any order, and twice if a worker dies over it; its result is
returned once. Data common to all shares (words, tables) goes to each worker once.

Users start the workers of a cluster, with tilewire installed beside them: ``dask scheduler``, and
on each machine ``dask worker tcp://scheduler:8786``.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from harness.writing import write_file

_MOST_DEATHS = 3
"""Deaths in a row, without a finished share in between, that end the work."""
_CONNECTING_S = 10
_INSTALL = "a cluster needs Dask; in tilewire's checkout run: pip install -e '.[cluster]'"

_Common = TypeVar("_Common")
_Share = TypeVar("_Share")
_Result = TypeVar("_Result")


class WorkersError(RuntimeError):
    """There are no workers, or they keep dying; the message gives a remedy."""


class Workers:
    """The calling process as the only worker; subclasses have others."""

    def work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        common: _Common,
        shares: Iterable[_Share],
    ) -> Iterator[tuple[_Share, _Result]]:
        """Call a function for each share; yield each share with its result, as they finish.

        ``function`` is at the top of a module; arguments and results can be pickled. Shares are
        drawn as workers become free.

        Raises:
            WorkersError: workers keep dying.
            Exception: any error of the function.
        """
        for share in shares:
            yield share, function(common, share)


@contextmanager
def open_workers(
    workers: int = 1, cluster: str | None = None, tell: Callable[[str], object] = print
) -> Iterator[Workers]:
    """Open workers for the time of a block.

    Args:
        workers: number of processes on this machine, if no cluster is given; 1: this process.
        cluster: the address of a Dask scheduler, ``tcp://host:port``.
        tell: called with a sentence when waiting.

    Raises:
        WorkersError: Dask is not installed, or no scheduler answers at the address.
        ValueError: fewer than one worker.
    """
    if cluster is not None:
        with open_cluster(cluster, tell) as workers_there:
            yield workers_there
        return
    if workers < 1:
        raise ValueError(f"{workers} workers: at least 1 is needed")
    if workers == 1:
        yield Workers()
        return
    with tempfile.TemporaryDirectory(prefix="tilewire-workers-") as folder:
        processes = _Processes(workers, Path(folder))
        try:
            yield processes
        finally:
            processes.close()


# --- processes on this machine ------------------------------------------------------------------


class _Processes(Workers):
    """A ``ProcessPoolExecutor``, replaced when one of its processes dies.

    Common data and results pass through files in ``folder``: a large result would block the pool's
    pipe forever if its worker died halfway.
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
        packed, coming, deaths = pickle.dumps(common, pickle.HIGHEST_PROTOCOL), iter(shares), 0
        path = self._folder / hashlib.sha256(packed).hexdigest()
        write_file(path, packed)
        waiting: deque[_Share] = deque()
        under_way: dict[Future[str], _Share] = {}
        try:
            while True:
                room = 2 * self._workers - len(under_way) - len(waiting)
                waiting.extend(islice(coming, max(0, room)))
                try:
                    while waiting:
                        under_way[self._pool.submit(_work, function, path, waiting[0])] = waiting[0]
                        waiting.popleft()  # only after submission, which may fail
                    if not under_way:
                        return
                    for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        deaths = 0
                        yield under_way.pop(future), _load(Path(result))
                except BrokenProcessPool:
                    deaths += 1
                    if deaths == _MOST_DEATHS:
                        raise WorkersError(
                            f"{deaths} worker processes died in a row; if memory ran out, use "
                            "fewer --workers"
                        ) from None
                    self._renew()
                    waiting.extend(under_way.values())
                    under_way.clear()
        finally:
            if under_way:  # the caller stopped early, or a share failed
                self._renew()
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """End the processes at once, even in mid-work."""
        # Cancelling futures makes the pool's own thread stumble once its processes are gone.
        self._lifeline.close()
        self._pool.shutdown()

    def _open(self) -> None:
        context = multiprocessing.get_context("spawn")  # forking breaks threads and numba
        end, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self._workers, mp_context=context, initializer=_begin, initargs=(end,)
        )

    def _renew(self) -> None:
        self.close()
        self._open()


def _begin(lifeline: Connection) -> None:
    """Ignore interrupts, which the parent handles; end when the parent closes its pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_it() -> None:
        lifeline.poll(None)
        os._exit(1)

    threading.Thread(target=end_with_it, daemon=True).start()


def _work(function: Callable[[_Common, _Share], _Result], common: Path, share: _Share) -> str:
    try:
        result = function(_read(common), share)
    except Exception as error:
        try:  # what the parent can't unpickle would break its pool
            pickle.loads(pickle.dumps(error))
        except Exception:
            raised = RuntimeError(f"{type(error).__name__}: {error}")
            raise raised.with_traceback(error.__traceback__) from None
        raise
    with tempfile.NamedTemporaryFile(dir=common.parent, delete=False) as file:
        pickle.dump(result, file, pickle.HIGHEST_PROTOCOL)
    return file.name


def _load(path: Path) -> Any:
    with path.open("rb") as file:
        result = pickle.load(file)
    path.unlink()
    return result


@lru_cache(maxsize=1)
def _read(path: Path) -> Any:
    return pickle.loads(path.read_bytes())


# --- a cluster ----------------------------------------------------------------------------------


class Cluster(Workers):
    """The workers of a Dask scheduler, which reassigns the work of dead ones."""

    def __init__(self, client: Any, tell: Callable[[str], object]) -> None:
        self._client, self._tell = client, tell
        self._address: str = client.scheduler.address

    def work_through(
        self,
        function: Callable[[_Common, _Share], _Result],
        common: _Common,
        shares: Iterable[_Share],
    ) -> Iterator[tuple[_Share, _Result]]:
        """Work through shares as ``Workers`` does."""
        from dask.config import set as configured
        from distributed import as_completed

        with self._failing_in_sentences():
            if not self._client.nthreads():
                self._tell(f"waiting for workers: dask worker {self._address}")
                self._client.wait_for_workers(1)
            packed, coming = pickle.dumps(common, pickle.HIGHEST_PROTOCOL), iter(shares)
            # It is sent once per call, which is what the warning about its size asks for; as a
            # task's result, since scattered data would end with its worker.
            with configured({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
                there = self._client.submit(pickle.loads, packed, pure=False)
            done: Any = as_completed(loop=self._client.loop)  # type: ignore[no-untyped-call]
            under_way: dict[Any, _Share] = {}
            try:
                while True:
                    for share in islice(coming, max(0, self.at_once - len(under_way))):
                        future = self._client.submit(function, there, share, pure=False)
                        under_way[future] = share
                        done.add(future)
                    if not under_way:
                        return
                    future = next(done)
                    result = future.result()
                    yield under_way.pop(future), result
            finally:
                if self._client.status == "running":
                    self._client.cancel(list(under_way))

    async def call(self, function: Callable[..., _Result], *arguments: object) -> _Result:
        """Call a function on a worker from an event loop; wait if there is no worker.

        It is called again on another worker if its own dies. Raises as ``work_through``.
        """
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        with self._failing_in_sentences():
            if not await asyncio.to_thread(self._client.nthreads):
                self._tell(f"waiting for workers: dask worker {self._address}")
            future = self._client.submit(function, *arguments, pure=False)
            future.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
            try:
                await done.wait()
                result: _Result = await asyncio.to_thread(future.result)
                return result
            finally:
                if not future.done():
                    future.cancel()

    @property
    def at_once(self) -> int:
        """How many calls keep the current workers busy."""
        with self._failing_in_sentences():
            threads: int = sum(self._client.nthreads().values())
        return max(2, 2 * threads)

    @contextmanager
    def _failing_in_sentences(self) -> Iterator[None]:
        from distributed import KilledWorker
        from distributed.client import ClosedClientError
        from distributed.comm.core import CommClosedError

        try:
            yield
        except KilledWorker as error:
            raise WorkersError(
                f"workers of the cluster keep dying over their work: {error}"
            ) from None
        except Exception as error:
            gone = isinstance(error, CancelledError | CommClosedError | ClosedClientError)
            if gone or self._client.status != "running":
                raise WorkersError(
                    f"the Dask scheduler at {self._address} is gone, and the work in progress is "
                    "lost; restart it with `dask scheduler`"
                ) from None
            raise


@contextmanager
def open_cluster(address: str, tell: Callable[[str], object] = print) -> Iterator[Cluster]:
    """Open a Dask cluster for the time of a block; raise WorkersError as ``open_workers``."""
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError:
        raise WorkersError(_INSTALL) from None
    # The cluster's own log has its workers' messages.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address)  # a client that fails over its address can't be closed
        client: Any = Client(  # type: ignore[no-untyped-call]
            address, timeout=_CONNECTING_S, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise WorkersError(
            f"no Dask scheduler answers at {address} ({error}); start one by `dask scheduler`, and "
            "workers by `dask worker ADDRESS`"
        ) from None
    with client:
        yield Cluster(client, tell)
