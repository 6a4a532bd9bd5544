"""The command line; a command's module is imported only when that command runs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from errno import ENAMETOOLONG
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from cyclopts import App, CycloptsError, Parameter

__all__ = ["COMMANDS", "command_line", "main", "run_command"]

COMMANDS = {
    "match": "Play a match between two seats and print the result.",
    "tournament": "Play a round robin, gauntlet, Swiss or knockout, and print the standings.",
    "play": "Play against a bot yourself, in the browser or in the terminal.",
    "warm": "Compile what bots need, so that their first game begins at once.",
    "new": "Begin a bot of your own: a small package.",
    "check": "Ask a bot for moves in all phases of a game; find its errors.",
    "serve": "Serve arbiters, players and spectators over WebSockets.",
    "bridge": "Let pages in a browser drive engines of this machine (SIU).",
    "siu": "Run as an analysis engine, driven over standard input and output (SIU).",
    "files": "Play for somebody else's host, through two files in a folder.",
    "connect": "Join somebody's server as a player.",
    "direct": "Direct a tournament on a server, or ask how it stands.",
    "admin": "Administer a server: see who is there, kick, ban, pause, void, invite.",
    "watch": "Follow a game on a server, in the terminal.",
    "show": "Print a game (GCG) or a position (CGP).",
    "report": "Write a report of a match or tournament: a page, Markdown or CSV.",
    "games": "List the games of a journal, or write them as GCG.",
    "backup": "Copy a journal, even while a server writes to it, and check the copy.",
    "generate": "List the moves of a position (CGP), the best first.",
    "analyze": "Find the best move of a position by simulation, or review a game (GCG).",
    "endgame": "Work out the best play with an empty bag, and prove it.",
    "preendgame": "Compare moves with few tiles in the bag by how often they win.",
    "puzzles": "Make, list and check puzzles: endgames and pre-endgames.",
    "infer": "Work out what a player kept from what it played.",
    "lexicon": "Build, describe or query a lexicon.",
    "train": "Learn from self-play what leaves, leads and positions are worth.",
    "experiment": "Compare players: who is better, by how much, and what they believe.",
    "leaves": "Print what leaves are worth: some of them, the best and the worst.",
    "token": "Make a token for a player of a server.",
    "bench": "Measure speed, deadlines and load on this machine.",
}
"""Each command's line in the list of ``tilewire --help``."""

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

_GROUPS = ("bench", "bridge", "experiment", "lexicon", "new", "puzzles", "train")
"""Commands with subcommands."""


def command_line(*asked: str) -> App:
    """Build the command line; import only the ``asked`` commands, list the others by their line."""
    app = App(
        name="tilewire",
        help=_HELP,
        version=lambda: version("tilewire"),
        default_parameter=Parameter(show_default=_default),
        config=_check_values,
        suppress_keyboard_interrupt=False,
    )
    for name, line in COMMANDS.items():
        target = f"harness.cli.{_MODULES.get(name, name)}:{'app' if name in _GROUPS else name}"
        app.command(target, name=name, help=None if name in asked else line)
    app.register_install_completion_command(
        help="Have the shell complete commands and options (bash, zsh, fish).", group="Shell"
    )
    return app


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
    status = run_command(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # which was told; the interpreter flushes again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    from .failing import Terminated

    raise Terminated


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
        return _failed(str(error), 2)
    except (BrokenPipeError, SystemExit):  # the latter by rich
        return OUTPUT_GONE
    except KeyboardInterrupt as stop:
        return stop_status(stop)
    except (OSError, MemoryError) as error:
        is_input = getattr(error, "errno", None) == ENAMETOOLONG
        return _failed(reason(error), 2 if is_input else 1)
    return 0


def _failed(sentence: str, status: int) -> int:
    from .options import say

    if sentence:
        say(sentence)
    return status
