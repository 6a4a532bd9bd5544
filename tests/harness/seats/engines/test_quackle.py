"""Quackle as a seat: its dialect with all its traps, scripted; the real one where there is one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_games import ENDS, LONG, EngineGames, engine_seat, play_engine
from passing_seats import Passer
from search_views import opening, view_at

from bot.player import Budget, ExchangedCount, Observed, Refusal
from bot.registry import SeatError
from bot.seat.offers import Declined
from bot.seat_text import parse_seat
from engine.notation.move_text import parse_move
from engine.rules.moves import PASS, Exchange, Place
from engine.rules.position import Board
from engine.rules.rule_sets import load_rules
from engine.rules.rules import NUMBERS, WORDS, standard_rules
from harness.seats.engines import Context, engine_for
from harness.seats.engines.engine import EngineChoice, only_standard, words_of
from harness.seats.engines.process import EngineFailed
from harness.seats.engines.quackle import _commonest
from harness.seats.engines.quackle_text import MoveReader, tiles_differ, written_game
from lexicons.layout import load_layout
from lexicons.store import load_lexicon
from protocol.channel import now_ms
from protocol.parts import TimeControl

RULES = standard_rules()
ALPHABET = RULES.distribution.alphabet
STANDIN = Path(__file__).with_name("quackle_standin.py")
REAL = os.environ.get("TILEWIRE_QUACKLE")
"""A seat's text behind ``quackle:``, with the words of ``scowl``."""


def tiles_file(blanks: int = 2) -> str:
    """Write the English alphabet as Quackle has it."""
    tiles = RULES.distribution
    rows = [
        f"{ALPHABET.letters[n]}\t{ALPHABET.blanked[n]}\t{tiles.points[n]}\t{tiles.counts[n]}\t0"
        for n in range(1, len(tiles.counts))
    ]
    return "\n".join(["# English", *rows, f"blank\t0\t{blanks}", ""])


@pytest.fixture
def games(games: EngineGames, tmp_path: Path) -> EngineGames:
    """Return games with data: the word list is what the stand-in lists when it is asked."""
    games.dialect, games.program = "quackle", STANDIN
    folder = games.data = tmp_path / "its data"
    for name in ("lexica", "alphabets"):
        (folder / name).mkdir(parents=True)
    words = sorted(*words_of(games.lexicon, (_commonest(RULES.distribution),)))
    (folder / "lexica" / "scowl.dawg").write_text("\n".join(words) + "#\n")
    (folder / "alphabets" / "english.quackle_alphabet").write_text(tiles_file())
    return games


# --- a game as it is told -------------------------------------------------------------------------


def test_a_game_is_written_so_that_nothing_in_it_can_be_misread() -> None:
    first = written_game(view_at(opening("AEINR?S")))
    assert first.splitlines()[3:] == [">first: Z - +0 0", "#rack2 ?AEINRS", "#incomplete ?AEINRS"]
    board, turns = Board.empty(RULES.layout), []
    for number, text in enumerate(("8G hAT", "-3", "G7 S.E", "-", "-QV", "9G .e"), start=1):
        move = ExchangedCount(3) if text == "-3" else parse_move(text, board, ALPHABET)
        if isinstance(move, Place):
            board = board.with_move(move)
        turns.append(Observed(number, (number - 1) % 2, move, number, (5, 6), 80, 0))
    position = replace(opening("AEINRTU"), board=board, scores=(5, 6))
    view = view_at(position, history=tuple(turns), bag=80)
    assert written_game(view).splitlines()[3:] == [
        ">first: ?AT 8G hAT +1 5",
        ">second: Z -3 +2 6",
        ">first: ES G7 S.E +3 5",
        ">second: Z - +4 6",
        ">first: QV -QV +5 5",
        ">second: ? 9G .e +6 6",
        "#rack1 AEINRTU",
        "#incomplete AEINRTU",
    ]


