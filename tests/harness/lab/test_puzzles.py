"""The puzzles of the page are what the solvers say, and lines of them are played by the rules."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from engine.notation.cgp import read_cgp
from engine.notation.move_text import parse_move
from engine.preendgame.scenarios import FullPosition
from engine.rules.position import Position, Rack, unseen
from engine.rules.rules import check_move, standard_rules
from harness.analysis.puzzles import LEAST_LOSS, LEAST_SHARE, MOVES, share
from harness.lab.puzzles import (
    FILES,
    INDEX,
    THEMES,
    PuzzleStudy,
    is_proven_again,
    read_files,
    write_files,
)
from harness.lab.study_context import Field
from harness.page import FOLDER
from lexicons.store import load_lexicon

RULES = standard_rules()
PUZZLES = read_files(FOLDER)
SEED = 24
MOST_BYTES = 600_000


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [each for each in PUZZLES if each["kind"] == kind]


def fewest(kind: str) -> dict[str, Any]:
    """Return the puzzle that is made again the fastest."""
    return min(of_kind(kind), key=lambda each: each["count"])


def test_each_puzzle_has_one_best_move_and_all_others() -> None:
    index = json.loads((FOLDER / INDEX).read_text("utf-8"))
    assert f"--seed {SEED}" in index["command"]
    assert len({each["id"] for each in PUZZLES}) == len(PUZZLES)
    for puzzle in PUZZLES:
        moves = [move for *_, listed in puzzle["moves"] for move in listed.split(",")]
        assert len(set(moves)) == puzzle["count"] in MOVES
        assert {puzzle["best"], puzzle["static"], "-"} <= set(moves)


def test_endgames_lose_what_they_say() -> None:
    for puzzle in of_kind("endgame"):
        spreads = {
            move: spread for spread, _, moves in puzzle["moves"] for move in moves.split(",")
        }
        best = spreads.pop(puzzle["best"])
        assert best == puzzle["spread"] > max(spreads.values())
        loss = best - spreads[puzzle["static"]]
        assert loss == puzzle["loss"]
        assert loss >= LEAST_LOSS or best - loss <= 0 <= best
        position = read_cgp(puzzle["position"], RULES)
        assert puzzle["line"][0][0] == puzzle["best"]
        assert played_out(position, puzzle["line"], ()) == best


def played_out(position: Position, line: list[tuple[str, int]], bag: Rack) -> int:
    """Play a line by the rules, two passes as the end; return the spread of who is to move."""
    words = load_lexicon().graph.contains
    full = FullPosition(position, bag)
    for text, score in line:
        move = parse_move(text, full.position.board, RULES.distribution.alphabet)
        play = check_move(full.position, move, RULES, words, len(full.bag))
        assert (play.score if play else 0) == score
        full = full.after(move, score, RULES)
    first, second = full.position.scores
    if full.over:
        return first - second
    assert [text for text, _ in line[-2:]] == ["-", "-"]
    own, other = map(RULES.distribution.value, full.position.racks)
    return first - own - second + other


def test_preendgames_lose_what_they_say() -> None:
    for puzzle in of_kind("preendgame"):
        cases = dict(enumerate(count for _, count in puzzle["bag"]))
        texts = {move: text for text, moves in puzzle["moves"] for move in moves.split(",")}
        most = {move: share(text, cases, 1) for move, text in texts.items()}
        best = most[puzzle["best"]]
        assert best == max(most.values())
        assert best - most[puzzle["static"]] == puzzle["loss"] >= LEAST_SHARE
        proven = {move for move, share_ in most.items() if share_ == best}
        assert not any("?" in texts[move] for move in (*proven, puzzle["static"], "-"))
        assert len(puzzle["lines"]) == len(cases)
        outcomes = texts[puzzle["best"]]
        told = zip(outcomes, puzzle["bag"], puzzle["lines"], strict=True)
        for outcome, (tile, _), (line, spread) in told:
            assert outcome == ("W" if spread > 0 else "L" if spread < 0 else "D")
            assert line[0][0] == puzzle["best"]
            position = read_cgp(puzzle["position"], RULES)
            bag = RULES.distribution.alphabet.tiles(tile)
            rest = Counter(dict(enumerate(unseen(position, 0, RULES)))) - Counter(bag)
            dealt = position.with_rack(1, tuple(sorted(rest.elements())))
            assert played_out(dealt, line, tuple(bag)) == spread


def test_the_index_has_nothing_of_an_answer_and_the_files_are_as_they_are_written(
    tmp_path: Path,
) -> None:
    index = json.loads((FOLDER / INDEX).read_text("utf-8"))
    for listed in index["puzzles"]:
        assert set(listed) == {"id", "kind", "rank", "count", "loss", "position"}
    known, made = {each["id"]: each for each in PUZZLES}, {}
    for kind, name in FILES.items():
        made[kind] = [known[id_] for id_ in json.loads((FOLDER / name).read_text("utf-8"))]
    about = {key: index[key] for key in ("command", "lexicon")}
    write_files(tmp_path, made, RULES, about)
    for name in (INDEX, THEMES, *FILES.values()):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_themes_are_true_by_the_rules() -> None:
    themes = json.loads((FOLDER / THEMES).read_text("utf-8"))
    known = {each["id"]: each for each in PUZZLES}
    words = load_lexicon().graph.contains
    letters = RULES.distribution.alphabet

    def is_legal(position: Position, text: str) -> bool:
        try:
            return bool(
                check_move(position, parse_move(text, position.board, letters), RULES, words, 0)
            )
        except ValueError:
            return False

    for id_ in themes["block"]:
        puzzle, position = known[id_], read_cgp(known[id_]["position"], RULES)
        at = next(at for _, at, moves in puzzle["moves"] if puzzle["static"] in moves.split(","))
        after = {}
        for key in ("static", "best"):
            move = parse_move(puzzle[key], position.board, letters)
            play = check_move(position, move, RULES, words, 0)
            full = FullPosition(position, ()).after(move, play.score if play else 0, RULES)
            after[key] = is_legal(full.position, puzzle["replies"][at])
        assert after == {"static": True, "best": False}, id_
    for id_ in themes["setup"]:
        assert not is_legal(read_cgp(known[id_]["position"], RULES), known[id_]["line"][2][0]), id_
    for id_ in themes["out_in_two"]:
        line = [move for move, _ in known[id_]["line"]]
        used = sum(1 for move in line[::2] for each in move.split()[1] if each != ".")
        assert used == len(read_cgp(known[id_]["position"], RULES).racks[0]), id_
    assert set(themes) <= {
        *("bingo", "out", "out_in_two", "stuck", "block", "setup"),
        *("parallel", "small", "quiet", "result", "pass"),
    }, "harness/page/puzzle_texts.js names these"


def test_the_files_are_small() -> None:
    assert sum((FOLDER / name).stat().st_size for name in [*FILES.values(), INDEX]) < MOST_BYTES


@pytest.mark.parametrize("kind", sorted({each["kind"] for each in PUZZLES}))
def test_a_puzzle_is_made_again_from_its_position(field: Field, kind: str) -> None:
    puzzle = fewest(kind)
    is_endgame = kind == "endgame"
    for others, is_right in ("?", True), ("W", False):
        told = [
            [of + (not is_right) if is_endgame else of.replace("L", others), *moves]
            for of, *moves in puzzle["moves"]
        ]
        assert is_proven_again(puzzle | {"moves": told}, field) == is_right


def test_score_sheets_give_puzzles_too(field: Field) -> None:
    puzzle = fewest("endgame")
    position = read_cgp(puzzle["position"], RULES)
    study = PuzzleStudy(field, "endgame", 0, ((position,),))
    (made,) = study.record(0)["puzzles"]
    assert made["id"] == puzzle["id"]
    assert list(study.numbers(5)) == [0]


def test_the_command_lists_them_and_says_what_is_wrong(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    for listed, puzzle in zip(tilewire.json("puzzles", "list"), PUZZLES, strict=True):
        assert (listed["id"], listed["position"]) == (puzzle["id"], puzzle["position"])
    assert tilewire("puzzles", "list", tmp_path) == 2
    assert tilewire.err.startswith(f"tilewire: {tmp_path}/endgame")
    assert tilewire("puzzles", "list", tmp_path / "/".join(["long"] * 100)) == 2
    assert "…" in tilewire.err
    assert "/endgame" in tilewire.err, "the end of a long path has the name"


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"puzzles": [{"kind": "endgame"}]}', "é"])
@pytest.mark.parametrize("name", [INDEX, FILES["endgame"]])
def test_a_file_of_another_shape_is_told(
    tilewire: CommandLine, tmp_path: Path, name: str, content: str
) -> None:
    for file in FILES.values():
        (tmp_path / file).write_text("{}")
    (tmp_path / INDEX).write_text('{"puzzles": [{"id": "none"}]}')
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    wrong = INDEX if content == "{}" else name  # no endgames are no mistake in their own file
    for command in ("list", "check"):
        assert tilewire("puzzles", command, tmp_path) == 2
        assert tilewire.err.startswith(f"tilewire: {tmp_path / wrong}")
        assert tilewire.err.count("\n") == 1
