from __future__ import annotations

import hashlib
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexicons.alphabet import Alphabet, load_distribution
from lexicons.wordlist import (
    WordList,
    pack_words,
    parse_word_list,
    sorted_words,
)

ENGLISH = load_distribution().alphabet
SPANISH = Alphabet(("?", "A", "C", "CH", "H", "Ñ"), ("?", "a", "c", "ch", "h", "ñ"))
WORDS = st.lists(st.text("ABCZ", min_size=2, max_size=6), min_size=1, unique=True)


def _parse(text: str | bytes, alphabet: Alphabet = ENGLISH) -> WordList:
    content = text.encode() if isinstance(text, str) else text
    return parse_word_list(content, alphabet, "my.txt")


@given(WORDS)
def test_a_list_holds_its_words_sorted(words: list[str]) -> None:
    found = _parse("\n".join(words))
    assert [ENGLISH.text(word) for word in found] == sorted(words)
    assert len(found) == len(words)
    assert found.text() == "".join(f"{word}\n" for word in sorted(words))


def test_marks_line_ends_comments_and_case_do_no_harm() -> None:
    plain = _parse("AA\nCARE\n")
    assert plain.checksum == hashlib.sha256(b"AA\nCARE\n").hexdigest()
    assert _parse("\ufeff# mine\r\n\r\n  care \r\naa").checksum == plain.checksum
    assert _parse("CARE\nAB\n").checksum != plain.checksum


def test_brackets_may_stand_around_any_tile() -> None:
    assert _parse("[C]AR[E]\nAA\n").checksum == _parse("AA\nCARE\n").checksum
    with pytest.raises(ValueError, match="line 3: '1' at character 2 of 'B1'"):
        _parse("[A]B\nAA\nB1\n")


def test_accents_may_be_characters_of_their_own() -> None:
    german = load_distribution("german").alphabet
    assert _parse("A\u0308LTER\n", german).text() == "ÄLTER\n"


def test_capitals_are_those_of_the_tiles() -> None:
    turkish = Alphabet(("?", *"IİNT"), ("?", *"ıint"))
    assert _parse("it\nnı\n", turkish).text() == "İT\nNI\n"
    assert turkish.word_tiles("İt") == turkish.word_tiles("it") == (2, 4)


def test_a_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt.xz"
    path.write_bytes(lzma.compress(b"aa\nab\n"))
    assert list(parse_word_list(path.read_bytes(), ENGLISH, str(path))) == [(1, 1), (1, 2)]
    path.write_bytes(lzma.compress(b"aa\nab\n")[:-8])
    with pytest.raises(ValueError, match="not a whole xz file"):
        parse_word_list(path.read_bytes(), ENGLISH, str(path))


def test_a_small_file_of_much_text_is_not_unpacked_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexicons.wordlist.MOST_BYTES", 1_000)
    assert len(parse_word_list(lzma.compress(b"aa\n" + b"\n" * 997), ENGLISH, "w.xz")) == 1
    bomb = lzma.compress(b"aa\n" + b"\n" * 998)
    with pytest.raises(ValueError, match=r"w\.xz: more than 1,000 bytes of text are in it"):
        parse_word_list(bomb, ENGLISH, "w.xz")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "my.txt: no words"),
        ("AA\nCAFÉ\nx-y\n", "my.txt, line 2: 'É' at character 4 of 'CAFÉ'"),
        ("AA\nAB a muscle\n", "line 2: 'AB' has something behind it"),
        ("AA\n\n#\nA\n", "line 4: 'A' has 1 letter;"),
        ("AA\n" + "B" * 64, "line 2: .* has 64 letters"),
        ("AA\n" + "B" * 10_000, "line 2: 'B+'… has 10,000 characters"),
        ("AB\nCARE\nAA\ncare\nAB\n", "line 4: 'CARE' is in line 2 already"),
        (b"AA\nA\xc9\n", "line 2: byte 0xC9 is not UTF-8"),
        (b"AA\nAB\n\x00\x01", "line 3: not text but binary data"),
    ],
)
def test_a_bad_list_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        _parse(text)


@pytest.mark.parametrize(
    ("word", "distribution", "suggestion"),
    [
        (
            "ŻABA",
            "english",
            r"'Ż' at character 1 .* a tile of polish \(--rules or --distribution\)",
        ),
        ("CAFÉ", "french", "'É' at character 4 .* these tiles have E for it"),
        ("QUASI", "polish", "'Q' .* a tile of dutch, english.*, spanish "),
        ("ДА", "english", "no tile set here has it .a file of tiles can: --distribution FILE"),
        ("CO-OP", "english", "'-' at character 3 of 'CO-OP' is not a letter$"),
    ],
)
def test_a_letter_without_a_tile_is_told_with_what_to_do(
    word: str, distribution: str, suggestion: str
) -> None:
    with pytest.raises(ValueError, match=rf"my\.txt, line 2: .*{suggestion}"):
        _parse(f"AA\n{word}\n", load_distribution(distribution).alphabet)


@pytest.mark.parametrize("encoding", ["ISO-8859-2", "CP1250"])
def test_a_list_in_an_older_encoding_is_told_how_to_convert(encoding: str) -> None:
    polish = load_distribution("polish").alphabet
    words, convert = "abak\nżółć\nświąd\n".encode(encoding), f"iconv -f {encoding} -t UTF-8"
    with pytest.raises(ValueError, match=rf"line 2: byte .* {convert} my\.txt > my\.utf-8\.txt$"):
        _parse(words, polish)
    with pytest.raises(ValueError, match=rf": {convert} 'my words' > 'my words\.utf-8\.txt'$"):
        parse_word_list(words, polish, "my words")
    packed = rf": xz -dc my\.txt\.xz \| {convert} > my\.utf-8\.txt$"
    with pytest.raises(ValueError, match=packed):
        parse_word_list(lzma.compress(words), polish, "my.txt.xz")
    with pytest.raises(ValueError, match=r"save it as UTF-8 text$"):
        _parse("żółć\n".encode(encoding), ENGLISH)


@pytest.mark.parametrize("word", ["A", "CA x", "CAB", "A" * 64])
def test_a_bad_word_is_refused_in_any_alphabet(word: str) -> None:
    with pytest.raises(ValueError, match=r"my\.txt, line 2"):
        _parse(f"chacha\n{word}\n", SPANISH)


def test_packing_keeps_the_order_and_sorting_drops_what_is_there_twice() -> None:
    packed = pack_words([(2, 1), (1, 2, 3), (2, 1)])
    assert packed.tolist() == [[2, 1, 0], [1, 2, 3], [2, 1, 0]]
    assert sorted_words(packed).tolist() == [[1, 2, 3], [2, 1, 0]]
    assert len(sorted_words(pack_words([]))) == 0


@pytest.mark.parametrize("word", [(), (0,), (1, 0, 1), (64,), (1 | 0x80,), (1,) * 64])
def test_what_is_no_word_is_not_packed(word: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="letters"):
        pack_words([(1, 2), word])


@pytest.mark.parametrize("row", [[0, 0], [0, 1], [64, 0]])
def test_what_is_no_word_is_not_sorted(row: list[int]) -> None:
    with pytest.raises(ValueError, match="a word is"):
        sorted_words(np.array([[1, 2], row], np.uint8))
