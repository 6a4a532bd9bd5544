"""A position on the command line: a CGP, in quotes or in a file, or a line of a game (GCG)."""

from __future__ import annotations

from pathlib import Path

from engine.notation import GcgError, GcgGame, NotationError, Replay, read_gcg, replay
from engine.notation.cgp import read_cgp
from engine.rules.position import Position
from engine.rules.rules import Rules, standard_rules, why_not

from .failing import CommandFailed

__all__ = [
    "check_turn",
    "game_and_line",
    "is_file",
    "load_rules",
    "position_after",
    "position_asked",
    "position_in_game",
    "read_position",
    "replay_file",
]


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


def position_asked(what: str, rules: Rules) -> Position:
    """Read a CGP, the file that has one, or ``GAME.gcg@LINE``; fail where nothing can be chosen.

    Of a game it is what the player on turn sees, without the other rack.
    """
    named = game_and_line(what)
    if named is None:
        position, where = read_position(what, rules), ""
    else:
        position, where = position_in_game(*named, rules), f"{what}: "
    check_turn(position, rules, where)
    return position


def position_in_game(path: Path, line: int | None, rules: Rules) -> Position:
    """Give what the player on turn sees before a line of a game's score sheet, or fail."""
    from harness.analysis.questions import as_seen

    _, played = replay_file(path, rules)
    last = len(played.steps) + 1
    if line is None or not 1 <= line <= last:
        raise CommandFailed(f"{path}: say before which of its lines, {path}@1 to @{last}")
    if any(step.event.kind.is_end for step in played.steps[: line - 1]):
        raise CommandFailed(f"{path}@{line}: the game is over")
    return as_seen(position_after(played, line - 1))


def game_and_line(what: str) -> tuple[Path, int | None] | None:
    """Read ``GAME.gcg`` or ``GAME.gcg@LINE``; None for what can be a CGP only."""
    if is_file(path := Path(what)):
        return None if path.suffix.lower() == ".cgp" else (path, None)
    file, at, line = what.rpartition("@")
    if not at or not is_file(path := Path(file)) or path.suffix.lower() == ".cgp":
        return None
    if not line.isdecimal():
        raise CommandFailed(f"{what}: behind the @ is the number of a line, as in {file}@1")
    return path, int(line)


def replay_file(path: Path, rules: Rules) -> tuple[GcgGame, Replay]:
    """Read a game and play it over, or fail with the file, the line and the reason."""
    try:
        gcg = read_gcg(path.read_bytes())
        return gcg, replay(gcg, rules)
    except GcgError as error:
        where = f"{path}, line {error.line}" if error.line else str(path)
        raise CommandFailed(f"{where}: {error.reason}") from None
    except NotationError as error:
        raise CommandFailed(f"{path}: {error}") from None
    except OSError as error:
        raise CommandFailed(f"{path} can't be read: {error.strerror}") from None


def position_after(played: Replay, line: int) -> Position:
    """Give the position after a line of the score sheet; 0 is the beginning."""
    return played.steps[line].before if line < len(played.steps) else played.final


def check_turn(position: Position, rules: Rules, where: str = "") -> None:
    """See that there is something to choose in a position, or fail.

    Args:
        position: as it was read.
        rules: those of the game.
        where: what the sentence begins with, of a position in a game; of a CGP what one is is said.
    """
    try:
        reason = why_not(position, rules)
    except ValueError as error:
        raise CommandFailed(f"{where}{error}") from None
    if reason and not where:
        reason += (
            "; a CGP is 'board racks scores zeros', and racks begin with the one on turn, as in "
            "'AEINRST/'"
        )
    if reason:
        raise CommandFailed(f"{where}{reason}")


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
