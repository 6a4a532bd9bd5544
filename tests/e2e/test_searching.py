"""Seats that search, as real processes: what a seat loses when it is killed while it thinks."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from e2e.processes import COMMAND, PATIENCE_S, run_command
from e2e.test_matches import check_games

from bot.seat import guard
from protocol.channel import now_ms

GAMES = 2
TICKS = 10


def test_a_worker_killed_in_mid_search_answers_in_time_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "match"
    play = ["match", "sim?time=200ms", "static", "--games", str(GAMES), "--concurrency", "1"]
    arguments = [*play, "--seed", "5", "--time", "10s", "--json", "--verbose", "--out", str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *arguments], stdout=pipe, stderr=pipe, text=True) as host:
        assert host.stderr is not None
        for _ in range(GAMES):
            _wait_for_a_game(host.stderr)
            _kill_while_searching(_searcher_of(host.pid))
        said, _ = host.communicate(timeout=PATIENCE_S)
    result = json.loads(said.splitlines()[-1])
    assert host.returncode == 0
    assert (result["games"], result["void"]) == (GAMES, 0)
    assert result["time_penalty"] == {"a": 0, "b": 0}
    assert result["forfeits"] == {"a": {}, "b": {}}
    assert sum(result["faults"]["a"].values()) == GAMES, "each kill is on the record"
    check_games(folder, GAMES)


def test_seats_that_infer_say_what_they_believe_and_what_is_learnt_is_kept(tmp_path: Path) -> None:
    """In processes whose kernels take no new types once the clock runs."""
    folder = tmp_path / "match"
    play = ["match", "infer?time=30ms", "champion?time=30ms", "--games", "2", "--seed", "3"]
    told = run_command(*play, "--time", "1m", "--json", "--out", folder)
    result = json.loads(told.stdout.splitlines()[-1])
    assert result["faults"] == {"a": {}, "b": {}}
    with closing(sqlite3.connect(folder / "match.db")) as journal:
        styles = dict(journal.execute("SELECT name, games FROM styles"))
        records = [json.loads(one) for (one,) in journal.execute("SELECT content FROM records")]
    assert styles == {"infer": 2, "champion": 2}
    beliefs = [one["belief"] for one in records if one.get("belief")]
    assert beliefs, "a busy machine has time for fewer"
    assert {"leaves_considered", "top", "style", "tiles"} <= set(beliefs[0])


def _wait_for_a_game(log: IO[str]) -> None:
    while line := log.readline():
        if "game began" in line:
            return
    raise AssertionError("no game began")


def _searcher_of(host: int) -> int:
    """Find the process of the seat that searches; its guard, if it is called so too, began it."""
    named = []
    for process in guard.descendants(host):
        with suppress(OSError):  # it ended meanwhile
            if b"\0--name=sim\0" in Path(f"/proc/{process}/cmdline").read_bytes():
                named.append(process)
    return named[-1]


def _kill_while_searching(process: int) -> None:
    """Kill a seat that has been at work for some ten milliseconds; who is not on turn sleeps."""
    until = now_ms() + PATIENCE_S * 1_000
    begun = _ticks_of(process)
    while _ticks_of(process) < begun + TICKS:
        assert now_ms() < until, "it does nothing"
        time.sleep(0.005)
    os.kill(process, signal.SIGKILL)


def _ticks_of(process: int) -> int:
    """Give the processor time of all its threads, in hundredths of a second."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])
