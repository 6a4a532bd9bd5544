"""What is typed wrong: each command answers with a status and a word, and makes nothing."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import CommandLine
from e2e.processes import COMMAND
from event_samples import write_event

from lexicons.cache import user_cache

GAMES = Path(__file__).parents[2] / "fixtures" / "gcg"
EMPTY_BOARD = "/".join(["15"] * 15)
OPENING = f"'{EMPTY_BOARD} AEINRST/ 0/0 0'"
LATE = (
    "'4Q2B6s/3GIT1ASPERATE/3O1A1R2FIX1N/3D1I1A6S/3E1L1T1BUCKRA/3T1YEH6T/O2I1EYE2L3E/L1DA3ADVEW2D/"
    "I1O7U4/OJO5FICTIVE/1OR7H4/2I3AZ7/2N3PO7/fUGLEMEN7/7A7 EGIMNNR/ 465/472 0'"
)
"""With an empty bag."""

WRONG = [
    # Numbers: not whole, out of range, with units, without them, empty, negative.
    *(
        (f"match greedy greedy --games {number}", "--games")
        for number in ("2.5", "0", "''", "9" * 9999)
    ),
    *(
        (f"match greedy greedy --time {duration}", "--time")
        for duration in ("-5m", "5min", "99999h")
    ),
    ("match greedy greedy --games", "--games"),
    *(
        (f"match greedy greedy --plan {text}", "--plan")
        for text in ("x", "0", "±51", "+-1e1", "''")
    ),
    ("match greedy greedy --plan 10 --games 4", "--games"),
    ("match greedy greedy --concurrency 0", "--concurrency"),
    ("match greedy greedy --threads 1000000000", "--threads"),
    ("match greedy greedy --seed -1", "--seed"),
    ("match greedy greedy --overtime-penalty x", "--overtime-penalty"),
    ("serve --port 65536", "--port"),
    ("serve --standby", "--db"),
    ("check", "--connects"),
    ("check --connects 'node bot.mjs'", "{url}"),
    ("check --connects 'no-such-program {url}'", "no-such-program"),
    ("check greedy --opponent static", "--opponent"),
    ("check ws://127.0.0.1:1 --time 2s", "--time"),
    ("check ws://127.0.0.1:1 --games 1", "--games"),
    ("check none.py:Best", "none.py"),
    ("check siu:sh", "tilewire match 'siu:sh"),
    (f"generate {OPENING} --top 0", "--top"),
    (f"generate '{EMPTY_BOARD} / 0/0 0'", "rack"),
    ("generate nothing.cgp", "nothing.cgp"),
    (f"analyze {OPENING} --time 0s", "--time"),
    (f"analyze '{EMPTY_BOARD} / 0/0 0'", "rack"),
    (f"analyze '{EMPTY_BOARD} AEI/ 0/0 0'", "AEI"),
    (f"analyze '{EMPTY_BOARD} AEINRST/ 0/0 6'", "over"),
    (f"analyze {GAMES / 'complete.gcg'}@6", "@6"),
    (f"analyze {GAMES / 'no_events.gcg'}", "turns"),
    (f"analyze {GAMES / 'three_players.gcg'}", "two"),
    (f"analyze {GAMES / 'complete.gcg'} --play -", "--play"),
    ("study nothing.gcg --no-browser", "nothing.gcg"),
    ("study folder --no-browser", "is a folder"),
    ("study game.gcg --no-browser", "line 3"),
    (f"study {GAMES / 'complete.gcg'}@99 --no-browser", "lines 1 to"),
    (f"endgame {OPENING} --memory 5", "--memory"),
    (f"infer {OPENING} --temperature nan", "temperature"),
    (f"infer {OPENING} --model margin --margin -1", "-1"),
    ("siu --threads 0", "--threads"),
    ("train winprob --out x.csv --check -1", "--check"),
    ("train leaves --out x.klv2 --minutes inf", "--minutes"),
    ("train leaves --out x.klv2 --games 5", "100"),
    ("train leaves --out x.klv2", "minutes"),
    ("train leaves --out x.klv2 --games 500 --minutes 1", "minutes"),
    ("train leaves --out x.klv2 --games 500 --distribution no.csv", "'no.csv'"),
    ("train leaves --out x.klv2 --games 500 --rules super --distribution german", "--distribution"),
    *((f"train {what} --out none/t", "--out none/t") for what in ("leaves", "winprob", "features")),
    ("train features --out folder", "--out folder"),
    ("train features --out w.json --workers 2", "--workers"),
    ("experiment duel static greedy --games 1000000000000", "--games"),
    ("experiment duel trained greedy --games 3", "even"),
    ("experiment duel static greedy --workers 100000", "--workers"),
    ("bench endgame --memory 1K", "--memory"),
    ("bench endgame --memory 900000G", "memory"),
    ("bench selfplay --words 3 --lexicon words.txt", "--words"),
    ("bench deadlines --load 100000", "--load"),
    ("bench deadlines --words 5", "--words"),
    ("bench deadlines --leaves synthetic", "synthetic"),
    ("bench deadlines --from 2s --to 1s", "--from"),
    ("bench server --connections 0", "--connections"),
    ("bench server --rate 0", "--rate"),
    ("bench server --seconds nan", "--seconds"),
    ("puzzles check --every 0", "--every"),
    ("puzzles check --every 1000", "--every"),
    # What is missing, too much, or of no such name.
    ("admin", "URL"),
    ("connect ws://127.0.0.1:1", "--bot"),
    ("match static", "two"),
    ("show ''", "GAME"),
    ("tournament static", "three"),
    ("mach greedy greedy", "match"),
    ("nosuch", "nosuch"),
    ("bench nosuch", "nosuch"),
    ("match greedy greedy --gmaes 5", "--games"),
    ("tournament static greedy vanilla --sprt 0,5", "--sprt"),
    ("match greedy greedy static", "tilewire tournament"),
    ("match static greedy --rounds 3", "tilewire tournament"),
    ("match static greedy --tc 10+0.1", "--increment"),
    ("match static greedy --time 10+0.1", "--increment"),
    (f"generate {EMPTY_BOARD} AEINRST/ 0/0 0", "AEINRST/"),
    ("tournament none.toml", "none.toml"),
    ("tournament static greedy rh --format ladder", "--format"),
    ("match club static", "static?temperature=7"),
    ("match greedy greedy --out ''", "--out"),
    ("match gredy greedy", "gredy"),
    ("match 'greedy?x=1' greedy", "'x'"),
    ("match no.py:Bot greedy", "no.py"),
    ("match nomodule:Bot greedy", "nomodule"),
    ("match greedy greedy --leaves no.klv2", "no.klv2"),
    ("match --resume folder", "match.json"),
    ("tournament greedy rh --resume no", "match.json"),
    ("serve --tls-key key.pem", "--tls-cert"),
    ("serve --tls-cert no.pem --db j.db", "no.pem"),
    ("serve --tokens none --db j.db", "none"),
    ("serve --config none.toml", "none.toml"),
    ("bridge --config none.toml", "none.toml"),
    ("match static greedy --cluster tcp://h:1 --require-containment", "--cluster"),
    ("play static --name greedy", "--name"),
    ("play clubb", "club?"),
    ("connect foo --bot greedy", "foo"),
    ("connect ws://h:1 --bot 'static?temperature=hot'", "temperature"),
    ("connect ws://h:99999 --bot greedy", "ws://h:99999"),
    ("connect ws://h:1 --bot ws://b:2/x --threads 2", "ws://b:2/x"),
    ("files folder --bot ws://b:2/x --leaves formula", "--leaves"),
    ("direct http://h:1 standings", "http://h:1"),
    ("watch ws://h:1 --ca no.pem", "--ca"),
    ("watch wss://h:1 --ca no.pem", "no.pem"),
    ("watch http://h:1", "http://h:1"),
    ("connect ws://127.0.0.1:1 --bot greedy --token-file no.txt", "no.txt"),
    ("show no.gcg", "no.gcg"),
    ("games no.db", "no.db"),
    (f"infer {OPENING} --margin 3", "--margin"),
    (f"infer {OPENING} --model margin --temperature 3", "--temperature"),
    (f"show {GAMES / 'complete.gcg'} --json --moves", "--moves"),
    (f"show {GAMES / 'complete.gcg'} --turn 99", "99"),
    ("token ann --replace", "--tokens"),
    ("files folder --bot gredy", "gredy"),
    ("train leaves --out x.klv2 --games 500 --resume", "x.klv2.checkpoint"),
    ("experiment duel static gredy", "gredy"),
    (f"infer {OPENING} --plot no/x.png", "--plot"),
    ("bench deadlines --bot gredy", "gredy"),
    # Matches and tournaments.
    ("match static greedy --rules klingon", "klingon"),
    ("match static greedy --rules polish --lexicon scowl", "letter"),
    *(
        (f"match static greedy --name {name}", word)
        for name, word in (
            ("Old", "A=NAME"),
            ("0=Old", "A=NAME"),
            ("C=Old", "seat C"),
            ("A=x --name A=y", "--name A=y"),
            ("A=x --name B=x", "x"),
            (f"A={'x' * 65}", "64"),
            ("'A=\x1b[2J'", "printable"),
            ("'A= x'", "space"),
        )
    ),
    ("games FOLDER --out there --json", "--out"),
    ("match static greedy --config none.toml", "none.toml"),
    ("match static greedy --openings none.txt", "none.txt"),
    ("match static greedy --openings game.gcg", "game.gcg, line 3"),
    ("match static greedy --sprt 10", "--sprt"),
    ("match 'v1/engine words.txt' greedy", "siu:"),
    ("match static greedy --sprt 0,5 --sprt-spread 0,5", "--sprt-spread"),
    ("match static greedy --alpha 0.1", "--alpha"),
    ("match static ws://127.0.0.1:1/bot --sprt 0,5", "afresh"),
    ("match 'siu:engine?memory=x' static", "memory"),
    ("match siu:/nope static", "siu:/nope"),
    ("match static ws://127.0.0.1:1/bot --cluster tcp://127.0.0.1:9", "--cluster"),
    ("match files:x static --concurrency 2", "files:"),
    ("tournament static greedy rh --anchor nobody=3", "nobody"),
    ("tournament static greedy rh --anchor static", "--anchor"),
    ("tournament static greedy rh --anchor static=99999", "--anchor"),
    ("tournament static greedy rh --hill 2", "--hill"),
    ("tournament static greedy rh --format swiss --hill 2", "hill"),
    ("tournament swis.toml", "swiss"),
    ("tournament static greedy rh --format knockout --rounds 2", "rounds"),
    ("puzzles make --out none", "--out"),
    ("puzzles list none", "none/endgames.json"),
    ("serve --ladder --tournament t.toml", "--tournament"),
    ("serve --out folder", "--tournament"),
    # Guests come to a tournament of a server alone.
    *(
        (f"{command} guest:ann", "guest:ann")
        for command in (
            *("match static", "tournament static greedy", "play", "files folder --bot"),
            *("bench deadlines --bot", "connect ws://127.0.0.1:1 --bot"),
        )
    ),
    # What several commands refuse, each in its own way.
    (f"analyze {OPENING} --time 1s --rollouts 5", "--rollouts"),
    (f"infer {OPENING} --racks 5 --time 1s", "--racks"),
    (f"generate {OPENING} --top 3 --all", "--all"),
    (f"generate {OPENING} --layout round", "round"),
    (f"preendgame {OPENING}", "tilewire an"),
    ("leaves ABC1", "ABC1"),
    ("leaves AZZ", "AZZ"),
    ("leaves qU", "qU"),
    ("leaves ABCDEFG", "ABCDEFG"),
    ("token 'two words'", "64"),
    ("token '#a'", "'#'"),
    ("token 192.0.2.1", "address"),
    *((f"new bot {name}", "package") for name in ("Quick", "../up", "1st", "'two words'")),
    ("new bot bot", "module"),
    ("new bot class", "Python"),
    ("new bot greedy", "player"),
    ("new bot folder", "folder"),
    ("siu --leaves /no/such", "--leaves"),
    ("siu --data /no/such", "--data"),
    *(
        (f"admin ws://there {typed} --name h --token-file token", word)
        for typed, word in (
            ("dance", "dance"),
            ("kick", "admin URL kick WHOM"),
            ("adjust g ann soon", "soon"),
            ("kick ann --for 1h", "--for"),
            ("ban ann --for 90s", "minutes"),
        )
    ),
    ("direct ws://there withdraw", "withdraw NAME"),
    ("direct ws://there stop", "'stop'"),
    ("direct ws://there pause", "--token-file"),
    ("direct ws://there correct x 1 2", "GAME SCORE SCORE"),
    ("direct ws://there correct 7 -400 999999", "10,000"),
    ("direct ws://there bye dee two", "NAME ROUND"),
    ("direct ws://there standings --name d --token-file none", "none"),
    ("experiment cs221 --weights none.json", "--weights none.json"),
    ("experiment calibration --seat smi", "smi"),
    ("experiment calibration --from /no", "--from"),
    ("bench infer --plays 1 --threads 2", "--threads"),
    ("bench sim --position '15/15 AB/ 0/0 0'", "rows"),
    (f"bench sim --position {LATE}", "bag"),
    ("bench endgame --threads 998", "--threads"),
    # Lexicons.
    ("lexicon info no.txt", "'no.txt'"),
    (f"lexicon info {'x' * 5000}", "'xxxxxxxxxx"),
    (f"match greedy greedy --lexicon {'x' * 300}", "name"),
    ("lexicon info latin.txt", "latin.txt, line 2"),
    ("lexicon info cut.kwg", "cut.kwg"),
    ("lexicon build words.txt words.txt", ".kwg"),
    ("lexicon build words.txt no/w.kwg", "no/w.kwg"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with files that are wrong in one way each."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "token").write_text("h\n")
    (tmp_path / "words.txt").write_text("AA\nAB\n")
    (tmp_path / "latin.txt").write_bytes("AA\nÉTÉ\n".encode("latin-1"))
    (tmp_path / "swis.toml").write_text('seats = ["static", "rh", "greedy"]\nformat = "swis"\n')
    (tmp_path / "cut.kwg").write_bytes(b"abc")
    (tmp_path / "game.gcg").write_text("#player1 a a\n#player2 b b\n>a: AB 8H X8Z +1 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("typed", "word"), WRONG, ids=[typed[:60] for typed, _ in WRONG])
def test_a_wrong_input_is_refused_and_nothing_is_made(
    tilewire: CommandLine, folder: Path, typed: str, word: str
) -> None:
    """``word`` is what has to be in the sentence: the option, file, line or name."""
    there = sorted(folder.rglob("*"))
    assert tilewire(*shlex.split(typed)) == 2
    assert word in tilewire.err
    assert tilewire.err.splitlines()[-1].startswith("tilewire: ")
    assert "Traceback" not in tilewire.err
    assert not tilewire.out
    assert sorted(folder.rglob("*")) == there


@pytest.mark.parametrize(
    ("db", "word"),
    [
        ("postgresql://127.0.0.1:1/x", "postgresql://127.0.0.1:1/x"),
        ("postgresql://ann:secret@[::", "URL"),
    ],
)
@pytest.mark.parametrize("standby", [(), ("--standby",)])
def test_a_database_that_isnt_there_is_told(
    tilewire: CommandLine, folder: Path, db: str, word: str, standby: tuple[str, ...]
) -> None:
    there = sorted(folder.rglob("*"))
    assert tilewire("serve", "--port", "0", "--db", db, *standby) == 1
    assert word in tilewire.err
    assert "secret" not in tilewire.err
    assert sorted(folder.rglob("*")) == there


# --- output that fails --------------------------------------------------------------------------


def test_output_that_nobody_reads_ends_a_command_as_other_tools() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "lexicon", "list"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "standard output: No space left on device" in done.stderr


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("report m", "report.html"),
        ("games m --out .", ".gcg"),
        ("backup m copy.db", "copy.db"),
        ("match greedy greedy --out new", "new/"),
        ("token ann --tokens players.tokens", "players.tokens"),
        ("token ben --tokens there.tokens", "there.tokens"),
        ("new bot mine", "pyproject.toml"),
        ("lexicon words --out words.txt", "words.txt"),
        ("experiment calibration --out e.jsonl", "e.jsonl"),
    ],
)
def test_a_full_disk_is_told_with_the_file_and_leaves_none_cut_short(
    tilewire: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    file: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tilewire("token", "ann", "--tokens", "there.tokens") == 0
    if "m" in command.split():
        write_event(tmp_path / "m", ("greedy-1", "greedy-2"))
    before, limits = contents(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))  # as if there were no more room
    try:
        assert tilewire(*command.split()) == 1, tilewire.err
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file in tilewire.err.splitlines()[-1]
    after = contents(tmp_path)
    assert {path for path in after if after[path] and before.get(path) != after[path]} == set()


def contents(folder: Path) -> dict[Path, bytes]:
    """Read the files of a folder, without those that SQLite makes beside a journal."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.name.endswith(("-shm", "-wal"))}


