"""What a match and a server say of engines' seats before anybody plays."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine


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
