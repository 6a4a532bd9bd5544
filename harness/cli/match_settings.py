"""The settings of matches and tournaments: options, the keys of a TOML file, and their checks."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

import msgspec
from cyclopts import Parameter
from msgspec import Meta

from bot.cores import usable_cores
from bot.players.options import parse_duration
from bot.registry import LEVELS, SeatError, SeatSpec
from bot.seat.containment import containment
from bot.seat_text import LONGEST_NAME, beside, parse_seat
from engine.notation.cgp import read_cgp
from engine.rules.challenges import ChallengeRule
from engine.rules.rule_sets import rule_set_names, rules_in_play
from engine.rules.rules import Rules
from harness.arbiter.clock import LOCAL_READY_MS, check_time_control, lag_quota_ms
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.config_file import read_config_file
from harness.figures import counted, plain, some
from harness.matches.config import (
    Format,
    MatchError,
    TournamentConfig,
    read_config,
    unambiguous_names,
)
from harness.matches.folder import FolderContents
from harness.matches.openings import begins_empty, read_openings, unknown_words
from harness.matches.ratings import check_anchors
from harness.matches.sequential import FEWEST_PAIRS, Measure, SequentialTest, parse_hypotheses
from harness.seats.seat_factory import SeatMaker
from lexicons.package_lists import PACKAGE_LISTS
from lexicons.store import Lexicon, lexicon_names
from lexicons.tables import TABLE_NAMES
from protocol.parts import TimeControl

from . import options
from .failing import UNREADABLE, CommandFailed, sentences

WHOLE_GAMES = ("files", "quackle")
"""Dialects of engines that can't begin in a position."""

MOST_TESTED = 20_000
"""The most games of a match with a sequential test, unless ``--games`` is given."""

_OWN_ROUNDS = "--rounds: a knockout has as many rounds as its seats need"


_FILES = ("rules", "lexicon", "leaves", "winprob", "openings")
"""Keys whose value is a file, unless it is a name that is known."""

_GAMES, _TEST = options.group("Games", 1), options.group("Sequential test", 5)

