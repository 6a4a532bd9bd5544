"""What this program calls itself on the wire."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["SOFTWARE"]

try:
    SOFTWARE = f"tilewire {version('tilewire')}"
except PackageNotFoundError:  # a checkout that was not installed
    SOFTWARE = "tilewire"
