"""Journals and folders that matches and servers of today leave, and what is made of them later.

They were recorded once, with their times and chances; ``record.py inputs`` records others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from corpus import by_work
from corpus.artefacts import INPUTS, Artefact, read_packed, write_packed
from corpus.command_runs import answer_to
from e2e.processes import COMMAND, serving

JOURNALS = ("finished", "cut-off", "server")
MATCH = ("match", "static", "greedy", "--seed", "5", "--time", "1m")
GAMES = 4
TURNS_OF_THE_CUT_GAME = 5
"""It has so many at least."""

_IDENTITY = re.compile(r"(?m)^#id .*\n")


def _run(*arguments: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        cwd=by_work.ROOT,
        env=by_work.environment(),
        timeout=by_work.LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stderr}"
    return done.stdout


# --- recording ------------------------------------------------------------------------------------


def make_inputs() -> None:
    """Play a match to its end, kill one in mid-game, and have a server play two games."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(*MATCH, "--games", str(GAMES), "--out", str(folder / "finished"))
        _keep(folder / "finished")
        while not _cut_off(folder / "cut-off"):
            shutil.rmtree(folder / "cut-off")
        _keep(folder / "cut-off")
        (folder / "server").mkdir()
        _serve(folder / "server")
        _keep(folder / "server")


def _cut_off(folder: Path) -> bool:
    """Kill a match soon after its second game; tell whether it was in mid-game."""
    command = [*COMMAND, *MATCH, "--games", str(GAMES), "--out", str(folder)]
    results = folder / "results.jsonl"
    with subprocess.Popen(command, cwd=by_work.ROOT, start_new_session=True) as match:
        while not results.exists() or results.read_text().count("\n") < 2:
            time.sleep(0.005)
        time.sleep(0.08)
        os.killpg(match.pid, signal.SIGKILL)
    if results.read_text().count("\n") != 2:
        return False
    with closing(sqlite3.connect(folder / "match.db")) as journal:
        query = "SELECT count(*) FROM records JOIN games USING (game) WHERE open"
        return bool(journal.execute(query).fetchone()[0] > TURNS_OF_THE_CUT_GAME + 2)


def _serve(folder: Path) -> None:
    with serving(folder, "--drain", "0s") as server:
        joining = ("--bot", "greedy", "--name", "guest", "--opponent", "static", "--games", "2")
        _run("connect", server.url, *joining)
        server.terminate()
        server.wait()


def _keep(folder: Path) -> None:
    """Keep the files of a folder as texts, the journal as what SQLite dumps of it."""
    (database,) = folder.glob("*.db")
    with closing(sqlite3.connect(database)) as journal:
        version = journal.execute("PRAGMA user_version").fetchone()[0]
        dumped = "\n".join((*journal.iterdump(), f"PRAGMA user_version = {version};", ""))
    texts = [*folder.glob("*.json"), *folder.glob("*.jsonl"), *folder.glob("games/*.gcg")]
    files = {str(one.relative_to(folder)): one.read_text() for one in sorted(texts)}
    kept = {"database": database.name, "dump": dumped, "files": files}
    write_packed(INPUTS / f"{folder.name}.json.xz", json.dumps(kept, indent=1))


# --- replaying ------------------------------------------------------------------------------------


def _lay_out(name: str, folder: Path) -> Path:
    """Write what was kept into a folder; give the journal's path."""
    kept: dict[str, Any] = json.loads(read_packed(INPUTS / f"{name}.json.xz"))
    for path, text in kept["files"].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "games").mkdir(exist_ok=True)
    database = folder / str(kept["database"])
    with closing(sqlite3.connect(database)) as journal:
        journal.executescript(kept["dump"])
    return database


def _listed(name: str) -> str:
    """List the games of a journal, and write them as GCG."""
    with tempfile.TemporaryDirectory() as folder:
        database, out = _lay_out(name, Path(folder)), Path(folder) / "out"
        told = [answer_to(("games", str(database), *more)) for more in ((), ("--json",))]
        told.append(answer_to(("games", str(database), "--out", str(out))))
        written = [f"{path.name}\n{path.read_text()}" for path in sorted(out.glob("*.gcg"))]
    answers = (f"{out}{err}[exit status {status}]\n" for status, out, err in told)
    return "\n".join((*answers, *written)).replace(folder, "FOLDER")


def _records(database: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as journal:
        order = "SELECT game, number, content FROM records ORDER BY game, number"
        return list(journal.execute(order))


def _resumed() -> str:
    """Take up the match that was killed; see that nothing recorded changed, and give its games."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = _lay_out("cut-off", folder)
        before = _records(database)
        results = (folder / "results.jsonl").read_text()
        _run("match", "--resume", name)
        assert set(before) <= set(_records(database)), "what was recorded is gone or was changed"
        after = (folder / "results.jsonl").read_text()
        assert after.startswith(results), "results that were there are gone or were changed"
        played = [json.loads(line) for line in after.splitlines()]
        games = [_IDENTITY.sub("", path.read_text()) for path in sorted(folder.glob("games/*.gcg"))]
    lines = [
        f"{one['number']} pair {one['pair']} first {one['first']} {one['outcome']} "
        f"winner {one['winner']} turns {one['turns']} "
        f"{[(side['name'], side['score'], side['moves'], side['faults']) for side in one['sides']]}"
        for one in sorted(played, key=lambda one: one["number"])
    ]
    return "\n".join((f"{len(before)} records were there", *lines, *games))


ARTEFACTS = (
    *(Artefact(f"journals/{name}.txt", partial(_listed, name)) for name in JOURNALS),
    Artefact("journals/resumed.txt", _resumed),
)
