"""``tilewire match``."""

from __future__ import annotations

import json
import secrets
import sys
import time as clock
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from bot.cores import usable_cores
from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec
from bot.seat_text import parse_seat
from harness.arbiter.clock import LOCAL_READY_MS, check_time_control, lag_quota_ms
from harness.arbiter.journal import JournalError
from harness.matches.match import (
    Match,
    MatchConfig,
    MatchError,
    read_config,
    told_apart,
    write_config,
)
from harness.matches.report import MatchFolder, MatchProgress, table_text
from harness.matches.results import GameResult
from harness.matches.statistics import as_json_object
from harness.seats.engines import Context, engine_for
from harness.seats.seat_factory import Seating
from lexicons.store import Lexicon
from protocol.parts import TimeControl

from .failing import CommandFailed
from .options import (
    Duration,
    JsonOption,
    LeavesOption,
    LexiconOption,
    PonderOption,
    SeedOption,
    ThreadsOption,
    VerboseOption,
    WinprobOption,
    check_pondering,
    equip,
    load_equipped,
    log_to_stderr,
    run,
    say_once,
    writable_folder,
)

__all__ = ["match"]


def match(
    seat_a: str | None = None,
    seat_b: str | None = None,
    /,
    *,
    games: int = 2,
    time: Duration = 25 * 60_000,
    increment: Duration = 0,
    overtime_penalty: int = 10,
    max_overtime: Duration | None = None,
    move_cap: Duration | None = None,
    margin: Duration = 0,
    first_move: Duration | None = None,
    lexicon: LexiconOption = "scowl",
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    threads: ThreadsOption = 1,
    ponder: PonderOption = False,
    seed: SeedOption | None = None,
    concurrency: int = 1,
    transport: Literal["websocket", "pipe"] | None = None,
    out: Path | None = None,
    json_: JsonOption = False,
    resume: Path | None = None,
    verbose: VerboseOption = False,
) -> None:
    """Play a match between two seats and print what came of it.

    A seat is ``greedy``, ``static``, another bot's name, ``module:factory``,
    ``path/to/file.py:factory``, ``ws://host:port/BOT``, or an engine by what it speaks:
    ``siu:PROGRAM``, ``quackle:PROGRAM``, ``magpie:PROGRAM``, ``files:FOLDER``; with options after
    ``?``.

    Args:
        seat_a: The seat that the result is seen from.
        seat_b: The other seat.
        games: How many games; between local seats games 1 and 2 share their draws, seats swapped,
            and so do 3 and 4.
        time: Each side's clock: 25m, 90s, 500ms.
        increment: Added after each move; then there is no overtime.
        overtime_penalty: Points off for each minute of overtime begun.
        max_overtime: More overtime than this loses the game. [default: 10m, 0s with an increment]
        move_cap: The longest that one turn may take.
        margin: By how much a move may come after the deadline.
        first_move: The longest that a seat's first turn may take; more is a no-show.
        lexicon: An embedded lexicon, or a word list or KWG file.
        leaves: trained, formula, or a leave table (KLV2) for local seats. [default: the seats' own]
        winprob: trained, or a table of win probabilities (CSV) for local seats that use one.
        threads: How many each local seat may search with.
        ponder: Let local seats search while their opponent thinks; each needs cores of its own.
        seed: Makes the draws of local seats repeatable.
        concurrency: Games at once.
        transport: How local seats talk to the host. [default: websocket for one game at a time]
        out: Where the journal, results and games go. [default: matches/TIME]
        json_: End with one JSON object on the last line.
        resume: Take up the match in this folder.
        verbose: Log what happens to stderr.
    """
    log_to_stderr(verbose)
    if resume is not None:
        if seat_a is not None:
            raise CommandFailed(f"--resume {resume} has its seats already; name none")
        config, folder = _read(resume), resume
        _check_cores(config)
        words = load_equipped(config.equipment)
    else:
        if seat_a is None or seat_b is None:
            raise CommandFailed("a match needs two seats, such as: tilewire match static greedy")
        if max_overtime is None:
            max_overtime = 0 if increment else 10 * 60_000
        control = TimeControl(
            initial_ms=time,
            increment_ms=increment,
            overtime_penalty=overtime_penalty,
            max_overtime_ms=max_overtime,
            move_cap_ms=move_cap,
            margin_ms=margin,
            first_move_ms=first_move,
            ready_ms=LOCAL_READY_MS,
        )
        equipment = equip(lexicon, leaves, winprob, threads, ponder=ponder)
        seats = (seat_a, seat_b)
        config, words = _configure(seats, games, control, equipment, seed, concurrency, transport)
        _check_cores(config)
        folder = writable_folder(out or Path("matches") / clock.strftime("%Y%m%d-%H%M%S"))
        if (folder / "match.json").exists():
            raise CommandFailed(f"{folder} has a match already; --resume {folder} takes it up")
        write_config(config, folder)
    try:
        run(_play(config, words, folder, as_json=json_))
    except (MatchError, JournalError, SeatError, OSError) as error:
        raise CommandFailed(str(error), status=1) from None
    except KeyboardInterrupt:
        raise CommandFailed(f"stopped; --resume {folder} takes it up", status=130) from None


