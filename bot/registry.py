"""Seats by name: the registry of players, and how players are made.

Built-in names come first; an installed package adds a player by an entry point of the group
``tilewire.bots``. Looking up a name imports neither numpy nor the player, since many processes
never run it; ``load_factory`` imports them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

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
    "vanilla": _BuiltIn("bot.players.cs221:vanilla", "plays the highest score (CS221, 2016)"),
    "greedy": _BuiltIn("bot.players.static:GreedyPlayer", "plays the highest score"),
    "mc": _BuiltIn(
        "bot.players.cs221:mc",
        "tries its highest scores out to the next turns (CS221, 2016)",
        ("candidates", "samples", "plies"),
    ),
    "rh": _BuiltIn(
        "bot.players.cs221:rh",
        "plays the highest sum of score and simple features of what it keeps (CS221, 2016)",
        ("weights",),
    ),
    "static": _BuiltIn(
        "bot.players.static:StaticPlayer",
        "plays the highest sum of score and worth of the tiles it keeps, at once",
        ("temperature",),
    ),
    "mc+rh": _BuiltIn(
        "bot.players.cs221:mc_rh",
        "tries the moves of rh out to the next turns (CS221, 2016)",
        ("weights", "candidates", "samples", "plies"),
    ),
    "sim": _BuiltIn(
        "bot.players.sim:sim", "plays what wins most often in simulations", _SIMULATING
    ),
    "infer": _BuiltIn(
        "bot.players.infer:infer",
        "simulates against what its opponent is likely to hold",
        ("model", "memory", "doubt", "racks", *_SIMULATING),
    ),
    "champion": _BuiltIn(
        "bot.players.champion:champion",
        "plays what wins most often in simulations, and solves the end of the game",
        ("time", "exact"),
    ),
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
}
"""From weak to strong; those for games with challenges last."""

LEVELS = {
    "beginner": ("static?temperature=15", "misses most good plays; about 180 points a game"),
    "casual": ("static?temperature=10", "misses many good plays; about 250 points a game"),
    "club": ("static?temperature=7", "often plays second best; about 325 points a game"),
    "advanced": ("static?temperature=5", "plays well, with mistakes; about 375 points a game"),
    "expert": ("static?temperature=3", "makes few mistakes; about 420 points a game"),
    "champion-1s": ("champion?time=1s", "champion, with at most a second a turn"),
}
"""Bots for people beside the built-in ones, by name: seat and description (measured in
``docs/play.md``). No seat of a match has these names."""

_WINS = {
    "static?temperature=15": 0.0,
    "static?temperature=10": 0.9,
    "static?temperature=7": 5.0,
    "static?temperature=5": 19.9,
    "vanilla": 34.4,
    "static?temperature=3": 35.1,
    "greedy": 37.4,
    "static": 50.0,
    "sim": 59.4,
    "champion": 60.0,
}
"""Percentage of games won against ``static`` in English, by seat: measured in ``docs/play.md`` if
they have options, else in ``docs/results``. ``sim`` and ``champion`` had 2 s of work a move;
theirs are less luck."""

_ELSEWHERE = {
    "full-knowledge": "sees the opponent's rack, and plays in `tilewire experiment duel` only",
}
"""Names that no seat may have, and the reason."""

SCRIPT = re.compile(r"[^-].*\.(py|pl|rb|js|mjs|lua|jar|sh)")
"""Matches an argument that is an interpreter's program."""

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
    def code(self) -> str:
        """A checksum of the .py files in a bot's folder, or of an engine's program and scripts.

        Of an engine's words, those count that may be run or are named as scripts. Empty: no files.
        """
        import shlex
        import shutil

        if self.kind == "engine" and self.dialect != "files":
            words, folder = shlex.split(self.target), dict(self.options).get("folder", "")
            rest = [Path(folder, word) for word in words[1:]]
            files = [
                path for path in rest if SCRIPT.fullmatch(path.name) or os.access(path, os.X_OK)
            ]
            files.append(Path(shutil.which(words[0]) or words[0]))
        elif self.kind == "local" and self.module.endswith(".py"):
            files = sorted(Path(self.module).parent.glob("*.py"))
        else:
            return ""
        texts = [
            file.name.encode() + file.read_bytes()
            for file in files
            if os.access(file, os.R_OK) and file.is_file()  # the name may be too long for a file
        ]
        return sha256(b"\0".join(texts)).hexdigest()[:16] if texts else ""

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


