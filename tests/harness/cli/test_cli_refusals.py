"""What a match and a server say of seats, settings and files before anybody plays."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from harness.cli.serve import read_config
from protocol.parts import TimeControl


@pytest.mark.parametrize(
    ("seat", "options", "sentence"),
    [
        ("siu:engine?memory=x", (), "memory (MiB) and cores are numbers"),
        ("files:x", ("--concurrency", 2), "a seat files:… plays one game at a time"),
    ],
)
def test_a_match_that_can_not_be_leaves_no_folder(
    tilewire: CommandLine, tmp_path: Path, seat: str, options: tuple[object, ...], sentence: str
) -> None:
    assert tilewire("match", seat, "static", *options, "--out", tmp_path / "out") == 2
    assert sentence in tilewire.err
    assert not (tmp_path / "out").exists()


def test_a_server_that_can_not_be_leaves_no_journal(tilewire: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text('[bots]\nq = "siu:engine?memory=x"\n')
    assert tilewire("serve", "--config", config, "--port", 0, "--db", tmp_path / "j.db") == 1
    assert "memory (MiB) and cores are numbers" in tilewire.err
    assert not (tmp_path / "j.db").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[time]\ninitial = 300000\n", "there is no 'initial' in [time]"),
        ("[time]\ninitial_ms = 0\n", "Expected `int` >= 1 - at `$.time.initial_ms`"),
        ("max_games = -1\n", "Expected `int` >= 1 - at `$.max_games`"),
        ("port = 99999\n", "port must be 0 to 65535, and 0 is any that is free (got 99999)"),
        ("prt = 9\n", "there is no 'prt' in a server's settings"),
    ],
)
def test_a_configuration_that_makes_no_sense(
    tilewire: CommandLine, tmp_path: Path, text: str, sentence: str
) -> None:
    config = tmp_path / "serve.toml"
    config.write_text(text)
    assert tilewire("serve", "--config", config, "--db", tmp_path / "j.db") == 2
    assert sentence in tilewire.err
    assert not (tmp_path / "j.db").exists()


def test_players_of_a_server_have_time_to_compile(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    for text, ready_ms in (("", 120_000), ("ready_ms = 5000\n", 5_000)):
        config.write_text(f"[time]\ninitial_ms = 1000\n{text}")
        assert read_config(config)["time"] == TimeControl(initial_ms=1_000, ready_ms=ready_ms)


def test_results_that_are_damaged(tilewire: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.jsonl").write_text("nonsense\n")
    assert tilewire("match", "static", "greedy", "--games", 2, "--out", out) == 1
    assert "results.jsonl, line 1 is not the result of a game" in tilewire.err
    assert "Traceback" not in tilewire.err