def test_a_terminal_of_few_characters_gets_others_and_json_whole() -> None:
    known = {"tea": True, "Жé": False, "😀": False}
    told: list[str] = []
    for command in (("token", "--help"), ("lexicon", "check", *known, "--json")):
        done = subprocess.run(
            [*COMMAND, *command],
            env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (len(told), b"")  # of the words not all are valid
        told.append(done.stdout.decode("ascii"))
    assert json.loads(told[1]) == known


# --- signals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loops", ["runtime.loop_factory", "lambda: None"], ids=["ours", "asyncio"])
def test_a_signal_after_an_event_loop_is_heard(loops: str) -> None:
    program = (
        "import os, signal, time\n"
        "from harness.cli import options\n"
        "from harness.cli import _terminate\n"
        "from harness.cli.failing import stop_status\n"
        "from harness.cli.options import runtime\n"
        f"runtime.loop_factory = {loops}\n"
        "async def nothing():\n"
        "    pass\n"
        "signal.signal(signal.SIGTERM, _terminate)\n"
        "for number in (signal.SIGINT, signal.SIGTERM):\n"
        "    options.run(nothing())\n"
        "    try:\n"
        "        os.kill(os.getpid(), number)\n"
        "        time.sleep(0.5)\n"
        "    except KeyboardInterrupt as stop:\n"
        "        print(stop_status(stop))\n"
    )
    ended = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stdout.split(), ended.stderr) == (0, ["130", "143"], "")


