"""Which table is meant, and whether it was trained on the words that are played."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from lexicons.alphabet import TileDistribution, load_distribution
from lexicons.formula_leaves import formula_leaves
from lexicons.klv import write_klv
from lexicons.leaves import LeaveTable
from lexicons.manifest import Manifest, write_manifest
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import (
    leave_table_warnings,
    leaves_for,
    load_leaves,
    load_win_probabilities,
    table_location,
    table_name,
    trained_leaves,
    trained_manifest,
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
