"""``docs/tilewire.service`` is a unit that systemd takes, and starts what there is."""

from __future__ import annotations

import configparser
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

UNIT = Path(__file__).parents[3] / "docs" / "tilewire.service"


def test_the_command_of_the_unit_is_one(tilewire: CommandLine) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.read(UNIT)
    _, *arguments = shlex.split(unit["Service"]["ExecStart"])
    assert tilewire(*arguments) == 2
    assert "/etc/tilewire/server.toml: No such file" in tilewire.err


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("tilewire")
    text = UNIT.read_text().replace("/opt/tilewire/bin/tilewire", str(program))
    (tmp_path / "tilewire.service").write_text(text)
    done = subprocess.run(
        ("systemd-analyze", "verify", "--man=no", str(tmp_path / "tilewire.service")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
