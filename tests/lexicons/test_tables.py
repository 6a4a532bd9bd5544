"""Which table is meant, and whether it was trained on the words that are played."""

from __future__ import annotations

import hashlib
import lzma
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import lexicons
from lexicons.alphabet import TileDistribution, load_distribution
from lexicons.formula_leaves import formula_leaves
from lexicons.klv import write_klv
from lexicons.leaves import RACK_SIZE, LeaveTable
from lexicons.manifest import Manifest, write_manifest
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import (
    are_trained_for,
    leave_table_warnings,
    leaves_for,
    load_leaves,
    load_win_probabilities,
    table_location,
    table_name,
    trained_leaves,
    trained_manifest,
    trained_win_probabilities,
    untrained,
    win_probabilities_for,
    win_probability_warnings,
)
from lexicons.win_probability import formula_win_probabilities

ENGLISH = load_distribution()


@pytest.fixture
def toy(tmp_path: Path) -> TileDistribution:
    path = tmp_path / "toy.csv"
    path.write_text("?,?,2,0,0\nA,a,5,1,1\nB,b,2,3,0\n")
    return load_distribution(path)


@pytest.fixture
def few(tmp_path: Path) -> Lexicon:
    path = tmp_path / "few.txt"
    path.write_text("cat\nact\nat\n")
    return load_lexicon(path)


@pytest.fixture
def zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A leave table, called like one that has a name, in the folder where we are."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "trained"
    write_klv(path, LeaveTable.zero(ENGLISH))
    return path


def made_of(lexicon: Lexicon, table: Path) -> Manifest:
    return replace(
        trained_manifest("leaves"),
        lexicon=lexicon.name,
        lexicon_checksum=lexicon.checksum,
        sha256=hashlib.sha256(table.read_bytes()).hexdigest(),
    )


def test_players_have_what_was_trained_for_their_tiles(toy: TileDistribution) -> None:
    assert leaves_for(ENGLISH) is load_leaves("trained", ENGLISH) is trained_leaves(ENGLISH)
    assert leaves_for(toy) is load_leaves("formula", toy) is formula_leaves(toy)
    assert win_probabilities_for(ENGLISH) is load_win_probabilities("trained", ENGLISH)
    assert win_probabilities_for(toy) is load_win_probabilities("formula", toy)
    assert win_probabilities_for(toy) is formula_win_probabilities(toy.total)
    assert load_win_probabilities("formula", ENGLISH) is formula_win_probabilities(100)
    assert table_name(None, ENGLISH) == table_name("trained", ENGLISH) == "trained (scowl)"
    assert table_name(None, toy) == table_name("formula", ENGLISH) == "formula"
    assert table_name("some.klv2", ENGLISH) == "some.klv2"


def test_a_file_that_is_called_like_a_table_is_reached_by_its_path(zero: Path) -> None:
    assert load_leaves("trained", ENGLISH).values.any()
    assert not load_leaves("./trained", ENGLISH).values.any()
    assert table_location("trained") == "trained"
    assert table_location("./trained") == str(zero)
    assert table_location("formula") == "formula"
    assert table_location(None) is None


def test_a_table_trained_on_other_words_is_doubted(
    zero: Path, few: Lexicon, scowl: Lexicon
) -> None:
    assert leave_table_warnings(str(zero), few) == [], "nobody knows what it was trained on"
    write_manifest(zero, made_of(few, zero))
    assert leave_table_warnings(str(zero), few) == []
    (sentence,) = leave_table_warnings(str(zero), scowl)
    for part in (
        f"the leave table {zero} was trained on few",
        "and scowl (",
        "`tilewire train lea",
    ):
        assert part in sentence


def test_what_ships_is_doubted_where_other_words_are_played(
    few: Lexicon, toy: TileDistribution, scowl: Lexicon
) -> None:
    assert leave_table_warnings("trained", scowl) == []
    (own,), (named,) = (leave_table_warnings(name, few) for name in (None, "trained"))
    assert own.startswith("the players' own leave table was trained on scowl (checksum ")
    assert named.startswith("the leave table trained was trained on scowl (checksum ")
    assert f"few ({few.checksum[:12]}…) has other words" in own
    assert leave_table_warnings("formula", few) == []
    assert leave_table_warnings(None, replace(few, distribution=toy)) == []
    (winprob,) = win_probability_warnings("trained", few)
    assert "`tilewire train winprob --lexicon …` makes one" in winprob
    assert win_probability_warnings("trained", scowl) == []
    assert win_probability_warnings("formula", few) == []
    assert win_probability_warnings(None, few) == []


