"""What a match and a server say of seats, settings and files before anybody plays."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

from bot.seat.confinement import Confinement
from bot.seat.containment import containment, guard_command
from harness.cli.serve import read_config
from harness.server.ladder.settings import ServerTime


@pytest.mark.parametrize("storage", ["--db j.db", "--tournament club.toml --out new"])
def test_a_port_that_is_taken_leaves_nothing(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "club.toml").write_text(SWISS)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert tilewire("serve", "--port", port, *storage.split()) == 1
    assert str(port) in tilewire.err
    assert [path.name for path in tmp_path.iterdir()] == ["club.toml"]


def test_a_server_that_can_not_be_leaves_no_journal(tilewire: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text('[bots]\nq = "siu:engine?memory=x"\n')
    assert tilewire("serve", "--config", config, "--port", 0, "--db", tmp_path / "j.db") == 1
    assert "memory" in tilewire.err
    assert not (tmp_path / "j.db").exists()


SEATS = 'seats = ["static", "greedy"]\n'
SWISS = 'seats = ["guest:ann", "guest:bob"]\nformat = "swiss"\nrounds = 3\n'
OPEN = 'open = true\nformat = "swiss"\n'
MATCH, SERVER, TOURNAMENT = "match --config", "serve --config", "serve --port 0 --tournament"
WRONG = [
    (MATCH, "gmaes = 3\n", "games"),
    (MATCH, "games = 2.5\n", "games"),
    (MATCH, "games = 2\n", "seats"),
    (MATCH, "games = \n", "TOML"),
    (MATCH, 'seats = ["static"]\n', "seats"),
    (MATCH, SEATS + 'time = "5x"\n', "'5x'"),
    (MATCH, SEATS + 'increment = "5s"\nmax_overtime = "5s"\n', "increment"),
    (SERVER, "[time]\ninitial = 300000\n", "initial_ms"),
    (SERVER, "[time]\ninitial_ms = 0\n", "time.initial_ms"),
    (SERVER, "prot = 3\n", "port"),
    (SERVER, "host = localhost\n", "line 1"),
    (SERVER, "port = 1\nhost = '\udcff'\n", "line 2"),
    (SERVER, "[bots]\nquick = 'statik'\n", "bots.quick"),
    (SERVER, "[bots]\nquick = 'static?temperature=hot'\n", "bots.quick"),
    (SERVER, "[bots]\nann = 'guest:ann'\n", "bots.ann"),
    (SERVER, "[tables.blitz.time]\ninitial = 3\n", "tables.blitz.time"),
    (SERVER, '[tables.polish]\nrules = "polsh"\n', "'polsh'"),
    (SERVER, "[tables.main]\n", "main"),
    (SERVER, "[ladder]\nfade_days = 0\n", "ladder.fade_days"),
    (SERVER, '[ladder]\npersons = ["greedy"]\n', "ladder.persons"),
    (SERVER, "[ladder.anchors]\nnobody = 1\n", "'nobody'"),
    (SERVER, '[ladder.tables.a]\ntable = "polish"\n', "tables.polish"),
    (SERVER, "[ladder.tables.'a b']\n", "ladder.tables"),
    (TOURNAMENT, 'seats = ["guest:ann"]\n', "open = true"),
    (TOURNAMENT, "open = true\n", "swiss"),
    (TOURNAMENT, SWISS + 'no_show = "0.0004s"\n', "no_show"),
    (TOURNAMENT, SWISS + "waits = 1\n", "wait?"),
    (TOURNAMENT, SWISS + 'directors = ["a b"]\n', "directors"),
    (TOURNAMENT, OPEN + 'anchor = ["ann=1500"]\n', "ann"),
    (TOURNAMENT, SWISS + 'name = ["A=Anna"]\n', "Anna"),
    (TOURNAMENT, 'seats = ["guest:a", "guest:a"]\n', "a-1"),
    (TOURNAMENT, 'seats = ["guest:", "static"]\n', "64"),
    (TOURNAMENT, 'seats = ["guest:dead:beef", "static"]\n', "address"),
    (TOURNAMENT, SWISS + "concurrency = 3\n", "--max-games"),
    (TOURNAMENT, SWISS + "seed = 3\n", "seed"),
    ("serve --port 0 --time 1m --lexicon x --tournament", SWISS, "lexicon, time"),
]


@pytest.mark.parametrize(("command", "text", "word"), WRONG)
def test_settings_that_make_no_sense_are_refused_and_nothing_is_made(
    tilewire: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    text: str,
    word: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(text, errors="surrogateescape")
    assert tilewire(*command.split(), "s.toml", *(["--db", "j.db"] * (command == SERVER))) == 2
    assert word in tilewire.err
    there = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert not there & {"match.json", "match.db", "j.db"}


@pytest.mark.parametrize("tournament", [False, True])
def test_strangers_may_play_only_where_that_is_said(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tournament: bool
) -> None:
    kind = ("--tournament", tmp_path / "club.toml") if tournament else ("--db", tmp_path / "j.db")
    assert tilewire("serve", "--host", "192.0.2.1", *kind) == 2
    assert "--host 192.0.2.1" in tilewire.err
    tokens = ("--tokens", tmp_path / "none")
    assert tilewire("serve", "--host", "192.0.2.1", *tokens, *kind) == 2
    assert str(tmp_path / "none") in tilewire.err
    assert tilewire("serve", "--open-to-all", *tokens, *kind) == 2
    assert "--open-to-all" in tilewire.err
    assert tilewire("serve", "--host", "192.0.2.1", "--open-to-all", *kind) in (1, 2)
    monkeypatch.setenv("TILEWIRE_HOST", "192.0.2.2")
    assert tilewire("serve", *kind) == 2
    assert "--host 192.0.2.2" in tilewire.err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not containment().apart, reason="this system has no namespaces for us")
@pytest.mark.parametrize(
    "command",
    [
        ("match", "static", "greedy", "--out"),
        ("play", "--no-browser", "--db"),
        ("serve", "--port", "0", "--config", "server.toml", "--db"),
        ("serve", "--port", "0", "--tournament", "club.toml", "--out"),
    ],
)
def test_containment_that_is_required_and_can_not_be_had_ends_a_command_at_its_start(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    """A contained process is a system that allows no namespaces."""
    (tmp_path / "server.toml").write_text("require_containment = true\n")
    required = () if "server.toml" in command else ("--require-containment",)
    lifeline, ours = os.pipe()
    try:
        program = [sys.executable, "-c", "from tilewire import main; main()", *command]
        inside = guard_command(
            lifeline, Confinement(apart=True, network=True), [*program, "new", *required]
        )
        ended = subprocess.run(
            inside, pass_fds=[lifeline], cwd=tmp_path, capture_output=True, text=True, check=False
        )
    finally:
        os.close(lifeline)
        os.close(ours)
    assert ended.returncode == 2, ended.stderr
    assert "--require-containment: this system does not allow namespaces" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["server.toml"]


@pytest.mark.skipif(not containment().is_whole, reason="bots can't be contained here")
def test_containment_that_is_required_and_can_be_had_is_in_nobodys_way(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("serve --tokens statik", "match statik greedy", "play statik"):
        assert tilewire(*command.split(), "--require-containment") == 2
        assert "statik" in tilewire.err


def test_players_of_a_server_have_time_to_compile(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    for text, ready_ms in (("", 60_000), ("ready_ms = 5000\n", 5_000)):
        config.write_text(f"[time]\ninitial_ms = 1000\n{text}")
        assert read_config(config)["time"] == ServerTime(initial_ms=1_000, ready_ms=ready_ms)


def test_results_that_are_damaged(tilewire: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.jsonl").write_text("nonsense\n")
    assert tilewire("match", "static", "greedy", "--games", 2, "--out", out) == 1
    assert "results.jsonl, line 1" in tilewire.err
    assert "Traceback" not in tilewire.err
