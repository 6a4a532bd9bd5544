"""``docs/tilewire.service`` and ``Containerfile`` start what there is; systemd takes its unit."""

from __future__ import annotations

import configparser
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "docs" / "tilewire.service"


def test_the_command_of_the_unit_is_one(tilewire: CommandLine) -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.read(UNIT)
    _, *arguments = shlex.split(unit["Service"]["ExecStart"])
    assert tilewire(*arguments) == 2
    assert "/etc/tilewire/server.toml" in tilewire.err


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


def test_the_container_file_copies_and_starts_what_there_is() -> None:
    lines = (ROOT / "Containerfile").read_text().replace("\\\n", "").splitlines()
    steps = [line.partition(" ")[::2] for line in lines if line and not line.startswith("#")]
    copied = {name for step, what in steps if step == "COPY" for name in what.split()[:-1]}
    packages = {path.parent.name for path in ROOT.glob("*/py.typed")}
    assert packages | {"pyproject.toml", "README.md", "LICENSE", "tilewire.py"} == copied - {
        "--from=build",
        "/opt/tilewire",
    }
    (entry,) = (what for step, what in steps if step == "ENTRYPOINT")
    assert json.loads(entry) == ["tilewire"]
    assert ("RUN", "tilewire warm") in steps