_Duration: TypeAlias = Annotated[
    str, options.CLOCKS, Parameter(metavar="DURATION", allow_leading_hyphen=True)
]
"""A duration as it is written, ``25m``, here and in a file."""
_DURATIONS = ("time", "increment", "max_overtime", "move_cap", "margin", "first_move")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EventSettings:
    """What matches and tournaments have in common: options, and keys of a TOML file."""

    seats: Annotated[list[str] | None, Parameter(parse=False)] = None
    """Only a key: on the command line they are arguments."""
    games: Annotated[options.Count | None, _GAMES] = None
    """How many games; of a tournament, how many for each pairing; with --resume of a match, the new
    total. Between local seats games 1 and 2 have the same draws, with the seats swapped, and so do
    3 and 4. [default: 2]"""
    name: Annotated[list[str] | None, Parameter(negative=""), _GAMES] = None
    """Name a seat: A=NAME the first, B=NAME the second; 27=NAME the 27th. [default: the bot's name,
    and what tells namesakes apart]"""
    seat: Annotated[list[str] | None, Parameter(negative=""), _GAMES] = None
    """With --resume, where the bot of a seat is now: A=SEAT the first, B=SEAT the second; 27=SEAT
    the 27th. [default: where it was]"""
    overtime_penalty: Annotated[int | None, options.CLOCKS] = None
    """Points off for each minute of overtime begun. [default: 10]"""
    rules: Annotated[options.RulesOption, options.WORDS] = None
    challenge: Annotated[ChallengeRule | None, options.WORDS] = None
    """What a challenge of a play costs who is wrong; void: an illegal word is refused at once.
    [default: as the rule set says, mostly void]"""
    lexicon: Annotated[options.RulesLexiconOption | None, options.WORDS] = None
    leaves: Annotated[options.LeavesOption, options.WORDS] = None
    winprob: Annotated[options.WinprobOption, options.WORDS] = None
    threads: Annotated[options.ThreadsOption | None, Parameter(show_default="1"), options.HERE] = (
        None
    )
    ponder: Annotated[options.PonderOption, options.HERE] = False
    seed: Annotated[
        options.SeedOption | None,
        Parameter(help="Makes the draws of local seats repeatable."),
        _GAMES,
    ] = None
    openings: Annotated[Path | None, _GAMES] = None
    """A file of positions that games begin in, a line each: a CGP, GAME.gcg@LINE, or first racks
    such as AEINRST. The two games of a pair have one of them, with the seats swapped; every pairing
    gets the same. [default: an empty board]"""
    concurrency: Annotated[options.Count | None, options.HERE] = None
    """Games at once. [default: 1]"""
    transport: Annotated[Literal["websocket", "pipe"] | None, options.HERE] = None
    """How local seats talk to the host. [default: websocket for one game at a time]"""
    time: _Duration | None = None
    """Each side's clock: 25m, 90s, 500ms. [default: 25m]"""
    increment: _Duration | None = None
    """Time added after each move; with it there is no overtime. [default: 0s]"""
    max_overtime: _Duration | None = None
    """More overtime than this loses the game. [default: 10m; 0s with an increment]"""
    move_cap: _Duration | None = None
    """Cap on each turn; a seat that takes longer has lost. [default: none]"""
    margin: _Duration | None = None
    """How late after its deadline a move is still accepted. [default: 0s]"""
    first_move: _Duration | None = None
    """Cap on a seat's first turn; a seat that takes longer has lost."""

    def given(self) -> dict[str, Any]:
        """Return the settings that were given, by name."""
        unset = vars(type(self)())
        return {name: value for name, value in vars(self).items() if value != unset[name]}

    def ms(self, name: str) -> int | None:
        """Return a duration in milliseconds, None if it is not given; or fail."""
        text = getattr(self, name)
        if "+" in (text or ""):
            raise CommandFailed(f"--{name} {text}: write --time 10s --increment 100ms for 10+0.1")
        with sentences(f"--{name.replace('_', '-')}: "):
            return None if text is None else parse_duration(text)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MatchSettings(EventSettings):
    """Settings of a match, which a sequential test may end."""

    sprt: Annotated[str | None, _TEST] = None
    """Play until a sequential test accepts one of two differences of strength, in Elo (0,10) or in
    win rate above 50 % (0%,1%). --games is then the most games, 20,000 if not given.
    [default: none]"""
    sprt_spread: Annotated[str | None, _TEST] = None
    """The same for the spread a game: 0,5. [default: none]"""
    alpha: Annotated[float | None, _TEST] = None
    """Chance that the test accepts the larger difference if the smaller is true. [default: 0.05]"""
    beta: Annotated[float | None, _TEST] = None
    """Chance that the test accepts the smaller difference if the larger is true. [default: 0.05]"""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TournamentSettings(EventSettings):
    """Settings of a tournament."""

    format: Annotated[Format | None, _GAMES] = None
    """Who meets whom, round by round. [default: round-robin]"""
    rounds: Annotated[options.Count | None, _GAMES] = None
    """Rounds of a Swiss; of a round robin or gauntlet, how often each meets each; with --resume, a
    number to go on to. [default: 1]"""
    anchor: Annotated[list[str] | None, Parameter(negative=""), _GAMES] = None
    """A rating that is held fixed: NAME=1500; without any, their mean is 0."""
    hill: Annotated[Annotated[int, Meta(ge=0)] | None, _GAMES] = None
    """How many of the last rounds of a Swiss are king of the hill: the first meets the second, the
    third the fourth, even if they have met before. [default: 0]"""


_S = TypeVar("_S", bound=EventSettings)