def test_a_manifest_of_another_table_says_nothing_of_this_one(
    zero: Path, few: Lexicon, scowl: Lexicon
) -> None:
    write_manifest(zero, replace(made_of(few, zero), sha256="0" * 64))
    (sentence,) = leave_table_warnings(str(zero), scowl)
    assert sentence == f"{zero}.json is of another table than the one beside it; remove it"


def test_tiles_are_told_apart_by_what_they_are_and_not_by_their_file(
    toy: TileDistribution, few: Lexicon, tmp_path: Path
) -> None:
    table = tmp_path / "some.klv2"
    write_klv(table, LeaveTable.zero(toy))
    made = made_of(few, table)
    write_manifest(table, replace(made, tiles="toy"))
    assert load_leaves(str(table), replace(toy, name="copied")).distribution.name == "copied"
    write_manifest(table, replace(made, tiles="english"))
    other = replace(toy, name="other")
    with pytest.raises(ValueError, match="is for english tiles, says its manifest; the game is"):
        load_leaves(str(table), other)
    write_manifest(table, replace(made, tiles="english", sha256="0" * 64))
    assert load_leaves(str(table), other).distribution == other, "it is of another table"


def test_what_players_do_without_for_other_tiles_is_said(toy: TileDistribution) -> None:
    assert untrained(None, None, ENGLISH) == []
    assert untrained("formula", "mine.csv", toy) == []
    assert untrained(None, None, toy) == [
        "no table comes with toy tiles: what leaves are worth is by a formula "
        "(`tilewire train leaves`); chances of winning are by a formula "
        "(`tilewire train winprob`)"
    ]
    (sentence,) = untrained("mine.klv2", None, toy)
    assert "leaves are worth" not in sentence


# --- the tables that come with the embedded lexicon -----------------------------------------------


def test_a_win_is_likelier_ahead_and_surer_at_the_end() -> None:
    table = trained_win_probabilities(ENGLISH)
    assert table is not None
    assert (np.diff(table.values, axis=0) >= 0).all()
    assert table.unseen.tolist() == list(range(1, ENGLISH.total - RACK_SIZE + 1))
    assert 0.5 < table.at(0, 93) < 0.6, "who begins wins more"
    assert table.at(300, 40) > 0.99
    assert table.at(-300, 40) < 0.01
    assert table.at(50, 80) < table.at(50, 40) < table.at(50, 10)


@pytest.mark.parametrize(
    ("name", "kind"), [("scowl.klv2.xz", "leaves"), ("scowl.winprob.csv.xz", "winprob")]
)
def test_their_manifests_are_theirs(name: str, kind: str, scowl: Lexicon) -> None:
    content = lzma.decompress((files("lexicons") / "embedded" / name).read_bytes())
    made = trained_manifest(kind)
    assert made.is_of(content)
    assert (made.lexicon, made.lexicon_checksum) == (scowl.name, scowl.checksum)
    assert made.tiles == ENGLISH.name
    assert made.command.startswith(f"tilewire train {kind}")


def test_other_tiles_have_none() -> None:
    more = replace(ENGLISH, counts=(3, *ENGLISH.counts[1:]))
    assert not are_trained_for(more)
    for table in (trained_leaves, trained_win_probabilities):
        with pytest.raises(ValueError, match="is for the tiles of scowl; english tiles are others"):
            table(more)
    assert are_trained_for(replace(ENGLISH, name="the same"))
    renamed = trained_leaves(replace(ENGLISH, name="the same"))
    assert renamed.distribution.name == "the same"


def test_leaves_are_unpacked_once(own_cache: Path) -> None:
    def unpacked(distribution: TileDistribution) -> bytes:
        trained_leaves.cache_clear()
        table = trained_leaves(distribution)
        return table.values.tobytes()

    first = unpacked(ENGLISH)
    (kept,) = (own_cache / "leaves").rglob("*.npy")
    kept.write_bytes(kept.read_bytes()[:-8])
    assert unpacked(ENGLISH) == first, "what is damaged is as good as none"
    values = np.load(kept)
    values[1] = 1
    np.save(kept, values)
    assert unpacked(ENGLISH) == values.tobytes(), "it is read from there"
    trained_leaves.cache_clear()


@pytest.mark.usefixtures("scowl")  # building the graph would need it
def test_a_manifest_needs_no_numba() -> None:
    code = (
        "import sys\n"
        "from lexicons.store import load_lexicon\n"
        "from lexicons.tables import leave_table_warnings\n"
        "assert leave_table_warnings(None, load_lexicon()) == []\n"
        "sys.exit('numba' in sys.modules)"
    )
    root = Path(lexicons.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, timeout=60)
