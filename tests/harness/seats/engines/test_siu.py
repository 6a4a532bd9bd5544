"""An SIU engine as a seat: what it is told, what is made of what it says, and what it must be."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from engine_games import HASTY, EngineGames
from msgspec.structs import replace as replace_field
from search_views import opening, view_at

from bot.player import Budget, Considered, ExchangedCount, Observed, View
from bot.registry import SeatError
from bot.seat.offers import Declined
from bot.seat_text import parse_seat
from bot.siu.position import read_position
from bot.siu.settings import SiuSettings
from engine.notation.cgp import read_cgp
from engine.notation.move_text import parse_move
from engine.rules.moves import PASS, Exchange, Place
from engine.rules.position import Board, Position
from engine.rules.rule_sets import load_rules
from engine.rules.rules import standard_rules
from harness.seats.engines import Context, engine_for
from harness.seats.engines.engine import EngineChoice
from harness.seats.engines.process import EngineFailed, EngineProcess
from harness.seats.engines.siu import SiuEngine
from harness.seats.engines.siu_terms import SearchResults, game_so_far, score_error, trial
from protocol.channel import now_ms
from protocol.siu.answers import InfoGen

RULES = standard_rules()
ALPHABET = RULES.distribution.alphabet
VIEW = view_at(opening("AEINRST"), time=HASTY)
EMPTY = "/".join(["15"] * 15)
HOUSE = "15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15 / 20/5 1"


def tiles(text: str) -> tuple[int, ...]:
    return tuple(sorted(ALPHABET.tiles(text)))


async def answered(it: SiuEngine, seen: View, budget: Budget) -> EngineChoice:
    """Let it get ready, answer one question, and end."""
    try:
        await it.start(seen)
        choice = await it.choose(seen, budget)
        assert isinstance(choice, EngineChoice)
        return choice
    finally:
        await it.close()


def in_ms(plan: int, last: int) -> Budget:
    return Budget(now_ms() + plan, now_ms() + last)


# --- what it is told ------------------------------------------------------------------------------


async def test_the_conversation_up_to_the_first_move(games: EngineGames) -> None:
    query = f"style=wild&Clear%20Hash=&folder={games.folder}"
    engine = games.engine(query, log=games.log.name)
    answer = await answered(engine, VIEW, in_ms(60_000, 90_000))
    assert answer == EngineChoice(PASS)
    *opening, go = games.heard()
    assert opening == [
        "siu",
        "setoption name Style value wild",
        "setoption name Clear Hash",
        "setoption name Lexicon value scowl",
        "setoption name Threads value 2",
        "isready",
        "siunewgame",
        "isready",
        f"position cgp {EMPTY} AEINORT/ 0/0 0",
        "go gen",
        f"position cgp {EMPTY} / 0/0 0 moves rack.AEINRST",
        "isready",
    ]
    assert go.startswith("go auto movetime ")


def test_the_whole_game_is_in_the_question(games: EngineGames) -> None:
    board, history = Board.empty(RULES.layout), []
    turns: tuple[str | ExchangedCount, ...] = ("8G WE", "-AE", ExchangedCount(2), "G8 (W)aS", "-")
    for number, turn in enumerate(turns):
        move = parse_move(turn, board, ALPHABET) if isinstance(turn, str) else turn
        history.append(Observed(number + 1, number % 2, move, 0, (0, 0), 80, 0))
        board = board.with_move(move) if isinstance(move, Place) else board
    position = Position(board, ((), tiles("AEINRST")), (10, 6), on_turn=1)
    seen = replace(VIEW, seat=1, position=position, history=tuple(history))
    held = {2: tiles("AEIIIII"), 4: tiles("?STUVWX")}
    moves = "8G.WE ex.AE.AEIIIII ex.2 G8.WaS.?STUVWX pass rack.AEINRST"
    begun = Position(Board.empty(RULES.layout), ((), ()), (0, 0))
    assert game_so_far(seen, begun, held).line() == f"position cgp {EMPTY} / 0/0 0 moves {moves}"
    assert "moves 8G.WE ex.AE ex.2 G8.WaS pass rack.AEINRST" in game_so_far(seen, begun, {}).line()


def test_a_game_that_begins_in_a_position_is_told_from_there() -> None:
    begun = read_cgp(HOUSE, RULES)
    move = parse_move("F7 O.", begun.board, ALPHABET)
    assert isinstance(move, Place)
    after = replace(begun, board=begun.board.with_move(move), racks=((), tiles("AEINRST")))
    turn = Observed(1, 0, move, 2, (22, 5), 80, 0)
    seen = replace(VIEW, seat=1, position=replace(after, on_turn=1), history=(turn,))
    line = game_so_far(seen, begun, {}).line()
    assert line == f"position cgp {HOUSE} moves F7.OU rack.AEINRST"


async def test_it_is_told_how_long_to_search_and_then_to_stop(games: EngineGames) -> None:
    answer = await answered(games.engine(fault="until-stop"), VIEW, in_ms(20, 60_000))
    assert games.heard()[-2].startswith("go auto movetime ")
    assert 1 <= int(games.heard()[-2].split()[-1]) <= 20
    assert games.heard()[-1] == "stop"
    no = parse_move("8D NO", Board.empty(RULES.layout), ALPHABET)
    assert answer.candidates == (
        Considered(PASS, win=0.612, win_error=0.005, equity=7.1, equity_error=1.1, samples=400),
        Considered(no, win_error=0.001, equity=1.0, equity_error=1.0, samples=3),
    )


async def test_a_long_start_ends_before_the_time_to_get_ready(games: EngineGames) -> None:
    it = games.engine("start=60", fault="hang-start")
    hasty = replace(VIEW, time=replace_field(HASTY, ready_ms=2_000))
    try:
        with pytest.raises(EngineFailed, match=r"siuok .*start=.* in [01](\.\d)? s"):
            await it.start(hasty)
    finally:
        await it.close()


async def test_half_a_move_is_no_move(games: EngineGames) -> None:
    it = games.engine()
    it.process = await EngineProcess.start(["printf", "bestmove 8D.CAT"], name="it")
    with pytest.raises(EngineFailed, match="exit status 0"):
        await it._best_within(60, SearchResults())
    await it.close()


async def test_of_endless_moves_some_are_kept(
    games: EngineGames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.seats.engines.siu_terms.MOST_MOVES", 2)
    it, found = games.engine(), SearchResults()
    moves = ("8D.AT", 1), ("8D." + "A" * 9_000, 1), ("8D.TA", 1), ("8D.AA", 1), ("8D.AT", 2)
    lines = (f"info gen move {move} score {score} eq 1 leave" for move, score in moves)
    it.process = await EngineProcess.start(["printf", "%s\n", *lines, "bestmove pass"], name="it")
    await it._best_within(60, found)
    assert [(it.move, it.score) for it in found._generated.values()] == [("8D.AT", 2), ("8D.TA", 1)]
    await it.close()


def test_the_arbiter_reads_a_faulty_placement_and_never_takes_it() -> None:
    seen = view_at(read_cgp(HOUSE, RULES), time=HASTY)
    for said, taken in (
        ("8D.HATES", "8D HATES"),  # A isn't what lies there
        (".-", ".-"),
        ("ex.5.6.7", "ex 5"),
        ("A1.AT.N1", "A1.AT.N1"),
    ):
        assert SearchResults().answer(said, seen) == taken


async def test_a_move_in_our_terms_is_refused_with_the_engines_form(games: EngineGames) -> None:
    book = await games.play(games.seat(moves="8D HOUSE"))
    assert "8D.HOUSE" in book.evidence[0].splitlines()[0]


async def test_of_endless_options_and_complaints_some_are_kept(
    games: EngineGames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.seats.engines.siu.MOST_OPTIONS", 2)
    monkeypatch.setattr("harness.seats.engines.siu.MOST_FAULTS", 2)
    it = games.engine()
    options = [f"option name {name} type button" for name in "abc"]
    capabilities = [f"capability {name}" for name in ("gen", "sim", "auto")]
    for line in (*options, *capabilities):
        it._introduced(line)
    assert list(it._options) == ["a", "b"]
    assert it._capabilities == {"gen", "sim"}
    complaints = [f"info string error {name}" for name in ("e1", "e2", "e3")]
    it.process = await EngineProcess.start(["printf", "%s\n", *complaints, "readyok"], name="it")
    assert [fault.code for fault in await it._ready(60)] == ["e2", "e3"]
    await it.close()


@pytest.mark.parametrize(("plan", "last", "most"), [(90, 100, 75), (5_000, 1_000, 800), (0, 0, 1)])
async def test_an_answer_has_to_be_there_before_the_last_moment(
    games: EngineGames, plan: int, last: int, most: int
) -> None:
    await answered(games.engine(), VIEW, in_ms(plan, last))
    (go,) = [line for line in games.heard() if line.startswith("go auto movetime ")]
    assert 1 <= int(go.split()[-1]) <= most


async def test_a_search_that_was_given_up_is_ended_before_the_next(games: EngineGames) -> None:
    it, seen = games.engine(fault="until-stop", moves="pass,swap"), VIEW
    await it.start(seen)
    first = asyncio.create_task(it.choose(seen, in_ms(60_000, 90_000)))
    while not games.heard()[-1].startswith("go auto"):  # noqa: ASYNC110 - a file calls nobody
        await asyncio.sleep(0.005)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    answer = await it.choose(seen, in_ms(1, 60_000))
    await it.close()
    assert isinstance(answer, EngineChoice)
    assert answer.move == Exchange(tiles("A"))
    said = [line for line in games.heard() if line in ("stop", "isready")]
    assert said[-3:] == ["stop", "isready", "stop"]


# --- what it must be ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "told", "rules", "code", "says"),
    [
        ("", {"lexicon": "CSW24"}, "english", "unknown_lexicon", "'CSW24'"),
        ("", {"fault": "no-lexicon"}, "english", "unknown_lexicon", "no lexicon of that name"),
        ("Book=x", {}, "english", "unsupported_option", "'Book'"),
        ("Style=mad", {}, "english", "unsupported_option", "'mad'"),
        ("Threads=9", {}, "english", "unsupported_option", "Threads"),
        ("mode=sim", {"capability": "auto gen"}, "english", "unsupported_option", "'go sim'"),
        ("", {"capability": "infer"}, "english", "unsupported_option", "'go auto | sim | gen'"),
        ("", {}, "french", "unsupported_rules", "no option LetterDistribution.* tiles french"),
        ("", {"tiles": "english,german"}, "french", "unsupported_rules", "LetterDistribution"),
        ("", {"tiles": "english-super"}, "super", "unsupported_rules", "rules super: .* 8G.AE"),
    ],
)
async def test_what_an_engine_can_not_play_is_found_before_the_game(
    games: EngineGames, query: str, told: dict[str, str], rules: str, code: str, says: str
) -> None:
    it = games.engine(query, **told)
    with pytest.raises(Declined, match=says) as found:
        await it.start(replace(VIEW, rules=load_rules(rules)))
    await it.close()
    assert found.value.code == code


def test_the_rules_are_in_the_question() -> None:
    begun = Position(Board.empty(RULES.layout), ((), ()), (0, 0))
    spanish = load_rules("spanish")
    told = game_so_far(replace(VIEW, rules=spanish), begun, {})
    assert f"{EMPTY} / 0/0 0 ld spanish; bb 50; etl 1; mcnz 12; moves" in told.line()
    assert read_position(told, SiuSettings()).rules == spanish
    larger = replace(load_rules("super"), scoreless_limit=4)
    told = trial(larger)
    assert told.cgp.endswith("ld english-super; bdn super; bb 50; etl 7; mcnz 4;")
    assert read_position(told, SiuSettings()).rules == larger
    for limited in (replace(RULES, pass_limit=2, exchange_limit=0), replace(spanish, pass_limit=9)):
        assert read_position(trial(limited), SiuSettings()).rules == limited


def test_a_score_on_an_empty_board_tells_board_and_tiles() -> None:
    assert score_error(InfoGen("8G.AE", 4, 4.0, ""), RULES) == []
    (why,) = score_error(InfoGen("8G.AE", 5, 5.0, ""), RULES)
    assert why == "it gives 8G.AE 5 points, not 4"
    assert score_error(InfoGen("ex.AE", 0, 4.0, ""), RULES) == []


def test_a_rack_size_of_its_own_is_refused_before_there_is_a_game(games: EngineGames) -> None:
    context = Context("engine", "scowl", games.lexicon, rules=replace(RULES, rack_size=6))
    with pytest.raises(SeatError, match="7 tiles"):
        engine_for(parse_seat(games.seat()), context)


@pytest.mark.parametrize(
    "told",
    [
        {"lexicon": "other"},
        {"lexicon": "", "early": "other"},
        {"early": "other", "capability": "sim"},
    ],
)
async def test_a_game_for_other_words_is_declined_with_the_reason(
    games: EngineGames, told: dict[str, str]
) -> None:
    book = await games.play(games.seat(**told))
    assert book.ended is not None
    assert (book.ended.outcome, book.ended.winner) == ("no_show", 1)
    assert "'other'" in book.ended.message
    assert "Lexicon=other" in book.ended.message, "it has that option"


@pytest.mark.parametrize(
    ("query", "told", "goes"),
    [
        ("Lexicon=CSW24", {"lexicon": "/data/csw24.kwg"}, "go auto"),  # the same, by its own name
        ("", {"lexicon": ""}, "go auto"),  # it does not say
        ("", {"lexicon": "other", "capability": "sim"}, "go sim"),  # it can't be asked
        ("mode=gen", {}, "go gen"),
    ],
)
async def test_an_engine_that_will_do(
    games: EngineGames, query: str, told: dict[str, str], goes: str
) -> None:
    await answered(games.engine(query, **told), VIEW, in_ms(60_000, 90_000))
    assert games.heard()[-1].startswith(goes)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("mode=infer", "'infer'"),
        ("start=soon", "'soon'"),
        ("start=inf", "not 'inf'"),
        ("memory=lots", "memory .*are numbers"),
        ("Book=a%0Aquit", "'Book'"),
        ("folder=/nowhere", "/nowhere"),
        ("log=no", "log is yes"),
    ],
)
def test_options_that_make_no_sense(games: EngineGames, query: str, says: str) -> None:
    with pytest.raises(SeatError, match=says):
        games.engine(query)
