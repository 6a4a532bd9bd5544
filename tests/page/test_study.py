"""A study as the page keeps it: its tree, its text and its link, asked of its modules in node."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from page.modules import asked

from engine.notation.gcg import read_gcg
from engine.notation.replaying import replay
from engine.rules.rules import standard_rules
from harness.server.answers import board_and_tiles

ASK = """
const { told, does } = JSON.parse(process.argv[2]);
const equipment = { layout: told.board, tiles: told.tiles, rackSize: 7, bingo: 50 };
const study = await import("./study.js"), text = await import("./study_text.js");
const { columns } = equipment.layout, faults = [], trouble = [];
const players = ["Ann A.", "Bob"];
let at = { study: study.newStudy({ isGame: true, lexicon: "W", players }), path: [] };
const history = new study.History(at);
const put = (next) => history.push((at = next));
const position = () => study.reached(at.study, at.path, columns).position;
const enter = (...given) => put(study.enter(at.study, at.path, ...given, columns));
const change = (what) => put({ ...at, study: study.changed(at.study, at.path, () => what) });
const acts = {
  play: (typed) => {
    const made = study.readTyped(typed, position(), equipment);
    if (typeof made === "string") throw new Error(made);
    put(study.play(at.study, at.path, made.move, made.score, equipment));
  },
  rack: (...given) => put({ ...at, study: study.withRack(at.study, at.path, ...given) }),
  enter,
  note: (note) => change({ note }),
  clock: (clock) => change({ clock }),
  go: (...path) => { at = { ...at, path }; },
  undo: () => { history.step(); at = history.value; },
  redo: () => { history.step(false); at = history.value; },
  promote: () => put(study.promoted(at.study, at.path)),
  remove: () => put(study.without(at.study, at.path)),
  end: () => study.settlement(position(), equipment)
    .forEach(({ move, score, seat }) => enter(move, score, seat)),
  cgp: (cgp) => { at = { study: study.fromCgp(cgp), path: [] }; },
  gcg: (gcg) => { at = { study: text.readStudy(gcg, columns), path: [] }; },
  link: (given) => {
    const linked = text.readLink(given ?? text.linkOf(at.study, at.path, equipment));
    at = text.readText(...linked, columns);
  },
  faults: () => faults.push(...study.faultsOf(position(), equipment).map(({ squares }) => squares)),
};
for (const [what, ...given] of does) {
  try {
    acts[what](...given);
  } catch (error) {
    trouble.push(error.message);
  }
}
const sorted = (board) => [...board].sort(([one], [other]) => one - other);
const plain = (value) => JSON.stringify(value, (_, it) => it instanceof Map ? sorted(it) : it);
const written = text.writeStudy(at.study, equipment), again = text.readStudy(written, columns);
console.log(JSON.stringify({
  written, path: at.path, faults, trouble, again: text.writeStudy(again, equipment),
  same: plain(again) === plain(at.study), cgp: study.cgpOf(position(), equipment, at.study.lexicon),
}));
"""
RULES = standard_rules()
GAMES = Path(__file__).parents[1] / "fixtures" / "gcg"
GAME: list[list[Any]] = [
    ["rack", 0, "ADEORSW"],
    ["play", "8D WORDS"],
    ["note", "Keeps AE.\n\n~ and more\n\\~ and that"],
    ["clock", "24:10"],
    ["play", "H8 (S)EA"],
    ["rack", 1, "EIMNTTX"],
    ["go", 0],
    ["rack", 1, "?AEIMNT"],
    ["play", "H8 .eA"],
    ["note", "\nA phony?"],
    ["rack", 0, "AEGILNV"],
    ["play", "-GV"],
    ["go"],
    ["play", "8D SWORD"],
    ["clock", "24:00"],
    ["play", "-"],
    ["play", "-3"],
    ["go", 0, 0],
]


def done(tmp_path: Path, *does: Sequence[Any]) -> dict[str, Any]:
    """Do things in a study that begins empty; return what became of it."""
    question = {"told": msgspec.to_builtins(board_and_tiles(RULES)), "does": does}
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    told: dict[str, Any] = asked(folder, ASK, question)
    return told


def test_a_tree_is_written_as_a_game_and_read_as_the_same_tree(tmp_path: Path) -> None:
    told = done(tmp_path, *GAME)
    assert told["same"], told["written"]
    assert told["again"] == told["written"]
    assert "#note ~1 Ann_A.: 8D SWORD" in told["written"]
    notices: list[Any] = []
    played = replay(read_gcg(told["written"], notices), RULES, notices)
    assert len(played.steps) == 2
    assert not notices


def test_a_phony_a_challenge_and_an_end_are_lines_of_the_sheet(tmp_path: Path) -> None:
    told = done(
        tmp_path,
        ["play", "8D WORDS"],
        ["enter", "(challenge)", 5, 0],
        ["play", "H8 (S)QX"],
        ["enter", "--", 0, 1],
        ["play", "-3"],
        ["rack", 1, "EEI"],
        ["enter", "(time)", -10, 0],
        ["end"],
    )
    assert told["same"], told["written"]
    lines = [line for line in told["written"].splitlines() if line[0] == ">"]
    assert lines == [
        ">Ann_A.: WORDS 8D WORDS +26 26",
        ">Ann_A.: (challenge) +5 31",
        ">Bob: QX H8 .QX +19 19",
        ">Bob: QX -- -19 0",
        ">Ann_A.: -3 +0 31",
        ">Ann_A.: (time) -10 21",
        ">Bob: EEI (EEI) -3 -3",
    ]


def test_edits_are_undone_and_a_variation_becomes_the_main_line(tmp_path: Path) -> None:
    edits = ["remove"], ["undo"], ["promote"]
    told = done(tmp_path, *GAME[:9], ["go", 0, 1], *edits)
    assert told["path"] == [0, 0]
    assert told["same"]
    assert "~1 Bob: H8 .EA" in told["written"]
    back = [["undo"]] * 40
    assert done(tmp_path, *GAME[:5], *back)["written"].count("\n>") == 0
    assert done(tmp_path, *GAME[:5], *back, *[["redo"]] * 40)["written"].count("\n>") == 2


def test_a_link_holds_the_position_and_a_short_line(tmp_path: Path) -> None:
    told = done(tmp_path, *GAME)
    linked = done(tmp_path, *GAME, ["link"])
    assert (linked["written"], linked["path"]) == (told["written"], [0, 0])
    long = done(tmp_path, *GAME, ["note", "x" * 2_000], ["link"])
    assert (long["path"], long["cgp"]) == ([], told["cgp"])
    later = done(tmp_path, ["link", "7.AAAA"], ["link", "1.!"], ["gcg", told["written"]])
    assert len(later["trouble"]) == 2
    assert later["written"] == told["written"]


def test_a_position_is_written_as_it_was_read(tmp_path: Path) -> None:
    cgp = "15/15/15/15/15/15/15/3WoRDS7/7E7/7AT6/15/15/15/15/15 EGILNVW/AB 28/-2 1 lex W;"
    told = done(tmp_path, ["cgp", cgp])
    assert told["cgp"] == cgp
    assert told["same"]
    assert f"#opening {cgp.removesuffix(' lex W;')}" in told["written"]
    played = done(tmp_path, ["cgp", cgp], ["play", "E7 W(o)LVING"])
    assert ">First: EGILNVW E7 W.LVING +26 54" in played["written"]
    assert played["same"]


def test_what_cant_be_is_said_of_its_squares(tmp_path: Path) -> None:
    rows = "15/15/15/15/15/15/15/3WORDS7/15/15/15/9ZZ4/15/15/15"
    told = done(tmp_path, ["cgp", f"{rows} ABCDEFGH/ 0/0 0"], ["faults"])
    z = [11 * 15 + 9, 11 * 15 + 10]
    assert told["faults"] == [z, [], z]


def test_moves_are_typed_as_people_write_them(tmp_path: Path) -> None:
    good = ["play", "8d WORDS"], ["play", "h8 SEA"], ["play", "-abc"], ["play", "-"]
    bad = ["play", "8Z WORD"], ["play", "15O TOO"], ["play", "A1 FAR"], ["play", "8D WORKS"]
    told = done(tmp_path, *good, *bad)
    assert told["trouble"][3:] == ["G8 holds D, not K."]
    assert len(told["trouble"]) == 4
    assert told["path"] == [0, 0, 0, 0]
    small = ["rack", 0, "AEHOSU?"], ["play", "8d mouse"], ["play", "h4 houses"]
    written = done(tmp_path, *small)["written"]
    assert "8D mOUSE +" in written
    assert "H4 HOUS.S +" in written


def test_a_rack_that_is_too_long_stays(tmp_path: Path) -> None:
    told = done(tmp_path, ["rack", 0, "ADEORSWX"], ["play", "8D WORDS"], ["play", "-"])
    assert told["trouble"] == ["8 tiles on a rack; it holds 7."] * 2
    assert "ADEORSWX" in told["written"]


@pytest.mark.parametrize(
    "name",
    ["challenge", "complete", "exchanges", "partial_racks", "phony", "player2_begins", "six_zeros"],
)
def test_a_game_is_written_with_the_positions_that_it_had(tmp_path: Path, name: str) -> None:
    text = (GAMES / f"{name}.gcg").read_text(encoding="utf-8")
    written = done(tmp_path, ["gcg", text])["written"]
    was, now = (replay(read_gcg(each), RULES) for each in (text, written))
    assert [step.before for step in now.steps] == [step.before for step in was.steps]
    assert now.final == was.final
