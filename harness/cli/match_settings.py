"""The settings of matches and tournaments: options, the keys of a TOML file, and their checks."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any, Literal, TypedDict, cast
from urllib.parse import urlsplit

import msgspec
from cyclopts import Parameter
from msgspec import Meta

from bot.cores import usable_cores
from bot.players.options import parse_duration
from bot.registry import SeatError, SeatSpec
from bot.seat.containment import containment
from bot.seat_text import LONGEST_NAME, parse_seat
from engine.notation.cgp import read_cgp
from engine.rules.challenges import ChallengeRule
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
    told_apart,
)
from harness.matches.openings import begins_empty, read_openings, unknown_words
from harness.matches.ratings import check_anchors
from harness.matches.sequential import FEWEST_PAIRS, Measure, SequentialTest, parse_hypotheses
from harness.seats.seat_factory import SeatMaker
from lexicons.store import Lexicon
from protocol.parts import TimeControl

from . import options
from .failing import UNREADABLE, CommandFailed, sentences

WHOLE_GAMES = ("files", "quackle")
"""Dialects of engines that can't begin in a position."""

MOST_TESTED = 20_000
"""The most games of a match with a sequential test, unless ``--games`` is given."""

_OWN_ROUNDS = "--rounds: a knockout has as many rounds as its seats need"


class _Settings(TypedDict, total=False):
    """The settings of matches and tournaments that are not durations."""

    games: Annotated[
        options.GamesOption,
        Parameter(
            help="How many games; of a tournament, how many for each pairing; with --resume of a "
            "match, the new total. Between local seats games 1 and 2 have the same draws, with the "
            "seats swapped, and so do 3 and 4.",
            show_default="2",
        ),
    ]
    name: Annotated[
        list[str],
        Parameter(
            help="Name a seat: A=NAME the first, B=NAME the second; 27=NAME the 27th. "
            "[default: the bot's name, and what tells namesakes apart]",
            negative="",
        ),
    ]
    overtime_penalty: Annotated[
        int, Parameter(help="Points off for each minute of overtime begun.", show_default="10")
    ]
    rules: Annotated[options.RulesOption, Parameter(show_default="english")]
    challenge: Annotated[
        ChallengeRule,
        Parameter(
            help="What a challenge of a play costs who is wrong; void: an illegal word is refused "
            "at once. [default: as the rule set says, mostly void]"
        ),
    ]
    lexicon: options.RulesLexiconOption
    leaves: options.LeavesOption
    winprob: options.WinprobOption
    threads: Annotated[options.ThreadsOption, Parameter(show_default="1")]
    ponder: options.PonderOption
    seed: Annotated[
        options.SeedOption, Parameter(help="Makes the draws of local seats repeatable.")
    ]
    openings: Annotated[
        Path,
        Parameter(
            help="A file of positions that games begin in, a line each: a CGP, GAME.gcg@LINE, or "
            "first racks such as AEINRST. The two games of a pair have one of them, with the seats "
            "swapped; every pairing gets the same. [default: an empty board]"
        ),
    ]
    concurrency: Annotated[options.Count, Parameter(help="Games at once.", show_default="1")]
    transport: Annotated[
        Literal["websocket", "pipe"],
        Parameter(
            help="How local seats talk to the host. [default: websocket for one game at a time]"
        ),
    ]


class _Test(TypedDict, total=False):
    """What only a match has: a sequential test that ends it."""

    sprt: Annotated[
        str,
        Parameter(
            help="Play until a sequential test accepts one of two differences of strength, in Elo "
            "(0,10) or in win rate above 50 % (0%,1%). --games is then the most games, 20,000 if "
            "not given. [default: none]"
        ),
    ]
    sprt_spread: Annotated[
        str,
        Parameter(help="The same for the spread a game: 0,5. [default: none]"),
    ]
    alpha: Annotated[
        float,
        Parameter(
            help="Chance that the test accepts the larger difference if the smaller is true.",
            show_default="0.05",
        ),
    ]
    beta: Annotated[
        float,
        Parameter(
            help="Chance that the test accepts the smaller difference if the larger is true.",
            show_default="0.05",
        ),
    ]


class _ClockedSettings(_Settings, total=False):
    """The same with durations, as options."""

    time: Annotated[options.TimeOption, Parameter(show_default="25m")]
    increment: Annotated[options.IncrementOption, Parameter(show_default="0s")]
    max_overtime: Annotated[
        options.Duration,
        Parameter(
            help="More overtime than this loses the game. [default: 10m; 0s with an increment]"
        ),
    ]
    move_cap: Annotated[
        options.Duration,
        Parameter(help="Cap on each turn; a seat that takes longer has lost. [default: none]"),
    ]
    margin: Annotated[
        options.Duration,
        Parameter(help="How late after its deadline a move is still accepted.", show_default="0s"),
    ]
    first_move: options.FirstMoveOption


