"""What commands on positions share: a position or a line of a game, what judges it, the time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from cyclopts import Parameter

from bot.player import Budget
from engine.notation.cgp import read_cgp, read_operations, read_rack
from engine.notation.gcg import GcgError, GcgGame, Notice, is_undeclared_utf8, read_gcg
from engine.notation.move_text import NotationError
from engine.notation.replaying import Replay, replay
from engine.rules.position import Board, Position
from engine.rules.rule_sets import load_rules, rule_set_names
from engine.rules.rules import Rules, why_not
from harness.figures import plain, some
from lexicons.text import name_of, read_text
from protocol.channel import now_ms

from .failing import UNREADABLE, CommandFailed, sentences
from .options import TableOptions, compile_first, load_given, load_words, print_notice, working

if TYPE_CHECKING:
    from engine.movegen.evaluation import Evaluation
    from engine.movegen.generator import Generator
    from lexicons.leaves import LeaveTable
    from lexicons.store import Lexicon
    from lexicons.win_probability import WinProbabilities


PositionArgument: TypeAlias = Annotated[str, Parameter(name="POSITION")]
"""A CGP, a file that has one, or a line of a game; each command writes its own help."""
is_file, is_folder = os.path.isfile, os.path.isdir
"""Not those of pathlib, which raise for a text too long for a file's name."""


@dataclass(frozen=True)
class Judge:
    """Rules, words and tables; the players' own tables where none are named."""

    rules: Rules
    words: Lexicon
    leaves: LeaveTable
    win_probabilities: WinProbabilities

    @classmethod
    def load(cls, tables: TableOptions, rules: Rules, *modules: str) -> Judge:
        """Load what is named, and compile what ``modules`` use, or fail with a sentence."""
        from bot.equipment import tables_for

        words, equipment = load_words(tables.lexicon, rules.distribution), tables.equipment()
        compile_first(modules)
        load_given(equipment, words)
        return cls(rules, words, *tables_for(equipment, rules.distribution))

    def generator(self, evaluation: Evaluation | None = None) -> Generator:
        """Make a generator of moves, or fail with a sentence."""
        from engine.movegen.evaluation import STANDARD
        from engine.movegen.generator import Generator

        with sentences():
            return Generator(self.words, self.rules, self.leaves, evaluation or STANDARD)


@dataclass(frozen=True)
class GameFile:
    """A game of a GCG file, and the line of its score sheet that is named after an @."""

    path: Path
    gcg: GcgGame
    played: Replay
    line: int | None = None

    @property
    def named_line(self) -> int:
        """The line; fail if none is named."""
        if self.line is None:
            last = len(self.played.steps) + 1
            raise CommandFailed(
                f"{self.path} is a whole game: say which of its lines, {self.path}@1 to @{last}"
            )
        return self.line

    def compare_words(self, lexicon: str) -> None:
        """Print a notice if the game names another lexicon than ``--lexicon``."""
        compare_words(str(self.path), self.gcg.lexicon, lexicon)


def compare_words(where: str, named: str, lexicon: str) -> None:
    """Print a notice if what is read names another lexicon than ``--lexicon``."""
    ours, theirs = name_of(lexicon), plain(named)
    if theirs and theirs.casefold() != ours.casefold():
        print_notice(
            f"{where} names the lexicon {theirs}, and this is {ours}: words that {ours} "
            f"lacks count as phonies; give the words of {theirs} with --lexicon FILE"
        )


def read_game(
    what: str, rules: Rules, strict: bool = False, tell: Callable[[str], object] = print_notice
) -> GameFile | None:
    """Read ``GAME.gcg`` or ``GAME.gcg@LINE``, or fail; None for what can only be a CGP.

    The line is 1 to the number of lines plus 1. What is not taken as it is written is told;
    with ``strict`` such a file is refused.
    """
    if is_folder(what):
        raise CommandFailed(f"{what} is a folder; name a GCG file or one that holds a CGP")
    path, number = Path(what), ""
    if not is_file(path):
        file, _, number = what.rpartition("@")
        path = Path(file)
    if not is_file(path) or path.suffix.lower() == ".cgp":
        return None
    if path != Path(what) and (not number.isdecimal() or len(number) > 9):
        raise CommandFailed(f"{what}: after the @ comes the number of a line, as in {path}@1")
    gcg, hint = None, ""
    notices: list[Notice] | None = None if strict else []
    try:
        data = path.read_bytes()
        if strict and is_undeclared_utf8(data):
            hint = "; it is valid UTF-8: add #character-encoding UTF-8"
        gcg = read_gcg(data, notices)
        played = replay(gcg, rules, notices)
        if notices and (others := _rules_of(gcg, rules)):
            raise NotationError(f"several plays have other scores by these rules{others}")
    except NotationError as error:
        if gcg is not None and "--rules" not in str(error):
            hint = _rules_of(gcg, rules) + hint
        if isinstance(error, GcgError) and error.line:
            raise CommandFailed(f"{path}, line {error.line}: {error.reason}{hint}") from None
        raise CommandFailed(f"{path}: {error}{hint}") from None
    except OSError as error:
        raise CommandFailed(f"{path} can't be read: {error.strerror}") from None
    for notice in played.notices:
        tell(f"{path}{', ' if notice.line else ': '}{notice}")
    if hint:
        tell(f"{path}: {hint.removeprefix('; ')}")
    line = int(number) if number else None
    if line is not None:
        with sentences(f"{path}: "):
            played.check_line(line)
    return GameFile(path, gcg, played, line)


