"""The command: ``tilewire``, or ``python -m tilewire``.

A module of its own, found by a name that nobody else has: a user's ``bot.py`` or ``harness.py``, in
a folder of ``PYTHONPATH``, would be found before our packages of these names.
"""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
for ours in ("bot", "engine", "harness", "lexicons", "protocol"):
    import_module(ours)
del sys.path[0]

from harness.cli import main  # noqa: E402

__all__ = ["main"]

if __name__ == "__main__":
    main()
