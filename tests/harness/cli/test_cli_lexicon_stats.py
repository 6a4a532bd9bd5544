"""``tilewire lexicon stats``."""

from __future__ import annotations

import io
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


def test_statistics_of_other_tiles(tilewire: CommandLine, tmp_path: Path) -> None:
    rules, words = tmp_path / "own.toml", tmp_path / "own.txt"
    (tmp_path / "digraphs.csv").write_text(DIGRAPHS)
    rules.write_text('tiles = "digraphs.csv"\nrack_size = 4\n')
    words.write_text("chorro\nocho\nchocha\nrocho\n")
    found = tilewire.json("lexicon", "stats", words, "--rules", rules)
    assert [letter["letter"] for letter in found["letters"]] == ["A", "C", "CH", "O", "R"]
    plays = [play["play"] for play in found["openings"]["plays"]]
    assert plays == ["RO[CH]O", "[ch]O[CH]A", "O[CH]O"]  # there is one CH; CHORRO is too long
    assert tilewire("lexicon", "stats", words, "--rules", rules, "--plots", words) == 2
    assert str(words) in tilewire.err