def _rules_of(gcg: GcgGame, rules: Rules) -> str:
    """Name the rule set that fits a game, which has no line for it.

    Name none unless several plays, or a letter without a tile, tell that ``rules`` are wrong.
    """
    if (wrong := _wrong_plays(gcg, rules)) < 2:
        return ""
    others = {name: _wrong_plays(gcg, load_rules(name)) for name in rule_set_names()}
    name = min(others, key=others.__getitem__)
    fits = others[name] <= wrong // 3
    return f"; by the rules {name!r} the game adds up: give --rules {name}" if fits else ""


def _wrong_plays(gcg: GcgGame, rules: Rules) -> int:
    """Count the plays that score otherwise by the rules; more than all if one is impossible."""
    try:
        steps = replay(gcg, rules, []).steps
    except NotationError:
        return len(gcg.events) + 2
    return sum(step.play is not None and step.event.score != step.computed for step in steps)


def read_position(
    what: str, rules: Rules, lexicon: str, *, strict: bool = False, has_choice: bool = False
) -> Position:
    """Read a CGP, a file that has one, or ``GAME.gcg@LINE``; or fail.

    In a CGP the player on turn has seat 0. The position of a game is what the player on turn sees,
    without the other rack; a notice is printed if another ``lexicon`` is named. With
    ``has_choice``, fail where the player has nothing to choose.
    """
    game = read_game(what, rules, strict=strict)
    if game is None:
        where = ""
        hint = "; a CGP is 'board racks scores zeros', and the racks of 'AEINRST/' begin on turn"
        position = read_cgp_or_file(what, rules, lexicon)
    else:
        from bot.search.analysis.questions import as_seen

        where, hint, line = f"{what}: ", "", game.named_line
        if game.played.is_over(line - 1):
            raise CommandFailed(f"{game.path}@{line}: the game is over")
        position = as_seen(game.played.after(line - 1))
    with sentences(where):
        if has_choice and (reason := why_not(position, rules)):
            raise ValueError(f"{reason}{hint}")
    if game:
        game.compare_words(lexicon)
    return position


def read_cgp_or_file(what: str, rules: Rules, lexicon: str = "") -> Position:
    """Read a CGP, a file that has one, or a whole rack for an empty board; or fail.

    A notice is printed if the CGP names another ``lexicon``, if one is given.
    """
    path, where = Path(what), ""
    if is_file(path):
        where = f"{path}, line 1: "
        with sentences(kinds=UNREADABLE):
            what = read_text(path)
    elif "/" not in what or len(what.split()) < 2:
        with suppress(NotationError):
            rack = read_rack(what, "rack", rules.distribution.alphabet, rules.rack_size)
            if len(rack) == rules.rack_size:
                return Position.empty(rules.layout).with_rack(0, rack)
        raise CommandFailed(
            f"{what} is neither a file, nor a CGP ('board racks scores zeros', in quotes), nor a "
            f"rack of {rules.rack_size} tiles"
        )
    with sentences(where):
        position = read_cgp(what, rules)
    if lexicon:
        named = dict(read_operations(what)).get("lex", "")
        compare_words(str(path) if where else "the CGP", named, lexicon)
    return position


def note_unknown_words(words: Lexicon, *boards: Board) -> None:
    """Print a notice of words on the boards that a lexicon lacks: one may be misspelt."""
    from harness.matches.openings import unknown_words

    if unknown := unknown_words(boards, words):
        print_notice(f"words on the board that {words.name} lacks: {some(unknown)}")


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """Have the first Ctrl-C call ``stop``, to end with what is known; a second ends the command."""
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        stop()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def time_to_think(ms: int) -> Iterator[Budget]:
    """Yield a budget of time that the first Ctrl-C ends; the second ends the command."""
    budget = Budget(now_ms() + ms)
    with interruptible(budget.cancel), working("searching"):
        yield budget
