from __future__ import annotations

from pathlib import Path

import pytest

from lexicons.layout import BoardLayout, load_layout

STANDARD = load_layout()


def test_the_standard_board() -> None:
    assert (STANDARD.rows, STANDARD.columns, STANDARD.start) == (15, 15, (7, 7))
    letter, word = STANDARD.letter_multipliers, STANDARD.word_multipliers
    assert (letter.count(2), letter.count(3), word.count(2), word.count(3)) == (24, 12, 17, 8)
    assert word[7 * 15 + 7] == 2
    assert letter[0 * 15 + 3] == 2
    assert letter[1 * 15 + 5] == 3
    assert word[0] == word[7] == word[14] == 3


def _written(tmp_path: Path, text: str) -> BoardLayout:
    path = tmp_path / "small.txt"
    path.write_text(text, encoding="utf-8")
    return load_layout(path)


def test_a_small_board_with_its_own_start(tmp_path: Path) -> None:
    layout = _written(tmp_path, "\ufeff# small\r\nstart 1B\r\n.'\"^\r\n-=~.\r\n")
    assert (layout.name, layout.rows, layout.columns, layout.start) == ("small", 2, 4, (0, 1))
    assert layout.letter_multipliers == (1, 2, 3, 4, 1, 1, 1, 1)
    assert layout.word_multipliers == (1, 1, 1, 1, 2, 3, 4, 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no rows"),
        ("...\n..\n", "line 2: 2 squares where the first row has 3"),
        ("..\n.x\n", "line 2: 'x' at column 2"),
        ("start H8\n..\n..\n", "'start H8'"),
        ("start 3A\n..\n..\n", "line 1: the start square 3A is not on the board of 2×2 squares"),
        ("..\n", "a side has"),
        ("." * 27 + "\n" + "." * 27 + "\n", "a side has"),
    ],
)
def test_a_bad_layout_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        _written(tmp_path, text)


def test_multipliers_must_cover_the_board() -> None:
    with pytest.raises(ValueError, match="3 letter and 4 word multipliers for 4 squares"):
        BoardLayout("odd", 2, 2, (1, 1, 1), (1, 1, 1, 1), (0, 0))


def test_an_unknown_layout() -> None:
    with pytest.raises(FileNotFoundError, match="'round'"):
        load_layout("round")