class Span(int):
    """A duration in milliseconds, written in a file as ``"25m"``."""

    def __new__(cls, text: str) -> Span:
        """Read a duration, or raise ValueError."""
        return super().__new__(cls, parse_duration(text))


class _ClockedFile(_Settings, total=False):
    """The same as keys of a file, with the seats."""

    seats: list[str]
    time: Span
    increment: Span
    max_overtime: Span
    move_cap: Span
    margin: Span
    first_move: Span


@Parameter(name="*")
class MatchSettings(_ClockedSettings, _Test, total=False):
    """Settings of a new match that are options and keys of its TOML file; only those given."""


class MatchFile(_ClockedFile, _Test, total=False):
    """The keys of a match's configuration file (TOML)."""


class _Plan(TypedDict, total=False):
    """What only a tournament has."""

    format: Annotated[
        Format, Parameter(help="Who meets whom, round by round.", show_default="round-robin")
    ]
    rounds: Annotated[
        options.Count,
        Parameter(
            help="Rounds of a Swiss; of a round robin or gauntlet, how often each meets each; with "
            "--resume, a number to go on to.",
            show_default="1",
        ),
    ]
    anchor: Annotated[
        list[str],
        Parameter(
            help="A rating that is held fixed: NAME=1500; without any, their mean is 0.",
            negative="",
        ),
    ]
    hill: Annotated[
        int,
        Parameter(
            help="How many of the last rounds of a Swiss are king of the hill: the first meets the "
            "second, the third the fourth, even if they have met before.",
            show_default="0",
        ),
        Meta(ge=0),
    ]


@Parameter(name="*")
class TournamentSettings(_ClockedSettings, _Plan, total=False):
    """Settings of a new tournament that are options and keys of its TOML file."""


class TournamentFile(_ClockedFile, _Plan, total=False):
    """The keys of a tournament's configuration file (TOML)."""


class Settings(MatchSettings, TournamentSettings, total=False):
    """Settings of a match or a tournament."""


def read_settings(
    path: Path, kind: type[MatchFile | TournamentFile]
) -> tuple[list[str], dict[str, Any]]:
    """Read the seats (empty if none are named) and the settings of a file, or fail."""
    with sentences():
        said = cast("dict[str, Any]", read_config_file(path, kind))
    seats = said.pop("seats", [])
    return seats, {
        key: int(value) if isinstance(value, Span) else value for key, value in said.items()
    }


