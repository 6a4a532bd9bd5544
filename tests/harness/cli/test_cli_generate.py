"""``tilewire generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from lexicon_parts import leaves_worth

from engine.movegen.generator import legal_moves
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from engine.rules.rules import standard_rules
from lexicons.klv import write_klv
from lexicons.store import load_lexicon

EMPTY = "/".join(["15"] * 15)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "few.txt"
    path.write_text("cat\ncats\nact\nsat\nat\nsea\n")
    return path


def test_a_position_of_a_game(tilewire: CommandLine, tmp_path: Path, words: Path) -> None:
    game = tmp_path / "game.gcg"
    game.write_text("#player1 a A\n#player2 b B\n>a: ACT 8G CAT +10 10\n>b: AEIST 8G ...S +6 6\n")
    found = tilewire.json("generate", f"{game}@2", "--lexicon", words, "--all")
    assert "8G ...S" in [move["move"] for move in found["moves"]]


def test_all_moves_are_the_legal_moves(tilewire: CommandLine, words: Path) -> None:
    rules = standard_rules()
    cgp = f"{EMPTY} ?ACST/ 0/0 0"
    found = tilewire.json("generate", cgp, "--lexicon", words, "--all", "--plain")
    legal = legal_moves(read_cgp(cgp, rules), load_lexicon(words), rules)
    alphabet = rules.distribution.alphabet
    expected = {(format_move(move, alphabet), score) for move, score in legal}
    assert {(move["move"], move["score"]) for move in found["moves"]} == expected
    assert len(found["moves"]) == len(legal) == sum(found["count"].values())
    assert found["count"]["exchange"] == 2**5 - 1
    assert found["count"]["pass"] == 1
    assert all(list(move) == ["move", "score", "equity", "leave"] for move in found["moves"])
    equities = [move["equity"] for move in found["moves"]]
    assert equities == sorted(equities, reverse=True)


@pytest.mark.parametrize("top", [1, 3, 15])
def test_the_top_is_the_head_of_all_and_the_counts_are_of_all(
    tilewire: CommandLine, words: Path, top: int
) -> None:
    cgp = f"{EMPTY} ?ACST/ 0/0 0"
    every = tilewire.json("generate", cgp, "--lexicon", words, "--all")
    some = tilewire.json("generate", cgp, "--lexicon", words, "--top", top)
    assert some["moves"] == every["moves"][:top]
    assert some["count"] == every["count"]
    if top == 15:
        assert tilewire.json("generate", cgp, "--lexicon", words) == some


def test_leaves_count_in_thousandths_of_a_point(
    tilewire: CommandLine, words: Path, tmp_path: Path
) -> None:
    rules = standard_rules()
    path = tmp_path / "leaves.klv2"
    (s,) = rules.distribution.alphabet.tiles("S")
    write_klv(path, leaves_worth(rules.distribution, {(s,): 8.125}))
    options = ("--lexicon", words, "--leaves", path, "--plain", "--all")
    found = tilewire.json("generate", f"{EMPTY} ACST/ 0/0 0", *options)
    by_move = {move["move"]: move for move in found["moves"]}
    assert by_move["8H CAT"] == {"move": "8H CAT", "score": 10, "equity": 18.125, "leave": "S"}
    assert by_move["8H CATS"]["equity"] == 12
    assert by_move["-ACT"]["equity"] == 8.125


def test_leaves_are_worth_what_they_are_to_players_without_a_table(
    tilewire: CommandLine, words: Path
) -> None:
    given = (f"{EMPTY} ?ACST/ 0/0 0", "--lexicon", words, "--all")
    found = tilewire.json("generate", *given)
    assert "scowl" in tilewire.err
    assert found == tilewire.json("generate", *given, "--leaves", "trained")
    assert found != tilewire.json("generate", *given, "--leaves", "formula")
    assert tilewire.err == ""


def test_adjustments_are_switched(tilewire: CommandLine, words: Path) -> None:
    """The A of CAT is between doubled letters in row 9, between plain squares in row 8."""

    def adjustment(move: str, *options: str) -> float:
        cgp = f"{EMPTY} ACT/ 0/0 0"
        found = tilewire.json("generate", cgp, "--lexicon", words, "--all", *options)
        (wanted,) = (one for one in found["moves"] if one["move"] == move)
        return float(wanted["equity"] - wanted["score"])

    assert adjustment("H8 CAT") < 0
    assert adjustment("H8 CAT", "--plain") == adjustment("H8 CAT", "--no-opening") == 0
    assert adjustment("H7 CAT") == 0


def test_going_out_is_switched(tilewire: CommandLine, words: Path) -> None:
    board = "/".join(["15"] * 7 + ["7A7"] + ["15"] * 7)
    few = ("--distribution", words.with_name("few_tiles.csv"))
    few[1].write_text("?,?,0,0,0\nA,a,2,1,1\nC,c,1,3,0\nT,t,2,1,0\nS,s,0,1,0\nE,e,1,1,1\n")
    cgp = f"{board} CT/AET 0/0 0"
    words.with_name("acts.txt").write_text("act\ncat\nat\n")
    given = (cgp, "--lexicon", words.with_name("acts.txt"), *few, "--all")

    def best(*options: str) -> dict[str, Any]:
        found: dict[str, Any] = tilewire.json("generate", *given, *options)["moves"][0]
        return found

    assert best("--no-going-out")["equity"] == best()["score"]
    assert best()["equity"] > best()["score"], "the opponent's tiles count twice"


def test_a_table_for_people(tilewire: CommandLine, words: Path) -> None:
    assert tilewire("generate", f"{EMPTY} ACST/ 0/0 0", "--lexicon", words, "--top", "2") == 0
    _, _, *rows, counts = tilewire.out.splitlines()
    assert [row.split()[1:4] for row in rows] == [["ACT", "10", "S"], ["CAT", "10", "S"]]
    assert counts.endswith("15 exchanges and the pass; shown: the best 2")
    cgp = f"{'/'.join(['15'] * 7)}/7C7/{'/'.join(['15'] * 7)} AST/ 0/0 0"
    assert tilewire("generate", cgp, "--lexicon", words, "--plain") == 0
    assert "8H (C)ATS " in tilewire.out, "what is played through"


def test_a_rack_with_nothing_to_play(tilewire: CommandLine, words: Path) -> None:
    found = tilewire.json("generate", f"{EMPTY} VV/ 0/0 0", "--lexicon", words, "--all")
    assert found["moves"][-1] == {"move": "-", "score": 0, "equity": -1000.0, "leave": "VV"}
