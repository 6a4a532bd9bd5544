"""The command line. A command's module is imported when it is called."""

from __future__ import annotations

import sys
from importlib.metadata import version

from cyclopts import App, Parameter

__all__ = ["COMMANDS", "command_line", "main"]

COMMANDS = {
    "match": "Play a match between two seats and print the result.",
    "serve": "Serve arbiters, players and spectators over WebSockets.",
    "bridge": "Let pages in a browser drive engines of this machine (SIU).",
    "siu": "Be an engine for analysis, driven over standard input and output (SIU).",
    "files": "Play for somebody else's host, through two files in a folder.",
    "connect": "Join somebody's server as a player.",
    "watch": "Follow a game on a server, in the terminal.",
    "show": "Print a game (GCG) or a position (CGP).",
    "games": "List the games of a journal, or write them as GCG.",
    "generate": "List the moves of a position (CGP), the best first.",
    "analyze": "Find the best move of a position by simulation, or review a game (GCG).",
    "endgame": "Work out the best play with an empty bag, and prove it.",
    "preendgame": "Compare moves with few tiles in the bag by how often they win.",
    "infer": "Work out what a player kept from what it played.",
    "lexicon": "Build, describe or query a lexicon.",
    "train": "Learn from self-play what leaves and leads are worth.",
    "experiment": "Play thousands of games to see which of two players is better.",
    "leaves": "Print what leaves are worth: some of them, the best and the worst.",
    "token": "Make a token for a player of a server.",
    "bench": "Measure: speed, deadlines, faults, load; check endgames.",
}
"""Each command's line in the list of ``tilewire --help``."""

_MODULES = {"endgame": "endings", "preendgame": "endings"}
"""Those of commands that have no module of their own name."""

_GROUPS = ("bench", "bridge", "experiment", "lexicon", "train")
"""Commands that have commands of their own."""


def command_line(*asked: str) -> App:
    """Build the command line; only ``asked`` commands are imported, others have just their line."""
    app = App(
        name="tilewire",
        help="A server for bots that play crossword board games: matches, clocks, analysis.",
        version=lambda: version("tilewire"),
        default_parameter=Parameter(show_default=_default),
    )
    for name, line in COMMANDS.items():
        target = f"harness.cli.{_MODULES.get(name, name)}:{'app' if name in _GROUPS else name}"
        app.command(target, name=name, help=None if name in asked else line)
    return app


def _default(value: object) -> str | None:
    """Write the default of an option as a user would give it."""
    if value is None or value is False or value == "":
        return None
    return " ".join(value) if isinstance(value, tuple) else str(value)


def main() -> None:
    """Run the command of ``sys.argv``; a failure is a sentence on stderr and its exit status."""
    from .failing import CommandFailed

    try:
        command_line(*sys.argv[1:2])()
    except CommandFailed as failure:
        print(f"tilewire: {failure}", file=sys.stderr)
        sys.exit(failure.status)
    except BrokenPipeError:
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
