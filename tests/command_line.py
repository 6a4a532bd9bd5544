"""Running the command line inside the test's own process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
import structlog
from word_maps import share_word_maps

from harness.cli import run_command

share_word_maps()


@dataclass
class CommandLine:
    """Runs commands as ``tilewire`` does; ``out`` and ``err`` are what the last one printed."""

    capsys: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def __call__(self, *arguments: object) -> int:
        """Run a command and give its exit status."""
        try:
            status = run_command([str(argument) for argument in arguments])
        finally:
            structlog.reset_defaults()  # the log went to this test's stderr, which will close
        self.out, self.err = self.capsys.readouterr()
        return status

    def json(self, *arguments: object) -> Any:
        """Run a command with ``--json``, which ends well; return what it prints."""
        assert self(*arguments, "--json") == 0, self.err
        return json.loads(self.out)
