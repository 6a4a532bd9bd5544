"""A match's plan, and what its seats are called."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from match_samples import match_config

from bot.seat_text import LONGEST_NAME, parse_seat
from harness.matches.config import read_config, unambiguous_names, write_config


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("static", "greedy", ("static", "greedy")),
        ("static", "static", ("static-1", "static-2")),
        ("v1/bot.py:Balance", "v2/bot.py:Balance", ("Balance (v1)", "Balance (v2)")),
        (
            "v1/bot.py:Balance?weight=3",
            "v2/bot.py:Balance",
            ("Balance (v1, weight=3)", "Balance (v2)"),
        ),
        ("json.tool:main", "json.decoder:main", ("main (tool)", "main (decoder)")),
        ("ws://one:8484/bot", "ws://two:8484/bot", ("bot (one:8484)", "bot (two:8484)")),
        ("siu:engine --plies 2", "siu:engine --plies 4", ("engine (2)", "engine (4)")),
        ("v1/bot.py:Balance", "v1/../v1/bot.py:Balance", ("Balance-1", "Balance-2")),
        ("siu:v1/bot.py?folder=v1", "siu:v2/bot.py?folder=v2", ("bot.py (v1)", "bot.py (v2)")),
        (
            f"v1/bot.py:Balance?note={'x' * 99}",
            "v1/bot.py:Balance",
            ("Balance-1", "Balance-2"),
        ),
        (
            "v1/bot.py:Balance?note=%1b%0a",
            "v1/bot.py:Balance",
            ("Balance (note=\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER})", "Balance"),
        ),
    ],
)
def test_versions_of_a_bot_are_told_apart_by_what_differs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: str,
    second: str,
    names: tuple[str, str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("v1/bot.py", "v2/bot.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    found = unambiguous_names(parse_seat(first), parse_seat(second))
    assert found == names
    assert unambiguous_names(parse_seat(second), parse_seat(first))[0][:-2] == names[1][:-2]
    assert max(map(len, found)) <= LONGEST_NAME


def test_the_seed_of_draws_is_for_its_owner_alone(tmp_path: Path) -> None:
    config, before = match_config(), os.umask(0)
    try:
        write_config(config, tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "match.json").stat().st_mode) == 0o600
    assert read_config(tmp_path) == config