def _read(folder: Path) -> MatchConfig:
    try:
        return read_config(folder)
    except MatchError as error:
        raise CommandFailed(str(error)) from None


def _configure(
    seats: tuple[str, str],
    games: int,
    control: TimeControl,
    equipment: Equipment,
    seed: int | None,
    concurrency: int,
    transport: Literal["websocket", "pipe"] | None,
) -> tuple[MatchConfig, Lexicon]:
    """Check what was asked for and complete it; load what it is played with."""
    try:
        specs = parse_seat(seats[0]), parse_seat(seats[1])
        check_time_control(control)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    if games < 1 or concurrency < 1:
        raise CommandFailed("--games and --concurrency are 1 or more")
    local = all(spec.starts_afresh for spec in specs)
    cores = usable_cores()
    busy = concurrency * equipment.threads
    if busy > cores and concurrency > 1 and any(spec.kind != "remote" for spec in specs):
        each = f" with --threads {equipment.threads}" if equipment.threads > 1 else ""
        raise CommandFailed(
            f"--concurrency {concurrency}{each} would have players share a core: this machine has "
            f"{cores}, and a move late by the host's own fault is nobody's"
        )
    hosts = [urlsplit(spec.target).hostname or "" for spec in specs if spec.kind == "remote"]
    lag_ms = lag_quota_ms(control.initial_ms, hosts)
    if seed is not None and not local:
        raise CommandFailed(
            "--seed would let a seat that goes on after a game work out the draws; it is for seats "
            "that start afresh on this machine"
        )
    if concurrency > 1 and any(spec.dialect == "files" for spec in specs):
        raise CommandFailed(f"--concurrency {concurrency}: a seat files:… plays one game at a time")
    words = load_equipped(equipment)
    names = told_apart(specs[0].name, specs[1].name)
    _check_engines(specs, names, equipment, words)
    config = MatchConfig(
        seats=(_anywhere(specs[0]), _anywhere(specs[1])),
        names=names,
        games=games,
        time=msgspec.structs.replace(control, lag_ms=lag_ms),
        lexicon=equipment.lexicon,
        lexicon_checksum=words.checksum,
        seed=secrets.randbits(63) if seed is None and local else seed,
        paired=local,
        concurrency=concurrency,
        transport=transport or ("websocket" if concurrency == 1 else "pipe"),
        leaves=equipment.leaves,
        winprob=equipment.win_probabilities,
        threads=equipment.threads,
        ponder=equipment.ponder,
    )
    return config, words


def _check_engines(
    specs: tuple[SeatSpec, SeatSpec], names: tuple[str, str], equipment: Equipment, words: Lexicon
) -> None:
    """See that engines take their options before there is a folder, which would keep them."""
    try:
        for spec, name in zip(specs, names, strict=True):
            if spec.kind == "engine":
                engine_for(spec, Context(name, equipment.lexicon, words, equipment.threads))
    except SeatError as error:
        raise CommandFailed(str(error)) from None


def _check_cores(config: MatchConfig) -> None:
    """See that a match whose seats ponder has the cores for it, also where it is taken up again."""
    if config.ponder:
        here = sum(not seat.startswith(("ws://", "wss://")) for seat in config.seats)
        check_pondering(here * config.concurrency, config.threads, "--concurrency or --threads")


def _anywhere(spec: SeatSpec) -> str:
    """Write a seat so that it means the same in every folder: the match may be resumed in one."""
    if ".py:" not in spec.target or spec.kind != "local":
        return spec.text
    path, _, factory = spec.target.rpartition(":")
    options = urlencode(spec.options, quote_via=quote)
    return f"{quote(path)}:{factory}" + (f"?{options}" if options else "")


def _files(folder: Path) -> MatchFolder:
    try:
        return MatchFolder(folder)
    except ValueError as error:
        raise MatchError(str(error)) from None


async def _play(config: MatchConfig, words: Lexicon, folder: Path, *, as_json: bool) -> None:
    if words.checksum != config.lexicon_checksum:
        raise MatchError(f"{config.lexicon} has other words than when the match began")
    a, b = config.names
    with _files(folder) as files:
        with MatchProgress(config.games, a, b, earlier=files.results) as progress:

            def finished(result: GameResult) -> None:
                files.append(result)
                progress.game_finished(result)

            seating = Seating(
                config.seats,
                config.names,
                config.equipment,
                words,
                seed=config.seed,
                by_websocket=config.transport == "websocket",
                notice=say_once(),
            )
            async with seating:
                match = Match(config, words, folder, seating.open, finished, files.results)
                await match.play()
        stats = files.write_summary(a, b)
        sys.stdout.write(table_text(stats, files.results))
    print(f" games and results: {folder}")
    if list((folder / "games").glob("*.faults.txt")):
        print(f" what went wrong:   {folder / 'games'}/*.faults.txt")
    if as_json:
        print(json.dumps(as_json_object(stats, a, b), ensure_ascii=False))
