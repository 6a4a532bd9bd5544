"""Seats by name: the registry of players, and how players are made.

Built-in names come first; an installed package adds a player by an entry point of the group
``tilewire.bots``. Looking up a name imports neither numpy nor the player, since many processes
never run it; ``load_factory`` imports them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lexicons.text import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .player import Factory, Player

ENTRY_POINTS = "tilewire.bots"

DIALECTS = ("files", "magpie", "quackle", "siu")
"""Protocols of foreign engines; ``harness.seats.engines`` has a module for each."""


class _BuiltIn(NamedTuple):
    target: str
    about: str
    options: tuple[str, ...] = ()


_SIMULATING = ("candidates", "plies", "iterations", "time", "bag")

_BUILT_IN: dict[str, _BuiltIn] = {
    "bluff": _BuiltIn(
        "bot.players.challenging:BluffPlayer",
        "plays as static, and now and then a phony, where plays are challenged",
        ("rate",),
    ),
    "challenger": _BuiltIn(
        "bot.players.challenging:ChallengerPlayer",
        "knows a part of the words, and challenges the others",
        ("share",),
    ),
    "champion": _BuiltIn(
        "bot.players.champion:champion",
        "plays what wins most often in simulations, and solves the end of the game",
        ("time", "exact"),
    ),
    "greedy": _BuiltIn("bot.players.static:GreedyPlayer", "plays the highest score"),
    "infer": _BuiltIn(
        "bot.players.infer:infer",
        "simulates against what its opponent is likely to hold",
        ("model", "memory", "doubt", "racks", *_SIMULATING),
    ),
    "mc": _BuiltIn(
        "bot.players.cs221:mc",
        "tries its highest scores out to the next turns (CS221, 2016)",
        ("candidates", "samples", "plies"),
    ),
    "mc+rh": _BuiltIn(
        "bot.players.cs221:mc_rh",
        "tries the moves of rh out to the next turns (CS221, 2016)",
        ("weights", "candidates", "samples", "plies"),
    ),
    "rh": _BuiltIn(
        "bot.players.cs221:rh",
        "plays the highest sum of score and simple features of what it keeps (CS221, 2016)",
        ("weights",),
    ),
    "sim": _BuiltIn(
        "bot.players.sim:sim", "plays what wins most often in simulations", _SIMULATING
    ),
    "static": _BuiltIn(
        "bot.players.static:StaticPlayer",
        "plays the highest sum of score and worth of the tiles it keeps, at once",
        ("temperature",),
    ),
    "vanilla": _BuiltIn("bot.players.cs221:vanilla", "plays the highest score (CS221, 2016)"),
}

_ELSEWHERE = {
    "full-knowledge": "sees the opponent's rack, and plays in `tilewire experiment duel` only",
}
"""Names that no seat may have, and the reason."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


class SeatError(ValueError):
    """The text names no seat, or its player can't be made; the message gives the reason."""


@dataclass(frozen=True)
class SeatSpec:
    """A seat, read from its text."""

    kind: Literal["local", "remote", "engine", "guest"]
    name: str
    """The name of the bot or factory, or the last part of the URL."""
    target: str
    """``module:factory`` or ``file.py:factory``; the URL of a remote seat; an engine's program and
    arguments, quoted as for a shell, or its folder; a guest's name."""
    options: tuple[tuple[str, str], ...] = ()
    text: str = ""
    built_in: bool = False
    dialect: str = ""
    """The protocol of an engine, one of ``DIALECTS``."""
    has_network: bool = False
    """Whether a user's bot keeps this machine's network (``network=yes``)."""

    @property
    def module(self) -> str:
        """The module of a local seat's factory; of a user's, it may be a file."""
        return self.target.rpartition(":")[0]

    @property
    def anywhere(self) -> str:
        """The seat's text with an absolute path, which means the same in every folder."""
        where, _, factory = self.target.rpartition(":")
        if self.kind != "local" or not where.endswith(".py"):
            return self.text or self.target
        query = self.text.partition("?")[2]
        written = f"{where.replace('%', '%25').replace('?', '%3F')}:{factory}"
        return f"{written}?{query}" if query else written

    @property
    def starts_afresh(self) -> bool:
        """Whether a process here plays each of its games, or one that forgets the last."""
        return self.kind == "local" or (self.kind == "engine" and self.dialect != "files")

    def may_remember(self, *, contained: bool) -> str:
        """Return how it could carry something from a game to the next; empty if it can't.

        Paired games share their draws only between seats that can't. ``contained`` says whether
        users' bots are contained here.
        """
        if self.kind in ("remote", "guest"):
            return "it runs elsewhere"
        if self.kind == "engine":
            return "an engine can leave files"
        if self.built_in:
            return ""
        if self.has_network:
            return "it has the network"
        return "" if contained else "it is not contained on this system"


def known_bots() -> dict[str, str]:
    """Map the names of players to ``module:factory``."""
    listed = {name: player.target for name, player in _BUILT_IN.items()}
    for point in _entry_points():
        if point.name not in _ELSEWHERE:
            listed.setdefault(point.name, point.value)
    return listed


