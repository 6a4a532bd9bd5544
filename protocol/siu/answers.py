"""The lines of an SIU engine.

Reading never fails: an unknown line is None, and an unreadable result is ``InfoText``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from .commands import Line


class Answer(Line):
    """A line of an engine."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Id(Answer):
    """The engine's ``name`` or ``author`` (section 3)."""

    TEMPLATE = "id {0.what} {0.text}"
    what: Literal["name", "author"]
    text: str


@dataclass(frozen=True, slots=True)
class Capability(Answer):
    """The engine's abilities: modes, ``stream`` and ``stop``."""

    names: tuple[str, ...]

    def line(self) -> str:
        """Return the line."""
        return " ".join(("capability", *self.names))


@dataclass(frozen=True, slots=True)
class Option(Answer):
    """An option of the engine (section 4)."""

    name: str
    type: str
    """``check``, ``spin``, ``combo``, ``button`` or ``string``."""
    default: str | None = None
    least: int | None = None
    most: int | None = None
    values: tuple[str, ...] = ()
    """The values of a ``combo``."""

    def line(self) -> str:
        """Return the line."""
        words = ["option name", self.name, "type", self.type]
        for name, value in (("default", self.default), ("min", self.least), ("max", self.most)):
            words += [] if value is None else [name, str(value)]
        for value in self.values:
            words += ["var", value]
        return " ".join(words)


class Done(Answer, Enum):
    """The answers without parameters."""

    SIU = "siuok"
    """The handshake is over."""
    READY = "readyok"
    """The answer to ``isready``."""

    def line(self) -> str:
        """Return the line."""
        return self.value


@dataclass(frozen=True, slots=True)
class Provenance(Answer):
    """The sources of a search's figures, written before them (section 7)."""

    TEMPLATE = (
        "info string provenance engine={0.engine} leaves={0.leaves} winpct={0.winpct} "
        "lexicon={0.lexicon}"
    )
    engine: str
    leaves: str
    winpct: str
    lexicon: str


@dataclass(frozen=True, slots=True)
class InfoGen(Answer):
    """A possible move."""

    TEMPLATE = "info gen move {0.move} score {0.score} eq {0.equity:.3f} leave {0.leave}"
    move: str
    score: int
    equity: float
    """In points."""
    leave: str


@dataclass(frozen=True, slots=True)
class InfoSim(Answer):
    """A move's simulation result so far."""

    TEMPLATE = (
        "info sim move {0.move} wp {0.win:.2f} wpse {0.win_error:.2f} "
        "eq {0.equity:.2f} eqse {0.equity_error:.2f} iters {0.iterations}"
    )
    move: str
    win: float
    """In per cent."""
    win_error: float
    """Standard error of ``win``, in per cent."""
    equity: float
    """In points."""
    equity_error: float
    iterations: int


@dataclass(frozen=True, slots=True)
class InfoInfer(Answer):
    """The probability of a leave of the opponent."""

    TEMPLATE = "info infer leave {0.leave} prob {0.probability:.6f}"
    leave: str
    probability: float


@dataclass(frozen=True, slots=True)
class InfoEndgame(Answer):
    """The best line of an endgame at some depth, and its change of the spread."""

    depth: int
    spread: int
    line_of_play: tuple[str, ...]

    def line(self) -> str:
        """Return the line."""
        pv = " ".join(("pv", *self.line_of_play))
        return f"info endgame depth {self.depth} score spread {self.spread:+d} {pv}"


@dataclass(frozen=True, slots=True)
class InfoPeg(Answer):
    """A move's outcomes: the draws with which it wins, ties and loses."""

    move: str
    wins: tuple[str, ...] = ()
    draws: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    spread: float | None = None

    def line(self) -> str:
        """Return the line."""
        parts = (("w", self.wins), ("d", self.draws), ("l", self.losses))
        written = " ".join(f"{name}:{'|'.join(draws)}" for name, draws in parts)
        spread = "" if self.spread is None else f" spread {self.spread:+.2f}"
        return f"info peg move {self.move} {written}{spread}"


@dataclass(frozen=True, slots=True)
class Fault(Answer):
    """A complaint about the front end's input (section 7, Errors)."""

    TEMPLATE = "info string error {0.code} {0.text}"
    code: str
    """``unknown-command``, ``bad-position``, ``bad-move``, ``unsupported-mode``, ``no-position``,
    or another."""
    text: str


