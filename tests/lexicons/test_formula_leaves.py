"""The formula of the usual leave table: its ranking, its slow twin, and how it is kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lexicons import formula_leaves as formula
from lexicons.alphabet import BLANK, TileDistribution, load_distribution
from lexicons.formula_leaves import formula_leaves

ENGLISH = load_distribution()


def worth(leave: str, distribution: TileDistribution = ENGLISH) -> float:
    return formula_leaves(distribution).value(distribution.alphabet.tiles(leave))


def by_the_definition(leave: tuple[int, ...], distribution: TileDistribution) -> int:
    """Add the formula up tile by tile."""
    counts = Counter(leave)
    number = {text: tile for tile, text in enumerate(distribution.alphabet.letters)}
    total, vowels, consonants = sum(formula.BLANKS[: counts[BLANK]]), 0, 0
    for tile, count in counts.items():
        total += count * formula.KEPT_TILE
        if tile != BLANK:
            precious = tile == number.get("S")
            total += (count - 1) * (formula.REPEATED_PRECIOUS if precious else formula.REPEATED)
            text, points = distribution.alphabet.letters[tile], distribution.points[tile]
            dear = formula.DEAR_TILE * max(0, points - 1)
            total += count * formula.ENGLISH.get(text, dear)
            vowels += count * distribution.vowels[tile]
            consonants += count * (not distribution.vowels[tile])
    total += formula.UNBALANCED * max(0, abs(vowels - consonants) - 1)
    if "Q" in number and counts[number["Q"]]:
        if counts[number.get("U", -1)]:
            total += formula.Q_WITH_U
        elif not counts[BLANK]:
            total += formula.Q_WITHOUT_U
    return total


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("?", "S"), ("S", "E"), ("E", "U"), ("", "V"), ("ER", "EE"), ("AT", "AA"), ("QU", "Q"),
        ("Q?", "Q"), ("AERT", "AEIO"), ("AERT", "DLNT"), ("SS", "S"), ("??", "?"), ("EEE", "UUU"),
    ],
)  # fmt: skip
def test_leaves_are_ranked_as_players_would(better: str, worse: str) -> None:
    assert worth(better) > worth(worse)


def test_the_table_is_the_formula() -> None:
    chance = np.random.default_rng(1)
    bag = np.array(ENGLISH.all_tiles())
    table = formula_leaves(ENGLISH)
    for _ in range(5_000):
        leave = tuple(sorted(chance.choice(bag, chance.integers(0, 7), replace=False).tolist()))
        assert round(table.value(leave) * 1_000) == by_the_definition(leave, ENGLISH)


def toy(path: Path) -> TileDistribution:
    path.write_text("?,?,6,0,0\nА,а,5,1,1\nБ,б,2,3,0\nЩ,щ,1,10,0\n", encoding="utf-8")
    return load_distribution(path)


def test_other_languages_go_by_points(tmp_path: Path) -> None:
    distribution = toy(tmp_path / "toy.csv")
    values = [formula_leaves(distribution).value([tile]) for tile in range(4)]
    assert values == sorted(values, reverse=True)
    for leave in ((), (0, 1, 1), (1, 1, 2, 3), (0, 0, 1, 2), (0, 0, 0, 1), (0,) * 6):
        expected = by_the_definition(leave, distribution)
        assert round(formula_leaves(distribution).value(leave) * 1_000) == expected


def test_it_does_without_a_place_to_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TILEWIRE_CACHE", str(tmp_path / "file"))
    formula_leaves.cache_clear()
    assert formula_leaves(toy(tmp_path / "toy.csv")).value([0]) > 20
    formula_leaves.cache_clear()
