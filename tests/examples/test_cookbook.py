"""The bots of ``examples/cookbook.py`` play whole games, and do what they say."""

from __future__ import annotations

import random
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from search_views import Clock, unlimited

from bot.player import Budget, ExchangedCount, Observed, Player, View
from bot.players.static import StaticPlayer
from bot.registry import create_player
from bot.seat_text import parse_seat
from engine.rules.rules import standard_rules
from harness.lab.in_process import play_game
from harness.lab.study_context import Field
from lexicons.store import load_lexicon

FILE = Path(__file__).parents[2] / "examples" / "cookbook.py"
BOTS = {
    "HighestScore": "",
    "BestEquity": "",
    "Defensive": "?cost=5",
    "Lookahead": "?moves=3&racks=2",
    "Simulating": "?candidates=3&iterations=4",
    "Watchful": "?moves=3&racks=2",
}
OPEN = "15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15 AEINST?/ 0/0 0"


@pytest.fixture(scope="module")
def field() -> Field:
    return Field.of(load_lexicon(), standard_rules())


def player(seat: str) -> Player:
    return create_player(parse_seat(f"{FILE}:{seat}"))


def test_these_are_all_of_them() -> None:
    made = runpy.run_path(str(FILE))
    players = {
        name for name, one in made.items() if isinstance(one, type) and Player in one.__mro__
    }
    assert players - {"Player"} == set(BOTS)


@pytest.mark.parametrize("name", BOTS)
def test_it_plays_a_whole_game(name: str, field: Field) -> None:
    game = play_game((player(f"{name}{BOTS[name]}"), StaticPlayer()), field, b"cookbook")
    assert game.over is not None
    assert sum(turn.score for turn in game.turns if turn.seat == 0) > 200


def test_the_first_two_are_ours_in_few_lines() -> None:
    view = View.from_cgp(OPEN)
    score = player("HighestScore").choose(view, unlimited())
    assert score.score == max(one.score for one in view.legal_moves())
    choice = player("BestEquity").choose(view, unlimited())
    assert choice.move == StaticPlayer().choose(view, unlimited()).move
    assert len(choice.candidates) == 5
    assert choice.text is not None
    assert choice.text.startswith("keeps ")


def test_it_does_not_open_a_triple_word_square() -> None:
    view = View.from_cgp("15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15 CEEGHIR/ 0/0 0")
    made = runpy.run_path(str(FILE))["Defensive"]
    careless, careful = made(0.0), made(100.0)
    opens = [bot.opened(view, bot.choose(view, unlimited()).move) for bot in (careless, careful)]
    assert opens[0] > 0 == opens[1]
    assert careful.opened(view, view.move("G8 .ICE")) == 0
    assert careful.opened(view, view.move("H8 .IGHER")) == 1, "15H"


def test_looking_ahead_ends_with_the_time() -> None:
    view = View.from_cgp(OPEN)
    none = player("Lookahead").choose(view, Budget(0, clock=Clock()))
    assert none.text == "no time to look ahead"
    assert none.move == view.ranked_moves(1)[0].move
    some = Budget(20, clock=Clock(1))
    found = player("Lookahead?moves=4&racks=1000").choose(view, some)
    assert found == some.best
    assert found.text == "4 racks"


def test_the_watchful_one_remembers_an_exchange() -> None:
    made = runpy.run_path(str(FILE))["Watchful"]
    view, bot = View.from_cgp(OPEN), made(3, 2)
    play = Observed(1, 1, ExchangedCount(2), 0, (0, 0), view.bag, 0)
    bot.observe(view, play)
    assert bot.kept == 5
    worth = {}
    for kept in (0, 6):
        bot.kept = kept
        racks = [bot.guess(view, random.Random(seed)) for seed in range(60)]
        assert {len(rack) for rack in racks} == {7}
        worth[kept] = sum(view.leave_value(rack[:6]) for rack in racks)
    assert worth[6] > worth[0]
    bot.observe(view, replace(play, move=view.move("-")))
    assert bot.kept == 0
