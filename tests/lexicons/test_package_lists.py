"""Lists of packages: what is left out by each language's rules, and what an installed list is."""

from __future__ import annotations

import errno
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from lexicons.alphabet import load_distribution
from lexicons.package_lists import (
    PACKAGE_LISTS,
    PackageList,
    install,
    installed_note,
    playable_words,
)
from lexicons.store import Lexicon, lexicon_names, load_lexicon


def playable(language: str, *lines: str) -> tuple[list[str], dict[str, tuple[int, str]]]:
    listed = PACKAGE_LISTS[language]
    words, left_out = playable_words(lines, listed, load_distribution(listed.tiles).alphabet)
    return words, {entry.reason: (entry.count, entry.example) for entry in left_out}


@pytest.mark.parametrize(
    ("language", "lines", "words"),
    [
        ("polish", "żółć Kraków müsli abaka", "ŻÓŁĆ ABAKA"),
        ("german", "Straße Café schön ABC Tür", "STRASSE CAFE SCHÖN TÜR"),
        ("ogerman", "daß das", "DASS DAS"),
        ("french", "été œuvre aujourd'hui vert-de-gris ac. ça", "ETE OEUVRE CA"),
        ("spanish", "niño pingüino árbol kilo perro", "NIÑO PINGÜINO ÁRBOL PERRO"),
        ("catalan", "col·legi qüestió ŀl plaça byte Girona any", "COL·LEGI QUESTIO PLAÇA ANY"),
        ("dutch", "ĳs één auto's tv-gids Delft", "IJS EEN"),
        ("norwegian", "blåbær idé øy zoom Oslo müsli", "BLÅBÆR IDE ØY ZOOM MÜSLI"),
        ("nynorsk", "kjærleik òg", "KJÆRLEIK OG"),
    ],
)
def test_the_words_of_a_language(language: str, lines: str, words: str) -> None:
    found, _ = playable(language, *lines.split())
    unaccented = str.maketrans("ÁÜ", "AU") if language == "spanish" else {}
    assert found == words.translate(unaccented).split()


def test_what_was_left_out_is_told_with_an_example() -> None:
    words, left_out = playable(
        "dutch", "ad fundum", "", "Delft", "aan", "aän", "x", "tv-gids", "10", "bĕñ", "a" * 16, "EU"
    )
    assert words == ["AAN", "BEN"]
    assert left_out == {
        "several words": (1, "ad fundum"),
        "name or abbreviation (capitals)": (2, "Delft"),
        "spelled as another word": (1, "aän"),
        "fewer than 2 tiles": (1, "x"),
        "hyphen": (1, "tv-gids"),
        "sign that is no letter": (1, "10"),
        "more than 15 tiles": (1, "a" * 16),
    }
    assert playable("polish", "quasi")[1] == {"no tile for Q": (1, "quasi")}


class _Listed(PackageList):
    """A list in a folder of the test's own."""

    folder: Path

    @property
    def source(self) -> Path:
        return self.folder / self.file


@pytest.fixture
def listed(tmp_path: Path) -> PackageList:
    own = _Listed(**vars(PACKAGE_LISTS["polish"]))
    object.__setattr__(own, "folder", tmp_path)
    own.source.write_text("żaba\nabaka\nKraków\n", encoding="utf-8")
    return own


def texts(lexicon: Lexicon) -> list[str]:
    return [lexicon.distribution.alphabet.text(word) for word in lexicon.graph.words()]


def test_an_installed_list_is_a_lexicon_in_its_own_tiles(listed: PackageList) -> None:
    with pytest.raises(FileNotFoundError, match="tilewire lexicon install polish makes it"):
        load_lexicon("polish")
    assert "polish" not in lexicon_names()
    note = install(listed)
    assert (note.words, note.tiles, note.left_out[0].example) == (2, "polish", "Kraków")
    assert installed_note("polish") == note
    assert lexicon_names() == ("scowl", "polish")
    lexicon = load_lexicon("polish")
    assert (lexicon.name, lexicon.distribution.name) == ("polish", "polish")
    assert texts(lexicon) == ["ABAKA", "ŻABA"]
    assert lexicon.checksum == hashlib.sha256("ABAKA\nŻABA\n".encode()).hexdigest()
    assert texts(load_lexicon("polish", load_distribution("polish"))) == texts(lexicon)
    with pytest.raises(ValueError, match=r"letters of polish tiles.*english ones; --rules polish"):
        load_lexicon("polish", load_distribution())


def test_a_package_that_is_not_there(listed: PackageList) -> None:
    listed.source.unlink()
    with pytest.raises(FileNotFoundError, match="install your distribution's package wpolish"):
        install(listed)


def test_a_list_in_another_encoding_is_refused(listed: PackageList) -> None:
    listed.source.write_bytes("abaka\nżaba\n".encode("iso8859-2"))
    with pytest.raises(ValueError, match=r"polish, line 2: byte 0xBF is not UTF-8"):
        install(listed)
    assert installed_note("polish") is None


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-8"])
def test_the_norwegian_list_may_be_in_either_encoding(tmp_path: Path, encoding: str) -> None:
    own = _Listed(**vars(PACKAGE_LISTS["norwegian"]))
    object.__setattr__(own, "folder", tmp_path)
    own.source.write_text("blåbær\n", encoding=encoding)
    assert (install(own).words, texts(load_lexicon("norwegian"))) == (1, ["BLÅBÆR"])


@pytest.mark.parametrize("what", ["lzma.open", "lexicons.package_lists.write_json"])
def test_a_full_disk_leaves_the_former_list_and_its_note(
    listed: PackageList, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    note = install(listed)
    listed.source.write_text("abaka\n", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(what, full)
        with pytest.raises(OSError, match="No space left"):
            install(listed)
    assert installed_note("polish") == note
    assert texts(load_lexicon("polish")) == ["ABAKA", "ŻABA"]
    assert install(listed).words == 1


def test_a_damaged_note_is_as_good_as_none(listed: PackageList, own_cache: Path) -> None:
    install(listed)
    (own_cache / "installed" / "polish.json").write_text("{}", encoding="utf-8")
    assert installed_note("polish") is None
    assert texts(load_lexicon("polish")) == ["ABAKA", "ŻABA"]


def test_all_lists_are_for_tiles_that_are_here() -> None:
    for name, listed in PACKAGE_LISTS.items():
        assert listed == replace(listed, name=name)
        assert load_distribution(listed.tiles).name == listed.tiles
