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


def test_a_port_that_is_taken_leaves_no_journal(tilewire: CommandLine, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert tilewire("serve", "--port", port, "--db", tmp_path / "j.db") == 1
    assert str(port) in tilewire.err
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_can_not_be_leaves_no_journal(tilewire: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text('[bots]\nq = "siu:engine?memory=x"\n')
    assert tilewire("serve", "--config", config, "--port", 0, "--db", tmp_path / "j.db") == 1
    assert "memory" in tilewire.err
    assert not (tmp_path / "j.db").exists()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[time]\ninitial = 300000\n", "initial_ms"),
        ("[time]\ninitial_ms = 0\n", "time.initial_ms"),
        ('[time]\ninitial_ms = "5m"\n', "time.initial_ms"),
        ("[time]\nmove_cap_ms = true\n", "time.move_cap_ms"),
        ("time = 5\n", "time"),
        ("max_games = -1\n", "max_games"),
        ("port = 99999\n", "port"),
        ("port = 80.7\n", "port"),
        ("[ladder.tables.blitz]\ninitial = 3\n", "ladder.tables.blitz"),
        ("[tables.blitz.time]\ninitial = 3\n", "tables.blitz.time"),
        ("[ladder]\nfade_days = 0\n", "ladder.fade_days"),
        ("[ladder.anchors]\nnobody = 1\n", "'nobody'"),
        ("[ladder.anchors]\nstatic = 1e9\n", "rating"),
        ('[ladder]\npersons = ["greedy"]\n', "ladder.persons"),
        ('[tables.polish]\nrules = "polsh"\n', "'polsh'"),
        ("[tables.main]\n", "main"),
        ("[tables.'a b']\n", "tables.a b"),
        ('[ladder.tables.a]\ntable = "polish"\n', "tables.polish"),
        ("[ladder.tables.'a b']\n", "ladder.tables"),
        ("prot = 3\n", "port"),
        ("db = 3\n", "db"),
        ("ponder = 'yes'\n", "ponder"),
        ("[bots]\nfine = 'static'\nquick = 7\n", "bots.quick"),
        ("[bots]\nquick = 'statik'\n", "bots.quick"),
        ("[bots]\nquick = 'static?temperature=hot'\n", "bots.quick"),
        ("host = localhost\n", "line 1"),
        ("port = 1\nhost = '\udcff'\n", "line 2"),
    ],
)
def test_a_configuration_that_makes_no_sense(
    tilewire: CommandLine, tmp_path: Path, text: str, word: str
) -> None:
    config = tmp_path / "serve.toml"
    config.write_text(text, errors="surrogateescape")
    assert tilewire("serve", "--config", config, "--db", tmp_path / "j.db") == 2
    assert word in tilewire.err
    assert not (tmp_path / "j.db").exists()


@pytest.mark.parametrize("command", ["serve", "bridge"])
def test_a_configuration_that_is_not_there(
    tilewire: CommandLine, tmp_path: Path, command: str
) -> None:
    config = tmp_path / "none.toml"
    assert tilewire(command, "--config", config) == 2
    assert str(config) in tilewire.err


@pytest.mark.parametrize("option", ["--tls-cert", "--tokens"])
def test_a_file_that_is_not_there(tilewire: CommandLine, tmp_path: Path, option: str) -> None:
    path = tmp_path / "none"
    assert tilewire("serve", option, path, "--db", tmp_path / "j.db") == 2
    assert str(path) in tilewire.err
    assert not (tmp_path / "j.db").exists()


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
        ("serve", "--port", "0", "--db"),
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
    tilewire: CommandLine, tmp_path: Path
) -> None:
    assert tilewire("serve", "--require-containment", "--tokens", tmp_path / "none") == 2
    assert str(tmp_path / "none") in tilewire.err
    assert tilewire("match", "statik", "greedy", "--require-containment") == 2
    assert "statik" in tilewire.err
    assert tilewire("play", "statik", "--require-containment", "--db", tmp_path / "p.db") == 2
    assert "statik" in tilewire.err


def test_containment_that_is_required_is_that_of_this_machine(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    at = ("--cluster", "tcp://127.0.0.1:1", "--require-containment", "--out", tmp_path / "new")
    assert tilewire("match", "static", "greedy", *at) == 2
    assert "--cluster" in tilewire.err
    assert not (tmp_path / "new").exists()


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
