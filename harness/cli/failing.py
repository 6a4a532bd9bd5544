"""How a command ends other than by success: sentences, exit statuses, signals, lost output.

Exit statuses are the same in all commands: 0 when it is done, 1 when it failed while running, 2 for
wrong input, 130 after Ctrl-C (SIGINT), 143 after SIGTERM, and 141 when the reader of its output has
gone, as other Unix tools have it.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import ClassVar

import msgspec

UNREADABLE = (ValueError, OSError)
"""What is raised for a file that is missing, or whose content is wrong."""

OUTPUT_GONE = 141
"""The status when a pipe's reader has gone: 128 and the number of SIGPIPE."""

_SHOWN = 80
"""The most characters of a file's name that an error shows."""

_GRACE_S = 1.2
"""How long a command may take to end after a signal, before its process is ended."""


class CommandFailed(Exception):
    """A sentence for the user, and the exit status: 2 for bad input, 1 for what went wrong.

    The sentence is empty if what the command printed says it.
    """

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


class Terminated(KeyboardInterrupt):
    """SIGTERM came; whoever handles Ctrl-C handles it the same way."""


class OutputLost(Exception):
    """Standard output takes no more: its reader has gone, or a disk is full.

    It is no ``OSError``, which commands take for a fault of their files and connections.
    """


@contextmanager
def sentences(
    where: str = "", kinds: tuple[type[Exception], ...] = (ValueError,), status: int = 2
) -> Iterator[None]:
    """Turn errors of these kinds into CommandFailed; ``where`` begins its sentence."""
    try:
        yield
    except kinds as error:
        raise CommandFailed(f"{where}{reason(error, where)}", status) from None


def reason(error: Exception, where: str = "") -> str:
    """Return what an error says, without errno, and without its file if ``where`` isn't empty."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for that; ask for less"
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    file = str(error.filename or "")
    shown = file if len(file) <= _SHOWN else f"{file[:_SHOWN]}…"
    return f"{shown}: {error.strerror}" if shown and not where else error.strerror


def stop_status(stop: KeyboardInterrupt) -> int:
    """Return the exit status of a command that a signal stopped."""
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)


# --- standard output and standard error ---------------------------------------------------------

_PLAIN = {
    **dict.fromkeys("–—−─━", "-"),
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”", '"'),
    "…": "...",
    "×": "x",
    "·": ".",
    "±": "+-",
    "≤": "<=",
    "≥": ">=",
    "½": "1/2",
    "²": "2",
    "▸": ">",
    "✓": "v",
    **dict.fromkeys("╭╮╰╯├┤┬┴┼", "+"),
    **dict(zip("▁▂▃▄▅▆▇█", ".,:;-=+#", strict=True)),
}
"""Replacements of characters that a terminal's encoding lacks; all others become ``?``."""


def in_plain_characters(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that can't be encoded; an error handler, as ``codecs`` takes them."""
    assert isinstance(error, UnicodeEncodeError)
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in lost), error.end


def print_json(value: object, *, flush: bool = False) -> None:
    """Print a value as JSON; characters that standard output's encoding lacks become escapes."""
    text = json.dumps(value, ensure_ascii=False, default=msgspec.to_builtins)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text)
    print(text, flush=flush)


class _Output(io.TextIOWrapper):
    """Standard output that raises OutputLost, so that its failures differ from other files'."""

    def write(self, text: str, /) -> int:
        with _losing():
            return super().write(text)

    def flush(self) -> None:
        with _losing():
            super().flush()


@contextmanager
def _losing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        raise OutputLost from None
    except OSError as error:
        _discard_output()
        raise OutputLost(f"the output can't be written: {error.strerror}") from None


