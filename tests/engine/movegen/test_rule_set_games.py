"""A few games and positions of each rule set; ``tests/rule_set_games.py`` compares more."""

from __future__ import annotations

import pytest
from rule_set_games import FEW, compare

from engine.rules.rule_sets import rule_set_names


@pytest.mark.parametrize("name", rule_set_names())
def test_kernels_play_by_each_rule_set_as_plain_python_does(name: str) -> None:
    found = compare(name, games=4, positions=2)
    assert found.positions == 2
    assert found.turns > 4 * 10


@pytest.mark.parametrize("name", ["english", "german", "polish", "spanish"])
def test_games_of_few_words_end_by_each_rule_set_as_in_plain_python(name: str) -> None:
    found = compare(name, games=20, positions=1, count=FEW)
    assert found.stalled >= 15
    assert found.exchanges >= 40
