"""Modules of the page, asked in node, without a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "harness" / "page"


def asked(folder: Path, script: str, question: Any) -> Any:
    """Run a script beside the page's modules; it finds the question in ``process.argv[2]``."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here; install it with: apt-get install nodejs")
    page = folder / "page"
    shutil.copytree(PAGE, page, ignore=shutil.ignore_patterns("*.json", "__pycache__"))
    (page / "package.json").write_text('{"type": "module"}')
    (page / "ask.js").write_text(script)
    command = [node, str(page / "ask.js"), json.dumps(question)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
