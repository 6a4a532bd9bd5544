"""Options that several commands share: each is declared here once, with its help.

A command takes an alias (``threads: ThreadsOption = 1``) or a group whose fields become options
(``tables: TableOptions = TableOptions()``). Help that differs in one command is written there:
``Annotated[SeedOption, Parameter(help="…")]``.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import ssl
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, get_args
from urllib.parse import urlsplit

import msgspec
from cyclopts import UNSET, App, ArgumentCollection, Group, Parameter, Token
from msgspec import Meta

from bot.cores import usable_cores
from bot.players.options import UNITS_MS, parse_duration
from bot.seat import runtime
from harness.figures import counted, minutes, once

from .failing import UNREADABLE, CommandFailed, Terminated, sentences

if TYPE_CHECKING:
    from bot.equipment import Equipment, Tables
    from engine.rules.rules import Rules
    from lexicons.alphabet import TileDistribution
    from lexicons.store import Lexicon

_T = TypeVar("_T")

_MOST = 2**53
"""The largest absolute value of a number; NaN is larger."""
MOST_THREADS = 1_024
"""The most threads or processes that a command starts."""


# --- values ---------------------------------------------------------------------------------------


def write_duration(ms: int) -> str:
    """Write milliseconds as ``parse_duration`` reads them."""
    parts = []
    for unit, length in sorted(UNITS_MS.items(), key=lambda item: -item[1]):
        count, ms = divmod(ms, length)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"


def check_values(_app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Check that typed values are not empty and numbers are in range, or fail with a sentence.

    The range of an option is the ``Meta`` of its type, as in a file; cyclopts would round 2.5.
    """
    for argument in arguments:
        field, kinds = argument.field_info, {argument.hint, *get_args(argument.hint)}
        for token in argument.tokens:
            name = token.keyword or argument.name
            if not token.value and token.implicit_value is UNSET and field.default != "":
                raise CommandFailed(f"{name} must not be empty")
            if kinds & {int, float} and argument.parameter.converter is None:
                try:
                    number = msgspec.convert(token.value, field.annotation, strict=False)
                    if number is not None and not abs(number) <= _MOST:
                        raise ValueError("Expected a smaller number")
                except ValueError as error:
                    expected = str(error).removesuffix(", got `str`")  # all that is typed is text
                    raise CommandFailed(f"{name} {token.value[:40]}: {expected}") from None


def _positive_duration(_type: Any, tokens: Sequence[Token]) -> int:
    if not (ms := parse_duration(tokens[0].value)):
        raise ValueError("it must be at least 1ms")
    return ms


