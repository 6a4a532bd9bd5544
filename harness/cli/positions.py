"""What commands on positions share: a position or a line of a game, what judges it, the time."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.player import Budget
from engine.notation.cgp import read_cgp
from engine.notation.gcg import GcgError, GcgGame, read_gcg
from engine.notation.move_text import NotationError
from engine.notation.replaying import Replay, replay
from engine.rules.position import Position
from engine.rules.rules import Rules, why_not
from protocol.channel import now_ms

from .failing import CommandFailed, sentences, take_time
from .options import TableOptions, load_given, load_words, say

if TYPE_CHECKING:
    from engine.movegen.evaluation import Evaluation
    from engine.movegen.generator import Generator
    from lexicons.leaves import LeaveTable
    from lexicons.store import Lexicon
    from lexicons.win_probability import WinProbabilities


@dataclass(frozen=True)
class Judge:
    """Rules, words and tables, those that players have of themselves if none are named."""

    rules: Rules
    words: Lexicon
    leaves: LeaveTable
    win_probabilities: WinProbabilities | None

    @classmethod
    def load(cls, tables: TableOptions, rules: Rules) -> Judge:
        """Load what is named, or fail with a sentence."""
        from lexicons.jit import announce_compilation
        from lexicons.tables import leaves_for, win_probabilities_for

        words = load_words(tables.lexicon, rules.distribution)
        announce_compilation(say)
        given = load_given(tables.equipment(), words)
        return cls(
            rules,
            words,
            given.leaves or leaves_for(rules.distribution),
            given.win_probabilities or win_probabilities_for(rules.distribution),
        )

    def generator(self, evaluation: Evaluation | None = None) -> Generator:
        """Make a generator of moves, or fail with a sentence."""
        from engine.movegen.evaluation import STANDARD
        from engine.movegen.generator import Generator

        with sentences():
            return Generator(self.words, self.rules, self.leaves, evaluation or STANDARD)


def read_position(what: str, rules: Rules, *, has_choice: bool = False) -> Position:
    """Read a CGP, a file that has one, or ``GAME.gcg@LINE``; or fail.

    Of a CGP the player on turn sits in seat 0. Of a game it is what the player on turn sees,
    without the other rack. With ``has_choice`` fail where the player has nothing to choose.
    """
    named = game_and_line(what)
    position = _before_line(*named, rules) if named else read_cgp_or_file(what, rules)
    if not has_choice:
        return position
    where = f"{what}: " if named else ""
    with sentences(where):
        reason = why_not(position, rules)
    if reason and not named:
        reason += (
            "; a CGP is 'board racks scores zeros', and racks begin with the one on turn, as in "
            "'AEINRST/'"
        )
    if reason:
        raise CommandFailed(f"{where}{reason}")
    return position


def _before_line(path: Path, line: int | None, rules: Rules) -> Position:
    from harness.analysis.questions import as_seen

    _, played = replay_file(path, rules)
    last = len(played.steps) + 1
    if line is None or not 1 <= line <= last:
        raise CommandFailed(f"{path}: say before which of its lines, {path}@1 to @{last}")
    if played.is_over(line - 1):
        raise CommandFailed(f"{path}@{line}: the game is over")
    return as_seen(played.after(line - 1))


def read_cgp_or_file(what: str, rules: Rules) -> Position:
    """Read a CGP or a file that has one, or fail."""
    path, where = Path(what), ""
    if is_file(path):
        where = f"{path}, line 1: "
        try:
            what = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandFailed(f"{path} can't be read: {error}") from None
    elif "/" not in what or len(what.split()) < 2:
        raise CommandFailed(
            f"there is no file {what}; and a CGP is 'board racks scores zeros', in quotes"
        )
    with sentences(where):
        return read_cgp(what, rules).position


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


def is_file(path: Path) -> bool:
    """Check whether a file is there; a text too long for a file's name is none."""
    try:
        return path.is_file()
    except OSError:
        return False


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """Have the first Ctrl-C ask for what is known by ``stop``; the second ends the command."""
    before = signal.getsignal(signal.SIGINT)

    def hear(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        stop()

    signal.signal(signal.SIGINT, hear)
    try:
        yield
        take_time()  # what is left is to print what is known
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def time_to_think(ms: int) -> Iterator[Budget]:
    """Yield a budget of time that the first Ctrl-C ends; the second ends the command."""
    budget = Budget(now_ms() + ms)
    with interruptible(budget.cancel):
        yield budget
