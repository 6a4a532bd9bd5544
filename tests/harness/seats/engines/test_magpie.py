"""MAGPIE as a seat: its dialect with all its traps, scripted; the real one where there is one."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest
from engine_games import ENDS, LONG, EngineGames, engine_seat, play_engine
from passing_seats import Passer
from search_views import opening, view_at

from bot.player import Budget, Choice, Refusal, View
from bot.registry import SeatError
from bot.seat.offers import Declined
from bot.seat_text import parse_seat
from engine.rules.moves import Direction, Exchange, Place
from engine.rules.position import Board
from engine.rules.rule_sets import load_rules
from engine.rules.rules import score_play, standard_rules
from harness.seats.engines import Context, engine_for
from harness.seats.engines.engine import words_of
from harness.seats.engines.magpie_console import MagpieConsole
from harness.seats.engines.magpie_terms import position_cgp, sample_racks
from harness.seats.engines.process import EngineFailed, EngineProcess
from protocol.channel import now_ms
from protocol.parts import TimeControl

RULES = standard_rules()
ALPHABET = RULES.distribution.alphabet
STANDIN = Path(__file__).with_name("magpie_standin.py")
REAL = os.environ.get("TILEWIRE_MAGPIE")
"""A seat's text behind ``magpie:``, with the words of ``scowl``."""


@pytest.fixture
def games(games: EngineGames, tmp_path: Path) -> EngineGames:
    """Return games with data: the lexicon is what the stand-in lists for the racks it is asked."""
    games.dialect, games.program = "magpie", STANDIN
    folder = games.data = tmp_path / "its data"
    (folder / "lexica").mkdir(parents=True)
    board = Board.empty(RULES.layout)
    lines = []
    for word in frozenset().union(*words_of(games.lexicon, tuple(sample_racks(RULES)))):
        place = Place(7, 7, Direction.ACROSS, ALPHABET.tiles(word))
        lines.append(f"8H {word} {score_play(board, place, RULES).score}\n")
    (folder / "lexica" / "scowl.kwg").write_text("".join(sorted(lines)))
    (folder / "lexica" / "CELscowl.kwg").touch()  # the name that it is given, taken by another
    return games


def late(rack: str = "JKQX") -> View:
    """Return a turn with an empty bag."""
    row = "EEEEEEEEEEEEAAAAAAAAAIIIIIIIIIOOOOOOOONNNNNNRRRRRRTTTTTTLLLLSSSSUUUU"
    squares = bytes(ALPHABET.tiles(row + "DDDDGGGBBCCMMPPFFHHVVWW")).ljust(225, b"\0")
    position = opening(rack)
    return view_at(replace(position, board=replace(position.board, squares=squares)), bag=0)


# --- whole games ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "clocks", "outcome", "charged"),
    [
        ("children+noise+shout+deaf", LONG, "zeroes", []),
        ("nonsense", LONG, "illegal", ["not_a_move", "not_a_move", "illegal"]),
        ("mumbles", LONG, "illegal", ["not_a_move", "not_a_move", "illegal"]),
        ("rejects", LONG, "crash", ["crash", "crash"]),
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
    swaps = 4 if fault == "illegal" else 2  # it is asked twice a turn
    seat = games.seat(fault=fault, moves=",".join(["swap"] * swaps))
    faults = await games.check_end(seat, clocks, outcome, charged)
    if fault == "rejects":
        assert "(error 51) rack not available in the bag" in faults[0].message


# --- one turn -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "bag", "limit_ms", "by"),
    [
        ("", 86, 200, "gsim"),
        ("", 86, 20, "generate"),
        ("", 4, 20_000, "gsim"),
        ("", 2, 20_000, "peg"),
        ("drops", 1, 60_000, "peg"),
        ("slow", 0, 100, "endgame"),
        ("few", 86, 200, "generate; gsim found nothing that counts"),
        ("garbled", 86, 200, "generate; gsim listed a line that is not a move"),
        ("garbled", 1, 60_000, "peg"),
        ("fails", 86, 200, "generate; gsim found nothing that counts"),
        ("empty", 1, 60_000, "gsim; peg found nothing that counts"),
        ("tenth", 1, 60_000, "gsim; peg found nothing that counts"),
        ("empty", 0, 200, "generate; endgame found nothing that counts"),
        ("illegal", 0, 200, "endgame"),
    ],
)
async def test_a_turn_is_searched_by_its_phase(
    games: EngineGames, fault: str, bag: int, limit_ms: int, by: str
) -> None:
    engine = games.engine(fault=fault, moves="swap,8D.QQ")
    view = late() if bag == 0 else view_at(opening("AEINRTS"), bag=bag)
    refused = Place(7, 3, Direction.ACROSS, ALPHABET.tiles("Q" * 7))
    try:
        await engine.start(view)
        view = replace(view, refused=(Refusal(refused, "x", "x"),))
        answer = await engine.choose(view, Budget(now_ms() + limit_ms, now_ms() + 60_000))
    finally:
        await engine.close()
    assert isinstance(answer, Choice)
    assert answer.move == Exchange(view.rack[:1])
    assert answer.score == 0
    assert answer.text is not None
    assert "; ".join(part.partition(",")[0] for part in answer.text.split("; ")) == by


