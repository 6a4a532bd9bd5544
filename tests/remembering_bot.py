"""A player that tries to remember from game to game, wherever a program can leave something.

In its first turn it looks for notes of earlier games, leaves a note in each place, and looks again.
It prints a line of JSON: ``found`` maps places to earlier notes, and ``held`` lists the places that
have its note now.
"""

from __future__ import annotations

import builtins
import ctypes
import json
import os
import platform
import select
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from bot.player import Budget, Choice, Player, View
from engine.rules.moves import PASS
from lexicons.cache import user_cache

NOTE = "AEINRST"
NAME = "tilewire-remembers"
LOOK = b"look"
PORT = 47_811
LIFE_S = 60
SYSV_KEY = 0x74696C65
LIBC: Any = ctypes.CDLL(None, use_errno=True)
CALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}
"""The numbers of ``add_key`` and ``keyctl``."""

Address: TypeAlias = tuple[socket.AddressFamily, Any]
Place: TypeAlias = tuple[Callable[[], str], Callable[[], object]]
"""What looks for a note, and what leaves one; both may fail."""


def addresses(port: int) -> dict[str, Address]:
    """Return where somebody may listen, by name."""
    return {
        "IPv4": (socket.AF_INET, ("127.0.0.1", port)),
        "IPv6": (socket.AF_INET6, ("::1", port)),
        "abstract": (socket.AF_UNIX, f"\0{NAME}-{port}"),
    }


def listeners(port: int) -> list[socket.socket]:
    """Listen at all of these addresses."""
    opened = []
    for family, address in addresses(port).values():
        opened.append(socket.socket(family))
        opened[-1].bind(address)
        opened[-1].listen()
    return opened


def collect(listening: Sequence[socket.socket], stop: socket.socket | None = None) -> None:
    """Keep notes that come, and send them to who looks, until something comes to ``stop``."""
    notes = [b""]
    while True:
        ready = select.select([*listening, *([stop] if stop else [])], [], [])[0]
        if stop in ready:
            return
        for listener in ready:
            peer, _ = listener.accept()
            with peer:
                said = peer.recv(100)
                peer.sendall(notes[-1] if said == LOOK else b"kept")
                notes += [said] * (said != LOOK)


def ask(where: Address, said: bytes) -> str:
    """Say something to who listens at an address, and return the answer."""
    with socket.socket(where[0]) as peer:
        peer.settimeout(10)
        peer.connect(where[1])
        peer.sendall(said)
        return peer.recv(100).decode()


class Remembers(Player):
    """Looks for its notes and leaves new ones; ``port`` is that of a collector outside."""

    def __init__(self, port: str) -> None:
        self._places: dict[str, Place] = {
            **{f"collector, {name}": _asked(it) for name, it in addresses(int(port)).items()},
            **{f"daemon, {name}": _asked(it) for name, it in addresses(PORT).items()},
            **{f"{it}": _file(it / NAME) for it in self._folders()},
            **{f"keyring {it}": (partial(_key, it), partial(_add_key, it)) for it in (-3, -4, -5)},
            "environment": (
                lambda: os.environ[NAME],
                lambda: os.environ.__setitem__(NAME, NOTE),
            ),
            "module": (lambda: str(getattr(builtins, NAME)), lambda: setattr(builtins, NAME, NOTE)),
            "SysV memory": (_sysv_memory, lambda: _sysv_memory(NOTE)),
            "SysV queue": (_sysv_queue, lambda: _sysv_queue(NOTE)),
            "POSIX queue": (_posix_queue, lambda: _posix_queue(NOTE)),
            "times of a device": (_device, lambda: os.utime("/dev/null", (SYSV_KEY, SYSV_KEY))),
            "settings of the system": (_settings, lambda: None),
        }
        self._told = False

    @staticmethod
    def _folders() -> set[Path]:
        # POSIX shared memory is /dev/shm.
        named = ("/tmp", "/var/tmp", "/dev/shm", "/dev", "/run", "/", "/usr", tempfile.gettempdir())
        own = (Path.cwd(), Path.home(), Path(__file__).parent, user_cache(), Path(sys.prefix))
        return {*map(Path, named), *own, Path(ctypes.__file__).parent}

    def choose(self, view: View, budget: Budget) -> Choice:
        if not self._told:
            self._told = True
            print(json.dumps(self._remember()), flush=True)
        return Choice(PASS)

    def _remember(self) -> dict[str, Any]:
        found = self._look()
        _tried(self._start_a_daemon)
        for _, leave in self._places.values():
            _tried(leave)
        return {"found": found, "held": sorted(self._look())}

    def _look(self) -> dict[str, str]:
        told = {name: _tried(look) for name, (look, _) in self._places.items()}
        return {name: text for name, text in told.items() if text}

    def _start_a_daemon(self) -> None:
        """Fork a process that collects notes after the game, if it lives on."""
        listening = listeners(PORT)
        if os.fork() == 0:
            try:
                os.setsid()
                if os.fork() == 0:
                    LIBC.alarm(LIFE_S)
                    os.closerange(0, 3)
                    collect(listening)
            finally:
                os._exit(0)
        for listener in listening:
            listener.close()


