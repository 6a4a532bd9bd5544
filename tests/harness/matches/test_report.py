"""How a match is shown: the table, the progress, the files."""

from __future__ import annotations

import csv
import io
import json
import re
import resource
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
import pytest
from match_samples import game, match_config, seat, stats_of
from rich.cells import cell_len
from rich.console import Console

from harness.figures import duration, number, plain, rate
from harness.matches.folder import Corrected, FolderContents, Joined, MatchFolder, Paused
from harness.matches.progress import MatchProgress
from harness.matches.ratings import rate_results
from harness.matches.report import standings_table, summarize, table_text, write_summary
from harness.matches.results import CSV_COLUMNS, GameResult
from harness.matches.schedule import Schedule
from harness.matches.standings import standings

BOT = "tests/hostile_bots.py:Pries"


def a_match(games: int, a: str = "static", b: str = "monte carlo") -> list[GameResult]:
    random = np.random.default_rng(4)
    results = []
    for n in range(games):
        ours, theirs = (int(x) for x in random.normal((437, 405), 60))
        sides = (seat(a, ours, faults=("illegal",)), seat(b, theirs, bingos=2, overtime_ms=n))
        results.append(game(n, (ours, theirs), sides=sides))
    return results


def told(results: list[GameResult]) -> str:
    """The table of a match, as one line."""
    return " ".join(table_text(stats_of(results), results).split())