async def test_a_search_that_does_not_stop_is_killed_and_an_earlier_move_is_played(
    games: EngineGames, tmp_path: Path
) -> None:
    engine = games.engine(fault="stubborn", once=tmp_path / "once", moves="swap,swap")
    view = view_at(opening("AEINRTS"))
    try:
        await engine.start(view)
        ended = asyncio.create_task(engine.ended())
        answer = await engine.choose(view, Budget(now_ms() + 100, now_ms() + 600))
        assert isinstance(answer, Choice)
        assert answer.move == Exchange(view.rack[:1])
        assert str(answer.text).startswith("generate; gsim was killed, ")
        assert not games.left()
        answer = await engine.choose(view, Budget(now_ms() + 9_000, now_ms() + 60_000))
        assert isinstance(answer, Choice)
        assert str(answer.text).startswith("gsim, ")
        assert not ended.done()
        assert engine.process is not None
        await engine.process.kill()
        assert (await ended).code == "crash"
    finally:
        await engine.close()


async def test_an_endless_answer_is_not_kept(
    games: EngineGames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.seats.engines.magpie_console.MOST_LINES", 1_000)
    it, said = await EngineProcess.start(["yes"], name="it"), list[str]()
    console = MagpieConsole(it)
    with pytest.raises(EngineFailed, match="1,000"):
        await console.ask("generate", 5)
    with pytest.raises(EngineFailed, match="1,000"):
        await console._finished([], now_ms() + 5_000)
    await it.kill()
    console._add_line("x" * 60_000, said)
    assert len(said[0]) == 1_000


async def test_one_that_is_being_killed_when_the_game_ends_is_gone_all_the_same(
    games: EngineGames,
) -> None:
    engine = games.engine()
    await engine.start(view_at(opening("AEINRTS")))
    killing = asyncio.create_task(engine._kill())
    await asyncio.sleep(0)
    killing.cancel()
    await engine.close()
    assert not games.left()


def test_a_position_is_told_without_what_it_does_not_take() -> None:
    rules = load_rules("german")
    position = replace(opening("AEINRTS"), passes=1, scoreless_turns=1, exchanges=(1, 0))
    assert rules.pass_limit < 10
    text = position_cgp(replace(view_at(position), rules=rules))
    assert len(text.split()) == 4
    assert text.endswith(" 1")


def test_once_the_bag_is_empty_the_other_rack_is_told() -> None:
    assert position_cgp(late()).split()[1] == "JKQX/??YYZ"
    assert position_cgp(view_at(opening("AEINRTS"))).split()[1] == "AEINRST/"


# --- before the game ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "query", "why"),
    [
        ("8H EAT 6\n", "", "", "EAT"),
        ("8H EAT 6\n", "8H EAT 6\n8H EAAT 1\n", "", "EAAT"),
        ("8H EAT 6\n", "8H EAT 16\n", "", "EAT"),
        ("", "", "plies=99", r"set up for this: \(error 8\) integer value for plies"),
    ],
)
async def test_other_words_tiles_or_settings_are_found_before_the_game(
    games: EngineGames, old: str, new: str, query: str, why: str
) -> None:
    file = games.data / "lexica" / "scowl.kwg"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    engine = games.engine(query)
    try:
        with pytest.raises(Declined, match=why):
            await engine.start(view_at(opening("AEINRTS")))
    finally:
        await engine.close()


def test_a_board_that_it_lacks_is_refused_before_there_is_a_game(
    games: EngineGames,
) -> None:
    context = Context("engine", "scowl", games.lexicon, rules=load_rules("super"))
    with pytest.raises(SeatError, match="plays on the standard board; name another"):
        engine_for(parse_seat(games.seat()), context)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("lexicon=twl06", r"no file .*twl06\.kwg"),
        ("mode=async", "the seat sets mode itself; leave it out"),
        ("tlim=5", "the seat sets tlim itself; leave it out"),
        ("Plies=5", "no setting of MAGPIE's"),
        ("seed=1 -plies 3", "no setting of MAGPIE's"),
        ("memory=much", "memory .* numbers"),
    ],
)
def test_options_that_make_no_sense_are_named(games: EngineGames, query: str, why: str) -> None:
    with pytest.raises(SeatError, match=why):
        games.engine(query)


def test_program_and_data_have_to_be_there(games: EngineGames) -> None:
    games.data /= "lexica"
    with pytest.raises(SeatError, match="it has no lexica in it"):
        games.engine()
    for seat, why in (("magpie:/no/magpie", "no program"), ("magpie:/bin/sh", "add data=DIR")):
        with pytest.raises(SeatError, match=why):
            engine_for(parse_seat(seat), Context("engine", "scowl", games.lexicon))


# --- the real one ---------------------------------------------------------------------------------


@pytest.mark.skipif(REAL is None, reason="TILEWIRE_MAGPIE names no MAGPIE with the scowl lexicon")
async def test_the_real_one_plays_a_game_without_a_fault(games: EngineGames) -> None:
    time = TimeControl(initial_ms=2_000, ready_ms=60_000)
    seat = engine_seat(f"magpie:{REAL}", games.lexicon)
    book = await play_engine(seat, Passer(), time, games.lexicon, games.folder)
    assert book.ended is not None
    assert (book.ended.outcome, book.ended.winner, book.ended.faults) == ("out", 0, ())
