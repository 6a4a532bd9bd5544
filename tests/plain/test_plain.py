"""Kernels give the same compiled and plain, where they can be stepped through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from plain.cases import CASES

import lexicons

ROOT = Path(lexicons.__file__).resolve().parent.parent


def test_kernels_answer_the_same_plain_as_compiled(tmp_path: Path) -> None:
    compiled = tmp_path / "compiled.json"
    answers = {name: case() for name, case in CASES.items()}
    compiled.write_text(json.dumps(answers), encoding="utf-8")
    environment = {"NUMBA_DISABLE_JIT": "1", "TILEWIRE_COMPILED": str(compiled)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-W", "error::RuntimeWarning", "tests/plain/in_plain.py"]
    ended = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-4_000:] + ended.stderr[-1_000:]
    assert f"{len(CASES)} passed" in ended.stdout
