"""The engine's options: names, values, and the settings that they change.

Data are embedded, given by path, or in data folders. A name is looked up, in any case, in each
folder and its subfolders as MAGPIE and Macondo have them. Contents are checked on loading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bot.cores import usable_cores
from lexicons.text import embedded_names, name_of
from protocol.siu.answers import Option
from protocol.siu.commands import Go

if TYPE_CHECKING:
    from engine.preendgame.replies import Model

_LOADED = ("lexicon", "distribution", "leaves", "win_probabilities")

OWN = "own"
"""For a table: the players' default (``lexicons.tables``)."""


_BELOW = ("", "lexica", "lexica/gaddag", "strategy", "letterdistributions", "layouts")
_SUFFIXES = {
    "lexicon": (".kwg", ".kbwg", ".txt"),
    "letter distribution": (".csv",),
    "leave table": (".klv2",),
    "win % table": (".csv",),
    "board": (".txt",),
}
_NAMED = 20  # per sentence

_OTHERS_NAMES = {
    ("board", "standard"): "standard",
    ("board", "crosswordgame"): "standard",
    ("board", "supercrosswordgame"): "super",
    ("letter distribution", "english_super"): "english-super",
}
"""Other programs' names of embedded data, in lower case; CGP's own example has CrosswordGame."""


@dataclass(frozen=True)
class SiuSettings:
    """Settings; a search keeps the settings that it began with."""

    lexicon: str = "scowl"
    """An embedded lexicon's name or a path."""
    distribution: str = "english"
    """An embedded distribution's name or a path."""
    leaves: str | None = None
    """``trained``, ``formula`` or a path; None: the players' default."""
    win_probabilities: str | None = None
    """``trained``, ``formula`` or a path; None: the players' default."""
    data: tuple[Path, ...] = ()
    names_only: bool = False
    """Whether data folders are fixed and data are named, never given by path, so that a front end
    learns nothing of other files, not even from error messages."""
    threads: int = 1
    """Most threads of a search, and the default of ``go``."""
    seed: int = 0
    lines: int = 15
    candidates: int = 0
    """Number of moves simulated; 0: as in ``usual_stages``."""
    usual_ms: int = 5_000
    """Time after which a search without a limit ends."""
    stop_early: bool = True
    """Whether a search may end before its ``movetime`` if more time would change nothing."""
    infer_model: str = "soft"
    """Player model by which ``infer`` judges a play (``engine.inference.likelihood``)."""
    endgame_mb: int = 256
    """MiB of memory for positions in ``endgame`` and ``peg``."""
    peg_model: Model = "perfect"
    """Model of the opponent in ``peg`` (``engine.preendgame``)."""

    def without(self, failed: SiuSettings, good: SiuSettings) -> SiuSettings:
        """Return these settings, with the data of ``failed`` replaced by that of ``good``."""
        same = (name for name in _LOADED if getattr(self, name) == getattr(failed, name))
        loaded: dict[str, Any] = {name: getattr(good, name) for name in same}
        return replace(self, **loaded)

    def needs_loading(self, other: SiuSettings) -> bool:
        """Check whether these settings need data that others don't."""
        return any(getattr(self, name) != getattr(other, name) for name in _LOADED)

    def find(self, what: str, text: str) -> str:
        """Return the embedded name or the path of some data.

        Args:
            what: ``lexicon``, ``letter distribution``, ``leave table``, ``win % table`` or
                ``board``. The lexicon in use is also known by its file's name.
            text: name or, unless ``names_only``, path.

        Raises:
            ValueError: not found; the message lists what exists.
        """
        now = self.lexicon if what == "lexicon" else ""
        if now and text.casefold() == name_of(now).casefold():
            return now
        if name := _OTHERS_NAMES.get((what, text.casefold())):
            return name
        embedded, suffixes = _embedded(what), _SUFFIXES[what]
        for name in embedded:
            if name.casefold() == text.casefold():
                return name
        with suppress(OSError, ValueError):  # it may be too long for a file's name
            if not self.names_only and text and Path(text).is_file():
                return str(Path(text).resolve())
        wanted = [f"{text}{suffix}".casefold() for suffix in ("", *suffixes)]
        there = list(_files(self.data, lambda path: path.name.casefold() in wanted))
        if there:
            return str(min(there, key=lambda path: wanted.index(path.name.casefold())))
        in_use = [name_of(now)] if now and now not in embedded else []
        others = _files(self.data, lambda path: path.suffix.lower() in suffixes)
        known = list(dict.fromkeys((*embedded, *in_use, *(path.stem for path in others))))
        listed = ", ".join(known[:_NAMED]) + (", …" if len(known) > _NAMED else "")
        raise ValueError(f"no {what} is called {text[:60]!r}; there are: {listed}")

    def limit_ms(self, go: Go) -> int | None:
        """Return the time limit of a search; None: it ends by itself or is stopped."""
        if go.movetime_ms is not None or go.mode == "gen":
            return go.movetime_ms
        limited = go.infinite or go.iterations is not None or go.stopcondition is not None
        return None if limited else self.usual_ms