def _discard_output() -> None:
    """Send the rest of the output nowhere, including what the interpreter flushes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    os.close(nowhere)


def use_own_streams() -> None:
    """Have both streams replace what their encoding lacks, and lost output raise OutputLost."""
    codecs.register_error("plain", in_plain_characters)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
            setattr(sys, f"__{name}__", nowhere)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="plain")
    if isinstance(out := sys.stdout, io.TextIOWrapper):
        sys.stdout = _Output(
            out.buffer,
            encoding=out.encoding,
            errors="plain",
            line_buffering=out.line_buffering,
            write_through=out.write_through,
        )


# --- signals --------------------------------------------------------------------------------------


class _Signals:
    """SIGINT and SIGTERM, seen by a thread of their own, whatever the main thread is doing."""

    ours: ClassVar[_Signals | None] = None
    """The instance of this process; None if another program runs a command, as a test does."""

    def __init__(self) -> None:
        self.told = 0
        """The number of the first signal that came; 0 for none."""
        self.ends_itself = threading.Event()
        """Set once the command is sure to end by itself; then the process is left to it."""
        self.loop = -1
        """The descriptor that an event loop gets the numbers of signals by; -1 without a loop."""
        self._reading, self._writing = os.pipe()
        self._hearing = threading.RLock()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)
        signal.signal(signal.SIGTERM, _terminate)
        self.use_wakeup_pipe()
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def use_wakeup_pipe(self) -> int:
        """Have Python write signals to this object's pipe; return the descriptor used before."""
        return signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)

    def hear(self) -> None:
        """Note the signals that have come by now."""
        with self._hearing, suppress(BlockingIOError):
            while number := os.read(self._reading, 1):
                if number[0] and (loop := self.loop) >= 0:
                    with suppress(OSError):
                        os.write(loop, number)
                if number[0] in (signal.SIGINT, signal.SIGTERM):
                    self.told = self.told or number[0]

    def hear_first(self) -> None:
        """Note them in the main thread, which may see what a signal broke before the other runs.

        The other, which would then wait for another signal, is woken to count the time.
        """
        self.hear()
        if self.told:
            with suppress(BlockingIOError):
                os.write(self._writing, bytes(1))

    def _watch(self) -> None:
        while True:
            waits = _GRACE_S if self.told and not self.ends_itself.is_set() else None
            if select.select([self._reading], [], [], waits)[0]:
                self.hear()
            elif not self.ends_itself.is_set():
                os._exit(128 + self.told)


def end_when_told() -> None:
    """Have SIGINT and SIGTERM end this process soon, whatever it is doing.

    They raise ``KeyboardInterrupt`` and ``Terminated`` in the main thread. Compiled code doesn't
    look at signals, the compiler may swallow them, and other threads go on. So the process is ended
    after ``_GRACE_S``, unless it calls ``take_time``.
    """
    sys.unraisablehook = _tell_unraisable
    _Signals.ours = _Signals()


def _tell_unraisable(ignored: sys.UnraisableHookArgs, /) -> None:
    """Print an unraisable exception, unless a signal came: then the process is ending anyway."""
    if not issubclass(ignored.exc_type, KeyboardInterrupt) and not told_to_end():
        sys.__unraisablehook__(ignored)


def take_time() -> None:
    """Let a command that was told to end take its time, since it only prints what it knows."""
    if (ours := _Signals.ours) is not None:
        ours.ends_itself.set()


def told_to_end() -> int:
    """Return the number of the signal that told this process to end; 0 for none."""
    if _Signals.ours is None:
        return 0
    _Signals.ours.hear_first()
    return _Signals.ours.told


@contextmanager
def beside_a_loop() -> Iterator[None]:
    """Keep watching signals while an event loop runs, and pass them on to the loop."""
    if (ours := _Signals.ours) is None:
        yield
        return
    ours.loop = before = ours.use_wakeup_pipe()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
        ours.loop = -1


def watch_again() -> None:
    """Keep watching signals after an event loop, which may have closed their way here."""
    if (ours := _Signals.ours) is not None:
        ours.use_wakeup_pipe()


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated
