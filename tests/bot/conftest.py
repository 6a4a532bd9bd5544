"""What the tests of bots play with."""

from __future__ import annotations

import pytest

from engine.rules import Rules, standard_rules
from lexicons.store import Lexicon, load_lexicon


@pytest.fixture(scope="session")
def rules() -> Rules:
    return standard_rules()


@pytest.fixture(scope="session")
def lexicon() -> Lexicon:
    return load_lexicon()
