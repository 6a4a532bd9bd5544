"""Errors in an author's code as text: where, what, and the author's own frames."""

from __future__ import annotations

import errno
import os
import sys
import sysconfig
import traceback
from pathlib import Path

from .private_root import TEMPORARY
from .runtime import PACKAGES, ROOT

_OURS = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)
_INSTALLED, _STANDARD = (
    tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in names)
    for names in (("purelib", "platlib"), ("stdlib", "platstdlib"))
)
_FRAMES = 3


def in_words(error: BaseException) -> str:
    """Return file, line and error, then on further lines the last of the author's frames."""
    what = f"{type(error).__name__}: {error}{_contained(error)}"
    stack = _of_the_author(traceback.extract_tb(error.__traceback__))
    if isinstance(error, SyntaxError) and error.filename:
        lines = [f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error.msg}"]
        if error.text:
            lines.append(f"    {error.text.strip()}")
        stack = []  # these frames only lead to the import
    elif stack:
        lines = [f"{stack[-1].filename}, line {stack[-1].lineno}, in {stack[-1].name}: {what}"]
    else:
        lines = [what]
    for frame in stack[-_FRAMES:]:
        lines.append(f"  {frame.filename}, line {frame.lineno}, in {frame.name}")
        lines.append(f"    {frame.line}")
    return "\n".join(lines)


def print_traceback(error: BaseException) -> None:
    """Print a traceback from the author's first frame on, or all of it if none is the author's."""
    trace = error.__traceback__
    while trace is not None and not _of_the_author(traceback.extract_tb(trace, 1)):
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace or error.__traceback__)


def stands_at(thread: int | None) -> str:
    """Return where in its author's code a thread is; empty if it is elsewhere."""
    frame = sys._current_frames().get(thread or 0)
    stack = _of_the_author(traceback.extract_stack(frame)) if frame is not None else []
    return f"{stack[-1].filename}, line {stack[-1].lineno}, in {stack[-1].name}" if stack else ""


def _contained(error: BaseException) -> str:
    """Explain what files a contained bot sees, if that may be why it failed; else empty."""
    out_of_reach = isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.EROFS)
    if not out_of_reach or os.environ.get("TMPDIR") != TEMPORARY:
        return ""
    return " (a bot sees its own folder, and writes to temporary files only)"


def _of_the_author(stack: traceback.StackSummary) -> list[traceback.FrameSummary]:
    """Leave out our frames and the standard library's; keep installed packages' if none is left.

    A bot may be in an installed package, but an event loop there is not a bot's code.
    """
    files = [frame for frame in stack if Path(frame.filename).is_absolute()]
    installed = [frame for frame in files if frame.filename.startswith(_INSTALLED)]
    own = [
        frame for frame in files if not frame.filename.startswith((*_OURS, *_INSTALLED, *_STANDARD))
    ]
    return own or [frame for frame in installed if not frame.filename.startswith(_OURS)]
