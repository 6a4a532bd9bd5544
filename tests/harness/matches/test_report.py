"""How a match is shown: the table, the progress, the files."""

from __future__ import annotations

import csv
import io
import json
import re
import resource
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
import pytest
from match_samples import game, match_config, seat, stats_of
from rich.cells import cell_len
from rich.console import Console

from harness.figures import duration, number, plain, plain_text, rate
from harness.matches.folder import Corrected, FolderContents, Joined, MatchFolder, Paused
from harness.matches.progress import MatchProgress
from harness.matches.ratings import rate_results
from harness.matches.report import (
    standings_table,
    summarize,
    table_text,
    write_summary,
)
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


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Somewhere to draw that rich takes for a terminal wherever the tests run."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return io.StringIO()


class Ticking:
    """A clock that says how many seconds it was set to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("columns", [60, 80, 160])
@pytest.mark.parametrize("games", [0, 1, 2, 3, 40])
@pytest.mark.parametrize("name", ["b", "W" * 64, "字" * 40, "an [red]odd[/] name {x}"])
def test_the_table_fits_the_terminal_and_cuts_nothing(games: int, name: str, columns: int) -> None:
    results = a_match(games, b=name)
    text = table_text(stats_of(results), results, columns)
    assert all(cell_len(line) <= min(columns, 80) for line in text.splitlines())
    assert "…" not in text
    assert "nan" not in text
    shown = "".join(line.split("│")[-2].strip() for line in text.splitlines()[2:8] if "│" in line)
    assert not games or name.replace(" ", "") in shown.replace(" ", "")


def test_the_table_says_what_matters() -> None:
    results = a_match(40)
    results[5] = game(5, (100, 90), outcome="time", winner=1)
    results.append(game(41, (0, 0), outcome="host_error", winner=None))
    text = table_text(stats_of(results), results)
    for word in (
        "40 games in 20 pairs, 1 tied, 1 void",
        "static",
        "monte carlo",
        "time 1",
        "illegal 39",
    ):
        assert word in text
    assert "static is ahead on spread" in text


def test_where_many_games_are_forfeited_wins_say_who_is_ahead() -> None:
    lost = [game(n, (500, 127), outcome="crash", winner=1) for n in range(20, 40)]
    text = " ".join(table_text(stats_of(lost), lost).split())
    assert "monte carlo is ahead on wins, by more than luck explains" in text
    assert "20" in text.partition("Forfeits")[2]
    few = [game(n, (430 + n, 400)) for n in range(38)]
    text = " ".join(table_text(stats_of([*few, *lost[18:]]), few).split())
    assert "static is ahead on spread" in text


def test_who_is_ahead_on_games_won_only_is_said_too() -> None:
    results = [game(0, (300, 500)), *(game(n, (401, 400)) for n in range(1, 4))]
    text = " ".join(table_text(stats_of(results), results).split())
    assert re.search("(.+) is ahead on spread, (?!\\1)(.+) on games won;", text)


@pytest.mark.parametrize("games", [2, 6, 10])
def test_a_few_pairs_say_nothing_of_luck(games: int) -> None:
    results = [game(n, (460, 400 + n)) for n in range(games)]
    text = table_text(stats_of(results), results)
    assert "+5" in text
    assert "fewer than 6 pairs can't tell skill from luck" in " ".join(text.split())
    assert "95 %" not in text
    assert "p-value" not in text
    more = [game(n, (460, 400 + n)) for n in range(12)]
    text = table_text(stats_of(more), more)
    assert "p-value             0.031: how often equal players end this far apart" in text
    assert "95 %: +" in text


def test_the_histogram_puts_each_spread_on_its_side() -> None:
    results = [game(n, (400, 400 + x)) for n, x in enumerate((1, 1, 30, -115, -5_000))]
    (line,) = (
        line
        for line in table_text(stats_of(results), results).splitlines()
        if line.startswith(" games by spread")
    )
    left, right = line.split("│")
    assert left.rstrip()[-1] == "█"  # three games just below 0
    assert sum(mark in "▁▂▃▄▅▆▇█" for mark in right) == 2  # one near, one at the far end


def test_names_cannot_steer_the_terminal() -> None:
    results = a_match(2, a="\x1b[2Jevil\n")
    text = table_text(stats_of(results), results)
    assert "\x1b" not in text
    assert "�[2Jevil�" in text
    assert plain("Ünal 字 x") == "Ünal 字 x"


def test_progress_without_a_terminal_is_a_line_now_and_then() -> None:
    out, clock = io.StringIO(), Ticking()
    console = Console(file=out, force_terminal=False, width=20)
    with MatchProgress(20, "static", "mc", console=console, clock=clock) as progress:
        for n in range(12):
            clock.now += 4
            progress.game_finished(game(n, (420, 400) if n % 3 else (400, 400)))
        progress.game_finished(game(12, (0, 0), outcome="host_error", winner=None))
    lines = out.getvalue().splitlines()
    assert len(lines) == 5  # after 12, 24, 36 and 48 seconds, and where it stopped
    assert lines[0] == "3/20 games, static 2–0–1 mc, spread +13.3, 15.0/min, 1:08 left"
    assert lines[-1] == "12/20 games, static 8–0–4 mc, spread +13.3, 1 void, 15.0/min, 0:32 left"


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


def test_a_match_that_is_taken_up_counts_its_games_but_not_their_speed() -> None:
    out, clock = io.StringIO(), Ticking()
    console = Console(file=out, force_terminal=False)
    earlier = a_match(6)
    with MatchProgress(8, "a", "b", earlier=earlier, console=console, clock=clock) as progress:
        for n in (6, 7):
            clock.now += 2
            progress.game_finished(game(n, (400, 390)))
    (line,) = out.getvalue().splitlines()
    assert line.startswith("8/8 games, a ")
    assert line.endswith(", 30.0/min")


def test_progress_on_a_terminal_fits_one_line(terminal: io.StringIO) -> None:
    clock = Ticking()
    console = Console(file=terminal, force_terminal=True, width=80, color_system=None)
    with MatchProgress(10, "a {task} [b]" * 3, "mc", console=console, clock=clock) as progress:
        for n in range(9):
            clock.now += 1
            progress.game_finished(game(n, (420, 400)))
        console.print("a word from the match")
    drawn = terminal.getvalue()
    assert "a word from the match" in drawn
    assert "9/10" in drawn
    assert "a {tas…} [b] 9–0 mc" in " ".join(drawn.split())
    last = drawn.split("\x1b[2K")[-2].splitlines()[0]
    assert cell_len(last) <= 80


@pytest.mark.parametrize("width", [60, 80, 160])
@pytest.mark.parametrize("total", [2, 1_000])
def test_progress_tells_versions_apart_in_one_line(
    terminal: io.StringIO, width: int, total: int
) -> None:
    console = Console(file=terminal, force_terminal=True, width=width, color_system=None)
    names = "Balance (old)", "Balance (new)"
    with MatchProgress(total, *names, console=console, clock=Ticking()) as progress:
        progress.game_finished(game(0, (420, 400)))
    last = terminal.getvalue().split("\x1b[2K")[-2].splitlines()[0]
    assert cell_len(last) <= width
    assert f"1/{total}" in last.replace(" ", "")
    assert last.rstrip().endswith("+20.0")
    first, second = last.split(" 1–0 ")
    assert first.split("Bal")[1] != second.split("Bal")[1]


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


def test_a_folder_is_taken_up_after_a_torn_line(tmp_path: Path) -> None:
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


def test_a_table_has_each_game_that_counts_as_it_counts(tmp_path: Path) -> None:
    """After a death that tore it, after a correction, and as the example for pandas reads it."""
    table, names = tmp_path / "results.csv", ('=1+1, "so"', "b")

    def lines() -> list[dict[str, str]]:
        return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))

    with MatchFolder(tmp_path) as folder:
        assert lines() == []
        for number, scores in enumerate(((400, 390), (380, 380), (300, 410)), start=1):
            sides = seat(names[0], scores[0], faults=("crash", "time")), seat(names[1], scores[1])
            how = "time" if number == 3 else "out"
            folder.append(game(number, scores, sides=sides, first=number % 2, outcome=how))
        folder.append(game(4, (1, 2), outcome="host_error", winner=None))
        assert [line["winner"] for line in lines()] == [f"'{names[0]}", "", "b"]
        assert [line["first"] for line in lines()] == ["b", f"'{names[0]}", "b"]
        assert [line["points"] for line in lines()] == ["1.0", "0.5", "0.0"]
        assert (lines()[2]["a_faults"], lines()[2]["spread"]) == ("crash time", "-110")
        whole = table.read_text(encoding="utf-8")
        folder.decide(Corrected(3, "g3", (412, 410), "hannah: misread"))
        assert [line["b_score"] for line in lines()] == ["390", "380", "410"]
        assert (lines()[2]["a_score"], lines()[2]["note"]) == (
            "412",
            f"corrected from 410 – 300 ({names[0]} lost on time) by director hannah: misread",
        )
        folder.decide(Corrected(2, "g2", None))
        assert [line["number"] for line in lines()] == ["1", "3"]
    (tmp_path / "decisions.jsonl").unlink()
    table.write_text(whole[:-9], encoding="utf-8")
    with MatchFolder(tmp_path):
        assert table.read_text(encoding="utf-8") == whole


def test_the_example_for_pandas_names_columns_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = Path(__file__).parents[3] / "docs" / "files.md"
    (example,) = re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.S)
    named = set(re.findall(r'(?<=[."])\w+(?!\w|[.(])', example)) - {"csv", "count", "mean", "time"}
    assert "first" in named
    assert named <= set(CSV_COLUMNS)
    with MatchFolder(tmp_path) as folder:
        for result in a_match(4):
            folder.append(result)
    monkeypatch.chdir(tmp_path)
    if find_spec("pandas"):
        exec(example)


def test_results_that_are_none_are_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"game": 1}\nmore')
    with pytest.raises(ValueError, match="line 1"):
        MatchFolder(tmp_path)
    assert path.read_text() == '{"game": 1}\nmore'


def test_numbers_and_times_as_read() -> None:
    assert [number(x, sign=True) for x in (None, 0.01, -0.04, 3, -1234.56)] == [
        "–",
        "0.0",
        "0.0",
        "+3.0",
        "−1,234.6",
    ]
    times = (None, 0.26, 42, 1_500, 61_000, 3_723_000)
    assert [duration(ms) for ms in times] == ["–", "0.3 ms", "42 ms", "1.50 s", "1:01", "1:02:03"]
    assert [duration(ms) for ms in (9.96, 999.7, 59_999)] == ["10 ms", "1.00 s", "1:00"]
    rates = ((0, 5.0), (50, 10.0), (5, 60.0), (2, 3600.0))
    assert [rate(*case) for case in rates] == ["–", "5.0/s", "5.0/min", "2.0/h"]


def test_standings_without_ratings_have_all_columns_that_fit(tmp_path: Path) -> None:
    with MatchFolder(tmp_path) as files:
        files.append(game(1, (400, 300), sides=(seat("Old"), seat("New"))))
        table = standings(match_config(), files)

    def at(width: int) -> str:
        return plain_text(standings_table(match_config(), table, width), width)

    wide = at(200)
    needed = max(map(len, wide.splitlines()))
    assert at(needed).split() == wide.split()
    assert all("…" not in at(width) for width in range(needed - 20, needed))
    cut = plain_text(standings_table(match_config(), table, 200, most=1), 200)
    assert "1 game" in cut, "all games are counted"
    assert "Old" in cut
    assert "New" not in cut


def test_a_tournament_shows_standings_ratings_and_who_beat_whom(tmp_path: Path) -> None:
    config = match_config(seats=("static",) * 3, names=("Ann", "B" * 40, "\x1b[2JC"), games=20)
    with MatchFolder(tmp_path) as files:
        for number in range(1, 61):
            a, b = ((0, 1), (0, 2), (1, 2))[number % 3]
            scores = (400 + 7 * (number % 5), 400 + 5 * (number % 7))
            sides = (seat(config.names[a], scores[0]), seat(config.names[b], scores[1]))
            files.append(game(number, scores, sides=sides, pair=number, first=number // 3 % 2))
        summary = summarize(config, files)
    wide, narrow = (summary.text(columns) for columns in (140, 80))
    found = summary.as_object()
    assert max(map(len, narrow.splitlines())) <= 80
    assert "faults" not in narrow
    for text in (wide, narrow):
        assert "\x1b" not in text
        assert "round robin, 60 games" in text
        assert "points against each other" in text
        assert re.search(r"Ann .* 40 .* ± ", text)
        assert "the first move: " in text
    assert found["standings"][0]["name"] in config.names
    assert sum(of["points"] for of in found["standings"]) == 60
    assert len(found["cross"]) == 6
    ratings = [of["rating"] for of in found["ratings"]["players"]]
    assert abs(sum(ratings)) < 1e-6
    json.dumps(found, allow_nan=False)


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
    found = summary.as_object()
    assert ("Bot could remember" in summary.text(80)) == (not shares)
    others = replace(summary, fresh_draws={"A": "it runs elsewhere", "B": "it runs elsewhere"})
    assert "A, B could remember (it runs elsewhere)" in " ".join(others.text(80).split())
    assert found.get("fresh_draws", {}).keys() == (set() if shares else {"Bot"})
