"""What the tests of bots play with."""

from __future__ import annotations

import pytest
from bot_table import TestArbiter

from engine.rules.rules import Rules, standard_rules
from lexicons.store import Lexicon, load_lexicon


@pytest.fixture(scope="session")
def rules() -> Rules:
    return standard_rules()


@pytest.fixture(scope="session")
def lexicon() -> Lexicon:
    return load_lexicon()


@pytest.fixture
def table(lexicon: Lexicon, rules: Rules) -> TestArbiter:
    return TestArbiter(lexicon, rules)
