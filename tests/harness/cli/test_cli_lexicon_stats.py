"""``tilewire lexicon stats``."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from rich.console import Console

from harness.cli.lexicon_stats import _letters
from lexicons.statistics import Letter

DIGRAPHS = "?,?,2,0,0\nA,a,12,1,1\nC,c,4,3,0\nCH,ch,1,5,0\nO,o,9,1,1\nR,r,5,1,0\n"


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
    for line in (
        "few, 7 words, by the rules english",
        "  126   QUARTZY   8D 8G H4 H7",
        "S   CAR    ES",
        "2   CARS SCAR",
        "CAR CARE SCARE",
        "A first draw makes a word of 7 letters: 0.00 %",
    ):
        assert line in tilewire.out
    assert max(map(len, tilewire.out.splitlines())) <= 80
    assert {path.name for path in plots.iterdir()} == {"letters.png", "lengths.png"}
    assert tilewire("lexicon", "stats", words, "--json") == 0
    found = json.loads(tilewire.out)
    assert found["words"] == 7
    assert found["rules"] == "english"
    assert found["openings"]["plays"][0] == {
        "score": 126, "play": "QUARTZY", "squares": ["8D", "8G", "H4", "H7"]
    }  # fmt: skip
    assert found["full"]["racks"][0] == [{"rack": "AQRTUYZ", "count": 1, "words": ["QUARTZY"]}]


@pytest.mark.parametrize(("columns", "parts"), [(40, 3), (60, 2), (72, 2), (80, 1)])
def test_columns_that_do_not_fit_stand_below(columns: int, parts: int) -> None:
    letters = [Letter("E", 0.112, 0.092, 0.116, 0.122, 12, 11, 1, 10)] * 2
    console = Console(width=columns, file=io.StringIO(), legacy_windows=False)
    with console.capture() as drawn:
        console.print(_letters(letters, 7, columns))
    text = drawn.get()
    assert max(map(len, text.splitlines())) <= columns
    assert "…" not in text
    for cell in ("11.2 %", "9.2 %", "11.6 %", "12.2 %", "→ 11", "→ 10", "7–8 letters"):
        assert cell in text
    assert sum(line.startswith("E ") for line in text.splitlines()) == 2 * parts


def test_statistics_of_other_tiles(tilewire: CommandLine, tmp_path: Path) -> None:
    rules, words = tmp_path / "own.toml", tmp_path / "own.txt"
    (tmp_path / "digraphs.csv").write_text(DIGRAPHS)
    rules.write_text('tiles = "digraphs.csv"\nrack_size = 4\n')
    words.write_text("chorro\nocho\nchocha\nrocho\n")
    assert tilewire("lexicon", "stats", words, "--rules", rules, "--json") == 0
    found = json.loads(tilewire.out)
    assert [letter["letter"] for letter in found["letters"]] == ["A", "C", "CH", "O", "R"]
    plays = [play["play"] for play in found["openings"]["plays"]]
    assert plays == ["RO[CH]O", "[ch]O[CH]A", "O[CH]O"]  # there is one CH; CHORRO is too long
    assert tilewire("lexicon", "stats", tmp_path / "none.txt") == 2
    assert tilewire("lexicon", "stats", words, "--rules", "elvish") == 2
    assert "elvish" in tilewire.err
    assert tilewire("lexicon", "stats", words, "--rules", rules, "--plots", words) == 2
    assert str(words) in tilewire.err
