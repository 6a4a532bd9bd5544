"""``tilewire match``."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, cast
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from cyclopts import Parameter

from bot.cores import usable_cores
from bot.registry import SeatError, SeatSpec
from bot.seat_text import parse_seat
from harness.arbiter.clock import LOCAL_READY_MS, check_time_control, lag_quota_ms
from harness.arbiter.journal import JournalError
from harness.config_file import read_config_file
from harness.figures import counted, plain
from harness.matches.match import (
    MAX_NAME,
    Match,
    MatchConfig,
    MatchError,
    read_config,
    told_apart,
    write_config,
)
from harness.matches.report import MatchFolder, MatchProgress, table_text
from harness.matches.results import GameResult
from harness.matches.statistics import MatchStatistics, as_json_object
from harness.seats.seat_factory import SeatMaker
from lexicons.store import Lexicon
from protocol.parts import TimeControl

from . import options
from .failing import UNREADABLE, CommandFailed, print_json, sentences, stop_status


class _Settings(TypedDict, total=False):
    """Settings that are no times."""

    games: Annotated[
        options.GamesOption,
        Parameter(
            help="How many games; with --resume, a number to go on to. Between local seats games 1 "
            "and 2 share their draws, with the seats swapped, and so do 3 and 4.",
            show_default="2",
        ),
    ]
    name: Annotated[
        list[str],
        Parameter(
            help="What a seat is called: A=NAME the first, B=NAME the second. [default: by what "
            "they are, and how they differ]",
            negative="",
        ),
    ]
    overtime_penalty: Annotated[
        int, Parameter(help="Points off for each minute of overtime begun.", show_default="10")
    ]
    lexicon: Annotated[options.LexiconOption, Parameter(show_default="scowl")]
    leaves: options.LeavesOption
    winprob: options.WinprobOption
    threads: Annotated[options.ThreadsOption, Parameter(show_default="1")]
    ponder: options.PonderOption
    seed: Annotated[
        options.SeedOption, Parameter(help="Makes the draws of local seats repeatable.")
    ]
    concurrency: Annotated[options.Count, Parameter(help="Games at once.", show_default="1")]
    transport: Annotated[
        Literal["websocket", "pipe"],
        Parameter(
            help="How local seats talk to the host. [default: websocket for one game at a time]"
        ),
    ]


@Parameter(name="*")
class MatchSettings(_Settings, total=False):
    """Settings of a new match that are options and keys of its TOML file; only those given."""

    time: Annotated[options.TimeOption, Parameter(show_default="25m")]
    increment: Annotated[options.IncrementOption, Parameter(show_default="0s")]
    max_overtime: options.Duration
    """More overtime than this loses the game. [default: 10m, 0s with an increment]"""
    move_cap: options.Duration
    """Cap per turn."""
    margin: Annotated[
        options.Duration,
        Parameter(help="How late a move may come after the deadline.", show_default="0s"),
    ]
    first_move: options.FirstMoveOption


class _Duration(int):
    """Milliseconds, written in a file as ``"25m"``."""

    def __new__(cls, text: str) -> _Duration:
        return super().__new__(cls, options.parse_duration(text))


class MatchFile(_Settings, total=False):
    """The keys of a match's configuration file (TOML)."""

    seats: list[str]
    """Two of them."""
    time: _Duration
    increment: _Duration
    max_overtime: _Duration
    move_cap: _Duration
    margin: _Duration
    first_move: _Duration


