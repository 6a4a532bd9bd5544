"""Position values: sums that follow the board are those of the position, and moves are ranked."""

from __future__ import annotations

import pytest
import value_reference
from positions import game_positions
from rollout_positions import scowl
from value_reference import random_net

from engine.movegen.generator import Generator, RankedMove
from engine.movegen.position_value import PositionValue
from engine.rules.moves import Place
from engine.rules.position import Position, bag_count, unseen
from engine.rules.rule_sets import load_rules
from engine.rules.rules import standard_rules
from lexicons.formula_leaves import formula_leaves
from lexicons.value_net import UNIT, VALUE, ValueNet

RULES = standard_rules()
NET = random_net(RULES, scowl())
LEAVES = formula_leaves(RULES.distribution)


def ranking() -> PositionValue:
    return PositionValue(Generator(scowl(), RULES, LEAVES), NET)


def worth(position: Position, candidate: RankedMove, net: ValueNet) -> float:
    """Give score, leave and value of a move, in points, by a board of its own."""
    hidden = unseen(position, position.on_turn, RULES)
    bag, move = bag_count(position, RULES), candidate.move
    board, scoreless = position.board, position.scoreless_turns + 1
    if isinstance(move, Place):
        placed = len(position.racks[position.on_turn]) - len(candidate.leave)
        board, bag, scoreless = board.with_move(move), max(bag - placed, 0), 0
    seen = value_reference.see(board, candidate.leave, hidden, bag, scoreless, RULES, scowl())
    value = value_reference.outputs(net, seen)[VALUE] * UNIT
    return candidate.score + LEAVES.value(candidate.leave) + float(value)


@pytest.mark.parametrize("seed", range(6))
def test_moves_are_ranked_by_what_they_lead_to(seed: int) -> None:
    """Each after its own move was made and those before it were taken back."""
    for position in game_positions(scowl(), RULES, seed, 6, blanks=seed % 2):
        if not bag_count(position, RULES):
            continue
        generator = Generator(scowl(), RULES, LEAVES)
        expected = {
            candidate.move: worth(position, candidate, NET)
            for candidate in generator.best(position, 12)
        }
        ranked = PositionValue(generator, NET).best(position, 12, among=12)
        assert {candidate.move for candidate in ranked} == set(expected)
        for candidate in ranked:
            assert candidate.equity / 1000 == pytest.approx(expected[candidate.move], abs=0.02)
        equities = [candidate.equity for candidate in ranked]
        assert equities == sorted(equities, reverse=True)


def test_without_tiles_in_the_bag_moves_are_ranked_by_equity() -> None:
    position = game_positions(scowl(), RULES, 3, 20)[-2]
    assert not bag_count(position, RULES)
    plain = Generator(scowl(), RULES, LEAVES).best(position, 5)
    assert ranking().best(position, 5, among=5) == plain


def test_a_position_without_a_move_is_passed() -> None:
    position = Position.empty(RULES.layout)
    (only,) = ranking().best(position.with_rack(0, ()))
    assert only.score == 0


def test_a_net_of_other_tiles_or_another_board_is_refused() -> None:
    polish = load_rules("polish")
    net = random_net(polish, scowl())
    with pytest.raises(ValueError, match="for other tiles than english"):
        PositionValue(Generator(scowl(), RULES, LEAVES), net)
    big = load_rules("super")
    with pytest.raises(ValueError, match="for other tiles than"):
        PositionValue(Generator(scowl(), RULES, LEAVES), random_net(big, scowl()))
