"""The files of a match or tournament: its results, and the decisions made while it ran.

Each line of ``results.jsonl`` is a game as it ended; of ``decisions.jsonl``, a decision, such as a
corrected result, which then counts instead (``counting``); of ``luck.jsonl``, a game's luck, if it
was asked for. A line counts once its line break is written. Lines survive the death of the process,
but not a power failure. ``results.csv`` is for other programs, and is never read here.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.arbiter.journal_copy import Copied, copy_journal
from harness.figures import csv_text, moment
from harness.writing import append_line, naming, whole_lines, write_file
from protocol.parts import OUTCOMES

from .config import MatchError, TournamentConfig
from .pairings import Round
from .results import CSV_COLUMNS, GameResult, Luck, csv_row

CORRECTED = "corrected"
"""Begins the note of a corrected result, which says what it was, by seat, and who corrected it."""


class Withdrawn(Struct, frozen=True, tag="withdrawn", tag_field="decision"):
    """An entrant plays no more."""

    entrant: int
    why: str = ""


class Joined(Struct, frozen=True, tag="joined", tag_field="decision"):
    """A guest has joined as the next entrant, and is paired from the next round on."""

    name: str
    why: str = ""
    """Which director had it join, and why, as for others; empty if it came by itself."""


class Absent(Struct, frozen=True, tag="absent", tag_field="decision"):
    """An entrant has missed games in a row, and is not paired until it returns."""

    entrant: int
    why: str = ""


class Returned(Struct, frozen=True, tag="returned", tag_field="decision"):
    """An entrant that was absent or had withdrawn is back."""

    entrant: int
    after: int | None = None
    """Number of results so far; None if an earlier version decided it."""
    why: str = ""


class Missed(Struct, frozen=True, tag="missed", tag_field="decision"):
    """Neither entrant came to a game; it is void, and not played again."""

    number: int


class Corrected(Struct, frozen=True, tag="corrected", tag_field="decision"):
    """A game's result was changed from that of ``results.jsonl``."""

    number: int
    game: str
    """The game's id, since a void game is played again under the same number."""
    scores: tuple[int, int] | None
    """By side, as in ``results.jsonl``; None: the game is void."""
    why: str = ""


class Paused(Struct, frozen=True, tag="paused", tag_field="decision"):
    """No game begins."""

    why: str = ""


class Resumed(Struct, frozen=True, tag="resumed", tag_field="decision"):
    """Games begin again, after a pause or the end."""

    why: str = ""


class Arranged(Struct, frozen=True, tag="arranged", tag_field="decision"):
    """A director has set a pair for a round of a Swiss, or given a bye of half a point."""

    round: int
    entrants: tuple[int, ...]
    """Both of the pair, in order, or who has the bye."""
    void: bool = False
    """Whether that is taken back."""
    why: str = ""


class EndedEarly(Struct, frozen=True, tag="ended", tag_field="decision"):
    """No further round is paired."""

    why: str = ""


Decision: TypeAlias = (
    Round
    | Withdrawn
    | Joined
    | Absent
    | Returned
    | Missed
    | Corrected
    | Paused
    | Resumed
    | EndedEarly
    | Arranged
)


def with_joined(config: TournamentConfig, decisions: Iterable[Decision]) -> TournamentConfig:
    """Return the settings with the entrants that joined later, if they are not there already."""
    joined = [decision.name for decision in decisions if isinstance(decision, Joined)]
    names = tuple(name for name in joined if name not in config.names)
    seats = tuple(f"guest:{name}" for name in names)
    return replace(config, seats=config.seats + seats, names=config.names + names)


def _corrected(result: GameResult, correction: Corrected) -> GameResult:
    was = " – ".join(str(result.sides[side].score) for side in (result.first, 1 - result.first))
    if result.void:
        was = "no result"
    elif result.forfeit and result.winner is not None:
        how = "did not come" if result.outcome == "no_show" else OUTCOMES[result.outcome].sentence
        was += f" ({result.sides[1 - result.winner].name} {how})"
    by = f" by director {correction.why}" if correction.why else ""
    note = f"{CORRECTED} from {was}{by}"
    if correction.scores is None:
        return replace(result, outcome="host_error", winner=None, note=note)
    (side_a, side_b), (a, b) = result.sides, correction.scores
    return replace(
        result,
        sides=(replace(side_a, score=a), replace(side_b, score=b)),
        outcome="out",
        winner=None if a == b else int(a < b),
        note=note,
    )


