"""A position on the command line: a CGP in quotes, or a file that holds one."""

from __future__ import annotations

from pathlib import Path

from engine.notation.cgp import read_cgp
from engine.position import Position
from engine.rules import Rules, standard_rules

from .failing import CommandFailed

__all__ = ["is_file", "load_rules", "read_position"]


def load_rules(distribution: str, layout: str) -> Rules:
    """Make the rules of a game with these tiles on this board, or fail with a sentence."""
    try:
        return standard_rules(distribution, layout)
    except (ValueError, OSError) as error:
        raise CommandFailed(str(error)) from None


def read_position(what: str, rules: Rules) -> Position:
    """Read a CGP, or the file that has one; whoever is on turn sits in seat 0."""
    text, where = _cgp_text(what)
    try:
        return read_cgp(text, rules).position
    except ValueError as error:
        raise CommandFailed(f"{where}{error}") from None


def is_file(path: Path) -> bool:
    """Tell whether a file is there; what can't be a file's name is none."""
    try:
        return path.is_file()
    except OSError:  # a CGP may be longer than the name of any file
        return False


def _cgp_text(what: str) -> tuple[str, str]:
    """Find the CGP in a file or in the argument itself; give it and what errors begin with."""
    path = Path(what)
    if not is_file(path):
        if "/" in what and len(what.split()) > 1:
            return what, ""
        raise CommandFailed(
            f"there is no file {what}; and a CGP is 'board racks scores zeros', in quotes"
        )
    try:
        return path.read_text(encoding="utf-8-sig"), f"{path}, line 1: "
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{path} can't be read: {error}") from None