def read_settings(path: Path, given: _S) -> _S:
    """Read the settings of a file, which those ``given`` replace; or fail.

    Paths in the file are relative to it.
    """
    with sentences():
        values = read_config_file(path, type(given))
    replaced, here = given.given(), dict[str, Any]()
    with sentences(f"{path}: "):
        for name in _DURATIONS:
            parse_duration(getattr(values, name) or "0s")
        built_in = {*rule_set_names(), *lexicon_names(), *PACKAGE_LISTS, *TABLE_NAMES}
        for name in _FILES:
            value = getattr(values, name)
            if value is not None and name not in replaced and value not in built_in:
                here[name] = type(value)(beside(str(value), path.parent))
        if values.seats and "seats" not in replaced:
            here["seats"] = [_seat(text, path.parent).anywhere for text in values.seats]
    return replace(values, **here | replaced)


def configure(
    seats: Sequence[str], settings: EventSettings, *, guests_at: str | None = None
) -> tuple[TournamentConfig, Lexicon]:
    """Return the configuration of these seats and settings, checked, and its words; or fail.

    ``guests_at`` is the host of the server that guests dial in to, if there is one.
    """
    if settings.seat:
        raise CommandFailed("--seat is for a match that goes on; it needs --resume FOLDER")
    threads, ponder = settings.threads or 1, settings.ponder
    equipment = options.equipment_named(vars(settings), threads, ponder=ponder)
    rules = options.load_rule_set(equipment.rules)
    rules = replace(rules, challenge=settings.challenge or rules.challenge)
    plan = settings if isinstance(settings, TournamentSettings) else TournamentSettings()
    rounds, hill = plan.rounds or 1, plan.hill or 0
    test = _test(settings) if isinstance(settings, MatchSettings) else None
    concurrency, seed = settings.concurrency or 1, settings.seed
    with sentences():
        specs = [_seat(text) for text in seats]
        names = _named(settings.name or [], unambiguous_names(*specs))
        check_guests(specs, names, guests_at)
        control = _time_control(settings, specs, guests_at)
        check_time_control(control)
        users = any(spec.kind == "local" and not spec.built_in for spec in specs)
        contained = users and containment().apart
        _check_shared_draws(specs, settings, contained=contained, is_tested=test is not None)
        words = options.load_equipped(equipment)
        for spec, name in zip(specs, names, strict=True):
            SeatMaker(spec, name, equipment).check(words)
    openings = _openings(settings.openings, specs, words, rules)
    if seed is None and sum(not other.may_remember(contained=contained) for other in specs) > 1:
        seed = secrets.randbits(63)
    if hill and plan.format != "swiss":
        raise CommandFailed(f"--hill {hill}: only rounds of a Swiss can be king of the hill")
    if hill > rounds:
        raise CommandFailed(f"--hill {hill}: rounds is {rounds}; hill can be {rounds} at most")
    if plan.format == "knockout" and plan.rounds is not None:
        raise CommandFailed(_OWN_ROUNDS)
    games = settings.games or (MOST_TESTED if test else 2)
    if test and games < 2 * FEWEST_PAIRS:
        options.print_notice(
            f"a test needs {FEWEST_PAIRS} pairs of games; --games {games} can't decide it"
        )
    config = TournamentConfig(
        seats=tuple(spec.anywhere for spec in specs),
        names=names,
        code=tuple(spec.code for spec in specs),
        games=games,
        time=control,
        lexicon=equipment.lexicon,
        lexicon_checksum=words.checksum,
        rules=equipment.rules,
        rules_in_play=rules_on_wire(rules),
        seed=seed,
        contained=contained,
        test=test,
        anchors=_read_anchors(plan.anchor or [], names),
        format=plan.format or "round-robin",
        rounds=rounds,
        hill=hill,
        openings=openings,
        concurrency=concurrency,
        transport=settings.transport or ("websocket" if concurrency == 1 else "pipe"),
        leaves=equipment.leaves,
        winprob=equipment.win_probabilities,
        threads=equipment.threads,
        ponder=equipment.ponder,
    )
    return config, words