def _embedded(what: str) -> Sequence[str]:
    if what == "board":
        return ("CrosswordGame", "super")
    if what == "letter distribution":
        return sorted(embedded_names(".csv"))
    # These imports load numpy, which would delay the handshake.
    if what == "lexicon":
        from lexicons.store import lexicon_names

        return lexicon_names()
    from lexicons.tables import TABLE_NAMES

    return TABLE_NAMES


def _files(folders: Sequence[Path], wanted: Callable[[Path], bool]) -> Iterator[Path]:
    for folder in folders:
        for below in _BELOW:
            with suppress(OSError):
                yield from sorted(
                    path for path in (folder / below).iterdir() if wanted(path) and path.is_file()
                )


class _Row(NamedTuple):
    option: Option
    field: str
    """The field of ``SiuSettings``; empty: the option has a single value."""
    read: Callable[[SiuSettings, str], Any]
    show: Callable[[Any], str] = str


def options(settings: SiuSettings) -> tuple[Option, ...]:
    """Return the options, with the present settings as defaults."""
    return tuple(
        replace(
            row.option,
            default=row.show(getattr(settings, row.field)) if row.field else row.option.values[0],
        )
        for row in _rows(settings)
    )


def with_option(settings: SiuSettings, name: str, value: str | None) -> SiuSettings:
    """Set an option; ValueError, which lists the possible ones, if it or its value is unknown."""
    rows = _rows(settings)
    row = next((row for row in rows if row.option.name.casefold() == name.casefold()), None)
    if row is None:
        known = ", ".join(row.option.name for row in rows)
        raise ValueError(f"no option is called {name[:60]!r}; there are: {known}")
    try:
        read = row.read(settings, (value or "").strip())
    except ValueError as error:
        raise ValueError(f"{row.option.name}: {error}") from None
    return replace(settings, **{row.field: read}) if row.field else settings


def _rows(settings: SiuSettings) -> tuple[_Row, ...]:
    return _ROWS[1:] if settings.names_only else _ROWS


def _spin(name: str, field: str, least: int, most: int) -> _Row:
    def read(_settings: SiuSettings, text: str) -> int:
        is_number = text.isascii() and text.isdigit() and len(text) <= 18
        if not is_number or not least <= int(text) <= most:
            raise ValueError(f"{text[:60]!r} is no number from {least} to {most}")
        return int(text)

    return _Row(Option(name, "spin", least=least, most=most), field, read)


def _combo(name: str, field: str, *values: str) -> _Row:
    def read(_settings: SiuSettings, text: str) -> str:
        if text.casefold() not in values:
            raise ValueError(f"{text[:60]!r} is unknown; known: {', '.join(values)}")
        return text.casefold()

    return _Row(Option(name, "combo", values=values), field, read)


def _check(name: str, field: str) -> _Row:
    def read(_settings: SiuSettings, text: str) -> bool:
        if text.casefold() not in ("true", "false"):
            raise ValueError(f"{text[:60]!r} is neither true nor false")
        return text.casefold() == "true"

    return _Row(Option(name, "check"), field, read, lambda value: str(value).lower())


def _named(name: str, field: str, what: str) -> _Row:
    return _Row(
        Option(name, "string"),
        field,
        lambda settings, text: settings.find(what, text),
        name_of,
    )


def _table(name: str, field: str, what: str) -> _Row:
    """Return the option of a table by name or path, or the players' default."""

    def read(settings: SiuSettings, text: str) -> str | None:
        return None if text.casefold() in ("", OWN) else settings.find(what, text)

    return _Row(Option(name, "string"), field, read, lambda value: value or OWN)


def _data(_settings: SiuSettings, text: str) -> tuple[Path, ...]:
    folders = tuple(Path(part.strip()) for part in text.split(";") if part.strip())
    for folder in folders:
        there = False
        with suppress(OSError):  # too long for a name, or in a folder that this user may not enter
            there = folder.is_dir()
        if not there:
            raise ValueError(f"there is no folder {str(folder)[:200]!r}")
    return tuple(folder.resolve() for folder in folders)


_ROWS = (  # DataPath first
    _Row(Option("DataPath", "string"), "data", _data, lambda data: ";".join(map(str, data))),
    _named("Lexicon", "lexicon", "lexicon"),
    _named("LetterDistribution", "distribution", "letter distribution"),
    _table("Leaves", "leaves", "leave table"),
    _table("WinPctTable", "win_probabilities", "win % table"),
    _spin("Threads", "threads", 1, max(64, usable_cores())),
    _combo("ChallengeRule", "", "void"),
    _combo("Variant", "", "classic"),
    _spin("Seed", "seed", 0, 2**53),
    _spin("Lines", "lines", 1, 1_000),
    _spin("Candidates", "candidates", 0, 300),
    _spin("UsualTime", "usual_ms", 1, 86_400_000),
    _check("StopEarly", "stop_early"),
    _combo("InferModel", "infer_model", "deterministic", "margin", "soft"),
    _spin("EndgameHash", "endgame_mb", 32, 1 << 16),
    _combo("PegModel", "peg_model", "perfect", "rational", "static"),
)
