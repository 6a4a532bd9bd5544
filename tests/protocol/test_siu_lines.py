"""The lines of SIU: what is written is read as the same, and nothing that is read does harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.siu.answers import (
    Answer,
    BestMove,
    Capability,
    Done,
    Fault,
    Id,
    Ignored,
    InfoEndgame,
    InfoGen,
    InfoInfer,
    InfoPeg,
    InfoSim,
    InfoText,
    Option,
    Provenance,
    parse_answer,
)
from protocol.siu.commands import (
    MODES,
    Bare,
    Command,
    Go,
    SetOption,
    SetPosition,
    Unknown,
    parse_command,
)

MOVES = st.from_regex(r"[1-9][0-9]?[A-Z]\.[A-Za-z]{2,15}|ex\.[A-Z?]{1,7}|pass", fullmatch=True)
TILES = st.text("ABCDEFG?", min_size=1, max_size=7)
WORDS = st.text("abcXYZ0-9.é", min_size=1, max_size=8)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
POINTS = st.floats(-900, 900).map(lambda number: round(number, 2))
COUNTS = st.integers(0, 10**12)

COMMANDS: st.SearchStrategy[Command] = st.one_of(
    st.sampled_from(Bare),
    st.builds(SetOption, TEXTS, st.none() | TEXTS),
    st.builds(SetPosition, TEXTS, st.lists(MOVES, max_size=4).map(tuple)),
    st.builds(
        Go,
        st.sampled_from(MODES),
        searchmoves=st.lists(MOVES, max_size=3).map(tuple),
        alsosearchmoves=st.lists(MOVES, max_size=3).map(tuple),
        depth=st.none() | COUNTS,
        iterations=st.none() | COUNTS,
        movetime_ms=st.none() | COUNTS,
        stopcondition=st.none() | st.sampled_from([95, 98, 99]),
        firstwin=st.booleans(),
        useinference=st.booleans(),
        threads=st.none() | COUNTS,
        infinite=st.booleans(),
    ),
)
DRAWS = st.lists(TILES, max_size=3).map(tuple)
ANSWERS: st.SearchStrategy[Answer] = st.one_of(
    st.sampled_from(Done),
    st.builds(Id, st.sampled_from(["name", "author"]), TEXTS),
    st.builds(Capability, st.lists(st.sampled_from(["gen", "sim", "stop"])).map(tuple)),
    st.builds(
        Option,
        TEXTS,
        st.sampled_from(["check", "spin", "combo", "string"]),
        st.none() | TEXTS,
        st.none() | COUNTS,
        st.none() | COUNTS,
        st.lists(TEXTS, max_size=2).map(tuple),
    ),
    st.builds(Provenance, WORDS, WORDS, WORDS, WORDS),
    st.builds(InfoGen, MOVES, st.integers(0, 2_000), POINTS, TILES | st.just("")),
    st.builds(InfoSim, MOVES, POINTS, POINTS, POINTS, POINTS, COUNTS),
    st.builds(InfoInfer, TILES | st.just(""), st.sampled_from([0.0, 0.25, 0.999999, 1.0])),
    st.builds(InfoEndgame, COUNTS, st.integers(-900, 900), st.lists(MOVES).map(tuple)),
    st.builds(InfoPeg, MOVES, DRAWS, DRAWS, DRAWS, st.none() | POINTS),
    st.builds(Fault, st.sampled_from(["bad-move", "no-position"]), TEXTS | st.just("")),
    st.builds(Ignored, WORDS),
    st.builds(BestMove, MOVES | st.just("none")),
)


@given(COMMANDS)
def test_a_command_comes_back(command: Command) -> None:
    assert parse_command(command.line()) == command
    assert parse_command(f"  {command.line().replace(' ', chr(9))} \r\n") == command


@given(ANSWERS)
def test_an_answer_comes_back(answer: Answer) -> None:
    assert parse_answer(answer.line()) == answer


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("go", Go("auto")),
        ("go joho sim depth 3", Go("sim", depth=3, ignored=("joho",))),
        ("go movetime 5000 sim", Go("auto", movetime_ms=5000, ignored=("sim",))),
        ("go sim depth deep infinite", Go("sim", infinite=True, ignored=("depth",))),
        ("go sim depth infinite", Go("sim", infinite=True, ignored=("depth",))),
        ("go sim movetime -5", Go("sim", ignored=("movetime",))),
        ("go gen searchmoves depth 2", Go("gen", depth=2)),
        ("go gen joho", Go("gen", ignored=("joho",))),
        (f"go sim iterations {'9' * 5_000}", Go("sim", iterations=10**12)),
        ("setoption name Clear Hash", SetOption("Clear Hash")),
        ("setoption name Data Path value /a b;/c", SetOption("Data Path", "/a b;/c")),
        ("setoption", Unknown("setoption")),
        ("position", SetPosition("")),
        ("position fen x", SetPosition("")),
        ("position cgp b r s 0 lex X;", SetPosition("b r s 0 lex X;")),
        ("position cgp b / 0/0 0 moves pass", SetPosition("b / 0/0 0", ("pass",))),
        ("joho  frobnicate ", Unknown("joho  frobnicate")),
        (" \t", None),
    ],
)
def test_what_front_ends_say(line: str, expected: Command | None) -> None:
    assert parse_command(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # Those of the draft's own examples that its grammar does not give.
        (
            "info peg 8D.QI w:AB|AC|DE d:BB l:AH",
            InfoPeg("8D.QI", ("AB", "AC", "DE"), ("BB",), ("AH",)),
        ),
        ("info gen move ex.AB score 0 eq 1.5 leave", InfoGen("ex.AB", 0, 1.5, "")),
        ("info gen move 8D.QI score many eq x", InfoText("gen move 8D.QI score many eq x")),
        ("info sim", InfoText("sim")),
        ("info peg", InfoText("peg")),
        ("info peg move", InfoText("peg move")),
        ("info depth 3 nodes 400", InfoText("depth 3 nodes 400")),
        ("info string error bad-move", Fault("bad-move", "")),
        ("info string ignored", InfoText("string ignored")),
        ("bestmove 8D.QI ponder pass", BestMove("8D.QI")),
        ("bestmove", None),
        ("option name type", None),
        ("Board: 15", None),
        ("", None),
    ],
)
def test_what_engines_say(line: str, expected: Answer | None) -> None:
    assert parse_answer(line) == expected
