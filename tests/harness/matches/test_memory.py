"""A bot that tries to remember what it drew, in the games of a match."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import remembering_bot
from match_samples import match_config

from bot.seat.containment import containment
from harness.matches.folder import MatchFolder
from harness.matches.tournament import Tournament
from lexicons.store import load_lexicon

pytestmark = [
    pytest.mark.usefixtures("kept_words"),
    pytest.mark.skipif(not containment().apart, reason=containment().why_not),
]


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a collector outside, which also listens at an abstract socket."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    listening = remembering_bot.listeners(port)
    stop, told = socket.socketpair()
    thread = threading.Thread(target=remembering_bot.collect, args=(listening, told))
    thread.start()
    yield port
    stop.send(b"stop")
    thread.join()
    for opened in (*listening, stop, told):
        opened.close()


async def reports(folder: Path, options: str, games: int) -> list[dict[str, Any]]:
    """Play games of the bot against itself, which are short; return what it told in each."""
    (folder / "bots").mkdir()
    bot = shutil.copy(remembering_bot.__file__, folder / "bots")
    config = match_config(
        seats=(f"{bot}:Remembers?{options}",) * 2,
        games=games,
        lexicon_checksum=load_lexicon().checksum,
        contained=True,
    )
    with MatchFolder(folder / "match") as files:
        await Tournament(config, load_lexicon(), files, lambda _result: None).play()
        assert len(files.counted) == games
    logs = sorted((folder / "match" / "seats").glob("Old.*.log"))
    assert len(logs) == games
    lines = [line for log in logs for line in log.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.startswith("{")]


async def test_a_contained_bot_remembers_nothing(tmp_path: Path, port: int) -> None:
    told = await reports(tmp_path, f"port={port}", games=6)
    assert [report["found"] for report in told] == [{}] * 6
    held = set(told[0]["held"])  # it does leave notes, while its game lasts
    assert {"daemon, IPv4", "daemon, abstract", "environment", "module", "/dev/shm"} <= held
    assert {"SysV memory", "SysV queue", "POSIX queue"} <= held


async def test_a_bot_with_the_network_can_tell_somebody(tmp_path: Path, port: int) -> None:
    _, second = await reports(tmp_path, f"port={port}&network=yes", games=2)
    assert {"collector, IPv4", "collector, abstract"} <= second["found"].keys()
