"""Files of openings: each way to write one, and what is said of those that can't be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.notation.cgp import read_cgp
from engine.rules.rules import standard_rules
from harness.matches.openings import begins_empty, read_openings

GCG_FILES = Path(__file__).parents[2] / "fixtures" / "gcg"
RULES = standard_rules()
EMPTY = "/".join(["15"] * 15)
HOUSE = EMPTY.replace("15", "3HOUSE7", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with games."""
    shutil.copytree(GCG_FILES, tmp_path / "some games")
    return tmp_path


def openings(folder: Path, text: str) -> tuple[str, ...]:
    (folder / "openings.txt").write_text(text)
    return read_openings(folder / "openings.txt", RULES)


def test_an_opening_is_a_position_or_a_line_of_a_game_or_first_racks(folder: Path) -> None:
    found = openings(
        folder,
        f"# who moves first is on turn\n\n  {HOUSE} /AEIQ 20/5 1 lex NWL18;  \n"
        "some games/complete.gcg@1\nsome games/complete.gcg@2\nAEINRST\n?QU\n"
        + "AEINRST/DGILNOU\n/DGILNOU\n",
    )
    first, second = found[1], found[2]
    assert found[0] == f"{HOUSE} /AEIQ 20/5 1"
    assert first.startswith(f"{EMPTY} ")
    assert first.endswith(" 0/0 0")
    assert found[3:] == tuple(
        f"{EMPTY} {racks} 0/0 0" for racks in ("AEINRST/", "?QU/", "AEINRST/DGILNOU", "/DGILNOU")
    )
    empty = [begins_empty(opening, RULES) for opening in found]
    assert empty == [False, True, False, True, True, True, True]
    before, after = (read_cgp(text, RULES) for text in (first, second))
    assert all(len(rack) == 7 for rack in before.racks)
    assert after.racks[0] == before.racks[1], "who moves first is on turn"
    assert after.scores[0] == 0 < after.scores[1]


def test_a_rack_that_a_game_does_not_tell_is_not_given(folder: Path) -> None:
    (opening,) = openings(folder, "some games/empty_racks.gcg@3")
    assert read_cgp(opening, RULES).racks == ((), ())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# AEINRST\n", "has no opening"),
        ("AEINRST\nAEINRSTU\n", "line 2"),
        ("QQ/AE", "line 1"),
        ("game.gcg", "'board racks scores zeros'"),
        ("none.gcg@3", "none.gcg"),
        (f"{300 * 'n'}.gcg@3", "File name too long"),
        ("some games/complete.gcg@0", "there is no 0"),
        ("some games/six_zeros.gcg@10", "six_zeros.gcg"),
        ("openings.txt@1", "openings.txt: this is no GCG"),
        (f"{EMPTY} AEINRST/ 0/0 6", "the game is over, after 6 scoreless turns in a row"),
        (f"{HOUSE}\n", "line 1: first rack"),
    ],
)
def test_what_is_no_opening_is_named(folder: Path, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*/openings\.txt") as refused:
        openings(folder, text)
    assert sentence in str(refused.value)


def test_a_game_without_tiles_to_draw_is_over(folder: Path) -> None:
    tiles = RULES.distribution.alphabet.text(RULES.distribution.all_tiles()[2:])
    rows = [tiles[at : at + 15] for at in range(0, len(tiles), 15)]
    rows[-1] += str(15 - len(rows[-1]))
    full = "/".join(rows + ["15"] * (15 - len(rows)))
    assert openings(folder, f"{full} ?/ 0/0 0")
    assert openings(folder, f"{full} /? 0/0 0")
    with pytest.raises(ValueError, match="line 1"):
        openings(folder, f"{full} ??/ 0/0 0")
