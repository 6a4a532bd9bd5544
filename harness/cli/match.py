"""``tilewire match`` and ``tilewire tournament``."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from bot.equipment import tables_for
from bot.registry import SeatError
from bot.seat_text import parse_seat
from engine.rules.rule_sets import rules_in_play
from harness.arbiter.database import JournalError
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.figures import counted
from harness.matches.config import MatchError, TournamentConfig, write_config
from harness.matches.folder import MatchFolder
from harness.matches.progress import MatchProgress, TournamentProgress
from harness.matches.report import test_progress, write_summary
from harness.matches.sequential import State, state_of
from harness.matches.tournament import Tournament, measure_luck
from harness.workers import Cluster, WorkersError, open_cluster
from lexicons.store import Lexicon

from . import options
from .failing import UNREADABLE, CommandFailed, print_json, sentences, stop_status
from .match_settings import (
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
    cluster: options.ClusterOption = None,
    page: options.PageOption = False,
    luck: Annotated[bool, Parameter(negative="")] = False,
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
        luck: Say at the end how much of the result the draws explain, and what it is without.
    """
    options.log_to_stderr(verbose)
    how = Running(cluster, json_, page, luck)
    if resume is not None:
        terms = resumed_config(resume, "match", given, anew=bool(seat_a or config or out))
        go_on(terms, resume, how)
        return
    seats = [seat for seat in (seat_a, seat_b) if seat is not None]
    settings = given if config is None else read_settings(config, given)
    if settings.seats and len(settings.seats) != 2:
        raise CommandFailed(f"{config}: seats must be two (got {len(settings.seats)})")
    seats = seats or settings.seats or []
    if len(seats) != 2:
        raise CommandFailed("a match needs two seats, such as: tilewire match static greedy")
    begin(*configure(seats, settings), out, "matches", how)


def tournament(
    *seats: str,
    given: TournamentSettings = TournamentSettings(),
    out: Path | None = None,
    json_: options.JsonOption = False,
    resume: Path | None = None,
    cluster: options.ClusterOption = None,
    page: options.PageOption = False,
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
    how = Running(cluster, json_, page)
    if resume is not None:
        terms = resumed_config(resume, "tournament", given, anew=bool(seats or out))
        go_on(terms, resume, how)
        return
    entrants, settings = list(seats), given
    if len(entrants) == 1 and entrants[0].endswith(".toml"):
        settings = read_settings(Path(entrants[0]), given)
        entrants = settings.seats or []
    if len(entrants) < 3:
        raise CommandFailed(
            "a tournament needs three seats, such as: tilewire tournament static greedy vanilla"
        )
    begin(*configure(entrants, settings), out, "tournaments", how)


class Running(NamedTuple):
    """How games are run, and what is shown of them."""

    cluster: str | None = None
    as_json: bool = False
    page: bool = False
    luck: bool = False

    def prepare(self, terms: TournamentConfig, words: Lexicon) -> None:
        """Check that the games can be run so, and compile kernels, before there is a clock."""
        for seat in terms.seats if self.cluster else ():
            if not parse_seat(seat).starts_afresh:
                raise CommandFailed(
                    f"--cluster: {seat} is not a seat that a worker can start afresh for each game"
                )
        if self.luck:
            with sentences("--luck: "):
                tables_for(terms.equipment, words.distribution)
        seats = [
            ("", name, parse_seat(seat))
            for name, seat in zip(terms.names, terms.seats, strict=True)
        ]
        if self.cluster:  # whose workers compile for themselves
            try_out(seats, terms.equipment)
        else:
            prepare(seats, terms.equipment)


def begin(
    terms: TournamentConfig, words: Lexicon, out: Path | None, place: str, how: Running
) -> None:
    """Begin a match or tournament in ``out``, by default a new folder in ``place``."""
    check_cores(terms)
    how.prepare(terms, words)
    folder = options.make_folder(out) if out else options.fresh_folder(place)
    if (folder / "match.json").exists():
        raise CommandFailed(
            f"{folder} has a {terms.kind} already; --resume {folder} goes on with it"
        )
    _run(terms, words, folder, how)


def go_on(terms: TournamentConfig, folder: Path, how: Running) -> None:
    """Resume the match or tournament in a folder."""
    with sentences():
        check_guests([parse_seat(seat) for seat in terms.seats], terms.names)
        check_cores(terms)
        warn_of_shared_draws(terms)
    begun = rules_in_play(terms.rules_in_play)
    named = replace(
        options.load_rule_set(terms.rules),
        challenge=begun.challenge,
        challenge_by=begun.challenge_by,
    )
    if rules_in_play(rules_on_wire(named)) != begun:
        raise CommandFailed(
            f"the rules {terms.rules} have changed since the {terms.kind} began", status=1
        )
    words = options.load_equipped(terms.equipment)
    if words.checksum != terms.lexicon_checksum:
        raise CommandFailed(
            f"the words of {terms.lexicon} have changed since the {terms.kind} began", status=1
        )
    how.prepare(terms, words)
    _run(terms, words, folder, how)


FAILURES = (MatchError, JournalError, SeatError, WorkersError, OSError)


def _run(terms: TournamentConfig, words: Lexicon, folder: Path, how: Running) -> None:
    with sentences(kinds=(MatchError, *UNREADABLE), status=1):
        opened = MatchFolder(folder)
        write_config(terms, folder)
    is_told = False

    def tell() -> None:
        nonlocal is_told
        is_told = True
        print_table(files, terms, as_json=how.as_json)

    with opened as files:
        test = _tested(terms, files)
        if test is not None and test().is_decided:
            options.say("the sequential test has decided")
        elif terms.is_match and len(files.counted) >= terms.games:
            options.say(f"all {counted(terms.games, 'game')} are played; --games N goes on to more")
        try:
            with (
                sentences(kinds=FAILURES, status=1),
                open_cluster(how.cluster, options.say) if how.cluster else nullcontext() as workers,
            ):
                options.run(_play(terms, words, files, workers, tell if how.page else None))
                if how.luck:
                    measure_luck(terms, words, files, options.say)
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
    _check_failures(files, terms)


async def _play(
    terms: TournamentConfig,
    words: Lexicon,
    files: MatchFolder,
    cluster: Cluster | None,
    told_on_page: Callable[[], None] | None,
) -> None:
    """Play all games; with a page, ``told_on_page`` prints the result and the page stays."""
    notice = options.say_once()
    progress: MatchProgress | TournamentProgress
    test = _tested(terms, files)
    if terms.is_match:
        a, b = terms.names
        told = None if test is None else lambda: test_progress(test())
        progress = MatchProgress(terms.games, a, b, earlier=files.results, test=told)
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
                OwnScreen(tournament, files, words, sight, options.say)
            )
            options.say(f"the page is {screen.url}; type {screen.code} there")
            if why:
                options.say(f"racks and thoughts show after each game: {why}")
            options.open_in_browser(screen.url)
        with progress:
            if isinstance(progress, TournamentProgress):
                progress.follow(tournament)
            await tournament.play(screen)
        for why in tournament.queue.absences.reasons.values():
            raise MatchError(f"{why}; --resume tries again")
        if told_on_page is not None:
            told_on_page()
            options.say(f"the {terms.kind} is over; its page stays until Ctrl-C")
            await options.until_told_to_stop()


