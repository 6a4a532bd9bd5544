from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexicons.alphabet import BLANK, BLANK_FLAG, Alphabet, load_distribution

ENGLISH = load_distribution()
SPANISH = Alphabet(("?", "A", "C", "CH", "H", "Ñ"), ("?", "a", "c", "ch", "h", "ñ"))


def test_points_of_tiles_and_used_blanks() -> None:
    assert ENGLISH.value(ENGLISH.alphabet.tiles("QUIz")) == 12
    assert ENGLISH.value((BLANK,)) == 0


@given(st.lists(st.sampled_from([0, 1, 2, 26, 1 | BLANK_FLAG, 26 | BLANK_FLAG])))
def test_text_and_tiles_are_inverse(tiles: list[int]) -> None:
    assert ENGLISH.alphabet.tiles(ENGLISH.alphabet.text(tiles)) == tuple(tiles)


def test_tiles_of_several_characters() -> None:
    assert SPANISH.text((3, 1, 3 | BLANK_FLAG, 0)) == "[CH]A[ch]?"
    assert SPANISH.tiles("[CH]A[ch]?") == (3, 1, 3 | BLANK_FLAG, 0)
    assert SPANISH.tiles("CH") == (2, 4)
    assert SPANISH.word_tiles("chacha") == (3, 1, 3, 1)
    assert SPANISH.word_tiles("cañ") == (2, 1, 5)
    assert SPANISH.word_tiles("[ch]a[ch]a") == SPANISH.word_tiles("[CH]A[CH]A") == (3, 1, 3, 1)
    for word in ("[ch", "[xx]a", "ß1", "straße-", "[]", "?[ch]a"):
        with pytest.raises(ValueError, match=r"is not a (letter|tile)|is never closed"):
            SPANISH.word_tiles(word)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("AB1", "'1' at character 3"), ("[CH", "never closed"), ("A[QQ]", "'QQ' at character 2")],
)
def test_text_that_is_no_tiles(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SPANISH.tiles(text.replace("B", "C"))


def test_a_word_has_neither_blanks_nor_foreign_letters() -> None:
    for word in ("CA?", "CAÉ"):
        with pytest.raises(ValueError, match="at character 3"):
            ENGLISH.alphabet.word_tiles(word)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("A,a,1,1,1\n", "the blank"),
        ("?,?,2,0,0\n", "0 letters"),
        ("?,?,2,0\n", "4 fields"),
        ("?,?,2,0,0\nA,a,x,1,1\n", "line 2: count"),
        ("?,?,2,0,0\nA,a,1,100,1\n", "points are 0 to 99"),
        ("?,?,2,0,0\nA,a,499,1,1\n", "501 tiles; a bag holds 500"),
        ("?,?,2,0,0\nA,a,1,1,2\n", "vowel is 0 or 1"),
        ("?,?,2,0,0\nA,a,1,1,1\nA,b,1,1,1\n", "written differently"),
        ("?,?,2,0,0\nABCDE,abcde,1,1,1\n", "'ABCDE' has over 4 characters"),
    ],
)
def test_a_bad_distribution_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=reason):
        load_distribution(path)


def test_a_file_of_an_embedded_name_is_named_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("english").write_text("?,?,2,0,0\nA,a,9,1,1\n", encoding="utf-8")
    assert load_distribution("english").total == 100
    assert load_distribution("./english").total == load_distribution(Path("english")).total == 11
    with pytest.raises(FileNotFoundError):
        load_distribution("x" * 300)


def test_an_unknown_distribution() -> None:
    known = r"'klingon' \(known: catalan, dutch, .*\), and no file is there; .* letter,blanked form"
    with pytest.raises(FileNotFoundError, match=known):
        load_distribution("klingon")
    with pytest.raises(FileNotFoundError, match=r"'klingon\.csv'"):
        load_distribution("klingon.csv")


def test_a_folder_is_no_distribution(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder"):
        load_distribution(tmp_path)
