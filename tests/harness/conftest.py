"""What the tests of commands run them with."""

from __future__ import annotations

from functools import cache

import pytest
from command_line import CommandLine

from harness.arbiter.journal_postgres import PostgresStore
from harness.cli.options import load_words

_load_once = cache(load_words)


@pytest.fixture
def quick_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have hosts prolong the lease of a journal in PostgreSQL more often.

    Another host is refused once it has seen two beats.
    """
    monkeypatch.setattr(PostgresStore, "idle_s", PostgresStore.idle_s / 6)


@pytest.fixture
def tilewire(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def kept_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands on positions read the same words once: that takes most of their time."""
    monkeypatch.setattr("harness.cli.positions.load_words", _load_once)
