"""``tilewire lexicon``."""

from __future__ import annotations

import io
import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from command_line import CommandLine
from rich.console import Console

from harness.cli.lexicon_stats import _letters
from harness.cli.match_settings import MatchSettings, configure
from harness.cli.options import BoardOptions
from lexicons.package_lists import PackageList
from lexicons.statistics import Letter
from lexicons.store import load_lexicon

DIGRAPHS = "?,?,2,0,0\nA,a,12,1,1\nC,c,4,3,0\nCH,ch,1,5,0\nO,o,9,1,1\nR,r,5,1,0\n"


@pytest.fixture
def tilewire(tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    monkeypatch.setenv("TILEWIRE_CACHE", str(tmp_path / "cache"))
    return tilewire


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "few.txt"
    path.write_text("care\ncar\ncars\nquack\n")
    return path


@pytest.fixture
def digraphs(tmp_path: Path) -> Path:
    path = tmp_path / "digraphs.csv"
    path.write_text(DIGRAPHS)
    return path


def test_a_word_list_becomes_a_graph_of_the_same_words(
    tilewire: CommandLine, words: Path, tmp_path: Path
) -> None:
    out = tmp_path / "few.kwg"
    assert tilewire("lexicon", "build", words, out) == 0
    checksum = load_lexicon(words).checksum
    assert tilewire.out == (f"{out}: 4 words, {out.stat().st_size // 4} nodes, {checksum}\n")
    assert load_lexicon(out).checksum == checksum


@pytest.mark.parametrize("option", [(), ("--lexicon",)])
@pytest.mark.parametrize("command", ["info", "stats"])
def test_a_lexicon_is_named_with_or_without_its_option(
    tilewire: CommandLine, words: Path, command: str, option: tuple[str, ...]
) -> None:
    assert tilewire.json("lexicon", command, *option, words)["name"] == "few"


def test_a_word_of_another_language_is_told_where_its_list_is(
    tilewire: CommandLine, words: Path
) -> None:
    assert tilewire("lexicon", "check", "Ünder", "--lexicon", words) == 1
    assert "german" in tilewire.out
    assert tilewire("lexicon", "check", "ÄRGER", "--distribution", "german") == 2
    assert "tilewire lexicon install german" in tilewire.err
    assert tilewire("lexicon", "check", "CAR", "--distribution", "german", "--lexicon", words) == 0


def test_a_lexicon_described(tilewire: CommandLine, words: Path, tmp_path: Path) -> None:
    out = tmp_path / "few.kwg"
    tilewire("lexicon", "build", words, out)
    for path in (words, out):
        assert tilewire("lexicon", "info", path) == 0
        rows = dict(line.split(maxsplit=1) for line in tilewire.out.splitlines())
        assert (rows["name"], rows["words"], rows["4"]) == ("few", "4", "2")
        assert rows["checksum"] == load_lexicon(words).checksum
        assert rows["alphabet"] == "english, 26 letters: ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    found = tilewire.json("lexicon", "info", words)
    assert (found["words"], found["lengths"]) == (4, {"3": 1, "4": 2, "5": 1})
    assert found["source"] is None


def test_the_embedded_lexicon_names_its_source_and_licence(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TILEWIRE_CACHE")  # building it takes seconds: the user's cache will do
    assert "SCOWL" in tilewire.json("lexicon", "list")["scowl"]
    assert tilewire("lexicon", "info") == 0
    rows = dict(line.split(maxsplit=1) for line in tilewire.out.splitlines())
    assert rows["name"] == "scowl"
    assert rows["source"].startswith("SCOWL")
    notice = Path(rows["licence"].partition(": ")[2])
    assert "Kevin Atkinson" in notice.read_text(encoding="iso8859-1")


def test_a_language_that_is_installed_from_its_package(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert tilewire("lexicon", "install") == 0
    assert "german\n" in tilewire.out
    assert tilewire("lexicon", "install", "klingon") == 2
    assert "polish, german" in tilewire.err
    monkeypatch.setattr(PackageList, "source", tmp_path / "package")
    assert tilewire("lexicon", "install", "spanish") == 2
    assert "wspanish" in tilewire.err
    (tmp_path / "package").write_text("perro\nárbol\nMadrid\n", encoding="utf-8")
    assert tilewire("lexicon", "install", "spanish") == 0
    told = tilewire.out.splitlines()
    assert told[0].startswith("spanish: 2 words")
    assert told[-1].endswith("Madrid"), "what was left out"
    assert tilewire("lexicon", "list") == 0
    assert tilewire.out.splitlines()[1].startswith("spanish  rules spanish; the package wspanish")
    assert tilewire("lexicon", "info", "spanish") == 0
    assert "public domain" in tilewire.out
    assert tilewire("lexicon", "words", "--lexicon", "spanish") == 0
    assert tilewire.out == "ARBOL\nPE[RR]O\n"
    # It brings its rules, and others are refused.
    assert tilewire.json("lexicon", "stats", "spanish")["rules"] == "spanish"
    assert configure(["greedy"] * 2, MatchSettings(lexicon="spanish"))[0].rules == "spanish"
    assert BoardOptions().load("spanish")[0].name == "spanish"
    assert "[RR]" in str(tilewire.json("leaves", "--lexicon", "spanish"))
    for rules in ("english", "german"):
        assert tilewire("match", "greedy", "greedy", "--lexicon", "spanish", "--rules", rules) == 2
        assert "--rules spanish" in tilewire.err


def test_words_checked(tilewire: CommandLine, words: Path) -> None:
    assert tilewire("lexicon", "check", "care", "QUACK", "--lexicon", words) == 0
    assert tilewire.out == "CARE   valid\nQUACK  valid\n"
    assert tilewire("lexicon", "check", "Car", "ca", "x-y", "--lexicon", words) == 1
    assert tilewire.out.splitlines()[:2] == ["CAR  valid", "CA   not valid"]
    assert tilewire.out.splitlines()[2].startswith("X-Y  not valid: '-' at character 2")
    assert tilewire("lexicon", "check", "car", "ba", "--lexicon", words, "--json") == 1
    assert json.loads(tilewire.out) == {"car": True, "ba": False}
    for word, status in (("care", 0), ("scar", 1)):
        assert tilewire("lexicon", "check", "-q", "--json", word, "--lexicon", words) == status
        assert tilewire.out + tilewire.err == ""


def test_the_words_in_the_order_of_their_checksum(
    tilewire: CommandLine, words: Path, digraphs: Path, tmp_path: Path
) -> None:
    assert tilewire("lexicon", "words", "--lexicon", words) == 0
    assert tilewire.out == "CAR\nCARE\nCARS\nQUACK\n"
    out = tmp_path / "out.txt"
    assert tilewire("lexicon", "words", "--lexicon", words, "--out", out) == 0
    assert tilewire.out == ""
    checksum = load_lexicon(words).checksum
    assert sha256(out.read_bytes()).hexdigest() == checksum
    assert load_lexicon(out).checksum == checksum
    words.write_text("choco\ncoro\n")
    given = ("--lexicon", words, "--distribution", digraphs)
    assert tilewire("lexicon", "words", *given) == 0
    assert tilewire.out == "CORO\n[CH]OCO\n"
    assert tilewire("lexicon", "words", *given, "--out", tmp_path / "none" / "out.txt") == 2
    assert "out.txt" in tilewire.err


# --- stats ----------------------------------------------------------------------------------------


def test_pictures_take_an_extra(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert tilewire("lexicon", "stats", tmp_path / "none.txt", "--plots", tmp_path / "plots") == 2
    assert "tilewire[plots]" in tilewire.err
    assert not list(tmp_path.iterdir())


def test_statistics_as_tables_json_and_pictures(tilewire: CommandLine, tmp_path: Path) -> None:
    words = tmp_path / "few.txt"
    words.write_text("care\ncar\ncars\nscar\narc\nscare\nquartzy\n")
    plots = tmp_path / "plots"
    assert tilewire("lexicon", "stats", words, "--top", "2", "--plots", plots) == 0
    for part in ("  126   QUARTZY   8D 8G H4 H7", "2   CARS SCAR", "CAR CARE SCARE"):
        assert part in tilewire.out
    assert {path.name for path in plots.iterdir()} == {"letters.png", "lengths.png"}
    found = tilewire.json("lexicon", "stats", words)
    assert (found["words"], found["rules"]) == (7, "english")
    assert found["openings"]["plays"][0] == {
        "score": 126, "play": "QUARTZY", "squares": ["8D", "8G", "H4", "H7"]
    }  # fmt: skip
    assert found["full"]["racks"][0] == [{"rack": "AQRTUYZ", "count": 1, "words": ["QUARTZY"]}]


@pytest.mark.parametrize(("columns", "parts"), [(40, 3), (72, 2), (80, 1)])
def test_columns_that_do_not_fit_stand_below(columns: int, parts: int) -> None:
    letters = [Letter("E", 0.112, 0.092, 0.116, 0.122, 12, 11, 1, 10)] * 2
    console = Console(width=columns, file=io.StringIO(), legacy_windows=False)
    with console.capture() as drawn:
        console.print(_letters(letters, 7, columns))
    text = drawn.get()
    assert max(map(len, text.splitlines())) <= columns
    assert "…" not in text
    assert sum(line.startswith("E ") for line in text.splitlines()) == 2 * parts


def test_statistics_of_other_tiles(tilewire: CommandLine, tmp_path: Path, digraphs: Path) -> None:
    rules, words = tmp_path / "own.toml", tmp_path / "own.txt"
    rules.write_text(f'tiles = "{digraphs.name}"\nrack_size = 4\n')
    words.write_text("chorro\nocho\nchocha\nrocho\n")
    found = tilewire.json("lexicon", "stats", words, "--rules", rules)
    assert [letter["letter"] for letter in found["letters"]] == ["A", "C", "CH", "O", "R"]
    plays = [play["play"] for play in found["openings"]["plays"]]
    assert plays == ["RO[CH]O", "[ch]O[CH]A", "O[CH]O"]  # there is one CH; CHORRO is too long
    assert tilewire("lexicon", "stats", words, "--rules", rules, "--plots", words) == 2
    assert str(words) in tilewire.err