def test_once_the_bag_is_empty_all_racks_are_told() -> None:
    board = Board.empty(RULES.layout)
    row = ALPHABET.tiles("EEEEEEEEEEEEAAAAAAAAAIIIIIIIIIOOOOOOOONNNNNNRRRRRRTTTTTTLLLLSSSSUUUU")
    rest = ALPHABET.tiles("DDDDGGGBBCCMMPPFFHHVVWW")
    squares = bytes((*row, *rest)) + bytes(225 - len(row) - len(rest))
    position = replace(opening("JKQX"), board=replace(board, squares=squares))
    turns = tuple(
        Observed(n, 1 - n % 2, parse_move(text, board, ALPHABET), 2, (4, 0), 0, 0)
        for n, text in enumerate(("A8 EA", "-", "8D EE"), start=1)
    )
    told = written_game(view_at(position, history=turns, bag=0)).splitlines()[3:]
    assert told[:3] == [
        ">first: AE A8 EA +2 4",
        ">second: ??YYZ - +2 0",
        ">first: EEJKQX 8D EE +2 4",
    ]


def test_moves_are_picked_out_of_all_that_is_printed() -> None:
    reader = MoveReader()
    for line in (
        "8D EARLY (score = 1, equity = 1, win% = 1)",  # before it has begun to list
        "Position [turnNumber = 1, current player P (id 1) holding AB? after drawing []",
        "Generating moves...",
        "Move made is nonmove (score = -9999, equity = -9999, win% = 0)",
        "nonmove (score = -9999, equity = -9999, win% = 0)",
        "H8 .cARINES (score = 74, equity = 78.2431, win% = 0.709151)",
        "-?I (score = 0, equity = nan, win% = 3, scoreAddition = 5)",
        "-  (score = 0, equity = -1e999, win% = x)",
        f"8D A (score = {'9' * 5_000}, equity = 1, win% = 0)",
        "8D AB (score = 3, equi",
    ):
        reader.read(line)
    assert [(one.text.strip(), one.score, one.equity, one.win) for one in reader.moves] == [
        ("H8 .cARINES", 74, 78.2431, 0.709151),
        ("-?I", 0, None, None),
        ("-", 0, None, None),
    ]
    assert reader.rack == "AB?"


# --- whole games ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "clocks", "outcome", "charged"),
    [
        ("children+noise+crash-after", LONG, "zeroes", []),
        ("complains", LONG, "crash", ["crash", "crash"]),
        *ENDS,
    ],
)
async def test_a_game_ends_as_it_should(
    games: EngineGames,
    fault: str,
    clocks: TimeControl,
    outcome: str,
    charged: list[str],
) -> None:
    seat = games.seat("player=Speedy Player", fault=fault, moves="swap,swap")
    faults = await games.check_end(seat, clocks, outcome, charged)
    if fault == "complains":
        assert "Could not open gcg" in str(faults[0])


# --- one turn -------------------------------------------------------------------------------------


