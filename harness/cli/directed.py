"""The tournament of ``tilewire serve --tournament``: its file, its folder, its directors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import fields, replace

from bot.players.options import parse_duration
from bot.seat_text import is_name, parse_seat
from harness.figures import counted
from harness.matches.config import MatchError, TournamentConfig, read_config, write_config
from harness.matches.folder import MatchFolder
from harness.server.direction import Plan
from harness.server.tokens import KnownTokens, hash_token, new_token
from harness.writing import write_file
from lexicons.store import Lexicon
from lexicons.text import read_text

from . import options
from .access_files import AccessFiles
from .failing import UNREADABLE, CommandFailed, sentences
from .match_settings import TournamentSettings, check_cores, configure, read_settings
from .preparing import prepare

ENTRANTS = "entrants.txt"
"""The file in a tournament's folder that has the tokens of registered entrants."""

_IN_WORDS = {"time": "clock", "lexicon_checksum": "words", "names": "name"}
"""What errors call a field of the configuration that is not a key of the file."""


@dataclass(frozen=True, kw_only=True)
class DirectedSettings(TournamentSettings):
    """The keys of the file of a tournament that a server runs."""

    wait: str = "10m"
    """How long the first round waits for entrants that are not here."""
    no_show: str = "5m"
    """How long an entrant may take to come to a game before it loses the game."""
    directors: list[str] = field(default_factory=list)
    open: bool = False
    """Whether names that are not registered may join."""


def plan_of(
    file: Path, out: Path | None, host: str, max_games: int, access: AccessFiles
) -> tuple[Plan, Lexicon]:
    """Read a tournament's file; return its plan, new or resumed in its folder, and its words."""
    file_settings = read_settings(file, DirectedSettings())
    seats = file_settings.seats or []
    if file_settings.concurrency is not None:
        raise CommandFailed(f"{file}: concurrency is --max-games of the server; leave it out")
    if len(seats) < 2 and not file_settings.open:
        raise CommandFailed(f"{file}: seats must be two or more, or open = true")
    if file_settings.open and file_settings.format != "swiss":
        raise CommandFailed(f'{file}: open = true needs format = "swiss"')
    with sentences(f"{file}: no_show: "):
        no_show = parse_duration(file_settings.no_show)
    with sentences(f"{file}: wait: "):
        wait_s = parse_duration(file_settings.wait) / 1_000
    if not no_show:
        raise CommandFailed(f"{file}: no_show must be at least 1ms")
    for name in file_settings.directors:
        if not is_name(name) or "/" in name:
            raise CommandFailed(f"directors: {name!r} can't be a name: one word, no / or address")
    settings = dataclasses.replace(file_settings, concurrency=max_games)
    config, words = configure(seats, settings, guests_at=host)
    config = replace(config, time=replace(config.time, ready_ms=no_show))
    check_cores(config, directed=True)
    here = [("", *seat) for seat in zip(config.names, map(parse_seat, config.seats), strict=True)]
    prepare(here, config.equipment, hidden=access.hidden)
    folder = options.make_folder(out) if out else options.fresh_folder("tournaments")
    with sentences(kinds=(MatchError, *UNREADABLE), status=1), ExitStack() as opened:
        files = opened.enter_context(MatchFolder(folder))
        if is_begun := (folder / "match.json").exists():  # it goes on as it began
            begun = read_config(folder)
            # The lag that isn't charged is that of the address, which may be another one now.
            time = replace(config.time, lag_ms=begun.time.lag_ms)
            anew = replace(config, contained=begun.contained, time=time)
            if file_settings.seed is None:  # one drawn at random differs each time
                anew = replace(anew, seed=config.seed and begun.seed)
            differ = [
                _IN_WORDS.get(field.name, field.name)
                for field in fields(TournamentConfig)
                if field.name not in ("concurrency", "transport")
                and getattr(anew, field.name) != getattr(begun, field.name)
            ]
            if differ:
                raise CommandFailed(
                    f"{file} differs from the tournament that was begun in {folder}: "
                    f"{', '.join(differ)}; mend that, or begin another with another --out"
                )
            now = {name: getattr(config, name) for name in ("concurrency", "transport", "time")}
            config = replace(begun, **now)
        options.print_notice(
            f"{'goes on with the' if is_begun else 'begins a new'} tournament in {folder}"
        )
        directors = _director_tokens(file_settings.directors, folder, access.tokens)
        guests = [spec.name for spec in map(parse_seat, config.seats) if spec.kind == "guest"]
        entrants = None if access.tokens is not None else _entrant_tokens(guests, folder)
        write_config(config, folder)
        plan = Plan(
            config=config,
            files=files,
            directors=directors,
            is_open=file_settings.open,
            wait_s=wait_s,
            notice=options.notice_once(),
            entrants=entrants,
            hidden=access.hidden,
        )
        opened.pop_all()  # the server closes it
    return plan, words


def _entrant_tokens(names: Sequence[str], folder: Path) -> dict[str, str]:
    """Return the hashes of registered entrants' tokens: kept in the folder, or made now.

    The file has a name and its token a line.
    """
    path = folder / ENTRANTS
    lines = read_text(path).splitlines() if path.exists() else []
    tokens_by_name = {}
    for number, line in enumerate(lines, start=1):
        if len(fields := line.split()) != 2:
            raise ValueError(f"{path}, line {number}: not 'name token'")
        tokens_by_name[fields[0]] = fields[1]
    if new := [name for name in names if name not in tokens_by_name]:
        made = {name: new_token() for name in new}
        tokens_by_name |= made
        text = "".join(
            f"{line}\n" for line in (*lines, *(" ".join(entry) for entry in made.items()))
        )
        write_file(path, text, private=True)
        options.print_notice(
            f"tokens of {counted(len(new), 'entrant')} are in {path}: give each its own"
        )
    return {name: hash_token(tokens_by_name[name]) for name in names}


def _director_tokens(
    names: Sequence[str], folder: Path, tokens: KnownTokens | None
) -> Callable[[], dict[str, str]]:
    """Return a function of the hashes of directors' tokens: known, or kept in the folder.

    Tokens that are neither are made now.
    """
    files = {name: folder / f"{name}.token" for name in names}
    tokens_by_name = tokens.read() if tokens is not None else {}
    for name, path in files.items():
        if name in tokens_by_name:
            continue
        if not path.exists():
            write_file(path, f"{new_token()}\n", private=True)
            options.print_notice(f"the token of {name}, a director, is in {path}")
        read_text(path)  # what is wrong with it is said at the start

    def read() -> dict[str, str]:
        tokens_by_name = tokens.read() if tokens is not None else {}
        hashes = {name: tokens_by_name[name] for name in files if name in tokens_by_name}
        for name, path in files.items():
            with suppress(OSError, ValueError):
                hashes.setdefault(name, hash_token(read_text(path).strip()))
        return hashes

    return read
