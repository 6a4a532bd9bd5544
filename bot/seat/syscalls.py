"""The calls to Linux that Python 3.11 lacks: namespaces, mounts, privileges, and ``prctl``.

Those of namespaces and mounts raise OSError, whose message names the call. The guard imports this
file without site-packages.
"""

from __future__ import annotations

import _socket  # ``socket`` takes longer to import
import ctypes
import fcntl
import os
import signal
import struct
import sys
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_MNT_DETACH = 2

_MOUNT_SETATTR = 442  # its number on all machines but Alpha
_MOUNT_ATTR_RDONLY = 1
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_CAPABILITY_VERSION_3 = 0x20080522

_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1

_KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219}
"""The number of the call ``keyctl``, by machine; the C library has no function for it."""
_KEYCTL_JOIN_SESSION_KEYRING = 1

_libc: Any = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, call: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


# --- processes ------------------------------------------------------------------------------------


def _prctl(option: int, value: int) -> bool:
    """Set an attribute of this process; return whether that worked, which it does on Linux only."""
    if sys.platform != "linux":
        return False
    zero = ctypes.c_ulong(0)
    return int(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero)) == 0


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent has ended."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> None:
    """Keep this process's memory, descriptors and environment from this user's other processes."""
    _prctl(_PR_SET_DUMPABLE, 0)


def gain_nothing_by_exec() -> None:
    """Ignore set-user-ID and set-group-ID bits of programs from now on, in descendants too."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


# --- namespaces -----------------------------------------------------------------------------------


def unshare(flags: int) -> None:
    """Move this process to new namespaces; with ``CLONE_NEWPID`` only its children."""
    _checked(_libc.unshare(flags), "unshare")


def raise_loopback() -> None:
    """Let a new network namespace reach itself at 127.0.0.1 and ::1."""
    request = struct.pack("16sH22x", b"lo", _IFF_UP)  # struct ifreq
    opened = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    try:
        fcntl.ioctl(opened.fileno(), _SIOCSIFFLAGS, request)
    finally:
        opened.close()


def leave_session_keyring() -> None:
    """Begin a new, empty session keyring.

    It does nothing on a system that has no keyrings or forbids their calls.
    """
    call = _KEYCTL.get(os.uname().machine)
    if call is not None:
        _libc.syscall(ctypes.c_long(call), _KEYCTL_JOIN_SESSION_KEYRING, None)


def drop_privileges() -> None:
    """Give up all capabilities, for good."""
    gain_nothing_by_exec()
    capability = 0
    while _prctl(_PR_CAPBSET_DROP, capability):
        capability += 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(header, none), "capset")


# --- mounts ---------------------------------------------------------------------------------------


def mount(kind: str, target: str, flags: int = 0, options: str = "") -> None:
    """Mount a new file system."""
    _mount(kind, target, kind, flags, options)


def bind(source: str, target: str) -> None:
    """Also show a file or folder, with all that is mounted in it, at another place."""
    _mount(source, target, None, _MS_BIND | _MS_REC)


def keep_mounts_to_ourselves() -> None:
    """Move to a new namespace of mounts, which the host does not see."""
    unshare(CLONE_NEWNS)
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str = ""
) -> None:
    arguments = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    result = _libc.mount(*arguments, ctypes.c_ulong(flags), os.fsencode(options))
    _checked(result, f"mount {source or ''} on {target}")


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


def make_read_only(target: str) -> None:
    """Make a mount and all mounts in it read-only."""
    wanted = _MountAttributes(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(target)),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )
    _checked(result, f"mount_setattr of {target}")


def move_root(new: str, old: str) -> None:
    """Make a folder the root, and move the old root to ``old``, a folder in it."""
    _checked(_libc.pivot_root(os.fsencode(new), os.fsencode(old)), "pivot_root")
    os.chdir("/")


def let_go_of(target: str) -> None:
    """Unmount a folder with all that is mounted in it."""
    _checked(_libc.umount2(os.fsencode(target), _MNT_DETACH), f"umount of {target}")
