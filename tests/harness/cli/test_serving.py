"""What a server does about its own process, and what it hides from its players."""

from __future__ import annotations

import asyncio
import configparser
import ctypes
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from command_line import CommandLine
from servers import served
from tables import tables

from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import files_at
from harness.cli import options
from harness.cli.access_files import AccessFiles, rereading
from harness.cli.failing import CommandFailed
from harness.cli.serve import ServerFile, _bots, _defaults, _server, _started, retention_of
from harness.cli.serving import House
from harness.server.admission import Admission
from harness.server.certificate import Certificate
from harness.server.ladder.settings import LadderSettings
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper, KnownTokens, hash_token
from protocol.parts import TimeControl
from protocol.websocket import dial

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "docs" / "tilewire.service"
ATTACKED = """
import threading, time
from harness.cli.serving import return_freed_memory

def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20

return_freed_memory(every_s=0.01)
before = resident_mb()
left = []

def attack():
    taken = [bytes(2_000) for _ in range(20_000)]
    left.append(bytes(2_000))  # at the end of the heap, so that it can't just be shortened

attack()
threads = [threading.Thread(target=attack) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
while resident_mb() - before >= 20:  # of 115
    time.sleep(0.01)
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="memory is glibc's to give back"
)
def test_memory_that_an_attack_took_goes_back() -> None:
    subprocess.run([sys.executable, "-c", ATTACKED], check=True, timeout=60)


def test_a_journal_is_hidden_with_all_its_files_by_whatever_name_it_is_reached(
    tmp_path: Path,
) -> None:
    (tmp_path / "games.db").touch()
    (tmp_path / "link").symlink_to("games.db")
    files = {tmp_path / f"games.db{part}" for part in ("", "-wal", "-shm", "-lock")}
    assert set(files_at(tmp_path / "link")) == set(files_at(str(tmp_path / "games.db"))) == files
    assert files_at("postgresql://me@here/games") == ()


def test_players_see_neither_journal_nor_tokens(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens, admins, db = (tmp_path / name for name in ("tokens", "admins", "games.db"))
    for name, file in (("ann", tokens), ("bob", admins)):
        assert tilewire("token", name, "--tokens", file) == 0
    hidden: list[tuple[Path, ...]] = []

    class Seen(House):
        def __init__(self, *args: object) -> None:
            hidden.append(args[-1])  # type: ignore[arg-type]
            raise OSError("no server is needed")

    monkeypatch.setattr("harness.cli.serve.House", Seen)
    assert tilewire("serve", "--db", db, "--tokens", tokens, "--admins", admins) == 1
    assert hidden == [(tokens, admins, *files_at(db))]


async def test_a_bot_for_people_is_left_out_where_a_player_has_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = _defaults() | ServerFile(bots={"expert": "greedy"})
    house = House(_bots(settings), options.equipment_named(settings, threads=1, ponder=False))
    access = AccessFiles(None, None, None)
    with closing(Journal(tmp_path / "games.db")) as journal:
        await journal.claim_name("club", "hash of a token")
        await journal.claim_name("expert", "hash of a token")
        server = _server(journal, settings, 0, access, house)
    assert "club" not in server.tables.main.bots
    assert server.tables.main.bots.keys() >= {"casual", "expert"}, "[bots] has its own way"
    assert "names club, so" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "is_open", "days"),
    [
        ({}, True, None),
        ({"host": "0.0.0.0"}, True, (None, 1)),
        ({"host": "0.0.0.0"}, False, None),
        ({"admission": Admission(proxies=("127.0.0.1",))}, True, (None, 1)),
        ({"host": "0.0.0.0", "thoughts_days": 36_500}, True, (None, 36_500)),
        ({"host": "0.0.0.0", "keep_days": 90}, True, (90, 1)),
        ({"keep_days": 90}, True, (90, None)),
        ({"thoughts_days": 7}, False, (None, 7)),
    ],
)
def test_what_strangers_think_is_kept_for_a_day_where_anybody_may_play(
    said: ServerFile, days: tuple[float | None, float | None] | None, *, is_open: bool
) -> None:
    retention = retention_of(_defaults() | said, is_open=is_open)
    kept = None if retention is None else (retention.keep_days, retention.thoughts_days)
    assert kept == days


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1", "::", ""])
async def test_a_server_says_by_which_addresses_it_is_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    async with served(tmp_path / "games.db", host=host) as server:
        _started(server, "journal games.db", lambda: None)
        said = capsys.readouterr().err
        found = re.search(r" serving on (ws://[^ ,]+), page (http://[^ ,]+)", said)
        assert found is not None, said
        channel = await dial(found[1])
        await channel.close()
        with await asyncio.to_thread(urlopen, found[2]) as page:
            assert page.status == 200
    assert (" at all " in said) == (host not in ("127.0.0.1", "::1"))
    assert ("IPv4" in said, "IPv6" in said) == (host == "0.0.0.0", False), ":: and none are both"


# --- the files that start it ----------------------------------------------------------------------


def test_the_command_of_the_unit_is_one(tilewire: CommandLine) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.read(UNIT)
    _, *arguments = shlex.split(unit["Service"]["ExecStart"])
    assert tilewire(*arguments) == 2
    assert "/etc/tilewire/server.toml" in tilewire.err


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("tilewire")
    text = UNIT.read_text().replace("/opt/tilewire/bin/tilewire", str(program))
    (tmp_path / "tilewire.service").write_text(text)
    done = subprocess.run(
        ("systemd-analyze", "verify", "--man=no", str(tmp_path / "tilewire.service")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_container_file_copies_and_starts_what_there_is() -> None:
    lines = (ROOT / "Containerfile").read_text().replace("\\\n", "").splitlines()
    steps = [line.partition(" ")[::2] for line in lines if line and not line.startswith("#")]
    copied = {name for step, what in steps if step == "COPY" for name in what.split()[:-1]}
    packages = {path.parent.name for path in ROOT.glob("*/py.typed")}
    assert packages | {"pyproject.toml", "README.md", "LICENSE", "tilewire.py"} == copied - {
        "--from=build",
        "/opt/tilewire",
    }
    (entry,) = (what for step, what in steps if step == "ENTRYPOINT")
    assert json.loads(entry) == ["tilewire"]
    assert ("RUN", "tilewire warm") in steps


# --- SIGHUP: what is wrong is told and changes nothing --------------------------------------------


TLS = Path(__file__).parents[2] / "fixtures" / "tls"


class Running:
    """A server that nobody can reach, and what its files say."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self.tokens = folder / "tokens"
        self.tokens.write_text(f"ann {hash_token('a')}\n")
        self.cert = folder / "cert.pem"
        shutil.copy(TLS / "localhost.pem", self.cert)
        self.said: dict[str, Any] = {
            "max_games": 2,
            "time": TimeControl(),
            "admission": Admission(),
            "bots": {"quick": "static"},
            "port": 1,
        }
        self.wrong = ""
        self.told: list[str] = []
        known = KnownTokens(self.tokens, self.told.append)
        self.keeper = Gatekeeper(journal, known)
        self.server = MatchServer(tables(), journal, self.keeper)
        certificate = Certificate(self.cert, TLS / "localhost.key")
        access = AccessFiles(known, None, certificate)
        self.hang_up = rereading(self.server, access, self.said.copy(), self.read, self.told.append)

    def read(self) -> dict[str, Any]:
        if self.wrong:
            raise CommandFailed(self.wrong)
        return self.said.copy()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    journal = Journal(tmp_path / "games.db")
    yield Running(tmp_path, journal)
    journal.close()


