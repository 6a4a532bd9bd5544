"""The command line. Each command is in a module of its own and imported when it is called."""

from __future__ import annotations

import sys
from importlib.metadata import version

from cyclopts import App

__all__ = ["app", "main"]

app = App(
    name="tilewire",
    help="A server for bots that play crossword board games: matches, clocks, analysis.",
    version=lambda: version("tilewire"),
)

_COMMANDS = {
    "match": "Play a match between two seats and print what came of it.",
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
    "infer": "Work out what a player kept by what he played.",
    "lexicon": "Build, describe or query a lexicon.",
    "train": "Learn from self-play what leaves and leads are worth.",
    "experiment": "Play thousands of games to see which of two players is better.",
    "leaves": "Print what leaves are worth: some of them, the best and the worst.",
    "token": "Make a token for a player of a server.",
    "bench": "Measure: speed, deadlines, faults, load; check endgames.",
}

for _name, _help in _COMMANDS.items():
    _target = "app" if _name in ("lexicon", "train", "bench", "experiment", "bridge") else _name
    app.command(f"harness.cli.{_name}:{_target}", name=_name, help=_help)


def main() -> None:
    """Run the command of ``sys.argv``; what goes wrong is a sentence on stderr and status 2."""
    from .failing import CommandFailed

    try:
        app()
    except CommandFailed as failure:
        print(f"tilewire: {failure}", file=sys.stderr)
        sys.exit(failure.status)
    except BrokenPipeError:
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
