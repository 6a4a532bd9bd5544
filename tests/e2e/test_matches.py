"""``tilewire match``, ``tournament`` and ``connect`` as their users run them."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dask_cluster import Cluster
from e2e.processes import COMMAND, PATIENCE_S, Server, run_command, serving
from interrupts import wait_for_lines
from match_samples import match_config

from bot.seat.runtime import software
from engine.notation.gcg import EventKind, read_gcg
from engine.notation.replaying import replay
from engine.rules.rules import standard_rules
from harness.arbiter.journal import Journal
from harness.matches.cluster import play_pair
from harness.matches.config import MatchError
from harness.matches.folder import FolderContents

KEYS = """a b games wins losses ties mean_score opponent_mean_score mean_spread spread_ci95 p_value
elo elo_error faults units paired void win_rate elo_ci95 stopped_early lost_double won_double
largest_ratio largest_ratio_won seconds forfeits moves move_ms_mean move_ms_longest
clock_used_ms_mean overtime_games time_penalty bingos_mean challenges"""

GCG_FILES = Path(__file__).parents[1] / "fixtures" / "gcg"
GAMES = 8
HOUSE = "/".join([*["15"] * 7, "3HOUSE7", *["15"] * 7])
PLAY = ("static?temperature=3", "greedy", "--seed", "11")

BOT = """
from bot.player import Choice, Player

class {name}(Player):
    def choose(self, view, budget):
        return Choice(view.legal_moves()[0].move, text="{name} was here")
"""

BREAKS = """
from bot.player import Choice, Player

class Breaks(Player):
    def choose(self, view, budget):
        print("I have", len(view.rack), "tiles")
        raise LookupError("no book")
"""


def play_match(*arguments: str | Path, python_path: str | None = None) -> dict[str, Any]:
    """Play a match to its end; give the JSON object of its last line."""
    done = run_command("match", *arguments, "--time", "1m", "--json", python_path=python_path)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def games_of(folder: Path) -> list[str]:
    """Read the games of a match without what each run has of its own."""
    texts = [path.read_text() for path in sorted((folder / "games").glob("*.gcg"))]
    return [re.sub(r"(?m)^#id .*\n", "", text) for text in texts]


def check_games(folder: Path, games: int) -> None:
    """See that every game is there, counted once, and adds up by the rules."""
    results = {result.number: result for result in FolderContents(folder).results}
    assert sorted(results) == list(range(1, games + 1))
    assert len(FolderContents(folder).results) == games
    assert len(games_of(folder)) == games
    for number, result in results.items():
        gcg = read_gcg((folder / "games" / f"{number:05d}.gcg").read_text())
        final = replay(gcg, standard_rules()).final
        scores = dict(zip((player.nick for player in gcg.players), final.scores, strict=True))
        assert scores == {side.name: side.score for side in result.sides}


def check_journal(folder: Path, games: int) -> None:
    """See that each game was played to its end, and none twice."""
    with closing(Journal(folder / "match.db")) as journal:
        assert not journal.unfinished()
        numbers = sorted(kept.label["number"] for kept in journal.finished())
    assert numbers == list(range(1, games + 1))


def openings(folder: Path) -> Path:
    """Write a file of three openings: racks, a position, a line of a game."""
    shutil.copy(GCG_FILES / "complete.gcg", folder)
    file = folder / "openings.txt"
    file.write_text(f"AEINRST/DGILNOU\n{HOUSE} AEIQ/ 20/5 1\ncomplete.gcg@2\n")
    return file


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a match that is played to its end at once, and its result."""
    there = tmp_path_factory.mktemp("undisturbed")
    play = (*PLAY, "--games", str(GAMES), "--openings", openings(there))
    return there / "match", play_match(*play, "--out", there / "match")


