from __future__ import annotations

import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from lexicon_parts import ACCEPTS, CHILD, LAST, TILE_SHIFT

import lexicons
from lexicons import build, store
from lexicons.alphabet import Alphabet, TileDistribution, load_distribution
from lexicons.build import build_word_graph
from lexicons.cache import mapped_arrays, replacing, user_cache
from lexicons.kwg import WIDE, WordGraph, write_kwg
from lexicons.store import Lexicon, lexicon_names, load_lexicon
from lexicons.wordlist import parse_word_list

CHECKSUM = hashlib.sha256(b"AA\nAB\nCARE\n").hexdigest()


@pytest.fixture
def word_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.txt"
    path.write_text("care\nab\naa\n", encoding="utf-8")
    return path


def texts(lexicon: Lexicon) -> list[str]:
    return [lexicon.distribution.alphabet.text(word) for word in lexicon.graph.words()]


def test_a_list_is_built_once(word_file: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        lexicon = load_lexicon(word_file, progress=told.append)
        assert (lexicon.name, lexicon.checksum) == ("mine", CHECKSUM)
        assert texts(lexicon) == ["AA", "AB", "CARE"]
    assert told == ["building the word graph of mine, 3 words (once for this list)"]


def test_a_graph_has_the_checksum_of_its_list(word_file: Path, tmp_path: Path) -> None:
    graph_file = tmp_path / "other.kwg"
    write_kwg(graph_file, load_lexicon(word_file).graph)
    told: list[str] = []
    for _ in range(2):
        lexicon = load_lexicon(graph_file, progress=told.append)
        assert (lexicon.name, lexicon.checksum) == ("other", CHECKSUM)
    assert told == ["reading the words of other.kwg (once for this file)"]
    dotted = graph_file.rename(tmp_path / "other.2.kwg")
    assert load_lexicon(dotted).name == "other", "as of a list"


def test_a_graph_past_the_narrow_layout_is_kept_and_read(
    word_file: Path, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "build_word_graph", partial(build_word_graph, layout=WIDE))
    told: list[str] = []
    for _ in range(2):
        lexicon = load_lexicon(word_file, progress=told.append)
        assert lexicon.graph.layout == WIDE
        assert (texts(lexicon), lexicon.checksum) == (["AA", "AB", "CARE"], CHECKSUM)
    assert len(told) == 1
    assert [path.suffix for path in (own_cache / "lexicons").rglob("*wg")] == [".kbwg"]
    write_kwg(tmp_path / "other.kbwg", lexicon.graph)
    other = load_lexicon(tmp_path / "other.kbwg")
    assert (other.name, other.checksum, other.graph.layout) == ("other", CHECKSUM, WIDE)


@pytest.mark.parametrize("suffix", ["*.kwg", "checksum"])
def test_a_damaged_cache_is_mended(word_file: Path, own_cache: Path, suffix: str) -> None:
    load_lexicon(word_file)
    (damaged,) = (own_cache / "lexicons").rglob(suffix)
    damaged.write_bytes(b"\xff" * 12)
    told: list[str] = []
    assert texts(load_lexicon(word_file, progress=told.append)) == ["AA", "AB", "CARE"]
    assert load_lexicon(word_file, progress=told.append).checksum == CHECKSUM
    assert len(told) == 1


def test_a_graph_of_other_words_in_the_cache_is_not_played_with(
    word_file: Path, own_cache: Path
) -> None:
    graph = load_lexicon(word_file).graph
    (kept,) = (own_cache / "lexicons").rglob("*.kwg")
    write_kwg(kept, build_word_graph([(1, 1)]))
    assert texts(load_lexicon(word_file)) == ["AA", "AB", "CARE"]
    assert kept.read_bytes() == graph.nodes.tobytes()


def test_a_cache_that_cannot_be_written_costs_time_only(word_file: Path, own_cache: Path) -> None:
    own_cache.write_text("a file, where a directory should be", encoding="utf-8")
    told: list[str] = []
    assert texts(load_lexicon(word_file, progress=told.append)) == ["AA", "AB", "CARE"]
    assert "cannot be written" in told[1]


def test_first_uses_at_the_same_time(word_file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(load_lexicon, [word_file] * 16))
    assert {lexicon.checksum for lexicon in loaded} == {CHECKSUM}
    assert all(texts(lexicon) == ["AA", "AB", "CARE"] for lexicon in loaded)


def test_another_alphabet_has_a_graph_of_its_own(word_file: Path) -> None:
    english = load_lexicon(word_file)
    letters = ("?", "E", "R", "C", "B", "A")
    alphabet = Alphabet(letters, tuple(letter.lower() for letter in letters))
    small = TileDistribution("small", alphabet, (1,) * 6, (1,) * 6, (False,) * 6)
    other = load_lexicon(word_file, small)
    assert texts(other) == ["CARE", "AB", "AA"]
    assert not np.array_equal(other.graph.nodes, english.graph.nodes)
    assert other.checksum == hashlib.sha256(b"CARE\nAB\nAA\n").hexdigest()


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"'twl' \(embedded: .*scowl"):
        load_lexicon("twl")
    with pytest.raises(ValueError, match="is a folder; a lexicon is a file"):
        load_lexicon(tmp_path)
    bad = tmp_path / "bad.kwg"
    bad.write_bytes(b"AA\nAB")
    with pytest.raises(ValueError, match=r"bad.kwg: 5 bytes"):
        load_lexicon(bad)
    list_path = bad.rename(tmp_path / "bad.txt")
    list_path.write_bytes(b"AA\nA1\n")
    with pytest.raises(ValueError, match=r"bad.txt, line 2: '1'"):
        load_lexicon(list_path)


