"""The lines of an SIU front end.

Reading never fails: an unknown command is ``Unknown``, and invalid parts of a ``go``, which still
needs an answer, are in ``Go.ignored``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Literal, TypeAlias, get_args

Mode: TypeAlias = Literal["gen", "sim", "infer", "endgame", "peg", "auto"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""The modes of ``go`` (section 6)."""


class Line:
    """A line of SIU, as a value."""

    __slots__ = ()

    TEMPLATE: ClassVar[str] = ""
    """The line, with ``{0.name}`` for a field."""

    def line(self) -> str:
        """Return the line."""
        return self.TEMPLATE.format(self).rstrip()


class Bare(Line, Enum):
    """The commands without parameters."""

    SIU = "siu"
    """Asks for the engine's introduction; the first line (section 3)."""
    ISREADY = "isready"
    """Asks for ``readyok`` once all earlier input is handled; immediately during a search."""
    NEWGAME = "siunewgame"
    """Announces that the next position is of another game."""
    STOP = "stop"
    """Ends the current search; its result still comes."""
    QUIT = "quit"

    def line(self) -> str:
        """Return the line."""
        return self.value


@dataclass(frozen=True, slots=True)
class SetOption(Line):
    """Sets an option, or presses a button, which has no value (section 4)."""

    name: str
    value: str | None = None

    def line(self) -> str:
        """Return the line."""
        return f"setoption name {self.name}" + (
            "" if self.value is None else f" value {self.value}"
        )


@dataclass(frozen=True, slots=True)
class SetPosition(Line):
    """Sets the position of later searches (section 5)."""

    cgp: str
    """Empty if the line had none."""
    moves: tuple[str, ...] = ()
    """Moves from there, in order; the last may be ``rack.ABCDEFG``."""

    def line(self) -> str:
        """Return the line."""
        return " ".join(("position cgp", self.cgp, *(("moves", *self.moves) if self.moves else ())))


@dataclass(frozen=True, slots=True)
class Go(Line):
    """Begins a search, which the first limit reached ends (section 6)."""

    mode: Mode = "auto"
    searchmoves: tuple[str, ...] = ()
    """If any, compare only these."""
    alsosearchmoves: tuple[str, ...] = ()
    """Compare these too."""
    depth: int | None = None
    """Turns to look ahead."""
    iterations: int | None = None
    movetime_ms: int | None = None
    stopcondition: int | None = None
    """95, 98 or 99: the required certainty of the leader, in per cent."""
    firstwin: bool = False
    useinference: bool = False
    threads: int | None = None
    infinite: bool = False
    ignored: tuple[str, ...] = ()
    """Invalid words of the line."""

    def line(self) -> str:
        """Return the line."""
        words = ["go", self.mode]
        for name in _LISTS:
            if moves := getattr(self, name):
                words += [name, *moves]
        for name, field in _NUMBERS.items():
            if (number := getattr(self, field)) is not None:
                words += [name, str(number)]
        words += [name for name in _FLAGS if getattr(self, name)]
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Unknown(Line):
    """A command that SIU does not have."""

    TEMPLATE = "{0.text}"
    text: str


Command: TypeAlias = Bare | SetOption | SetPosition | Go | Unknown

_LISTS = ("searchmoves", "alsosearchmoves")
_NUMBERS = {
    name: "movetime_ms" if name == "movetime" else name
    for name in ("depth", "iterations", "movetime", "stopcondition", "threads")
}
_FLAGS = ("firstwin", "useinference", "infinite")
_PARAMETERS = {*_LISTS, *_NUMBERS, *_FLAGS}
_BARE = {command.value: command for command in Bare}


def parse_command(line: str) -> Command | None:
    """Read a line of a front end; None if it is blank."""
    words = line.split()
    match words:
        case []:
            return None
        case [word, *_] if word in _BARE:
            return _BARE[word]
        case ["setoption", "name", *rest] if rest:
            split = rest.index("value") if "value" in rest else len(rest)
            value = " ".join(rest[split + 1 :]) if split < len(rest) else None
            return SetOption(" ".join(rest[:split]), value)
        case ["position", *rest]:
            split = rest.index("moves") if "moves" in rest else len(rest)
            cgp = rest[1:split] if rest[:1] == ["cgp"] else []
            return SetPosition(" ".join(cgp), tuple(rest[split + 1 :]))
        case ["go", *rest]:
            return _read_go(rest)
    return Unknown(line.strip())


def _read_go(words: list[str]) -> Go:
    limits: dict[str, Any] = {}
    ignored = []
    words = words[:]
    while words and words[0] not in MODES and words[0] not in _PARAMETERS:
        ignored.append(words.pop(0))
    if words and words[0] in MODES:
        limits["mode"] = words.pop(0)
    while words:
        word = words.pop(0)
        if word in _LISTS:
            moves = []
            while words and words[0] not in _PARAMETERS:
                moves.append(words.pop(0))
            limits[word] = tuple(moves)
        elif word in _FLAGS:
            limits[word] = True
        elif word in _NUMBERS and words and words[0].isascii() and words[0].isdigit():
            limits[_NUMBERS[word]] = min(int(words.pop(0)[:18]), 10**12)
        else:
            ignored.append(word)
            if word in _NUMBERS and words and words[0] not in _PARAMETERS:
                words.pop(0)  # not a number
    return Go(ignored=tuple(ignored), **limits)
