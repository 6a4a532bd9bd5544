"""``check``: a bot of one's own, asked in a process like those of matches."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from e2e.processes import COMMAND
from rule_set_games import word_list
from scripted import Scripted

from bot.equipment import Equipment
from bot.player import View
from engine.rules.rules import standard_rules
from harness.lab import seat_check
from harness.lab.positions import Situation
from harness.lab.seat_check import PLANNED, Asked, check_seat, situations
from harness.lab.study_context import Field
from harness.seats.seat_factory import SeatMaker
from lexicons.store import load_lexicon
from protocol.channel import Channel

# A file called bot.py would stand in the way of our package if it were run or found first.
BOT = """
from bot.player import Budget, Choice, Player, View


class Best(Player):
    def choose(self, view: View, budget: Budget) -> Choice:
        return Choice(view.ranked_moves(1)[0].move)


class Fails(Best):
    def choose(self, view: View, budget: Budget) -> Choice:
        print("a remark")
        if not view.bag:
            return self.worst(view)
        if not view.history:
            return Choice(view.move("A1 ZZZ"))
        return super().choose(view, budget)

    def worst(self, view: View) -> Choice:
        return Choice(view.legal_moves()[-1_000_000])
"""


_ASKED: dict[str, list[tuple[str, Situation]]] = {}
"""What a check asks, by the words: it plays games to find that, a second each time."""


def asked_of(field: Field) -> list[tuple[str, Situation]]:
    words = field.lexicon.checksum
    if words not in _ASKED:
        _ASKED[words] = situations(field)
    return _ASKED[words]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("harness.lab.seat_check.situations", asked_of)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text(BOT)
    return tmp_path / "bot.py"


def test_a_sound_bot_in_a_file_called_bot(tilewire: CommandLine, file: Path) -> None:
    found = tilewire.json("check", "bot.py:Best", "--time", "20s", "--games", 0)
    assert [one["phase"] for one in found["asked"]] == [
        phase for phase, count in PLANNED.items() for _ in range(count)
    ]
    assert not any(one["problem"] for one in found["asked"])
    assert any(one["move"].startswith("-") for one in found["asked"])
    assert (found["memory_mb"] or 0) > 20 or os.name != "posix"


def test_what_is_wrong_comes_with_the_authors_lines(tilewire: CommandLine, file: Path) -> None:
    assert tilewire("check", "bot.py:Fails", "--time", "20s", "--games", 1) == 1
    problems = tilewire.out.partition("\n\n")[2]
    assert f"{file.name}, line 20, in worst: IndexError: " in problems
    *frames, asked, in_game = re.findall(r"^ {2,4}(\S.*)$", problems, re.MULTILINE)
    for view in (asked, in_game):
        assert re.fullmatch(r'View\.from_cgp\("\S+ \S+ \S+ \d", seed=\d+\)  # turn \d+', view)
    assert frames[::2] == [f"{file}, line 14, in choose", f"{file}, line 20, in worst"]
    assert "opening:\nA1 ZZZ in " in problems
    assert "Traceback" not in tilewire.out + tilewire.err
    assert re.search(r"^few tiles in the bag +\S+ \S+ +a remark$", tilewire.out, re.MULTILINE)


def test_games_find_what_positions_do_not(tilewire: CommandLine, file: Path) -> None:
    """A bot's own state is new in each position; and what it prints stands where it printed it."""
    turns = """
        self.turns = getattr(self, "turns", 0) + 1
        print("turn", self.turns)
        if self.turns > 5:
            print(view.rack, view.seed, len(view.history) + 1)
        return [Choice][self.turns // 6]"""
    file.write_text(BOT.replace("\n        return Choice", turns, 1))
    assert tilewire("check", "bot.py:Best", "--time", "20s", "--json") == 1
    *positions, first, second = json.loads(tilewire.out)["asked"]
    assert [asked["printed"] for asked in positions] == ["turn 1\n"] * 20
    assert not any(asked["problem"] for asked in positions)
    assert (first["phase"], second["phase"]) == ("game 1", "game 2")
    assert "line 11, in choose: IndexError" in first["problem"]
    *lines, told = first["printed"].splitlines()
    assert lines == [f"turn {turn}" for turn in range(1, 7)]
    view = View.from_cgp(first["position"], seed=first["seed"])
    assert told == f"{view.rack} {view.seed} {first['turn']}"


