"""What holds a process of somebody else's: its limits, and a world in which the host is not.

The guard (``guard.py``) has it entered before anything of theirs runs. ``apart`` asks for Linux's
namespaces: of processes, in which there are only its own and whose end none outlives; of mounts,
with a root in which there is only what is shown (``private_root.py``); and of users, in which it
has no privileges. ``containment.py`` says whether the system allows that. Limits hold without it.

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
"""The least that Linux takes as the most processes of a namespace."""


class Confinement(NamedTuple):
    """What a process may have; it travels as JSON."""

    memory_mb: int = 0
    """Address space of each of its processes in MiB; 0: unlimited."""
    cores: Sequence[int] = ()
    """The cores to run on; empty: all."""
    processes: int = 0
    """Processes and threads at once, at least 301; 0: unlimited; it holds only ``apart``."""
    files: int = 0
    """Descriptors of each of its processes; 0: as many as we may have."""
    apart: bool = False
    """Whether it has namespaces of its own."""
    reads: Sequence[str] | None = None
    """What it sees besides the system's own files, and can't change; None: all that we see."""
    own: Sequence[str] = ()
    """Folders that it sees, but for entries that begin with a dot, and can't change."""
    copies: Sequence[str] = ()
    """Folders that it sees and changes for itself only."""
    hidden: Sequence[str] = ()
    """Files and folders that it finds empty, unless something that it reads is in them."""

    def leave(self) -> None:
        """Leave the host's users, processes and shared memory; the next child begins a world.

        Raises:
            OSError: the system does not allow it.
        """
        user, group = os.geteuid(), os.getegid()
        syscalls.unshare(syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWPID | syscalls.CLONE_NEWIPC)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")

    def enter(self) -> None:
        """Have a root of its own and no privileges, as the first process of its world.

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
            with contextlib.suppress(OSError):  # before Linux 6.14 there is one for all namespaces
                most = max(self.processes, _LEAST_PIDS)
                Path("/proc/sys/kernel/pid_max").write_text(str(most))
        syscalls.drop_privileges()

    def limit(self) -> None:
        """Hold this process, and all that it starts, to the limits; OSError if that fails."""
        syscalls.gain_nothing_by_exec()
        limits = {
            resource.RLIMIT_AS: self.memory_mb << 20,
            resource.RLIMIT_NOFILE: self.files,
            # Linux counts a user's processes in our namespace, but never refuses one to root.
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
