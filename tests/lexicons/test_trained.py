"""The tables that come with the embedded lexicon."""

from __future__ import annotations

import lzma
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import lexicons
from lexicons.alphabet import TileDistribution, load_distribution
from lexicons.leaves import RACK_SIZE
from lexicons.store import Lexicon
from lexicons.tables import (
    are_trained_for,
    trained_leaves,
    trained_manifest,
    trained_win_probabilities,
)

ENGLISH = load_distribution()


def test_a_win_is_likelier_ahead_and_surer_at_the_end() -> None:
    table = trained_win_probabilities(ENGLISH)
    assert table is not None
    assert (np.diff(table.values, axis=0) >= 0).all()
    assert table.unseen.tolist() == list(range(1, ENGLISH.total - RACK_SIZE + 1))
    assert 0.5 < table.at(0, 93) < 0.6, "who begins wins more"
    assert table.at(300, 40) > 0.99
    assert table.at(-300, 40) < 0.01
    assert table.at(50, 80) < table.at(50, 40) < table.at(50, 10)


@pytest.mark.parametrize(
    ("name", "kind"), [("scowl.klv2.xz", "leaves"), ("scowl.winprob.csv.xz", "winprob")]
)
def test_their_manifests_are_theirs(name: str, kind: str, scowl: Lexicon) -> None:
    content = lzma.decompress((files("lexicons") / "embedded" / name).read_bytes())
    made = trained_manifest(kind)
    assert made.is_of(content)
    assert (made.lexicon, made.lexicon_checksum) == (scowl.name, scowl.checksum)
    assert made.tiles == ENGLISH.name
    assert made.command.startswith(f"tilewire train {kind}")


def test_other_tiles_have_none() -> None:
    more = replace(ENGLISH, counts=(3, *ENGLISH.counts[1:]))
    assert not are_trained_for(more)
    for table in (trained_leaves, trained_win_probabilities):
        with pytest.raises(ValueError, match="is for the tiles of scowl; english tiles are others"):
            table(more)
    assert are_trained_for(replace(ENGLISH, name="the same"))
    renamed = trained_leaves(replace(ENGLISH, name="the same"))
    assert renamed.distribution.name == "the same"


def test_leaves_are_unpacked_once(own_cache: Path) -> None:
    def unpacked(distribution: TileDistribution) -> bytes:
        trained_leaves.cache_clear()
        table = trained_leaves(distribution)
        return table.values.tobytes()

    first = unpacked(ENGLISH)
    (kept,) = (own_cache / "leaves").rglob("*.npy")
    kept.write_bytes(kept.read_bytes()[:-8])
    assert unpacked(ENGLISH) == first, "what is damaged is as good as none"
    values = np.load(kept)
    values[1] = 1
    np.save(kept, values)
    assert unpacked(ENGLISH) == values.tobytes(), "it is read from there"
    trained_leaves.cache_clear()


@pytest.mark.usefixtures("scowl")  # building the graph would need it
def test_a_manifest_needs_no_numba() -> None:
    code = (
        "import sys\n"
        "from lexicons.store import load_lexicon\n"
        "from lexicons.tables import leave_table_warnings\n"
        "assert leave_table_warnings(None, load_lexicon()) == []\n"
        "sys.exit('numba' in sys.modules)"
    )
    root = Path(lexicons.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, timeout=60)
