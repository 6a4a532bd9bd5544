"""Sixty positions with what was found in them when it was recorded, against regressions.

``recorded.json`` holds for each position its CGP, the number of placements, of exchanges and of
passes, the highest score, and the five best moves with their equities in thousandths of a point
under ``synthetic_leaves(…, seed=1)`` and ``STANDARD``. A change of the rules, of an embedded file
or of the evaluation changes these figures, and then they are recorded anew, in the directory of
the repository:

    PYTHONPATH=.:tests python tests/engine/kernels/test_recorded.py

Look at what ``git diff`` says then: whatever was not meant to change is a regression.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from positions import game_positions
from rollout_positions import leaves, scowl

from engine.movegen.evaluation import STANDARD
from engine.movegen.generator import Generator, legal_moves
from engine.notation.cgp import read_cgp, write_cgp
from engine.notation.move_text import format_move
from engine.rules.moves import PASS, Exchange, Place
from engine.rules.position import Position, bag_count
from engine.rules.rules import standard_rules
from lexicons.alphabet import BLANK

RECORDED = Path(__file__).with_name("recorded.json")
RULES = standard_rules()
BEST = 5
GAMES = 12
POSITIONS_A_GAME = 5


@cache
def generator() -> Generator:
    return Generator(scowl(), RULES, leaves(), STANDARD)


@cache
def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return record


def found_in(cgp: str) -> dict[str, Any]:
    """What is recorded of a position."""
    position = read_cgp(cgp, RULES)
    alphabet = RULES.distribution.alphabet
    moves = legal_moves(position, scowl(), RULES)
    kinds = Counter(type(move).__name__ for move, _ in moves)
    return {
        "cgp": cgp,
        "placements": kinds[Place.__name__],
        "exchanges": kinds[Exchange.__name__],
        "passes": kinds[type(PASS).__name__],
        "highest_score": max(score for _, score in moves),
        "best": [
            [format_move(ranked.move, alphabet), ranked.equity]
            for ranked in generator().best(position, BEST)
        ],
    }


@pytest.mark.parametrize("number", range(GAMES * POSITIONS_A_GAME))
def test_a_position_has_the_moves_that_were_recorded(number: int) -> None:
    expected = recorded()["positions"][number]
    assert found_in(expected["cgp"]) == expected


def test_the_leaves_are_those_that_were_recorded() -> None:
    # If they are not, numpy draws other numbers, and the equities above tell nothing.
    assert int(leaves().values.sum()) == recorded()["sum_of_leaves"]


def test_the_recorded_positions_are_of_every_kind() -> None:
    positions = [read_cgp(each["cgp"], RULES) for each in recorded()["positions"]]
    assert len(positions) == GAMES * POSITIONS_A_GAME
    racks = [position.racks[0] for position in positions]
    blanks = Counter(rack.count(BLANK) for rack in racks)
    assert min(blanks[count] for count in range(3)) >= 8
    assert sum(position.board.is_empty for position in positions) == GAMES
    assert sum(bag_count(position, RULES) == 0 for position in positions) >= 6
    assert sum(len(rack) < RULES.rack_size for rack in racks) >= 10
    assert len({each["cgp"] for each in recorded()["positions"]}) == len(positions)


def chosen() -> list[Position]:
    """Five positions of each of twelve games, with two blanks in three of them, one in three."""
    return [
        position
        for game in range(GAMES)
        for position in game_positions(
            scowl(), RULES, 9_000 + game, POSITIONS_A_GAME, blanks=max(2 - game // 3, 0)
        )
    ]


def record() -> None:
    """Write ``recorded.json`` anew, a position a line."""
    lines = [json.dumps(found_in(write_cgp(position, RULES))) for position in chosen()]
    RECORDED.write_text(
        f'{{"sum_of_leaves": {int(leaves().values.sum())}, "positions": [\n'
        + ",\n".join(lines)
        + "\n]}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    record()
