"""Documents tell the truth: about commands and their options, links, and players."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, get_type_hints

import pytest
from cyclopts import App, MissingArgumentError

from bot.player import Factory, Listener, Player
from bot.registry import _BUILT_IN, load_factory
from bot.seat_text import parse_seat
from engine.inference.rack_filter import DOUBT
from harness.cli import COMMANDS as NAMES
from harness.cli import GROUPS as PURPOSES
from harness.cli import command_line
from harness.cli.serve import ServerFile
from harness.lab.in_process import FullKnowledgePlayer
from harness.lab.studies.duel import FULL_KNOWLEDGE
from harness.server.admission import Admission
from harness.server.page_analysis.queue import AnalysisSettings

REPOSITORY = Path(__file__).parents[2]
FOLDERS = ("", "docs/**/", "examples/", "lexicons/**/", "protocol/**/")
DOCUMENTS = sorted({path for one in FOLDERS for path in REPOSITORY.glob(f"{one}*.md")})
README, PLAYERS = REPOSITORY / "README.md", REPOSITORY / "docs" / "players.md"
SERVER = PLAYERS.with_name("server.md")

BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")


class Found(NamedTuple):
    """Something in a document."""

    path: Path
    line: int
    text: str
    complete: bool = False
    """Whether it is a command as one types it; in a sentence it is often only named."""

    def __str__(self) -> str:
        return f"{self.path.relative_to(REPOSITORY)}:{self.line}: {self.text}"


@cache
def prose(path: Path) -> str:
    """A document without its fenced blocks; lines keep their numbers."""
    return BLOCK.sub(lambda block: "\n" * block[0].count("\n"), path.read_text(encoding="utf-8"))


def line_of(match: re.Match[str]) -> int:
    return match.string.count("\n", 0, match.start()) + 1


def inside(group: App) -> list[str]:
    return [name for name in group if not name.startswith("-")]


app = command_line(*NAMES)
GROUPS = [name for name in inside(app) if inside(app[name])]
EVERY = inside(app) + [f"{group} {name}" for group in GROUPS for name in inside(app[group])]

TYPED = re.compile(r"(?:\$ )?(?:\.venv/bin/)?(tilewire .+)")
LISTED = re.compile(
    rf"`tilewire ({'|'.join(GROUPS)}) [^`]+`"
    r"((?:(?:,\s|,?\s(?:and|or)\s)`(?!tilewire )[a-z][^`]*`)+)"
)
"""`tilewire bench sim`, `generate` and `faults`, as documents list the commands of a group."""
SHELL = {"|", ">", ">>", "<", "2>", "&", "&&", ";"}
STAND_INS = {"…": [], "...": [], "COMMAND": ["match"]}
"""What stands for more, and for any command; FILE, SEAT and their like are taken as they are."""


def commands(path: Path) -> Iterator[Found]:
    text = path.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        for number, line in enumerate(block[0].splitlines(), line_of(block)):
            if typed := TYPED.fullmatch(line):
                yield Found(path, number, typed[1], complete=True)
    for span in SPAN.finditer(prose(path)):
        if typed := TYPED.fullmatch(" ".join(span[1].split())):
            yield Found(path, line_of(span), typed[1])
    for row in LISTED.finditer(prose(path)):
        for name in SPAN.findall(row[2]):
            yield Found(path, line_of(row), f"tilewire {row[1]} {name}")


def words(command: Found) -> list[str]:
    """What the command line gets of a command, up to a pipe or the like."""
    typed = takewhile(lambda one: one not in SHELL, shlex.split(command.text, comments=True)[1:])
    return [word for one in typed for word in STAND_INS.get(one, [one])]


def called(command: Found) -> tuple[str, ...]:
    return app.parse_commands(words(command))[0]


def options_of(command: Found) -> set[str]:
    end = app.parse_commands(words(command))[1][-1]
    return {name for one in end.assemble_argument_collection() for name in one.names}


RETIRED = "# at commit "
"""What a document has behind a command that this commit no longer has, before the last that has."""
# What has changed may well name what is gone.
COMMANDS = [
    one
    for path in DOCUMENTS
    if path.name != "CHANGELOG.md"
    for one in commands(path)
    if RETIRED not in one.text
]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_a_command_is_one(command: Found) -> None:
    try:
        app.parse_args(words(command), exit_on_error=False, print_error=False)
    except MissingArgumentError:
        assert not command.complete
        assert {one for one in words(command) if one.startswith("--")} <= options_of(command)


def options_beside() -> Iterator[Found]:
    """Options that stand beside commands in a row of a table."""
    for one in COMMANDS:
        line = prose(one.path).splitlines()[one.line - 1]
        for span in re.findall(r"`(--[^`]+)`", line) if line.startswith("|") else ():
            yield from (one._replace(text=word) for word in re.findall(r"--[\w-]+", span))


@pytest.mark.parametrize("option", sorted(set(options_beside())), ids=str)
def test_an_option_is_one_of_a_command_beside_it(option: Found) -> None:
    assert any(option.text in options_of(one) for one in COMMANDS if one[:2] == option[:2])


OF_OTHERS = {
    "--experimental-websocket",
    "--memory",
    "--network",
    "--read-only",
    "--security-opt",
    "--token",
    "--volume",
}
"""Options of other programs that stand alone in a document."""


def test_an_option_is_one_of_some_command() -> None:
    runnable = [name for name in EVERY if name not in GROUPS or app[name].default_command]
    known = {
        option for name in runnable for option in options_of(Found(README, 0, f"tilewire {name}"))
    }
    named = [
        Found(path, line_of(span), option)
        for path in DOCUMENTS
        if path.name != "CHANGELOG.md" and path.parent.name != "results"
        for span in SPAN.finditer(prose(path))
        if span[1].startswith("--")
        for option in re.findall(r"(?<!\S)--[a-z][\w-]*", span[1])
    ]
    assert len(named) > 100
    assert not [str(one) for one in named if one.text not in known | OF_OTHERS]


@pytest.mark.parametrize("name", EVERY)
def test_every_command_is_in_a_document(name: str) -> None:
    told = [one for one in COMMANDS if one.path == README or PLAYERS.parent in one.path.parents]
    assert any(f"{' '.join(called(one))} ".startswith(f"{name} ") for one in told)


def test_commands_are_listed_as_in_the_help() -> None:
    parts = re.split(r"^## (.+)$", prose(PLAYERS.with_name("commands.md")), flags=re.MULTILINE)[1:]
    rows = {
        title: re.findall(r"^\| `tilewire (\w+)", text, re.MULTILINE)
        for title, text in zip(*[iter(parts)] * 2, strict=True)
    }
    listed = {title: [*dict.fromkeys(names)] for title, names in rows.items() if names}
    assert [*listed.items()] == [(purpose, [*lines]) for purpose, lines in PURPOSES.items()]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Configuration", ServerFile),
        ("Admission", Admission),
        ("Analysis", AnalysisSettings),
    ],
)
def test_the_keys_of_a_server_are_as_written(heading: str, kind: type[object]) -> None:
    section = re.split(r"^##+ ", prose(SERVER), flags=re.MULTILINE)
    (text,) = (one for one in section if one.startswith(f"{heading}\n"))
    written = {
        re.sub(r"^\[(\w+).*\]$", r"\1", key) for row in rows(text) for key in SPAN.findall(row[0])
    }
    keys = {key for key in written if not key.startswith("--")}
    assert keys == set(get_type_hints(kind))


def links() -> Iterator[Found]:
    for path in DOCUMENTS:
        text = SPAN.sub(lambda span: "\n" * span[0].count("\n"), prose(path))
        for link in re.finditer(r"\]\((?!\w+:)([^()\s]+)\)", text):
            yield Found(path, line_of(link), link[1])


def anchors(path: Path) -> set[str]:
    """What headings are called in links."""
    titles = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("link", list(links()), ids=str)
def test_a_link_leads_somewhere(link: Found) -> None:
    file, _, anchor = link.text.partition("#")
    target = (link.path.parent / file).resolve() if file else link.path
    assert target.exists()
    assert not anchor or anchor in anchors(target)


def sections() -> dict[str, str]:
    """What docs/players.md says of each player."""
    parts = re.split(r"^### `(.+)`$", prose(PLAYERS), flags=re.MULTILINE)[1:]
    return {name: part.partition("\n## ")[0] for name, part in zip(*[iter(parts)] * 2, strict=True)}


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("name", sorted({*_BUILT_IN, FULL_KNOWLEDGE, *sections()}))
def test_the_options_of_a_player(name: str) -> None:
    unseated: dict[str, Factory] = {FULL_KNOWLEDGE: FullKnowledgePlayer}
    factory = unseated.get(name) or load_factory(parse_seat(name))
    taken = inspect.signature(factory).parameters
    written = [(one, *row[1:3]) for row in rows(sections()[name]) for one in SPAN.findall(row[0])]
    assert sorted(option for option, *_ in written) == sorted(taken)
    for option, values, default in written:
        usual = taken[option].default or {"doubt": DOUBT}.get(option)
        assert usual is None or default == f"`{usual}`"  # others are told in words
        for value in SPAN.findall(values):
            factory(**{option: value})


def test_the_methods_of_a_player_are_as_written() -> None:
    block = PLAYERS.read_text(encoding="utf-8").partition("## Its methods\n")[2].split("```")[1]
    methods = {**vars(Listener), **vars(Player)}.items()
    assert dict(re.findall(r"^def (\w+)(.*):$", block, re.MULTILINE)) == {
        name: str(inspect.signature(method)).replace("'", "")
        for name, method in methods
        if inspect.isfunction(method)
    }