def test_a_match_between_players_of_the_house(
    undisturbed: tuple[Path, dict[str, Any]],
) -> None:
    folder, result = undisturbed
    assert list(result) == KEYS.split()
    assert (result["a"], result["b"], result["games"], result["units"]) == (
        *("static", "greedy"),
        *(GAMES, GAMES // 2),
    )
    assert result["wins"] + result["losses"] + result["ties"] == GAMES
    assert result["faults"] == result["forfeits"] == {"a": {}, "b": {}}
    assert json.loads((folder / "summary.json").read_text()) == result
    check_games(folder, GAMES)
    begun = [read_gcg(text).opening for text in games_of(folder)]
    assert begun[2:4] == [f"{HOUSE} AEIQ/ 20/5 1"] * 2


def test_a_bot_elsewhere(server: Server, tmp_path: Path) -> None:
    result = play_match("static", f"{server.url}/greedy", "--games", "2", "--out", tmp_path)
    assert (result["a"], result["b"], result["games"]) == ("static", "greedy", 2)
    assert result["faults"] == {"a": {}, "b": {}}
    assert not result["paired"], "a bot elsewhere may not know the bag, so luck is not shared"
    check_games(tmp_path, 2)


def test_a_bot_elsewhere_joins_a_server(server: Server, tmp_path: Path) -> None:
    with serving(tmp_path) as other:
        command = [*COMMAND, "connect", server.url, "--bot", f"{other.url}/static"]
        command += ["--name", "from-afar", "--opponent", "guest-of-the-day", "--wait"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as relay:
            joining = ("--bot", "greedy", "--name", "guest-of-the-day", "--opponent", "from-afar")
            done = run_command("connect", server.url, *joining, "--wait")
            assert relay.wait(PATIENCE_S) == 0, "its game is over"
            assert relay.stdout is not None
            assert relay.stdout.readline() == done.stdout.splitlines(keepends=True)[0]


def test_what_a_bot_prints_is_kept_and_its_exceptions_are_counted(tmp_path: Path) -> None:
    bad, folder = tmp_path / "bad.py", tmp_path / "match"
    bad.write_text(BREAKS)
    done = run_command("match", f"{bad}:Breaks", "greedy", "--out", folder, status=1)
    raised = f"{bad}, line 7, in choose: LookupError: no book"
    lines = done.stderr.splitlines()
    assert lines.count(f"tilewire: Breaks: {raised}") == 1
    assert "lost 2 games by its faults: 2 by crash" in lines[-1]
    games = list(csv.DictReader((folder / "results.csv").read_text("utf-8").splitlines()))
    assert ["process ended" in game["note"] for game in games] == [True, True]
    listed = run_command("games", folder, "--json").stdout.splitlines()
    assert [json.loads(line)["number"] for line in listed] == [1, 2]
    faults = (folder / "games" / "00001.faults.txt").read_text(encoding="utf-8").splitlines()
    assert faults[1] == raised
    assert not any("worker_main" in line for line in faults), "the author's lines only"
    for number in (1, 2):
        log = (folder / "seats" / f"Breaks.0000{number}.log").read_text(encoding="utf-8")
        assert log.startswith("I have 7 tiles\nTraceback")
        assert log.count("I have 7 tiles") == 2


def test_games_lost_by_faults_are_counted_by_kind_and_give_status_1(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import time\nfrom bot.player import Choice, Player\nclass Loses(Player):\n"
        "    def choose(self, view, budget):\n        time.sleep(60 * view.seat)\n"
        "        return Choice(view.move('1A ZZZ'))\n"
    )
    clock = ("--time", "300ms", "--max-overtime", "0s", "--out", tmp_path / "match")
    done = run_command("match", f"{bad}:Loses", "greedy", *clock, status=1)
    assert "lost 2 games by its faults: 1 by illegal, 1 by time" in done.stderr.splitlines()[-1]
    illegal = (tmp_path / "match" / "games" / "00001.faults.txt").read_text("utf-8")
    assert illegal.count("refused: 1A ZZZ: ") == 3


def test_a_bot_that_fails_before_its_games_is_told_what_it_raised(tmp_path: Path) -> None:
    bad, folder = tmp_path / "bad.py", tmp_path / "match"
    hook = "    def warm_up(self, lexicon, rules):\n        raise TypeError('no')\n"
    bad.write_text(BREAKS.replace("    def choose", f"{hook}    def choose"))
    done = run_command("match", f"{bad}:Breaks", "greedy", "--out", folder, status=1)
    said = done.stderr.splitlines()[-1]
    assert "missed 2 games" in said
    assert "in warm_up: TypeError: no" in said
    assert f"{folder}/games/0000" in said


def test_other_peoples_bots(tmp_path: Path) -> None:
    """One is installed, the other a file named like our own package.

    The other fails after each game, which is told, and changes nothing.
    """
    site, day = tmp_path / "site", tmp_path / "day"
    info = site / "their_bots-1.0.dist-info"
    info.mkdir(parents=True)
    day.mkdir()
    (site / "their_bots.py").write_text(BOT.format(name="First"))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-bots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tilewire.bots]\ntheir-first = their_bots:First\n")
    mine = day / "bot.py"
    hook = "    def game_over(self, view, result):\n        raise OSError('no room')\n"
    mine.write_text(f"{BOT.format(name='Mine')}\n{hook}")
    (day / "engine.py").write_text("raise AssertionError('not ours')")
    done = run_command(
        *("match", "their-first", f"{mine}:Mine", "--out", tmp_path / "match", "--json"),
        python_path=os.pathsep.join([str(site), str(day)]),
    )
    said = f"tilewire: Mine: {mine}, line 9, in game_over: OSError: no room"
    assert said in done.stderr.splitlines()
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["a"], result["b"], result["games"]) == ("their-first", "Mine", 2)
    assert result["faults"] == {"a": {}, "b": {}}
    logs = sorted((tmp_path / "match" / "seats").iterdir())
    assert [log.name for log in logs] == ["Mine.00001.log", "Mine.00002.log"], "none of the other"
    assert all(log.read_text(encoding="utf-8").startswith("Traceback ") for log in logs)
    check_games(tmp_path / "match", 2)


