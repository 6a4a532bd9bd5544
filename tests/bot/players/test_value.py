"""``ValuePlayer``: which net it plays by, and that it makes legal moves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from positions import game_positions
from rollout_positions import RULES, scowl
from search_views import unlimited, view_at
from value_reference import random_net

from bot.player import Refusal
from bot.players.value import ValuePlayer
from engine.movegen.generator import Generator
from engine.movegen.position_value import PositionValue
from engine.rules.rule_sets import load_rules
from lexicons.tables import leaves_for
from lexicons.value_net import write_value_net

NET = random_net(RULES, scowl())


@pytest.fixture
def written(tmp_path: Path) -> str:
    path = tmp_path / "net.npz"
    write_value_net(path, NET)
    return str(path)


def test_it_plays_what_is_worth_most(written: str) -> None:
    player = ValuePlayer(net=written, among="10")
    player.warm_up(scowl(), RULES)
    generator = Generator(scowl(), RULES, leaves_for(RULES.distribution))
    for position in game_positions(scowl(), RULES, 4, 5):
        first, second = PositionValue(generator, NET).best(position, 2, among=10)
        view = view_at(position)
        choice = player.choose(view, unlimited())
        assert (choice.move, choice.equity) == (first.move, first.equity / 1000)
        refused = replace(view, refused=(Refusal(first.move, "not_a_word", "no word"),))
        assert player.choose(refused, unlimited()).move == second.move


def test_a_net_of_other_words_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    write_value_net(path, replace(NET, lexicon_checksum="0" * 64))
    with pytest.raises(ValueError, match="trained on other words than scowl has"):
        ValuePlayer(net=str(path)).warm_up(scowl(), RULES)


def test_a_net_of_other_tiles_is_refused(written: str) -> None:
    polish = load_rules("polish")
    with pytest.raises(ValueError, match="for other tiles than polish"):
        ValuePlayer(net=written).warm_up(scowl(), polish)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no value net nowhere\.npz"):
        ValuePlayer(net="nowhere.npz").warm_up(scowl(), RULES)


def test_options_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="among"):
        ValuePlayer(net="net.npz", among="0")