def seat_of(name: str, options: tuple[tuple[str, str], ...], text: str) -> SeatSpec:
    """Return the seat of a named player; ``text`` is the seat as given, for messages.

    Raises:
        SeatError: no player or several have the name, or a built-in player lacks an option.
    """
    if not name:
        raise SeatError(f"{text!r} names no bot; {_known()}")
    player = _BUILT_IN.get(name)
    if player is not None:
        _check_options(text, dict(options), dict.fromkeys(player.options, False))
        return SeatSpec("local", name, player.target, options, text, built_in=True)
    if name in _ELSEWHERE:
        raise SeatError(f"{name!r} {_ELSEWHERE[name]}")
    points = [point for point in _entry_points() if point.name == name]
    if len({point.value for point in points}) > 1:
        offered = " and ".join(sorted(f"{point.value} of {_package(point)}" for point in points))
        raise SeatError(
            f"two packages have a bot called {name!r}: {offered}; write module:factory instead"
        )
    if points:
        return SeatSpec("local", name, points[0].value.replace(" ", ""), options, text)
    if not _NAME.fullmatch(name):
        raise SeatError(
            f"{text!r} is not a seat; write a bot's name, module:factory, file.py:factory or ws://…"
        )
    raise SeatError(f"no bot is called {name!r}; {_known()}{did_you_mean(name, known_bots())}")


def about(spec: SeatSpec) -> str:
    """Describe a seat's player for strangers.

    All players that are not built in share one description. Of an option that is a path, only the
    file's name is shown.
    """
    player = _BUILT_IN.get(spec.name) if spec.built_in else None
    if player is None:
        return "a bot of this server's own"
    options = ", ".join(f"{key} {Path(value).name}" for key, value in spec.options)
    return f"{player.about}; {options}" if options else player.about


def load_factory(spec: SeatSpec) -> Factory:
    """Import the factory of a local seat; let its exceptions pass, with the author's traceback.

    Raises:
        SeatError: the module or factory does not exist.
    """
    if spec.kind == "remote":
        raise SeatError(f"{spec.text!r} is a remote bot, which can't be loaded here")
    if spec.kind == "engine":
        raise SeatError(f"{spec.text!r} is an engine of its own; a match or a server starts it")
    if spec.kind == "guest":
        raise SeatError(f"{spec.text!r} dials in to a server; it is waited for, not loaded")
    where, _, name = spec.target.rpartition(":")
    module = _file_module(Path(where)) if where.endswith(".py") else _module(where)
    factory: Any = getattr(module, name, None)
    if factory is None:
        public = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
        raise SeatError(f"{where!r} has no {name!r}{did_you_mean(name, public)}")
    if not callable(factory):
        raise SeatError(f"{name!r} in {where!r} is no factory: it can't be called")
    made: Factory = factory
    return made


def create_player(spec: SeatSpec, factory: Factory | None = None) -> Player:
    """Make the player of a local seat.

    Raises:
        SeatError: an option is invalid, the factory raises ValueError, or makes no player.
        Exception: whatever else the factory raises.
    """
    from .player import Player

    factory = factory or load_factory(spec)
    check_options(spec, factory)
    try:
        player: object = factory(**dict(spec.options))
    except ValueError as error:
        raise SeatError(f"{spec.text!r}: {error}") from error
    if not isinstance(player, Player):
        raise SeatError(
            f"{spec.text!r} makes a {type(player).__name__}; a player derives from "
            "bot.player.Player"
        )
    return player


def check_options(spec: SeatSpec, factory: Factory) -> None:
    """Raise SeatError if an option is unknown to a factory, or a required option is missing."""
    taken = _taken(factory)
    if taken is not None:
        _check_options(spec.text, dict(spec.options), taken)


def _known() -> str:
    return f"known: {', '.join(sorted(known_bots()))}"


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=ENTRY_POINTS), key=lambda point: (point.name, point.value))


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"


def _taken(factory: Factory) -> dict[str, bool] | None:
    """Map a factory's options to whether each is required; None if it takes any."""
    from inspect import Parameter, signature

    try:
        parameters = signature(factory).parameters.values()
    except (TypeError, ValueError):
        return None  # some C callables have no signature
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    taken = (parameter for parameter in parameters if parameter.kind in named)
    return {parameter.name: parameter.default is parameter.empty for parameter in taken}


def _check_options(text: str, options: Mapping[str, str], taken: Mapping[str, bool]) -> None:
    unknown = sorted(options.keys() - taken.keys())
    if unknown:
        listed = ", ".join(repr(key) for key in unknown)
        known = f"it takes: {', '.join(taken)}" if taken else "it takes none"
        close = did_you_mean(unknown[0], taken)
        raise SeatError(f"{text!r}: no option is called {listed}; {known}{close}")
    missing = [key for key, needed in taken.items() if needed and key not in options]
    if missing:
        raise SeatError(f"{text!r}: the option {missing[0]!r} is required")


def _search_last(folder: Path) -> None:
    """Append a folder to the import path, so that nothing in it hides our packages."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _module(name: str) -> ModuleType:
    from importlib import import_module

    _search_last(Path.cwd())
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise SeatError(f"there is no module {error.name!r} to be imported") from None
        raise


def _file_module(path: Path) -> ModuleType:
    """Load a file as a module with a unique name; its neighbours can be imported."""
    from hashlib import sha256
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"tilewire_seat_{sha256(bytes(path)).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SeatError(f"there is no file {str(path)!r}")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look for it there
    _search_last(path.parent)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
