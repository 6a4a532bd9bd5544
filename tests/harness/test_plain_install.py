"""The program without its extras, as ``pip install tilewire`` leaves it."""

from __future__ import annotations

import subprocess
import sys

EXTRAS = ("distributed", "hypothesis", "matplotlib", "networkx", "playwright", "psycopg", "pytest")


def test_every_module_can_be_imported_without_the_extras() -> None:
    program = f"""
import importlib, pkgutil, sys
sys.modules |= dict.fromkeys({EXTRAS})
for root in ("bot", "engine", "harness", "lexicons", "protocol"):
    package = importlib.import_module(root)
    for module in pkgutil.walk_packages(package.__path__, f"{{root}}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""
    done = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
