"""Options that several commands share: each is declared here once, with its help.

A command takes an alias (``threads: ThreadsOption = 1``) or a group whose fields become options
(``tables: TableOptions = TableOptions()``). Help that differs in one command is written there:
``Annotated[SeedOption, Parameter(help="…")]``.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import ssl
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, get_args
from urllib.parse import urlsplit

import msgspec
from cyclopts import UNSET, App, ArgumentCollection, Parameter, Token
from msgspec import Meta

from bot.cores import usable_cores
from bot.players.options import UNITS_MS, parse_duration
from bot.seat import runtime
from harness.figures import once

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


def _duration(_type: Any, tokens: Sequence[Token]) -> int:
    return parse_duration(tokens[0].value)


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


def _default(ms: int | None) -> str | None:
    return None if ms is None else write_duration(ms)


Count: TypeAlias = Annotated[int, Meta(ge=1)]
"""A number that must be at least 1, in a TOML file too."""

Duration: TypeAlias = Annotated[
    int,
    Parameter(
        converter=_duration, metavar="DURATION", show_default=_default, allow_leading_hyphen=True
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


# --- options --------------------------------------------------------------------------------------

LexiconOption: TypeAlias = Annotated[
    str, Parameter(help="An embedded or installed lexicon, or a word list or KWG file.")
]
RulesLexiconOption: TypeAlias = Annotated[
    LexiconOption, Parameter(show_default="scowl, or the installed list of the rules")
]
RulesOption: TypeAlias = Annotated[
    str,
    Parameter(
        help="The rule set, its tiles, board and numbers: english, polish, … or a TOML file."
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
    Duration,
    Parameter(help="Cap on a seat's first turn; a seat that takes longer has lost."),
]
BotOption: TypeAlias = Annotated[
    str,
    Parameter(help="The seat that plays: a bot's name, module:factory, file.py:factory or ws://…."),
]
BotSeedOption: TypeAlias = Annotated[
    int, Parameter(help="Seed of the bot's own choices."), Meta(ge=0)
]
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

    def for_rules(self, rules: Rules) -> TableOptions:
        """Return these options with the rules' lexicon, as ``lexicon_for`` chooses it."""
        return replace(self, lexicon=lexicon_for(self.lexicon, rules.distribution))

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
    rules = said.get("rules") or "english"
    lexicon = said.get("lexicon") or own_lexicon(load_rule_set(rules))
    tables = TableOptions(lexicon, said.get("leaves"), said.get("winprob"))
    return tables.equipment(threads, ponder=ponder, rules=rules)


@Parameter(name="*")
@dataclass(frozen=True)
class BoardOptions:
    """The rules, and tiles and a board to replace theirs."""

    rules: RulesOption = "english"
    distribution: Annotated[DistributionOption | None, Parameter(show_default="the rules'")] = None
    layout: Annotated[str | None, Parameter(show_default="the rules'")] = None
    """The board: an embedded layout or a text file."""

    def load(self) -> Rules:
        """Return the rules of a game with these tiles on this board, or fail with a sentence."""
        from lexicons.alphabet import load_distribution
        from lexicons.layout import load_layout

        rules = load_rule_set(self.rules)
        with sentences(kinds=UNREADABLE):
            if self.distribution is not None:
                rules = replace(rules, distribution=load_distribution(self.distribution))
            if self.layout is not None:
                rules = replace(rules, layout=load_layout(self.layout))
        return rules


# --- what options name ----------------------------------------------------------------------------


def load_rule_set(name_or_path: str) -> Rules:
    """Load a rule set, or fail with its sentence."""
    from engine.rules.rule_sets import load_rules

    with sentences(kinds=UNREADABLE):
        return load_rules(name_or_path)


def own_lexicon(rules: Rules) -> str:
    """Return the default lexicon of rules: the word list of their language.

    Fail with a sentence if the tiles are the user's own.
    """
    tiles = rules.distribution.name
    if tiles.partition("-")[0] == "english":
        return "scowl"
    if tiles not in _languages():
        raise CommandFailed(
            f"the rules {rules.name} have tiles of their own; --lexicon FILE names the words"
        )
    return tiles


def lexicon_for(lexicon: str, tiles: TileDistribution) -> str:
    """Return ``lexicon``, or the list of the tiles' language if it is the default, ``scowl``."""
    return tiles.name if lexicon == "scowl" and tiles.name in _languages() else lexicon


def _languages() -> set[str]:
    """Return the names of the embedded tile distributions, except English ones."""
    from lexicons.text import embedded_names

    return {name for name in embedded_names(".csv") if name.partition("-")[0] != "english"}


def load_words(name_or_path: str, distribution: TileDistribution | None = None) -> Lexicon:
    """Load a lexicon, or fail with its sentence."""
    from lexicons.store import load_lexicon

    def building(sentence: str) -> None:
        say(sentence)
        compile_first(["lexicons.build"])

    with sentences(kinds=UNREADABLE):
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
            raise CommandFailed(f"{seat!r} does not play on this machine; try it in a match")


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
            f"{url} is no server's address; write ws://host:port or wss://host:port"
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
    with suppress(OSError):  # its reader may have gone
        print(f"tilewire: {sentence}", file=sys.stderr, flush=True)


def compile_first(modules: Iterable[str]) -> None:
    """Compile the missing kernels of modules and of what they import, and show how far it is."""
    from .compiling import compile_first

    compile_first(modules, say)


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
