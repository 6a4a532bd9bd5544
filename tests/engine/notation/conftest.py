"""What the tests of notation share: the standard rules and how to lay tiles on a board."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.rules.position import Board
from engine.rules.rules import Rules, standard_rules

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="session")
def rules() -> Rules:
    return standard_rules()


@pytest.fixture(scope="session")
def gcg_files() -> Path:
    return FIXTURES / "gcg"


@pytest.fixture(scope="session")
def cgp_files() -> Path:
    return FIXTURES / "cgp"


@pytest.fixture(scope="session")
def lay(rules: Rules) -> Callable[..., Board]:
    """Give a function that puts texts on a board: ``lay(("8D", "WoRDS"))`` runs across."""

    def laid(*texts: tuple[str, str]) -> Board:
        squares = bytearray(rules.layout.rows * rules.layout.columns)
        for square, text in texts:
            at = (int(square[:-1]) - 1) * rules.layout.columns + ord(square[-1]) - ord("A")
            tiles = rules.distribution.alphabet.tiles(text)
            squares[at : at + len(tiles)] = bytes(tiles)
        return Board(rules.layout, bytes(squares))

    return laid
