"""What the tests of every adapter use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_games import EngineGames


@pytest.fixture
def games(tmp_path: Path) -> Iterator[EngineGames]:
    """Games of SIU stand-ins, of which nothing may be left after the test."""
    if not sys.platform.startswith("linux"):
        pytest.skip("what is left of an engine is looked up in /proc")
    games = EngineGames(tmp_path)
    yield games
    assert not games.left()