def configure(
    seats: Sequence[str], settings: Settings, *, guests_at: str | None = None
) -> tuple[TournamentConfig, Lexicon]:
    """Return the configuration of these seats and settings, checked, and its words; or fail.

    ``guests_at`` is the host of the server that guests dial in to, if there is one.
    """
    rules = options.load_rule_set(settings.get("rules", "english"))
    rules = replace(rules, challenge=settings.get("challenge", rules.challenge))
    equipment = options.equipment_named(
        settings, settings.get("threads", 1), ponder=settings.get("ponder", False)
    )
    concurrency, seed = settings.get("concurrency", 1), settings.get("seed")
    form, rounds, hill = settings.get("format"), settings.get("rounds", 1), settings.get("hill", 0)
    time, increment = settings.get("time", 25 * 60_000), settings.get("increment", 0)
    with sentences():
        specs = [_seat(text) for text in seats]
        names = _named(settings.get("name", []), told_apart(*specs))
        check_guests(specs, names, guests_at)
        hosts = [urlsplit(spec.target).hostname or "" for spec in specs if spec.kind == "remote"]
        control = TimeControl(
            initial_ms=time,
            increment_ms=increment,
            overtime_penalty=settings.get("overtime_penalty", 10),
            max_overtime_ms=settings.get("max_overtime", 0 if increment else 10 * 60_000),
            move_cap_ms=settings.get("move_cap"),
            margin_ms=settings.get("margin", 0),
            first_move_ms=settings.get("first_move"),
            lag_ms=lag_quota_ms(time, hosts + ([] if guests_at is None else [guests_at])),
            ready_ms=LOCAL_READY_MS,
        )
        check_time_control(control)
        _check_concurrency(concurrency, equipment.threads, specs, directed=guests_at is not None)
        users = any(spec.kind == "local" and not spec.built_in for spec in specs)
        contained = users and containment().apart
        _check_shared_draws(specs, settings, contained=contained)
        words = options.load_equipped(equipment)
        for spec, name in zip(specs, names, strict=True):
            SeatMaker(spec, name, equipment).check(words)
    openings = _openings(settings.get("openings"), specs, words, rules)
    if seed is None and sum(not it.may_remember(contained=contained) for it in specs) > 1:
        seed = secrets.randbits(63)
    if hill and form != "swiss":
        raise CommandFailed(f"--hill {hill}: only rounds of a Swiss can be king of the hill")
    if hill > rounds:
        raise CommandFailed(f"--hill {hill}: rounds is {rounds}; hill can be {rounds} at most")
    if form == "knockout" and "rounds" in settings:
        raise CommandFailed(_OWN_ROUNDS)
    test = _test(settings)
    games = settings.get("games", MOST_TESTED if test else 2)
    if test and games < 2 * FEWEST_PAIRS:
        options.say(
            f"a test needs {FEWEST_PAIRS} pairs of games at least; --games {games} can't decide it"
        )
    config = TournamentConfig(
        seats=tuple(spec.anywhere for spec in specs),
        names=names,
        games=games,
        time=control,
        lexicon=equipment.lexicon,
        lexicon_checksum=words.checksum,
        rules=equipment.rules,
        rules_in_play=rules_on_wire(rules),
        seed=seed,
        contained=contained,
        test=test,
        anchors=_anchors(settings.get("anchor", []), names),
        format=form or "round-robin",
        rounds=rounds,
        hill=hill,
        openings=openings,
        concurrency=concurrency,
        transport=settings.get("transport", "websocket" if concurrency == 1 else "pipe"),
        leaves=equipment.leaves,
        winprob=equipment.win_probabilities,
        threads=equipment.threads,
        ponder=equipment.ponder,
    )
    return config, words


def _check_shared_draws(specs: Sequence[SeatSpec], settings: Settings, *, contained: bool) -> None:
    """Check that all seats may share draws, if the settings need that, or fail."""
    reasons = [(spec.text, spec.may_remember(contained=contained)) for spec in specs]
    why = next((f"{text} could: {why}" for text, why in reasons if why), None)
    if why is None:
        return
    if "seed" in settings:
        raise CommandFailed(
            f"--seed is only for seats that can carry nothing from a game to the next; {why}"
        )
    if settings.keys() & {"sprt", "sprt_spread"} and not all(it.starts_afresh for it in specs):
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
            options.say(
                f"{name} could remember the draws of a pair's first game ({why}); the pairs "
                f"share them all the same, as when the {terms.kind} began"
            )


def _seat(text: str) -> SeatSpec:
    try:
        return parse_seat(text)
    except SeatError:
        from .play import HANDICAPS  # imports the server

        if text in HANDICAPS:
            seat, _ = HANDICAPS[text]
            raise CommandFailed(f"{text} is a level of tilewire play: {seat}") from None
        raise


def _openings(
    file: Path | None, specs: Sequence[SeatSpec], words: Lexicon, rules: Rules
) -> tuple[str, ...]:
    """Read the openings, and check that the seats can begin in them."""
    if file is None:
        return ()
    with sentences(kinds=UNREADABLE):
        openings = read_openings(file, rules)
    if not all(begins_empty(opening, rules) for opening in openings):
        for spec in specs:
            if spec.dialect in WHOLE_GAMES:
                raise CommandFailed(
                    f"--openings {file}: {spec.text} can only begin on an empty board; "
                    "give openings that are first racks"
                )
    boards = [read_cgp(opening, rules).board for opening in openings]
    if unknown := unknown_words(boards, words):
        lacking = counted(len(unknown), "word")
        options.say(f"{file} has {lacking} that {words.name} lacks, which stay: {some(unknown)}")
    return openings


