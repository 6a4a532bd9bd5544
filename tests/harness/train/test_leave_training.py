"""Training leave tables: rounds, generations, checkpoints, and what is learned."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate, count, pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from engine.rules import Rules, standard_rules
from engine.selfplay import play_static_games
from harness.train.checkpoint import CheckpointError
from harness.train.forcing import force, room_for
from harness.train.leaves import GENERATIONS, Goal, LeaveTraining, RoundDone, TableMade
from harness.train.racks import Racks
from harness.train.shares import Ground, Share, Tally, Totals, play_share
from lexicons.alphabet import Alphabet, TileDistribution
from lexicons.build import build_word_graph
from lexicons.layout import load_layout
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon, load_lexicon

Common = TypeVar("Common")
Work = TypeVar("Work")
Result = TypeVar("Result")

LETTERS = ("?", *"ABCDQ")
TILES = TileDistribution(
    name="few",
    alphabet=Alphabet(LETTERS, tuple("?abcdq")),
    counts=(2, 14, 8, 12, 6, 1),
    points=(0, 1, 3, 2, 2, 10),
    vowels=(False, True, False, False, False, False),
)
RULES = Rules(TILES, load_layout("standard"), rack_size=5)
WORDS = ["AB", "AC", "BAC", "CAB", "DAC", "ABACA", "BA", "CAD", "ADA", "CABAL", "QAB", "ACDAB"]
GAMES = 2_400


def lexicon_of(words: list[str]) -> Lexicon:
    known = [word for word in words if set(word) <= set(LETTERS)]
    graph = build_word_graph([TILES.alphabet.tiles(word) for word in known])
    return Lexicon("few", TILES, graph, "checksum of " + " ".join(known))


@cache
def few() -> Lexicon:
    return lexicon_of(WORDS)


class Here:
    """A crew of nobody else."""

    def work_through(
        self, function: Callable[[Common, Work], Result], common: Common, shares: Iterable[Work]
    ) -> Iterator[tuple[Work, Result]]:
        for share in shares:
            yield share, function(common, share)


class Backwards:
    """A crew that has the last share done first."""

    def work_through(
        self, function: Callable[[Common, Work], Result], common: Common, shares: Iterable[Work]
    ) -> Iterator[tuple[Work, Result]]:
        return Here().work_through(function, common, reversed(list(shares)))


class Stopped(Exception):
    """The training is killed."""


@dataclass
class Mortal:
    """A crew that is killed in its second round, with half of it done."""

    rounds: int = 0

    def work_through(
        self, function: Callable[[Common, Work], Result], common: Common, shares: Iterable[Work]
    ) -> Iterator[tuple[Work, Result]]:
        self.rounds += 1
        given = list(shares)
        for share in given if self.rounds == 1 else given[: len(given) // 2]:
            yield share, function(common, share)
        if self.rounds > 1:
            raise Stopped


@dataclass
class Recorder:
    """A crew that keeps what it was asked for, and plays as many shares of each round as it may."""

    most: int = 1_000
    asked: list[tuple[Any, list[Any]]] = field(default_factory=list)

    def work_through(
        self, function: Callable[[Common, Work], Result], common: Common, shares: Iterable[Work]
    ) -> Iterator[tuple[Work, Result]]:
        given = list(shares)
        self.asked.append((common, given))
        return Here().work_through(function, common, given[: self.most])


def ignore(_news: object) -> None:
    pass


def ticking(seconds: float) -> Callable[[], float]:
    """Give a clock on which so many seconds pass from one look at it to the next."""
    looks = count()
    return lambda: next(looks) * seconds


def training(goal: Goal | None = None, checkpoint: Path | None = None) -> LeaveTraining:
    return LeaveTraining(few(), RULES, goal or Goal(games=GAMES, seed=1, floor=20), checkpoint)


@cache
def undisturbed() -> tuple[LeaveTable, int, list[dict[str, float]], list[RoundDone | TableMade]]:
    """Train to the end at one go: the table, the games, the tables' facts and all that was told."""
    told: list[RoundDone | TableMade] = []
    one = training()
    table = one.run(Here(), told.append, ticking(1.0))
    return table, one.games, one.progress.tables, told


