"""A guard between the host and somebody else's process, so that no descendant is left.

    python -I -S -c START ROOT LIFELINE CONFINEMENT COMMAND …

The command inherits this process's standard streams. Its descendants are killed when it ends. It
and they are killed when the lifeline closes (a pipe, by number, whose other end the host holds),
and so when the host dies. CONFINEMENT is a ``confinement.Confinement`` as JSON.

With namespaces (``apart``) the command is a child of their first process, which runs our code. When
the guard ends, however it ends, the kernel kills that process and with it all others. Without
namespaces the guard looks for descendants that left the command's group or session: it adopts
orphans (``PR_SET_CHILD_SUBREAPER``).

The exit status is the command's, or 128 plus the number of the signal that ended it, as in a shell;
127 if the command can't run; or 126 if it can't be confined. The program runs without
site-packages. ``fork_server.py`` also puts a guard around each process that it forks.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

from . import syscalls
from .confinement import Confinement

CANT_CONFINE = 126
CANT_RUN = 127

CANT = "it can't be confined: "
"""Prefix of the reason that the process then writes to its standard error."""

START = (
    "import sys; sys.path.append(sys.argv[1]); from bot.seat import guard; "
    "sys.exit(guard.main(sys.argv[2:]))"
)


def main(arguments: list[str]) -> int:
    """Run the command until it or the lifeline ends; return the exit status."""
    lifeline, confinement, *command = arguments
    for copy in range(3, 1024):  # uvloop leaves some, so a stream that is closed would not end
        with contextlib.suppress(OSError):
            if any(os.path.sameopenfile(copy, stream) for stream in (0, 1, 2)):
                os.close(copy)

    def become_it() -> None:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]} can't be run: {error.strerror}\n".encode())

    return guard(become_it, int(lifeline), Confinement(**json.loads(confinement)))


def guard(run: Callable[[], object], lifeline: int, confinement: Confinement) -> int:
    """Run a function in a forked process until that or the lifeline ends; return its status."""
    syscalls.adopt_orphans()
    woken = wake_for_children()
    try:
        if confinement.apart:
            confinement.leave()
    except OSError as error:
        return _cant_confine(error)
    child = os.fork()
    if child == 0:
        try:
            os.close(lifeline)
            _confine(confinement)
            run()
        except BaseException as error:
            write_error(error)
        finally:
            os._exit(CANT_RUN)
    _let_go_of_streams()
    status = _wait(child, lifeline, woken)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # all that can be done without /proc
    while left := descendants(os.getpid()):
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
        reap()
    return status


def write_error(error: BaseException) -> None:
    """Write an error that ends this process to its standard error; nobody else sees it."""
    os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))


def _confine(confinement: Confinement) -> None:
    """Confine this process, which leads a group; end it if that fails."""
    syscalls.die_with_parent()
    os.setpgid(0, 0)
    try:
        confinement.limit()
        if confinement.apart:
            confinement.enter()
            _stay_behind()
        if confinement.filtered:
            syscalls.filter_calls()
    except (OSError, ValueError) as error:
        os._exit(_cant_confine(error))


def _cant_confine(error: Exception) -> int:
    why = error.strerror if isinstance(error, OSError) else error
    os.write(2, f"{CANT}{why}\n".encode())
    return CANT_CONFINE


def _stay_behind() -> None:
    """Fork: return in the child; the parent, the first of its namespace, ends with the child."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        return
    syscalls.hide_memory()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _let_go_of_streams()
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def wake_for_children() -> int:
    """Return the reading end of a pipe that is written to whenever a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, lambda *_: None)  # a handler, unlike SIG_IGN, is not inherited
    return reading


def _let_go_of_streams() -> None:
    """Close this process's copies of the command's streams, so that they end with the command."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _wait(child: int, lifeline: int, woken: int) -> int:
    while True:
        ready, _, _ = select.select([lifeline, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            for pid, status in reap():
                if pid == child:
                    return status if status >= 0 else 128 - status
        if lifeline in ready and not os.read(lifeline, 1):
            return 128 + signal.SIGKILL


def reap() -> list[tuple[int, int]]:
    """Reap ended children; list their ids and exit statuses, or minus the signal."""
    ended = []
    with contextlib.suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append((child[0], os.waitstatus_to_exitcode(child[1])))
    return ended


def descendants(parent: int) -> list[int]:
    """List a process's unreaped descendants; empty without /proc."""
    by_parent = children_of_all()
    descendants, todo = [], [parent]
    while todo:
        children = by_parent.get(todo.pop(), [])
        descendants += children
        todo += children
    return descendants


def children() -> list[int]:
    """List our unreaped children; empty without /proc."""
    return children_of_all().get(os.getpid(), [])


def end(pids: Iterable[int]) -> None:
    """Kill and reap children of ours, which makes their children ours."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def children_of_all() -> dict[int, list[int]]:
    """Map processes to their unreaped children; empty without /proc."""
    by_parent: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            after_name = entry.read_text(errors="replace").rpartition(")")[2].split()
            by_parent.setdefault(int(after_name[1]), []).append(int(entry.parent.name))
    return by_parent
