"""Positions of static games: where they come from, and of what kinds they are."""

from __future__ import annotations

from bot.player import ExchangedCount
from engine.rules.moves import PASS, Exchange, Place
from engine.rules.position import bag_count
from engine.rules.rule_sets import load_rules
from engine.rules.rules import check_move
from engine.simulation.selfplay import play_static_games
from harness.lab.positions import situation, situation_in_play, varied_situations
from harness.lab.study_context import Field

# --- positions ------------------------------------------------------------------------------------


def test_a_position_is_where_its_turns_lead(field: Field) -> None:
    games = play_static_games(field.lexicon, field.rules, field.leaves, 3, seed=4, record=True)
    for game in range(3):
        last = int(games.turns[game]) - 1
        whole = situation(games, game, last, field.rules)
        for turn in range(last):
            before = situation(games, game, turn, field.rules)
            taken = whole.turns[turn]
            assert not isinstance(taken.move, ExchangedCount)
            play = check_move(
                before.position, taken.move, field.rules, field.lexicon.graph.contains, before.bag
            )
            assert taken.score == (play.score if play else 0)
            after = situation(games, game, turn + 1, field.rules)
            assert after.position.scores == taken.scores
            assert after.bag == taken.bag == bag_count(after.position, field.rules)
            scoreless = 0 if play else before.position.scoreless_turns + 1
            assert after.position.scoreless_turns == scoreless
            assert before.turns == whole.turns[:turn]


def test_positions_in_play_have_a_bag_and_a_game_each(field: Field) -> None:
    found = [situation_in_play(field, 5, number) for number in range(12)]
    assert all(one.bag > 0 for one in found)
    assert len({one.position for one in found}) == 12
    again = situation_in_play(field, 5, 11)
    assert again == found[11]
    other = situation_in_play(field, 6, 11)
    assert other != found[11]


def test_positions_in_play_may_have_more_in_the_bag_than_the_usual_set(field: Field) -> None:
    big = Field.of(field.lexicon, load_rules("super"))
    bags = [situation_in_play(big, 5, number).bag for number in range(12)]
    assert min(bags) < 100 < max(bags)


def test_varied_positions(field: Field) -> None:
    found = varied_situations(field, 100, 1)
    assert len(found) == 100
    assert any(one.bag == 0 for one in found)
    assert any(0 < one.bag < 7 for one in found)
    generator = field.generator()
    for one in found[::20]:
        (only,) = generator.best(one.position, 2)
        assert one.bag == 0 or only.move == PASS
    kinds = {type(turn.move) for one in found for turn in one.turns}
    assert kinds >= {Place, Exchange}
