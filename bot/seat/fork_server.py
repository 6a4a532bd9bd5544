"""The warm parent of a seat's processes: ``python -m bot.seat.fork_server``.

It has imported and compiled our code and loaded the words. It has one thread, and no author's code.
For each game it forks a guard (``guard.py``), and the guard forks a worker (``worker_main.py``),
which loads the bot. So a game begins in milliseconds, and nothing that a bot keeps in memory or in
its temporary folder outlives its game.

The host asks over a socket, with one packet per process: the worker's arguments, environment and
confinement as JSON, with the descriptors of ``FORKED``. The server sends one packet when it is
warm.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import guard, syscalls, worker_main
from .confinement import Confinement

FORKED = ("lifeline", "status", "stdin", "stdout", "stderr")
"""The descriptors that come with a request, in order. The guard writes its process id to
``status``, and later the worker's exit status, a line each."""

PREFIX = "tilewire-game-"
"""Prefix of the names of the workers' temporary folders."""

MAX_REQUEST = 1 << 16
WARM = b"warm"


def main(arguments: Sequence[str]) -> None:
    """Warm up, then fork until the host hangs up.

    ``arguments`` are the socket's descriptor, then those of a worker.
    """
    control = socket.socket(fileno=int(arguments[0]))
    _remove_left_folders()
    worker_main.warm_up(arguments[1:])
    if (threads := len(list(Path("/proc/self/task").iterdir()))) > 1:
        sys.exit(f"{threads} threads are running; only one can be forked")
    syscalls.adopt_orphans()
    woken = guard.wake_for_children()
    guards: dict[int, int] = {}
    """Their process ids, and ``status``."""
    control.send(WARM)
    while True:
        ready, _, _ = select.select([control.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            # What a guard left is killed if a signal killed the guard. The host takes a process for
            # gone when its ``status`` closes, so that is closed last.
            for buried, status in guard.reap():
                held = guards.pop(buried, None)
                while held is not None and status < 0:
                    if not (left := set(guard.children()) - set(guards)):
                        break
                    guard.end(left)
                if held is not None:
                    os.close(held)
        if control.fileno() not in ready:
            continue
        request, descriptors, _, _ = socket.recv_fds(control, MAX_REQUEST, len(FORKED))
        if not request:
            return
        forked = dict(zip(FORKED, descriptors, strict=True))
        pid = os.fork()
        if pid == 0:
            try:
                for descriptor in (control.detach(), *guards.values()):
                    os.close(descriptor)
                _guard(json.loads(request), forked)
            except BaseException as error:
                guard.write_error(error)
            finally:
                os._exit(guard.CANT_RUN)
        guards[pid] = forked.pop("status")
        for descriptor in forked.values():
            os.close(descriptor)


def _guard(request: Mapping[str, Any], forked: dict[str, int]) -> None:
    """Run a worker, and end with it."""
    os.setsid()
    status, lifeline = forked.pop("status"), forked.pop("lifeline")
    os.write(status, b"%d\n" % os.getpid())
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(forked[name], number)
        os.close(forked[name])
    confinement = Confinement(**request["confinement"])
    folder = None if confinement.apart else _held_folder()  # a private root ends with the process
    ended = guard.guard(lambda: _work(request, folder), lifeline, confinement)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.write(status, b"%d\n" % ended)
    os._exit(0)


def _held_folder() -> str:
    """Make a temporary folder, with a lock that lasts as long as this process."""
    while True:
        folder = tempfile.mkdtemp(prefix=PREFIX)
        with contextlib.suppress(FileNotFoundError):  # removed as a leftover before it was locked
            held = os.open(folder, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX)
            if Path(folder).exists():
                return folder
            os.close(held)


def _remove_left_folders() -> None:
    """Remove the temporary folders of killed guards, whose locks nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # held, another user's, or gone by now
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _work(request: Mapping[str, Any], folder: str | None) -> None:
    """Turn this process into a worker as if it had just started; never returns."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # the guard's descriptors
    signal.set_wakeup_fd(-1)
    for changed in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(changed, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(request["environment"])
    if folder is not None:
        os.environ["TMPDIR"] = folder
    tempfile.tempdir = None
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # random is seeded anew by itself
    worker_main.main(request["arguments"])


if __name__ == "__main__":
    main(sys.argv[1:])
