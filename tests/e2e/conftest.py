"""What several of these tests need."""

from __future__ import annotations

from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "tls"


@pytest.fixture
def certificate() -> tuple[Path, Path]:
    """A certificate for this machine that vouches for itself, and its key."""
    return FIXTURES / "localhost.pem", FIXTURES / "localhost.key"
