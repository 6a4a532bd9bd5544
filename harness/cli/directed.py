"""The tournament of ``tilewire serve --tournament``: its file, its folder, its directors."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import fields, replace

from bot.players.options import parse_duration
from bot.seat_text import is_name, parse_seat
from harness.matches.config import MatchError, TournamentConfig, read_config, write_config
from harness.matches.folder import MatchFolder
from harness.server.direction import Plan
from harness.server.tokens import KnownTokens, hash_token, new_token, write_private
from lexicons.store import Lexicon
from lexicons.text import read_text

from . import options
from .access_files import AccessFiles
from .failing import UNREADABLE, CommandFailed, sentences
from .match_settings import (
    TournamentSettings,
    check_cores,
    configure,
    read_settings,
)
from .preparing import prepare

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
    said = read_settings(file, DirectedSettings())
    seats = said.seats or []
    if said.concurrency is not None:
        raise CommandFailed(f"{file}: concurrency is --max-games of the server; leave it out")
    if len(seats) < 2 and not said.open:
        raise CommandFailed(f"{file}: seats must be two or more, or open = true")
    if said.open and said.format != "swiss":
        raise CommandFailed(f'{file}: open = true needs format = "swiss"')
    with sentences(f"{file}: no_show: "):
        no_show = parse_duration(said.no_show)
    with sentences(f"{file}: wait: "):
        wait_s = parse_duration(said.wait) / 1_000
    if not no_show:
        raise CommandFailed(f"{file}: no_show must be at least 1ms")
    for name in said.directors:
        if not is_name(name) or "/" in name:
            raise CommandFailed(f"directors: {name!r} can't be a name: one word, no / or address")
    settings = dataclasses.replace(said, concurrency=max_games)
    config, words = configure(seats, settings, guests_at=host)
    time = replace(config.time, ready_ms=no_show)
    config = replace(config, time=time)
    check_cores(config, directed=True)
    seats_here = zip(config.names, map(parse_seat, config.seats), strict=True)
    named = [("", name, spec) for name, spec in seats_here]
    prepare(named, config.equipment, hidden=access.hidden)
    folder = options.make_folder(out) if out else options.fresh_folder("tournaments")
    with sentences(kinds=(MatchError, *UNREADABLE), status=1), ExitStack() as opened:
        files = opened.enter_context(MatchFolder(folder))
        config = _as_begun(config, folder, file, has_seed=said.seed is not None)
        directors = _director_tokens(said.directors, folder, access.tokens)
        write_config(config, folder)
        plan = Plan(
            config=config,
            files=files,
            directors=directors,
            is_open=said.open,
            wait_s=wait_s,
            notice=options.say_once(),
            hidden=access.hidden,
        )
        opened.pop_all()  # the server closes it
    return plan, words


def _as_begun(
    config: TournamentConfig, folder: Path, file: Path, *, has_seed: bool
) -> TournamentConfig:
    """Return the settings that the folder's tournament began with; ``config`` if it has none.

    Fail if the two differ.
    """
    if not (folder / "match.json").exists():
        return config
    begun = read_config(folder)
    anew = replace(config, contained=begun.contained)
    if not has_seed:  # one drawn at random differs each time
        anew = replace(anew, seed=config.seed and begun.seed)
    free = ("concurrency", "transport")
    differ = [
        _IN_WORDS.get(field.name, field.name)
        for field in fields(TournamentConfig)
        if field.name not in free and getattr(anew, field.name) != getattr(begun, field.name)
    ]
    if differ:
        raise CommandFailed(
            f"{file} differs from the tournament that was begun in {folder}: {', '.join(differ)}; "
            "mend that, or begin another with another --out"
        )
    return replace(begun, concurrency=config.concurrency, transport=config.transport)


def _director_tokens(
    names: Sequence[str], folder: Path, tokens: KnownTokens | None
) -> dict[str, str]:
    """Return the hashes of directors' tokens: known, kept in the folder, or made now."""
    known = tokens.read() if tokens is not None else {}
    hashes = {}
    for name in names:
        if name in known:
            hashes[name] = known[name]
            continue
        path = folder / f"{name}.token"
        if not path.exists():
            write_private(path, f"{new_token()}\n")
            options.say(f"the token of {name}, a director, is in {path}")
        hashes[name] = hash_token(read_text(path).strip())
    return hashes
