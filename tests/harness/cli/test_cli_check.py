"""``check``: a bot of one's own, asked in a process like those of matches."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from command_line import CommandLine
from rule_set_games import word_list

from engine.rules.rules import standard_rules
from harness.lab.positions import Situation
from harness.lab.seat_check import PLANNED, situations
from harness.lab.study_context import Field
from lexicons.store import load_lexicon

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
    found = tilewire.json("check", "bot.py:Best", "--time", "20s")
    assert [one["phase"] for one in found["asked"]] == [
        phase for phase, count in PLANNED.items() for _ in range(count)
    ]
    assert len(found["asked"]) == 20
    assert not any(one["problem"] for one in found["asked"])
    assert all(one["took_ms"] > 0 for one in found["asked"])
    assert any(one["move"].startswith("-") for one in found["asked"])
    assert found["start_s"] > 0
    assert (found["memory_mb"] or 0) > 20 or os.name != "posix"


def test_what_is_wrong_comes_with_the_authors_lines(tilewire: CommandLine, file: Path) -> None:
    assert tilewire("check", "bot.py:Fails", "--time", "20s") == 1
    problems = tilewire.out.partition("\n\n")[2]
    (error,) = re.findall("IndexError: .*", problems)
    assert f"{file.name}, line 20, in worst: {error}\n" in problems
    frames = [line.strip() for line in problems.splitlines() if line.startswith("  ")]
    assert frames == [
        f"{file}, line 14, in choose",
        "return self.worst(view)",
        f"{file}, line 20, in worst",
        "return Choice(view.legal_moves()[-1_000_000])",
    ]
    assert "an empty bag, and 2 other positions:" in problems
    assert "opening:\nA1 ZZZ in " in problems
    assert "9 positions were not asked" in problems
    assert "Traceback" not in tilewire.out + tilewire.err
    assert tilewire.err.count("a remark\n") > 5
    assert "IndexError" not in tilewire.err, "once is enough"


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
    assert tilewire("check", "bot.py:Best", "--time", "20s", "--json") == 1
    found = json.loads(tilewire.out)
    assert [bool(one["problem"]) for one in found["asked"][:3]] == [False, True, False]
    assert found["memory_mb"] is None or found["memory_mb"] > 300


NOTHING = (
    "class Nothing(Player):\n    def choose(self, view, budget):\n        view.ranked_moves(1)"
)


@pytest.mark.parametrize(
    ("bot", "problem"),
    [
        (NOTHING, "TypeError"),
        ("class Nothing(Player):\n    def choose(self, view):\n        return None", "TypeError"),
        ("class Nothing(Player): pass", "NotImplementedError"),
        (
            "class Nothing(Player):\n    def choose(self, view, budget):\n        sys.exit(3)",
            "{file}, line 5, in choose: RuntimeError",
        ),
    ],
)
def test_a_bot_that_chooses_nothing_is_told_so(
    tilewire: CommandLine, file: Path, bot: str, problem: str
) -> None:
    file.write_text(f"import sys\nfrom bot.player import Player\n{bot}\n")
    assert tilewire("check", "bot.py:Nothing", "--time", "20s") == 1
    problems = tilewire.out.partition("\n\n")[2]
    assert problems.startswith(f"opening, and 2 other positions:\n{problem.format(file=file)}: ")


@pytest.mark.parametrize(
    ("seat", "word"),
    [
        ("bot.py:Beast", "Best?"),
        ("bot.py:Best?speed=3", "'speed'"),
        ("none.py:Best", "none.py"),
        ("ws://there/bot", "ws://there/bot"),
    ],
)
def test_what_can_not_be_asked(tilewire: CommandLine, file: Path, seat: str, word: str) -> None:
    assert tilewire("check", seat) == 2
    assert word in tilewire.out + tilewire.err
    assert "Traceback" not in tilewire.out + tilewire.err


def test_a_late_move_is_a_fault(tilewire: CommandLine, file: Path) -> None:
    file.write_text(
        BOT.replace("        return", "        import time; time.sleep(0.03)\n        return")
    )
    assert tilewire("check", "bot.py:Best", "--time", "20ms") == 1
    assert "0 legal moves in time, of 20 positions" in tilewire.out


def test_a_bot_by_other_rules(tilewire: CommandLine, tmp_path: Path) -> None:
    words = word_list("spanish", tmp_path)
    given = ("--rules", "spanish", "--lexicon", words, "--time", "60s")
    assert tilewire("check", "static", *given) == 0
    assert "20 legal moves in time, of 20 positions" in tilewire.out


def test_positions_are_the_same_each_time() -> None:
    field = Field.of(load_lexicon(), standard_rules())
    assert situations(field) == situations(field)
