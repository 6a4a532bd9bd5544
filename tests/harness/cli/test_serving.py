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
from pathlib import Path
from urllib.request import urlopen

import pytest
from command_line import CommandLine
from servers import served

from harness.arbiter.journal_reading import files_at
from harness.cli.serve import ServerFile, _defaults, _started, retention_of
from harness.cli.serving import House
from harness.server.admission import Admission
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
