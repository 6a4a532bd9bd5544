"""Read the text that names a seat.

=============================  ================================================================
``static``                     a built-in player, or one that an installed package adds
``package.module:factory``     anything importable that makes a player
``path/to/bot.py:factory``     the same, in a file; ``path/to/bot.py`` if it has one player
``ws://host:port/name``        a bot elsewhere (``wss`` with TLS), by its name there
``siu:program arguments``      somebody else's engine, by its dialect: ``siu``, ``quackle``,
                               ``magpie``, or ``files`` (which is followed by a folder)
``guest:name``                 whoever logs in by that name to the server that runs a tournament
=============================  ================================================================

Options for a local player follow after ``?``: ``static?temperature=2&…``, percent-encoded where
they hold ``&``, ``=``, ``?`` or ``%``. ``network=yes`` is not for the player, but lets a user's bot
keep the network where it is contained.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit

from .registry import DIALECTS, SCRIPT, SeatError, SeatSpec, seat_of

LONGEST_NAME = 64
"""``MAX_NAME`` of ``protocol.parts``, whose import would take longer than all else here."""
LIKE_AN_ADDRESS = re.compile(
    r"\[?(\d+(\.\d+){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]*(%[^/\]]*)?)(\]?:\d*|\])?(/.*)?"
)
"""Matches what a ban reads as an address or a network, also with a port; servers accept no such
name."""
_OF_ONE = ("quackle", "magpie")
"""Dialects that one engine speaks, so they name it: Quackle's program is ``libquackle_test``."""
_NETWORK = ("network", "yes")
_SHOWN = 80
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_name(text: str) -> bool:
    """Return whether a text can be a name: one printable word, not too long, not an address."""
    is_word = len(text) <= LONGEST_NAME and text.isprintable() and text.split() == [text]
    return is_word and not LIKE_AN_ADDRESS.fullmatch(text)


def beside(path: str, folder: Path) -> Path:
    """Return what a path in a file of ``folder`` is; SeatError if only the current one has it."""
    there = folder / path
    if not there.exists() and Path(path).exists():
        raise SeatError(
            f"there is no {there}: a path in a file is relative to that file; for {path} of the "
            f"current folder write {Path(path).resolve()}"
        )
    return there


def parse_seat(text: str, folder: Path = Path()) -> SeatSpec:
    """Read a seat and check that its name, file or package exists; else raise SeatError.

    Paths are relative to ``folder``, that of the file that the seat is read from.
    """
    try:
        spec = _read(text, folder)
        if spec.kind != "local" or spec.built_in or _NETWORK not in spec.options:
            return spec
        options = tuple(option for option in spec.options if option != _NETWORK)
        return replace(spec, options=options, has_network=True)
    except SeatError:
        raise
    # Such as a name too long for a file, or the home of a user who does not exist.
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SeatError(f"{text[:_SHOWN]!r} is not a possible file name: {why}") from None


def _read(text: str, folder: Path) -> SeatSpec:
    if text.startswith(("ws://", "wss://")):
        return _remote(text)
    if text.startswith("guest:"):
        name = text.removeprefix("guest:")
        if not is_name(name):
            raise SeatError(
                f"{text!r}: a guest's name is one word of 1 to {LONGEST_NAME} printable "
                "characters, and doesn't read like an address"
            )
        return SeatSpec("guest", name, name, (), text)
    head, _, query = text.partition("?")
    options = _options(query, text)
    dialect, colon, program = head.partition(":")
    if colon and dialect in DIALECTS:
        return _engine(dialect, program, options, text, folder)
    if "://" in head:
        raise SeatError(f"{text!r}: a remote seat begins with ws:// or wss://")
    target, colon, factory = head.rpartition(":")
    if head.endswith(".py"):
        target, factory = head, ""
    elif not colon:
        spec = seat_of(head, options, text)
        if not spec.built_in or "weights" not in dict(options):
            return spec
        paths = {"weights": str(beside(dict(options)["weights"], folder).resolve())}
        query = urlencode(dict(options) | paths, safe="/", quote_via=quote)
        return replace(spec, options=_options(query, text), text=f"{head}?{query}")
    elif not factory.isidentifier():
        raise SeatError(f"{text!r}: {factory!r} after the colon is no name of a player's class")
    if target.endswith(".py"):
        file = beside(unquote(target), folder)
        if not file.is_file():
            raise SeatError(f"{text!r}: there is no file {str(file)!r}")
        factory = factory or _only_player(file)
        return SeatSpec("local", factory, f"{file.resolve()}:{factory}", options, text)
    if not _MODULE.fullmatch(target):
        raise SeatError(f"{text!r}: {target!r} is neither a module's name nor a file (.py)")
    top = target.partition(".")[0]
    is_here = top in sys.modules or find_spec(top) or PathFinder.find_spec(top, [str(Path.cwd())])
    if not is_here:
        raise SeatError(f"{text!r}: there is no module {top!r} to be imported")
    return SeatSpec("local", factory, f"{target}:{factory}", options, text)