def assert_same(one: LeaveTraining, table: LeaveTable) -> None:
    expected, games, tables, _ = undisturbed()
    assert (table.values == expected.values).all()
    assert one.games == games
    assert one.progress.tables == tables


# --- shares ---------------------------------------------------------------------------------------


def test_a_share_is_what_its_games_say() -> None:
    """The racks and equities of the same games, turn by turn, while the bag holds a rack."""
    racks = Racks(TILES, RULES.rack_size)
    leaves = undisturbed()[0]
    share = Share(30, (7, 1), racks.by_size[4][-20:])
    tally = play_share(Ground(few(), RULES, leaves), share)
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
    assert (tally.bingos, tally.turns) == (int(played.bingos.sum()), int(played.turns.sum()))


def test_adding_up_makes_no_difference_by_order() -> None:
    racks = Racks(TILES, RULES.rack_size)
    ground = Ground(few(), RULES, LeaveTable.zero(TILES, RULES.rack_size))
    tallies: list[Tally] = [
        play_share(ground, Share(20, (seed,), racks.by_size[4][:seed])) for seed in range(4)
    ]
    one, other = Totals.none(racks), Totals.none(racks)
    for tally in tallies:
        one.add(tally)
    for tally in tallies[::-1]:
        other.add(tally)
    for name, value in vars(one).items():
        assert np.array_equal(value, getattr(other, name)), name
    assert one.games == 80
    assert one.counts.sum() == sum(int(tally.counts.sum()) for tally in tallies)


# --- rounds and generations -----------------------------------------------------------------------


def test_generations_play_by_the_table_before() -> None:
    crew, told = Recorder(), list[RoundDone | TableMade]()
    one = training()
    table = one.run(crew, told.append, ticking(1.0))
    assert_same(one, table)
    tables = [news.leaves for news in told if isinstance(news, TableMade)]
    played_by = [ground.leaves for ground, _ in crew.asked]
    assert not played_by[0].values.any()
    changes = [new for old, new in pairwise(played_by) if new is not old]
    assert changes == tables[:3]
    assert table is tables[3]


def test_shares_are_all_games_each_with_a_seed_of_its_own() -> None:
    crew, told = Recorder(), list[RoundDone | TableMade]()
    training().run(crew, told.append, ticking(1.0))
    rounds = [news.games for news in told if isinstance(news, RoundDone)]
    given = [[share.games for share in shares] for _, shares in crew.asked]
    assert list(accumulate(map(sum, given))) == rounds
    assert all(max(sizes) - min(sizes) <= 1 for sizes in given)
    assert max(map(len, given)) > 10
    seeds = [share.seed for _, shares in crew.asked for share in shares]
    assert len(set(seeds)) == len(seeds)


def test_only_the_last_generation_forces() -> None:
    crew = Recorder()
    training().run(crew, ignore, ticking(1.0))
    forced = [sum(len(share.forced) for share in shares) for _, shares in crew.asked]
    assert forced[:3] == [0, 0, 0]
    assert forced[3] > 0
    for _, shares in crew.asked:
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


# --- any order, stopped, gone on with -------------------------------------------------------------


def test_the_order_of_results_makes_no_difference() -> None:
    one = training()
    assert_same(one, one.run(Backwards(), ignore, ticking(7.0)))


def test_another_seed_is_another_table() -> None:
    other = training(Goal(games=GAMES, seed=2, floor=20)).run(Here(), ignore, ticking(1.0))
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


@pytest.mark.parametrize("kind", [RoundDone, TableMade])
def test_killed_before_what_was_done_is_kept(tmp_path: Path, kind: type[object]) -> None:
    """Each news is the last word of a run once; what it told of is done again."""
    checkpoint = tmp_path / "t.checkpoint"
    heard: set[str] = set()

    def tell(news: RoundDone | TableMade) -> None:
        name = f"{type(news).__name__} {news.generation} {news.games}"
        if isinstance(news, kind) and name not in heard:
            heard.add(name)
            raise Stopped

    while True:
        one = training(checkpoint=checkpoint)
        if checkpoint.exists():
            one.resume()
        try:
            table = one.run(Here(), tell, ticking(1.0))
        except Stopped:
            continue
        break
    assert len(heard) >= len(GENERATIONS)
    assert_same(one, table)


