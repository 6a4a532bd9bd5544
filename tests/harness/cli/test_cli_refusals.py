"""What a match and a server say of seats, settings and files before anybody plays."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from command_line import CommandLine

from harness.cli.serve import read_config
from harness.server.ladder.settings import ServerTime


def test_a_port_that_is_taken_leaves_no_journal(tilewire: CommandLine, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert tilewire("serve", "--port", port, "--db", tmp_path / "j.db") == 1
    assert f"can't listen at 127.0.0.1, port {port}: another program" in tilewire.err
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_can_not_be_leaves_no_journal(tilewire: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text('[bots]\nq = "siu:engine?memory=x"\n')
    assert tilewire("serve", "--config", config, "--port", 0, "--db", tmp_path / "j.db") == 1
    assert "memory (MiB) and cores are numbers" in tilewire.err
    assert not (tmp_path / "j.db").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[time]\ninitial = 300000\n", "unknown key 'initial' in [time]; did you mean initial_ms?"),
        ("[time]\ninitial_ms = 0\n", "time.initial_ms must be at least 1 (got 0)"),
        (
            '[time]\ninitial_ms = "5m"\n',
            "time.initial_ms must be a whole number of milliseconds, such as 300000 for 5 minutes "
            '(got "5m")',
        ),
        ("[time]\nmove_cap_ms = true\n", "move_cap_ms must be a whole number of milliseconds"),
        ("time = 5\n", "time must be a table (got 5)"),
        ("max_games = -1\n", "max_games must be at least 1 (got -1)"),
        ("port = 99999\n", "port must be at most 65535 (got 99999)"),
        ("port = 80.7\n", "port must be a whole number (got 80.7)"),
        (
            "[ladder.tables.blitz]\ninitial = 3\n",
            "unknown key 'initial' in [ladder.tables.blitz]; did you mean initial_ms?",
        ),
        (
            "[tables.blitz.time]\ninitial = 3\n",
            "unknown key 'initial' in [tables.blitz.time]; did you mean initial_ms?",
        ),
        ("[ladder]\nfade_days = 0\n", "ladder.fade_days must be at least 1 (got 0)"),
        ("[ladder.anchors]\nnobody = 1\n", "no bot of this server is called 'nobody'"),
        ("[ladder.anchors]\nstatic = 1e9\n", "must be a rating from -10,000 to 10,000"),
        ('[ladder]\npersons = ["greedy"]\n', "ladder.persons: greedy is a bot of this server"),
        ('[tables.polish]\nrules = "polsh"\n', "no rule set is called 'polsh'"),
        ("[tables.main]\n", "the settings outside [tables] are those of the table main"),
        ("[tables.'a b']\n", "tables.a b: a table's name is 1 to 32 letters, digits and hyphens"),
        ('[ladder.tables.a]\ntable = "polish"\n', "there is no [tables.polish] in the file"),
        ("[ladder.tables.'a b']\n", "ladder.tables: a table's name is 1 to 32 letters, digits and"),
        ("prot = 3\n", "unknown key 'prot'; did you mean port?"),
        ("db = 3\n", "db must be a text in quotes (got 3)"),
        ("ponder = 'yes'\n", 'ponder must be true or false (got "yes")'),
        ("[bots]\nfine = 'static'\nquick = 7\n", "bots.quick must be a text in quotes (got 7)"),
        ("[bots]\nquick = 'statik'\n", "bots.quick: no bot is called 'statik'"),
        (
            "[bots]\nquick = 'static?temperature=hot'\n",
            "bots.quick: 'static?temperature=hot': temperature is a number of points, 0 or more",
        ),
        ("host = localhost\n", "serve.toml is not TOML: Invalid value (at line 1, column 8); "),
        ("port = 1\nhost = '\udcff'\n", "serve.toml, line 2: byte 0xFF is not UTF-8"),
    ],
)
def test_a_configuration_that_makes_no_sense(
    tilewire: CommandLine, tmp_path: Path, text: str, sentence: str
) -> None:
    config = tmp_path / "serve.toml"
    config.write_text(text, errors="surrogateescape")
    assert tilewire("serve", "--config", config, "--db", tmp_path / "j.db") == 2
    assert sentence in tilewire.err
    assert not (tmp_path / "j.db").exists()


@pytest.mark.parametrize("command", ["serve", "bridge"])
def test_a_configuration_that_is_not_there(
    tilewire: CommandLine, tmp_path: Path, command: str
) -> None:
    config = tmp_path / "none.toml"
    assert tilewire(command, "--config", config) == 2
    assert tilewire.err == f"tilewire: {config}: No such file or directory\n"


def test_a_certificate_that_is_not_there(tilewire: CommandLine, tmp_path: Path) -> None:
    cert = tmp_path / "none.pem"
    assert tilewire("serve", "--tls-cert", cert, "--db", tmp_path / "j.db") == 2
    assert tilewire.err == f"tilewire: no TLS: there is no file {cert}\n"


def test_a_file_of_tokens_that_is_not_there(tilewire: CommandLine, tmp_path: Path) -> None:
    tokens = tmp_path / "none"
    assert tilewire("serve", "--tokens", tokens, "--db", tmp_path / "j.db") == 2
    make = f"'tilewire token NAME --tokens {tokens}' makes one"
    assert tilewire.err == f"tilewire: {tokens}: No such file or directory; {make}\n"
    assert not (tmp_path / "j.db").exists()


@pytest.mark.parametrize("tournament", [False, True])
def test_strangers_may_play_only_where_that_is_said(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tournament: bool
) -> None:
    kind = ("--tournament", tmp_path / "club.toml") if tournament else ("--db", tmp_path / "j.db")
    assert tilewire("serve", "--host", "192.0.2.1", *kind) == 2
    assert "--host 192.0.2.1: anybody who can reach it could play" in tilewire.err
    tokens = ("--tokens", tmp_path / "none")
    assert tilewire("serve", "--host", "192.0.2.1", *tokens, *kind) == 2
    assert "none: No such file or directory" in tilewire.err
    assert tilewire("serve", "--open-to-all", *tokens, *kind) == 2
    assert "--open-to-all anybody: choose one" in tilewire.err
    assert tilewire("serve", "--host", "192.0.2.1", "--open-to-all", *kind) in (1, 2)
    assert "anybody" not in tilewire.err
    monkeypatch.setenv("TILEWIRE_HOST", "192.0.2.2")
    assert tilewire("serve", *kind) == 2
    assert "--host 192.0.2.2: anybody" in tilewire.err
    assert not list(tmp_path.iterdir())


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
    assert "results.jsonl, line 1 is not the result of a game" in tilewire.err
    assert "Traceback" not in tilewire.err