def _tested(terms: TournamentConfig, files: MatchFolder) -> Callable[[], State] | None:
    """Return a function for the state of a match's sequential test, if it has one.

    The state is worked out once for each result.
    """
    test = terms.test
    if test is None:
        return None

    undecided = 0  # pairs

    @lru_cache(maxsize=1)
    def after(_games: int) -> State:
        nonlocal undecided
        state = state_of(test, files.results, undecided)
        undecided = undecided if state.is_decided else state.pairs
        return state

    return lambda: after(len(files.results))


def print_table(files: MatchFolder, terms: TournamentConfig, *, as_json: bool) -> None:
    """Write the summary files of the games so far, and print them as a table or also as JSON."""
    told = write_summary(terms, files)
    if files.counted:
        print(told.text(shutil.get_terminal_size().columns), end="")
    print(f" games and results: {files.path}")
    if list((files.path / "games").glob("*.faults.txt")):
        print(f" what went wrong:   {files.path / 'games'}/*.faults.txt")
    if as_json:
        print_json(told.as_object())


def _check_failures(files: MatchFolder, terms: TournamentConfig) -> None:
    """Raise CommandFailed if a seat lost games because its player failed or was not ready."""
    failed = []
    lost, times, late = Counter[str](), Counter[str](), Counter[str]()
    for game in files.results:
        for side, seat in enumerate(game.sides):
            lost[seat.name] += game.outcome == "crash" and game.winner == 1 - side
            times[seat.name] += seat.faults.count("crash")
            late[seat.name] += game.outcome == "no_show" and game.winner == 1 - side
    for name in terms.names:
        if lost[name]:
            failed.append(
                f"{name} failed {counted(times[name], 'time')} and lost "
                f"{counted(lost[name], 'game')} by that"
            )
    why = f"; see {files.path / 'games' / '*.faults.txt'}" if failed else ""
    failed += [
        f"{name} was not ready in time, or declined, and lost {counted(games, 'game')} by that"
        for name, games in late.items()
        if games
    ]
    if failed:
        raise CommandFailed(f"{'; '.join(failed)}{why}", status=1)
