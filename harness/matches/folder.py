"""The files of a match or tournament: its results, and the decisions made while it ran.

Each line of ``results.jsonl`` is a game as it ended; of ``decisions.jsonl``, a decision, such as a
corrected result, which then counts instead (``counting``); of ``luck.jsonl``, a game's luck, if it
was asked for. A line counts once its line break is written. Lines survive the death of the process,
but not a power failure.
"""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from harness.appending import append_line, whole_lines

from .config import MatchError, TournamentConfig
from .pairings import Round
from .results import GameResult, Luck

CORRECTED = "corrected"
"""The note of a corrected result."""


class Withdrawn(Struct, frozen=True, tag="withdrawn", tag_field="decision"):
    """An entrant plays no more."""

    entrant: int
    why: str = ""


class Joined(Struct, frozen=True, tag="joined", tag_field="decision"):
    """A guest has joined as the next entrant, and is paired from the next round on."""

    name: str


class Absent(Struct, frozen=True, tag="absent", tag_field="decision"):
    """An entrant has missed games in a row, and is not paired until it returns."""

    entrant: int
    why: str = ""


class Returned(Struct, frozen=True, tag="returned", tag_field="decision"):
    """An entrant that was absent or had withdrawn is back."""

    entrant: int
    after: int | None = None
    """Number of results so far; None if an earlier version decided it."""


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
    """Games begin again."""

    why: str = ""


Decision: TypeAlias = (
    Round | Withdrawn | Joined | Absent | Returned | Missed | Corrected | Paused | Resumed
)


def with_joined(config: TournamentConfig, decisions: Iterable[Decision]) -> TournamentConfig:
    """Return the settings with the entrants that joined later, if they are not there already."""
    joined = [decision.name for decision in decisions if isinstance(decision, Joined)]
    names = tuple(name for name in joined if name not in config.names)
    seats = tuple(f"guest:{name}" for name in names)
    return replace(config, seats=config.seats + seats, names=config.names + names)


def _corrected(result: GameResult, correction: Corrected) -> GameResult:
    if correction.scores is None:
        return replace(result, outcome="host_error", winner=None, note=CORRECTED)
    a, b = correction.scores
    sides = tuple(
        replace(seat, score=score)
        for seat, score in zip(result.sides, correction.scores, strict=True)
    )
    return replace(
        result,
        sides=(sides[0], sides[1]),
        outcome="out",
        winner=None if a == b else int(a < b),
        note=CORRECTED,
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
        self.results: list[GameResult] = list(_read(self._log, GameResult, "the result of a game"))
        self.decisions: list[Decision] = list(
            _read(self._decided, Decision, "a decision about a tournament")
        )
        self.counted: set[int] = set()
        """Numbers of the games with a result that counts."""
        self.voids = Counter[int]()
        """How often each game was void, by number."""
        self.missed: set[int] = set()
        """Numbers of the games that neither entrant came to."""
        self.withdrawn: set[int] = set()
        """Entrants who play no more."""
        self.paused = False
        """Whether no game is to begin."""
        self._count()
        measured = _read(self._lucks, MeasuredLuck, "the luck of a game")
        games = {result.number: result.game for result in self.results if not result.void}
        self.lucks: dict[str, Luck | None] = {
            line.game or games.get(line.number, ""): line.luck for line in measured
        }
        """The luck of games by id, where it was measured; None where racks are not known."""

    def counting(self) -> list[GameResult]:
        """Return the results with corrections applied."""
        corrections = {said.game: said for said in self.decisions if isinstance(said, Corrected)}
        return [
            _corrected(result, corrections[result.game]) if result.game in corrections else result
            for result in self.results
        ]

    def _count(self) -> None:
        results = self.counting()
        self.counted = {result.number for result in results if not result.void}
        self.voids = Counter(result.number for result in results if result.void)
        for decision in self.decisions:
            match decision:
                case Missed(number=number):
                    self.missed.add(number)
                case Corrected(number=number):
                    self.missed.discard(number)
                case Withdrawn(entrant=entrant):
                    self.withdrawn.add(entrant)
                case Returned(entrant=entrant):
                    self.withdrawn.discard(entrant)
                case Paused():
                    self.paused = True
                case Resumed():
                    self.paused = False


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
        self._lock = _locked(Path(folder))  # first, or lines of another process are missed or cut
        try:
            super().__init__(folder)
            for path in (self._log, self._decided, self._lucks):
                if path.exists():
                    os.truncate(path, len(whole_lines(path.read_bytes())))
        except BaseException:
            os.close(self._lock)
            raise

    def append(self, result: GameResult) -> None:
        """Store a game's result; raise ValueError if its number already has one that counts."""
        if result.void:
            self.voids[result.number] += 1
        elif result.number in self.counted:
            raise ValueError(
                f"game {result.number} of the match already has a result in {self._log}"
            )
        else:
            self.counted.add(result.number)
        _append(self._log, result)
        self.results.append(result)

    def decide(self, decision: Decision) -> None:
        """Store a decision."""
        _append(self._decided, decision)
        self.decisions.append(decision)
        self._count()

    def add_luck(self, result: GameResult, luck: Luck | None) -> None:
        """Store the luck of a game."""
        _append(self._lucks, MeasuredLuck(result.number, luck, result.game))
        self.lucks[result.game] = luck

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)


def _locked(folder: Path) -> int:
    """Lock a folder's results file, made if missing; return the descriptor that holds the lock."""
    file = os.open(folder / "results.jsonl", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        if isinstance(error, BlockingIOError):
            raise MatchError(f"{folder} is in use by another match or server") from None
        raise
    return file


def _append(path: Path, value: Struct) -> None:
    """Append a value as a line of JSON."""
    with path.open("ab", buffering=0) as file:
        append_line(file.fileno(), msgspec.json.encode(value) + b"\n", path)


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
                f"{path}, line {number} is not {what}: {error}; "
                "mend or remove the line, or use another folder"
            ) from error
