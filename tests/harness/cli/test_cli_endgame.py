"""``tilewire endgame`` and ``preendgame``: what they print, and what they refuse."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any, Protocol

import pytest
from command_line import CommandLine

from bot.search.anytime import NODES, Anytime
from harness.cli.positions import time_to_think

EMPTY = "/".join(["15"] * 7)
WORDS = "at\nact\ncat\ncate\neat\nate\ntea\nteat\n"
FEW = "?,?,0,0,0\nA,a,2,1,1\nC,c,1,3,0\nE,e,1,1,1\nT,t,2,1,0\n"
MORE = "?,?,0,0,0\nA,a,6,1,1\nC,c,3,3,0\nE,e,3,1,1\nT,t,6,1,0\n"
# An A on the board; CT against AET: CAT goes out for 5 points, and AET counts twice.
OUT = f"{EMPTY}/7A7/{EMPTY} CT/AET 20/30 0"
# CAT on the board; of eight tiles that are unseen one is in the bag.
ONE_IN_BAG = f"{EMPTY}/6CAT6/{EMPTY} AACEETT/ 20/20 0"


class Asks(Protocol):
    """Asks a command about a position of a game with few tiles and words."""

    def __call__(self, command: str, cgp: str, *options: object, tiles: str = FEW) -> int: ...


@pytest.fixture
def asks(tilewire: CommandLine, tmp_path: Path) -> Asks:
    (tmp_path / "words.txt").write_text(WORDS)

    def ask(command: str, cgp: str, *options: object, tiles: str = FEW) -> int:
        (tmp_path / "tiles.csv").write_text(tiles)
        given = ("--lexicon", tmp_path / "words.txt", "--distribution", tmp_path / "tiles.csv")
        return tilewire(command, cgp, *given, *options)

    return ask


def as_json(tilewire: CommandLine, asks: Asks, *asked: object, tiles: str = FEW) -> dict[str, Any]:
    assert asks(*map(str, asked), "--json", tiles=tiles) == 0, tilewire.err
    found: dict[str, Any] = json.loads(tilewire.out)
    return found


# --- endgame --------------------------------------------------------------------------------------


def test_an_endgame_is_proven(tilewire: CommandLine, asks: Asks) -> None:
    found = as_json(tilewire, asks, "endgame", OUT)
    assert (found["value"], found["proven"], found["spread"]) == (11, True, 1)
    assert found["floor"] == found["ceiling"] == 11
    assert (found["scores"], found["pv"]) == ([5], [found["move"]])
    left_out = as_json(tilewire, asks, "endgame", OUT.replace("AET", ""))
    assert (left_out["value"], left_out["pv"]) == (11, found["pv"])


def test_an_endgame_for_people(tilewire: CommandLine, asks: Asks) -> None:
    assert asks("endgame", OUT) == 0
    assert "value +11, spread at the end +1: proven" in " ".join(tilewire.out.split())
    assert asks("endgame", OUT, "--first-win") == 0
    assert "proven: a win, by 1 at least" in tilewire.out
    assert asks("endgame", f"{EMPTY}/6EAT6/{EMPTY} C/AT 0/0 5") == 0, "a last pass ends the game"
    assert "value −1" in " ".join(tilewire.out.split())


def test_what_is_not_proven_is_said_not_to_be(tilewire: CommandLine) -> None:
    late = (
        "5BERGS5/4PA3U5/2QAID3R5/3BEE3F2S2/1P1ET2VIATIC2/MA1TAW3c2H2/ES3IS2E2A2/AT1FOLIA4V2/"
        "LI1L1EX1E6/1N1O1D2N2Y3/1GNU2C1JETE3/2ER2OHO2N3/2O3GOY6/1INDOW1U7/4DORR7 IKLMTZ/ 0/0 0"
    )
    assert tilewire("endgame", late, "--time", "1ms") == 0
    assert "not proven" in tilewire.out


# --- preendgame -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["rational", "static"])
def test_a_pre_endgame(tilewire: CommandLine, asks: Asks, model: str) -> None:
    asked = ("preendgame", ONE_IN_BAG, "--model", model, "--candidates", 3, "--time", "20s")
    found = as_json(tilewire, asks, *asked, tiles=MORE)
    assert (found["model"], found["bag"], found["mass"], found["settled"]) == (model, 1, 1, True)
    moves = found["moves"]
    assert len(moves) == 4  # and the pass
    assert moves[0]["cases"] == found["cases"] > 1
    for one in moves:
        assert one["wins"] + one["draws"] + one["losses"] == pytest.approx(1)
        assert one["win"] == pytest.approx(one["wins"] + one["draws"] / 2)


def test_a_pre_endgame_for_people(tilewire: CommandLine, asks: Asks) -> None:
    assert asks("preendgame", ONE_IN_BAG, "--top", 2, "--time", "20s", tiles=MORE) == 0
    assert re.search(r"^(\d+) of \1 moves compared, \1 proven$", tilewire.out, re.MULTILINE)
    assert "opponent: perfect" in tilewire.out


def test_some_moves_are_compared_and_one_is_not_dropped(tilewire: CommandLine, asks: Asks) -> None:
    asked = ("preendgame", ONE_IN_BAG, "--time", "20s")
    few = as_json(tilewire, asks, *asked, "--only", "pass", "--only", "9H TE", tiles=MORE)
    assert {one["move"] for one in few["moves"]} == {"-", "9H TE"}
    assert few["compared"] == 2
    for option, text, word in (("--only", "8D", "8D"), ("--protect", "-C", "bag")):
        assert asks(*asked, option, text, tiles=MORE) == 2
        assert word in tilewire.err
    every = as_json(tilewire, asks, *asked, tiles=MORE)
    last = every["moves"][-1]["move"]
    assert not every["moves"][-1]["proven"]
    kept = as_json(tilewire, asks, *asked, "--protect", last, tiles=MORE)
    (row,) = [one for one in kept["moves"] if one["move"] == last]
    assert row["beaten"]
    assert row["proven"]
    assert sum(one["weight"] for one in row["by_bag"]) == pytest.approx(1)


# --- being stopped --------------------------------------------------------------------------------


class Interrupted:
    """Goes on for ever, and is interrupted at once."""

    is_over = False
    slices = 0

    def advance(self, nodes: int) -> int:
        self.slices += 1
        signal.raise_signal(signal.SIGINT)
        return nodes


def test_whoever_interrupts_it_wants_to_hear_what_is_known() -> None:
    before = signal.getsignal(signal.SIGINT)
    solving = Interrupted()
    with time_to_think(10**9) as budget:
        Anytime(solving, NODES).run(budget.remaining_ms)
    assert solving.slices == 1
    assert signal.getsignal(signal.SIGINT) is before


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "cgp", "options", "word"),
    [
        ("endgame", OUT.replace("CT/AET", "CT/AE"), (), "tilewire preendgame"),
        ("endgame", OUT.replace("CT/AET", "/AET"), (), "rack"),
        ("endgame", OUT.replace("CT/AET", "CT/AETT"), (), "T"),
        ("endgame", OUT.replace("CT/AET", "AACETT/").replace("7A7", "15"), (), "over"),
        ("endgame", OUT, ("--memory", "1M"), "memory"),
        ("preendgame", OUT, (), "tilewire endgame"),
    ],
)
def test_what_can_not_be_solved(
    tilewire: CommandLine, asks: Asks, command: str, cgp: str, options: tuple[str], word: str
) -> None:
    assert asks(command, cgp, *options) == 2
    assert word in tilewire.err
    assert tilewire.err.count("\n") == 1
    assert tilewire.out == ""


def test_a_line_of_a_game(tilewire: CommandLine, asks: Asks, tmp_path: Path) -> None:
    sheet = tmp_path / "game.gcg"
    sheet.write_text("#player1 a A\n#player2 b B\n>a: ACT 8H AT +4 4\n>b: AET - +0 0\n")
    found = as_json(tilewire, asks, "endgame", f"{sheet}@2")
    assert found["proven"]
    assert len(found["pv"]) == len(found["scores"])
    assert asks("endgame", f"{sheet}@3") == 2
    assert f"{sheet}@3" in tilewire.err
