"""What the tests of commands run them with."""

from __future__ import annotations

import pytest
from command_line import CommandLine


@pytest.fixture
def tilewire(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)
