"""Training leave tables: shares, rounds, generations, the clock, and what is learned."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
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

from engine.simulation.selfplay import play_static_games
from harness.lab.study_context import Field
from harness.lab.training.checkpoint import CheckpointError
from harness.lab.training.leaves import GENERATIONS, Goal, LeaveTraining, RoundDone, TableMade
from harness.lab.training.racks import Racks
from harness.lab.training.shares import Share, force, play_share, room_for
from harness.workers import Workers
from lexicons.alphabet import Alphabet
from lexicons.leaves import LeaveTable

# --- shares ---------------------------------------------------------------------------------------


def test_a_share_is_what_its_games_say() -> None:
    """The racks and equities of the same games, turn by turn, while the bag holds a rack."""
    racks = Racks(TILES, RULES.rack_size)
    leaves = undisturbed()[0]
    share = Share(30, (7, 1), racks.by_size[4][-20:])
    tally = play_share(Field(few(), RULES, leaves), share)
    seeds = np.random.SeedSequence((7, 1)).generate_state(2).tolist()
    forced = force(share.forced, 30, seeds[1])
    played = play_static_games(few(), RULES, leaves, 30, seed=seeds[0], record=True, forced=forced)
    seen: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for game in range(30):
        for turn in range(int(played.turns[game])):
            if played.results.bags[game, turn] >= RULES.rack_size:
                assert played.results.sizes[game, turn] == RULES.rack_size
                rack = tuple(played.results.racks[game, turn, : RULES.rack_size].tolist())
                seen[rack].append(int(played.results.equities[game, turn]))
    numbers = racks.numbers(np.array(list(seen), np.uint8)).tolist()
    expected = {
        number: (len(found), sum(found))
        for number, found in zip(numbers, seen.values(), strict=True)
    }
    assert tally.racks.tolist() == sorted(expected)
    found = zip(tally.counts.tolist(), tally.sums.tolist(), strict=True)
    assert dict(zip(tally.racks.tolist(), found, strict=True)) == expected
    assert (tally.games, tally.points) == (30, int(played.scores.sum()))


# --- rounds and generations -----------------------------------------------------------------------


@cache
def recorded() -> tuple[Recorder, list[RoundDone | TableMade]]:
    """Train to the end: what workers were asked for, and what was told."""
    workers, told = Recorder(), list[RoundDone | TableMade]()
    one = training()
    assert_same(one, one.run(workers, told.append, ticking(1.0)))
    return workers, told


def test_generations_play_by_the_table_before() -> None:
    workers, told = recorded()
    tables = [news.leaves for news in told if isinstance(news, TableMade)]
    played_by = [ground.leaves for ground, _ in workers.asked]
    assert not played_by[0].values.any()
    changes = [new for old, new in pairwise(played_by) if new is not old]
    assert changes == tables[:3]
    assert (tables[3].values == undisturbed()[0].values).all()


def test_shares_are_all_games_each_with_a_seed_of_its_own() -> None:
    workers, told = recorded()
    rounds = [news.games for news in told if isinstance(news, RoundDone)]
    given = [[share.games for share in shares] for _, shares in workers.asked]
    assert list(accumulate(map(sum, given))) == rounds
    assert all(max(sizes) - min(sizes) <= 1 for sizes in given)
    assert max(map(len, given)) > 10
    seeds = [share.seed for _, shares in workers.asked for share in shares]
    assert len(set(seeds)) == len(seeds)


def test_only_the_last_generation_forces() -> None:
    workers, _ = recorded()
    forced = [sum(len(share.forced) for share in shares) for _, shares in workers.asked]
    assert forced[:3] == [0, 0, 0]
    assert forced[3] > 0
    for _, shares in workers.asked:
        assert all(len(share.forced) <= room_for(share.games) for share in shares)


def test_the_parts_of_generations() -> None:
    _, games, tables, told = undisturbed()
    made = [news for news in told if isinstance(news, TableMade)]
    first = [round(GAMES * part) for part in GENERATIONS[:3]]
    assert [table.games for table in made[:3]] == first
    assert sum(table.games for table in made) == games
    assert GAMES <= games <= round(1.05 * GAMES)
    assert [table["games"] for table in tables] == [table.games for table in made]


def test_what_is_told_on_the_way() -> None:
    _, games, _, told = undisturbed()
    rounds = [news for news in told if isinstance(news, RoundDone)]
    assert [news.games for news in rounds] == sorted({news.games for news in rounds})
    assert rounds[-1].games == games
    assert rounds[-1].share == 1.0
    assert rounds[-1].seconds_left == 0.0
    for news in rounds:
        assert news.share == min(1.0, news.games / GAMES)
        assert 0 < news.mean_score < 1_000
    assert rounds[0].games_per_s == rounds[0].games  # a round took a second
    left = (GAMES - rounds[1].games) / rounds[1].games_per_s
    assert rounds[1].seconds_left == pytest.approx(left)


# --- by the clock ---------------------------------------------------------------------------------


def rounds_by_the_clock(goal: Goal, seconds: float) -> list[int]:
    """Train by a clock on which every round takes so long; the generations of the rounds."""
    told: list[RoundDone | TableMade] = []
    training(goal).run(Recorder(1), told.append, ticking(seconds))
    return [news.generation for news in told if isinstance(news, RoundDone)]


def test_a_training_of_minutes() -> None:
    """Ten rounds of half a minute; each generation ends with the round in which its part is over,
    but has one.
    """
    rounds = rounds_by_the_clock(Goal(minutes=5, seed=1), 30.0)
    assert Counter(rounds) == {0: 1, 1: 1, 2: 1, 3: 7}


def test_minutes_of_all_runs_count(tmp_path: Path) -> None:
    checkpoint, told = tmp_path / "t.checkpoint", list[RoundDone | TableMade]()

    def tell(news: RoundDone | TableMade) -> None:
        told.append(news)
        if len(told) == 7:  # the first round of the last generation, not kept yet
            raise Stopped

    goal = Goal(minutes=5, seed=1)
    one = training(goal, checkpoint)
    with pytest.raises(Stopped):
        one.run(Recorder(1), tell, ticking(30.0))
    one = training(goal, checkpoint)
    one.resume()
    assert one.progress.seconds == 90.0
    one.run(Recorder(1), told.append, ticking(30.0))
    rounds = [news.generation for news in told if isinstance(news, RoundDone)]
    assert Counter(rounds) == {0: 1, 1: 1, 2: 1, 3: 1 + 7}
    assert one.progress.seconds == 300.0


def test_a_bag_too_small_to_learn_from() -> None:
    tiles = replace(TILES, counts=(0, 4, 4, 2, 2, 1))
    small = LeaveTraining(lexicon_of(WORDS), replace(RULES, distribution=tiles), Goal(games=200))
    with pytest.raises(ValueError, match="no rack was seen"):
        small.run(Workers(), ignore, ticking(1.0))


@pytest.mark.parametrize("minutes", [0, 1e7])
def test_minutes_have_limits(minutes: float) -> None:
    with pytest.raises(ValueError, match="they must be above 0 and below 1,000,000"):
        Goal(minutes=minutes)


def test_racks_too_small_to_learn_about() -> None:
    small = replace(RULES, rack_size=2)
    with pytest.raises(ValueError, match="racks of 2; leaves are learned for racks of 3 or more"):
        LeaveTraining(few(), small, Goal(games=200))


# --- what is learned ------------------------------------------------------------------------------


def last_of(goal: Goal) -> TableMade:
    told: list[RoundDone | TableMade] = []
    training(goal).run(Workers(), told.append, ticking(1.0))
    assert isinstance(told[-1], TableMade)
    return told[-1]


def test_rare_leaves_are_seen_more_often_with_a_floor() -> None:
    without, with_floor = (last_of(Goal(games=GAMES, seed=1, floor=floor)) for floor in (0, 40))
    assert without.fewest_samples < 10
    assert with_floor.fewest_samples > 30
    assert with_floor.below_floor <= 5
    assert without.games == round(GAMES * GENERATIONS[-1]) <= with_floor.games


def test_a_training_beats_no_table() -> None:
    games = play_static_games(
        few(), RULES, undisturbed()[0], 400, seed=5, opponent=LeaveTable.zero(TILES, 5),
        pairs=True, mirrored=True,
    )  # fmt: skip
    spreads = games.scores[:, 0] - games.scores[:, 1]
    assert np.where(games.begins == 0, spreads, -spreads).mean() > 15


# --- stopped and gone on with, the work done in any order -----------------------------------------


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
