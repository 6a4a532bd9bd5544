"""Which games each format has, from made-up results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from match_samples import game, match_config, seat

from harness.matches.config import TournamentConfig
from harness.matches.folder import MatchFolder, Returned, Withdrawn
from harness.matches.results import GameResult, PlannedGame
from harness.matches.schedule import MOST_PAIRS, Schedule
from harness.matches.standings import standings


def event(entrants: int, **others: object) -> TournamentConfig:
    """Make a tournament of static players."""
    field = {"seats": ("static",) * entrants, "names": tuple("ABCDEFGHIJ"[:entrants])}
    return match_config(**(field | others))


def result(config: TournamentConfig, planned: PlannedGame, scores: tuple[int, int]) -> GameResult:
    """Make the result of a planned game, from the scores of its sides."""
    a, b = (config.names[entrant] for entrant in planned.players)
    return game(
        planned.number,
        scores,
        pair=planned.pair,
        first=planned.first,
        round=planned.round,
        sides=(seat(a, scores[0]), seat(b, scores[1])),
    )


def play(
    config: TournamentConfig,
    folder: Path,
    score: Callable[[int, int], tuple[int, int]],
    most: int = 10_000,
) -> list[PlannedGame]:
    """Play a tournament, or so many games of it, whose scores depend on the entrants."""
    played: list[PlannedGame] = []
    with MatchFolder(folder) as files:
        schedule = Schedule(config, files)
        while (games := schedule.next_round()) is not None:
            for planned in games:
                if len(played) == most:
                    return played
                played.append(planned)
                if planned.number not in files.counted:
                    files.append(result(config, planned, score(*planned.players)))
    return played


def better_seed(one: int, other: int) -> tuple[int, int]:
    """Let the better seed win, by more against a worse one."""
    return 400 + 10 * (other - one), 400


def test_a_round_robin_has_each_two_meet_as_often(tmp_path: Path) -> None:
    config = event(5, games=3, rounds=2)
    games = play(config, tmp_path, better_seed)
    assert [planned.number for planned in games] == list(range(1, 61))
    met = [planned.players for planned in games]
    assert {met.count(two) for two in met} == {6}
    assert len(set(met)) == 10
    for entrant in range(5):
        begun = sum(planned.entrant(0) == entrant for planned in games)
        assert begun == 12, "of 24"
    pairs: dict[int, list[PlannedGame]] = {}
    for planned in games:
        pairs.setdefault(planned.pair, []).append(planned)
    assert sorted(map(len, pairs.values())) == [1] * 20 + [2] * 20
    assert all(
        len({planned.entrant(0) for planned in pair}) == len(pair) for pair in pairs.values()
    )
    with MatchFolder(tmp_path) as files:
        table = standings(config, files)
        schedule = Schedule(config, files)
        assert (schedule.expected(), schedule.last_round()) == (60, 10)
    assert [(of.name, of.points) for of in table] == [
        ("A", 24),
        ("B", 18),
        ("C", 12),
        ("D", 6),
        ("E", 0),
    ]


@pytest.mark.parametrize("games", [1, 2, 3])
def test_every_pairing_gets_the_same_openings(games: int, tmp_path: Path) -> None:
    pairs = (games + 1) // 2
    for form in ("round-robin", "gauntlet"):
        config = event(4, format=form, games=games, rounds=3, openings=("one", "two"))
        given: dict[tuple[int, int], list[int | None]] = {}
        for planned in play(config, tmp_path / form, better_seed):
            given.setdefault(planned.players, []).append(planned.opening)
        in_turn = [(cycle * pairs + at // 2) % 2 for cycle in range(3) for at in range(games)]
        assert list(given.values()) == [in_turn] * len(given)


def test_every_pairing_of_a_round_gets_the_same_openings(tmp_path: Path) -> None:
    config = event(6, format="swiss", rounds=4, games=4, openings=("one", "two", "three"))
    whole = play(config, tmp_path, better_seed)
    assert [planned.opening for planned in whole] == [
        opening for pair in (0, 2, 1, 0) for opening in 3 * [pair, pair, *2 * [(pair + 1) % 3]]
    ]
    assert play(config, tmp_path, better_seed) == whole
    config = event(2, format="knockout", openings=("one", "two"))
    scores = iter([(400, 390), (390, 400), (400, 400), (390, 400)])
    games = play(config, tmp_path / "final", lambda *_: next(scores))
    assert [planned.opening for planned in games] == [0, 0, 1, 1]


def test_seats_that_go_on_after_a_game_share_no_draws(tmp_path: Path) -> None:
    config = event(3, seats=("static", "greedy", "ws://there:1/bot"), games=2)
    games = play(config, tmp_path, better_seed)
    assert {planned.players for planned in games if planned.paired} == {(0, 1)}
    assert len({planned.pair for planned in games}) == 5


def test_a_swiss_goes_on_with_the_rounds_that_were_paired(tmp_path: Path) -> None:
    config = event(6, format="swiss", rounds=4)
    whole = play(config, tmp_path / "whole", better_seed)
    assert len(whole) == 24
    assert len({planned.players for planned in whole}) == 12, "nobody met again"
    for most in (1, 9, 24):
        begun = play(config, tmp_path / "stopped", better_seed, most)
        assert begun == whole[:most]
    assert play(config, tmp_path / "stopped", better_seed) == whole
    decisions = [(path / "decisions.jsonl").read_text() for path in tmp_path.iterdir()]
    assert decisions[0] == decisions[1]


def test_the_last_rounds_of_a_swiss_are_king_of_the_hill(tmp_path: Path) -> None:
    config = event(4, format="swiss", rounds=5, hill=2)
    games = play(config, tmp_path, better_seed)
    assert {planned.players for planned in games if planned.round > 3} == {(0, 1), (2, 3)}


def test_who_has_withdrawn_from_a_swiss_is_not_paired(tmp_path: Path) -> None:
    config = event(4, format="swiss", rounds=3)
    play(config, tmp_path, better_seed, most=4)
    with MatchFolder(tmp_path) as files:
        files.decide(Withdrawn(1, "gone home"))
    games = play(config, tmp_path, better_seed)
    later = [planned for planned in games if planned.round > 2]
    assert later
    assert all(1 not in planned.players for planned in later)
    with MatchFolder(tmp_path) as files:
        table = standings(config, files)
    assert [of.name for of in table if of.withdrawn] == ["B"]


def test_a_withdrawal_can_be_taken_back(tmp_path: Path) -> None:
    config = event(4, format="swiss", rounds=4)
    play(config, tmp_path, better_seed, most=4)
    with MatchFolder(tmp_path) as files:
        files.decide(Withdrawn(1, "gone home"))
    play(config, tmp_path, better_seed, most=8)
    with MatchFolder(tmp_path) as files:
        files.decide(Returned(1))
        assert not files.withdrawn
    games = play(config, tmp_path, better_seed)
    assert {planned.round for planned in games if 1 in planned.players} == {1, 2, 4}
    with MatchFolder(tmp_path) as files:
        assert not any(of.withdrawn for of in standings(config, files))


@pytest.mark.parametrize("entrants", [2, 3, 5, 8])
def test_a_knockout_is_won_by_who_wins_the_final(entrants: int, tmp_path: Path) -> None:
    config = event(entrants, format="knockout")
    games = play(config, tmp_path, better_seed)
    assert len(games) == 2 * (entrants - 1)
    with MatchFolder(tmp_path) as files:
        table = standings(config, files)
    assert [of.name for of in table][:2] == ["A", "B"]


def test_a_pairing_of_a_knockout_plays_on_until_it_is_decided(tmp_path: Path) -> None:
    config = event(2, format="knockout")
    scores = iter([(400, 390), (390, 400), (400, 400), (390, 400)])
    games = play(config, tmp_path, lambda *_: next(scores))
    assert [planned.number for planned in games] == [1, 2, 3, 4]
    assert [planned.pair for planned in games] == [1, 1, 2, 2]
    with MatchFolder(tmp_path) as files:
        table = standings(config, files)
    assert table[0].name == "B"


@pytest.mark.parametrize("games", [1, 2, 3])
def test_two_who_play_on_begin_in_turn(games: int, tmp_path: Path) -> None:
    config = event(2, format="knockout", games=games)
    scores = iter([(400, 400)] * 4 * games + [(400, 390)] * games)
    played = play(config, tmp_path, lambda *_: next(scores))
    begun = [planned.entrant(0) for planned in played]
    assert begun == [at % 2 for at in range(5 * games)]
    assert play(config, tmp_path, better_seed) == played


@pytest.mark.parametrize(("spread", "winner"), [(0, "A"), (1, "A"), (-1, "B")])
def test_a_knockout_between_equals_has_an_end(spread: int, winner: str, tmp_path: Path) -> None:
    config = event(4, format="knockout")
    turns = [0]

    def level(one: int, other: int) -> tuple[int, int]:
        if (one, other) != (0, 1):
            return better_seed(one, other)
        turns[0] += 1
        ahead = 10 if turns[0] % 2 else -10
        return 400 + ahead + (spread if turns[0] == 1 else 0), 400

    games = play(config, tmp_path, level)
    assert sum(planned.round == 2 for planned in games) == 2 * MOST_PAIRS
    with MatchFolder(tmp_path) as files:
        table = standings(config, files)
    assert table[0].name == winner
