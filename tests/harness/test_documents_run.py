"""The blocks of the documents run, and are read, as they stand.

Each document has a folder of its own, in which its commands are run one after another; blocks that
are files are there under their names. Not as they stand are what tests that run side by side
can't share (ports, and the folder /tmp/x), and what only its author has (the number of a game, and
an engine in /opt).

The blocks of SPEC.md are read by ``tests/protocol/test_spec.py``.
"""

from __future__ import annotations

import os
import queue
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import CommandLine
from e2e.processes import COMMAND, PATIENCE_S
from search_views import opening, unlimited, view_at

from bot.registry import create_player
from bot.seat_text import parse_seat
from engine.notation.cgp import read_cgp
from engine.notation.gcg import read_gcg
from engine.rules.rule_sets import load_rules
from engine.rules.rules import standard_rules
from harness.arbiter.journal import Journal
from harness.cli.directed import DirectedSettings
from harness.cli.match_settings import MatchSettings, TournamentSettings, read_settings
from harness.cli.serve import ServerFile
from harness.config_file import read_config_file
from harness.matches.openings import read_openings
from harness.server.bridge.config import read_config as read_bridge
from lexicons.alphabet import load_distribution
from lexicons.layout import load_layout
from lexicons.store import load_lexicon
from lexicons.win_probability import read_win_probabilities

REPOSITORY = Path(__file__).parents[2]
DOCUMENTS = ("README.md", *sorted(f"docs/{path.name}" for path in REPOSITORY.glob("docs/*.md")))
DOCUMENTS += ("examples/README.md",)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

MAGPIE, QUACKLE = "needs MAGPIE", "needs Quackle"
PODMAN, MACHINES, POLISH = "needs podman", "needs other machines", "needs the package wpolish"
LONG, FOLLOWS = "takes minutes", "needs what a command left out would make"
SHOWN = "what a program prints, cut short"

LEFT_OUT = {
    "README.md": {
        "git clone": "makes a clone, and installs it",
        "make match": "installs the program",
        "make test": "is what runs this",
        "tilewire match champion": MAGPIE,
    },
    "docs/engines.md": {
        'tilewire match "siu:/opt': "needs an engine",
        'tilewire match "quackle:': QUACKLE,
        'tilewire match "magpie:': MAGPIE,
        "TILEWIRE_MAGPIE=": MAGPIE,
        'tilewire match "files:': "needs a program that plays through files",
        "tilewire files /tmp/x --bot champion": "needs a program that plays through files",
        "76489e5d 0 game": SHOWN,
        "> siu": SHOWN,
        "python3 siu_conformance.py": "needs the program of another project",
        "tilewire bridge revoke": "needs a page that is paired",
        "> bridge pair": SHOWN,
    },
    "docs/files.md": {
        "tilewire train": LONG,
        "tilewire match static greedy --lexicon mine.txt": FOLLOWS,
        "import pandas": "needs pandas, and a match",
        "tilewire lexicon install": POLISH,
        "tilewire match static greedy --rules polish": POLISH,
        "tilewire match champion static": LONG,
        "tilewire analyze super": FOLLOWS,
    },
    "docs/hosts.md": {
        ".venv/bin/pip install": "installs a package",
        "createuser": "needs PostgreSQL's own user",
        "createdb": "needs PostgreSQL's own user",
        "tilewire serve --config server.toml --db postgresql": MACHINES,
        "tilewire serve --config server.toml --host 192.0.2.11": MACHINES,
        "cd docs/three-hosts": PODMAN,
        "export PASSWORD": PODMAN,
        "podman": PODMAN,
        "tilewire connect ws://127.0.0.1:8484 --bot static": PODMAN,
    },
    "docs/matches.md": {
        'tilewire match "siu:/opt': "needs an engine",
        "machine": MACHINES,
    },
    "docs/play.md": {
        "tilewire play club --terminal": "waits for who plays",
        "tilewire puzzles make": LONG,
        "tilewire match champion champion": LONG,
    },
    "docs/players.md": {"def warm_up": "test_documents.py compares them"},
    "docs/server.md": {
        "tilewire lexicon install": POLISH,
        "tilewire lexicon words --lexicon polish": POLISH,
        "tilewire connect ws://127.0.0.1:8484 --bot static --table polish": POLISH,
        "python examples/any_tiles_bot.py": POLISH,
        "tilewire serve --host 0.0.0.0": "needs the certificate of a name",
        "tilewire connect wss:": MACHINES,
        "tilewire admin ws://127.0.0.1:8484 void GAME": "needs a game that its bot has left",
        "tilewire backup club": "needs a tournament",
        "tilewire serve --tournament": "needs a tournament",
        "podman": PODMAN,
        "python3 -m venv /opt": "needs root",
        "/opt/tilewire/bin/pip": "needs root",
        "useradd": "needs root",
        "install -D": "needs root",
        "cp docs/tilewire.service": "needs root",
        "systemd-analyze": "needs root",
        "systemctl": "needs root",
        "journalctl": "needs root",
        "runuser": "needs root",
    },
    "docs/tournaments.md": {
        "tilewire tournament": LONG,
        "tilewire connect": LONG,
        "tilewire watch": FOLLOWS,
        "tilewire direct ws://127.0.0.1:8484 correct": FOLLOWS,
    },
    "examples/README.md": {"python -m http.server": "goes on until it is stopped"},
}
"""What isn't run or read, by its beginning, and why."""

PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
BESIDE = ("serve", "play", "study", "bridge --config", "files", "watch")
"""Commands that run while the next ones do, as in a terminal of their own."""


def _config(kind: type[object]) -> Callable[[Path], object]:
    return lambda path: read_config_file(path, kind)


def _bridge(path: Path) -> None:
    """Have the engine that others have in /opt, and any port that is free."""
    text = path.read_text("utf-8").replace("/opt/strong", str(path.parent.resolve()))
    path.write_text(f"port = 0\n{text}", "utf-8")
    read_bridge(path)


def _script(path: Path) -> None:
    """Run a file beside the bot of the document's first block."""
    Path("bots.py").symlink_to("first.py")
    subprocess.run([sys.executable, path], check=True, stdout=subprocess.PIPE)


SERVER = "server.toml", _config(ServerFile)
PLAYERS = b"#player1 anna Anna\n#player2 bert Bert\n"


FILES: dict[str, dict[str, tuple[str, Callable[[Path], object]]]] = {
    "docs/engines.md": {"# bridge.toml": ("bridge.toml", _bridge)},
    "docs/files.md": {
        "# my words": ("words.txt", load_lexicon),
        ",1,2,3": ("table.csv", read_win_probabilities),
        "?,?,1,0,0": ("tiles.csv", load_distribution),
        "# 7 × 7": ("board.txt", load_layout),
        "15/15/": ("game.cgp", lambda path: read_cgp(path.read_text(), standard_rules())),
        "#character-encoding": ("game.gcg", lambda path: read_gcg(path.read_bytes())),
        "# tiles and board": ("mine.toml", load_rules),
    },
    "docs/hosts.md": dict.fromkeys(("db =", "[bots]"), SERVER),
    "docs/matches.md": {
        "# a position": ("openings.txt", partial(read_openings, rules=standard_rules())),
        "seats =": ("match.toml", partial(read_settings, given=MatchSettings())),
    },
    "docs/play.md": {
        "[bots]": SERVER,
        "#note ~study": ("study.gcg", lambda path: read_gcg(PLAYERS + path.read_bytes())),
    },
    "docs/players.md": {"import cProfile": ("debug.py", _script)},
    "docs/server.md": {
        **dict.fromkeys(("db =", "keep_days"), SERVER),
        "[tables.polish]": ("tables.toml", SERVER[1]),
    },
    "docs/tournaments.md": {
        'seats = ["static"': ("event.toml", partial(read_settings, given=TournamentSettings())),
        'seats = ["guest': ("club.toml", partial(read_settings, given=DirectedSettings())),
        "# server.toml": SERVER,
    },
}
"""Blocks that are files, by how they begin: the file's name, and what reads it."""


class Block(NamedTuple):
    """A fenced block."""

    language: str
    text: str

    @property
    def is_commands(self) -> bool:
        """Whether it has commands, with or without what they print."""
        return self.language == "sh" or self.text.startswith(("$ ", "tilewire ", "TILEWIRE_"))

    def commands(self) -> Iterator[str]:
        """Give each command, over however many lines it goes."""
        lines = self.text.splitlines()
        if self.text.startswith("$ "):
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        command = ""
        for line in lines:
            command += line
            if line.endswith("\\"):
                command = f"{command[:-1].rstrip()} "
            elif command.count('"') % 2 or _in_loop(command):
                command += "\n"
            else:
                yield command
                command = ""


def blocks(document: str) -> list[Block]:
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    return [Block(*found) for found in BLOCK.findall(text)]


def _in_loop(command: str) -> bool:
    return command.startswith("for ") and not command.endswith("done")


