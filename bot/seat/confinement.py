"""The confinement of other people's processes: limits, fewer calls, namespaces without the host.

The guard (``guard.py``) confines a process before it runs any foreign code. ``apart`` asks for
Linux namespaces: of processes, which has only its own and ends with the first; of mounts, with a
root that has only what is shown (``private_root.py``); of networks, which reaches only itself; and
of users, in which it has no privileges. ``filtered`` denies it system calls, such as those for the
user's keys, which no namespace guards. ``containment.py`` finds out whether the system allows that.
Limits hold in any case.

The guard imports this file without site-packages.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from . import syscalls
from .private_root import TEMPORARY, make_root

_LEAST_PIDS = 301
"""The lowest limit on the processes of a namespace that Linux accepts."""


class Confinement(NamedTuple):
    """Limits of a process, and what it sees; sent to the guard as JSON."""

    memory_mb: int = 0
    """Address space of each of its processes in MiB; 0: unlimited."""
    cores: Sequence[int] = ()
    """The cores to run on; empty: all."""
    processes: int = 0
    """Processes and threads at once, at least 301; 0: unlimited. Enforced only if ``apart``."""
    files: int = 0
    """Open files of each of its processes; 0: as many as we may have."""
    apart: bool = False
    """Whether it runs in its own namespaces."""
    network: bool = False
    """Whether it keeps the host's network all the same, with its abstract UNIX sockets."""
    reads: Sequence[str] | None = None
    """Read-only files and folders that it sees besides the system's; None: all that we see."""
    own: Sequence[str] = ()
    """Read-only folders that it sees, without entries that begin with a dot."""
    copies: Sequence[str] = ()
    """Folders that it sees and may change; the changes are its own and temporary."""
    hidden: Sequence[str] = ()
    """Files and folders that are empty for it, unless something that it reads is in them."""
    filtered: bool = False
    """Whether the system calls that no bot needs are denied to it."""

    def leave(self) -> None:
        """Leave the host's namespaces of users, processes, shared memory and networks.

        The next child is the first process of the new namespace of processes.

        Raises:
            OSError: the system does not allow it.
        """
        user, group = os.geteuid(), os.getegid()
        left = syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWPID | syscalls.CLONE_NEWIPC
        syscalls.unshare(left if self.network else left | syscalls.CLONE_NEWNET)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        if not self.network:
            syscalls.raise_loopback()

    def enter(self) -> None:
        """Give this process, the first of its namespace, a private root and no privileges.

        Raises:
            OSError: the system does not allow it.
        """
        was_in = Path.cwd()
        make_root(self.reads, self.own, self.copies, self.hidden)
        for folder in (str(was_in), *self.own, "/"):
            with contextlib.suppress(OSError):
                os.chdir(folder)
                break
        if self.reads is not None:
            os.environ["TMPDIR"] = TEMPORARY
        Path("/proc/sys/user/max_user_namespaces").write_text("0")  # in one it had privileges
        if self.processes:
            with contextlib.suppress(OSError):  # before Linux 6.14 all namespaces share one limit
                most = max(self.processes, _LEAST_PIDS)
                Path("/proc/sys/kernel/pid_max").write_text(str(most))
        syscalls.make_read_only("/proc")  # root could write settings of the host, even without
        syscalls.leave_session_keyring()  # privileges; those of the user are of its namespace
        syscalls.drop_privileges()

    def limit(self) -> None:
        """Set the limits of this process and its descendants; OSError if that fails.

        Call it before ``enter``, which makes ``/proc`` read-only.
        """
        syscalls.gain_nothing_by_exec()
        limits = {
            resource.RLIMIT_AS: self.memory_mb << 20,
            resource.RLIMIT_NOFILE: self.files,
            # In its namespace of users only its own processes count; root's are never limited.
            resource.RLIMIT_NPROC: self.processes if self.apart else 0,
        }
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for kind, most in limits.items():
            hard = resource.getrlimit(kind)[1]
            if most and (hard == resource.RLIM_INFINITY or most < hard):
                resource.setrlimit(kind, (most, most))
        if self.cores:
            os.sched_setaffinity(0, self.cores)
        if self.memory_mb:
            with contextlib.suppress(OSError):  # without /proc
                Path("/proc/self/oom_score_adj").write_text("1000")  # it goes before the host does