def usual_bots() -> dict[str, str]:
    """Map the names of the bots that a server has for people to their seats."""
    return {name: seat for name, (seat, _) in LEVELS.items()} | {bot: bot for bot in known_bots()}


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
        package = {point: getattr(point.dist, "name", "an unknown package") for point in points}
        offered = " and ".join(sorted(f"{point.value} of {package[point]}" for point in points))
        raise SeatError(f"two packages have a bot called {name!r}: {offered}; write module:factory")
    if points:
        return SeatSpec("local", name, points[0].value.replace(" ", ""), options, text)
    if not _NAME.fullmatch(name):
        raise SeatError(
            f"{text!r} is not a seat; write a bot's name, module:factory, file.py, ws://… or siu:…"
        )
    file = f"; did you mean {name}.py?" if Path(f"{name}.py").is_file() else ""
    close = file or did_you_mean(name, known_bots())
    raise SeatError(f"no bot is called {name!r}; {_known()}{close}")


def about(spec: SeatSpec) -> str:
    """Describe a seat's player for strangers.

    All players that are not built in share one description. Of an option that is a path, only the
    file's name is shown.
    """
    for seat, sentence in LEVELS.values():
        if spec.text == seat:
            return sentence
    player = _BUILT_IN.get(spec.name) if spec.built_in else None
    if player is None:
        return "a bot of this server's own"
    options = ", ".join(f"{key} {Path(value).name}" for key, value in spec.options)
    return f"{player.about}; {options}" if options else player.about


def wins_against_static(spec: SeatSpec) -> float | None:
    """Return the percentage of games that a seat won against ``static``; None: not measured."""
    return _WINS.get(spec.text) if spec.built_in else None


def by_strength(specs: Mapping[str, SeatSpec]) -> list[str]:
    """Return the names of seats, the weakest first; those of unknown strength last."""
    places: dict[str, float] = {}
    place = 0.0
    for name in _BUILT_IN:
        place = max(place + 0.01, _WINS.get(name, 0.0))
        places[name] = place

    def place_of(name: str) -> float:
        spec = specs[name]
        if not spec.built_in:
            return 100.0
        if not spec.options:
            return places[spec.name]
        return _WINS.get(spec.text, places[spec.name] - 0.005)

    return sorted(specs, key=place_of)


def load_factory(spec: SeatSpec) -> Factory:
    """Import the factory of a local seat; let its exceptions pass, with the author's traceback.

    Raises:
        SeatError: the module or factory does not exist.
    """
    from importlib import import_module

    if spec.kind == "remote":
        raise SeatError(f"{spec.text!r} is a remote bot, which can't be loaded here")
    if spec.kind == "engine":
        raise SeatError(f"{spec.text!r} is an engine of its own; a match or a server starts it")
    if spec.kind == "guest":
        raise SeatError(f"{spec.text!r} dials in to a server; it is waited for, not loaded")
    where, _, name = spec.target.rpartition(":")
    if where.endswith(".py"):
        module = _file_module(Path(where))
    else:
        _append_to_import_path(Path.cwd())
        try:
            module = import_module(where)
        except ModuleNotFoundError as error:
            # The module itself, or a package around it, and not something that it imports.
            if error.name is not None and f"{where}.".startswith(f"{error.name}."):
                raise SeatError(f"there is no module {error.name!r} to be imported") from None
            raise
    factory: Any = getattr(module, name, None)
    if not callable(factory):
        problem = f"has no {name!r}" if factory is None else f"has {name!r}, which is no player"
        raise SeatError(f"{module.__file__} {problem}; {_players_in(module)}")
    return cast("Factory", factory)


def _players_in(module: ModuleType) -> str:
    """Say which players a module defines, for an error."""
    from .player import Player

    kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
    own = [kind for kind in kinds if kind.__module__ == module.__name__]
    names = ", ".join(kind.__name__ for kind in own if issubclass(kind, Player))
    return f"its players: {names}" if names else "a player derives from bot.player.Player"


def create_player(spec: SeatSpec, factory: Factory | None = None) -> Player:
    """Make the player of a local seat.

    Raises:
        SeatError: an option is invalid, the factory raises ValueError, or makes no player.
        Exception: whatever else the factory raises.
    """
    from .player import Player

    factory = factory or load_factory(spec)
    kinds = check_options(spec, factory)
    options = dict[str, Any](spec.options)
    for name in kinds.keys() & options:
        wanted, kind = _KINDS[kinds[name]]
        try:
            options[name] = kind(options[name])
        except (KeyError, ValueError):
            raise SeatError(f"{spec.text!r}: {name} is {wanted}, not {options[name]!r}") from None
    try:
        player: object = factory(**options)
    except ValueError as error:
        raise SeatError(f"{spec.text!r}: {error}") from error
    if not isinstance(player, Player):
        wrong = f"{spec.text!r} gives a {type(player).__name__}, which is no player"
        raise SeatError(f"{wrong}{_players_in(sys.modules[type(player).__module__])}")
    if not spec.built_in:
        _check_methods(spec, player)
    return player