async def test_what_has_changed_takes_effect_or_is_said_to_need_a_restart(running: Running) -> None:
    running.hang_up()
    assert len(running.told) == 3
    running.told.clear()
    running.tokens.write_text(f"ann {hash_token('a')}\nbob {hash_token('b')}\n")
    shutil.copy(TLS / "expired.pem", running.cert)
    fast = TimeControl(initial_ms=1_000)
    strict = Admission(kept=7, spectators=5)
    running.said |= {"max_games": 7, "time": fast, "admission": strict, "port": 2, "seed": 5}
    running.said |= {"bots": {"quick": "greedy", "new": "greedy"}, "ladder": LadderSettings()}
    running.hang_up()
    assert running.keeper.check("bob", "b")
    assert (running.server._lobby.max_games, running.server._lobby.time) == (7, fast)
    assert running.server._admissions.config == strict
    tokens, certificate, now, later = running.told
    assert "bob" in tokens
    assert str(running.cert) in certificate
    assert "admission.kept, admission.spectators, max_games, time.initial_ms" in now
    ladder = "ladder.anchors, ladder.fade_days, ladder.persons, ladder.same_owner, ladder.tables"
    assert f"bots.new, bots.quick, {ladder}, port, seed" in later
    del running.said["seed"], running.said["ladder"]
    running.said["bots"] = {}
    running.told.clear()
    running.hang_up()
    assert "bots.quick, port" in running.told[-1]


async def test_what_is_wrong_changes_nothing(running: Running) -> None:
    running.tokens.write_text("ann\n")
    running.cert.write_text("")
    running.wrong = "serve.toml is not TOML"
    running.hang_up()
    assert running.keeper.check("ann", "a")
    assert running.server._lobby.max_games == 2
    tokens, certificate, settings = running.told
    assert str(running.tokens) in tokens
    assert str(running.cert) in certificate
    assert running.wrong in settings


async def test_more_games_than_the_system_has_files_for_or_no_tokens_are_no_change(
    running: Running,
) -> None:
    running.said["max_games"] = 1_000_000_000
    running.tokens.unlink()
    running.tokens.mkdir()  # a folder can't be read, not even by root
    running.hang_up()
    assert running.server._lobby.max_games == 2
    assert running.keeper.check("ann", "a")
    assert str(running.tokens) in running.told[0]
    assert "open files" in running.told[-1]
