from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import engine

OFFERED = [
    "PASS",
    "Bag",
    "Board",
    "Direction",
    "DrawStream",
    "Exchange",
    "Game",
    "IllegalMove",
    "Move",
    "Place",
    "Position",
    "Rules",
    "check_move",
    "legal_moves",
    "standard_rules",
    "verify_draws",
]


def test_what_the_package_offers() -> None:
    assert engine.__all__ == OFFERED
    assert all(hasattr(engine, name) for name in OFFERED)


def test_what_it_does_not_offer_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'engine' has no attribute 'best_move'"):
        engine.best_move  # noqa: B018


def test_importing_it_does_not_import_numba() -> None:
    code = "import engine, sys; print('numba' in sys.modules)"
    root = Path(engine.__file__).parents[1]
    told = subprocess.check_output([sys.executable, "-c", code], cwd=root, text=True, timeout=60)
    assert told == "False\n"
