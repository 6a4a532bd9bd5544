"""``vanilla`` and ``rh``, and that kernels play as they do."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from search_views import view_of

from bot.player import Budget, Choice, Player, View
from bot.players.cs221 import rh, vanilla
from bot.players.static import GreedyPlayer
from bot.registry import SeatError, create_player, known_bots
from bot.seat_text import parse_seat
from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import legal_moves
from engine.movegen.move_codec import unpack
from engine.rules.moves import Place
from engine.rules.rules import Rules
from engine.simulation.selfplay import play_static_games
from lexicons.alphabet import Alphabet
from lexicons.leaves import LeaveTable
from lexicons.rack_features import (
    RackWeights,
    leave_table,
    shipped_rack_weights,
    write_rack_weights,
)
from lexicons.store import Lexicon


def choice_of(player: Player, view: View) -> Choice:
    return player.choose(view, Budget(10**15))


def test_vanilla_takes_the_first_of_the_highest_score(lexicon: Lexicon, rules: Rules) -> None:
    """``legal_moves`` lists by score and then in the order of packed moves."""
    for rack in ("AEINRTS", "?VVOGII", "QUEENLY", "VVCGCGQ"):
        view = view_of(lexicon, rules, rack)
        first = legal_moves(view.position, lexicon, rules)[0]
        choice = choice_of(vanilla(), view)
        assert (choice.move, choice.score) == (first.move, first.score)
        assert choice.score == choice_of(GreedyPlayer(), view).score


def test_rh_weighs_score_and_features(lexicon: Lexicon, rules: Rules, tmp_path: Path) -> None:
    letters = rules.distribution.alphabet.letters
    loves_q = dict.fromkeys(letters, 0.0) | {"Q": 300.0}
    path = tmp_path / "rack.json"
    write_rack_weights(path, RackWeights(letters, (*loves_q.values(), 0.0, 0.0, 0.0, 0.0)))
    view = view_of(lexicon, rules, "QUEENLY")
    player = create_player(parse_seat(f"rh?weights={path}"))
    player.warm_up(lexicon, rules)
    choice = choice_of(player, view)
    assert isinstance(choice.move, Place)
    assert 17 not in choice.move.tiles
    assert choice.equity == (choice.score or 0) + 300
    given = replace(view, leaves=LeaveTable.zero(rules.distribution))
    assert choice_of(player, given) == choice, "a leave table makes no difference"


@pytest.mark.parametrize("name", ["vanilla", "rh"])
def test_kernels_play_as_the_players_do(lexicon: Lexicon, rules: Rules, name: str) -> None:
    """The experiments play whole games in kernels with the same table and no adjustment."""
    table = leave_table(shipped_rack_weights(), rules.distribution) if name == "rh" else None
    games = play_static_games(lexicon, rules, table, 8, seed=2, record=True, evaluation=PLAIN)
    player = create_player(parse_seat(name))
    view = view_of(lexicon, rules, "")
    chance = random.Random(1)
    for game in range(8):
        for turn in chance.sample(range(int(games.turns[game])), 6):
            position = games.position(game, turn, rules)
            (move,) = unpack(games.results.moves[game, turn : turn + 1], position.board)
            now = replace(view, seat=position.on_turn, position=position)
            assert choice_of(player, now).move == move


def test_seats_of_the_new_players(tmp_path: Path) -> None:
    assert {"rh", "vanilla"} <= known_bots().keys()
    with pytest.raises(SeatError, match="it takes none"):
        parse_seat("vanilla?weights=x")
    with pytest.raises(SeatError, match=r"'/nowhere/x\.json'"):
        create_player(parse_seat("rh?weights=/nowhere/x.json"))
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(SeatError, match=rf"{re.escape(str(tmp_path))}/x\.json: no rack weights"):
        create_player(parse_seat(f"rh?weights={tmp_path}/x.json"))


def test_weights_for_other_letters_are_refused_before_the_game(
    lexicon: Lexicon, rules: Rules
) -> None:
    other = Alphabet(("?", "A", "B"), ("?", "a", "b"))
    distribution = replace(
        rules.distribution, alphabet=other, counts=(1, 5, 5), points=(0, 1, 2), vowels=(False,) * 3
    )
    with pytest.raises(ValueError, match="are for other letters than those of english"):
        rh().warm_up(lexicon, replace(rules, distribution=distribution))
