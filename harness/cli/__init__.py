"""The command line; a command's module is imported only when that command runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from errno import ENAMETOOLONG
from importlib.metadata import version
from typing import Any

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    Token,
    UnknownOptionError,
    UnusedCliTokensError,
)

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
    "bench": "Measure speed, deadlines, faults and load on this machine.",
}
"""Each command's line in the list of ``tilewire --help``."""

_HELP = """A server for bots that play crossword board games: matches, clocks, analysis.

An error is a sentence on standard error. Exit status: 0 done, 1 failed while running, 2 wrong
input, 130 stopped by Ctrl-C, 143 by SIGTERM, 141 nobody reads the output any longer.
"""

_MODULES = {"endgame": "endings", "preendgame": "endings"}
"""Modules of the commands that share a module of another name."""

_USAGES = {
    "match": "[OPTIONS] SEAT SEAT",
    "tournament": "[OPTIONS] SEAT SEAT SEAT... | FILE.toml",
    "direct": "[OPTIONS] URL ACTION [ARGUMENT...]",
    "admin": "[OPTIONS] URL ACTION [ARGUMENT...]",
    "play": "[OPTIONS] [BOT]",
    "watch": "[OPTIONS] URL [GAME]",
    "leaves": "[OPTIONS] [LEAVE...]",
    "warm": "[OPTIONS] [SEAT...]",
}
"""Rest of the usage line, after the name, of commands whose arguments may be left out."""

_A_CGP = "; a CGP stands in quotes"
_MORE = {
    "match": "; tilewire tournament plays three seats or more",
    **dict.fromkeys(("show", "generate", "analyze", "endgame", "preendgame", "infer"), _A_CGP),
}
"""Hints for a command that got more arguments than it takes."""
_OF_MATCHES = ("--alpha", "--beta", "--config", "--luck", "--sprt", "--sprt-spread")
"""Options of ``tilewire match`` that ``tilewire tournament`` lacks."""

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
        usage = {"usage": f"Usage: tilewire {name} {_USAGES[name]}"} if name in _USAGES else {}
        app.command(target, name=name, help=None if name in asked else line, **usage)
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
    from .failing import end_when_told, use_own_streams

    use_own_streams()
    end_when_told()
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; print a failure as a sentence on stderr."""
    for name in arguments[:1]:
        if name not in COMMANDS and not name.startswith(("-", "_")):
            near = get_close_matches(name, COMMANDS, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            return _failed(f"no command is called {name!r}; {meant}tilewire --help lists them", 2)
    from .failing import OUTPUT_GONE, CommandFailed, OutputLost, reason, stop_status, told_to_end

    try:
        try:
            command_line(*arguments[:1])(
                list(arguments),
                exit_on_error=False,
                print_error=False,
                result_action="return_value",
            )
        finally:
            sys.stdout.flush()
    except CommandFailed as failure:
        return _failed(str(failure), failure.status)
    except CycloptsError as error:
        return _failed(_sentence(error), 2)
    except OutputLost as lost:
        return _failed(str(lost), 1) if str(lost) else OUTPUT_GONE
    except KeyboardInterrupt as stop:
        return stop_status(stop)
    except (OSError, MemoryError) as error:
        is_input = getattr(error, "errno", None) == ENAMETOOLONG
        return _failed(reason(error), 2 if is_input else 1)
    except Exception:
        if told := told_to_end():  # a compiler that is interrupted fails in its own ways
            return 128 + told
        raise
    return 0


def _failed(sentence: str, status: int) -> int:
    from .options import say

    if sentence:
        say(sentence)
    return status


def _sentence(error: CycloptsError) -> str:
    """Return what is wrong with the arguments, in the form of all other failures."""
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        for text in error.unused_tokens or ():
            if text.startswith("--") and error.app is not None and not error.keyword:
                options = error.app.assemble_argument_collection()
                token = Token(keyword=text, source="cli")
                return _sentence(
                    UnknownOptionError(token=token, argument_collection=options, verbose=False)
                )
        if error.keyword:
            return f"{error.keyword} needs a value"
        return f"{error.argument.name} is missing"
    if isinstance(error, UnknownOptionError) and error.command_chain == ("tournament",):
        option = error.token.keyword or error.token.value if error.token else ""
        if option in _OF_MATCHES:
            return f"unknown option: {option}; it is for tilewire match"
    if isinstance(error, UnusedCliTokensError):
        more = " ".join(error.unused_tokens or ())
        meant = _MORE.get(" ".join(error.command_chain or ()), "")
        return f"{more}: more arguments than the command takes{meant}"
    sentence = str(error).removeprefix("Invalid value for ").removesuffix(".")
    return sentence[:1].lower() + sentence[1:]