def _memory(_type: Any, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    match = re.fullmatch(r"([0-9]{1,6})([KMG])(?:i?B)?", text)
    if match is None:
        raise ValueError(f"{text!r} is no amount of memory; write 256M or 1G")
    return int(match[1]) << {"K": 10, "M": 20, "G": 30}[match[2]]


Count: TypeAlias = Annotated[int, Meta(ge=1)]
"""A number that must be at least 1, in a TOML file too."""

Duration: TypeAlias = Annotated[
    int,
    Parameter(
        converter=lambda _type, tokens: parse_duration(tokens[0].value),
        metavar="DURATION",
        show_default=lambda ms: None if ms is None else write_duration(ms),
        allow_leading_hyphen=True,
    ),
]
"""Milliseconds, given as ``25m``, ``1m30s`` or ``250ms``."""

PositiveDuration: TypeAlias = Annotated[Duration, Parameter(converter=_positive_duration)]
"""At least 1 ms."""

USUAL_MEMORY = 256 << 20

Memory: TypeAlias = Annotated[
    int,
    Parameter(
        converter=_memory,
        metavar="MEMORY",
        show_default=lambda memory: f"{memory >> 20}M",
        help="The most memory for results of positions, as 256M or 1G.",
    ),
]
"""Bytes, given as ``256M`` or ``1G``."""


# --- panels of the help of commands with many options ---------------------------------------------


def group(title: str, place: int) -> Parameter:
    """Return what puts options into the panel of this title, in this place of the help."""
    return Parameter(group=Group(title, sort_key=place))


WORDS = group("Rules, words and tables", 2)
CLOCKS = group("Clocks", 3)
HERE = group("This machine", 4)

# --- options --------------------------------------------------------------------------------------

LexiconOption: TypeAlias = Annotated[
    str, Parameter(help="An embedded or installed lexicon, or a word list or KWG file.")
]
RulesLexiconOption: TypeAlias = Annotated[
    LexiconOption, Parameter(show_default="scowl, or the installed list of the rules")
]
RulesOption: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="The rule set, its tiles, board and numbers: english, polish, … or a TOML file.",
        show_default="those of an installed lexicon, else english",
    ),
]
LeavesOption: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="What leaves are worth: trained, formula, or a leave table (KLV2). "
        "[default: the players' own]"
    ),
]
WinprobOption: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="Chances of winning: trained, formula, or a table (CSV). [default: the players' own]"
    ),
]
DistributionOption: TypeAlias = Annotated[
    str, Parameter(help="The tiles: an embedded distribution or a CSV file.")
]
WordsDistributionOption: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="The tiles that spell the words: an embedded distribution or a CSV file. "
        "[default: those of an installed lexicon, else english]"
    ),
]
ThreadsOption: TypeAlias = Annotated[
    int, Parameter(help="Threads for each search."), Meta(ge=1, le=MOST_THREADS)
]
WorkersOption: TypeAlias = Annotated[int, Meta(ge=1, le=MOST_THREADS)]
"""Processes at once; each command writes its own help."""
ClusterOption: TypeAlias = Annotated[
    str | None,
    Parameter(help="Have the workers of this Dask scheduler, tcp://host:port, do the work."),
]
PonderOption: TypeAlias = Annotated[
    bool,
    Parameter(
        negative="",
        help="Let players on this machine search while their opponent thinks; each of their "
        "threads needs a core of its own.",
    ),
]
SeedOption: TypeAlias = Annotated[
    int, Parameter(help="Seed of everything that is drawn at random."), Meta(ge=0)
]
TimeOption: TypeAlias = Annotated[Duration, Parameter(help="Each side's clock: 25m, 90s, 500ms.")]
IncrementOption: TypeAlias = Annotated[
    Duration, Parameter(help="Time added after each move; with it there is no overtime.")
]
FirstMoveOption: TypeAlias = Annotated[
    Duration, Parameter(help="Cap on a seat's first turn; a seat that takes longer has lost.")
]
BotOption: TypeAlias = Annotated[
    str, Parameter(help="The seat that plays: a bot's name, module:factory, file.py or ws://….")
]
BotSeedOption: TypeAlias = Annotated[SeedOption, Parameter(help="Seed of the bot's own choices.")]
HostOption: TypeAlias = Annotated[str, Parameter(env_var="TILEWIRE_HOST")]
"""The address to listen on."""
PortOption: TypeAlias = Annotated[int, Meta(ge=0, le=65_535)]
"""A port to listen on; 0 for any that is free."""
GamesOption: TypeAlias = Annotated[Count, Parameter(help="How many games.")]
JsonOption: TypeAlias = Annotated[bool, Parameter(negative="")]
"""Each command's own help says what the object holds."""
PageOption: TypeAlias = Annotated[
    bool,
    Parameter(
        negative="",
        help="Show the games in the browser, with racks and thoughts: live if no player can see "
        "the page, else after each game. The page stays until Ctrl-C.",
    ),
]
ContainedOption: TypeAlias = Annotated[
    bool,
    Parameter(
        name="--require-containment",
        negative="",
        help="Start only where the system lets bots of users and engines be contained.",
    ),
]
VerboseOption: TypeAlias = Annotated[
    bool, Parameter(name=["--verbose", "-v"], negative="", help="Log what happens to stderr.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class TableOptions:
    """The words, and the tables that players judge positions by."""

    lexicon: RulesLexiconOption = "scowl"
    leaves: LeavesOption = None
    winprob: WinprobOption = None

    def for_game(self, rules: str | None, threads: int = 1, *, ponder: bool = False) -> Equipment:
        """Return what local seats get in games by ``rules``, else by those of the lexicon."""
        rules = rules or rules_of(self.lexicon)
        lexicon = lexicon_for(self.lexicon, load_rule_set(rules).distribution)
        return replace(self, lexicon=lexicon).equipment(threads, ponder=ponder, rules=rules)

    def equipment(
        self, threads: int = 1, *, ponder: bool = False, rules: str = "english"
    ) -> Equipment:
        """Return what local seats get, with absolute paths; ``load_equipped`` reads the files."""
        from bot.equipment import Equipment
        from engine.rules.rule_sets import rule_set_names
        from lexicons.store import lexicon_names
        from lexicons.tables import table_location

        return Equipment(
            lexicon=_file_location(self.lexicon, lexicon_names()),
            leaves=table_location(self.leaves),
            win_probabilities=table_location(self.winprob),
            threads=threads,
            ponder=ponder,
            rules=_file_location(rules, rule_set_names()),
        )


def equipment_named(said: Mapping[str, Any], threads: int, *, ponder: bool) -> Equipment:
    """Return what local seats get by settings: ``rules``, ``lexicon``, ``leaves``, ``winprob``.

    Fail with a sentence if there are no such rules, or they have no default lexicon.
    """
    lexicon = said.get("lexicon")
    rules = said.get("rules") or rules_of(lexicon)
    if not lexicon:
        rule_set = load_rule_set(rules)
        lexicon = lexicon_for("scowl", rule_set.distribution)
        if lexicon == "scowl" and rule_set.distribution.name.partition("-")[0] != "english":
            raise CommandFailed(
                f"rules {rule_set.name} have other tiles; --lexicon names the words"
            )
    tables = TableOptions(lexicon, said.get("leaves"), said.get("winprob"))
    return tables.equipment(threads, ponder=ponder, rules=rules)


@Parameter(name="*")
@dataclass(frozen=True)
class BoardOptions:
    """The rules, and tiles and a board to replace theirs."""

    rules: RulesOption = None
    distribution: Annotated[DistributionOption | None, Parameter(show_default="the rules'")] = None
    layout: Annotated[str | None, Parameter(show_default="the rules'")] = None
    """The board: an embedded layout or a text file."""
    strict: Annotated[bool, Parameter(negative="")] = False
    """Refuse a game (GCG) that is not written by the rules."""

    def load(self, lexicon: str = "scowl") -> tuple[Rules, str]:
        """Return the rules of a game with these tiles on this board, and its lexicon; or fail.

        Without ``rules`` they are those that ``lexicon`` brings; ``lexicon_for`` chooses the other.
        """
        from lexicons.alphabet import load_distribution
        from lexicons.layout import load_layout

        rules = load_rule_set(self.rules or rules_of(lexicon))
        with sentences(kinds=UNREADABLE):
            if self.distribution is not None:
                rules = replace(rules, distribution=load_distribution(self.distribution))
            if self.layout is not None:
                rules = replace(rules, layout=load_layout(self.layout))
        return rules, lexicon_for(lexicon, rules.distribution)


# --- what options name ----------------------------------------------------------------------------


def load_rule_set(name_or_path: str) -> Rules:
    """Load a rule set, or fail with its sentence."""
    from engine.rules.rule_sets import load_rules

    with sentences(kinds=UNREADABLE):
        return load_rules(name_or_path)


def rules_of(lexicon: str | None) -> str:
    """Return the name of the rules that an installed lexicon brings; for others english."""
    from lexicons.package_lists import PACKAGE_LISTS, installed_names

    return PACKAGE_LISTS[lexicon].tiles if lexicon in installed_names() else "english"


def lexicon_for(lexicon: str, tiles: TileDistribution) -> str:
    """Return ``lexicon``, or the list of the tiles' language if it is the default, ``scowl``."""
    from lexicons.text import embedded_names

    is_english = tiles.name.partition("-")[0] == "english"
    is_other = tiles.name in embedded_names(".csv") and not is_english
    return tiles.name if lexicon == "scowl" and is_other else lexicon


def load_words(name_or_path: str, distribution: TileDistribution | None = None) -> Lexicon:
    """Load a lexicon, or fail with its sentence."""
    from lexicons.store import load_lexicon

    def building(sentence: str) -> None:
        say(sentence)
        compile_first(["lexicons.build"])

    with sentences(kinds=UNREADABLE), working(f"loading the words of {name_or_path}"):
        return load_lexicon(name_or_path, distribution, progress=building)


def load_words_in(distribution: str | None, name_or_path: str) -> Lexicon:
    """Load a lexicon in the letters of ``WordsDistributionOption``, or fail with a sentence."""
    from lexicons.alphabet import load_distribution

    if distribution is None:
        return load_words(name_or_path)
    with sentences(kinds=UNREADABLE):
        tiles = load_distribution(distribution)
    return load_words(lexicon_for(name_or_path, tiles), tiles)


def _file_location(named: str, names: tuple[str, ...]) -> str:
    """Make a file's path absolute; a known name stays, even if a file here is called that."""
    path = Path(named)
    return str(path.resolve()) if named not in names and path.is_file() else named


def load_given(equipment: Equipment, lexicon: Lexicon) -> Tables:
    """Load the named tables, for these tiles, or fail; print a notice if trained on other words."""
    from bot.equipment import load_tables
    from lexicons.tables import leave_table_warnings, untrained, win_probability_warnings

    with sentences(kinds=UNREADABLE):
        tables = load_tables(equipment, lexicon.distribution)
        for sentence in (
            *untrained(equipment.leaves, equipment.win_probabilities, lexicon.distribution),
            *leave_table_warnings(equipment.leaves, lexicon),
            *win_probability_warnings(equipment.win_probabilities, lexicon),
        ):
            say(sentence)
        return tables


def load_equipped(equipment: Equipment) -> Lexicon:
    """Load the words, and check that the tables can be read and are for their tiles."""
    lexicon = load_words(equipment.lexicon, load_rule_set(equipment.rules).distribution)
    load_given(equipment, lexicon)
    return lexicon


def check_local(seat: str) -> None:
    """Check that the text names a seat that plays on this machine, or fail with a sentence."""
    from bot.seat_text import parse_seat

    with sentences():
        if parse_seat(seat).kind != "local":
            why = "is no player in Python; see how it plays (an engine with log=yes in its options)"
            raise CommandFailed(f"{seat!r} {why}: tilewire match {seat!r} greedy --games 2")


def check_containment(required: bool, *, cluster: str | None = None) -> None:
    """Check that bots can be contained here, if that is required, or fail with the reason."""
    if not required:
        return
    from bot.seat.containment import containment

    if cluster is not None:
        raise CommandFailed(
            "--require-containment is about this machine, --cluster about others; leave one out"
        )
    if not containment().is_whole:
        raise CommandFailed(f"--require-containment: {containment()}")


def check_pondering(seats: int, threads: int, remedy: str) -> None:
    """Check that every thread of every seat that ponders has a core of its own.

    Otherwise a pondering thread would slow down the seat on turn. ``remedy`` names the options to
    lower.
    """
    cores = usable_cores()
    if seats * threads > cores:
        raise CommandFailed(
            f"--ponder needs a core for every thread of every seat, here {seats} × {threads}, and "
            f"this machine has {cores}; leave it out, or lower {remedy}"
        )


def client_tls(url: str, ca: Path | None) -> ssl.SSLContext | None:
    """Return a TLS context that trusts the certificates in ``ca``; None for the system's.

    Fail with a sentence if the URL is no server's, or ``ca`` can't be read or isn't needed.
    """
    from websockets.exceptions import InvalidURI
    from websockets.uri import parse_uri

    try:
        server = parse_uri(url)
    except (InvalidURI, ValueError):
        raise CommandFailed(
            f"{url} is no server's address; write ws://host:port or wss://host:port, "
            "an IPv6 address in brackets: ws://[::1]:8484"
        ) from None
    if ca is None:
        return None
    if not server.secure:
        raise CommandFailed(f"--ca is for a server at wss://, and {url} is not")
    with sentences(f"--ca {ca}: ", (OSError,)):  # ssl.SSLError is one
        return ssl.create_default_context(cafile=ca)


def warn_of_readers(url: str, token: str | None) -> None:
    """Print a notice if a token would cross a network unencrypted."""
    from harness.arbiter.clock import is_loopback

    address = urlsplit(url)
    host, is_open = address.hostname, address.scheme == "ws"
    if token and host and is_open and not is_loopback(host):
        say(f"the token goes to {host} unencrypted, since {url} is not wss://")


def make_folder(path: Path) -> Path:
    """Return the path of a folder, which is made if it isn't there; or fail with a sentence."""
    with sentences(f"{path} can't be used as a folder: ", (OSError,)):
        path.mkdir(parents=True, exist_ok=True)
    return path


def fresh_folder(place: str) -> Path:
    """Make a folder in ``place`` that is named after the time, or fail with a sentence.

    A second one of the same second is called TIME-2.
    """
    name = f"{make_folder(Path(place))}/{time.strftime('%Y%m%d-%H%M%S')}"
    for path in (Path(name), *(Path(f"{name}-{number}") for number in range(2, 1_000))):
        with sentences(kinds=(OSError,)), suppress(FileExistsError):
            path.mkdir()
            return path
    raise CommandFailed(f"{place} is full of folders of this second")


# --- a command that runs --------------------------------------------------------------------------


def say(sentence: str) -> None:
    """Print a notice to stderr, after ``tilewire: ``, as all commands do."""
    _told[:] = time.monotonic(), "", 0.0
    _print(f"tilewire: {sentence}\n")


def tell(progress: str, share: float = 0.0) -> None:
    """Show how far a command is: as a notice, or on a terminal until the next line replaces it.

    A ``share`` of the work that is done, 0 to 1, is drawn there as a bar.
    """
    _told[:] = time.monotonic(), progress, share
    if not is_terminal():
        _print(f"tilewire: {progress}\n")
        return
    done = round(20 * share)
    bar = f"{'━' * done}{'─' * (20 - done)} " if share else ""
    _print(f"tilewire: {bar}{progress}"[: shutil.get_terminal_size().columns - 1])


def is_terminal() -> bool:
    """Return whether stderr is a terminal on which a line can be replaced."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


FIRST_S, EVERY_S = 3.0, 20.0
"""Seconds before the first line of progress without a terminal, and between others."""
_told: list[Any] = [0.0, "", 0.0]
"""When this process last printed to stderr; and the progress that this was, with its share."""


def _print(text: str) -> None:
    with suppress(OSError):  # its reader may have gone
        print(f"\r\x1b[K{text}" if is_terminal() else text, end="", file=sys.stderr, flush=True)


@contextmanager
def working(on: str | Callable[[], str]) -> Iterator[None]:
    """Whenever a block has told nothing for a while, show what it works on and for how long."""
    began, over = time.monotonic(), threading.Event()

    def follow() -> None:
        pause_s = FIRST_S
        while not over.wait(0.5):
            (at, progress, share), now = _told, time.monotonic()
            if now - max(at, began) >= pause_s:
                what = (progress.partition("; ")[0] or on) if isinstance(on, str) else on()
                tell(f"{what}; {minutes(now - began)} so far", share)
                pause_s = 1.0 if is_terminal() else EVERY_S

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if is_terminal() and _told[1]:
            _print("")
        _told[1:] = "", 0.0


def compile_first(modules: Iterable[str]) -> None:
    """Compile the missing kernels of modules and of what they import, and show how far it is."""
    from bot.seat.compilation import CompilationFailed, StepProgress, compile_kernels

    began = told = time.monotonic()
    first: StepProgress | None = None
    last = StepProgress(0, 0, 0.0)
    is_waiting = False

    def show(progress: StepProgress) -> None:
        nonlocal told, first, last, is_waiting
        last, now = progress, time.monotonic()
        if first is None:
            first = progress
            left = counted(progress.total - progress.ready, "search kernel")
            say(f"compiling {left} for this processor, once for this version")
        if progress.waits_for and not is_waiting:
            is_waiting = True
            say(f"another command compiles {progress.waits_for}; waiting for it")
        if is_terminal() or now >= told + EVERY_S / 2:
            told, spent = now, now - began
            left = f", about {spent / progress.share - spent:.0f} s left" if progress.share else ""
            tell(f"{progress.ready} of {progress.total} kernels ready{left}", progress.share)

    with sentences(kinds=(CompilationFailed,), status=1), working("compiling"):
        try:
            compile_kernels(modules, show, say)
        finally:
            if first is not None:
                which = "all" if last.ready == last.total else f"{last.ready} of"
                others = last.ready - first.ready - last.compiled
                by_others = f", {others} of them by another command" if others else ""
                spent = time.monotonic() - began
                say(f"{which} {counted(last.total, 'kernel')} ready after {spent:.0f} s{by_others}")


def say_once() -> Callable[[str], None]:
    """Return a function that prints each notice once, though many processes send it; 20 at most."""
    return once(say)


def open_in_browser(url: str) -> None:
    """Open an address in the default browser; in a text browser only if ``BROWSER`` is set.

    Other processes can read the address, so nothing in it may be secret.
    """

    def open_it() -> None:
        import webbrowser

        with suppress(webbrowser.Error):
            browser = webbrowser.get()
            if "BROWSER" in os.environ or type(browser) is not webbrowser.GenericBrowser:
                browser.open(url)

    # This may block until the browser is closed.
    threading.Thread(target=open_it, daemon=True).start()


def log_to_stderr(verbose: bool) -> None:
    """Send the log to stderr: warnings, or with ``verbose`` everything from info on."""
    runtime.log_to_stderr("info" if verbose else "warning")


def run(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a command's coroutine and return its result; SIGTERM ends it as Ctrl-C does.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
        Terminated: SIGTERM came.
    """
    is_terminated = False

    async def until_terminated() -> _T:
        task = asyncio.ensure_future(main)

        def end() -> None:
            nonlocal is_terminated
            is_terminated = True
            task.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
        return await task

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with asyncio.Runner(loop_factory=runtime.loop_factory()) as runner:
            return runner.run(until_terminated())
    except asyncio.CancelledError:
        if is_terminated:
            raise Terminated from None
        raise
    finally:  # uvloop leaves its own handlers, which do nothing; asyncio leaves the system's
        for number, handler in before.items():
            signal.signal(number, handler)


async def until_told_to_stop() -> asyncio.Event:
    """Wait for SIGTERM or Ctrl-C; return the event that a second one sets."""
    stop, at_once = asyncio.Event(), asyncio.Event()

    def told() -> None:
        (at_once if stop.is_set() else stop).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told)
    await stop.wait()
    return at_once
