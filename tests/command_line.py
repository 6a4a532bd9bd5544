"""Running the command line inside the test's own process."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

import pytest
import structlog

from harness.cli import main


@dataclass
class CommandLine:
    """Runs commands as ``tilewire`` does; ``out`` and ``err`` are what the last one printed."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def __call__(self, *arguments: object) -> int:
        """Run a command and give its exit status."""
        self.monkeypatch.setattr(sys, "argv", ["tilewire", *map(str, arguments)])
        status = 0
        with warnings.catch_warnings():
            # Under pytest cyclopts takes reading sys.argv for a mistake.
            warnings.filterwarnings("ignore", message="Cyclopts application invoked without")
            try:
                main()
            except SystemExit as stop:
                status = int(stop.code or 0)
            finally:
                structlog.reset_defaults()  # the log went to this test's stderr, which will close
        self.out, self.err = self.capsys.readouterr()
        return status
