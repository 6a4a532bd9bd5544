"""The engine's options: names, values, and the settings that they change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.cores import usable_cores
from protocol.siu.answers import Option
from protocol.siu.commands import Go

from . import data_folders

if TYPE_CHECKING:
    from engine.preendgame.replies import Model

__all__ = ["Settings", "options", "with_option"]

MOST_LINES = 1_000
MOST_CANDIDATES = 300
LEAST_MB, MOST_MB = 32, 1 << 16
MOST_SEED = 2**53
LONGEST_MS = 86_400_000

_LOADED = ("lexicon", "distribution", "leaves", "win_probabilities")

OWN = "own"
"""For a table: the players' default (``lexicons.tables``)."""


@dataclass(frozen=True)
class Settings:
    """Settings; each search keeps those of its beginning."""

    lexicon: str = "scowl"
    """An embedded lexicon's name or a path."""
    distribution: str = "english"
    """An embedded distribution's name or a path."""
    leaves: str | None = None
    """``trained``, ``formula`` or a path; None: the players' default."""
    win_probabilities: str | None = None
    """``trained`` or a path; None: the players' default."""
    data: tuple[Path, ...] = ()
    """Folders for names."""
    names_only: bool = False
    """Whether the folders are fixed and files named, never given by path, so that a front end
    learns nothing of other files, not even from error messages."""
    threads: int = 1
    """Most threads of a search, and the default of ``go``."""
    seed: int = 0
    lines: int = 15
    """Number of moves or leaves reported."""
    candidates: int = 0
    """Number of moves simulated; 0: ``usual_candidates``."""
    usual_ms: int = 5_000
    """Time after which a search without a limit ends."""
    stop_early: bool = True
    """Whether a search may end before its ``movetime`` if more time would change nothing."""
    infer_model: str = "soft"
    """Player model by which ``infer`` judges a play (``engine.inference.likelihood``)."""
    endgame_mb: int = 256
    """MiB of memory for positions in ``endgame`` and ``peg``."""
    peg_model: Model = "rational"
    """Model of the opponent in ``peg`` (``engine.preendgame``)."""

    def loading(self, other: Settings) -> Settings:
        """Return these settings, with loaded data as in others."""
        loaded: dict[str, Any] = {name: getattr(other, name) for name in _LOADED}
        return replace(self, **loaded)

    def without(self, failed: Settings, good: Settings) -> Settings:
        """Return these settings, with the data of ``failed`` replaced by that of ``good``."""
        same = (name for name in _LOADED if getattr(self, name) == getattr(failed, name))
        loaded: dict[str, Any] = {name: getattr(good, name) for name in same}
        return replace(self, **loaded)

    def needs_loading(self, other: Settings) -> bool:
        """Check whether these settings need data that others don't."""
        return self != self.loading(other)

    def limit_ms(self, go: Go) -> int | None:
        """Return the time limit of a search; None: until it ends by itself or is stopped."""
        if go.movetime_ms is not None or go.mode == "gen":
            return go.movetime_ms
        limited = go.infinite or go.iterations is not None or go.stopcondition is not None
        return None if limited else self.usual_ms


@dataclass(frozen=True)
class _Row:
    """An option: its declaration, its value, and the effect of a new value."""

    option: Option
    now: Callable[[Settings], str]
    take: Callable[[Settings, str], Settings]


def options(settings: Settings) -> tuple[Option, ...]:
    """Return the options, with their present values as defaults."""
    return tuple(replace(row.option, default=row.now(settings)) for row in _rows(settings))


def with_option(settings: Settings, name: str, value: str | None) -> Settings:
    """Set an option.

    Raises:
        ValueError: no such option or value; the message lists the possible ones.
    """
    rows = _rows(settings)
    row = next((row for row in rows if row.option.name.casefold() == name.casefold()), None)
    if row is None:
        known = ", ".join(row.option.name for row in rows)
        raise ValueError(f"no option is called {name[:60]!r}; there are: {known}")
    try:
        return row.take(settings, (value or "").strip())
    except ValueError as error:
        raise ValueError(f"{row.option.name}: {error}") from None