def _only_player(path: Path) -> str:
    """Return the name of the only player in a file, which is read and not run; or SeatError."""
    import ast

    try:
        module = ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise SeatError(f"{path}, line {error.lineno}: SyntaxError: {error.msg}") from None
    players, classes = list[str](), list[str]()
    for part in module.body:
        if isinstance(part, ast.ClassDef):
            classes.append(part.name)
            bases = [ast.unparse(base).rpartition(".")[2] for base in part.bases]
            if any(base.endswith("Player") or base in players for base in bases):
                players.append(part.name)
    public = [name for name in players if name[0] != "_"]
    if not players and len(classes) == 1:
        name = classes[0]
        why = f"{path.name}: class {name} does not derive from bot.player.Player"
        raise SeatError(f"{why}; write class {name}(Player), or the seat {path.name}:{name}")
    if len(public) != 1:
        has = f"players {', '.join(public)}" if public else "no class NAME(bot.player.Player)"
        raise SeatError(f"{path.name} has {has}; write {path.name}:{(*public, 'NAME')[0]}")
    return public[0]


def _remote(text: str) -> SeatSpec:
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SeatError(f"{text!r} is no address: {error}") from None
    if not host:
        raise SeatError(f"{text!r} names no host; write ws://host:port/bot, ws://[::1]:port/bot")
    if parts.username is not None or parts.password is not None:
        shown = text.replace(f"{parts.netloc.rpartition('@')[0]}@", "…@", 1)
        raise SeatError(f"{shown!r}: a secret does not belong in an address, which is logged")
    name = unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
    return SeatSpec("remote", name[:LONGEST_NAME], text, _options(parts.query, text), text)


def _engine(
    dialect: str, program: str, options: tuple[tuple[str, str], ...], text: str, folder: Path
) -> SeatSpec:
    """Read an engine's seat; its path, and the folder that it starts in, are made absolute."""
    import shlex

    try:
        words = shlex.split(unquote(program))
    except ValueError as error:
        raise SeatError(f"{text!r} can't be read as a command: {error}") from None
    if not words:
        raise SeatError(f"{text!r} names no program; write {dialect}:/path/to/it")
    if "/" in words[0] or dialect == "files":
        words[0] = str(beside(str(Path(words[0]).expanduser()), folder).resolve())
    program = dialect if dialect in _OF_ONE else next(filter(SCRIPT.fullmatch, words), words[0])
    name = dict(options).get("name") or Path(program).name
    query = text.partition("?")[2]
    if dialect == "siu":  # its other paths are seen from there, wherever a match goes on
        start = str((folder / dict(options).get("folder", "")).resolve())
        options = tuple((dict(options) | {"folder": start}).items())
        query = urlencode(options, safe="/", quote_via=quote)
    target = shlex.join(words)
    written = f"{dialect}:{target.replace('%', '%25').replace('?', '%3F')}"
    return SeatSpec(
        "engine",
        name[:LONGEST_NAME],
        target,
        options,
        f"{written}?{query}" if query else written,
        dialect=dialect,
    )


def _options(query: str, text: str) -> tuple[tuple[str, str], ...]:
    options: dict[str, str] = {}
    for part in query.split("&") if query else ():
        key, equals, value = part.partition("=")
        key = unquote(key)
        if not equals or not key:
            raise SeatError(f"{text!r}: an option is key=value, {part!r} is not")
        if key in options:
            raise SeatError(f"{text!r}: the option {key!r} is given twice")
        options[key] = unquote(value)
    return tuple(options.items())