def _tried(attempt: Callable[[], object]) -> str:
    try:
        return str(attempt() or "")
    except Exception:
        return ""


def _asked(where: Address) -> Place:
    return partial(ask, where, LOOK), partial(ask, where, NOTE.encode())


def _file(path: Path) -> Place:
    return path.read_text, partial(path.write_text, NOTE)


def _checked(result: int) -> int:
    if result == -1:
        raise OSError(ctypes.get_errno(), "a call failed")
    return result


def _keyctl(call: int, *arguments: Any) -> int:
    number = ctypes.c_long(CALLS[platform.machine()][call])
    return _checked(LIBC.syscall(number, *arguments))


def _key(ring: int) -> str:
    return f"key {_keyctl(1, 10, ring, b'user', NAME.encode(), 0)}"  # KEYCTL_SEARCH


def _add_key(ring: int) -> None:
    _keyctl(0, b"user", NAME.encode(), NOTE.encode(), ctypes.c_size_t(len(NOTE)), ring)


def _sysv_memory(note: str = "") -> str:
    LIBC.shmat.restype = ctypes.c_void_p
    segment = _checked(LIBC.shmget(SYSV_KEY, 64, 0o1600))  # IPC_CREAT
    address = LIBC.shmat(segment, None, 0)
    if note:
        ctypes.memmove(address, note.encode(), len(note))
    return ctypes.string_at(address).decode()


def _sysv_queue(note: str = "") -> str:
    queue = _checked(LIBC.msgget(SYSV_KEY, 0o1600))
    message = ctypes.create_string_buffer(b"\1" + bytes(7) + note.encode(), 72)
    if note:
        _checked(LIBC.msgsnd(queue, message, 64, 0))
        return note
    _checked(LIBC.msgrcv(queue, message, 64, 0, 0o4000))  # IPC_NOWAIT
    _checked(LIBC.msgsnd(queue, message, 64, 0))
    return message.raw[8:].rstrip(b"\0").decode()


def _posix_queue(note: str = "") -> str:
    queue = _checked(LIBC.mq_open(f"/{NAME}".encode(), 0o4102, 0o600, None))  # O_CREAT, O_NONBLOCK
    try:
        message = ctypes.create_string_buffer(note.encode(), 8_192)
        if not note:
            _checked(LIBC.mq_receive(queue, message, ctypes.c_size_t(8_192), None))
        _checked(LIBC.mq_send(queue, message, ctypes.c_size_t(64), 0))
        return message.value.decode()
    finally:
        os.close(queue)


def _device() -> str:
    return NOTE if Path("/dev/null").stat().st_mtime == SYSV_KEY else ""


def _settings() -> str:
    """List settings that could be changed; a host would suffer from a change."""
    settings = Path("/proc/sys/kernel").iterdir()
    return " ".join(str(it) for it in settings if it.is_file() and os.access(it, os.W_OK))[:200]