def kill_after(wanted: int, folder: Path, *arguments: str | Path) -> None:
    """Play a match or tournament until so many games have a result, and kill it."""
    with subprocess.Popen([*COMMAND, *map(str, arguments)], stderr=subprocess.DEVNULL) as host:
        wait_for_lines(folder / "results.jsonl", wanted, host)
        host.kill()
    assert len(FolderContents(folder).results) >= wanted


def test_a_match_that_was_killed_goes_on_without_the_file_of_its_openings(
    undisturbed: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    """By another way of its messages, and extended: neither changes its games."""
    folder, link, file = tmp_path / "match", tmp_path / "link", openings(tmp_path)
    link.symlink_to(folder)
    play = ("match", *PLAY, "--time", "1m", "--concurrency", "2", "--openings", file)
    pipe = ("--transport", "pipe", "--games", str(GAMES - 1))
    kill_after(1, folder, *play, *pipe, "--out", folder)
    file.unlink()
    kill_after(4, folder, "match", "--resume", link)
    assert len(FolderContents(folder).results) < GAMES - 1
    # The last pair had one game only: the match is extended in the middle of it.
    done = run_command("match", "--resume", folder, "--games", str(GAMES), "--json")
    assert json.loads(done.stdout.splitlines()[-1])["games"] == GAMES
    check_games(folder, GAMES)
    check_journal(folder, GAMES)
    # The luck of each game is that of a match that nobody killed.
    assert games_of(folder) == games_of(undisturbed[0])


@pytest.fixture
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Cluster]]:
    there: list[Cluster] = []
    yield there
    for cluster in there:
        cluster.close()


def test_a_match_on_a_cluster_whose_worker_and_scheduler_are_killed_is_that_of_one_machine(
    undisturbed: tuple[Path, dict[str, Any]], clusters: list[Cluster], tmp_path: Path
) -> None:
    folder, file = tmp_path / "match", openings(tmp_path)
    clusters.append(Cluster(tmp_path / "first"))
    workers = [clusters[0].add_worker(), clusters[0].add_worker()]
    play = (*PLAY, "--time", "1m", "--games", str(GAMES), "--openings", file, "--out", folder)
    with run_match(*play, "--cluster", clusters[0].address) as host:
        wait_for_lines(folder / "results.jsonl", 2, host)
        workers[0].kill()
        wait_for_lines(folder / "results.jsonl", 4, host)
        clusters[0].scheduler.kill()
        _, told = host.communicate(timeout=PATIENCE_S)
    assert host.returncode == 1, told
    assert "the Dask scheduler at" in told
    assert "Traceback" not in told
    clusters.append(Cluster(tmp_path / "second"))
    clusters[1].add_worker()
    run_command("match", "--resume", folder, "--cluster", clusters[1].address)
    check_games(folder, GAMES)
    check_journal(folder, GAMES)
    assert games_of(folder) == games_of(undisturbed[0])


