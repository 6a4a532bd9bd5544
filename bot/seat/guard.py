"""A guard between the host and a foreign process, so that no descendant stays behind.

    python -I -S guard.py LIFELINE MEMORY CORES COMMAND …

The command is a child of this process and inherits its standard streams. It is killed with its
descendants when it ends, or when the lifeline closes (a pipe, by number, whose other end the host
holds), also by the host's death. Descendants that left its group or session are found too: orphans
are handed to this process (``PR_SET_CHILD_SUBREAPER``). MEMORY limits the address space in MiB, 0:
no limit; CORES lists the cores to run on, as ``0,1``, or ``-``.

The exit status is the command's, or 128 plus the number of the signal that ended it, as in a shell,
or 127 if the command can't run. This file runs as a program and imports nothing of ours;
``fork_server.py`` has a guard, too, around each process that it forks.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CANT_RUN = 127


def main(arguments: list[str]) -> int:
    """Run the command until it or the lifeline ends."""
    lifeline, memory, cores, command = int(arguments[0]), *arguments[1:3], arguments[3:]
    return guard(lambda: _become(command, int(memory), cores), lifeline)


def guard(run: Callable[[], object], lifeline: int) -> int:
    """Fork a process that runs a function, until it or the lifeline ends; return its status."""
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else lambda *_: 0
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken = _wake_for_children()
    child = os.fork()
    if child == 0:
        os.close(lifeline)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        try:
            os.setpgid(0, 0)
            run()
        finally:
            os._exit(CANT_RUN)
    _let_go_of_streams()
    status = _wait(child, lifeline, woken)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # the best that can be done without /proc
    while _kill_children():
        _reap()
    return status


def _wake_for_children() -> int:
    """Return the reading end of a pipe that is written to whenever a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, lambda *_: None)  # a handler, unlike SIG_IGN, is not inherited
    return reading


def _become(command: list[str], memory: int, cores: str) -> None:
    """Turn this process into the command; return only if it can't run."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
        if cores != "-":
            os.sched_setaffinity(0, map(int, cores.split(",")))
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} can't be run: {error.strerror}\n".encode())


def _let_go_of_streams() -> None:
    """Close the command's streams here, so that they end with it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _wait(child: int, lifeline: int, woken: int) -> int:
    while True:
        ready, _, _ = select.select([lifeline, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            for pid, status in _reap():
                if pid == child:
                    return status if status >= 0 else 128 - status
        if lifeline in ready and not os.read(lifeline, 1):
            return 128 + signal.SIGKILL


def _reap() -> list[tuple[int, int]]:
    """Reap ended children: their exit status, or a negative signal."""
    ended = []
    with contextlib.suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append((child[0], os.waitstatus_to_exitcode(child[1])))
    return ended


def _kill_children() -> bool:
    """Kill all descendants; return whether there was any."""
    pids = _descendants(os.getpid())
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    if pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
    return bool(pids)


def _descendants(parent: int) -> list[int]:
    """List a process's unreaped descendants; empty without /proc."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            after_name = entry.read_text(errors="replace").rpartition(")")[2].split()
            parents.setdefault(int(after_name[1]), []).append(int(entry.parent.name))
    descendants, todo = [], [parent]
    while todo:
        children = parents.get(todo.pop(), [])
        descendants += children
        todo += children
    return descendants


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
