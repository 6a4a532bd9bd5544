"""``tilewire match`` and ``tilewire connect`` as their users run them."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from e2e.processes import COMMAND, PATIENCE_S, Server, run_command, serving
from interrupts import wait_for_lines

from engine.notation.gcg import EventKind, read_gcg
from engine.notation.replaying import replay
from engine.rules.rule_sets import load_rules
from engine.rules.rules import standard_rules
from harness.arbiter.journal import Journal
from harness.matches.folder import FolderContents

KEYS = """a b games wins losses ties mean_score opponent_mean_score mean_spread spread_ci95 p_value
elo elo_error faults units paired void win_rate elo_ci95 stopped_early lost_double won_double
largest_ratio largest_ratio_won seconds forfeits moves move_ms_mean move_ms_longest
clock_used_ms_mean overtime_games time_penalty bingos_mean challenges"""

GCG_FILES = Path(__file__).parents[1] / "fixtures" / "gcg"
GAMES = 12
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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a match that is played to its end at once, and its result."""
    folder = tmp_path_factory.mktemp("undisturbed") / "match"
    return folder, play_match(*PLAY, "--games", str(GAMES), "--out", folder)


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


def test_a_file_of_settings_and_the_way_of_the_messages_change_nothing(
    undisturbed: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    pipe, config = tmp_path / "pipe", tmp_path / "match.toml"
    seats, seed = PLAY[:2], PLAY[2:]
    config.write_text(f'seats = {list(seats)}\ngames = 4\nseed = 8\nmove_cap = "40s"\n')
    play_match("--config", config, *seed, "--transport", "pipe", "--out", pipe)
    check_games(pipe, 4)
    socket = undisturbed[0]
    assert games_of(pipe) == games_of(socket)[:4]


def test_a_match_by_rules_of_ones_own_with_tiles_of_several_characters(
    tmp_path: Path,
) -> None:
    rules, words, out = tmp_path / "own.toml", tmp_path / "words.txt", tmp_path / "match"
    rules.write_text('tiles = "own.csv"\nboard = "super"\nrack_size = 5\n')
    (tmp_path / "own.csv").write_text("?,?,1,0,0\nA,a,20,1,1\nCH,ch,10,5,0\nT,t,20,2,0\n")
    words.write_text("AT\nATA\nCHA\nCHAT\nTACHA\n")
    given = ("--rules", str(rules), "--lexicon", str(words), "--games", "1", "--seed", "3")
    played = play_match("greedy", "static", *given, "--out", out)
    assert (played["games"], played["faults"]) == (1, {"a": {}, "b": {}})
    (text,) = games_of(out)
    assert "[CH]" in text
    replayed = replay(read_gcg(text), load_rules(rules))
    assert replayed.final.board.layout.rows == 21
    (result,) = FolderContents(out).results
    assert set(replayed.final.scores) == {side.score for side in result.sides}


def test_a_bot_elsewhere(server: Server, tmp_path: Path) -> None:
    result = play_match("static", f"{server.url}/greedy", "--games", "3", "--out", tmp_path)
    assert (result["a"], result["b"], result["games"]) == ("static", "greedy", 3)
    assert result["faults"] == {"a": {}, "b": {}}
    assert not result["paired"], "a bot elsewhere may not know the bag, so luck is not shared"
    check_games(tmp_path, 3)


def test_a_player_joins_a_server(server: Server) -> None:
    joining = ("--bot", "greedy", "--name", "guest", "--opponent", "static", "--games", "2")
    done = run_command("connect", server.url, *joining)
    first, second, *table = done.stdout.splitlines()
    assert first.startswith("1/2  ")
    assert second.startswith("2/2  ")
    assert "2 games" in table[0]
    assert "level=" not in done.stderr


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


def test_a_bot_that_cant_be_loaded_is_told_before_anything_is_made(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def load():\n    raise RuntimeError('no weights in this folder')\nload()\n")
    folder = tmp_path / "match"
    done = run_command("match", f"{bad}:Bot", "greedy", "--out", folder, status=2)
    assert f"tilewire: {bad}, line 2, in load: RuntimeError: no weights" in done.stderr
    assert not folder.exists()


def test_what_a_bot_prints_is_kept_and_its_exceptions_are_counted(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(BREAKS)
    folder = tmp_path / "match"
    done = run_command("match", f"{bad}:Breaks", "greedy", "--out", folder, status=1)
    lines = done.stderr.splitlines()
    assert lines.count(f"tilewire: Breaks: {bad}, line 7, in choose: LookupError: no book") == 1
    assert lines[-1].startswith("tilewire: Breaks lost 2 games by its faults: 2 by crash")
    assert f"{folder}/games/*.faults.txt" in lines[-1]
    first, second = csv.DictReader((folder / "results.csv").read_text("utf-8").splitlines())
    assert all(
        "Breaks" in game["note"] and "process ended" in game["note"] for game in (first, second)
    )
    listed = run_command("games", folder, "--json").stdout.splitlines()
    assert [json.loads(line)["number"] for line in listed] == [1, 2]
    assert "seat restarted" not in done.stderr
    faults = (folder / "games" / "00001.faults.txt").read_text(encoding="utf-8").splitlines()
    assert faults[0] == "Breaks, crash: its process ended"
    assert faults[1] == f"{bad}, line 7, in choose: LookupError: no book"
    assert not any("worker_main" in line for line in faults), "the author's lines only"
    logs = sorted((folder / "seats").iterdir())
    assert [log.name for log in logs] == ["Breaks.00001.log", "Breaks.00002.log"]
    for log in logs:
        kept = log.read_text(encoding="utf-8")
        assert kept.startswith("I have 7 tiles\nTraceback")
        assert kept.count("I have 7 tiles") == 2


def test_games_lost_by_faults_are_counted_by_kind_and_give_status_1(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import time\nfrom bot.player import Choice, Player\nclass Loses(Player):\n"
        "    def choose(self, view, budget):\n        time.sleep(60 * view.seat)\n"
        "        return Choice(view.move('1A ZZZ'))\n"
    )
    clock = ("--time", "300ms", "--max-overtime", "0s", "--out", tmp_path / "match")
    done = run_command("match", f"{bad}:Loses", "greedy", *clock, status=1)
    said = "Loses lost 2 games by its faults: 1 by illegal, 1 by time"
    assert done.stderr.splitlines()[-1].startswith(f"tilewire: {said}; see ")
    transcripts = sorted((tmp_path / "match" / "games").glob("*.faults.txt"))
    illegal, late = (file.read_text("utf-8") for file in transcripts)
    assert illegal.count("refused: 1A ZZZ: ") == 3
    assert late.startswith("Loses ")


def test_a_bot_that_fails_before_its_games_is_told_what_it_raised(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    hook = "    def warm_up(self, lexicon, rules):\n        raise TypeError('no')\n"
    bad.write_text(BREAKS.replace("    def choose", f"{hook}    def choose"))
    folder = tmp_path / "match"
    done = run_command("match", f"{bad}:Breaks", "greedy", "--out", folder, status=1)
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"tilewire: Breaks missed 2 games in a row: {bad}, line ")
    assert "in warm_up: TypeError: no" in said
    # Of the second game, or of a void one if the other player was not ready either.
    assert re.search(rf"{folder}/games/0000[12](\.[0-9a-f]+)?\.faults\.txt", said)


def test_other_peoples_bots(tmp_path: Path) -> None:
    """One is installed from a wheel, the other a file named like our own package.

    The other fails after each game, which is told, and changes nothing.
    """
    site, day = tmp_path / "site", tmp_path / "day"
    day.mkdir()
    install(build_wheel(tmp_path), site)
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
    for log in logs:
        text = log.read_text(encoding="utf-8")
        assert text.startswith("Traceback ")
        assert text.endswith(f"{mine}, line 9, in game_over\n    raise OSError('no room')\n")
    check_games(tmp_path / "match", 2)


def build_wheel(folder: Path) -> Path:
    """Build a wheel by hand, so that nothing is fetched."""
    info = "their_bots-1.0.dist-info"
    files = {
        "their_bots/__init__.py": BOT.format(name="First"),
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: their-bots\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[tilewire.bots]\ntheir-first = their_bots:First\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    path = folder / "their_bots-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def install(wheel: Path, target: Path) -> None:
    """Install a wheel into a folder of its own, as pip does it where there is a pip."""
    if find_spec("pip") is None:
        zipfile.ZipFile(wheel).extractall(target)
        return
    options = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target)]
    subprocess.run([*command, str(wheel)], check=True)


def kill_after(wanted: int, folder: Path, *arguments: str | Path) -> None:
    """Play a match or tournament until so many games have a result, and kill it."""
    with subprocess.Popen([*COMMAND, *map(str, arguments)], stderr=subprocess.DEVNULL) as host:
        wait_for_lines(folder / "results.jsonl", wanted, host)
        host.kill()
    assert len(FolderContents(folder).results) >= wanted


def test_a_match_that_was_killed_goes_on_where_it_was(
    undisturbed: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    folder, link = tmp_path / "match", tmp_path / "link"
    link.symlink_to(folder)
    play = ["match", *PLAY, "--time", "1m", "--games", "9"]
    kill_after(2, folder, *play, "--out", folder)
    kill_after(5, folder, "match", "--resume", link)
    assert len(FolderContents(folder).results) < 9
    # The last pair had one game only: the match is extended in the middle of it.
    done = run_command("match", "--resume", folder, "--games", str(GAMES), "--json")
    assert json.loads(done.stdout.splitlines()[-1])["games"] == GAMES
    check_games(folder, GAMES)
    journal = Journal(folder / "match.db")
    assert not journal.unfinished()
    numbers = sorted(kept.label["number"] for kept in journal.finished())
    journal.close()
    assert numbers == list(range(1, GAMES + 1)), "no game was played twice"
    # The luck of each game is that of a match that nobody killed.
    assert games_of(folder) == games_of(undisturbed[0])


def test_a_match_from_openings_that_was_killed_goes_on_without_their_file(tmp_path: Path) -> None:
    whole, killed, file = tmp_path / "whole", tmp_path / "killed", tmp_path / "openings.txt"
    rows = ["3HOUSE7", *["15"] * 14]
    house = "/".join(rows[1:8] + rows[:1] + rows[8:])
    shutil.copy(GCG_FILES / "complete.gcg", tmp_path)
    file.write_text(f"# three\nAEINRST/DGILNOU\n{house} AEIQ/ 20/5 1\ncomplete.gcg@2\n")
    play = (*PLAY, "--games", "8", "--openings", file)
    result = play_match(*play, "--out", whole)
    assert result["faults"] == result["forfeits"] == {"a": {}, "b": {}}
    kill_after(3, killed, "match", *play, "--time", "1m", "--out", killed)
    file.unlink()
    run_command("match", "--resume", killed)
    for folder in (whole, killed):
        check_games(folder, 8)
    assert games_of(whole) == games_of(killed)

    games = [read_gcg(text) for text in games_of(whole)]
    begun = [game.opening for game in games]
    assert begun[1] == begun[0] == begun[6] == begun[7]
    assert begun[2:4] == [f"{house} AEIQ/ 20/5 1"] * 2
    assert begun[4] == begun[5]
    assert games[0].events[0].rack == games[1].events[0].rack == "AEINRST"
    assert {game.events[1].rack for game in games[:2]} == {"DGILNOU"}
    first, second = (replay(game, standard_rules()).after(0) for game in games[2:4])
    assert first == second, "a pair has the same draws, with the seats swapped"
    assert [player.nick for player in games[2].players] == [
        player.nick for player in games[3].players[::-1]
    ]


def test_a_match_that_is_stopped_shows_its_table_and_needs_little_memory(tmp_path: Path) -> None:
    """Its memory doesn't grow with the number of games that was typed."""
    folder = tmp_path / "match"
    peaks = []
    begin: tuple[str | Path, ...] = ("static", "greedy", "--games", "99", "--out", folder)
    more: tuple[str | Path, ...] = ("--resume", folder, "--games", "5000000000")
    for number, arguments, least in ((signal.SIGINT, begin, 2), (signal.SIGTERM, more, 5)):
        command = [*COMMAND, "match", *map(str, arguments)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as host:
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


def test_a_match_is_paused_by_a_file_until_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "match"
    folder.mkdir()
    (pause := folder / "pause").touch()
    begin: tuple[str | Path, ...] = ("greedy", "static", "--games", "2", "--out", folder)
    for arguments in (begin, ("--resume", folder)):
        command = [*COMMAND, "match", *map(str, arguments)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as host:
            assert host.stderr is not None
            assert any(f"rm {pause}" in line for line in host.stderr)
            assert not FolderContents(folder).results
            if arguments is begin:
                host.send_signal(signal.SIGINT)
            else:
                pause.unlink()
            host.communicate(timeout=PATIENCE_S)
        assert host.returncode == (130 if arguments is begin else 0)
    assert len(FolderContents(folder).results) == 2


def test_a_match_with_challenges_counts_them_and_replays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = run_command(
        *("match", "bluff?rate=0.5", "static", "--challenge", "5-point", "--games", "2"),
        *("--seed", "7", "--transport", "pipe", "--out", str(out), "--json"),
    )
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told["challenges"]["a"] == {"won": 0, "lost": 0}
    assert told["challenges"]["b"]["won"] > 0
    written = sorted((out / "games").glob("*.gcg"))
    assert len(written) == 2
    withdrawn = 0
    for path in written:
        gcg = read_gcg(path.read_bytes())
        replay(gcg, standard_rules())
        withdrawn += sum(event.kind is EventKind.WITHDRAWN for event in gcg.events)
    assert withdrawn == told["challenges"]["b"]["won"]