def test_workers_of_another_version_or_with_other_words_are_told_from_ours() -> None:
    config = match_config()
    with pytest.raises(MatchError, match=r"has tilewire .*, and this is 0"):
        play_pair(config, "0", [])
    with pytest.raises(MatchError, match="scowl has other words on a worker"):
        play_pair(config, software(), [])


def test_a_match_that_is_stopped_shows_its_table_and_needs_little_memory(tmp_path: Path) -> None:
    """Its memory doesn't grow with the number of games that was typed; it may be paused, too."""
    folder, peaks = tmp_path / "match", list[int]()
    begin: tuple[str | Path, ...] = ("static", "greedy", "--games", "99", "--out", folder)
    more: tuple[str | Path, ...] = ("--resume", folder, "--games", "5000000000")
    for number, arguments, least in ((signal.SIGINT, begin, 2), (signal.SIGTERM, more, 5)):
        with run_match(*arguments) as host:
            played = wait_for_lines(folder / "results.jsonl", least, host)
            status = Path(f"/proc/{host.pid}/status")
            if status.exists():
                peaks.append(int(re.findall(r"VmHWM:\s*(\d+) kB", status.read_text())[0]))
            host.send_signal(number)
            printed, told = host.communicate(timeout=PATIENCE_S)
        assert host.returncode == 128 + number
        games = int(re.findall(r"stopped after (\d+) of [\d,]+ games; ", told)[0])
        assert games >= played
        assert told.endswith(f"tilewire match --resume {folder} goes on\n")
        assert f"{games} games in " in printed
    assert max(peaks) < min(peaks) + 32_000
    (pause := folder / "pause").touch()
    with run_match("--resume", folder) as host:
        assert host.stderr is not None
        assert any(f"rm {pause}" in line for line in host.stderr)
        host.send_signal(signal.SIGINT)
        host.communicate(timeout=PATIENCE_S)
    assert host.returncode == 128 + signal.SIGINT
    assert len(FolderContents(folder).results) == games


def run_match(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [*COMMAND, "match", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_match_with_challenges_counts_them_and_replays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = run_command(
        *("match", "bluff?rate=0.5", "static", "--challenge", "5-point", "--games", "2"),
        *("--seed", "7", "--transport", "pipe", "--out", str(out), "--json"),
    )
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told["challenges"]["a"] == {"won": 0, "lost": 0}
    assert told["challenges"]["b"]["won"] > 0
    withdrawn = 0
    for text in games_of(out):
        gcg = read_gcg(text)
        replay(gcg, standard_rules())
        withdrawn += sum(event.kind is EventKind.WITHDRAWN for event in gcg.events)
    assert withdrawn == told["challenges"]["b"]["won"]


FIELD = ("static", "greedy", "static")
TOURNAMENT = (
    *("--name", "C=other", "--name", "A=one"),
    *("--time", "1m", "--seed", "3", "--transport", "pipe"),
)


def play_tournament(*arguments: str | Path) -> dict[str, Any]:
    """Play a tournament to its end; return the JSON object of its last line."""
    done = run_command("tournament", *arguments, "--json")
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


def test_a_round_robin_that_was_killed_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = play_tournament(*FIELD, *TOURNAMENT, "--out", tmp_path / "whole")
    folder = tmp_path / "killed"
    kill_after(3, folder, "tournament", *FIELD, *TOURNAMENT, "--out", folder)
    assert len(FolderContents(folder).results) < 6
    resumed = play_tournament("--resume", folder)
    check_games(folder, 6)
    assert games_of(folder) == games_of(tmp_path / "whole")
    timeless = [
        [{key: value for key, value in of.items() if key != "move_ms_mean"} for of in standings]
        for standings in (whole["standings"], resumed["standings"])
    ]
    assert timeless[0] == timeless[1]
    assert sum(of["points"] for of in whole["standings"]) == 6
    assert {cell["games"] for cell in whole["cross"]} == {2}
