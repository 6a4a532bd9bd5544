"""Workers of processes on this machine: real processes, killed by real signals."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import worker_tasks
from worker_tasks import Luggage, Task

from harness.workers import WorkersError, open_workers

PATIENCE_S = 60.0
TESTS = Path(worker_tasks.__file__).parent
EMPLOYING = "import worker_tasks, sys; worker_tasks.employ(sys.argv[1])"


class Roll:
    """A FIFO that workers enter themselves in and hold open; it ends when the last one does."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "roll"
        os.mkfifo(self.path)
        self._file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def wait_for(self, workers: int) -> None:
        entered = ""
        while entered.count("\n") < workers:
            entered += self._read()

    def wait_for_the_end(self) -> None:
        while self._read():
            pass

    def _read(self) -> str:
        ready, _, _ = select.select([self._file], [], [], PATIENCE_S)
        assert ready, "workers that should have come or gone have not"
        return os.read(self._file, 4096).decode()

    def close(self) -> None:
        os.close(self._file)


@pytest.fixture
def roll(tmp_path: Path) -> Iterator[Roll]:
    roll = Roll(tmp_path)
    yield roll
    roll.close()


def employer(roll: Roll, folder: Path) -> subprocess.Popen[str]:
    """Start a process that has two workers who never finish, and wait until they are at it."""
    process = subprocess.Popen(
        [sys.executable, "-c", EMPLOYING, str(roll.path)],
        env=os.environ | {"PYTHONPATH": f"{TESTS.parent}:{TESTS}", "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    roll.wait_for(2)
    return process


def test_each_share_comes_back_with_its_result_once() -> None:
    with open_workers(2) as workers:
        done = sorted(workers.work_through(worker_tasks.square, None, range(20)))
        assert done == [(share, share**2) for share in range(20)]
        assert list(workers.work_through(worker_tasks.square, None, [])) == []


def test_shares_are_drawn_as_workers_come_free() -> None:
    drawn = []

    def shares() -> Iterator[int]:
        for share in range(30):
            drawn.append(share)
            yield share

    with open_workers(2) as workers:
        for given, _ in enumerate(workers.work_through(worker_tasks.square, None, shares()), 1):
            assert len(drawn) < given + 4


def test_what_shares_have_in_common_is_unpacked_once_a_worker(tmp_path: Path) -> None:
    shares = [Task(number, (7, number)) for number in range(12)]
    with open_workers(2) as workers:
        done = dict(workers.work_through(worker_tasks.work_with_luggage, Luggage(tmp_path), shares))
    assert {share: result for share, (result, _) in done.items()} == {
        share: 2 * share.number for share in shares
    }
    processes = {process for _, process in done.values()}
    assert os.getpid() not in processes
    assert len(processes) <= len(list(tmp_path.iterdir())) <= 2


def test_another_round_has_another_ground() -> None:
    with open_workers(2) as workers:
        for ground in ("first", "second"):
            with pytest.raises(LookupError, match=f"^{ground} 5$"):
                list(workers.work_through(worker_tasks.refuse, ground, [5]))


def test_no_file_is_left_of_a_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with open_workers(2) as workers:
        for _ in workers.work_through(worker_tasks.square, "ground", range(5)):
            pass
        (folder,) = tmp_path.iterdir()
        assert list(folder.iterdir()) == []


def test_an_exception_that_cant_be_sent_is_told_in_words() -> None:
    with open_workers(2) as workers, pytest.raises(RuntimeError, match="IllegalMove: QZX is no wo"):
        list(workers.work_through(worker_tasks.play_illegally, None, [1]))


@pytest.mark.parametrize("deadly", [worker_tasks.die_once, worker_tasks.die_over_the_result_once])
def test_no_share_is_lost_with_a_worker_that_is_killed(
    deadly: Callable[[Path, int], object], tmp_path: Path
) -> None:
    with open_workers(2) as workers:
        done = list(workers.work_through(deadly, tmp_path, range(12)))
    assert sorted(done) == [(share, share) for share in range(12)]
    assert (tmp_path / "died").exists()


def test_a_share_that_kills_every_worker_is_given_up() -> None:
    done: list[tuple[int, int]] = []
    with (
        open_workers(2) as workers,
        pytest.raises(WorkersError, match=r"^3 worker processes died in a row; if memory"),
    ):
        done.extend(workers.work_through(worker_tasks.die_always, None, range(6)))
    assert len(done) == len(set(done))
    assert (worker_tasks.FATAL, worker_tasks.FATAL) not in done


def test_closing_does_not_wait_for_shares(roll: Roll) -> None:
    with open_workers(2) as workers:
        under_way = workers.work_through(worker_tasks.attend, roll.path, range(6))
        next(under_way)
        roll.wait_for(2)
    roll.wait_for_the_end()
    assert multiprocessing.active_children() == []


def test_a_round_that_is_left_is_not_worked_on(roll: Roll) -> None:
    with open_workers(2) as workers:
        under_way = workers.work_through(worker_tasks.attend, roll.path, range(6))
        next(under_way)
        roll.wait_for(2)
        del under_way
        done = sorted(workers.work_through(worker_tasks.square, None, range(3)))
        roll.wait_for_the_end()
    assert done == [(0, 0), (1, 1), (2, 4)]


def test_workers_end_when_their_parent_is_killed(roll: Roll, tmp_path: Path) -> None:
    with employer(roll, tmp_path) as process:
        process.kill()
        roll.wait_for_the_end()


def test_an_interrupt_is_the_parents_alone(roll: Roll, tmp_path: Path) -> None:
    with employer(roll, tmp_path) as process:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=PATIENCE_S)
        roll.wait_for_the_end()
    assert process.returncode == -signal.SIGINT
    assert said.count("Traceback") == 1, said
    assert list(tmp_path.iterdir()) == [roll.path], "files of the workers are left behind"


def test_there_is_at_least_one_worker() -> None:
    with pytest.raises(ValueError, match=r"^0 workers"), open_workers(0):
        pass


def test_a_worker_alone_is_this_process() -> None:
    shares = [Task(number, (7, number)) for number in range(3)]
    with open_workers(1) as workers:
        done = list(workers.work_through(worker_tasks.work_with_luggage, Luggage(Path()), shares))
    assert done == [(share, (2 * share.number, os.getpid())) for share in shares]
