"""What is wrong with an author's bot, in their own terms."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bot.registry import SeatError, create_player
from bot.seat import author_errors
from bot.seat.author_errors import in_words
from bot.seat.private_root import TEMPORARY
from bot.seat_text import parse_seat

BOTS = """
import json

def read(text):
    return json.loads(text)

def deeper(text):
    return read(text)

def deepest():
    return deeper("{")
"""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    (tmp_path / "bots.py").write_text(BOTS)
    (tmp_path / "syntax.py").write_text("from bot.player import Player\nclass Bad(Player)\n")
    return tmp_path


def test_a_syntax_error_is_where_it_stands(bots: Path) -> None:
    with pytest.raises(SyntaxError) as raised:
        create_player(parse_seat(f"{bots}/syntax.py:Bad"))
    first, line = in_words(raised.value).split("\n")
    assert first == f"{bots}/syntax.py, line 2: SyntaxError: expected ':'"
    assert line.strip() == "class Bad(Player)"


def test_an_exception_has_its_authors_last_three_frames(bots: Path) -> None:
    with pytest.raises(SeatError, match="Expecting") as raised:
        create_player(parse_seat(f"{bots}/bots.py:deepest"))
    error = raised.value.__cause__
    assert error is not None
    error.__traceback__ = error.__traceback__.tb_next  # type: ignore[union-attr]  # ours
    first, *frames = in_words(error).split("\n")
    where = f"{bots}/bots.py, line"
    assert first.startswith(f"{where} 5, in read: JSONDecodeError: Expecting property name")
    assert [frame.strip() for frame in frames] == [
        f"{where} 11, in deepest",
        'return deeper("{")',
        f"{where} 8, in deeper",
        "return read(text)",
        f"{where} 5, in read",
        "return json.loads(text)",
    ]


def test_a_folder_that_begins_like_one_of_ours_is_the_authors() -> None:
    ours = Path(author_errors.__file__).parents[2]
    folder = f"{ours}/bots"
    code = compile("1 / 0", f"{folder}/first.py", "exec")
    with pytest.raises(ZeroDivisionError) as raised:
        exec(code)
    assert in_words(raised.value).startswith(f"{folder}/first.py, line 1, in <module>: ZeroDiv")


def test_an_exception_without_frames_is_its_text() -> None:
    assert in_words(KeyboardInterrupt("no")) == "KeyboardInterrupt: no"


def test_what_a_contained_bot_can_not_have_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    error = FileNotFoundError(2, "No such file or directory")
    assert in_words(error).endswith("No such file or directory")
    monkeypatch.setenv("TMPDIR", TEMPORARY)
    assert in_words(error).endswith(
        "(a bot sees its own folder, and writes to temporary files only)"
    )


def test_a_file_beside_the_bot_is_opened_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "weights.json").touch()
    for name, recipe in (("weights.json", 'Path(__file__).parent / "weights.json"'), ("no", "")):
        bot = tmp_path / f"reads_{name}.py"
        bot.write_text(f"open('{name}')")
        with pytest.raises(FileNotFoundError) as raised:
            create_player(parse_seat(f"{bot}:First"))
        first = in_words(raised.value).split("\n")[0]
        assert first.partition("; write ")[2] == recipe


@pytest.mark.parametrize(
    ("line", "recipe"),
    [
        ("from tilewire import Player", "write from bot.player import"),
        ("import tilewire.player", "write from bot.player import"),
        ("from bot import Player", "write from bot.player import"),
        ("from .helper import best", "from helper import"),
        ("from helpme2 import best", "did you mean helpme?"),
        ("import surely_not_there", f"{sys.executable} -m pip install surely_not_there"),
        ("from engine import best", "engine is tilewire's own"),
        ("from bot.player import Bugdet", "did you mean Budget?"),
        ("import bot.playr", "did you mean player?"),
        ("from harness import best", "harness has analysis, "),
        ("import firts", "No module named 'firts'; a package?"),
    ],
)
def test_an_import_that_fails_has_a_recipe(tmp_path: Path, line: str, recipe: str) -> None:
    (tmp_path / "first.py").write_text(line)
    for beside in ("helpme.py", "engine.py"):
        (tmp_path / beside).touch()
    with pytest.raises(ImportError) as raised:
        create_player(parse_seat(f"{tmp_path}/first.py:First"))
    assert recipe in in_words(raised.value).split("\n")[0]