@dataclass(frozen=True, slots=True)
class Ignored(Answer):
    """A parameter of ``go`` that the engine ignores."""

    TEMPLATE = "info string ignored {0.parameter}"
    parameter: str


@dataclass(frozen=True, slots=True)
class InfoText(Answer):
    """Anything else after ``info``."""

    TEMPLATE = "info {0.text}"
    text: str


@dataclass(frozen=True, slots=True)
class BestMove(Answer):
    """The end of a search; ``none`` after an inference."""

    TEMPLATE = "bestmove {0.move}"
    move: str


def parse_answer(line: str) -> Answer | None:
    """Read a line of an engine; None if SIU has no such line."""
    words = line.split()
    match words:
        case ["siuok" | "readyok" as word]:
            return Done(word)
        case ["bestmove", move, *_]:
            return BestMove(move)
        case ["id", "name" | "author" as what, *rest] if rest:
            return Id(what, " ".join(rest))
        case ["capability", *names]:
            return Capability(tuple(names))
        case ["option", "name", *rest] if "type" in rest:
            return _read_option(rest)
        case ["info", *rest]:
            return _read_info(rest)
    return None


def _read_option(words: list[str]) -> Option | None:
    """Read ``NAME type TYPE``, then ``default``, ``min``, ``max`` and ``var``, each with a text.

    Return None if name or type is missing.
    """
    type_index = words.index("type")
    name, rest = " ".join(words[:type_index]), words[type_index + 1 :]
    if not name or not rest:
        return None
    kind, *rest = rest
    attributes: list[tuple[str, list[str]]] = []
    for word in rest:
        if word in ("default", "min", "max", "var"):
            attributes.append((word, []))
        elif attributes:
            attributes[-1][1].append(word)
    texts = {key: " ".join(text) for key, text in attributes}  # of one that is repeated, the last
    choices = tuple(" ".join(text) for key, text in attributes if key == "var")
    least, most = _whole(texts.get("min", "")), _whole(texts.get("max", ""))
    return Option(name, kind, texts.get("default"), least, most, choices)


def _read_info(words: list[str]) -> Answer:
    try:
        match words:
            case ["string", "provenance", *rest]:
                fields = dict(part.partition("=")[::2] for part in rest)
                names = ("engine", "leaves", "winpct", "lexicon")
                return Provenance(*(fields.get(name, "") for name in names))
            case ["string", "error", code, *rest]:
                return Fault(code, " ".join(rest))
            case ["string", "ignored", *rest] if rest:
                return Ignored(" ".join(rest))
            case ["gen", *rest]:
                pairs = _pairs(rest)
                move, leave = pairs["move"], pairs.get("leave", "")
                return InfoGen(move, int(pairs["score"]), float(pairs["eq"]), leave)
            case ["sim", *rest]:
                pairs = _pairs(rest)
                win, win_error, equity, equity_error = (
                    float(pairs.get(name, "nan")) for name in ("wp", "wpse", "eq", "eqse")
                )
                count = int(pairs.get("iters", "0"))
                return InfoSim(pairs["move"], win, win_error, equity, equity_error, count)
            case ["infer", "leave", "prob", chance, *_]:
                return InfoInfer("", float(chance))
            case ["infer", *rest]:
                pairs = _pairs(rest)
                return InfoInfer(pairs["leave"], float(pairs["prob"]))
            case ["endgame", *rest]:
                pv_index = rest.index("pv") if "pv" in rest else len(rest)
                pairs = _pairs([word for word in rest[:pv_index] if word != "score"])
                line = tuple(rest[pv_index + 1 :])
                return InfoEndgame(int(pairs["depth"]), int(pairs["spread"]), line)
            case ["peg", "move", *rest] | ["peg", *rest]:  # the draft's own example has no "move"
                draws = {"w": (), "d": (), "l": ()} | {
                    word[0]: tuple(filter(None, word[2:].split("|")))
                    for word in rest[1:]
                    if word[1:2] == ":" and word[0] in "wdl"
                }
                spread = float(rest[rest.index("spread") + 1]) if "spread" in rest[:-1] else None
                return InfoPeg(rest[0], draws["w"], draws["d"], draws["l"], spread)
    except (ValueError, LookupError):
        pass
    return InfoText(" ".join(words))


def _pairs(words: list[str]) -> dict[str, str]:
    """Read ``key value key value …``."""
    return dict(zip(words[::2], words[1::2], strict=False))


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
