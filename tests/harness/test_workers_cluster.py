"""Workers on a Dask cluster: a real scheduler and real workers, killed by real signals."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest
import worker_tasks
from dask_cluster import Cluster
from worker_tasks import Luggage, Task

from harness.workers import Cluster as DaskWorkers
from harness.workers import WorkersError, open_workers

SHARES = 24


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("dask"))
    yield cluster
    cluster.close()


def test_killed_workers_lose_nothing(cluster: Cluster, tmp_path: Path) -> None:
    started = [cluster.add_worker(), cluster.add_worker()]
    with open_workers(cluster=cluster.address) as workers:
        done = list(workers.work_through(worker_tasks.die_once, tmp_path, range(SHARES)))
        assert sorted(done) == [(share, share) for share in range(SHARES)]
        assert [worker.poll() for worker in started].count(None) == 1, "one of them was killed"


def test_a_worker_that_comes_later_goes_on(cluster: Cluster, tmp_path: Path) -> None:
    told: list[str] = []
    only = cluster.add_worker()

    def replace() -> None:
        only.wait()  # what all shares have in common dies with it
        cluster.add_worker()

    replacing = threading.Thread(target=replace)
    replacing.start()
    with open_workers(cluster=cluster.address, tell=told.append) as workers:
        done = list(workers.work_through(worker_tasks.die_once, tmp_path, range(SHARES)))
    replacing.join()
    assert sorted(done) == [(share, share) for share in range(SHARES)]
    assert told in ([], [f"waiting for workers: dask worker {cluster.address}"])


def test_rounds_on_one_worker_until_the_scheduler_is_gone(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.workers._CONNECTING_S", 3)
    cluster.add_worker()
    shares = [Task(number, (7, number)) for number in range(SHARES)]
    with open_workers(cluster=cluster.address) as workers:
        done = dict(workers.work_through(worker_tasks.work_with_luggage, Luggage(tmp_path), shares))
        assert {share: result for share, (result, _) in done.items()} == {
            share: 2 * share.number for share in shares
        }
        assert len(list(tmp_path.iterdir())) == 1, "what they have in common is unpacked once"
        with pytest.raises(LookupError, match=r"^second 5$"):
            list(workers.work_through(worker_tasks.refuse, "second", [5]))
        under_way = workers.work_through(worker_tasks.square, None, range(1000))
        next(under_way)
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        sentence = f"^the Dask scheduler at {cluster.address} is gone"
        with pytest.raises(WorkersError, match=sentence):
            list(under_way)
        with pytest.raises(WorkersError, match=sentence):
            list(workers.work_through(worker_tasks.square, None, [1]))


async def test_a_slow_scheduler_does_not_hold_up_the_event_loop() -> None:
    pytest.importorskip("distributed", reason="needs pip install -e '.[cluster]'")
    may_answer = threading.Event()
    future: Future[int] = Future()

    def nthreads() -> dict[str, int]:
        assert may_answer.wait(5), "the event loop waits for the scheduler"
        return {"worker": 1}

    def submit(*_arguments: object, pure: bool) -> Future[int]:
        future.set_result(9)
        return future

    scheduler = SimpleNamespace(address="tcp://there:8786")
    client = SimpleNamespace(
        scheduler=scheduler, status="running", nthreads=nthreads, submit=submit
    )
    call = asyncio.create_task(DaskWorkers(client, print).call(worker_tasks.square, None, 3))
    asyncio.get_running_loop().call_later(0.1, may_answer.set)
    assert await call == 9


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs pip install -e '.[cluster]'")
    monkeypatch.setattr("harness.workers._CONNECTING_S", 1)
    for address in ("tcp://127.0.0.1:9", "nonsense"):
        sentence = f"^no Dask scheduler answers at {address} .*`dask scheduler`.*`dask worker"
        with pytest.raises(WorkersError, match=sentence), open_workers(cluster=address):
            pass


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(WorkersError, match=r"pip install -e '\.\[cluster\]'"),
        open_workers(cluster="tcp://127.0.0.1:8786"),
    ):
        pass
