"""A Dask cluster of this machine: real processes, which tests kill."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
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
