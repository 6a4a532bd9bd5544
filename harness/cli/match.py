"""``tilewire match``."""

from __future__ import annotations

import json
import secrets
import sys
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, urlencode, urlsplit

from cyclopts import Parameter

from bot.cores import usable_cores
from bot.registry import SeatError, SeatSpec
from bot.seat_text import parse_seat
from harness.arbiter.clock import LOCAL_READY_MS, check_time_control, lag_quota_ms
from harness.arbiter.journal import JournalError
from harness.figures import counted
from harness.matches.match import (
    Match,
    MatchConfig,
    MatchError,
    read_config,
    told_apart,
    write_config,
)
from harness.matches.report import MatchFolder, MatchProgress, table_text
from harness.matches.statistics import as_json_object
from harness.seats.seat_factory import SeatMaker
from lexicons.store import Lexicon
from protocol.parts import TimeControl

from . import options
from .failing import CommandFailed, sentences


@Parameter(name="*")
@dataclass(frozen=True)
class _Clock:
    """How long each side may think."""

    time: options.TimeOption = 25 * 60_000
    increment: options.IncrementOption = 0
    overtime_penalty: int = 10
    """Points off for each minute of overtime begun."""
    max_overtime: options.Duration | None = None
    """More overtime than this loses the game. [default: 10m, 0s with an increment]"""
    move_cap: options.Duration | None = None
    """Cap per turn."""
    margin: options.Duration = 0
    """How late a move may come after the deadline."""
    first_move: options.FirstMoveOption | None = None

    def control(self, hosts: list[str]) -> TimeControl:
        """Return the time control of games whose remote seats are on these hosts."""
        overtime = 0 if self.increment else 10 * 60_000
        return TimeControl(
            initial_ms=self.time,
            increment_ms=self.increment,
            overtime_penalty=self.overtime_penalty,
            max_overtime_ms=overtime if self.max_overtime is None else self.max_overtime,
            move_cap_ms=self.move_cap,
            margin_ms=self.margin,
            first_move_ms=self.first_move,
            lag_ms=lag_quota_ms(self.time, hosts),
            ready_ms=LOCAL_READY_MS,
        )


@Parameter(name="*")
@dataclass(frozen=True)
class _Terms:
    """The terms of a new match."""

    games: Annotated[
        options.GamesOption,
        Parameter(
            help="How many games. Between local seats games 1 and 2 share their draws, with the "
            "seats swapped, and so do 3 and 4."
        ),
    ] = 2
    clock: _Clock = _Clock()
    search: options.SearchOptions = options.SearchOptions()
    seed: Annotated[
        options.SeedOption | None, Parameter(help="Makes the draws of local seats repeatable.")
    ] = None
    concurrency: options.Count = 1
    """Games at once."""
    transport: Literal["websocket", "pipe"] | None = None
    """How local seats talk to the host. [default: websocket for one game at a time]"""


def match(
    seat_a: str | None = None,
    seat_b: str | None = None,
    /,
    *,
    terms: _Terms = _Terms(),
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

    Args:
        seat_a: The seat that the result is seen from.
        seat_b: The other seat.
        out: Where the journal, results and games go. [default: matches/TIME]
        json_: End with one JSON object on the last line.
        resume: Take up the match in this folder.
    """
    options.log_to_stderr(verbose)
    if resume is not None:
        if seat_a is not None:
            raise CommandFailed(f"--resume {resume} has its seats already; name none")
        with sentences(kinds=(MatchError,)):
            config, folder = read_config(resume), resume
        _check_cores(config)
        words = options.load_equipped(config.equipment)
        _try_out(config)
    else:
        if seat_a is None or seat_b is None:
            raise CommandFailed("a match needs two seats, such as: tilewire match static greedy")
        config, words = _configure((seat_a, seat_b), terms)
        _check_cores(config)
        _try_out(config)  # before there is a folder
        folder = options.writable_folder(out or Path("matches") / clock.strftime("%Y%m%d-%H%M%S"))
        if (folder / "match.json").exists():
            raise CommandFailed(f"{folder} has a match already; --resume {folder} takes it up")
        write_config(config, folder)
    try:
        with sentences(kinds=(MatchError, JournalError, SeatError, OSError), status=1):
            options.run(_play(config, words, folder, as_json=json_))
    except KeyboardInterrupt:
        raise CommandFailed(f"stopped; --resume {folder} takes it up", status=130) from None


def _configure(seats: tuple[str, str], terms: _Terms) -> tuple[MatchConfig, Lexicon]:
    """Check the terms, and load the words that are played with."""
    equipment = terms.search.equipment()
    with sentences():
        specs = parse_seat(seats[0]), parse_seat(seats[1])
        names = told_apart(specs[0].name, specs[1].name)
        hosts = [urlsplit(spec.target).hostname or "" for spec in specs if spec.kind == "remote"]
        control = terms.clock.control(hosts)
        check_time_control(control)
        _check_concurrency(terms.concurrency, equipment.threads, specs)
        local = all(spec.starts_afresh for spec in specs)
        if terms.seed is not None and not local:
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
        games=terms.games,
        time=control,
        lexicon=equipment.lexicon,
        lexicon_checksum=words.checksum,
        seed=secrets.randbits(63) if terms.seed is None and local else terms.seed,
        paired=local,
        concurrency=terms.concurrency,
        transport=terms.transport or ("websocket" if terms.concurrency == 1 else "pipe"),
        leaves=equipment.leaves,
        winprob=equipment.win_probabilities,
        threads=equipment.threads,
        ponder=equipment.ponder,
    )
    return config, words


def _check_concurrency(games: int, threads: int, specs: tuple[SeatSpec, SeatSpec]) -> None:
    """Check that this machine can play several games at once."""
    cores = usable_cores()
    if games > 1 and games * threads > cores and any(spec.kind != "remote" for spec in specs):
        each = f" with --threads {threads}" if threads > 1 else ""
        raise CommandFailed(
            f"--concurrency {games}{each} would have players share a core: this machine has "
            f"{cores}, and a move late by the host's own fault is nobody's"
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


async def _play(config: MatchConfig, words: Lexicon, folder: Path, *, as_json: bool) -> None:
    if words.checksum != config.lexicon_checksum:
        raise MatchError(f"{config.lexicon} has other words than when the match began")
    a, b = config.names
    with sentences(status=1):
        opened = MatchFolder(folder)
    with opened as files:
        with MatchProgress(config.games, a, b, earlier=files.results) as progress:
            notice = options.say_once()
            await Match(config, words, files, progress.game_finished, notice).play()
        stats = files.write_summary(a, b)
        sys.stdout.write(table_text(stats, files.results))
    print(f" games and results: {folder}")
    if list((folder / "games").glob("*.faults.txt")):
        print(f" what went wrong:   {folder / 'games'}/*.faults.txt")
    if as_json:
        print(json.dumps(as_json_object(stats), ensure_ascii=False))
    failed = [
        f"{side.name} failed {counted(side.faults.get('crash', 0), 'time')} and lost "
        f"{counted(side.forfeits['crash'], 'game')} by that"
        for side in stats.sides
        if side.forfeits.get("crash")
    ]
    if failed:
        raise CommandFailed(f"{'; '.join(failed)}; see {folder / 'games'}/*.faults.txt", status=1)
