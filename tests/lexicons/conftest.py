from __future__ import annotations

import shutil
from pathlib import Path

import pytest

# Imported here, before the cache moves below, so that kernels stay compiled between test runs.
import lexicons.build  # noqa: F401
from lexicons.store import Lexicon, load_lexicon


@pytest.fixture(scope="session")
def scowl_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has the graph of the embedded list, which takes a second to build."""
    directory = tmp_path_factory.mktemp("scowl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWIRE_CACHE", str(directory))
        load_lexicon()
    return directory


@pytest.fixture
def scowl(scowl_cache: Path, own_cache: Path) -> Lexicon:
    """The embedded lexicon, for tests that are not about how it is built."""
    shutil.copytree(scowl_cache, own_cache, dirs_exist_ok=True)
    return load_lexicon()


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what a test derives out of the user's cache, and the user's out of the test."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("TILEWIRE_CACHE", str(directory))
    return directory