class Reader:
    """Who tries a document: a folder, what runs in it, and what is not as it stands."""

    def __init__(self, tilewire: CommandLine, folder: Path) -> None:
        self.tilewire, self.folder = tilewire, folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        self.beside: list[subprocess.Popen[str]] = []

    def run(self, command: str) -> None:
        """Run a command, to its good end if it is none of ``BESIDE``."""
        command = command.replace("8484", self.port).replace("/tmp/x", str(self.folder / "x"))
        for played in self.folder.glob("games/*.gcg"):
            command = command.replace("316bd07297a67357", played.stem)
        words, _, target = command.partition(" > ")
        program, *arguments = shlex.split(words, comments=True)
        if program == "umask":
            os.umask(int(arguments[0], 8))
        elif program == "sqlite3":
            with sqlite3.connect(arguments[0]) as journal:
                journal.execute(arguments[1]).fetchall()
        elif program == "tilewire" and words.partition(" ")[2].startswith(BESIDE):
            self.start(arguments)
        elif program == "tilewire" and arguments[0] != "siu":
            assert self.tilewire(*arguments) == 0, self.tilewire.err
            if target:
                Path(target.partition("#")[0].strip()).write_text(self.tilewire.out, "utf-8")
        elif shutil.which(program, path=PATH) is None:
            pytest.skip(f"{program} is not here")
        else:
            nodes = "--experimental-websocket"  # which node 20 needs
            subprocess.run(
                command, shell=True, check=True, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=PATIENCE_S, env=os.environ | {"PATH": PATH, "NODE_OPTIONS": nodes},
            )  # fmt: skip

    def start(self, arguments: list[str]) -> None:
        """Start what goes on beside the next commands; wait until it is ready for them."""
        if arguments[0] in ("play", "serve", "study"):  # and not before the one before has ended
            self.leave()
        if arguments[0] == "serve":
            arguments += ["--port", self.port]
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.beside.append(process)
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=_pass_on, args=(process, lines), daemon=True).start()
        while arguments[0] != "watch":
            line = lines.get(timeout=PATIENCE_S)
            assert line, arguments
            if re.search(r"(ws|http)://|waits for a host", line):
                break

    def leave(self) -> None:
        """End what is still on, as Ctrl-C would."""
        while self.beside:
            process = self.beside.pop()
            process.send_signal(signal.SIGTERM)
            # The last is of one that has only just begun.
            assert process.wait(PATIENCE_S) in (0, 128 + signal.SIGTERM, -signal.SIGTERM)


def _pass_on(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    """Pass on what a process prints; an empty line at its end."""
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put("")


@pytest.fixture
def reader(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWSER", "true")  # the program of that name
    monkeypatch.delenv("TILEWIRE_TOKEN", raising=False)
    for folder in ("docs", "examples", "lexicons", "tests"):
        (tmp_path / folder).symlink_to(REPOSITORY / folder)
    mask, reader = os.umask(0o022), Reader(tilewire, tmp_path)
    yield reader
    os.umask(mask)
    for process in reader.beside:
        process.kill()
        process.wait()


def begin(document: str, reader: Reader) -> None:
    """Have the files in a document's folder that its text tells the reader to have."""
    if document in ("docs/matches.md", "docs/tournaments.md"):
        for version in ("v1", "v2"):
            Path(version).mkdir()
            Path(version, "bot.py").touch()
    if document == "docs/matches.md":
        first = next(block for block in blocks("README.md") if block.language == "python")
        Path("my_bot.py").write_text(first.text.replace("class First", "class Bot"), "utf-8")
    if document == "docs/engines.md":  # where MAGPIE has its lexicons
        Path("DATA/lexica").mkdir(parents=True)
        Path("engine").touch(0o755)
    if document == "docs/files.md":
        for name, embedded in (("tiles.csv", "english.csv"), ("board.txt", "standard.txt")):
            Path(name).symlink_to(REPOSITORY / "lexicons" / "data" / embedded)
    if document in ("docs/server.md", "docs/files.md"):
        Journal("games.db").close()
    if document == "examples/README.md":
        Path("bridge.toml").write_text('port = 0\norigins = ["http://localhost:8000"]\n')


@pytest.mark.parametrize("document", DOCUMENTS)
def test_its_blocks_run_as_they_stand(document: str, reader: Reader) -> None:
    begin(document, reader)
    left_out, files = LEFT_OUT.get(document, {}), FILES.get(document, {})
    unused = {*left_out, *files}

    def known(table: dict[str, str], text: str) -> bool:
        found = [start for start in table if text.startswith(start)]
        unused.difference_update(found)
        return bool(found)

    for number, block in enumerate(blocks(document)):
        file = next((each for each in files if block.text.startswith(each)), None)
        if file is not None:
            unused.discard(file)
            name, read = files[file]
            path = Path(name)
            if path.exists():
                path = Path(f"{number}-{name}")
            path.write_text(block.text, "utf-8")
            read(path)
        elif block.is_commands:
            for command in block.commands():
                if not known(left_out, command):
                    reader.run(command)
        elif known(left_out, block.text):
            continue
        elif block.language == "python":
            (name,) = re.findall(r"^class (\w+)\(Player\)", block.text, re.MULTILINE)
            Path("first.py").write_text(block.text, "utf-8")
            view = view_at(opening("AEINRTS"))
            choice = create_player(parse_seat(f"first.py:{name}")).choose(view, unlimited())
            assert choice.move in [one.move for one in view.legal_moves()]
        else:
            raise AssertionError(f"nothing is known of the block {block.text!r}")
    reader.leave()
    assert not unused, "no block or command begins so any more"
