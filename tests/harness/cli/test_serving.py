"""What a server does about its own process, and what it hides from its players."""

from __future__ import annotations

import asyncio
import ctypes
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import pytest
from command_line import CommandLine
from servers import served

from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import files_at
from harness.cli import options
from harness.cli.access_files import AccessFiles
from harness.cli.serve import ServerFile, _bots, _defaults, _server, _started, retention_of
from harness.cli.serving import House
from harness.server.admission import Admission
from protocol.websocket import dial

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
