"""``tilewire match`` and ``tilewire tournament``."""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from cyclopts import Parameter

from bot.equipment import tables_for
from bot.registry import SeatError
from bot.seat_text import parse_seat
from engine.rules.rule_sets import rules_in_play
from harness.arbiter.database import JournalError
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.figures import counted, number
from harness.matches.config import MatchError, TournamentConfig, read_config, write_config
from harness.matches.folder import FolderContents, MatchFolder
from harness.matches.progress import MatchProgress, TournamentProgress
from harness.matches.report import test_progress, write_summary
from harness.matches.sequential import TestState, expected_pairs, state_of, write_hypothesis
from harness.matches.significance import pairs_needed
from harness.matches.tournament import Tournament, measure_luck
from harness.seats.seat_factory import SeatMaker
from harness.workers import Cluster, WorkersError, open_cluster
from lexicons.store import Lexicon

from . import options
from .failing import UNREADABLE, CommandFailed, print_json, sentences, stop_status
from .match_settings import (
    MOST_TESTED,
    MatchSettings,
    TournamentSettings,
    check_cores,
    check_guests,
    configure,
    read_settings,
    resumed_config,
    warn_of_shared_draws,
)
from .preparing import prepare, try_out


def match(
    seat_a: str | None = None,
    seat_b: str | None = None,
    /,
    *,
    config: Path | None = None,
    given: MatchSettings = MatchSettings(),
    out: Path | None = None,
    json_: options.JsonOption = False,
    resume: Path | None = None,
    cluster: Annotated[options.ClusterOption, options.HERE] = None,
    page: options.PageOption = False,
    require_containment: Annotated[options.ContainedOption, options.HERE] = False,
    luck: Annotated[bool, Parameter(negative="")] = False,
    plan: str | None = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Play a match between two seats and print the result.

    A seat is ``greedy``, ``static``, another bot's name, ``module:factory``,
    ``path/to/file.py``, ``ws://host:port/BOT``, or an engine by what it speaks:
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
        luck: Say at the end how much of the result the draws explain, and what it is without.
        plan: Play ten games, and say how many pairs and hours it takes to know the difference in
            Elo to ±10 (95 %), or what is written in place of 10; and how many for ``--sprt``.
    """
    options.log_to_stderr(verbose)
    options.check_containment(require_containment, cluster=cluster)
    error = re.fullmatch(r"(?:±|\+/?-)?(\d+(?:\.\d+)?)", plan or "0")
    if plan is not None and (error is None or not 1 <= float(error[1]) <= 50):
        raise CommandFailed(f'--plan {plan}: write points of Elo from 1 to 50, such as "±10"')
    if plan is not None and (resume or given.games):
        raise CommandFailed("--plan plays ten games; leave out --games and --resume")
    how = Running(cluster, json_, page, luck, float(error[1]) if error else 0)
    if resume is not None:
        terms = resumed_config(resume, "match", given, anew=bool(seat_a or config or out))
        go_on(terms, resume, how)
        return
    seats = [seat for seat in (seat_a, seat_b) if seat is not None]
    settings = replace(given, seats=seats or None)
    settings = settings if config is None else read_settings(config, settings)
    if not seats and settings.seats and len(settings.seats) != 2:
        raise CommandFailed(f"{config}: seats must be two (got {len(settings.seats)})")
    seats = seats or settings.seats or []
    if len(seats) != 2:
        raise CommandFailed("a match needs two seats, such as: tilewire match static greedy")
    terms, words = configure(seats, settings if plan is None else replace(settings, games=None))
    terms = terms if plan is None else msgspec.structs.replace(terms, games=10)
    begin(terms, words, out, "matches", how)


def tournament(
    *seats: str,
    given: TournamentSettings = TournamentSettings(),
    out: Path | None = None,
    json_: options.JsonOption = False,
    resume: Path | None = None,
    cluster: Annotated[options.ClusterOption, options.HERE] = None,
    page: options.PageOption = False,
    require_containment: Annotated[options.ContainedOption, options.HERE] = False,
    verbose: options.VerboseOption = False,
) -> None:
    """Play a tournament between three seats or more, and print the standings.

    The seats are those of ``tilewire match``. Or there is one file (TOML) with
    ``seats = ["static", "greedy", "sim"]`` and the settings below, such as ``format = "swiss"``;
    options replace what it says.

    The exit status is that of ``tilewire match``.

    Args:
        seats: The seats, the strongest first where seeds matter; or a TOML file.
        out: Where the journal, results and games go. [default: tournaments/TIME]
        json_: End with one JSON object on the last line.
        resume: Go on with the tournament in this folder, to more ``--rounds`` where that is given.
    """
    options.log_to_stderr(verbose)
    options.check_containment(require_containment, cluster=cluster)
    how = Running(cluster, json_, page)
    if resume is not None:
        config = resumed_config(resume, "tournament", given, anew=bool(seats or out))
        go_on(config, resume, how)
        return
    entrants = list(seats)
    settings = given
    if len(entrants) == 1 and entrants[0].endswith(".toml"):
        settings = read_settings(Path(entrants[0]), given)
        entrants = settings.seats or []
    if len(entrants) < 3:
        raise CommandFailed("a tournament needs three seats, such as static greedy vanilla")
    begin(*configure(entrants, settings), out, "tournaments", how)


class Running(NamedTuple):
    """How games are run, and what is shown of them."""

    cluster: str | None = None
    as_json: bool = False
    page: bool = False
    luck: bool = False
    plan: float = 0
    """An error of Elo; 0: nothing is planned."""

    def prepare(self, terms: TournamentConfig, words: Lexicon) -> None:
        """Check that the games can be run so, and compile kernels, before there is a clock."""
        for seat in terms.seats if self.cluster else ():
            if not parse_seat(seat).starts_afresh:
                raise CommandFailed(f"--cluster: workers can't start {seat} afresh for each game")
        if self.luck:
            with sentences("--luck: "):
                tables_for(terms.equipment, words.distribution)
        seats = [
            ("", *named) for named in zip(terms.names, map(parse_seat, terms.seats), strict=True)
        ]
        make_ready = try_out if self.cluster else prepare  # its workers compile for themselves
        make_ready(seats, terms.equipment)


def begin(
    terms: TournamentConfig, words: Lexicon, out: Path | None, place: str, how: Running
) -> None:
    """Begin a match or tournament in ``out``, by default a new folder in ``place``."""
    check_cores(terms)
    how.prepare(terms, words)
    _start_engines(_makers(terms), words)  # or what fails now would lose games for good
    folder = options.make_folder(out) if out else options.fresh_folder(place)
    if (folder / "match.json").exists():
        raise CommandFailed(f"{folder} has a {terms.kind} already; --resume {folder} goes on")
    _run(terms, words, folder, how)


def go_on(terms: TournamentConfig, folder: Path, how: Running) -> None:
    """Resume the match or tournament in a folder."""
    words = options.load_equipped(terms.equipment)
    with sentences():
        try:
            specs = [parse_seat(seat) for seat in terms.seats]
            makers = _makers(terms, folder)
            for maker in makers:
                maker.check(words)
        except SeatError as gone:
            raise CommandFailed(f"{gone}; --seat A=SEAT or B=SEAT says where it is now") from None
        check_guests(specs, terms.names)
        check_cores(terms)
        warn_of_shared_draws(terms)
    begun = rules_in_play(terms.rules_in_play)
    named = options.load_rule_set(terms.rules)
    named = replace(named, challenge=begun.challenge, challenge_by=begun.challenge_by)
    changed = f"have changed since the {terms.kind} began"
    if rules_in_play(rules_on_wire(named)) != begun:
        raise CommandFailed(f"the rules {terms.rules} {changed}", status=1)
    if words.checksum != terms.lexicon_checksum:
        raise CommandFailed(f"the words of {terms.lexicon} {changed}", status=1)
    with sentences(kinds=UNREADABLE, status=1):
        played = counted(len(FolderContents(folder).counted), "game")
        code = tuple(spec.code for spec in specs)
        before = len(read_config(folder).moved)
    moved = list(terms.moved)
    moved_players = moved[before:]
    for spec, name, was, now in zip(specs, terms.names, terms.code, code, strict=False):
        if was and now and was != now:
            what, have = ("program", "has") if spec.kind == "engine" else (".py files", "have")
            moved.append(f"after {played} the {what} of {name} had changed")
            moved_players.append(
                f"the {what} of {name} {have} changed: the {terms.kind} goes on so, and its "
                "report says so; for games of one version only, begin anew without --resume"
            )
    how.prepare(terms, words)
    _start_engines(makers, words, f"{folder} is as it was: ")
    for change in moved_players:
        options.print_notice(change)
    terms = msgspec.structs.replace(terms, moved=tuple(moved), code=code)
    _run(terms, words, folder, how)


def _makers(terms: TournamentConfig, *hidden: Path) -> list[SeatMaker]:
    return [
        SeatMaker(parse_seat(seat), name, terms.equipment, hidden=hidden)
        for seat, name in zip(terms.seats, terms.names, strict=True)
    ]


def _start_engines(makers: list[SeatMaker], words: Lexicon, where: str = "") -> None:
    """Start each engine once before a game is begun or goes on, or fail with its last words."""
    with sentences(where):
        for maker in makers:
            options.run(maker.start_once(words))


FAILURES = (MatchError, JournalError, SeatError, WorkersError, OSError)


def _run(terms: TournamentConfig, words: Lexicon, folder: Path, how: Running) -> None:
    with sentences(kinds=(MatchError, *UNREADABLE), status=1):
        opened = MatchFolder(folder)
        write_config(terms, folder)
    is_told, began = False, time.monotonic()

    def tell() -> None:
        nonlocal is_told
        is_told = True
        hours = (time.monotonic() - began) / 3_600
        print_table(files, terms, as_json=how.as_json, plan=how.plan, hours=hours)

    with opened as files:
        test = _tested(terms, files)
        if test is not None and test().is_decided:
            options.print_notice("the sequential test has decided; no game is added")
        elif terms.is_match and len(files.counted) >= terms.games:
            options.print_notice(
                f"all {counted(terms.games, 'game')} are played; --games N goes on to more"
            )
        try:
            with (
                sentences(kinds=FAILURES, status=1),
                open_cluster(how.cluster, options.print_notice)
                if how.cluster
                else nullcontext() as workers,
            ):
                options.run(_play(terms, words, files, workers, tell if how.page else None))
                if how.luck:
                    measure_luck(terms, words, files, options.print_notice)
        except KeyboardInterrupt as stop:
            played = f"{len(files.counted):,} of {counted(terms.games, 'game')}"
            if not terms.is_match:
                played = counted(len(files.counted), "game")
            raise CommandFailed(
                f"stopped after {played}; tilewire {terms.kind} --resume {folder} goes on",
                status=stop_status(stop),
            ) from None
        finally:
            if (files.results or how.as_json) and (how.luck or not is_told):
                tell()
    # Not by score, and not by choice.
    lost = defaultdict[str, Counter[str]](Counter)
    for game in files.results:
        if game.winner is not None and game.forfeit and game.outcome not in ("resign", "challenge"):
            lost[game.sides[1 - game.winner].name][game.outcome] += 1
    told = [
        f"{name} lost {counted(by.total(), 'game')} by its faults: "
        + ", ".join(f"{count} by {outcome}" for outcome, count in by.most_common())
        for name, by in lost.items()
    ]
    if told:
        seen = list((files.path / "games").glob("*.faults.txt"))
        why = f"; see {files.path / 'games' / '*.faults.txt'}" if seen else ""
        raise CommandFailed(f"{'; '.join(told)}{why}", status=1)


async def _play(
    terms: TournamentConfig,
    words: Lexicon,
    files: MatchFolder,
    cluster: Cluster | None,
    told_on_page: Callable[[], None] | None,
) -> None:
    """Play all games; with a page, ``told_on_page`` prints the result and the page stays."""
    notice = options.notice_once()
    progress: MatchProgress | TournamentProgress
    test = _tested(terms, files)
    if terms.is_match:
        a, b = terms.names
        show_test = None if test is None else lambda: test_progress(test())
        progress = MatchProgress(terms.games, a, b, earlier=files.results, test=show_test)
    else:
        progress = TournamentProgress(terms, files)
    enough = (lambda: False) if test is None else (lambda: test().is_decided)
    browsers = Path.home() / "snap"  # they keep files there, under no hidden name
    tournament = Tournament(
        terms,
        words,
        files,
        progress.game_finished,
        notice,
        enough,
        cluster,
        hidden=() if told_on_page is None else (browsers,),
        hold=files.pause.exists,
    )
    async with AsyncExitStack() as opened:
        screen = None
        if told_on_page is not None:
            # These import the server, which matches without a page do without.
            from harness.server.own_screen import OwnScreen, why_not_live
            from harness.server.web import OwnSight

            why = why_not_live(terms.seats)
            sight = OwnSight(not why, why)
            screen = await opened.enter_async_context(
                OwnScreen(tournament, files, words, sight, options.print_notice).listening()
            )
            options.print_notice(f"the page is {screen.url}; type {screen.code} there")
            if why:
                options.print_notice(f"racks and thoughts show after each game: {why}")
            options.open_in_browser(screen.url)
        with progress:
            if isinstance(progress, TournamentProgress):
                progress.tournament = tournament
            pausing = asyncio.create_task(_pause(tournament, files, progress))
            try:
                await tournament.play(screen)
            finally:
                pausing.cancel()
        for why in tournament.queue.absences.reasons.values():
            raise MatchError(f"{why}; --resume tries again")
        if told_on_page is not None:
            told_on_page()
            options.print_notice(f"the {terms.kind} is over; its page stays until Ctrl-C")
            await options.until_interrupted()


async def _pause(
    tournament: Tournament, files: MatchFolder, progress: MatchProgress | TournamentProgress
) -> None:
    """Say when a file lets no game begin, and have games begin again when it is gone; endless."""
    is_paused = False
    while True:
        if files.pause.exists() != is_paused:
            is_paused = not is_paused
            progress.pause(is_paused)
            options.print_notice(
                f"paused: games under way are played to their end, and no other begins; "
                f"rm {files.pause} goes on"
                if is_paused
                else f"{files.pause} is gone: games begin again"
            )
            tournament.queue.look_again()
        await asyncio.sleep(0.5)


def _tested(terms: TournamentConfig, files: MatchFolder) -> Callable[[], TestState] | None:
    """Return a function for the state of a match's sequential test, if it has one.

    The state is worked out once for each result.
    """
    test = terms.test
    if test is None:
        return None

    undecided = 0  # pairs

    @lru_cache(maxsize=1)
    def after(_games: int) -> TestState:
        nonlocal undecided
        state = state_of(test, files.results, undecided)
        undecided = undecided if state.is_decided else state.pairs
        return state

    return lambda: after(len(files.results))


def print_table(
    files: MatchFolder, terms: TournamentConfig, *, as_json: bool, plan: float = 0, hours: float = 0
) -> None:
    """Write the summary files of the games so far, and print them as a table or also as JSON.

    ``plan`` is a wanted error in Elo: also print how many pairs it takes, and how many hours, given
    that the games so far took ``hours``.
    """
    summary = write_summary(terms, files)
    planned: dict[str, Any] = {}
    if files.counted:
        print(summary.text(shutil.get_terminal_size().columns), end="")
    print(f" games and results: {files.path}")
    if list((files.path / "games").glob("*.faults.txt")):
        print(f" what went wrong:   {files.path / 'games'}/*.faults.txt")
    if plan and files.counted:
        pairs = pairs_needed(plan)
        games = 2 * pairs
        pace = 2 * hours / len(files.counted)
        planned = {"elo_error": plan, "pairs": pairs, "hours": pairs * pace}
        label = f"±{plan:g} Elo (95 %):"
        print(
            f" {label:<18} {pairs:,} pairs, {number(pairs * pace, 2)} hours at this pace,\n"
            "                    for independent games of equal players; equal draws take\n"
            "                    fewer pairs, 200 Elo between the players a third more;\n"
            f"                    a true {plan:g} Elo is then shown in half of all matches"
        )
        if test := terms.test:
            games = MOST_TESTED
            h0, h1 = write_hypothesis(test, test.h0), write_hypothesis(test, test.h1)
            truths = f"if {h0} is true", "halfway between", f"if {h1} is true"
            expected = expected_pairs(test, files.results)
            lines = [
                f"{count:,} pairs, {number(count * pace, 2)} hours, {truth}"
                for count, truth in zip(expected, truths, strict=bool(expected))
            ]
            if lines:
                games = max(games, 4 * max(expected))  # some tests take twice as many
                print(" sequential test:  ", f",\n{'':20}".join(lines))
            planned["test_pairs"] = expected
        print(f" to play them:      tilewire match --resume {files.path} --games {games}")
    if as_json:
        print_json(summary.as_object() | ({"plan": planned} if planned else {}))
