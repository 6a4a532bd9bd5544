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

from bot.player import Budget, Choice, Considered, Refusal, View
from bot.registry import SeatError
from bot.seat.offers import Declined
from bot.seat_text import parse_seat
from engine.notation.cgp import read_cgp
from engine.notation.move_text import NotationError, format_move, parse_move
from engine.rules.moves import PASS, Direction, Exchange, Move, Place
from engine.rules.position import Board
from engine.rules.rule_sets import load_rules
from engine.rules.rules import score_play, standard_rules
from harness.seats.engines import Context, engine_for
from harness.seats.engines.engine import words_of
from harness.seats.engines.magpie_console import MagpieConsole
from harness.seats.engines.magpie_terms import (
    parse_magpie_endgame,
    parse_magpie_generated,
    parse_magpie_move,
    parse_magpie_preendgame,
    parse_magpie_simulated,
    position_cgp,
    sample_racks,
)
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


def test_program_data_and_board_have_to_be_what_it_can(games: EngineGames) -> None:
    other = Context("engine", "scowl", games.lexicon, rules=load_rules("super"))
    with pytest.raises(SeatError, match="plays on the standard board"):
        engine_for(parse_seat(games.seat()), other)
    games.data /= "lexica"
    with pytest.raises(SeatError, match="it has no lexica in it"):
        games.engine()
    for seat, why in (("magpie:/no/magpie", "no program"), ("magpie:/bin/sh", "add data=DIR")):
        with pytest.raises(SeatError, match=why):
            engine_for(parse_seat(seat), Context("engine", "scowl", games.lexicon))


# --- moves and lines as it prints them ------------------------------------------------------------

ON_BOARD = read_cgp(f"{'15/' * 7}7fARO4{'/15' * 7} / 0/0 0", RULES).board


def placed(text: str) -> Move:
    return parse_move(text, ON_BOARD, ALPHABET)


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("8E INT(fARO)", "8E INT...."),
        ("8H (fARO)s", "8H ....s"),
        ("K5 VIV(O)", "K5 VIV."),
        ("I6 UV(A)", "I6 UV."),
        ("9G (?)", None),
        ("K5 VIV(A)", None),
        ("(exch IUVV)", "-IUVV"),
        ("(exch ?Q)", "-?Q"),
        ("(exch )", None),
        ("pass", "-"),
        ("PASS", None),
        ("8P WORD", None),
        ("99A WORD", None),
        ("8D", None),
        ("", None),
    ],
)
def test_a_move_means_what_it_means_with_us(text: str, ours: str | None) -> None:
    if ours is None:
        with pytest.raises(NotationError):
            parse_magpie_move(text, ON_BOARD, ALPHABET)
    else:
        assert format_move(parse_magpie_move(text, ON_BOARD, ALPHABET), ALPHABET) == ours


def test_a_column_is_found_whether_or_not_there_is_a_leave() -> None:
    vac = "5:  I7 V(A)C       IIUUV 15 - 39.31 2.0625 -4.55 5.3213 -17.88 23 26.26 19.83 8.70"
    numbers = {"win": 0.3931, "win_error": 0.020625, "equity": -4.55, "equity_error": 5.3213}
    read = parse_magpie_simulated(vac, ON_BOARD, ALPHABET)
    assert read == Considered(placed("I7 V.C"), score=15, samples=23, **numbers)
    all_tiles = (
        "10: (exch CIIUUVV)       0  X 100.00 -nan 3.72  inf 0.00   12 41.79 25.07 29.17 39.08 1 2"
    )
    seven = Exchange(ALPHABET.tiles("CIIUUVV"))
    assert parse_magpie_simulated(all_tiles, ON_BOARD, ALPHABET) == Considered(
        seven, score=0, win=1.0, equity=3.72, samples=12
    )
    x_is_left = "1: K8 (O)X X 9 - 0.00 0.0000 -5.00  0.0000 3.00  1"
    numbers = {"win": 0.0, "win_error": 0.0, "equity": -5.0, "equity_error": 0.0}
    read = parse_magpie_simulated(x_is_left, ON_BOARD, ALPHABET)
    assert read == Considered(placed("K8 .X"), score=9, samples=1, **numbers)
    for line, move, score, equity in (
        ("4:   K5 VIV(O)      CIUU 20 -0.68 ", placed("K5 VIV."), 20, -0.68),
        ("1:   (exch CIIUUVV)      0  0.00  ", seven, 0, 0.0),
        ("15:  pass           ABC  0  -1000.00", PASS, 0, -1000.0),
    ):
        assert parse_magpie_generated(line, ON_BOARD, ALPHABET) == Considered(
            move, score=score, equity=equity
        )


def test_solvers_print_tables_of_their_own() -> None:
    for line, win, samples in (
        ("   2  K5 VIV(O)      64     6     2  93.1   +13.9  ", 67 / 72, 72),
        ("2-ply      1  K5 VIV(O)    0     0     8   0.0   -32.0  1.0s  always loses", 0.0, 8),
        ("   1  K5 VIV(O)       0     0     0  -100.0    +0.0  ", None, 0),
    ):
        assert parse_magpie_preendgame(line, ON_BOARD, ALPHABET) == Considered(
            placed("K5 VIV."), win=win, samples=samples
        )
    for line, score in (
        ("K5 VIV(O) 25  -5 -1 K1 Ca(R)TE 18 (AABE +12) ", 25),
        ("K5 VIV(O) 20 (AABE +12) 32 3 ", 20),
        ("K5 VIV(O) 30     5 5 | 6F (JOLE)s 17 (AERR +8) ", 30),
    ):
        read = parse_magpie_endgame(line, ON_BOARD, ALPHABET)
        assert read == Considered(placed("K5 VIV."), score=score)
    passed = parse_magpie_endgame("pass           -5 -1 K1 VOID 9", ON_BOARD, ALPHABET)
    assert passed == Considered(PASS)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Showing 15 of 100 plays",
        "Iters:     440     ",
        "Play          V  S  Turn 2   ",
        "rank  move       wins  ties  loss    win%  spread  ",
        "stage  fidelity  cands    best win%  time  ",
        "0      greedy    318/318  94.4%      1.7s  ",
        "Endgame (depth: 7, time: 1.786s, status: finished)",
        "8 weighted bag orderings (6 unique)",
        f"1: K5 VIV(O) 5 {'9' * 5_000}",
        "finished generate",
        "1: ",
    ],
)
def test_other_lines_say_no_move(line: str) -> None:
    of_searches = parse_magpie_simulated, parse_magpie_preendgame, parse_magpie_endgame
    for parse in (parse_magpie_generated, *of_searches):
        assert parse(line, ON_BOARD, ALPHABET) is None


def test_a_line_with_something_else_for_a_move_is_refused() -> None:
    for line in ("1: VIV CIUU 20 1.00", "1: K5 VIV(O) CI UU 20 1.00", "1: ??? 0 0.0"):
        with pytest.raises(NotationError):
            parse_magpie_generated(line, ON_BOARD, ALPHABET)


# --- the real one ---------------------------------------------------------------------------------


@pytest.mark.skipif(REAL is None, reason="TILEWIRE_MAGPIE names no MAGPIE with the scowl lexicon")
async def test_the_real_one_plays_a_game_without_a_fault(games: EngineGames) -> None:
    time = TimeControl(initial_ms=2_000, ready_ms=60_000)
    seat = engine_seat(f"magpie:{REAL}", games.lexicon)
    book = await play_engine(seat, Passer(), time, games.lexicon, games.folder)
    assert book.ended is not None
    assert (book.ended.outcome, book.ended.winner, book.ended.faults) == ("out", 0, ())
