"""Which games each format has, and what decisions make of games and standings."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from match_samples import game, match_config, seat

from harness.matches.absences import Absences
from harness.matches.config import TournamentConfig
from harness.matches.folder import (
    Absent,
    Arranged,
    Corrected,
    Decision,
    EndedEarly,
    FolderContents,
    Joined,
    MatchFolder,
    Missed,
    Paused,
    Resumed,
    Returned,
    Withdrawn,
    with_joined,
)
from harness.matches.pairings import Pairing, Round
from harness.matches.report import summarize
from harness.matches.results import GameResult, Luck, PlannedGame, walkover
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
    points = zip("ABCDE", (24, 18, 12, 6, 0), strict=True)
    assert [(of.name, of.points) for of in table] == list(points)


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


def test_who_has_withdrawn_from_a_swiss_is_not_paired_until_it_is_back(tmp_path: Path) -> None:
    config = event(4, format="swiss", rounds=4)
    play(config, tmp_path, better_seed, most=4)
    with MatchFolder(tmp_path) as files:
        files.decide(Withdrawn(1, "gone home"))
    play(config, tmp_path, better_seed, most=8)
    with MatchFolder(tmp_path) as files:
        assert [of.name for of in standings(config, files) if of.withdrawn] == ["B"]
        files.decide(Returned(1))
        assert not files.withdrawn
        assert not any(of.withdrawn for of in standings(config, files))
    games = play(config, tmp_path, better_seed)
    assert {planned.round for planned in games if 1 in planned.players} == {1, 2, 4}


@pytest.mark.parametrize("entrants", [2, 3, 5, 8])
def test_a_knockout_is_won_by_who_wins_the_final(entrants: int, tmp_path: Path) -> None:
    config = event(entrants, format="knockout")
    games = play(config, tmp_path, better_seed)
    assert len(games) == 2 * (entrants - 1)
    with MatchFolder(tmp_path) as files:
        table = standings(config, files)
    assert [of.name for of in table][:2] == ["A", "B"]


@pytest.mark.parametrize("games", [1, 2, 3])
def test_two_who_are_level_in_a_knockout_play_on_and_begin_in_turn(
    games: int, tmp_path: Path
) -> None:
    config = event(2, format="knockout", games=games)
    scores = iter([(400, 400)] * 4 * games + [(390, 400)] * games)
    played = play(config, tmp_path, lambda *_: next(scores))
    begun = [planned.entrant(0) for planned in played]
    assert begun == [at % 2 for at in range(5 * games)]
    assert play(config, tmp_path, better_seed) == played
    with MatchFolder(tmp_path) as files:
        assert standings(config, files)[0].name == "B"


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


# --- what was decided while a tournament was on ---------------------------------------------------


def swiss(*names: str, **others: object) -> TournamentConfig:
    """Make a Swiss of guests, in single games."""
    seats = tuple(f"guest:{name}" for name in names)
    field = {"seats": seats, "names": names, "seed": None, "games": 1, "format": "swiss"}
    return match_config(**(field | {"rounds": 4} | others))


def won(number: int, a: str, b: str, *scores: int, **others: object) -> GameResult:
    sides = seat(a, scores[0]), seat(b, scores[1])
    return game(number, (scores[0], scores[1]), sides=sides, **others)


def test_decisions_are_read_as_they_were_written(tmp_path: Path) -> None:
    decisions: list[Decision] = [
        Round(1, (Pairing(0, 1), Pairing(2, 3)), (4,)),
        Withdrawn(2, "hannah: ill"),
        Joined("late"),
        Absent(1, "did not come"),
        Returned(1),
        Missed(7),
        Corrected(1, "g1", (300, 200), "hannah"),
        Corrected(2, "g2", None),
        Paused("lunch"),
        Resumed(),
        EndedEarly("hannah"),
        Arranged(3, (1, 4)),
        Arranged(4, (1,), void=True),
    ]
    with MatchFolder(tmp_path) as files:
        for decision in decisions:
            files.decide(decision)
    written = tmp_path / "decisions.jsonl"
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    assert all(datetime.fromisoformat(line.pop("at")).tzinfo for line in lines)
    for _ in ("as it is", "as an earlier version wrote it"):
        with MatchFolder(tmp_path) as files:
            assert files.decisions == decisions
        written.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_missed_game_that_is_forgiven_stays_so_after_a_restart(tmp_path: Path) -> None:
    def miss(files: MatchFolder, number: int) -> None:
        sides = (seat("A", 0, faults=("no_show",)), seat("B", 0))
        files.append(game(number, (0, 0), sides=sides, outcome="no_show", winner=1))

    with MatchFolder(tmp_path) as files:
        absences = Absences(files, directed=True)
        miss(files, 1)
        assert absences.missed_in_a_row(0, "A") == 1
        absences.end(0)  # it logs in
        assert absences.missed_in_a_row(0, "A") == 0
    with MatchFolder(tmp_path) as files:
        absences = Absences(files, directed=True)
        miss(files, 2)
        assert not absences.missed_too_many(0, "A")
        miss(files, 3)
        assert absences.missed_too_many(0, "A")


def test_a_correction_counts_in_the_standings_and_not_in_the_results(tmp_path: Path) -> None:
    config = swiss("A", "B")
    with MatchFolder(tmp_path) as files:
        files.append(won(1, "A", "B", 400, 300))
        files.decide(Corrected(1, "g1", (310, 330)))
    with MatchFolder(tmp_path) as files:
        table = standings(config, files)
        assert [(of.name, of.points, of.spread) for of in table] == [("B", 1, 20), ("A", 0, -20)]
        assert [of.scored for of in table] == [330, 310]
        assert files.results[0].spread == 100
        assert summarize(config, files).as_object()["mean_score"] == 310
        files.decide(Corrected(1, "g1", (320, 320)))
        table = standings(config, files)
        assert [of.ties for of in table] == [1, 1]


def test_a_result_that_is_made_void_leaves_its_number_to_another_game(tmp_path: Path) -> None:
    config, luck = swiss("A", "B"), Luck((20.0, 0.0), (0.1, 0.0))
    with MatchFolder(tmp_path) as files:
        files.append(won(1, "A", "B", 400, 300))
        with pytest.raises(ValueError, match="already has a result"):
            files.append(won(1, "A", "B", 0, 1))
        files.add_luck(files.results[0], luck)
        assert summarize(config, files).as_object()["luck"]["unknown"] == 0
        files.decide(Corrected(1, "g1", None))
        assert files.counted == set()
        files.append(won(1, "A", "B", 250, 260, game="again"))
    with MatchFolder(tmp_path) as files:
        assert (files.counted, files.lucks) == ({1}, {"g1": luck})
        assert summarize(config, files).as_object()["luck"]["unknown"] == 1
        table = standings(config, files)
        assert [(of.name, of.points, of.games) for of in table] == [("B", 1, 1), ("A", 0, 1)]
        files.decide(Corrected(1, "again", (260, 250)))
        assert standings(config, files)[0].name == "A"


def test_luck_that_an_earlier_version_measured_is_known_by_its_number(tmp_path: Path) -> None:
    with MatchFolder(tmp_path) as files:
        files.append(game(7, (400, 300)))
    (tmp_path / "luck.jsonl").write_text('{"number":7,"luck":null}\n')
    assert FolderContents(tmp_path).lucks == {"g7": None}


def test_who_joins_late_has_no_points_for_the_rounds_before(tmp_path: Path) -> None:
    config = swiss("A", "B", "C", "D", rounds=3)
    with MatchFolder(tmp_path) as files:
        schedule = Schedule(config, files)
        games = list(schedule.next_round() or ())
        for planned in games:
            a, b = (config.names[it] for it in planned.players)
            files.append(won(planned.number, a, b, 400, 300))
        schedule.join(Joined("late"))
        table = standings(config, files)
        late = next(of for of in table if of.name == "late")
        assert (late.points, late.byes, late.opponents) == (0, 0, [None])
        assert schedule.config.seats[4] == "guest:late"
        list(schedule.next_round() or ())
        list(schedule.next_round() or ())
    with MatchFolder(tmp_path) as files:
        assert with_joined(config, files.decisions).names == ("A", "B", "C", "D", "late")
        rounds = [it for it in files.decisions if isinstance(it, Round)]
        assert [len(it.byes) for it in rounds] == [0, 1, 1]
        table = standings(config, files)
        assert {len(of.opponents) for of in table} == {3}
        again = Schedule(config, files)
        first = list(again.next_round() or ())
        assert first == games, "what was paired stays"


def test_a_bye_of_a_swiss_is_a_win_of_each_game_by_fifty(tmp_path: Path) -> None:
    config = swiss("A", "B", "C", games=2)
    with MatchFolder(tmp_path) as files:
        Schedule(config, files).next_round()
        (free,) = (of for of in standings(config, files) if of.byes)
    assert (free.points, free.spread, free.games) == (2, 100, 0)


def test_a_gauntlet_goes_by_points_and_spread_a_game(tmp_path: Path) -> None:
    config = swiss("A", "B", "C", format="gauntlet", games=2, rounds=1)
    played = [("B", 300, 400), ("B", 360, 300), ("C", 400, 300), ("C", 300, 310)]
    with MatchFolder(tmp_path) as files:
        for number, (opponent, *scores) in enumerate(played, start=1):
            files.append(won(number, "A", opponent, *scores))
        table = standings(config, files)
    by_the_game = [(of.name, of.points / of.games, of.spread / of.games) for of in table]
    assert by_the_game == [("B", 0.5, 20), ("A", 0.5, 12.5), ("C", 0.5, -45)]


def test_who_is_absent_misses_a_round_without_points(tmp_path: Path) -> None:
    config = swiss("A", "B", "C", "D")
    with MatchFolder(tmp_path) as files:
        schedule = Schedule(config, files)
        list(schedule.next_round(absent={3}) or ())
        table = standings(config, files)
    missing = next(of for of in table if of.name == "D")
    assert (missing.points, missing.byes, missing.opponents) == (0, 0, [None])
    assert sum(of.byes for of in table) == 1


@pytest.mark.parametrize(("gone", "winner"), [((True, False), 1), ((False, True), 0)])
def test_a_game_that_is_not_offered_is_won_by_who_is_there(
    gone: tuple[bool, bool], winner: int
) -> None:
    planned = PlannedGame(number=3, pair=3, first=1, players=(1, 4), round=2, paired=False)
    result = walkover(planned, "g", ("B", "E"), gone)
    assert (result.winner, result.forfeit, result.void) == (winner, True, False)
    assert [seat.faults for seat in result.sides] == [
        ("no_show",) if is_gone else () for is_gone in gone
    ]
    assert walkover(planned, "g", ("B", "E"), (True, True)).void


def test_a_knockout_is_not_played_on_for_who_is_absent(tmp_path: Path) -> None:
    config = swiss("A", "B", "C", "D", format="knockout")
    with MatchFolder(tmp_path) as files:
        schedule = Schedule(config, files)
        first = list(schedule.next_round() or ())
        assert [planned.players for planned in first] == [(0, 3), (1, 2)]
        files.append(won(2, "B", "C", 400, 300))
        final = list(schedule.next_round(absent={0, 3}) or ())
        assert [planned.round for planned in final] == [2]


@pytest.mark.parametrize("lead", [2, 0])
def test_who_withdraws_from_a_final_has_not_won_it(lead: int, tmp_path: Path) -> None:
    """Nor has who was level and did not come to the last game."""
    config = swiss("A", "B", format="knockout", games=2)
    with MatchFolder(tmp_path) as files:
        files.decide(Round(1, (Pairing(0, 1),)))
        files.append(won(1, "A", "B", 500, 300))
        if lead:
            files.decide(Withdrawn(0, "ill"))
        else:
            sides = seat("A", 0, faults=("no_show",)), seat("B", 0)
            files.append(game(2, (0, 0), sides=sides, outcome="no_show", winner=1, round=1))
        assert [of.name for of in standings(config, files)] == ["B", "A"]