def _time_control(
    settings: EventSettings, specs: Sequence[SeatSpec], guests_at: str | None
) -> TimeControl:
    """Return the clocks, by default 25 minutes a side and as tournaments have overtime."""
    time, increment = settings.ms("time"), settings.ms("increment") or 0
    time = 25 * 60_000 if time is None else time
    max_overtime, penalty = settings.ms("max_overtime"), settings.overtime_penalty
    if max_overtime is None:
        max_overtime = 0 if increment else 10 * 60_000
    hosts = [urlsplit(spec.target).hostname or "" for spec in specs if spec.kind == "remote"]
    return TimeControl(
        initial_ms=time,
        increment_ms=increment,
        overtime_penalty=10 if penalty is None else penalty,
        max_overtime_ms=max_overtime,
        move_cap_ms=settings.ms("move_cap"),
        margin_ms=settings.ms("margin") or 0,
        first_move_ms=settings.ms("first_move"),
        lag_ms=lag_quota_ms(time, hosts + ([] if guests_at is None else [guests_at])),
        ready_ms=LOCAL_READY_MS,
    )


def _check_shared_draws(
    specs: Sequence[SeatSpec], settings: EventSettings, *, contained: bool, is_tested: bool
) -> None:
    """Fail if a seat could remember earlier games where a seed or a sequential test forbids it."""
    reasons = {spec.text: spec.may_remember(contained=contained) for spec in specs}
    rememberers = [(text, why) for text, why in reasons.items() if why]
    if not rememberers:
        return
    if settings.seed is not None:
        text, why = rememberers[0]
        raise CommandFailed(
            f"--seed is for seats that carry nothing to their next game; {text} could: {why}"
        )
    # Files that a seat leaves behind spoil no test; a process that goes on does.
    if is_tested and not all(spec.starts_afresh for spec in specs):
        raise CommandFailed(
            "a sequential test counts games that are alike; both seats must start afresh on this "
            "machine for each game"
        )


def warn_of_shared_draws(terms: TournamentConfig) -> None:
    """Say which seats of a resumed match could now remember the draws that its pairs share."""
    specs = map(parse_seat, terms.seats)
    users = any(spec.kind == "local" and not spec.built_in for spec in specs)
    contained = users and containment().apart
    begun = terms.fresh_draws()
    for name, why in terms.fresh_draws(contained).items():
        if name not in begun and terms.seed is not None:
            options.print_notice(
                f"{name} could remember the draws of a pair's first game ({why}); the pairs "
                f"share them all the same, as when the {terms.kind} began"
            )


def _seat(text: str, folder: Path = Path()) -> SeatSpec:
    try:
        return parse_seat(text, folder)
    except SeatError:
        if text in LEVELS:
            seat, _ = LEVELS[text]
            raise CommandFailed(f"{text} is a level of tilewire play: {seat}") from None
        raise


def _openings(
    file: Path | None, specs: Sequence[SeatSpec], words: Lexicon, rules: Rules
) -> tuple[str, ...]:
    """Read the openings, and check that the seats can begin in them."""
    if file is None:
        return ()
    with sentences(kinds=UNREADABLE):
        openings = read_openings(file, rules, options.notice_once())
    _check_openings(openings, specs, rules)
    boards = [read_cgp(opening, rules).board for opening in openings]
    if unknown := unknown_words(boards, words):
        lacking = counted(len(unknown), "word")
        options.print_notice(
            f"{file} has {lacking} that {words.name} lacks, which stay: {some(unknown)}"
        )
    return openings


def _check_openings(openings: Sequence[str], specs: Sequence[SeatSpec], rules: Rules) -> None:
    if all(begins_empty(opening, rules) for opening in openings):
        return
    for spec in specs:
        if spec.dialect in WHOLE_GAMES:
            raise CommandFailed(
                f"--openings: {spec.text} can only begin on an empty board; give first racks"
            )


