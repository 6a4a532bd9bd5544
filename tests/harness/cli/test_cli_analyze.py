"""``tilewire analyze``."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from statistics import fmean, pstdev

import pytest
from command_line import CommandLine
from e2e.processes import COMMAND

from engine.movegen.generator import legal_moves
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from engine.rules.rules import standard_rules
from lexicons.store import load_lexicon

FIXTURES = Path(__file__).parents[2] / "fixtures"
GAME = FIXTURES / "games" / "static_greedy.gcg"
SHORT_GAME = FIXTURES / "gcg" / "complete.gcg"
POSITION = (FIXTURES / "cgp" / "midgame.cgp").read_text()
EMPTY = "/".join(["15"] * 15)
RULES = standard_rules()
FEW = ("--rollouts", 96, "--candidates", 3)


pytestmark = pytest.mark.usefixtures("kept_words")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "few.txt"
    path.write_text("words\nat\ncat\nact\nrow\nrows\nword\nor\nxi\nad\n")
    return path


def flat(text: str) -> str:
    return " ".join(text.split())


# --- a position ---------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_for_any_number_of_threads(tilewire: CommandLine) -> None:
    options = (POSITION, "--rollouts", 500, "--candidates", 5, "--seed", 7)
    one, two = (tilewire.json("analyze", *options, "--threads", threads) for threads in (1, 2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}
    assert one["rollouts"] == sum(each["samples"] for each in one["candidates"]) == 500
    other = tilewire.json("analyze", *options[:-1], 8)
    assert other["candidates"] != one["candidates"]


def test_candidates_are_legal_moves_with_all_their_figures(tilewire: CommandLine) -> None:
    found = tilewire.json("analyze", POSITION, *FEW)
    position = read_cgp(POSITION, RULES)
    alphabet = RULES.distribution.alphabet
    legal = {
        format_move(move, alphabet): score
        for move, score in legal_moves(position, load_lexicon(), RULES)
    }
    assert len(found["candidates"]) == 3
    for rank, one in enumerate(found["candidates"], start=1):
        assert (one["rank"], one["score"]) == (rank, legal[one["move"]])
        assert 0 < one["win"] < 1
        assert min(one["win_error"], one["equity_error"]) > 0
    assert found["cgp"].split()[:4] == POSITION.split()[:4]
    assert found["plies"] == 2
    verdict = found["verdict"]
    assert verdict["best"] == found["candidates"][0]["move"]
    assert verdict["ahead_of_next"]["move"] == found["candidates"][1]["move"]
    assert verdict["ahead_of_played"] is verdict["phony"] is verdict["not_compared"] is None


def test_time_ends_it_and_one_rollout_says_nothing(tilewire: CommandLine) -> None:
    assert tilewire.json("analyze", POSITION, "--time", "30ms")["rollouts"] > 1
    found = tilewire.json("analyze", POSITION, "--rollouts", 1)
    assert found["candidates"][1]["win"] is None
    assert found["verdict"]["ahead_of_next"] is None


def test_tiles_that_the_opponent_is_known_to_hold(tilewire: CommandLine) -> None:
    replies = set()
    for known in ("AEEINRT", "AEE", ""):
        found = tilewire.json("analyze", f"{EMPTY} CUUVVWW/{known} 0/0 0", *FEW)
        replies.add(found["after_best"][0]["score"])
    assert len(replies) == 3


# --- late in the game ---------------------------------------------------------------------------


def test_an_empty_bag_is_solved(tilewire: CommandLine) -> None:
    found = tilewire.json("analyze", f"{GAME}@22", "--candidates", 4)
    assert (found["exact"], found["plies"], found["rollouts"]) == (True, None, 0)
    assert found["verdict"]["proven"]
    assert all(one["proven"] for one in found["candidates"])
    assert tilewire("analyze", f"{GAME}@22", "--candidates", 1) == 0
    said = flat(tilewire.out)
    assert "The best is 12A TOU(N): " in said
    assert "it cost 23.0 points." in said


def test_with_few_tiles_in_the_bag_rollouts_go_to_the_end(tilewire: CommandLine) -> None:
    found = tilewire.json("analyze", f"{GAME}@18", *FEW)
    assert (found["exact"], found["plies"]) == (False, None)
    assert tilewire.json("analyze", f"{GAME}@18", *FEW, "--plies", 1)["plies"] == 1


def test_nothing_is_left_but_to_pass(tilewire: CommandLine, words: Path) -> None:
    found = tilewire.json("analyze", f"{GAME}@21", "--lexicon", words)
    assert found["verdict"]["best"] == "-"
    phony = {"code": "not_words", "words": ["JOWARI"], "lexicon": "few"}
    assert found["verdict"]["phony"] == phony
    assert tilewire("analyze", f"{GAME}@21", "--lexicon", words) == 0
    assert "* JOWARI is not a word of few" in tilewire.out
    found = tilewire.json("analyze", found["cgp"], "--lexicon", words)
    assert [one["move"] for one in found["candidates"]] == ["-"]
    assert found["rollouts"] == 0
    assert found["candidates"][0]["win"] is None


# --- a move that was played ---------------------------------------------------------------------


def test_the_move_that_was_played_is_one_of_them(tilewire: CommandLine) -> None:
    found = tilewire.json("analyze", f"{GAME}@10", "--rollouts", 200, "--candidates", 3)
    assert (found["line"], found["player"]) == (10, "greedy")
    assert found["cgp"].split()[1] == "?AAFIPU/"  # what the opponent holds is not looked at
    assert len(found["candidates"]) == 4
    assert found["verdict"]["ahead_of_played"]["move"] == "L1 PIlAF"
    assert found["verdict"]["ahead_of_played"]["win"] > 0


def test_a_move_of_ones_own_is_compared(tilewire: CommandLine) -> None:
    assert tilewire("analyze", POSITION, "--rollouts", 400, "--candidates", 2, "--play", "-") == 0
    assert "pass was played: it cost" in flat(tilewire.out)
    assert "1,000.0" not in tilewire.out, "no equity ranks a pass"
    other = tilewire.json("analyze", f"{GAME}@10", *FEW, "--play", "L4 AFA.")
    assert other["verdict"]["ahead_of_played"]["move"] == "L4 AFA."
    for play in ("8D ZZZ", "ZZZ"):
        assert tilewire("analyze", POSITION, "--play", play) == 2
        assert "--play" in tilewire.err


def test_an_exchange_whose_tiles_are_not_recorded(tilewire: CommandLine) -> None:
    path = FIXTURES / "gcg" / "exchanges.gcg"
    verdict = tilewire.json("analyze", f"{path}@4", *FEW)["verdict"]
    assert verdict["ahead_of_played"] is None
    assert "not recorded" in verdict["not_compared"]


def test_the_position_at_the_end_of_an_unfinished_game(tilewire: CommandLine) -> None:
    path = FIXTURES / "gcg" / "incomplete.gcg"
    found = tilewire.json("analyze", f"{path}@3", *FEW)
    assert found["cgp"].split()[1] == "AEGILNV/"
    assert found["verdict"]["best"] == "11E VEALING"


# --- a game -------------------------------------------------------------------------------------


def test_a_game_is_reviewed_turn_by_turn(tilewire: CommandLine) -> None:
    assert tilewire("analyze", GAME, "--rollouts", 400, "--candidates", 3) == 0
    opening, sheet = tilewire.out.split("\n\n")[:2]
    costly = dict(turn.split(", ", 1) for turn in opening.split("\n  line ")[1:])
    assert len(costly) == 3, "it opens with what cost most"
    assert "L1 PIlAF" in flat(costly["10"])
    assert "It cost 12.0 points." in flat(costly["19"]), "no chance to win was lost"
    rows = sheet.splitlines()[1:24]
    assert [int(row[:4]) for row in rows] == list(range(1, 24))
    for row in rows:
        before, after, cost = (float(cell.replace("−", "-")) for cell in row.split()[-6:-3])
        assert before - after == pytest.approx(cost, abs=0.11), "cost: the difference"
    assert max(map(len, tilewire.out.splitlines())) <= 80


def test_a_review_for_programs_is_a_line_a_turn(tilewire: CommandLine) -> None:
    assert tilewire("analyze", SHORT_GAME, *FEW, "--json") == 0
    turns = [json.loads(line) for line in tilewire.out.splitlines()]
    assert [turn["line"] for turn in turns] == [1, 2, 3, 4, 5]
    assert turns[4]["racks"], "its rack is not recorded"
    assert [turn["verdict"]["ahead_of_played"]["move"] for turn in turns[:4]] == [
        *("8D WORDS", "H8 .eA", "-GV", "-")
    ]
    single = tilewire.json("analyze", f"{SHORT_GAME}@3", *FEW)
    assert {**turns[2], "seconds": 0} == {**single, "seconds": 0}


def test_the_cost_of_a_play_without_its_rack_is_over_racks_that_may_have_been(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    path, sheet = tmp_path / "bare.gcg", GAME.read_text()
    for rack in ("AIILMTT ", "?EILORW "):  # of the second seven tiles are played
        assert f">static: {rack}" in sheet
        sheet = sheet.replace(f">static: {rack}", ">static: ")
    path.write_text("\n".join([*sheet.splitlines()[:13], ""]))
    whole = tilewire.json("analyze", f"{path}@7", *FEW)
    assert "verdict" in whole, "the tiles played are the rack"
    found = tilewire.json("analyze", f"{path}@3", "--rollouts", 2_400, "--candidates", 3)
    racks, cost = found["racks"], found["cost"]
    assert found["played"] == "13C M.LITIA"
    assert len({each["rack"] for each in racks}) > 1
    assert all(not Counter("AIILMT") - Counter(each["rack"]) for each in racks)
    weights = [each["weight"] for each in racks]
    assert sum(weights) == pytest.approx(1)
    wins = [each["ahead_of_played"]["win"] for each in racks]
    assert cost["win"] == pytest.approx(fmean(wins, weights))
    assert cost["win_error"] > pstdev(wins) / 2, "it allows for any of the racks"
    assert found["best_in"] == sum(each["best"] == found["played"] for each in racks)
    assert min(weights) < max(weights) / 2, "rollouts find the play bad with some racks"


def test_a_phony_without_its_rack_is_left_out(tilewire: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "phony.gcg"
    path.write_text("#player1 a a\n#player2 b b\n>a: 8D WORSD +26 26\n>b: 9D OX +20 20\n")
    assert tilewire("analyze", path, *FEW) in (0, 2)
    assert "left out: line 1: the rack is not recorded, and " in flat(tilewire.out)


def test_turns_without_a_rack_are_apart_and_phonies_not_counted(
    tilewire: CommandLine, words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.options.FIRST_S", -1.0)
    assert tilewire("analyze", SHORT_GAME, *FEW, "--lexicon", words) == 0
    said = flat(tilewire.out)
    assert "H8 (S)eA*" in said
    assert "over 1 turn; " in said.split(" bert: ")[-1]
    assert "1 phony not counted" in said
    assert "in no mean" in said
    assert re.search(r"1 of \d turns", tilewire.err), "how far it is"
    assert "of line 5: " in said, "its rack is not recorded, and rollouts are few"


# --- on a terminal ------------------------------------------------------------------------------


def test_on_a_terminal_it_is_drawn_as_it_goes_and_ctrl_c_asks_for_the_verdict() -> None:
    drawn = interrupted(f"{SHORT_GAME}@2", columns=80, at=(b" plies", 5))
    last = drawn.rpartition("before line 2")[2]
    assert "H8" in last
    assert "was played" in flat(last)


def test_a_review_that_is_stopped_says_where() -> None:
    drawn = interrupted(str(GAME), columns=60, at=(b"points", 1))
    rest = drawn[drawn.rindex("\x1b[2K") :]  # what was drawn meanwhile is wiped
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in rest.splitlines()]
    assert max(map(len, lines)) <= 60
    done = sum(line[:4].strip().isdecimal() for line in lines)
    assert done <= 1
    assert f"stopped before line {done + 1}" in lines
    assert "left out" not in rest


def interrupted(what: str, *, columns: int, at: tuple[bytes, int]) -> str:
    """Analyse in a terminal, press Ctrl-C when a text was drawn so often; return all drawn."""
    terminal, end = pty.openpty()
    command = [*COMMAND, "analyze", what, "--time", "10m"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    with subprocess.Popen(
        command, stdin=end, stdout=end, stderr=end, env=environment, start_new_session=True
    ) as process:
        os.close(end)
        drawn, is_interrupted = b"", False
        while part := _read(terminal):
            drawn += part
            if not is_interrupted and drawn.count(at[0]) >= at[1]:
                process.send_signal(signal.SIGINT)
                is_interrupted = True
    os.close(terminal)
    assert process.returncode == 0, drawn
    assert is_interrupted
    return drawn.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


# --- many games -----------------------------------------------------------------------------------

MANY = ("--rollouts", 200, "--candidates", 3)


def test_many_games_are_summed_up_also_after_a_kill(tilewire: CommandLine, tmp_path: Path) -> None:
    folder, out, again = (tmp_path / name for name in ("games", "out", "again"))
    for name, text in (
        ("1/same.gcg", SHORT_GAME.read_text()),
        ("2/same.gcg", SHORT_GAME.read_text().replace("Berg", "B.")),
        ("3.GCG", GAME.read_text()),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    alias = ("--alias", "Anna=Anna Berg,anna b.")
    options = (folder, *MANY, "--workers", 1, *alias)
    tables = tilewire.json("analyze", *options, "--out", out)
    players = {row["player"]: row for row in tables["players"]}
    assert sorted(players) == ["Anna", "Bert Dahl", "greedy", "static"]
    assert [players[name]["games"] for name in ("Anna", "static")] == [2, 1]
    assert (players["static"]["turns"], players["greedy"]["turns"]) == (12, 11)
    for row in players.values():
        assert row["turns"] == sum(row["grades"].values())
        own = [phase for phase in tables["phases"] if phase["player"] == row["player"]]
        assert row["turns"] == sum(phase["turns"] for phase in own)
    lost = [row["lost"] for row in tables["costliest"]]
    assert lost == sorted(lost, reverse=True)
    file, _, line = tables["costliest"][0]["turn"].rpartition("@")
    assert Path(file).is_file()
    page = (out / "review.html").read_text()
    links = set(re.findall(r'href="#(t\d+)"', page))
    assert links <= set(re.findall(r'id="(t\d+)"', page))
    assert len(links) == len(tables["costliest"])
    rows = list(csv.DictReader((out / "turns.csv").read_text().splitlines()))
    assert len(rows) == 5 + 5 + 23
    worst = max(rows, key=lambda row: float(row["lost"] or 0))
    assert (worst["file"], worst["line"]) == (file, line)

    command = [*COMMAND, "analyze", *map(str, options), "--out", str(again)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        kept = again / "turns.jsonl"
        while not kept.exists() or kept.read_bytes().count(b"\n") < 2:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    before = kept.read_bytes()
    assert tilewire.json("analyze", *options, "--out", again) == tables
    assert kept.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert kept.read_bytes() == (out / "turns.jsonl").read_bytes()
    # With other settings the results would be mixed.
    assert tilewire("analyze", folder, *MANY, "--seed", 1, "--out", again) == 2
    assert "seed 0" in tilewire.err


def test_costs_that_are_not_proven_count_in_no_figure(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = (GAME, "--rollouts", 1, "--candidates", 3, "--workers", 1)
    assert sum(row["turns"] for row in tilewire.json("analyze", *few)["players"]) == 5
    monkeypatch.setattr("bot.search.analysis.findings.LEAST_NODES", 1)
    monkeypatch.setattr("bot.search.analysis.findings.NODES_A_ROLLOUT", 1)
    assert sum(row["turns"] for row in tilewire.json("analyze", *few)["players"]) < 5
    assert "not proven" in tilewire.err


def test_games_without_racks_have_means_but_no_grades(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    for name, nick in (("1.gcg", "ann"), ("2.gcg", "Ann")):
        (tmp_path / name).write_text(
            f"#player1 {nick} {nick}\n#player2 b bob\n>{nick}: 8D WORDS +26 26\n"
            f">b: H8 .EA +3 3\n>{nick}: 10H .T +2 28\n"
        )
    few = ("--rollouts", 720, "--candidates", 2, "--workers", 1, "--alias", "Ann=ann")
    tables = tilewire.json("analyze", tmp_path, *few, "--out", tmp_path / "out")
    ann, bob = sorted(tables["players"], key=lambda row: row["player"])
    assert (ann["player"], ann["part"], ann["turns"]) == ("Ann", "racks not recorded", 4)
    assert (bob["games"], bob["turns"]) == (2, 2)
    assert ann["lost"] is not None
    assert {*ann["grades"].values(), ann["missed"]} == {None}
    assert not tables["phases"] + tables["costliest"]
    rows = list(csv.DictReader((tmp_path / "out" / "turns.csv").read_text().splitlines()))
    assert {(row["racks"], row["grade"]) for row in rows} == {("12", "")}
    assert all(row["best"].endswith("/12") for row in rows)
    assert tilewire("analyze", tmp_path, *few, "--out", tmp_path / "out") == 0
    assert "✓ 3/12: " in tilewire.err


def test_files_that_are_no_game_are_left_out_and_told(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    assert tilewire("analyze", tmp_path) == 2
    assert "without a game" in tilewire.err
    (tmp_path / "line.gcg").write_bytes(b"a" * 10_000_000)
    (tmp_path / "other.gcg").write_text("[Event 'chess']\n1. e4 e5\n")
    (tmp_path / "picture.gcg").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\xff")
    (tmp_path / "queue.gcg").symlink_to(tmp_path / "nowhere")
    assert tilewire("analyze", tmp_path) == 2
    (tmp_path / "game.gcg").write_text(SHORT_GAME.read_text().replace("+26 26", "+36 36"))
    (tmp_path / "twin.gcg").write_bytes((tmp_path / "game.gcg").read_bytes())
    missing = tmp_path / "missing.gcg"
    assert tilewire("analyze", tmp_path, missing, *MANY, "--workers", 1) == 0
    left_out = [line for line in tilewire.err.splitlines() if "left out" in line]
    names = ("line.gcg", "other.gcg", "picture.gcg", "queue.gcg", "twin.gcg", "missing.gcg")
    assert [name in line for name, line in zip(names, left_out, strict=True)] == [True] * 6
    assert tilewire.err.count("notices") == 1, "once a file, not each notice"
    for alias in ("Anna", "=a", "Anna=,"):
        assert tilewire("analyze", tmp_path, "--alias", alias) == 2
        assert "--alias" in tilewire.err
