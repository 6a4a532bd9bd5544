"""Workers on a Dask cluster: a real scheduler and real workers, killed by real signals."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import worker_tasks
from worker_tasks import Luggage, Task

from harness.workers import WorkersError, open_workers

TESTS = Path(worker_tasks.__file__).parent
SHARES = 24
ENVIRONMENT = {
    "PYTHONPATH": f"{TESTS.parent}:{TESTS}",
    # How long Dask goes on calling a worker that was just killed, before it turns to another.
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s",
}


class Cluster:
    """``dask scheduler`` and, as they are asked for, ``dask worker`` of one thread each."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("distributed", reason="needs pip install -e '.[cluster]'")
        self._folder = folder
        self._processes: list[subprocess.Popen[str]] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        said = self.scheduler.stderr
        assert said is not None
        self.address = next(line.split()[-1] for line in said if "Scheduler at:" in line)
        self._listening = threading.Thread(target=said.read)  # a full pipe would stop it
        self._listening.start()

    def add_worker(self) -> subprocess.Popen[str]:
        # Without a nanny, which would start another one in the place of one that is killed.
        alone = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self._folder))
        return self._start("worker", self.address, *alone)

    def _start(self, *command: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *command, "--no-dashboard"],
            env=os.environ | ENVIRONMENT,
            stderr=subprocess.PIPE if command[0] == "scheduler" else subprocess.DEVNULL,
            text=True,
        )
        self._processes.append(process)
        return process

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._listening.join()
        assert self.scheduler.stderr is not None
        self.scheduler.stderr.close()


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


def test_rounds_on_one_worker(cluster: Cluster, tmp_path: Path) -> None:
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


def test_a_scheduler_that_is_gone(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.workers._CONNECTING_S", 3)
    cluster.add_worker()
    with open_workers(cluster=cluster.address) as workers:
        under_way = workers.work_through(worker_tasks.square, None, range(1000))
        next(under_way)
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        sentence = f"^the Dask scheduler at {cluster.address} is gone"
        with pytest.raises(WorkersError, match=sentence):
            list(under_way)
        with pytest.raises(WorkersError, match=sentence):
            list(workers.work_through(worker_tasks.square, None, [1]))


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