class Ticking:
    """A clock that says how many seconds it was set to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# --- the table ------------------------------------------------------------------------------------


LOST = [game(n, (500, 127), outcome="crash", winner=1) for n in range(20, 40)]
FEW = [game(n, (430 + n, 400)) for n in range(38)]


@pytest.mark.parametrize(
    ("results", "says"),
    [
        pytest.param(a_match(40), "static is ahead on spread, ", id="by spread"),
        pytest.param(LOST, "monte carlo is ahead on wins, by more than luck", id="many forfeits"),
        pytest.param([*FEW, *LOST[18:]], "static is ahead on spread", id="few forfeits"),
        pytest.param(
            [game(0, (300, 500)), *(game(n, (401, 400)) for n in range(1, 4))],
            "monte carlo is ahead on spread, static on games won; fewer than 6 pairs",
            id="games won only",
        ),
    ],
)
def test_the_table_says_who_is_ahead(results: list[GameResult], says: str) -> None:
    assert says in told(results)


def test_the_table_counts_what_happened() -> None:
    results = a_match(40)
    results[5] = game(5, (100, 90), outcome="time", winner=1)
    results.append(game(41, (0, 0), outcome="host_error", winner=None))
    for words in ("40 games in 20 pairs, 1 tied, 1 void", "time 1", "illegal 39", "Forfeits: 1"):
        assert words in told(results)


def test_a_few_pairs_say_nothing_of_luck() -> None:
    for games, can_tell in ((2, False), (10, False), (12, True)):
        text = told([game(n, (460, 400 + n)) for n in range(games)])
        assert ("fewer than 6 pairs can't tell" in text) is not can_tell
        assert ("95 %" in text) is can_tell
        assert ("p-value 0.031" in text) is can_tell


def test_names_cannot_steer_the_terminal() -> None:
    text = told(a_match(2, a="\x1b[2Jevil\n"))
    assert "\x1b" not in text
    assert "�[2Jevil�" in text
    assert plain("Ünal 字 x") == "Ünal 字 x"


# --- the progress ---------------------------------------------------------------------------------


def test_progress_without_a_terminal_is_a_line_now_and_then() -> None:
    out, clock = io.StringIO(), Ticking()
    console = Console(file=out, force_terminal=False, width=20)
    earlier = [game(n, (400, 380)) for n in range(3)]
    with MatchProgress(20, "a", "b", earlier=earlier, console=console, clock=clock) as progress:
        for n in range(9):
            clock.now += 4
            progress.game_finished(game(n, (400, 400)))
        progress.game_finished(game(12, (0, 0), outcome="host_error", winner=None))
    lines = out.getvalue().splitlines()
    assert len(lines) == 4  # after 12, 24 and 36 seconds, and where it stopped
    assert lines[0] == "6/20 games, a 3–0–3 b, spread +10.0, 15.0/min, 0:56 left", "of its own"
    assert lines[-1] == "12/20 games, a 3–0–9 b, spread +5.0, 1 void, 15.0/min, 0:32 left"


def test_a_pause_is_shown_and_its_time_is_not_counted() -> None:
    clock, console = Ticking(), Console(file=io.StringIO(), force_terminal=False)
    with MatchProgress(20, "a", "b", console=console, clock=clock) as progress:
        for _ in range(2):
            clock.now += 4
            progress.game_finished(game(1, (420, 400)))
            progress.pause(True)
            assert progress.line().endswith("spread +20.0, paused"), "no speed in a pause"
            clock.now += 30_000
            progress.pause(False)
        assert progress.line().endswith("15.0/min, 1:12 left")


@pytest.mark.parametrize("width", [60, 160])
def test_progress_on_a_terminal_tells_versions_apart_in_one_line(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")  # wherever the tests run
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=width, color_system=None)
    names = "Balance {task} [old]", "Balance {task} [new]"
    with MatchProgress(1_000, *names, console=console, clock=Ticking()) as progress:
        progress.game_finished(game(0, (420, 400)))
        console.print("a word from the match")
    assert "a word from the match" in terminal.getvalue()
    last = terminal.getvalue().split("\x1b[2K")[-2].splitlines()[0]
    assert cell_len(last) <= width
    assert "1/1000" in last.replace(" ", "")
    first, second = last.split(" 1–0 ")
    assert first.split("Bal")[1] != second.split("Bal")[1]


# --- the files ------------------------------------------------------------------------------------


def test_the_folder_of_a_match(tmp_path: Path) -> None:
    results = a_match(6)
    with MatchFolder(tmp_path / "deep" / "match") as folder:
        for result in results[:4]:
            folder.append(result)
        assert len(FolderContents(folder.path).results) == 4
    with MatchFolder(tmp_path / "deep" / "match") as folder:
        assert folder.results == results[:4]
        for result in results[4:]:
            folder.append(result)
        write_summary(match_config(names=("x", "y"), games=6), folder)
    stats = stats_of(results, names=("x", "y"))
    summary = json.loads((folder.path / "summary.json").read_text(encoding="utf-8"))
    assert (summary["a"], summary["b"], summary["games"]) == ("x", "y", 6)
    assert (folder.path / "summary.txt").read_text(encoding="utf-8") == table_text(stats, results)
    names = sorted(path.name for path in folder.path.iterdir())
    assert names == ["results.csv", "results.jsonl", "summary.json", "summary.txt"]


def test_a_folder_is_taken_up_after_a_torn_line_and_left_alone_if_it_is_none(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results.jsonl"
    with MatchFolder(tmp_path) as folder:
        folder.append(game(0, (400, 390)))
        folder.append(game(1, (1, 2), outcome="host_error", winner=None))
    path.write_bytes(path.read_bytes() + msgspec.json.encode(game(1, (400, 390)))[:-8])
    with MatchFolder(tmp_path) as folder:
        assert [result.number for result in folder.results] == [0, 1]
        folder.append(game(1, (370, 390)))
        with pytest.raises(ValueError, match="already has a result"):
            folder.append(game(0, (400, 390)))
    assert [result.spread for result in FolderContents(tmp_path).results] == [10, -1, -20]
    path.write_text('{"game": 1}\nmore')
    with pytest.raises(ValueError, match="line 1"):
        MatchFolder(tmp_path)
    assert path.read_text() == '{"game": 1}\nmore'


def test_a_table_has_each_game_that_counts_as_it_counts(tmp_path: Path) -> None:
    """After a death that tore it, and after a correction."""
    table, names = tmp_path / "results.csv", ('=1+1, "so"', "b")

    def column(name: str) -> list[str]:
        lines = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
        return [line[name] for line in lines]

    with MatchFolder(tmp_path) as folder:
        assert column("number") == []
        for number, scores in enumerate(((400, 390), (380, 380), (300, 410)), start=1):
            sides = seat(names[0], scores[0], faults=("crash", "time")), seat(names[1], scores[1])
            how = "time" if number == 3 else "out"
            folder.append(game(number, scores, sides=sides, first=number % 2, outcome=how))
        folder.append(game(4, (1, 2), outcome="host_error", winner=None))
        assert column("winner") == [f"'{names[0]}", "", "b"]
        assert column("first") == ["b", f"'{names[0]}", "b"]
        assert column("points") == ["1.0", "0.5", "0.0"]
        assert (column("a_faults")[2], column("spread")[2]) == ("crash time", "-110")
        whole = table.read_text(encoding="utf-8")
        folder.decide(Corrected(3, "g3", (412, 410), "hannah: misread"))
        assert column("b_score") == ["390", "380", "410"]
        assert column("a_score")[2] == "412"
        assert column("note")[2].startswith("corrected from 410 – 300")
        folder.decide(Corrected(2, "g2", None))
        assert column("number") == ["1", "3"]
    (tmp_path / "decisions.jsonl").unlink()
    table.write_text(whole[:-9], encoding="utf-8")
    with MatchFolder(tmp_path):
        assert table.read_text(encoding="utf-8") == whole


def test_the_example_for_pandas_names_columns_that_are_there() -> None:
    document = Path(__file__).parents[3] / "docs" / "files.md"
    (example,) = re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.S)
    named = set(re.findall(r'(?<=[."])\w+(?!\w|[.(])', example)) - {"csv", "count", "mean", "time"}
    assert "first" in named
    assert named <= set(CSV_COLUMNS)


def test_a_line_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    """Where the disk is full in the middle of it."""
    log = tmp_path / "decisions.jsonl"
    with MatchFolder(tmp_path) as folder:
        folder.decide(Joined("ann"))
        before, limits = log.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
        try:
            with pytest.raises(OSError, match=r"decisions\.jsonl"):
                folder.decide(Paused("lunch"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert log.read_bytes() == before
        assert folder.decisions == [Joined("ann")]


# --- figures --------------------------------------------------------------------------------------

FIGURES: list[tuple[Callable[..., str], dict[object, str]]] = [
    (
        lambda x: number(x, sign=True),
        {None: "–", 0.01: "0.0", -0.04: "0.0", 3: "+3.0", -1234.56: "−1,234.6"},
    ),
    (duration, {None: "–", 0.26: "0.3 ms", 9.96: "10 ms", 42: "42 ms", 999.7: "1.00 s"}),
    (duration, {1_500: "1.50 s", 59_999: "1:00", 61_000: "1:01", 3_723_000: "1:02:03"}),
    (
        lambda case: rate(*case),
        {(0, 5.0): "–", (50, 10.0): "5.0/s", (5, 60.0): "5.0/min", (2, 3600.0): "2.0/h"},
    ),
]


@pytest.mark.parametrize(("write", "cases"), FIGURES)
def test_numbers_and_times_as_read(write: Callable[..., str], cases: dict[object, str]) -> None:
    assert {value: write(value) for value in cases} == cases


# --- tournaments ----------------------------------------------------------------------------------


def test_a_tournament_shows_standings_ratings_and_who_beat_whom(tmp_path: Path) -> None:
    config = match_config(seats=("static",) * 3, names=("Ann", "B" * 40, "\x1b[2JC"), games=20)
    with MatchFolder(tmp_path) as files:
        for number in range(1, 61):
            a, b = ((0, 1), (0, 2), (1, 2))[number % 3]
            scores = (400 + 7 * (number % 5), 400 + 5 * (number % 7))
            sides = (seat(config.names[a], scores[0]), seat(config.names[b], scores[1]))
            files.append(game(number, scores, sides=sides, pair=number, first=number // 3 % 2))
        summary = summarize(config, files)
        first = standings_table(config, standings(config, files), 200, most=1)
    assert "60 games" in str(first.title), "all games are counted"
    assert first.row_count == 1
    for columns in (80, 140):
        text = summary.text(columns)
        assert columns > 80 or max(map(len, text.splitlines())) <= 80
        assert "\x1b" not in text
        assert "60 games" in text
        assert re.search(r"Ann .* 40 .* ± ", text)
    found = summary.as_object()
    assert found["standings"][0]["name"] in config.names
    assert sum(of["points"] for of in found["standings"]) == 60
    assert len(found["cross"]) == 6
    ratings = [of["rating"] for of in found["ratings"]["players"]]
    assert abs(sum(ratings)) < 1e-6
    json.dumps(found, allow_nan=False)


def test_a_game_to_which_one_did_not_come_tells_nothing_of_play(tmp_path: Path) -> None:
    played = [game(0, (400, 300)), game(1, (350, 400))]
    missed = game(2, (0, 0), outcome="no_show", winner=0, turns=0)
    ratings = rate_results(played)
    assert rate_results([*played, missed]).players == ratings.players
    config = match_config(names=("static", "monte carlo"))
    with MatchFolder(tmp_path) as files:
        for result in (*played, missed):
            files.append(result)
        leader = standings(config, files)[0]
    assert (leader.games, leader.points, leader.mean_score) == (3, 2.0, 375.0)


@pytest.mark.parametrize("seats", [("static", BOT), ("static", "static", BOT)])
@pytest.mark.parametrize("contained", [True, False, None])
def test_who_could_remember_draws_gets_new_ones_and_the_result_says_so(
    tmp_path: Path, seats: tuple[str, ...], contained: bool | None
) -> None:
    names = ("Ann", "Ben", "Bot")[-len(seats) :]
    config = match_config(seats=seats, names=names, contained=contained)
    with MatchFolder(tmp_path) as files:
        games = chain.from_iterable(iter(Schedule(config, files).next_round, None))
        shared = {game.paired for game in games if len(seats) - 1 in game.players}
        summary = summarize(config, files)
    shares = contained is not False  # None: begun by an earlier version
    assert shared == {shares}
    assert ("Bot could remember" in summary.text(80)) == (not shares)
    assert summary.as_object().get("fresh_draws", {}).keys() == (set() if shares else {"Bot"})
    others = replace(summary, fresh_draws={"A": "it runs elsewhere", "B": "it runs elsewhere"})
    assert "A, B could remember (it runs elsewhere)" in " ".join(others.text(80).split())