def test_a_graph_that_spells_too_many_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_MOST_WORDS", 1000)
    # Twelve levels of two letters each, all accepting: 8,190 words in 24 nodes.
    nodes = [LAST | 2, LAST | 2]
    for level in range(12):
        child = 2 * level + 4 if level < 11 else 0
        nodes += [
            1 << TILE_SHIFT | ACCEPTS | child & CHILD,
            2 << TILE_SHIFT | ACCEPTS | LAST | child & CHILD,
        ]
    path = tmp_path / "many.kwg"
    write_kwg(path, WordGraph(np.array(nodes, np.uint32)))
    with pytest.raises(ValueError, match="more than 1,000 words"):
        load_lexicon(path)


def test_a_graph_with_a_separator_in_a_word(tmp_path: Path) -> None:
    nodes = [LAST | 2, LAST | 3, 1 << TILE_SHIFT | LAST | 3, ACCEPTS | LAST]
    path = tmp_path / "swapped.kwg"
    write_kwg(path, WordGraph(np.array(nodes, np.uint32)))
    with pytest.raises(ValueError, match=r"swapped\.kwg: word 0 is \(1, 0\)"):
        load_lexicon(path)


def test_what_is_searched_is_derived_once_and_mapped(
    word_file: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = load_lexicon(word_file).word_map
    assert not list(own_cache.rglob("*.npy"))  # of few words it is made faster than found
    monkeypatch.setattr(store, "_KEPT_NODES", 1)
    load_lexicon(word_file).word_map.rows.sum()
    kept = {path: path.read_bytes() for path in own_cache.rglob("*.npy")}
    assert len(kept) == 5
    with monkeypatch.context() as patch:
        patch.setattr("lexicons.word_map.word_map", None)
        patch.setattr("lexicons.search_graph.search_nodes", None)
        lexicon = load_lexicon(word_file)
        for own, other in zip(vars(lexicon.word_map).values(), vars(small).values(), strict=True):
            assert not isinstance(own, np.ndarray) or own.dtype.names or np.array_equal(own, other)
        assert not lexicon.search_nodes.flags.writeable
    for path, content in kept.items():
        for damage in (b"", content[:-8], b"x" * 200):
            path.write_bytes(damage)
            assert np.array_equal(load_lexicon(word_file).word_map.rows, small.rows)
            assert path.read_bytes() == content
    path.unlink()
    assert np.array_equal(load_lexicon(word_file).word_map.rows, small.rows)


def test_arrays_that_nobody_used_for_60_days_are_removed_when_others_are_kept(
    own_cache: Path,
) -> None:
    def load(what: str) -> None:
        mapped_arrays("some", what, lambda: (np.zeros(3),), [(np.float64, (3,))])

    def kept() -> set[Path]:
        return set((own_cache / "some").rglob("*"))

    load("left over")
    left_over = kept()
    load("used")
    (used,) = (path for path in kept() - left_over if path.is_dir())
    half_written, being_written = used / ".0.npy.01", used / ".0.npy.23"
    for path in (half_written, being_written):
        path.touch()
    for path, days in [*((path, 61) for path in kept() - {being_written}), (half_written, 2)]:
        os.utime(path, (time.time() - days * 86_400,) * 2)
    before = kept()
    load("used")
    assert kept() == before, "it was only read"
    load("new")
    assert before - kept() == {*left_over, half_written}


def test_the_cache_directory(monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> None:
    assert user_cache() == own_cache
    monkeypatch.delenv("TILEWIRE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/tmp/somewhere")
    assert user_cache() == Path("/var/tmp/somewhere/tilewire")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert user_cache() == Path("/home/someone/.cache/tilewire")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # as of a user who has no account
    with pytest.raises(OSError, match="no home folder for the cache; set TILEWIRE_CACHE"):
        user_cache()


def test_a_replacement_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("old", encoding="utf-8")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        fail()
    assert [entry.read_text(encoding="utf-8") for entry in tmp_path.iterdir()] == ["old"]


def test_the_embedded_list() -> None:
    lexicon = load_lexicon()
    path = Path(lexicons.__file__).parent / "embedded" / "scowl.txt.xz"
    words = parse_word_list(path.read_bytes(), load_distribution().alphabet, path.name)
    listed = list(words)
    assert lexicon.name == "scowl"
    assert "scowl" in lexicon_names()
    assert lexicon.checksum == words.checksum
    assert list(lexicon.graph.words()) == listed
    assert len(listed) > 200_000
    for text in ("AA", "CARE", "QUIZZES"):
        assert lexicon.graph.contains(lexicon.distribution.alphabet.tiles(text))
