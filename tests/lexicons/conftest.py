from __future__ import annotations

from pathlib import Path

import pytest

# Imported here, before the cache moves below, so that kernels stay compiled between test runs.
import lexicons.build  # noqa: F401


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what a test derives out of the user's cache, and the user's out of the test."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("TILEWIRE_CACHE", str(directory))
    return directory
