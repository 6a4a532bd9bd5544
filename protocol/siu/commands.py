"""What an SIU front end says to an engine.

Reading never fails: what SIU does not have is ``Unknown``, and what can't be made sense of in a
``go`` stands in ``Go.ignored``, since an engine owes an answer to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from .line import Line

__all__ = [
    "MODES",
    "Command",
    "Go",
    "IsReady",
    "Mode",
    "NewGame",
    "Quit",
    "SetOption",
    "SetPosition",
    "Siu",
    "Stop",
    "Unknown",
    "parse_command",
]

Mode: TypeAlias = Literal["gen", "sim", "infer", "endgame", "peg", "auto"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""What a ``go`` may ask for (section 6)."""


@dataclass(frozen=True, slots=True)
class Siu(Line):
    """Asks the engine who it is; the first line of all (section 3)."""

    TEMPLATE = "siu"


@dataclass(frozen=True, slots=True)
class IsReady(Line):
    """Asks for ``readyok`` once all earlier input is dealt with; at once during a search."""

    TEMPLATE = "isready"


@dataclass(frozen=True, slots=True)
class NewGame(Line):
    """Says that the next position comes from another game."""

    TEMPLATE = "siunewgame"


@dataclass(frozen=True, slots=True)
class Stop(Line):
    """Ends the search that is on; it still says what it found."""

    TEMPLATE = "stop"


@dataclass(frozen=True, slots=True)
class Quit(Line):
    """Ends the engine."""

    TEMPLATE = "quit"


@dataclass(frozen=True, slots=True)
class SetOption(Line):
    """Sets an option, or presses a button, which has no value (section 4)."""

    name: str
    value: str | None = None

    def line(self) -> str:
        """Write it."""
        return f"setoption name {self.name}" + (
            "" if self.value is None else f" value {self.value}"
        )


@dataclass(frozen=True, slots=True)
class SetPosition(Line):
    """Sets the position that later searches are about (section 5)."""

    cgp: str
    """Empty where the line had none."""
    moves: tuple[str, ...] = ()
    """Made from there, in order; the last may be ``rack.ABCDEFG``."""

    def line(self) -> str:
        """Write it."""
        return " ".join(("position cgp", self.cgp, *(("moves", *self.moves) if self.moves else ())))


@dataclass(frozen=True, slots=True)
class Go(Line):
    """Begins a search; the first limit that is reached ends it (section 6)."""

    mode: Mode = "auto"
    searchmoves: tuple[str, ...] = ()
    """Compare these alone."""
    alsosearchmoves: tuple[str, ...] = ()
    """Compare these too."""
    depth: int | None = None
    """Turns that are looked ahead."""
    iterations: int | None = None
    movetime_ms: int | None = None
    stopcondition: int | None = None
    """95, 98 or 99: how certain the leader has to be, in per cent."""
    firstwin: bool = False
    useinference: bool = False
    threads: int | None = None
    infinite: bool = False
    ignored: tuple[str, ...] = ()
    """Words of the line that make no sense where they stand."""

    def line(self) -> str:
        """Write it."""
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


Command: TypeAlias = Siu | IsReady | NewGame | Stop | Quit | SetOption | SetPosition | Go | Unknown

_LISTS = ("searchmoves", "alsosearchmoves")
_NUMBERS = {
    name: "movetime_ms" if name == "movetime" else name
    for name in ("depth", "iterations", "movetime", "stopcondition", "threads")
}
_FLAGS = ("firstwin", "useinference", "infinite")
_PARAMETERS = {*_LISTS, *_NUMBERS, *_FLAGS}
_BARE: dict[str, Command] = {
    command.TEMPLATE: command for command in (Siu(), IsReady(), NewGame(), Stop(), Quit())
}


def parse_command(line: str) -> Command | None:
    """Read a line of a front end; None where it is blank."""
    words = line.split()
    match words:
        case []:
            return None
        case [word, *_] if word in _BARE:
            return _BARE[word]
        case ["setoption", "name", *rest] if rest:
            at = rest.index("value") if "value" in rest else len(rest)
            value = " ".join(rest[at + 1 :]) if at < len(rest) else None
            return SetOption(" ".join(rest[:at]), value)
        case ["position", *rest]:
            at = rest.index("moves") if "moves" in rest else len(rest)
            cgp = rest[1:at] if rest[:1] == ["cgp"] else []
            return SetPosition(" ".join(cgp), tuple(rest[at + 1 :]))
        case ["go", *rest]:
            return _read_go(rest)
    return Unknown(line.strip())


def _read_go(words: list[str]) -> Go:
    found: dict[str, Any] = {}
    ignored = []
    words = words[:]
    while words and words[0] not in MODES and words[0] not in _PARAMETERS:
        ignored.append(words.pop(0))
    if words and words[0] in MODES:
        found["mode"] = words.pop(0)
    while words:
        word = words.pop(0)
        if word in _LISTS:
            moves = []
            while words and words[0] not in _PARAMETERS:
                moves.append(words.pop(0))
            found[word] = tuple(moves)
        elif word in _FLAGS:
            found[word] = True
        elif word in _NUMBERS and words and words[0].isascii() and words[0].isdigit():
            found[_NUMBERS[word]] = min(int(words.pop(0)[:18]), 10**12)
        else:
            ignored.append(word)
            if word in _NUMBERS and words and words[0] not in _PARAMETERS:
                words.pop(0)  # a number that is none
    return Go(ignored=tuple(ignored), **found)