def match(
    seat_a: str | None = None,
    seat_b: str | None = None,
    /,
    *,
    config: Path | None = None,
    given: MatchSettings | None = None,
    out: Path | None = None,
    json_: options.JsonOption = False,
    resume: Path | None = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Play a match between two seats and print the result.

    A seat is ``greedy``, ``static``, another bot's name, ``module:factory``,
    ``path/to/file.py:factory``, ``ws://host:port/BOT``, or an engine by what it speaks:
    ``siu:PROGRAM``, ``quackle:PROGRAM``, ``magpie:PROGRAM``, ``files:FOLDER``; with options after
    ``?``.

    The exit status is 0 when all games are played, 1 if the match could not go on or a player's
    failures lost games, 2 for wrong input, 130 after Ctrl-C, 143 after SIGTERM. A match that was
    stopped prints its table so far.

    Args:
        seat_a: The seat that the result is seen from.
        seat_b: The other seat.
        config: A TOML file with ``seats = ["static", "greedy"]`` and the settings below, such as
            ``move_cap = "10s"``; options replace what it says.
        out: Where the journal, results and games go. [default: matches/TIME]
        json_: End with one JSON object on the last line.
        resume: Go on with the match in this folder, to more ``--games`` where that is given.
    """
    options.log_to_stderr(verbose)
    settings = given or MatchSettings()
    if resume is not None:
        if seat_a or config or out or settings.keys() - {"games"}:
            raise CommandFailed(
                f"--resume {resume} has its seats and settings already; only --games can be given"
            )
        terms, folder = _taken_up(resume, settings.get("games")), resume
        _check_cores(terms)
        words = options.load_equipped(terms.equipment)
        _try_out(terms)
    else:
        if config is not None:
            seats, said = _read_config(config)
            seat_a, seat_b = (seat_a, seat_b) if seat_a is not None else seats
            settings = cast("MatchSettings", {**said, **settings})
        if seat_a is None or seat_b is None:
            raise CommandFailed("a match needs two seats, such as: tilewire match static greedy")
        terms, words = _configure((seat_a, seat_b), settings)
        _check_cores(terms)
        _try_out(terms)  # before there is a folder
        folder = options.writable_folder(out or Path("matches") / clock.strftime("%Y%m%d-%H%M%S"))
        if (folder / "match.json").exists():
            raise CommandFailed(f"{folder} has a match already; --resume {folder} goes on with it")
    if words.checksum != terms.lexicon_checksum:
        raise CommandFailed(f"{terms.lexicon} has other words than when the match began", status=1)
    with sentences(kinds=UNREADABLE, status=1):
        opened = MatchFolder(folder)
        write_config(terms, folder)
    with opened as files:
        if len(files.counted) >= terms.games:
            options.say(f"all {counted(terms.games, 'game')} are played; --games N goes on to more")
        try:
            with sentences(kinds=(MatchError, JournalError, SeatError, OSError), status=1):
                options.run(_play(terms, words, files))
        except KeyboardInterrupt as stop:
            played = f"{len(files.counted):,} of {counted(terms.games, 'game')}"
            raise CommandFailed(
                f"stopped after {played}; tilewire match --resume {folder} goes on",
                status=stop_status(stop),
            ) from None
        finally:
            if files.results or json_:
                _report(files, terms.names, as_json=json_)
    _check_failures(files, terms.names)


def _read_config(path: Path) -> tuple[Sequence[str | None], dict[str, Any]]:
    """Read the seats, None where there are none, and the settings of a configuration."""
    with sentences():
        said = read_config_file(path, MatchFile)
    seats: Sequence[str | None] = said.pop("seats", (None, None))
    if len(seats) != 2:
        raise CommandFailed(f"{path}: seats must be two (got {len(seats)})")
    plain_numbers = {key: int(value) for key, value in said.items() if isinstance(value, _Duration)}
    return seats, {**said, **plain_numbers}


def _taken_up(folder: Path, games: int | None) -> MatchConfig:
    """Read a match's configuration, with more games if so many are given."""
    with sentences(kinds=(MatchError,)):
        config = read_config(folder)
    if games is None:
        return config
    if games < config.games:
        raise CommandFailed(
            f"--games {games}: the match in {folder} has {config.games:,} already; "
            "write more than that, or leave it out"
        )
    return msgspec.structs.replace(config, games=games)


def _configure(seats: tuple[str, str], settings: MatchSettings) -> tuple[MatchConfig, Lexicon]:
    """Check the settings, and load the words that are played with."""
    equipment = options.equip(
        settings.get("lexicon", "scowl"),
        settings.get("leaves"),
        settings.get("winprob"),
        settings.get("threads", 1),
        ponder=settings.get("ponder", False),
    )
    concurrency, seed = settings.get("concurrency", 1), settings.get("seed")
    with sentences():
        specs = parse_seat(seats[0]), parse_seat(seats[1])
        names = _named(settings.get("name", []), told_apart(*specs))
        hosts = [urlsplit(spec.target).hostname or "" for spec in specs if spec.kind == "remote"]
        control = _time_control(settings, hosts)
        check_time_control(control)
        _check_concurrency(concurrency, equipment.threads, specs)
        local = all(spec.starts_afresh for spec in specs)
        if seed is not None and not local:
            raise CommandFailed(
                "--seed would let a seat that goes on after a game work out the draws; it is for "
                "seats that start afresh on this machine"
            )
        words = options.load_equipped(equipment)
        for spec, name in zip(specs, names, strict=True):
            SeatMaker(spec, name, equipment).check(words)
    config = MatchConfig(
        seats=(_anywhere(specs[0]), _anywhere(specs[1])),
        names=names,
        games=settings.get("games", 2),
        time=control,
        lexicon=equipment.lexicon,
        lexicon_checksum=words.checksum,
        seed=secrets.randbits(63) if seed is None and local else seed,
        paired=local,
        concurrency=concurrency,
        transport=settings.get("transport", "websocket" if concurrency == 1 else "pipe"),
        leaves=equipment.leaves,
        winprob=equipment.win_probabilities,
        threads=equipment.threads,
        ponder=equipment.ponder,
    )
    return config, words


def _time_control(settings: MatchSettings, hosts: list[str]) -> TimeControl:
    """Return the time control of games whose remote seats are on these hosts."""
    time, increment = settings.get("time", 25 * 60_000), settings.get("increment", 0)
    return TimeControl(
        initial_ms=time,
        increment_ms=increment,
        overtime_penalty=settings.get("overtime_penalty", 10),
        max_overtime_ms=settings.get("max_overtime", 0 if increment else 10 * 60_000),
        move_cap_ms=settings.get("move_cap"),
        margin_ms=settings.get("margin", 0),
        first_move_ms=settings.get("first_move"),
        lag_ms=lag_quota_ms(time, hosts),
        ready_ms=LOCAL_READY_MS,
    )


def _named(given: Sequence[str], names: tuple[str, str]) -> tuple[str, str]:
    """Return the names of both seats, where ``given`` has ``A=NAME`` or ``B=NAME`` that one."""
    by_side = dict(zip("AB", names, strict=True))
    for text in given:
        side, _, name = text.partition("=")
        if side not in by_side or not name:
            raise CommandFailed(
                f"--name {text}: write A=NAME for the first seat, B=NAME for the other"
            )
        if len(name) > MAX_NAME or plain(name) != name or name != name.strip():
            raise CommandFailed(
                f"--name {plain(text)}: a name has at most {MAX_NAME} characters, all of them "
                "printable, and no space at its ends"
            )
        by_side[side] = name
    if by_side["A"] == by_side["B"]:
        raise CommandFailed(
            f"both seats would be called {by_side['A']}; --name A=NAME calls one otherwise"
        )
    return by_side["A"], by_side["B"]


def _check_concurrency(games: int, threads: int, specs: tuple[SeatSpec, SeatSpec]) -> None:
    """Check that this machine can play several games at once."""
    cores = usable_cores()
    if games > 1 and games * threads > cores and any(spec.kind != "remote" for spec in specs):
        each = f" with --threads {threads}" if threads > 1 else ""
        raise CommandFailed(
            f"--concurrency {games}{each} would have players share a core, and moves would come "
            f"late because of that: this machine has {cores}"
        )
    if games > 1 and any(spec.dialect == "files" for spec in specs):
        raise CommandFailed(f"--concurrency {games}: a seat files:… plays one game at a time")


def _check_cores(config: MatchConfig) -> None:
    """Check that the seats of a match that ponder have their cores, also when it is resumed."""
    if config.ponder:
        here = sum(not seat.startswith(("ws://", "wss://")) for seat in config.seats)
        options.check_pondering(
            here * config.concurrency, config.threads, "--concurrency or --threads"
        )


def _try_out(config: MatchConfig) -> None:
    """Load the users' bots, each in a process of its own, to learn now what is wrong with them."""
    with sentences():
        for text, name in zip(config.seats, config.names, strict=True):
            options.run(SeatMaker(parse_seat(text), name, config.equipment).try_out())


def _anywhere(spec: SeatSpec) -> str:
    """Write a seat so that it means the same in every folder: a match may be resumed in another."""
    if ".py:" not in spec.target or spec.kind != "local":
        return spec.text
    path, _, factory = spec.target.rpartition(":")
    query = urlencode(spec.options, quote_via=quote)
    return f"{quote(path)}:{factory}" + (f"?{query}" if query else "")


async def _play(config: MatchConfig, words: Lexicon, files: MatchFolder) -> None:
    with MatchProgress(config.games, *config.names, earlier=files.results) as progress:
        notice = options.say_once()
        await Match(config, words, files, progress.game_finished, notice).play()


def print_table(stats: MatchStatistics, results: Sequence[GameResult]) -> None:
    """Print a match's table as the terminal has room and letters for it."""
    columns, encoding = shutil.get_terminal_size().columns, sys.stdout.encoding
    print(table_text(stats, results, columns, encoding), end="")


def _report(files: MatchFolder, names: tuple[str, str], *, as_json: bool) -> None:
    """Print the games so far as a table."""
    stats = files.write_summary(*names)
    print_table(stats, files.results)
    print(f" games and results: {files.path}")
    if list((files.path / "games").glob("*.faults.txt")):
        print(f" what went wrong:   {files.path / 'games'}/*.faults.txt")
    if as_json:
        print_json(json.dumps(as_json_object(stats), ensure_ascii=False))


def _check_failures(files: MatchFolder, names: tuple[str, str]) -> None:
    """Raise CommandFailed if a seat lost games because its player failed."""
    failed = []
    for side, name in enumerate(names):
        lost = sum(game.outcome == "crash" and game.winner == 1 - side for game in files.results)
        if lost:
            times = sum(game.sides[side].faults.count("crash") for game in files.results)
            failed.append(
                f"{name} failed {counted(times, 'time')} and lost {counted(lost, 'game')} by that"
            )
    if failed:
        faults = files.path / "games" / "*.faults.txt"
        raise CommandFailed(f"{'; '.join(failed)}; see {faults}", status=1)