async def test_a_player_who_is_not_back_in_time_is_killed_and_the_quick_one_plays(
    games: EngineGames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.seats.engines.quackle.SECONDS", {"Championship Player": 0.01})
    engine = games.engine("player=Championship Player", fault="slow", moves="swap")
    view = view_at(opening("AEINRTS"))
    try:
        await engine.start(view)
        hurried = await engine.choose(view, Budget(now_ms(), now_ms() + 60_000))
        assert isinstance(hurried, EngineChoice)
        assert str(hurried.text).startswith("Speedy Player, ")
        answer = await engine.choose(view, Budget(now_ms() + 1_000, now_ms() + 60_000))
        assert isinstance(answer, EngineChoice)
        assert "the Championship Player was not back" in str(answer.text)
        assert answer.move == Exchange(ALPHABET.tiles("A"))
        assert answer.rack == view.rack
        assert not games.left()
        again = replace(view, refused=(Refusal(answer.move, "x", "x"),))
        passed = await engine.choose(again, Budget(now_ms()))
        assert isinstance(passed, EngineChoice)
        assert passed.move == PASS
    finally:
        await engine.close()


async def test_a_lexicon_that_it_cant_load_is_named_when_it_crashes(games: EngineGames) -> None:
    engine = games.engine()
    view = view_at(opening("AEINRTS"), history=(Observed(1, 1, PASS, 0, (0, 0), 86, 0),))
    try:
        await engine.start(view)
        (games.data / "lexica" / "scowl.dawg").unlink()
        with pytest.raises(EngineFailed, match="SIGSEGV"):
            await engine.choose(view, Budget(now_ms()))
    finally:
        await engine.close()


# --- before the game ------------------------------------------------------------------------------


async def test_other_words_or_tiles_are_found_before_the_game(games: EngineGames) -> None:
    with (games.data / "lexica" / "scowl.dawg").open("a") as words:
        words.write("ZZORT\n")
    book = await games.play(games.seat())
    assert book.ended is not None
    assert "declined, unknown_lexicon" in book.ended.message
    assert "ZZORT" in book.ended.message
    assert tiles_differ(tiles_file(), RULES.distribution) == ""
    assert tiles_differ(tiles_file(blanks=1) + "Ą\tą\t5\t1\t1\n", RULES.distribution) == "?, Ą"
    other = replace(RULES, layout=load_layout("standard"), bingo_bonus=35)
    engine = games.engine()
    with pytest.raises(Exception, match="only the standard bingo bonus"):
        await engine.start(replace(view_at(opening("AEINRTS")), rules=other))


async def test_of_endless_words_some_are_kept(
    games: EngineGames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.seats.engines.quackle.MOST_WORDS", 2)
    (games.data / "lexica" / "scowl.dawg").write_text(f"EAT\nTEA\n{'A' * 60_000}\nEAST\n")
    engine = games.engine()
    try:
        with pytest.raises(Declined, match="has 2, lacks"):
            await engine.start(view_at(opening("AEINRTS")))
    finally:
        await engine.close()


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("player=Nobody", "'Nobody'"),
        ("lexicon=twl06", r"no file .*twl06\.dawg"),
        ("alphabet=polish", r"no file .*polish\.quackle_alphabet"),
        ("colour=red", "'colour'"),
        ("cores=two", "cores are numbers"),
    ],
)
def test_options_that_make_no_sense_are_named(games: EngineGames, query: str, why: str) -> None:
    with pytest.raises(SeatError, match=why):
        games.engine(query)


def test_data_and_board_have_to_be_what_it_can(games: EngineGames) -> None:
    other = Context("engine", "scowl", games.lexicon, rules=load_rules("super"))
    with pytest.raises(SeatError, match="only the standard layout"):
        engine_for(parse_seat(games.seat()), other)
    games.data /= "lexica"
    with pytest.raises(SeatError, match="it has no lexica in it"):
        games.engine()
    for data in ("~nosuchuser/data", "a%00b"):
        text = f"quackle:/bin/true?data={data}"
        with pytest.raises(SeatError, match="it has no lexica in it"):
            engine_for(parse_seat(text), Context("engine", "scowl", games.lexicon))
    packed = Context("engine", "/words/scowl.txt.xz", games.lexicon)
    text = f"quackle:/bin/true?data={games.data.parent}"
    assert "--lexicon=scowl" in engine_for(parse_seat(text), packed)._command  # type: ignore[attr-defined]
    with pytest.raises(SeatError, match="add data=DIR"):
        engine_for(parse_seat("quackle:/bin/true"), Context("engine", "scowl", games.lexicon))


@pytest.mark.parametrize("rule", [*NUMBERS, *WORDS])
def test_a_rule_that_an_engine_does_not_name_is_refused(rule: str) -> None:
    changed: dict[str, Any] = dict.fromkeys(NUMBERS, 5)
    changed |= {"challenge": "double", "challenge_by": "word"}
    rules = replace(standard_rules(), **{rule: changed[rule]})
    assert rule.replace("_", " ") in only_standard("it", rules, ())
    assert not only_standard("it", rules, {rule})


# --- the real one ---------------------------------------------------------------------------------


@pytest.mark.skipif(not REAL, reason="TILEWIRE_QUACKLE names no Quackle: PROGRAM?data=DIR&…")
async def test_quackle_itself_plays_a_game_without_a_fault(tmp_path: Path) -> None:
    lexicon = load_lexicon()
    seat = engine_seat(f"quackle:{REAL}", lexicon)
    book = await play_engine(seat, Passer(), LONG, lexicon, tmp_path)
    assert book.ended is not None
    assert (book.ended.outcome, book.ended.winner, book.ended.faults) == ("out", 0, ())