class MeasuredLuck(Struct, frozen=True):
    """The luck of the draws of a game."""

    number: int
    luck: Luck | None
    game: str = ""
    """The game's id; empty if an earlier version measured it."""


class FolderContents:
    """The contents of a match's or tournament's files, which may still be written to.

    Raises:
        OSError: a file can't be read.
        ValueError: a file is not what its name says.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder)
        self._log = self.path / "results.jsonl"
        self._decided = self.path / "decisions.jsonl"
        self._lucks = self.path / "luck.jsonl"
        self.pause = self.path / "pause"
        """While there is such a file, no game of a match or tournament without a server begins."""
        self.results: list[GameResult] = list(_read(self._log, GameResult, "the result of a game"))
        self.decisions: list[Decision] = list(_read(self._decided, Decision, "a decision"))
        self.counted: set[int] = set()
        """Numbers of the games with a result that counts."""
        self.voids = Counter[int]()
        """How often each game was void, by number."""
        self.missed: set[int] = set()
        """Numbers of the games that neither entrant came to."""
        self.withdrawn: set[int] = set()
        """Entrants who play no more."""
        self.paused: Paused | None = None
        """Why no game is to begin."""
        self.ended = False
        """Whether no further round is to be paired."""
        self.arranged: list[Arranged] = []
        """Byes of half a point and pairs that are set, without those taken back."""
        self.corrected: dict[str, dict[str, Any]] = {}
        """What replaces the fields of ``Ended`` in games with a corrected result, by id."""
        self._count()
        measured = _read(self._lucks, MeasuredLuck, "the luck of a game")
        games = {result.number: result.game for result in self.results if not result.void}
        self.lucks: dict[str, Luck | None] = {
            line.game or games.get(line.number, ""): line.luck for line in measured
        }
        """The luck of games by id, where it was measured; None where racks are not known."""

    def counting(self) -> list[GameResult]:
        """Return the results with corrections applied."""
        corrections = {
            decision.game: decision
            for decision in self.decisions
            if isinstance(decision, Corrected)
        }
        return [
            _corrected(result, corrections[result.game]) if result.game in corrections else result
            for result in self.results
        ]

    def _count(self) -> None:
        results = self.counting()
        self.counted = {result.number for result in results if not result.void}
        self.voids = Counter(result.number for result in results if result.void)
        self.corrected |= {
            counted_result.game: {
                "outcome": counted_result.outcome,
                "winner": None
                if counted_result.winner is None
                else counted_result.winner ^ counted_result.first,
                "scores": tuple(
                    counted_result.sides[side].score
                    for side in (counted_result.first, 1 - counted_result.first)
                ),
                "message": counted_result.note,
                "rack_adjustments": (0, 0),  # the score is no longer the sum of its turns
                "time_penalties": (0, 0),
            }
            for counted_result in results
            if counted_result.note.startswith(CORRECTED)
        }
        arranged: dict[tuple[int, tuple[int, ...]], Arranged] = {}
        paired = 0
        for decision in self.decisions:
            match decision:
                case Round(number=paired):
                    pass
                case Arranged(round=number, entrants=entrants, void=void):
                    arranged.pop((number, entrants), None)
                    if not void:
                        arranged[number, entrants] = decision
                case Missed(number=number):
                    self.missed.add(number)
                case Corrected(number=number):
                    self.missed.discard(number)
                case Withdrawn(entrant=entrant):
                    self.withdrawn.add(entrant)
                    for number, names in tuple(arranged):
                        if number > paired and entrant in names:
                            del arranged[number, names]
                case Returned(entrant=entrant):
                    self.withdrawn.discard(entrant)
                case Paused():
                    self.paused = decision
                case Resumed():
                    self.paused, self.ended = None, False
                case EndedEarly():
                    self.ended = True
        self.arranged = list(arranged.values())


class MatchFolder(FolderContents):
    """The files of a match or tournament, open for writing; a context manager.

    A folder with results is resumed: ``results`` begins with them, and an unfinished last line is
    cut off; likewise ``decisions`` and ``lucks``. The folder is locked until the exit.

    Raises:
        MatchError: another process has locked the folder.
        OSError: the folder or a file can't be written.
        ValueError: a file is not what its name says.
    """

    def __init__(self, folder: str | Path) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._lock = os.open(Path(folder) / "results.jsonl", flags, 0o666)
        try:
            # First, or lines of another process are missed or cut.
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            super().__init__(folder)
            for path in (self._log, self._decided, self._lucks):
                if path.exists():
                    os.truncate(path, len(whole_lines(path.read_bytes())))
            self._write_csv()
            self._lacks_lines = False
        except BlockingIOError:
            os.close(self._lock)
            raise MatchError(f"{folder} is in use by another match or server") from None
        except BaseException:
            os.close(self._lock)
            raise

    def append(self, result: GameResult) -> None:
        """Store a game's result; raise ValueError if its number already has one that counts."""
        if result.number in self.counted and not result.void:
            raise ValueError(f"game {result.number} already has a result in {self._log}")
        _append(self._log, result)
        self.results.append(result)
        if result.void:
            self.voids[result.number] += 1
            return
        self.counted.add(result.number)
        try:
            if self._lacks_lines:
                self._write_csv()
            else:
                _append(self.path / "results.csv", csv_text([csv_row(result).values()]).encode())
            self._lacks_lines = False
        except OSError:  # a full disk; the next result writes it anew
            self._lacks_lines = True

    def decide(self, decision: Decision) -> None:
        """Store a decision, with the time for people; it is not read back."""
        entry = msgspec.to_builtins(decision) | {"at": moment(time.time())}
        _append(self._decided, msgspec.json.encode(entry) + b"\n")
        self.decisions.append(decision)
        self._count()
        if isinstance(decision, Corrected):
            self._write_csv()
            sheet = self.path / "games" / f"{decision.number:05d}.gcg"
            for result in self.counting() if sheet.exists() else ():
                if result.game == decision.game:
                    scores = ", ".join(f"{side.name} {side.score}" for side in result.sides)
                    entry = " ".join(f"{'void' if result.void else scores}: {result.note}".split())
                    _append(sheet, f"#note {entry}\n".encode())

    def add_luck(self, result: GameResult, luck: Luck | None) -> None:
        """Store the luck of a game."""
        _append(self._lucks, MeasuredLuck(result.number, luck, result.game))
        self.lucks[result.game] = luck

    def _write_csv(self) -> None:
        """Write ``results.csv`` anew: a death may have cut its end, a correction changes it."""
        rows = [csv_row(result).values() for result in self.counting() if not result.void]
        write_file(self.path / "results.csv", csv_text([CSV_COLUMNS, *rows]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)


def copy_folder(folder: Path, to: Path) -> Copied:
    """Copy a folder that may be in use; the copy can be resumed, and only its owner can read it.

    Results come before the journal, which has those that are lacking, and decisions after it, since
    they have the rounds of all its games.

    Raises:
        JournalError, OSError: the journal can't be read, or the copy can't be written.
    """
    journal, last = folder / "match.db", folder / "decisions.jsonl"
    with naming(to), TemporaryDirectory(prefix=".", dir=to.parent) as fresh:
        others = [file for file in folder.rglob("*") if file not in (journal, last)]
        for path in (*others, journal, last):
            target = fresh / path.relative_to(folder)
            if path == journal:
                copied = copy_journal(path, target)
            elif path.is_file() and not path.name.startswith((".", "match.db")):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch(mode=0o600)
                target.write_bytes(path.read_bytes())
        Path(fresh).rename(to)
    return copied


def _append(path: Path, value: Struct | bytes) -> None:
    """Append a value as a line of JSON, or a line as it is."""
    line = value if isinstance(value, bytes) else msgspec.json.encode(value) + b"\n"
    with path.open("ab", buffering=0) as file:
        append_line(file.fileno(), line, path)


def _read(path: Path, kind: Any, what: str) -> Iterator[Any]:
    """Yield the values of a file of JSON lines, if it exists, without an unfinished last line."""
    if not path.exists():
        return
    *lines, _ = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            yield msgspec.json.decode(line, type=kind)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path}, line {number} is not {what}: {error}; mend or remove the line"
            ) from error