def _rows(settings: Settings) -> tuple[_Row, ...]:
    return _ROWS[1:] if settings.names_only else _ROWS


def _spin(name: str, field: str, least: int, most: int) -> _Row:
    def take(settings: Settings, text: str) -> Settings:
        if not (text.isascii() and text.isdigit()) or not least <= int(text[:18]) <= most:
            raise ValueError(f"{text[:60]!r} is no number from {least} to {most}")
        return _with(settings, field, int(text))

    option = Option(name, "spin", least=least, most=most)
    return _Row(option, lambda settings: str(getattr(settings, field)), take)


def _combo(name: str, field: str | None, *values: str) -> _Row:
    """Return a choice of values; without a field there is a single value."""

    def take(settings: Settings, text: str) -> Settings:
        if text.casefold() not in values:
            raise ValueError(f"{text[:60]!r} is not there; there are: {', '.join(values)}")
        return _with(settings, field, text.casefold()) if field else settings

    option = Option(name, "combo", values=values)
    return _Row(option, lambda settings: getattr(settings, field) if field else values[0], take)


def _check(name: str, field: str) -> _Row:
    def take(settings: Settings, text: str) -> Settings:
        if text.casefold() not in ("true", "false"):
            raise ValueError(f"{text[:60]!r} is neither true nor false")
        return _with(settings, field, text.casefold() == "true")

    return _Row(Option(name, "check"), lambda now: str(getattr(now, field)).lower(), take)


def _with(settings: Settings, field: str, value: Any) -> Settings:
    return replace(settings, **{field: value})


def _data(settings: Settings, text: str) -> Settings:
    folders = tuple(Path(part.strip()) for part in text.split(";") if part.strip())
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"there is no folder {str(folder)[:200]!r}")
    return replace(settings, data=tuple(folder.resolve() for folder in folders))


def _lexicon(settings: Settings, text: str) -> Settings:
    name = data_folders.find_lexicon(
        text, settings.data, settings.lexicon, paths=not settings.names_only
    )
    return replace(settings, lexicon=name)


def _table(field: str, what: str, *, has_own: bool = True) -> Callable[[Settings, str], Settings]:
    """Return the setter of a table by name or path, or to the players' default."""

    def take(settings: Settings, text: str) -> Settings:
        if has_own and text.casefold() in ("", OWN):
            return _with(settings, field, None)
        paths = not settings.names_only
        return _with(settings, field, data_folders.find(what, text, settings.data, paths=paths))

    return take


_ROWS = (  # DataPath first
    _Row(Option("DataPath", "string"), lambda now: ";".join(map(str, now.data)), _data),
    _Row(Option("Lexicon", "string"), lambda now: data_folders.name_of(now.lexicon), _lexicon),
    _Row(
        Option("LetterDistribution", "string"),
        lambda now: data_folders.name_of(now.distribution),
        _table("distribution", "letter distribution", has_own=False),
    ),
    _Row(
        Option("Leaves", "string"),
        lambda now: now.leaves or OWN,
        _table("leaves", "leave table"),
    ),
    _Row(
        Option("WinPctTable", "string"),
        lambda now: now.win_probabilities or OWN,
        _table("win_probabilities", "win % table"),
    ),
    _spin("Threads", "threads", 1, max(64, usable_cores())),
    _combo("ChallengeRule", None, "void"),
    _combo("Variant", None, "classic"),
    _spin("Seed", "seed", 0, MOST_SEED),
    _spin("Lines", "lines", 1, MOST_LINES),
    _spin("Candidates", "candidates", 0, MOST_CANDIDATES),
    _spin("UsualTime", "usual_ms", 1, LONGEST_MS),
    _check("StopEarly", "stop_early"),
    _combo("InferModel", "infer_model", "deterministic", "margin", "soft"),
    _spin("EndgameHash", "endgame_mb", LEAST_MB, MOST_MB),
    _combo("PegModel", "peg_model", "rational", "pessimistic", "static"),
)