@pytest.mark.parametrize(
    ("command", "number", "status"),
    [
        # Compiled code and threads; an event loop.
        ("experiment duel static greedy --games 4000000", signal.SIGINT, 130),
        ("bench server --seconds 60", signal.SIGTERM, 143),
    ],
    ids=["kernels", "loop"],
)
def test_a_signal_ends_whatever_runs(command: str, number: signal.Signals, status: int) -> None:
    with subprocess.Popen(
        [*COMMAND, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        until_it_catches(process.pid, signal.SIGTERM)
        time.sleep(1)  # wherever it is by now
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    assert "Traceback" not in out + err, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_python_drops_is_sent_again(number: signal.Signals) -> None:
    program = (
        "import os, signal, sys, time, harness.cli as cli\n"
        "class Dropping:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), {number})\n"
        "        time.sleep(0.1)\n"
        "def command(_arguments):\n"
        "    try:\n"
        "        Dropping()\n"
        "        time.sleep(20)\n"
        "    except KeyboardInterrupt as stop:\n"
        "        return cli.failing.stop_status(stop)\n"
        "import harness.cli.failing\n"
        "cli.run_command = command\n"
        "cli.main()\n"
    )
    ended = subprocess.run((sys.executable, "-c", program), capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (128 + number, b"")


def until_it_catches(pid: int, number: signal.Signals) -> None:
    """Wait until a process handles a signal: before that, Python itself is still starting."""
    status = Path(f"/proc/{pid}/status")
    while status.exists():
        (caught,) = re.findall(r"SigCgt:\s*([0-9a-f]+)", status.read_text())
        if int(caught, 16) >> (number - 1) & 1:
            return
        time.sleep(0.02)


# --- help ---------------------------------------------------------------------------------------


def test_the_shell_completes(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "completion"
    monkeypatch.setenv("TILEWIRE_CACHE", str(user_cache()))  # that of the true home
    monkeypatch.setenv("HOME", str(tmp_path))  # whose .bashrc is written
    assert tilewire("--install-completion", "--shell", "bash", "--output", script) == 0
    typed = f"source {script}; COMP_WORDS=(tilewire match --gam); COMP_CWORD=2; _tilewire"
    done = subprocess.run(
        ["bash", "-c", typed + "; echo ${COMPREPLY[@]}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "--games\n"
