"""The command line; a command's module is imported only when that command runs."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from errno import ENAMETOOLONG, ENOSPC
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from cyclopts import App, CycloptsError, Group, Parameter

__all__ = ["COMMANDS", "GROUPS", "command_line", "main", "run_command"]

GROUPS = {
    "Play": {
        "play": "Play against a bot yourself, in the browser or in the terminal.",
        "watch": "Follow a game on a server, in the terminal.",
    },
    "Matches": {
        "match": "Play a match between two seats and print the result.",
        "tournament": "Play a round robin, gauntlet, Swiss or knockout, and print the standings.",
        "report": "Write a report of a match or tournament: a page, Markdown or CSV.",
        "games": "List the games of a journal, or write them as GCG.",
        "show": "Print a game (GCG) or a position (CGP).",
    },
    "Your own bot": {
        "new": "Begin a bot of your own: a small package.",
        "check": "Ask a bot for moves in all phases of a game; find its errors.",
        "connect": "Join somebody's server as a player.",
        "warm": "Compile what bots need, so that their first game begins at once.",
        "files": "Play for somebody else's host, through two files in a folder.",
    },
    "Server": {
        "serve": "Serve arbiters, players and spectators over WebSockets.",
        "token": "Make a token for a player of a server.",
        "admin": "Administer a server: see who is there, kick, ban, pause, void, invite.",
        "direct": "Direct a tournament on a server, or ask how it stands.",
        "backup": "Copy a journal, even while a server writes to it, and check the copy.",
    },
    "Analysis": {
        "study": "Set up a position or open a game, and study it in the browser.",
        "analyze": "Find the best move of a position by simulation, or review a game (GCG).",
        "generate": "List the moves of a position (CGP), the best first.",
        "preendgame": "Compare moves with few tiles in the bag by how often they win.",
        "endgame": "Work out the best play with an empty bag, and prove it.",
        "infer": "Work out what a player kept from what it played.",
        "puzzles": "Make, list and check puzzles: endgames and pre-endgames.",
        "siu": "Run as an analysis engine, driven over standard input and output (SIU).",
        "bridge": "Let pages in a browser drive engines of this machine (SIU).",
    },
    "Words and tables": {
        "lexicon": "Build, describe or query a lexicon.",
        "leaves": "Print what leaves are worth: some of them, the best and the worst.",
        "train": "Learn from self-play what leaves, leads and positions are worth.",
    },
    "Laboratory": {
        "experiment": "Compare players: who is better, by how much, and what they believe.",
        "bench": "Measure speed, deadlines and load on this machine.",
    },
}
"""Commands by purpose, the most used first, each with its line in ``tilewire --help``."""

_PANELS = {title: Group(title, sort_key=key) for key, title in enumerate([*GROUPS, "Options"])}
COMMANDS = [name for group in GROUPS.values() for name in group]

_HELP = """A server for bots that play crossword board games: matches, clocks, analysis.

