"""A scripted conversation with ``tilewire siu``, by a clock that goes by work."""

from __future__ import annotations

import re
import subprocess
import threading
from functools import cache

from corpus import by_work
from corpus.artefacts import Artefact
from corpus.positions import known_positions

ENDS = {
    "siu": ("siuok",),
    "isready": ("readyok",),
    "go": ("bestmove", "info string error no-position"),
}
"""How the last answer to a line begins, by how the line does; others have none."""

LIMIT_S = 150
"""After it an engine that says no more is killed."""

_VOLATILE = (
    (re.compile(r"\b(time|nps) \d+"), r"\1 …"),
    (re.compile(r"(option name Threads .* max) \d+"), r"\1 …"),
    (re.compile(r"^(id name tilewire/?) ?\S*"), r"\1 …"),
    (re.compile(r"engine=tilewire/\S+"), "engine=tilewire/…"),
)


@cache
def _script() -> tuple[str, ...]:
    known = known_positions()
    opening, later = known["open"][1:3]
    one = known["one"][0]
    empty = "/".join(["15"] * 15)
    return (
        *("siu", "isready", "go gen", "position cgp nonsense", "setoption name Nothing value 1"),
        *("setoption name EndgameHash value 64", "setoption name Seed value 9"),
        *("setoption name Lines value 5", "isready", f"position cgp {opening}", "go gen"),
        *("go sim iterations 200", "go sim iterations 100 depth 4", "go sim iterations 2 nps 3"),
        *(f"position cgp {later}", "go gen", "go sim iterations 150", "siunewgame"),
        *(
            "setoption name Candidates value 3",
            f"position cgp {one}",
            "go peg",
            "go peg firstwin",
            "go endgame",
        ),
        *(f"position cgp {known['none'][1]}", "go endgame", "go endgame firstwin", "go gen"),
        *(f"position cgp {known['none'][4]}", "go endgame depth 3", "go peg", "go auto"),
        *(f"position cgp {empty} AEINRST/ 0/0 0 moves 8D.RETAINS", "go infer"),
        *(f"position cgp {empty} ?/AEINRST 0/0 0 moves 8D.TRAIN", "go infer", "perhaps", "stop"),
    )


def _talk() -> str:
    """Say each line when the one before has its last answer; give what was said by both."""
    said: list[str] = []
    with subprocess.Popen(
        by_work.command("siu", "--seed", "1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        bufsize=1,
        cwd=by_work.ROOT,
        env=by_work.environment(),
    ) as engine:
        limit = threading.Timer(LIMIT_S, engine.kill)
        limit.daemon = True
        limit.start()
        assert engine.stdin is not None
        assert engine.stdout is not None
        for line in _script():
            said.append(f"> {line}")
            engine.stdin.write(line + "\n")
            end = ENDS.get(line.split()[0])
            while end is not None and not said[-1].startswith(end):
                heard = engine.stdout.readline()
                assert heard, f"it ended after {said[-20:]}"
                said.append(_masked(heard.rstrip("\n")))
        engine.stdin.write("quit\n")
        engine.stdin.close()
        said += [_masked(line.rstrip("\n")) for line in engine.stdout]
        limit.cancel()
        said.append(f"[exit status {engine.wait(LIMIT_S)}]")
    return "".join(f"{line}\n" for line in said if "compiling" not in line)


def _masked(line: str) -> str:
    for volatile, mask in _VOLATILE:
        line = volatile.sub(mask, line)
    return line


ARTEFACTS = (Artefact("siu/talk.txt", _talk),)
