"""``tilewire infer``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import CommandLine

FIXTURES = Path(__file__).parents[2] / "fixtures"
GAME = FIXTURES / "games" / "static_greedy.gcg"
PHONY = FIXTURES / "gcg" / "phony.gcg"
EMPTY = "/".join(["15"] * 15)
OPENING = f"{EMPTY} /GLORRTU 0/0 0"
IMINO = ("--play", "8D IMINO")

pytestmark = pytest.mark.usefixtures("kept_words")


def test_the_play_of_richards_and_amir(tilewire: CommandLine) -> None:
    found = tilewire.json("infer", OPENING, *IMINO, "--model", "deterministic", "--top", 25)
    assert (found["play"], found["score"], found["model"]) == ("8D IMINO", 16, "deterministic")
    assert (found["leaves_considered"], found["leaves_surviving"]) == (372, 23)
    assert found["unseen_mass"] == 0
    surviving = [one for one in found["top"] if one["posterior"]]
    assert len(surviving) == 23
    assert "?O" in {one["leave"] for one in surviving}
    assert sum(one["posterior"] for one in surviving) == pytest.approx(1)
    assert found["mass_top10"] == pytest.approx(sum(one["posterior"] for one in surviving[:10]))
    assert found["entropy"] < found["entropy_prior"] < 9
    # The deterministic model keeps the odds of what survives.
    ratios = {round(one["posterior"] / one["prior"], 6) for one in surviving}
    assert len(ratios) == 1


def test_json_has_the_keys_that_it_is_said_to_have(tilewire: CommandLine) -> None:
    found = tilewire.json("infer", OPENING, *IMINO, "--top", 2)
    assert list(found) == [
        *("leaves_considered", "leaves_surviving", "top", "mass_top10", "entropy_prior"),
        *("entropy", "seconds", "model", "margin", "temperatures", "play", "score"),
        *("unseen_mass", "effective", "tiles", "bingo", "true", "note"),
    ]
    assert [list(one) for one in found["top"]] == [["leave", "prior", "posterior"]] * 2
    assert len(found["tiles"]) == 27
    assert list(found["bingo"]) == ["prior", "prior_error", "posterior", "posterior_error"]


def test_a_rack_that_is_given_is_looked_at_only_for_where_its_leave_ranks(
    tilewire: CommandLine,
) -> None:
    unknown = tilewire.json("infer", OPENING, *IMINO)
    known = tilewire.json("infer", OPENING.replace(" /", " ?IIMNOO/"), *IMINO)
    assert {**known, "true": None, "seconds": 0} == {**unknown, "seconds": 0}
    truth = known["true"]
    assert truth["leave"] == "?O"
    assert 1 < truth["rank"] < 372
    assert truth["posterior"] > truth["prior"]


def test_the_budget_says_what_was_not_looked_at(tilewire: CommandLine) -> None:
    assert tilewire("infer", OPENING, *IMINO, "--racks", 100) == 0
    assert "100 of 372 leaves looked at, " in tilewire.out


def test_a_play_that_no_rack_would_make_tells_nothing(tilewire: CommandLine) -> None:
    given = (OPENING, "--play", "8H ZIG", "--model", "deterministic", "--top", 3)
    assert tilewire("infer", *given) == 0
    assert "no rack explains this play" in tilewire.out
    assert "after" not in tilewire.out


def test_words_and_leaves_of_his_own(tilewire: CommandLine, tmp_path: Path) -> None:
    words = tmp_path / "few.txt"
    words.write_text("cat\nact\ncats\n")
    given = (OPENING, "--play", "8F CAT", "--lexicon", words, "--temperature", 5)
    formula, trained = (
        tilewire.json("infer", *given, "--leaves", one) for one in ("formula", "trained")
    )
    assert formula["leaves_considered"] == trained["leaves_considered"]
    assert formula["entropy"] != trained["entropy"]
    assert tilewire("infer", *given) == 0
    assert "a bingo in the next turn: below 0.7 % before" in tilewire.out  # 400 racks prove no more
    assert tilewire("infer", OPENING, *IMINO, "--lexicon", words) == 2
    assert "IMINO" in tilewire.err


# --- other turns --------------------------------------------------------------------------------


def test_an_exchange_of_so_many_tiles(tilewire: CommandLine) -> None:
    few = ("--racks", 2_000, "--top", 10_000)
    found = tilewire.json("infer", OPENING, "--play", "-3", *few)
    assert (found["play"], found["score"], found["leaves_considered"]) == ("-3", 0, 2_000)
    assert {len(one["leave"]) for one in found["top"]} == {4}
    assert sum(one["posterior"] for one in found["top"]) == pytest.approx(1)
    named = tilewire.json("infer", OPENING, "--play", "-UVV", *few)  # nobody sees which they are
    assert {**named, "seconds": 0} == {**found, "seconds": 0}
    assert tilewire.json("infer", OPENING, "--play", "-3", *few, "--seed", 1)["top"] != found["top"]


# --- a game -------------------------------------------------------------------------------------


def test_a_line_of_a_game_has_its_play_and_what_was_kept(tilewire: CommandLine) -> None:
    assert tilewire("infer", f"{GAME}@1") == 0
    lines = tilewire.out.splitlines()
    assert lines[0] == "line 1: static, 8D OWARI, 18 points; seen with BCCINOS, 86 in the bag"
    assert "it kept LT, which ranks " in tilewire.out
    assert max(map(len, lines)) <= 80
    other = tilewire.json("infer", f"{GAME}@1", "--play", "8G RAIL")
    assert (other["play"], other["true"]["leave"]) == ("8G RAIL", "OTW")


def test_a_turn_that_a_challenge_took_tells_nothing(tilewire: CommandLine, tmp_path: Path) -> None:
    game = tmp_path / "lost.gcg"
    lines = ("#player1 a a", "#player2 b b", ">a: ADEORSW 8D WORDS +26 26", ">b: AEIMNTU - +0 0")
    game.write_text("\n".join([*lines, "#note turn lost by a challenge", ""]))
    assert tilewire("infer", f"{game}@2") == 2
    assert f"{game}@2" in tilewire.err
    asked = tilewire.json("infer", f"{game}@2", "--play", "H8 SEA", "--racks", 10)
    assert asked["play"] == "H8 .EA"
    assert tilewire.json("infer", f"{PHONY}@2", "--play", "H8 SEA", "--racks", 10)["score"] == 3


# --- a picture ----------------------------------------------------------------------------------


def test_a_picture(tilewire: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "imino.png"
    assert tilewire("infer", OPENING, *IMINO, "--plot", path) == 0
    assert path.read_bytes().startswith(b"\x89PNG\r\n")
    assert list(tmp_path.iterdir()) == [path]


def test_a_picture_takes_an_extra(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert tilewire("infer", tmp_path / "none.cgp", "--plot", tmp_path / "one.png") == 2
    assert "tilewire[plots]" in tilewire.err


# --- bad input ----------------------------------------------------------------------------------

LATE = "AAAAAAAAABBCCDD/DDEEEEEEEEEEEEF/FGGGHHIIIIIIIII/JKLLLLMMNNNNNNO/OOOOOOOPPQRRRRR/" + (
    "RSSSSTTTTTTUUUU/" + "/".join(["15"] * 9)
)
"""A board that leaves no tile in the bag, whatever lies on it."""


@pytest.mark.parametrize(
    ("what", "play", "word"),
    [
        (OPENING, None, "play"),
        (OPENING, "IMINO", "--play"),
        (OPENING, "8D IMNIO", "IMNIO"),
        (OPENING, "1A IMINO", "8H"),
        (OPENING, "8D JAZZ", "Z"),
        (OPENING, "8D INFLATION", "9"),
        (OPENING, "-8", "8"),
        (OPENING.replace(" /", " AEIOUST/"), "8D IMINO", "IMN"),
        (OPENING.replace("GLORRTU", "GLO"), "8D IMINO", "GLO"),
        (OPENING.replace(" 0/0 0", " 0/0 6"), "8D IMINO", "over"),
        (f"{LATE} /VVWWXYY 0/0 0", "-", "bag"),
        (f"{LATE} /VVWWXYY 0/0 0", "-1", "7"),
        (f"{GAME}@25", None, "@25"),
        (f"{GAME}@24", None, "@24"),
        (f"{GAME}@23", None, "@23"),
        (f"{PHONY}@2", None, "@2"),
        (f"{GAME}@2", "8D OWARI", "placement"),
    ],
)
def test_bad_input_is_one_sentence(
    tilewire: CommandLine, what: object, play: str | None, word: str
) -> None:
    given = () if play is None else ("--play", play)
    assert tilewire("infer", what, *given) == 2
    (sentence,) = (line for line in tilewire.err.splitlines() if not line.endswith(" so far"))
    assert sentence.startswith("tilewire: ")
    assert word in sentence
    assert tilewire.out == ""
