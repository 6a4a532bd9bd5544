"""Games summed by pair, against a plain twin."""

from __future__ import annotations

from collections import Counter
from random import Random

from harness.server.ladder.tally import FEWEST_LOOSE, Sums, Tally, joined, meetings_of

Game = tuple[int, int, float, int]
"""Who moved first, who second, points and spread of the first."""


def some_games(count: int, players: int, chance: Random) -> list[Game]:
    games = []
    for _ in range(count):
        first, second = chance.sample(range(players), 2)
        games.append((first, second, chance.choice((1.0, 0.5, 0.0)), chance.randint(-300, 300)))
    return games


def tally_of(games: list[Game]) -> Tally:
    tally = Tally()
    for game in games:
        tally.take(*game)
    return tally


def sums_of(games: list[Game]) -> list[tuple[int, ...]]:
    """Return what the rows are to be: the pair, wins, ties, losses, spread."""
    results = Counter((first, second, points) for first, second, points, _ in games)
    spreads: Counter[tuple[int, int]] = Counter()
    for first, second, _, spread in games:
        spreads[first, second] += spread
    return [
        (*pair, *(results[*pair, points] for points in (1.0, 0.5, 0.0)), spread)
        for pair, spread in sorted(spreads.items())
    ]


def rows_of(sums: Sums) -> list[tuple[int, ...]]:
    columns = [column.tolist() for column in (sums.first, sums.second, sums.counts, sums.spread)]
    rows = zip(*columns, strict=True)
    return [(first, second, *counts, spread) for first, second, counts, spread in rows]


def test_games_are_summed_by_pair() -> None:
    games = some_games(5_000, 40, Random(1))
    rows = rows_of(tally_of(games).sums())
    assert rows == sums_of(games)
    assert len(rows) > FEWEST_LOOSE  # so pairs were packed on the way


def test_tallies_are_added_and_joined() -> None:
    games = some_games(900, 6, Random(2))
    tally, later = tally_of(games[:500]), tally_of(games[500:])
    together = joined([tally.sums(), later.sums()])
    assert rows_of(together) == sums_of(games[:500]) + sums_of(games[500:])
    tally.add(later)
    assert rows_of(tally.sums()) == sums_of(games)
    of_one = [game for game in games if 3 in game[:2]]
    assert rows_of(tally.sums().having(3)) == sums_of(of_one)
    nothing = Tally()
    nothing.add(Tally())
    assert rows_of(nothing.sums()) == []


def test_meetings_are_the_games_by_how_they_ended() -> None:
    games = some_games(300, 4, Random(3))
    meetings = meetings_of(tally_of(games).sums())
    rows = zip(*(column.tolist() for column in meetings), strict=True)
    expected = Counter((first, second, points) for first, second, points, _ in games)
    assert Counter({(first, second, points): count for first, second, points, count in rows}) == (
        expected
    )
