"""The process that analyses for a page: the same numbers as the command, and what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from command_line import CommandLine

from bot.equipment import Equipment
from engine.rules.rule_sets import load_rules
from engine.rules.rules import standard_rules
from harness.analysis.sheet import MOST_TURNS, read_sheet
from harness.analysis.task import LENGTH, AnalysisTask
from harness.analysis.worker import Analyst, serve
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.game_kinds import MAIN, GameKind
from lexicons.tables import leaves_for

GAMES = Path(__file__).parents[2] / "fixtures" / "games"
GAME = GAMES / "static_greedy.gcg"
ROLLOUTS = 40
RULES = standard_rules()


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    return Analyst({MAIN: GameKind(equipment=Equipment())})


def do(analyst: Analyst, **task: Any) -> dict[str, Any]:
    answer: dict[str, Any] = msgspec.json.decode(
        msgspec.json.encode(analyst.do(AnalysisTask(**task), lambda _: None, lambda: False))
    )
    return answer


def test_a_review_has_the_numbers_of_the_command(analyst: Analyst, tilewire: CommandLine) -> None:
    assert tilewire("analyze", GAME, "--rollouts", ROLLOUTS, "--seed", 3, "--json") == 0
    printed = [json.loads(line) for line in tilewire.out.splitlines()]
    data = GAME.read_bytes()
    sheet = do(analyst, data=data)["sheet"]
    assert sheet["players"] == ["static", "greedy"]
    assert sheet["scores"] == [487, 370]
    assert [turn["line"] for turn in sheet["turns"]] == [turn["line"] for turn in printed]
    for turn, told in zip(sheet["turns"], printed, strict=True):
        assert turn["cgp"] == told["cgp"]
        line = turn["line"]
        found = do(analyst, data=data, line=line, rollouts=ROLLOUTS, seed=3)["findings"]
        replies = found.pop("replies")
        assert {**found, "seconds": 0} == {**told, "seconds": 0}, f"line {line}"
        if told["verdict"]["why"] and "the opponent's next turn" in told["verdict"]["why"]:
            assert replies["best"]["score"] != replies["played"]["score"]


def test_another_move_can_be_tried(analyst: Analyst) -> None:
    data = GAME.read_bytes()
    tried = {"data": data, "line": 10, "rollouts": 400}
    found = do(analyst, **tried, move="14B FUR")
    assert "14D holds C, not R" in found["refused"]
    found = do(analyst, **tried, move="L1 FLIP")["findings"]
    assert found["verdict"]["not_compared"], "there is no L on the rack"
    found = do(analyst, **tried, move="L4 AFAR")["findings"]
    assert found["verdict"]["ahead_of_played"]["move"] == "L4 AFA."
    found = do(analyst, **tried, move="L1 FUPI")["findings"]
    why = {"code": "not_words", "words": ["FUPI"], "lexicon": "scowl"}
    assert found["verdict"]["phony"] == why
    assert found["verdict"]["ahead_of_played"]["win"] is not None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"#player1 a A\n#player2 b B\n>a: AB 8H X8Z +1 1\n", "line 3: "),
        (b"\x89PNG\r\n\xff/ / /", "it is no text"),
        (b"hello", "neither a GCG"),
        (b"15/15 AEINRST/ 0/0 0", "2 rows"),
    ],
)
def test_what_is_broken_is_refused_with_a_sentence(analyst: Analyst, data: bytes, why: str) -> None:
    assert why in do(analyst, data=data)["refused"]


def test_a_game_without_end_is_refused(analyst: Analyst) -> None:
    turns = "".join(f">{'ab'[at % 2]}: AEINRST - +0 0\n" for at in range(MOST_TURNS + 1))
    text = f"#player1 a A\n#player2 b B\n{turns}"
    assert "turns; 200 are looked at" in do(analyst, data=text.encode())["refused"]


def test_a_game_is_read_by_the_words_that_it_names_where_its_tiles_fit() -> None:
    polish = GameKind(equipment=Equipment(), rules=rules_on_wire(load_rules("polish")), words="few")
    other = GameKind(equipment=Equipment(), words="few")
    data = GAME.read_bytes()
    named = data.replace(b"#lexicon scowl", b"#lexicon FEW")
    assert named != data
    for text, kind, table in (
        (data, other, MAIN),
        (named, other, "other"),
        (named, polish, MAIN),
    ):
        analyst = Analyst({MAIN: GameKind(equipment=Equipment()), "other": kind})
        assert do(analyst, data=text)["table"] == table


def test_a_position_is_a_turn_of_its_own(analyst: Analyst) -> None:
    cgp = GAMES.parent / "cgp" / "midgame.cgp"
    (turn,) = do(analyst, data=cgp.read_bytes())["sheet"]["turns"]
    assert (turn["line"], turn["played"]) == (0, None)
    found = do(analyst, data=cgp.read_bytes(), line=0, rollouts=40)["findings"]
    assert found["verdict"]["ahead_of_played"] is None


@pytest.mark.parametrize("quote", [b"'", b'"'])
def test_a_position_may_be_quoted(analyst: Analyst, quote: bytes) -> None:
    cgp = (GAMES.parent / "cgp" / "midgame.cgp").read_bytes()
    quoted = do(analyst, data=b" %s%s%s\n" % (quote, cgp.strip(), quote))
    assert quoted["sheet"] == do(analyst, data=cgp)["sheet"]


EMPTY = b"/".join([b"15"] * 15)


def test_what_can_not_be_analysed_is_read_all_the_same(analyst: Analyst) -> None:
    (turn,) = do(analyst, data=EMPTY + b" AEI/ 0/0 0")["sheet"]["turns"]
    assert "not the whole rack" in turn["left_out"]
    sheet = do(analyst, data=b"#player1 a A\n#player2 b B\n#rack1 AEINRST\n")["sheet"]
    assert sheet["turns"] == []
    assert (sheet["final"]["line"], sheet["final"]["rack"]) == (1, "AEINRST")


def test_moves_are_listed_as_generate_lists_them(analyst: Analyst, tilewire: CommandLine) -> None:
    last = len(GAME.read_text().split("\n>"))
    for line in (5, 10):
        known = tilewire.json("generate", f"{GAME}@{line}", "--top", 20)
        listed = do(analyst, data=GAME.read_bytes(), line=line, most=20)["moves"]
        assert listed["moves"] == known["moves"]
        assert listed["count"] == sum(known["count"].values())
        assert listed["line"] == line
    assert "game is over" in do(analyst, data=GAME.read_bytes(), line=last, most=9)["refused"]
    data = b"#player1 a A\n#player2 b B\n>a: ADEORSW 8D WORDS +26 26\n#rack2 AEINRST\n"
    listed = do(analyst, data=data, line=2, most=1)["moves"]
    assert listed["moves"][0]["leave"] == "", "the position after the last line"


def test_a_part_of_a_rack_is_enough_for_a_list(analyst: Analyst) -> None:
    for rest, part in ((b"AE/ 0/0 0", None), (b"/ 0/0 0", "racks"), (b"AEINRST/ 0/0 6", "scores")):
        answer = do(analyst, data=EMPTY + b" " + rest, line=0, most=5)
        assert ("moves" in answer, answer.get("part")) == (part is None, part)
    refused = do(analyst, data=b"QQ13" + EMPTY[2:] + b" / 0/0 0", line=0, most=5)
    assert (refused["part"], refused["squares"]) == ("board", [0, 1])


def test_moves_are_compared_alone(analyst: Analyst) -> None:
    compared = {"data": GAME.read_bytes(), "line": 10, "rollouts": 60}
    found = do(analyst, **compared, moves=["L4 AFAR", "L1 FUPI", "-"])["findings"]
    rows = {row["move"]: row.get("phony") for row in found["candidates"]}
    assert rows == {"L4 AFA.": None, "L1 FUPI": True, "-": None}
    assert found["verdict"]["ahead_of_played"] is None
    assert found["verdict"]["best"] == "L4 AFA."
    assert "X is not on the rack" in do(analyst, **compared, moves=["-X"])["refused"]


def test_the_last_play_tells_what_infer_tells(analyst: Analyst, tilewire: CommandLine) -> None:
    known = tilewire.json("infer", f"{GAME}@3", "--top", 5)
    assert known["leaves_considered"] < 4_000, "then all are looked at"
    asked = {"data": GAME.read_bytes(), "rollouts": 30, "believes": True}
    belief = do(analyst, **asked, line=4)["findings"]["belief"]
    for leave, told in zip(known["top"], belief["top"], strict=False):
        assert told["leave"] == leave["leave"]
        assert told["posterior"] == pytest.approx(leave["posterior"])
    tiles = {row["tile"]: row["posterior"] for row in known["tiles"]}
    assert belief["tiles"] == pytest.approx(tiles)
    assert do(analyst, **asked, line=1)["findings"]["belief"] is None
    taken_back = (GAMES.parent / "gcg" / "phony.gcg").read_bytes()
    assert do(analyst, **asked | {"data": taken_back}, line=4)["findings"]["belief"] is None


def test_a_word_is_looked_up(analyst: Analyst) -> None:
    cat = do(analyst, word="CAt")["words"]
    assert (cat["word"], cat["valid"], cat["front"]) == ("CAT", True, ["S"])
    assert cat["back"] == ["E", "S"]
    assert cat["anagrams"] == ["ACT", "TAC"]
    assert {"CATS", "CHAT", "TALC"} < {*cat["with_blank"]}
    assert cat["worth"] == pytest.approx(leaves_for(RULES.distribution).value([1, 3, 20]))
    rack = do(analyst, word="QZ", rack="AEINRS?")["words"]
    assert (rack["valid"], rack["worth"], len(rack["anagrams"])) == (False, None, 50)
    assert {len(word) for word in rack["anagrams"]} == {7}
    assert "'1'" in do(analyst, word="C1")["refused"]


def test_messages_go_through_a_pipe_until_it_ends(analyst: Analyst) -> None:
    tasks = [AnalysisTask(data=b"x"), AnalysisTask(data=GAME.read_bytes(), line=1, rollouts=40)]
    asked = [b'{"stop":true}', *map(msgspec.json.encode, tasks)]
    reading = io.BytesIO(b"".join(LENGTH.pack(len(each)) + each for each in asked))
    writing = io.BytesIO()
    serve(analyst, reading, writing)
    writing.seek(0)
    told = []
    while header := writing.read(LENGTH.size):
        told.append(json.loads(writing.read(*LENGTH.unpack(header))))
    assert [*told[0]] == ["refused"]
    assert told[-1]["findings"]["line"] == 1


def test_a_play_without_its_rack_has_racks_and_no_verdict(analyst: Analyst) -> None:
    data = b"#player1 ann ann\n#player2 bob bob\n>ann: 8D WORDS +26 26\n"
    (turn,) = do(analyst, data=data)["sheet"]["turns"]
    assert turn["left_out"] is None
    found = do(analyst, data=data, line=1, rollouts=24)["findings"]
    assert found["cost"] is None, "two rollouts a rack are too few"
    assert len(found["racks"]) == 12
    assert "verdict" not in found
    assert "refused" in do(analyst, data=data, line=1, move="8H WORDS", rollouts=24)


def test_a_turn_has_the_number_of_its_event(analyst: Analyst) -> None:
    text = (
        "#player1 ann ann\n#player2 bob bob\n>ann: ADEORSW 8D WORDS +26 26\n"
        "#note challenged in vain\n>bob: EIMNTTX - +0 0\n>ann: AEIOU - +0 26\n"
    )
    turns = do(analyst, data=text.encode())["sheet"]["turns"]
    assert [(turn["line"], turn["seq"]) for turn in turns] == [(1, 1), (2, 3), (3, 4)]


def test_a_game_tells_its_encoding_and_turns_that_a_challenge_cost() -> None:
    text = (
        "\ufeff#player1 Íñigo Íñigo\n#player2 bert bert\n>Íñigo: ADEORSW 8D WORDS +26 26\n"
        ">bert: EIMNTTX - +0 0\n#note turn lost by a challenge\n>Íñigo: AE - +0 26\n"
    )
    sheet = read_sheet(text.encode(), standard_rules())
    assert sheet.gcg is not None
    assert [player.nick for player in sheet.gcg.players] == ["Íñigo", "bert"]
    assert sheet.turns[1].obstacle == "the turn was lost by a challenge"
