"""The features of leaves, their slow twin, the table they make, and their file."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexicons.alphabet import BLANK, Alphabet, TileDistribution, load_distribution
from lexicons.rack_features import (
    RackWeights,
    feature_names,
    leave_table,
    read_rack_weights,
    shipped_rack_weights,
    write_rack_weights,
)

ENGLISH = load_distribution()
FEW = TileDistribution(
    "few",
    Alphabet(("?", "A", "CH", "Q"), ("?", "a", "ch", "q")),
    counts=(2, 4, 3, 1),
    points=(0, 1, 4, 8),
    vowels=(False, True, False, False),
)


def some_weights(distribution: TileDistribution, seed: int = 1) -> RackWeights:
    letters = distribution.alphabet.letters
    drawn = np.random.default_rng(seed).normal(0, 5, len(feature_names(letters)))
    return RackWeights(letters, tuple(np.round(drawn, 3).tolist()), {"seed": seed})


def by_the_definition(leave: tuple[int, ...], distribution: TileDistribution) -> dict[str, int]:
    letters = distribution.alphabet.letters
    counts = Counter(leave)
    vowels = sum(count for tile, count in counts.items() if distribution.vowels[tile])
    found = {letters[tile]: 1 for tile in counts}
    found["doubles"] = sum(count == 2 for count in counts.values())
    found["triples"] = sum(count >= 3 for count in counts.values())
    found["imbalance"] = abs(2 * vowels - (len(leave) - counts[BLANK]))
    if "Q" in letters and "U" in letters:
        found["Q without U"] = int("Q" in found and "U" not in found)
    return found


@pytest.mark.parametrize("distribution", [ENGLISH, FEW])
def test_the_table_is_the_weighted_sum(distribution: TileDistribution) -> None:
    chance = np.random.default_rng(1)
    bag = np.array(distribution.all_tiles())
    weights = some_weights(distribution)
    table, by_name = leave_table(weights, distribution), weights.by_name()
    for _ in range(1_000):
        leave = tuple(chance.choice(bag, chance.integers(7), replace=False).tolist())
        found = by_the_definition(leave, distribution)
        worth = sum(by_name[name] * value for name, value in found.items())
        assert table.value(leave) == pytest.approx(worth, abs=1e-6)
    assert leave_table(weights, distribution) is table, "it is worked out once"


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("distribution", [ENGLISH, FEW])
def test_weights_are_written_and_read(distribution: TileDistribution, tmp_path: Path) -> None:
    weights = some_weights(distribution)
    write_rack_weights(tmp_path / "rack.json", weights)
    read = read_rack_weights(tmp_path / "rack.json")
    assert read == weights
    assert read.made == weights.made
    assert [path.name for path in tmp_path.glob("*.json*")] == ["rack.json"]


def test_the_weights_of_the_house() -> None:
    weights = shipped_rack_weights()
    by_name = weights.by_name()
    assert weights.letters == ENGLISH.alphabet.letters
    assert by_name["?"] == max(by_name.values())
    assert by_name["S"] > by_name["E"] > 0 > by_name["Q without U"]
    assert str(weights.made["command"]).startswith("tilewire train features --lexicon scowl --seed")
    assert weights.made.keys() >= {"seed", "games", "lexicon_checksum"}


def changed(**fields: Any) -> str:
    names = feature_names(FEW.alphabet.letters)
    content: dict[str, Any] = {
        "format": "tilewire rack weights 1",
        "letters": FEW.alphabet.letters,
        "weights": dict.fromkeys(names, 1.5),
    }
    return json.dumps(content | fields)


def weights_but(**weights: object) -> dict[str, object]:
    names = dict.fromkeys(feature_names(FEW.alphabet.letters), 1)
    return {name: value for name, value in (names | weights).items() if value is not None}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON, so no rack weights"),
        ("[]", "no rack weights; expected"),
        (changed(letters="?AB"), '"letters" is a list of texts'),
        (changed(weights=[1]), '"weights" is a number of points for each feature'),
        (changed(weights=weights_but(A=None)), "no weight for 'A'"),
        (changed(weights=weights_but(B=1)), "a weight for 'B', which is no feature"),
        (changed(weights=weights_but(A=float("nan"))), "'A' weighs nan; a weight is a number"),
        (changed(weights=weights_but(A=10**400)), "'A' weighs "),
        (" " * 70_000, "70,000 bytes; no file of rack weights has over 65,536"),
    ],
)
def test_what_is_no_file_of_weights(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "rack.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=rf"rack\.json: .*{re.escape(says)}"):
        read_rack_weights(path)
