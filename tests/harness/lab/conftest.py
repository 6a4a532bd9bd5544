"""What studies and benchmarks are played with."""

from __future__ import annotations

import pytest

from engine.rules.rules import standard_rules
from harness.lab.study_context import Field
from lexicons.store import load_lexicon


@pytest.fixture(scope="session")
def field() -> Field:
    return Field.of(load_lexicon(), standard_rules())
