"""Errors in an author's code as text: where, what, and the author's own frames."""

from __future__ import annotations

import errno
import os
import pkgutil
import shlex
import sys
import sysconfig
import traceback
from pathlib import Path

from lexicons.text import did_you_mean

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
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError):
        what += _recipe(error)
    stack = _of_the_author(traceback.extract_tb(error.__traceback__))
    out_of_reach = isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.EROFS)
    if out_of_reach and (beside := _beside(error, stack)):
        what += f'; write Path(__file__).parent / "{beside}"'
    elif out_of_reach and os.environ.get("TMPDIR") == TEMPORARY:
        what += " (a bot sees its own folder, and writes to temporary files only)"
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


def _beside(error: BaseException, stack: list[traceback.FrameSummary]) -> str:
    """Return the name of the file that was not found, if it is there from the author's folder."""
    name = getattr(error, "filename", None)
    if isinstance(name, str) and stack and not Path(name).is_absolute():
        return name if (Path(stack[-1].filename).parent / name).is_file() else ""
    return ""


def _recipe(error: ImportError) -> str:
    """Return what to write instead of an import, or to install for it."""
    name = error.name or ""
    package = name.partition(".")[0]
    stack = _of_the_author(traceback.extract_tb(error.__traceback__))
    own = [Path(frame.filename) for frame in stack]
    beside = [file.stem for last in own[-1:] for file in {*last.parent.glob("*.py")} - {*own}]
    if str(error).startswith("attempted relative import"):
        return "; write from helper import …, or the seat of a package's file as PACKAGE.FILE:NAME"
    if package == "tilewire" or name in ("bot", "bot.players"):
        return "; write from bot.player import Budget, Choice, Player, View"
    if package in PACKAGES:
        if package in beside:
            return f"; {package} is tilewire's own: call a file of yours otherwise"
        return _what_is_there(error, name)
    if isinstance(error, ModuleNotFoundError) and name == package:
        close = did_you_mean(name, beside)
        python = shlex.quote(sys.executable)
        return f"{close or ';'} a package? {python} -m pip install {name} installs it"
    return ""


def _what_is_there(error: ImportError, name: str) -> str:
    """Return which name of one of our modules was meant, or all that it has."""
    if isinstance(error, ModuleNotFoundError):
        name, _, wanted = name.rpartition(".")
    else:
        wanted = str(error).partition("cannot import name '")[2].partition("'")[0]
    module = sys.modules.get(name)
    names = [each.name for each in pkgutil.iter_modules(getattr(module, "__path__", ()))]
    for each, value in vars(module).items() if module else ():
        if each in getattr(module, "__all__", ()) or getattr(value, "__module__", "") == name:
            names.append(each)
    public = sorted({each for each in names if each[0] != "_"})
    return did_you_mean(wanted, public) or f"; {name} has {', '.join(public) or 'nothing'}"


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


def _of_the_author(stack: traceback.StackSummary) -> list[traceback.FrameSummary]:
    """Leave out our frames and the standard library's; keep installed packages' if none is left.

    A bot may be in an installed package, but an event loop there is not a bot's code.
    """
    files = [frame for frame in stack if Path(frame.filename).is_absolute()]
    installed = [frame for frame in files if frame.filename.startswith(_INSTALLED)]
    others = (*_OURS, *_INSTALLED, *_STANDARD)
    own = [frame for frame in files if not frame.filename.startswith(others)]
    return own or [frame for frame in installed if not frame.filename.startswith(_OURS)]
