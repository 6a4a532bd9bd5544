"""Trainings of leave tables that are stopped and gone on with, their work done in any order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from leave_trainings import (
    GAMES,
    RULES,
    TILES,
    WORDS,
    Backwards,
    Mortal,
    Recorder,
    Stopped,
    assert_same,
    few,
    ignore,
    lexicon_of,
    ticking,
    training,
    undisturbed,
)

from harness.lab.training.checkpoint import CheckpointError
from harness.lab.training.leaves import Goal, LeaveTraining
from harness.workers import Workers
from lexicons.alphabet import Alphabet


def test_the_order_of_results_makes_no_difference() -> None:
    one = training()
    assert_same(one, one.run(Backwards(), ignore, ticking(7.0)))


def test_another_seed_is_another_table() -> None:
    other = training(Goal(games=GAMES, seed=2, floor=20)).run(Workers(), ignore, ticking(1.0))
    assert (other.values != undisturbed()[0].values).any()


def test_killed_in_every_round_and_gone_on_with(tmp_path: Path) -> None:
    checkpoint = tmp_path / "t.checkpoint"
    deaths = 0
    while True:
        one = training(checkpoint=checkpoint)
        if deaths:
            one.resume()
        before = one.games
        try:
            table = one.run(Mortal(), ignore, ticking(1.0))
        except Stopped:
            deaths += 1
            kept = training(checkpoint=checkpoint)
            kept.resume()
            assert kept.games > before  # the round that was over is kept, that under way is not
            continue
        break
    assert deaths >= 4
    assert_same(one, table)
    assert list(tmp_path.iterdir()) == [checkpoint]


def test_a_training_that_is_over_is_gone_on_with_at_its_end(tmp_path: Path) -> None:
    checkpoint = tmp_path / "t.checkpoint"
    training(checkpoint=checkpoint).run(Workers(), ignore, ticking(1.0))
    again = training(checkpoint=checkpoint)
    again.resume()
    assert_same(again, again.run(Recorder(0), ignore, ticking(1.0)))


SHORT = Goal(games=100, seed=1, floor=0)
OTHER_GOALS = {
    "seed": replace(SHORT, seed=2),
    "games": replace(SHORT, games=101),
    "floor": replace(SHORT, floor=1),
    "minutes": replace(SHORT, games=None, minutes=3),
}
OTHER_TILES = {
    "counts": replace(TILES, counts=(2, 13, 8, 12, 6, 1)),
    "points": replace(TILES, points=(0, 1, 3, 2, 2, 8)),
    "vowels": replace(TILES, vowels=(False,) * 6),
    "letters": replace(TILES, alphabet=Alphabet(("?", *"ABCDE"), tuple("?abcde"))),
}


SAID = {"words": "lexicon", "minutes": "games", **dict.fromkeys([*OTHER_TILES, "bonus"], "rules")}
"""The names of settings, where they are others."""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a training of ``SHORT``, which ``resume`` only reads."""
    path = tmp_path_factory.mktemp("trained") / "t.checkpoint"
    training(SHORT, path).run(Workers(), ignore, ticking(1.0))
    return path


@pytest.mark.parametrize("which", ["words", "bonus", *OTHER_GOALS, *OTHER_TILES])
def test_a_checkpoint_of_another_training_is_refused(checkpoint: Path, which: str) -> None:
    other = LeaveTraining(
        lexicon_of(WORDS[1:]) if which == "words" else few(),
        replace(
            RULES,
            distribution=OTHER_TILES.get(which, TILES),
            bingo_bonus=RULES.bingo_bonus + (which == "bonus"),
        ),
        OTHER_GOALS.get(which, SHORT),
        checkpoint,
    )
    says = f"is of a training with {SAID.get(which, which)} .*; go on with the same options, or del"
    with pytest.raises(CheckpointError, match=says):
        other.resume()
    assert other.games == 0