An error is a sentence on standard error. Exit status: 0 done, 1 failed while running, 2 wrong
input, 130 stopped by Ctrl-C, 143 by SIGTERM, 141 nobody reads the output any longer.
"""

_MODULES = {
    "admin": "asking",
    "backup": "records",
    "direct": "asking",
    "endgame": "analyze",
    "files": "connect",
    "games": "records",
    "generate": "analyze",
    "infer": "analyze",
    "preendgame": "analyze",
    "report": "records",
    "tournament": "match",
    "warm": "preparing",
}
"""Modules of the commands that share a module of another name."""

_NESTED = ("bench", "bridge", "experiment", "lexicon", "new", "puzzles", "train")
"""Commands with subcommands."""


_HABITS = {
    "option: --tc": "write --time 10s --increment 100ms for 10+0.1",
    "option: --rounds": "a match has --games; tilewire tournament has rounds",
    "Unused Tokens": "a match has two seats; tilewire tournament takes more",
}
"""What to write for what other programs take, by a part of what is then said of ``match``."""


def command_line(*asked: str) -> App:
    """Build the command line: import the ``asked`` commands, and list the others by their line."""
    app = App(
        name="tilewire",
        help=_HELP,
        version=_versions,
        version_format="plaintext",
        default_parameter=Parameter(show_default=_default),
        config=_check_values,
        suppress_keyboard_interrupt=False,
    )
    app.register_install_completion_command(
        help="Have the shell complete commands and options (bash, zsh, fish).",
        group=_PANELS["Options"],
    )
    for flag in ("--help", "--version"):
        app[flag].group = _PANELS["Options"]
    for purpose, commands in GROUPS.items():
        group = _PANELS[purpose]
        for place, (name, line) in enumerate(commands.items()):
            target = f"harness.cli.{_MODULES.get(name, name)}:{'app' if name in _NESTED else name}"
            help_ = None if name in asked else line  # None: the docstring, for which it is imported
            app.command(target, name=name, help=help_, group=group, sort_key=place)
    return app


def _versions() -> str:
    """Return the versions that a report of a fault should name, and where kernels are kept."""
    import platform
    import subprocess

    from lexicons.cache import user_cache

    checkout = Path(__file__).parents[2]
    ask = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude=*"]
    commit = ""
    if (checkout / ".git").exists():
        with suppress(OSError):  # no git
            commit = subprocess.run(ask, check=False, capture_output=True, text=True).stdout.strip()
    try:
        cache = str(user_cache())
    except OSError as error:
        cache = str(error)
    return (
        f"tilewire {version('tilewire')}{commit and f' (commit {commit})'}\n"
        f"Python {platform.python_version()}, numba {version('numba')}\n"
        f"cache: {cache}"
    )


def _check_values(*given: Any) -> None:
    from .options import check_values

    check_values(*given)


def _default(value: object) -> str | None:
    """Return an option's default as a user would give it; None if there is nothing to show."""
    if value is None or value is False or value == "":
        return None
    return " ".join(value) if isinstance(value, tuple) else str(value)


def main() -> None:
    """Run the command in ``sys.argv``, and exit with its status."""
    for name in ("stdout", "stderr"):
        if (stream := getattr(sys, name)) is None:  # closed by whoever started this
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _unraisable
    status = run_command(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # which was told; the interpreter flushes again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    from .failing import Terminated

    raise Terminated


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Send a stop signal again: Python drops what is raised in a destructor or weakref callback."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    number = signal.SIGINT if lost.exc_type is KeyboardInterrupt else signal.SIGTERM
    # From a thread, a moment later: here the main thread would raise inside this hook.
    retry = threading.Timer(0.05, os.kill, (os.getpid(), number))
    retry.daemon = True
    retry.start()


def run_command(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; print a failure as a sentence on stderr."""
    from .failing import OUTPUT_GONE, CommandFailed, reason, stop_status

    try:
        try:
            command_line(*arguments[:1])(
                list(arguments),
                exit_on_error=False,
                print_error=False,
                verbose=False,
                result_action="return_value",
            )
        finally:
            sys.stdout.flush()
    except CommandFailed as failure:
        return _failed(str(failure), failure.status)
    except CycloptsError as error:
        sentence = str(error)
        for part, hint in _HABITS.items() if arguments[0] == "match" else ():
            sentence = f"{sentence.partition('.')[0]}; {hint}" if part in sentence else sentence
        return _failed(sentence, 2)
    except (BrokenPipeError, SystemExit):  # the latter by rich
        return OUTPUT_GONE
    except KeyboardInterrupt as stop:
        return stop_status(stop)
    except (OSError, MemoryError) as error:
        is_input = getattr(error, "errno", None) == ENAMETOOLONG
        if isinstance(error, OSError) and error.errno == ENOSPC:
            error.filename = error.filename or "standard output"  # all else is named
        return _failed(reason(error), 2 if is_input else 1)
    return 0


def _failed(sentence: str, status: int) -> int:
    from .options import print_notice

    if sentence:
        print_notice(sentence)
    return status