def test_what_a_process_held_counts_when_another_follows_it(
    tilewire: CommandLine, file: Path
) -> None:
    lines = """
        if view.game == "check-0":
            bytearray(b"x") * 300_000_000
        if view.game == "check-1":
            os._exit(1)
        return"""
    file.write_text("import os" + BOT.replace("\n        return", lines, 1))
    assert tilewire("check", "bot.py:Best", "--time", "20s", "--json", "--games", 0) == 1
    found = json.loads(tilewire.out)
    assert found["memory_mb"] is None or found["memory_mb"] > 300


def test_what_goes_wrong_everywhere_is_told_once(tilewire: CommandLine, file: Path) -> None:
    choose = "    def choose(self, view, budget):\n        return view.legal_moves()[0]\n"
    file.write_text(f"from bot.player import Player\nclass Bad(Player):\n{choose}")
    assert tilewire("check", "bot.py", "--time", "20s", "--games", 0) == 1
    assert tilewire.out.partition("\n\n")[2].count("TypeError: write .move behind it, ") == 1


def test_a_late_move_is_a_fault(tilewire: CommandLine, file: Path) -> None:
    file.write_text(
        BOT.replace("        return", "        import time; time.sleep(0.03)\n        return")
    )
    assert tilewire("check", "bot.py:Best", "--time", "20ms", "--games", 1) == 1
    assert "Without a fault: 0 of 21 positions and games" in tilewire.out
    assert "\ntime: " in tilewire.out, "in the game"


def test_a_bot_by_other_rules(tilewire: CommandLine, tmp_path: Path) -> None:
    words = word_list("spanish", tmp_path)
    given = ("--rules", "spanish", "--lexicon", words, "--time", "60s", "--games", 0)
    assert tilewire("check", "static", *given) == 0
    assert "Without a fault: 20 of 20 positions and games" in tilewire.out


def test_a_slow_check_says_how_far_it_is_and_ends_with_what_it_knows(file: Path) -> None:
    lines = (
        '        for line in range(9):\n            print("line", line)\n        time.sleep(0.5)\n'
    )
    lines += "        return"
    file.write_text("import time" + BOT.replace("        return", lines, 1))
    terminal, end = pty.openpty()
    command, environment = [*COMMAND, "check", "bot.py:Best"], {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=end, text=True, env=environment
    ) as process:
        os.close(end)
        drawn = b""
        while not re.search(rb"bot\.py:Best for [1-9].* so far", drawn):
            drawn += os.read(terminal, 65_536)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
        drawn += os.read(terminal, 65_536)
    os.close(terminal)
    assert process.returncode == 130
    assert out.startswith("position ")
    assert "\nopening " in out
    assert re.search(rb"stopped after \d+ of 22 ", drawn)


async def test_a_check_that_is_interrupted_knows_where_the_bot_is(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = BOT.replace("        return", "        while True: pass\n        return", 1)
    await asyncio.to_thread(file.write_text, endless)
    field = Field.of(load_lexicon(), standard_rules())
    asked, told = list[Asked](), asyncio.Event()

    def heard(*given: Any, notice: Callable[[str], None], **more: Any) -> SeatMaker:
        def hear(sentence: str) -> None:
            notice(sentence)
            told.set()

        return SeatMaker(*given, **more | {"notice": hear})

    monkeypatch.setattr(seat_check, "SeatMaker", heard)
    ignore = lambda _: None  # noqa: E731
    check = check_seat("bot.py:Best", Equipment(), field, 100, 0, ignore, ignore, asked)
    task = asyncio.create_task(check)
    await asyncio.wait(
        {task, asyncio.create_task(told.wait())}, return_when=asyncio.FIRST_COMPLETED
    )
    task.cancel()
    await asyncio.wait([task])
    assert [each.phase for each in asked] == ["opening"]
    assert "line 7, in choose" in asked[0].problem
    assert asked[0].position


def test_positions_are_the_same_each_time() -> None:
    field = Field.of(load_lexicon(), standard_rules())
    assert situations(field) == asked_of(field)


def test_whoever_speaks_the_protocol_is_tried_by_its_clauses(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    assert tilewire("check", "--connects", f"cat {tmp_path / '{url}'}") == 1
    assert re.search(r"^§2\.1 FAIL: .*No such file", tilewire.out, re.MULTILINE)
    assert "1 fail" in tilewire.out

    async def hangs_up(channel: Channel, _request: object) -> None:
        await channel.close(1013)

    with Scripted(hangs_up) as url:
        assert tilewire("check", url, "--json") == 1
    found = {one["demand"]: one for one in json.loads(tilewire.out)}
    assert found["answers hello with welcome"]["verdict"] == "FAIL"
    assert "1013" in found["answers hello with welcome"]["why"]