def _check_methods(spec: SeatSpec, player: Player) -> None:
    """Raise SeatError if a method is missing, misspelled, async, or takes other arguments."""
    from difflib import get_close_matches
    from inspect import iscoroutinefunction, isfunction, isgeneratorfunction, signature

    from .player import Player

    player_methods = {name: getattr(Player, name) for name in dir(Player) if name[0] != "_"}
    for name in dir(type(player)):
        close = get_close_matches(name, player_methods, 1, 0.8)
        if name[0] == "_" or not close or not isfunction(method := getattr(type(player), name)):
            continue
        parameters, wanted = (
            signature(getattr(player, name)),
            [*signature(player_methods[close[0]]).parameters],
        )
        is_async = iscoroutinefunction(method) or isgeneratorfunction(method)
        is_wrong = [*parameters.parameters] == wanted[1:]
        if name in player_methods:
            try:
                parameters.bind(*wanted[1:])
                is_wrong = is_async
            except TypeError:
                is_wrong = True
        if is_wrong:
            place = f"{method.__code__.co_filename}, line {method.__code__.co_firstlineno}"
            own = f"{'async ' * is_async}{name}({', '.join(signature(method).parameters)})"
            written = f"def {close[0]}({', '.join(wanted)})"
            raise SeatError(f"{place}: write {written} in place of {own}")
    if getattr(player.choose, "__func__", None) is Player.choose:
        raise SeatError(f"{spec.text!r} has no method choose(self, view, budget)")


_TRUTHS = dict.fromkeys(("yes", "true", "1"), True) | dict.fromkeys(("no", "false", "0"), False)
_KINDS: dict[str, tuple[str, Callable[[str], object]]] = {
    "int": ("a whole number", int),
    "float": ("a number", float),
    "bool": ("yes or no", lambda text: _TRUTHS[text.lower()]),
}
"""What an option annotated so, or whose default is one, is called, and is read by."""


def check_options(spec: SeatSpec, factory: Factory) -> dict[str, str]:
    """Return the options that ``_KINDS`` reads; SeatError if one is unknown or one is missing."""
    from inspect import Parameter, signature

    try:
        parameters = signature(factory).parameters.values()
    except (TypeError, ValueError):
        return {}  # some C callables have no signature
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return {}
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    accepted = (parameter for parameter in parameters if parameter.kind in named)
    is_required = {parameter.name: parameter.default is parameter.empty for parameter in accepted}
    _check_options(spec.text, dict(spec.options), is_required)
    kinds = dict[str, str]()
    for parameter in parameters:
        hint = parameter.annotation
        if hint is parameter.empty:
            hint = type(parameter.default)
        text = hint.__name__ if isinstance(hint, type) else str(hint)
        parts = set(re.findall(r"\w+", text)) - {"None", "Optional", "typing"}
        if len(parts) == 1 and parts <= _KINDS.keys():
            kinds[parameter.name] = parts.pop()
    return kinds


def _known() -> str:
    return f"known: {', '.join(sorted(known_bots()))}"


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=ENTRY_POINTS), key=lambda point: (point.name, point.value))


def _check_options(text: str, options: Mapping[str, str], taken: Mapping[str, bool]) -> None:
    unknown = sorted(options.keys() - taken.keys())
    if unknown:
        listed = ", ".join(repr(key) for key in unknown)
        accepted_text = f"it takes: {', '.join(taken)}" if taken else "it takes none"
        close = did_you_mean(unknown[0], taken)
        raise SeatError(f"{text!r}: no option is called {listed}; {accepted_text}{close}")
    missing = [key for key, needed in taken.items() if needed and key not in options]
    if missing:
        lacks = f"the option {missing[0]!r} is required; write ?{missing[0]}=… behind the seat"
        raise SeatError(f"{text!r}: {lacks}")


def _append_to_import_path(folder: Path) -> None:
    """Append a folder to the import path, so that nothing in it hides our packages."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _file_module(path: Path) -> ModuleType:
    """Load a file as a module with a unique name; its neighbours can be imported."""
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"tilewire_seat_{sha256(bytes(path)).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SeatError(f"there is no file {str(path)!r}")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look for it there
    _append_to_import_path(path.parent)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
