"""A private root with only what is shown; the guard imports this file without site-packages.

The root is a file system in memory, in its own namespace of mounts, into which folders of the host
are bound. Then the host's root is unmounted, so that no path leads there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from . import syscalls

TEMPORARY = "/var/tmp/own"
"""The folder for temporary files, empty at first."""

_ROOM = "size=512m,nr_inodes=65536,mode=755"
"""Mount options that limit what is written, since it is kept in memory."""

_BASE = Path("/tmp")
_OLD = Path("/.host")
"""Where the host's root is while the private root is being made."""

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/sys/devices/system"),
    *(f"/etc/{name}" for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")),
    *(f"/etc/{name}" for name in ("passwd", "group", "nsswitch.conf", "localtime", "timezone")),
    *(f"/etc/{name}" for name in ("hosts", "resolv.conf", "ssl/certs", "pki", "mime.types")),
)
"""What programs need of the system; none of it is secret."""

_DEVICES = ("null", "zero", "full", "random", "urandom", "nvidia*", "dri", "kfd")
_MADE_HERE = ("dev", "proc")

_PLAIN = syscalls.MS_NOSUID | syscalls.MS_NODEV


def make_root(
    reads: Sequence[str] | None, own: Sequence[str], copies: Sequence[str], hidden: Sequence[str]
) -> None:
    """Move this process to a private root; the parameters are those of ``Confinement``.

    The process must be the first of a namespace of processes.

    Raises:
        OSError: the system does not allow it, or a file or folder can't be shown.
    """
    syscalls.keep_mounts_to_ourselves()
    if reads is None:
        seen = [path for path in Path("/").iterdir() if path.name not in _MADE_HERE]
    else:  # each folder before its contents
        seen = sorted(path for path in map(Path, {*_SYSTEM, *reads, *own}) if path.exists())
    shown = {path: path.resolve() for path in seen}
    copied = {} if reads is None else {Path(path): Path(path).resolve() for path in copies}
    covered = {path for name in hidden for path in (Path(name), Path(name).resolve())}
    _begin_root()
    _show_all(shown, {Path(path) for path in own}, writable=reads is None)
    for path in covered:
        if path.exists() and not any(read.is_relative_to(path) for read in shown):
            _cover(path)
    for number, (path, source) in enumerate(copied.items()):
        _copy(source, path, Path(f"/.changes/{number}"))
    _make_devices()
    for names_of_keys in ("/proc/keys", "/proc/key-users"):
        if Path(names_of_keys).exists():
            _cover(Path(names_of_keys))
    syscalls.let_go_of(str(_OLD))
    _OLD.rmdir()


def _begin_root() -> None:
    """Make an empty folder the root, with the host's root in it."""
    syscalls.mount("tmpfs", str(_BASE), _PLAIN, _ROOM)
    old = _BASE / _OLD.relative_to("/")
    old.mkdir()
    syscalls.move_root(str(_BASE), str(old))
    for folder in ("/proc", "/tmp", "/var/tmp", "/dev/shm", TEMPORARY):
        Path(folder).mkdir(parents=True)
        Path(folder).chmod(0o1777)
    syscalls.mount("proc", "/proc", _PLAIN | syscalls.MS_NOEXEC)


def _show_all(shown: dict[Path, Path], own: set[Path], *, writable: bool) -> None:
    done: list[Path] = []
    for path, source in shown.items():
        above = [folder for folder in done if path.is_relative_to(folder)]
        if above:
            name = path.relative_to(above[-1]).parts[0]
            if above[-1] not in own or not name.startswith("."):
                continue  # it is shown with the folder above
        done.append(path)
        if path.parent == Path("/") and _on_host(path).is_symlink():
            path.symlink_to(_on_host(path).readlink())  # such as /bin, which leads to /usr/bin
            continue
        if path in own and _on_host(source).is_dir():
            # A copy: sockets and pipes in it lead nowhere.
            _copy(source, path, Path(f"/.own/{len(done)}"))
        else:
            _show(_on_host(source), path)
        if not writable:
            syscalls.make_read_only(str(path))
        if path in own:
            with os.scandir(path) as entries:
                dotted = [entry for entry in entries if entry.name.startswith(".")]
            for entry in dotted:
                if not entry.is_symlink():
                    _cover(Path(entry.path))


def _on_host(path: Path) -> Path:
    return _OLD / path.relative_to("/")


def _show(source: Path, path: Path) -> None:
    if source.is_dir():
        path.mkdir(parents=True, exist_ok=True)
    elif not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    syscalls.bind(str(source), str(path))


def _cover(path: Path) -> None:
    """Make a folder or a file look empty."""
    if path.is_dir():
        syscalls.mount("tmpfs", str(path), _PLAIN, "size=1m,mode=755")
    else:
        syscalls.bind(f"{_OLD}/dev/null", str(path))


def _copy(source: Path, path: Path, changes: Path) -> None:
    """Show a folder so that changes to it stay in this root."""
    for folder in (path, changes / "upper", changes / "work"):
        folder.mkdir(parents=True, exist_ok=True)
    lower = re.sub(r"([\\:,])", r"\\\1", str(_on_host(source)))
    options = f"lowerdir={lower},upperdir={changes}/upper,workdir={changes}/work,userxattr"
    try:
        syscalls.mount("overlay", str(path), _PLAIN, options)
    except OSError:  # before Linux 5.11, where the folder is read-only instead
        _show(_on_host(source), path)
        syscalls.make_read_only(str(path))


def _make_devices() -> None:
    for pattern in _DEVICES:
        for device in _on_host(Path("/dev")).glob(pattern):
            shown = Path("/dev") / device.name
            _show(device, shown)
            syscalls.make_read_only(str(shown))  # its mode and times; it can be written to
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        Path(f"/dev/{name}").symlink_to(f"/proc/self/fd/{number}")
    Path("/dev/fd").symlink_to("/proc/self/fd")