def test_a_training_that_is_over_is_gone_on_with_at_its_end(tmp_path: Path) -> None:
    checkpoint = tmp_path / "t.checkpoint"
    training(checkpoint=checkpoint).run(Here(), ignore, ticking(1.0))
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


@pytest.mark.parametrize("which", ["words", *OTHER_GOALS, *OTHER_TILES])
def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path, which: str) -> None:
    checkpoint = tmp_path / "t.checkpoint"
    training(SHORT, checkpoint).run(Here(), ignore, ticking(1.0))
    other = LeaveTraining(
        lexicon_of(WORDS[1:]) if which == "words" else few(),
        replace(RULES, distribution=OTHER_TILES.get(which, TILES)),
        OTHER_GOALS.get(which, SHORT),
        checkpoint,
    )
    with pytest.raises(CheckpointError, match="go on with the same options, or delete it"):
        other.resume()
    assert other.games == 0


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


def test_a_round_longer_than_the_training() -> None:
    assert rounds_by_the_clock(Goal(minutes=0.01, seed=1), 3_600.0) == [0, 1, 2, 3]


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


@pytest.mark.parametrize(
    ("goal", "says"),
    [
        ({}, "a number of games or of minutes, and not both"),
        ({"games": 200, "minutes": 2}, "a number of games or of minutes, and not both"),
        ({"games": 99}, "99 games; a training has 100 or more"),
        ({"games": -5}, "-5 games"),
        ({"minutes": 0}, "0 minutes"),
        ({"minutes": float("nan")}, "nan minutes"),
        ({"minutes": float("inf")}, "inf minutes"),
        ({"games": 200, "floor": -1}, "0 or more"),
        ({"games": 200, "seed": -1}, "0 or more"),
    ],
)
def test_goals_that_make_no_sense(goal: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Goal(**goal)


def test_a_bag_too_small_to_learn_from() -> None:
    tiles = replace(TILES, counts=(0, 4, 4, 2, 2, 1))
    small = LeaveTraining(lexicon_of(WORDS), replace(RULES, distribution=tiles), Goal(games=200))
    with pytest.raises(ValueError, match="no rack was seen"):
        small.run(Here(), ignore, ticking(1.0))


# --- what is learned ------------------------------------------------------------------------------


def last_of(goal: Goal) -> TableMade:
    told: list[RoundDone | TableMade] = []
    training(goal).run(Here(), told.append, ticking(1.0))
    assert isinstance(told[-1], TableMade)
    return told[-1]


def test_rare_leaves_are_seen_more_often_with_a_floor() -> None:
    without, with_floor = (last_of(Goal(games=GAMES, seed=1, floor=floor)) for floor in (0, 40))
    assert without.fewest_samples < 10
    assert with_floor.fewest_samples > 30
    assert with_floor.below_floor <= 5
    assert without.games == round(GAMES * GENERATIONS[-1]) <= with_floor.games


@cache
def learned() -> LeaveTable:
    rules = standard_rules()
    return LeaveTraining(load_lexicon(), rules, Goal(games=1_500, seed=1, floor=0)).run(
        Here(), ignore, ticking(1.0)
    )


def test_a_short_training_beats_no_table() -> None:
    rules = standard_rules()
    games = play_static_games(
        load_lexicon(),
        rules,
        learned(),
        400,
        seed=5,
        opponent=LeaveTable.zero(rules.distribution),
        pairs=True,
        mirrored=True,
    )
    spreads = games.scores[:, 0] - games.scores[:, 1]
    assert np.where(games.begins == 0, spreads, -spreads).mean() > 15


def test_what_is_good_to_keep() -> None:
    alphabet = standard_rules().distribution.alphabet

    def worth(leave: str) -> float:
        return learned().value(alphabet.tiles(leave))

    assert worth("") == 0
    assert 15 < worth("?") < 40
    assert 3 < worth("S") < 15
    assert worth("Q") < -2 < worth("QU")
    assert worth("V") < 0
    assert worth("EEIO") < -5
    assert worth("AEINST") > 15
    assert worth("??") > worth("?")
    assert np.abs(learned().values).max() < 150_000