def _anchors(given: Sequence[str], names: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Return the anchors, names and the ratings that are held fixed; or fail."""
    anchors: dict[str, float] = {}
    for text in given:
        name, _, rating = text.rpartition("=")
        if name and name not in names:
            raise CommandFailed(
                f"--anchor {text}: no entrant is called {name}; there are "
                f"{', '.join(names) or 'none yet'}"
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


def _test(settings: Settings) -> SequentialTest | None:
    """Return the sequential test that is asked for, if any; or fail."""
    given = [key for key in ("sprt", "sprt_spread") if key in settings]
    if len(given) != 1:
        if given or settings.keys() & {"alpha", "beta"}:
            raise CommandFailed("give one of --sprt and --sprt-spread; --alpha and --beta need it")
        return None
    measure: Measure = "points" if given == ["sprt"] else "spread"
    text = settings["sprt"] if measure == "points" else settings["sprt_spread"]
    with sentences(f"--{given[0].replace('_', '-')}: "):
        h0, h1 = parse_hypotheses(text, measure)
        alpha, beta = settings.get("alpha", 0.05), settings.get("beta", 0.05)
        return SequentialTest(h0, h1, measure, alpha, beta)


def resumed_config(
    folder: Path, kind: Literal["match", "tournament"], settings: Settings, *, anew: bool
) -> TournamentConfig:
    """Read the configuration to resume in a folder, with more games or rounds if these are set.

    Fail if it can't be resumed so. ``anew``: whether options of a new match were given, too: seats,
    a file or a folder.
    """
    with sentences(kinds=(MatchError,)):
        config = read_config(folder)
    if config.kind != kind:
        raise CommandFailed(
            f"{folder} has a {config.kind}; tilewire {config.kind} --resume {folder} goes on "
            "with it"
        )
    more: Literal["games", "rounds"] = "games" if kind == "match" else "rounds"
    if anew or settings.keys() - {more}:
        raise CommandFailed(
            f"--resume {folder} has its seats and settings already; only --{more} can be given"
        )
    least = settings.get(more)
    if least is None:
        return config
    if more == "rounds" and config.format == "knockout":
        raise CommandFailed(_OWN_ROUNDS)
    if least < (there := getattr(config, more)):
        raise CommandFailed(
            f"--{more} {least}: the {config.kind} in {folder} has {there:,} already; "
            "write more than that, or leave it out"
        )
    return msgspec.structs.replace(config, **{more: least})


def _named(given: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all seats: that ``given`` as ``B=NAME`` or ``2=NAME``, else its own."""
    called = list(names)
    for text in given:
        side, _, name = text.partition("=")
        letter = ascii_uppercase.find(side) if len(side) == 1 else -1
        at = int(side) - 1 if side.isdecimal() else letter
        if name and at >= len(names):
            raise CommandFailed(
                f"--name {text}: there is no seat {side}; there are {counted(len(names), 'seat')}"
            )
        if not 0 <= at < len(names) or not name:
            raise CommandFailed(
                f"--name {text}: write A=NAME for the first seat, B=NAME for the second, "
                "as many as there are"
            )
        if len(name) > LONGEST_NAME or plain(name) != name or name != name.strip():
            raise CommandFailed(
                f"--name {plain(text)}: a name has at most {LONGEST_NAME} characters, all of them "
                "printable, and no space at its ends"
            )
        if called[at] != names[at]:
            raise CommandFailed(f"--name {text}: that seat is called {called[at]} already")
        called[at] = name
    for name in called:
        if called.count(name) > 1:
            which = "both" if len(names) == 2 else f"{called.count(name)}"
            raise CommandFailed(
                f"{which} seats would be called {name}; rename the first with --name A=NAME"
            )
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


def _check_concurrency(
    games: int, threads: int, specs: Sequence[SeatSpec], *, directed: bool
) -> None:
    """Check that this machine has the cores for these games at once, and the seats allow them."""
    cores, option = usable_cores(), "--concurrency"
    if directed:  # each entrant plays one game at a time
        games, option = min(games, sum(map(_plays_here, specs))), "--max-games"
    if games > 1 and games * threads > cores and any(map(_plays_here, specs)):
        each = f" with --threads {threads}" if threads > 1 else ""
        raise CommandFailed(
            f"{option} {games}{each} would make players share cores and move late; "
            f"this machine has {counted(cores, 'core')}"
        )
    if games > 1 and any(spec.dialect == "files" for spec in specs):
        raise CommandFailed(f"{option} {games}: a seat files:… plays one game at a time")


def _plays_here(spec: SeatSpec) -> bool:
    return spec.kind not in ("remote", "guest")


def check_cores(config: TournamentConfig, *, directed: bool = False) -> None:
    """Check that seats that ponder have their cores; called again when a match is resumed."""
    if not config.ponder:
        return
    here, games = sum(_plays_here(parse_seat(seat)) for seat in config.seats), config.concurrency
    if directed:  # each entrant plays one game at a time
        options.check_pondering(min(here, 2 * games), config.threads, "--max-games or threads")
    else:
        options.check_pondering(min(here, 2) * games, config.threads, "--concurrency or --threads")
