"""The calls to Linux that Python 3.11 lacks: namespaces, mounts, privileges, and ``prctl``.

Those of namespaces and mounts raise OSError, whose message names the call. The guard imports this
file without site-packages.
"""

from __future__ import annotations

import _socket  # ``socket`` takes longer to import
import ctypes
import errno
import fcntl
import os
import signal
import struct
import sys
from typing import Any, TypeAlias

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
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_CAPABILITY_VERSION_3 = 0x20080522

_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1

_KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219}
"""The number of the call ``keyctl``, by machine; the C library has no function for it."""
_KEYCTL_JOIN_SESSION_KEYRING = 1

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The machines whose calls are filtered: column of the numbers below, and ``AUDIT_ARCH_…``."""

DENIED = {
    # keys of the host, which only the user's number guards; memory of other processes
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"kcmp": (312, 272), "pidfd_getfd": (438, 438)},
    # parts of the kernel that faults are often found in
    **{"bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282)},
    **{"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)},
    # namespaces and mounts
    **{"unshare": (272, 97), "setns": (308, 268), "pivot_root": (155, 41)},
    **{"mount": (165, 40), "umount2": (166, 39), "mount_setattr": (442, 442)},
    **{"open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430)},
    **{"fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433)},
    "open_by_handle_at": (304, 265),
    # the machine
    **{"init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106)},
    **{"kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142)},
    **{"swapon": (167, 224), "swapoff": (168, 225)},
    **{"settimeofday": (164, 170), "clock_settime": (227, 112)},
}
"""The calls that no bot needs, with their numbers on x86_64 and aarch64."""

CLONE, _CLONE3, _SOCKET = (56, 220), 435, (41, 198)
_CLONE_ANYTHING_NEW = 0x7E020000
"""``CLONE_NEWNS`` and the flags of all other namespaces that ``clone`` can make."""
_X32 = 0x40000000
"""Numbers on x86_64 from which on calls are those of its variant with short addresses."""
_FAMILIES = (1, 2, 10, 16)
"""The families of sockets that there are for bots: UNIX, IPv4, IPv6, netlink."""

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16  # where ``struct seccomp_data`` has them
_KILL, _FAIL, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_SECCOMP_MODE_FILTER = 2

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


# --- system calls ---------------------------------------------------------------------------------


def can_filter() -> bool:
    """Return whether this machine and its kernel can filter system calls."""
    if sys.maxsize < 1 << 32 or os.uname().machine not in MACHINES:
        return False
    zero = ctypes.c_ulong(0)
    # A kernel that can do it looks for the filter, of which there is none.
    _libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), None, zero, zero)
    return ctypes.get_errno() == errno.EFAULT


def filter_calls() -> None:
    """Deny this process and its descendants, for good, the calls that no bot needs.

    They fail with EPERM, as do ``clone`` for a namespace and ``socket`` for a rare family. A filter
    can't see the flags of ``clone3``: it fails with ENOSYS, and the C library then uses ``clone``.
    A call in the way of another machine, such as one with 32 bits, ends the process.

    Raises:
        OSError: the system does not allow it.
    """
    lines = [struct.pack("=HBBI", *line) for line in _filter(*MACHINES[os.uname().machine])]
    held = ctypes.create_string_buffer(b"".join(lines))
    program = struct.pack("HP", len(lines), ctypes.addressof(held))  # struct sock_fprog
    gain_nothing_by_exec()
    mode, zero = ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.c_ulong(0)
    result = _libc.prctl(_PR_SET_SECCOMP, mode, program, zero, zero)
    _checked(result, "seccomp")


_Line: TypeAlias = tuple[int, int, int, int]
"""Of a filter: what to do, the lines to skip if a condition holds, those if not, and a value."""


def _filter(column: int, machine: int) -> list[_Line]:
    """Return the filter of a machine, in the language of the Berkeley packet filter."""

    def when(condition: int, value: int, *lines: _Line) -> list[_Line]:
        return [(condition, 0, len(lines), value), *lines]

    def end(action: int) -> _Line:
        return (_RETURN, 0, 0, action)

    def load(offset: int) -> _Line:
        return (_LOAD, 0, 0, offset)

    kill, allow = end(_KILL), end(_ALLOW)
    denied, unknown = end(_FAIL | errno.EPERM), end(_FAIL | errno.ENOSYS)
    lines = [load(_MACHINE), (_IF_EQUAL, 1, 0, machine), kill, load(_NUMBER)]
    if column == 0:
        lines += when(_IF_AT_LEAST, _X32, kill)
    for numbers in DENIED.values():
        lines += when(_IF_EQUAL, numbers[column], denied)
    lines += when(_IF_EQUAL, _CLONE3, unknown)
    new = when(_IF_ANY_BIT, _CLONE_ANYTHING_NEW, denied)
    lines += when(_IF_EQUAL, CLONE[column], load(_FIRST_ARGUMENT), *new, allow)
    usual = [line for family in _FAMILIES for line in when(_IF_EQUAL, family, allow)]
    lines += when(_IF_EQUAL, _SOCKET[column], load(_FIRST_ARGUMENT), *usual, denied)
    return [*lines, allow]


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


def make_read_only(target: str) -> None:
    """Make a mount and all mounts in it read-only."""
    wanted = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY)  # struct mount_attr; the rest is 0
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