def _read_anchors(texts: Sequence[str], names: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Read ``NAME=RATING``; return the entrants whose ratings stay fixed, with these; or fail."""
    anchors: dict[str, float] = {}
    for text in texts:
        name, _, rating = text.rpartition("=")
        if name and name not in names:
            raise CommandFailed(
                f"--anchor {text}: no entrant {name}; there are {', '.join(names) or 'none yet'}"
            )
        if name not in names or not re.fullmatch(r"-?\d+(\.\d+)?", rating):
            raise CommandFailed(
                f"--anchor {text}: write the name of an entrant and its rating, "
                f"{names[0] if names else 'NAME'}=1500"
            )
        anchors[name] = float(rating)
    with sentences("--anchor: "):
        check_anchors(anchors)
    return tuple(anchors.items())


def _test(settings: MatchSettings) -> SequentialTest | None:
    """Return the sequential test that is asked for, if any; or fail."""
    test_options = settings.given().keys() & {"sprt", "sprt_spread", "alpha", "beta"}
    if not test_options:
        return None
    if (settings.sprt is None) == (settings.sprt_spread is None):
        raise CommandFailed("give one of --sprt and --sprt-spread; --alpha and --beta need it")
    measure: Measure = "points" if settings.sprt else "spread"
    with sentences("--sprt: " if settings.sprt else "--sprt-spread: "):
        h0, h1 = parse_hypotheses(settings.sprt or settings.sprt_spread or "", measure)
        alpha = 0.05 if settings.alpha is None else settings.alpha
        beta = 0.05 if settings.beta is None else settings.beta
        return SequentialTest(h0, h1, measure, alpha, beta)


def resumed_config(
    folder: Path, kind: Literal["match", "tournament"], settings: EventSettings, *, anew: bool
) -> TournamentConfig:
    """Read the configuration to resume in a folder, with more games or rounds if these are set.

    Fail if it can't be resumed so. ``anew``: whether options of a new match were given, too: seats,
    a file or a folder.
    """
    with sentences(kinds=(MatchError,)):
        config = read_config(folder)
    if config.kind != kind:
        raise CommandFailed(
            f"{folder} has a {config.kind}; tilewire {config.kind} --resume {folder} goes on"
        )
    more: Literal["games", "rounds"] = "games" if kind == "match" else "rounds"
    if anew or settings.given().keys() - {more, "seat", "concurrency"}:
        raise CommandFailed(
            f"--resume {folder} has its seats and settings already; only --{more} and "
            "--concurrency can be given, and --seat for a bot that has moved"
        )
    least, there = getattr(settings, more), getattr(config, more)
    if least is not None and more == "rounds" and config.format == "knockout":
        raise CommandFailed(_OWN_ROUNDS)
    if least is not None and least < there:
        raise CommandFailed(
            f"--{more} {least}: the {config.kind} in {folder} was set to {there:,}, played or not; "
            "write more than that, or leave it out"
        )
    seats, moved = list(config.seats), list[str]()
    if settings.seat:
        with sentences(kinds=(MatchError, *UNREADABLE)):
            played = counted(len(FolderContents(folder).counted), "game")
            for text in settings.seat:
                index, new = _side("seat", text, config.names)
                was, seats[index] = seats[index], _seat(new).anywhere
                line = f"after {played} {config.names[index]} moved from {was} to {seats[index]}"
                old, now = (
                    set(option.partition("?")[2].split("&")) for option in (was, seats[index])
                )
                for how, changed in (("without", old - now), ("with", now - old)):
                    shown = sorted(
                        option for option in changed if option and not option.startswith("folder=")
                    )
                    line += f", {how} {', '.join(shown)}" if shown else ""
                moved.append(line)
            specs = [parse_seat(seat) for seat in seats]
            contained, tests = bool(config.contained), config.test is not None
            _check_shared_draws(specs, settings, contained=contained, is_tested=tests)
            _check_openings(config.openings, specs, rules_in_play(config.rules_in_play))
    return msgspec.structs.replace(
        config,
        **{more: least or there},
        seats=tuple(seats),
        moved=(*config.moved, *moved),
        concurrency=settings.concurrency or config.concurrency,
    )


def _side(option: str, text: str, names: Sequence[str]) -> tuple[int, str]:
    """Return which seat ``B=VALUE``, ``2=VALUE`` or ``NAME=VALUE`` is about, from 0; and VALUE."""
    side, _, value = text.partition("=")
    letter = ascii_uppercase.find(side) if len(side) == 1 else -1
    index = int(side) - 1 if side.isdecimal() else letter
    called = [name for name in names if text.startswith(f"{name}=")]
    if not 0 <= index < len(names) and len(called) == 1:
        index, value = names.index(called[0]), text[len(called[0]) + 1 :]
    if not 0 <= index < len(names) or not value:
        what, seats = option.upper(), ", ".join(names)
        raise CommandFailed(
            f"--{option} {text}: there is no seat {side}, or no {what}; the seats are {seats}: "
            f"write A={what} for {names[0]}, B={what} for {names[1]}"
        )
    return index, value


def _named(given: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all seats: that ``given`` as ``B=NAME`` or ``2=NAME``, else its own."""
    called = list(names)
    for text in given:
        index, name = _side("name", text, names)
        if len(name) > LONGEST_NAME or plain(name) != name or name != name.strip():
            raise CommandFailed(
                f"--name {plain(text)}: a name has at most {LONGEST_NAME} characters, all of them "
                "printable, and no space at its ends"
            )
        if called[index] != names[index]:
            raise CommandFailed(f"--name {text}: that seat is called {called[index]} already")
        called[index] = name
    for name in called:
        if called.count(name) > 1:
            which = "both" if len(names) == 2 else f"{called.count(name)}"
            raise CommandFailed(f"{which} seats are called {name}; --name A=NAME renames the first")
    return tuple(called)


def check_guests(specs: Sequence[SeatSpec], names: Sequence[str], at: str | None = None) -> None:
    """Check that guests have a server to log in to, and are named as they log in."""
    for spec, name in zip(specs, names, strict=True):
        if spec.kind == "guest" and at is None:
            raise CommandFailed(
                f"{spec.text} waits for a player that logs in to a server; "
                "tilewire serve --tournament FILE runs a tournament with guests"
            )
        if spec.kind == "guest" and name != spec.name:
            raise CommandFailed(
                f"{spec.text} would be called {name}; a guest is called as it logs in, and nobody "
                "else may have its name"
            )


def check_cores(config: TournamentConfig, *, directed: bool = False) -> None:
    """Check that the seats allow these games at once, and this machine has the cores for them.

    Called again when a match is resumed, since seats and machine may have changed.
    """
    specs = [parse_seat(seat) for seat in config.seats]
    local_seats = sum(spec.kind not in ("remote", "guest") for spec in specs)
    games, threads, cores = config.concurrency, config.threads, usable_cores()
    option = "concurrency"
    if directed:  # each entrant plays one game at a time
        games, option = min(games, local_seats), "max-games"
    if games > 1 and games * threads > cores and local_seats:
        each = f" with --threads {threads}" if threads > 1 else ""
        raise CommandFailed(
            f"--{option} {games}{each} would make players share cores and move late; "
            f"this machine has {counted(cores, 'core')}"
        )
    if games > 1 and any(spec.dialect == "files" for spec in specs):
        raise CommandFailed(f"--{option} {games}: a seat files:… plays one game at a time")
    if config.ponder:
        # A match has two seats in a game; in a directed event each seat is in one game.
        seats = min(local_seats, 2 * games) if directed else min(local_seats, 2) * games
        options.check_pondering(seats, threads, f"--{option} or {'' if directed else '--'}threads")
