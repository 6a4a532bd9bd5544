"""What plain kernels answer, against what compiled ones answered: run by ``test_plain.py`` alone.

``TILEWIRE_COMPILED`` names the JSON file of compiled answers. pytest collects no file of this name
by itself.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from plain.cases import CASES

from lexicons.jit import PLAIN

COMPILED = json.loads(Path(os.environ["TILEWIRE_COMPILED"]).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_plain_kernel_answers_as_the_compiled_one(name: str) -> None:
    assert PLAIN
    assert json.loads(json.dumps(CASES[name]())) == COMPILED[name]
