"""What a server does about its own process, and what it hides from its players."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

from harness.arbiter.journal_reading import files_at
from harness.cli.serving import HouseBots

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

    class Seen(HouseBots):
        def __init__(self, *args: object) -> None:
            hidden.append(args[-1])  # type: ignore[arg-type]
            raise OSError("no server is needed")

    monkeypatch.setattr("harness.cli.serving.HouseBots", Seen)
    assert tilewire("serve", "--db", db, "--tokens", tokens, "--admins", admins) == 1
    assert hidden == [(tokens, admins, *files_at(db))]
