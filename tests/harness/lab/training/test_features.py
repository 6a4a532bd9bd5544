"""Learning the weights of the rack heuristic: what games teach, and what comes of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from rollout_positions import scowl

from engine.movegen.evaluation import PLAIN
from engine.movegen.move_codec import unpack
from engine.rules.game import Turn
from engine.rules.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Place
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import play_static_games
from harness.lab.study_context import Field
from harness.lab.training.features import (
    Generation,
    Lesson,
    TrainingPace,
    lessons,
    observe,
    play_sampled_games,
    train_features,
)
from lexicons.alphabet import BLANK_FLAG
from lexicons.leaves import LeaveTable, synthetic_leaves
from lexicons.rack_features import RackWeights, leave_features, leave_table

RULES = standard_rules()
GAMES = 400


@cache
def trained() -> RackWeights:
    return train_features(scowl(), RULES, GAMES, 1, pace=TrainingPace(GAMES // 2, 1))


def test_what_a_turn_teaches() -> None:
    """The slow twin: leaves and equities from positions and moves as values."""
    leaves = synthetic_leaves(RULES.distribution, 1)
    games = play_static_games(scowl(), RULES, leaves, 6, seed=4, record=True, evaluation=PLAIN)
    rows, equities = [], []
    for game in range(6):
        for turn in range(2, int(games.turns[game])):
            if int(games.results.bags[game, turn]) < RULES.rack_size:
                continue
            before = games.position(game, turn - 2, RULES)
            (move,) = unpack(games.results.moves[game, turn - 2 : turn - 1], before.board)
            assert isinstance(move, Place | Exchange)
            kept = Counter(before.racks[turn % 2])
            for tile in move.tiles:
                if isinstance(move, Exchange) or tile != PLAYED_THROUGH:
                    kept[0 if tile & BLANK_FLAG else tile] -= 1
            rows.append([kept[tile] for tile in range(27)])
            equities.append(int(games.results.equities[game, turn]) / 1000)
    turns = observe(games, RULES)
    assert len(rows) > 60
    assert turns.equities.tolist() == equities
    expected = leave_features(np.array(rows), RULES.distribution)
    assert (turns.features[:, :-1] == expected).all()
    assert (turns.features[:, -1] == 1).all()


def test_little_training_is_better_than_none() -> None:
    """In games, and in foretelling games that it did not learn from."""
    table = leave_table(trained(), RULES.distribution)
    games = play_static_games(
        scowl(),
        RULES,
        table,
        200,
        seed=9,
        opponent=LeaveTable.zero(RULES.distribution),
        pairs=True,
        mirrored=True,
        evaluation=PLAIN,
    )
    spread = games.scores[:, 0] - games.scores[:, 1]
    assert np.where(games.begins == 0, spread, -spread).mean() > 5

    turns = observe(
        play_static_games(scowl(), RULES, None, 200, seed=9, record=True, evaluation=PLAIN), RULES
    )
    foretold = turns.features[:, :-1] @ np.array(trained().points)
    off = turns.equities - foretold
    assert np.var(off) < 0.97 * np.var(turns.equities)


def test_the_same_seed_gives_the_same_weights() -> None:
    told: list[Generation] = []
    again = train_features(
        scowl(), RULES, GAMES, 1, told.append, pace=TrainingPace(GAMES // 2, 1), threads=2
    )
    assert again == trained()
    assert [one.games for one in told] == [GAMES // 2, GAMES]
    assert told[0].loss == told[0].spread, "nothing is known at first"
    assert told[1].loss < told[1].spread
    assert str(told[1]).startswith(f"{GAMES} games: squared error ")
    assert again.made == {
        "lexicon": "scowl",
        "lexicon_checksum": scowl().checksum,
        "seed": 1,
        "games": GAMES,
    }


@pytest.mark.parametrize(("games", "generation"), [(0, 1), (1, 0)])
def test_there_is_something_to_learn_from(games: int, generation: int) -> None:
    with pytest.raises(ValueError, match="both must be at least 1"):
        train_features(scowl(), RULES, games, pace=TrainingPace(generation, 1))


def test_games_too_short_to_teach() -> None:
    counts = (2,) * len(RULES.distribution.counts)
    few = replace(RULES, distribution=replace(RULES.distribution, counts=counts))
    games = play_static_games(scowl(), few, None, 2, record=True)
    games.results.bags[:] = 0
    with pytest.raises(ValueError, match="2 games"):
        observe(games, few)


# --- with simulation ----------------------------------------------------------------------------


def test_what_a_sampled_game_teaches() -> None:
    """Places and exchanges with a full rack, but not after a pass, and not near the end."""
    leaves = synthetic_leaves(RULES.distribution, 1)
    (game,) = play_sampled_games(Field(scowl(), RULES, leaves), 1, seed=1, threads=1)
    full = (1, 2, 3, 4, 5, 6, 7)
    place = Place(7, 7, Direction.ACROSS, (2, PLAYED_THROUGH, 1 | BLANK_FLAG))
    drawn = tuple(range(1, 8))

    def turn(number: int, rack: tuple[int, ...], move: Place | Exchange | None) -> Turn:
        used = drawn if isinstance(move, Place) else ()
        return Turn(number % 2, rack, move or PASS, 10 * number, 0, used)

    turns = (
        turn(0, (0, *full[1:]), place),
        turn(1, full, Exchange((6, 7))),
        turn(2, full, Exchange((1, 3))),
        turn(3, full, None),
        turn(4, full, Exchange((1,))),
        turn(5, full, Exchange((1,))),
        turn(6, full[:6], Exchange((1,))),
        *(turn(number, (0, *full[1:]), place) for number in range(7, 30)),
    )
    found = list(lessons(replace(game, turns=turns), leaves))
    assert found[:2] == [
        Lesson((3, 4, 5, 6, 7), 20 + leaves.value((2, 4, 5, 6, 7))),
        Lesson((2, 4, 5, 6, 7), 40 + leaves.value((2, 3, 4, 5, 6, 7))),
    ]
    # 86 tiles are in the bag at first, and each placement takes seven: before turn 18 two are left.
    assert len(found) == 2 + len(range(7, 18))
