"""What a table was made from, beside it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexicons.manifest import Manifest, manifest_path, read_manifest, write_manifest

MADE = Manifest(
    kind="leaves",
    command="tilewire train leaves --lexicon few.txt --seed 3 --games 40",
    seed=3,
    games=40,
    lexicon="few",
    lexicon_checksum="ab" * 32,
    tiles="english",
    version="0.1.0",
    sha256=hashlib.sha256(b"a table").hexdigest(),
    figures={"mean score": 411.5, "tables": [{"games": 4}, {"games": 36}], "note": "Я"},
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    table = tmp_path / "few.klv2"
    assert read_manifest(table) is None
    for made in (MADE, replace(MADE, seed=4, figures={})):
        write_manifest(table, made)
        assert read_manifest(table) == made
    assert [one.name for one in tmp_path.iterdir()] == ["few.klv2.json"]
    assert json.loads((tmp_path / "few.klv2.json").read_text("utf-8"))["lexicon"] == "few"


def test_it_lies_beside_its_table(tmp_path: Path) -> None:
    assert manifest_path("some/scowl.klv2") == Path("some/scowl.klv2.json")
    assert manifest_path("scowl.klv2.xz") == Path("scowl.klv2.json"), "of what is in it"
    with pytest.raises(OSError, match="none"):
        write_manifest(tmp_path / "none" / "few.klv2", MADE)


def test_it_is_of_one_table() -> None:
    assert MADE.is_of(b"a table")
    assert not MADE.is_of(b"another table")


def said(**changes: Any) -> str:
    content = {"format": "tilewire manifest 1", **vars(MADE)} | changes
    return json.dumps({name: value for name, value in content.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON, so no manifest of a table"),
        ("[" * 100_000, "not JSON, so no manifest of a table"),
        (said(format="tilewire manifest 2"), "no manifest of a table"),
        (said(lexicon=None), '"lexicon" is missing or not a text'),
        (said(games="40"), '"games" is missing or not a whole number'),
        (said(figures=[]), '"figures" is missing or not an object'),
        (said(colour="red"), "unknown field 'colour'"),
    ],
)
def test_what_is_no_manifest(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "few.klv2.json").write_text(text)
    with pytest.raises(ValueError, match=r"few\.klv2\.json: ") as caught:
        read_manifest(tmp_path / "few.klv2")
    assert says in str(caught.value)


def test_what_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "few.klv2.json").open("wb") as file:
        file.truncate(1 << 36)  # takes no room on the disk
    with pytest.raises(ValueError, match="no manifest of a table has over 1,048,576"):
        read_manifest(tmp_path / "few.klv2")
