"""``tilewire match``: what is refused before anybody plays, and what a finished match says."""

from __future__ import annotations

import json
import re
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import hostile_bots
import msgspec
import pytest
from command_line import CommandLine
from match_samples import game, match_config

from bot.seat.containment import Containment
from engine.rules.rule_sets import load_rules
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.cli import match_settings
from harness.cli.failing import CommandFailed
from harness.cli.match import print_table
from harness.cli.match_settings import MatchSettings, read_settings
from harness.cli.options import fresh_folder
from harness.matches.config import TournamentConfig, read_config, write_config
from harness.matches.folder import MatchFolder
from harness.matches.openings import read_openings
from harness.matches.sequential import SequentialTest, parse_hypotheses
from harness.matches.significance import pairs_needed
from harness.matches.tournament import Tournament
from lexicons.store import load_lexicon

GCG = Path(__file__).parents[2] / "fixtures" / "games"
BOT = f"{hostile_bots.__file__}:Pries?mark=x"


def finished(folder: Path, games: int = 4, **others: Any) -> TournamentConfig:
    """Leave a match, between two static players by default, of which all games are played."""
    config = match_config(games=games, lexicon_checksum=load_lexicon().checksum, **others)
    with MatchFolder(folder) as files:
        write_config(config, folder)
        for number in range(1, games + 1):
            files.append(game(number, (430, 400), pair=(number + 1) // 2))
    return config


def test_an_engine_that_needs_a_whole_game_gets_first_racks_only(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "openings.txt"
    file.write_text(f"AEINRST\n{'/'.join(['15'] * 15)} / 20/5 0\n")
    seats = "greedy", f"files:{tmp_path}"
    assert tilewire("match", *seats, "--openings", file, "--out", tmp_path / "out") == 2
    assert f"files:{tmp_path}" in tilewire.err
    assert not (tmp_path / "out").exists()


def test_paths_in_a_file_are_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "settings"
    texts = {
        "match.toml": 'seats = ["v1/bot.py:Bot", "siu:./engine ./x", "rh?weights=w.json"]\n'
        'lexicon = "words.txt"\nrules = "rules.toml"\nopenings = "openings.txt"\n',
        "v1/bot.py": "Bot = None\n",
        "engine": "",
        "w.json": "{}",
        "words.txt": "AE\nAT\n",
        "openings.txt": "game.gcg@3\n",
        "game.gcg": (GCG / "static_greedy.gcg").read_text(),
        "rules.toml": 'tiles = "tiles.csv"\n',
        "tiles.csv": (files("lexicons") / "data" / "english.csv").read_text(),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def read(given: MatchSettings = MatchSettings()) -> MatchSettings:
        said = read_settings(Path("settings/match.toml"), given)
        assert said.rules is not None
        assert said.openings is not None
        load_rules.cache_clear()
        read_openings(said.openings, load_rules(said.rules))
        return said

    said = read()
    assert said.seats == [
        f"{folder}/v1/bot.py:Bot",
        f"siu:{folder}/engine ./x?folder={folder}",
        f"rh?weights={folder}/w.json",
    ]
    assert said.lexicon == "settings/words.txt"
    (tmp_path / "v1").mkdir()
    for name in [*texts][1:]:
        (folder / name).rename(tmp_path / name)
        with pytest.raises((CommandFailed, ValueError), match="relative to that file") as refused:
            read()
        assert name in str(refused.value)
        (tmp_path / name).rename(folder / name)
    (folder / "words.txt").rename(tmp_path / "words.txt")  # an option is seen from here
    assert read(MatchSettings(lexicon="words.txt")).lexicon == "words.txt"


def test_a_second_match_of_the_same_second_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "strftime", lambda _format: "20260102-030405")
    monkeypatch.chdir(tmp_path)
    names = [fresh_folder("matches").name for _ in range(3)]
    assert names == ["20260102-030405", "20260102-030405-2", "20260102-030405-3"]
    assert sorted(path.name for path in (tmp_path / "matches").iterdir()) == names


def test_words_of_openings_that_the_lexicon_lacks_are_said(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tournament, "play", AsyncMock())  # nobody plays
    file, config = tmp_path / "openings.txt", tmp_path / "match.toml"
    file.write_text(f"{'/'.join(['4ZZXQ7', *['15'] * 14])} / 20/5 0\n")
    config.write_text(f'seats = ["greedy", "greedy"]\ntime = "1m"\nopenings = "{file}"\n')
    assert tilewire("match", "--config", config, "--out", tmp_path / "out") == 2
    assert "openings.txt, line 1" in tilewire.err
    file.write_text(f"{'/'.join(['4ZzXQ7', *['15'] * 14])} / 20/5 0\n")
    assert tilewire("match", "--config", config, "--out", tmp_path / "out") == 0
    assert "ZZXQ" in tilewire.err
    assert len(read_config(tmp_path / "out").openings) == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--games", 3),
        ("--time", "5s"),
        ("--games", 9, "--seed", 3),
        ("--out", "elsewhere"),
        ("--config", "match.toml"),
        ("static", "greedy"),
    ],
)
def test_what_a_match_that_goes_on_can_not_change(
    tilewire: CommandLine, tmp_path: Path, options: tuple[object, ...]
) -> None:
    config = finished(tmp_path)
    assert tilewire("match", *options, "--resume", tmp_path) == 2
    assert "--games" in tilewire.err
    assert read_config(tmp_path) == config


def test_a_bot_that_has_moved_is_named_anew(tilewire: CommandLine, tmp_path: Path) -> None:
    config = finished(tmp_path, seats=("static", "gone.py:Bot?depth=2"), names=("static", "Bot"))
    assert tilewire("match", "--resume", tmp_path) == 2
    assert "--seat" in tilewire.err
    for wrong, word in (
        ("bot=greedy", "B=SEAT for Bot"),
        ("Bot=", "static, Bot"),
        ("B=nowhere.py:Bot", "nowhere.py"),
        (f"B=siu:{tmp_path}/gone", "--seat"),
        ("B=siu:sh -e gone.py?folder=/", "no file /gone.py; --seat"),
        (f"B=files:{tmp_path}", "concurrency"),
    ):
        assert tilewire("match", "--resume", tmp_path, "--seat", wrong) == 2
        assert word in tilewire.err
        assert read_config(tmp_path) == config
        config = msgspec.structs.replace(config, concurrency=2)  # files play one game at a time
        write_config(config, tmp_path)
    assert tilewire("match", "--resume", tmp_path, "--seat", "B=greedy", "--games", 3) == 2
    assert " moved " not in tilewire.err
    assert tilewire("match", "greedy", "greedy", "--seat", "A=static") == 2
    assert "--resume" in tilewire.err
    write_config(msgspec.structs.replace(config, concurrency=1), tmp_path)
    assert tilewire("match", "--resume", tmp_path, "--seat", "Bot=static?temperature=2") == 0
    anew = read_config(tmp_path)
    assert (anew.seats, anew.names) == (("static", "static?temperature=2"), config.names)
    (change,) = anew.moved
    assert change in tilewire.err
    for part in ("after 4 games", "gone.py:Bot", ", without depth=2, with temperature=2"):
        assert part in change


def test_an_engine_that_does_not_start_costs_no_game(tilewire: CommandLine, tmp_path: Path) -> None:
    engine = "import os; os.write(1, b'capability gen\\noption name Hash type button\\nsiuok\\n')"
    seat = f'siu:{sys.executable} -c "{engine}; input(); input()"?Hahs=1&name=hopper'
    for command, *others in ("match", "greedy"), ("tournament", "greedy", "static"):
        assert tilewire(command, seat, *others, "--out", tmp_path / "out") == 2
        assert "hopper has no option 'Hahs'; it has: Hash" in tilewire.err
        assert not (tmp_path / "out").exists()
    config = finished(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    seat = "B=siu:sh -c 'echo no such weights >&2; exit 3'"
    assert tilewire("match", "--resume", tmp_path, "--seat", seat, "--games", 6) == 2
    assert f"{config.names[1]} ended with exit status 3: no such weights" in tilewire.err
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


CHOOSE = """
from bot.player import Choice, Player
class B(Player):
    def choose(self, view, budget): return Choice(view.legal_moves(1)[0].move)
"""
ENGINE = "#!/bin/sh\necho capability sim; echo siuok; echo readyok; echo readyok; cat >&2\n"


@pytest.mark.parametrize(
    ("seat", "what"),
    [
        ("{}/b.py:B", "the .py files of"),
        ("siu:{}/hopper.sh?folder=/", "the program of"),
        ("siu:env X=1 {}/hopper.sh?folder=/", "the program of"),
        ("siu:sh {}/hopper.sh?folder=/", "the program of"),
    ],
)
def test_a_bot_or_engine_that_has_changed_is_told_on_resume(
    tilewire: CommandLine, tmp_path: Path, seat: str, what: str
) -> None:
    folder, bots = tmp_path / "match", tmp_path / "bots"
    bots.mkdir()
    (bots / "b.py").write_text(CHOOSE)
    (bots / "hopper.sh").write_text(ENGINE)
    (bots / "hopper.sh").chmod(0o644 if "siu:sh" in seat else 0o755)
    seats = seat.format(bots), "static"
    write_config(msgspec.structs.replace(finished(folder), seats=seats), folder)
    for is_changed in (False, False, True):  # an older folder has no checksum
        if is_changed:
            (bots / "helper.py").touch()
            (bots / "hopper.sh").write_text(f"{ENGINE}# built anew\n")
        assert tilewire("match", "--resume", folder) == 0
        assert (what in tilewire.err) == is_changed
    (change,) = read_config(folder).moved
    assert "after 4 games the " in change


@pytest.mark.parametrize("options", [(), ("--games", 4), ("--concurrency", 2)])
def test_a_finished_match_says_so_and_shows_its_table(
    tilewire: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[object, ...],
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1})
    finished(tmp_path)
    assert tilewire("match", "--resume", tmp_path, *options) == 0
    assert read_config(tmp_path).concurrency == (2 if "--concurrency" in options else 1)
    assert "--games" in tilewire.err
    assert "4 games in 2 pairs" in tilewire.out


RULES = """tiles = "own.csv"
rack_size = 5
"""
TILES = "?,?,2,0,0\nA,a,20,1,1\nCH,ch,10,5,0\nT,t,20,2,0\n"


def with_own_rules(folder: Path) -> tuple[Path, Path]:
    """Write rules with tiles of their own, and words of these."""
    rules, words = folder / "own.toml", folder / "words.txt"
    rules.write_text(RULES)
    (folder / "own.csv").write_text(TILES)
    words.write_text("AT\nATA\nCHA\nCHAT\nTACHA\n")
    load_rules.cache_clear()
    return rules, words


def test_rules_of_ones_own_need_their_words_and_tables(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    rules, words = with_own_rules(tmp_path)
    match = "match", "static", "greedy", "--out", tmp_path / "out", "--rules", rules
    assert tilewire(*match) == 2
    assert "--lexicon" in tilewire.err
    for table in ("--leaves", "--winprob"):
        assert tilewire(*match, "--lexicon", words, table, "trained") == 2
        assert "'trained'" in tilewire.err
    assert not (tmp_path / "out").exists()


def test_rules_that_changed_are_noticed_before_a_game_is_added(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    rules, words = with_own_rules(tmp_path)
    in_play = rules_on_wire(load_rules(rules))
    config = finished(tmp_path)
    others = {"rules": str(rules), "rules_in_play": in_play, "lexicon": str(words)}
    write_config(msgspec.structs.replace(config, **others), tmp_path)
    assert tilewire("match", "--resume", tmp_path, "--games", 6) == 1
    assert "words.txt" in tilewire.err
    rules.write_text(RULES + "bingo_bonus = 20\n")
    load_rules.cache_clear()
    assert tilewire("match", "--resume", tmp_path, "--games", 6) == 1
    assert "own.toml" in tilewire.err
    assert read_config(tmp_path).games == 4


def test_a_match_that_its_test_has_decided_plays_no_more(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    test = SequentialTest(*parse_hypotheses("0,20", "spread"), measure="spread")
    names, checksum = ("static", "monte carlo"), load_lexicon().checksum
    config = match_config(games=1_000, names=names, lexicon_checksum=checksum, test=test)
    with MatchFolder(tmp_path) as files:
        write_config(config, tmp_path)
        for number in range(1, 61):
            files.append(game(number, (430 + number, 400), pair=(number + 1) // 2))
    assert tilewire("match", "--resume", tmp_path, "--json") == 0
    assert "decided" in tilewire.err
    told = json.loads(tilewire.out.splitlines()[-1])
    assert told["test"]["verdict"] == "accepted H1"
    assert (told["stopped_early"], told["p_value"]) == (True, None)
    assert tilewire("report", tmp_path, "--format", "markdown") == 0
    for name in ("summary.txt", "report.md"):
        assert (tmp_path / name).read_text(encoding="utf-8").count(", biased") == 2


def test_a_plan_plays_ten_games_that_the_match_can_go_on_from(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    file, out, other = tmp_path / "match.toml", tmp_path / "out", tmp_path / "other"
    file.write_text('seats = ["static", "greedy"]\ngames = 200\ntransport = "pipe"\n')
    planned = ("--config", file, "--plan", "±20", "--sprt", "0%,5%", "--out", out, "--json")
    assert tilewire("match", *planned) == 0
    told = json.loads(tilewire.out.splitlines()[-1])
    assert (told["games"], told["plan"]["pairs"]) == (10, pairs_needed(20))
    assert f"--resume {out} --games 20000" in tilewire.out
    assert len(told["plan"]["test_pairs"]) == 3
    config = finished(other)
    with MatchFolder(other) as there:  # without a test
        print_table(there, config, as_json=False, plan=20.0, hours=1.0)
    assert f"--games {2 * pairs_needed(20)}" in tilewire.capsys.readouterr().out


def test_a_match_begins_on_no_cluster_that_does_not_answer(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="needs pip install -e '.[cluster]'")
    monkeypatch.setattr("harness.workers._CONNECTING_S", 1)
    options = "--cluster", "tcp://127.0.0.1:9", "--out", tmp_path / "out"
    assert tilewire("match", "static", "greedy", *options) == 1
    assert "tcp://127.0.0.1:9" in tilewire.err


def test_a_match_that_is_on_is_left_alone(tilewire: CommandLine, tmp_path: Path) -> None:
    finished(tmp_path, games=2)
    (link := tmp_path / "link").symlink_to(tmp_path)
    unfinished = b'{"number": 3'
    with MatchFolder(tmp_path), (tmp_path / "results.jsonl").open("ab") as results:
        results.write(unfinished)  # as it is when another is just writing it
        results.flush()
        for folder in (tmp_path, link):
            assert tilewire("match", "--resume", folder, "--games", 6) == 1
            assert f"{folder} is in use" in tilewire.err
        assert (tmp_path / "results.jsonl").read_bytes().endswith(unfinished)
    assert read_config(tmp_path).games == 2
    assert not list(tmp_path.glob("summary.*"))
    assert tilewire("match", "--resume", link) == 0
    assert list(tmp_path.glob("summary.*"))


def test_a_tournament_goes_on_as_one(tilewire: CommandLine, tmp_path: Path) -> None:
    write_config(match_config(seats=("static",) * 3, names=("A", "B", "C")), tmp_path)
    assert tilewire("match", "--resume", tmp_path) == 2
    assert f"tilewire tournament --resume {tmp_path}" in tilewire.err
    assert tilewire("tournament", "--resume", tmp_path, "--games", 4) == 2
    assert "--rounds" in tilewire.err
    assert tilewire("tournament", "--resume", tmp_path, "--rounds", 2) == 1
    assert "scowl" in tilewire.err
    config = match_config(seats=("static",) * 3, names=("A", "B", "C"), format="knockout")
    write_config(config, tmp_path)
    assert tilewire("tournament", "--resume", tmp_path, "--rounds", 3) == 2
    assert "knockout" in tilewire.err
    write_config(match_config(seats=("guest:ann", "static"), names=("ann", "static")), tmp_path)
    assert tilewire("match", "--resume", tmp_path) == 2
    assert "tilewire serve --tournament FILE" in tilewire.err


def test_the_page_of_a_match_stays_and_its_code_is_in_no_address(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(tmp_path)
    opened: list[str] = []
    happened: list[str] = []

    async def at_once() -> None:
        """Stop as soon as the match waits for that."""
        happened.append("waits")

    tells = lambda *_, **__: happened.append("tells")  # noqa: E731
    monkeypatch.setattr("harness.cli.match.print_table", tells)
    monkeypatch.setattr("harness.cli.options.open_in_browser", opened.append)
    monkeypatch.setattr("harness.cli.options.until_interrupted", at_once)
    assert tilewire("match", "--resume", tmp_path, "--page") == 0
    said = re.search(r"(http://127\.0\.0\.1:\d+); type (\S+)", tilewire.err)
    assert said is not None
    assert opened == [said[1]]
    assert happened == ["tells", "waits"], "the result is not kept back"


@pytest.fixture
def uncontained(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without namespaces."""
    monkeypatch.setattr(match_settings, "containment", lambda: Containment(False, "as on others"))


def test_a_seed_is_refused_where_bots_are_not_contained(
    tilewire: CommandLine, tmp_path: Path, uncontained: None
) -> None:
    assert tilewire("match", BOT, "static", "--seed", "3", "--out", tmp_path / "out") == 2
    assert "--seed" in tilewire.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("contained", [True, None, False])
def test_a_match_goes_on_with_the_draws_that_it_began_with(
    tilewire: CommandLine, tmp_path: Path, uncontained: None, contained: bool | None
) -> None:
    config = finished(tmp_path, seats=(BOT, "static"), contained=contained)
    assert tilewire("match", "--resume", tmp_path) == 0
    assert ("draws" in tilewire.err) == (contained is not False)
    assert msgspec.structs.replace(read_config(tmp_path), code=()) == config
