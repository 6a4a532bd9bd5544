"""Files of value nets: what is written is read, and what is no net, or another's, is refused."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rollout_positions import scowl
from value_reference import random_net

from engine.rules.rule_sets import load_rules
from engine.rules.rules import standard_rules
from lexicons.value_net import (
    MOST_WIDE,
    _digest,
    parse_value_net,
    read_value_net,
    write_value_net,
)

RULES = standard_rules()
NET = random_net(RULES, scowl())
ARRAYS = ("lines", "start", "counts", "second", "second_start", "last", "last_start")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nets") / "net.npz"
    write_value_net(path, NET)
    return path


def test_what_is_written_is_read(written: Path) -> None:
    net = read_value_net(written, RULES.layout, RULES.distribution)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(net, name), getattr(NET, name))
    assert (net.unit, net.lexicon_checksum) == (NET.unit, scowl().checksum)


def test_a_file_that_was_cut_or_changed_is_refused(written: Path) -> None:
    """But for bytes that nobody reads, such as names that stand in it twice."""
    content = written.read_bytes()
    chance = np.random.default_rng(1)
    refused = 0
    for at in chance.integers(len(content), size=40).tolist():
        changed = bytearray(content)
        changed[at] ^= 0xFF
        with pytest.raises(ValueError, match=r"^net\.npz: "):
            parse_value_net(content[:at], "net.npz", RULES.layout, RULES.distribution)
        refused += not _is_read(bytes(changed))
    assert refused > 30


def _is_read(content: bytes) -> bool:
    """Return whether a file is read, and then as it was written."""
    try:
        read = parse_value_net(content, "net.npz", RULES.layout, RULES.distribution)
    except ValueError:
        return False
    np.testing.assert_array_equal(read.lines, NET.lines)
    return True


def test_a_damaged_file_is_refused_whatever_is_raised_for_it(written: Path) -> None:
    """One is encrypted, one packed in an unknown way; one declares an array beyond any memory."""
    content = written.read_bytes()
    entry = content.index(b"PK\x01\x02")  # in the list of files at the end
    encrypted, packed = bytearray(content), bytearray(content)
    encrypted[entry + 8] |= 1
    packed[entry + 10] = 99
    huge = BytesIO()
    with zipfile.ZipFile(huge, "w") as file:
        header = {"descr": "<i4", "fortran_order": False, "shape": (10**15,)}
        with file.open("about.npy", "w") as array:
            np.lib.format.write_array_header_1_0(array, header)
    for damaged in (bytes(encrypted), bytes(packed), huge.getvalue()):
        with pytest.raises(ValueError, match=r"^net\.npz: no value net, or damaged"):
            parse_value_net(damaged, "net.npz", RULES.layout, RULES.distribution)


def test_no_net_is_refused() -> None:
    with pytest.raises(ValueError, match="no value net"):
        parse_value_net(b"words", "words.txt", RULES.layout, RULES.distribution)


def test_a_net_of_another_version_is_refused(written: Path) -> None:
    with pytest.raises(ValueError, match="expected 'tilewire value net 2'"):
        parse(written, about=np.array(["tilewire value net 1", "", "", "", ""]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unit": np.float64(0)}, "it must be above 0"),
        ({"unit": np.float64("nan")}, "it must be above 0"),
        ({"second": np.full((8, 6), np.nan, np.float32)}, "has NaN or infinite"),
        ({"second": np.zeros((8, 6))}, "float64"),
        ({"second": np.zeros((9, 6), np.float32)}, "'lines' of the net has"),
        ({"second": np.zeros((MOST_WIDE + 1, 6), np.float32)}, "at most 64"),
        ({"last": np.zeros((2, 6), np.float32)}, "'last' of the net has"),
    ],
)
def test_weights_that_make_no_net_are_refused(
    written: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        parse(written, **changes)


def parse(path: Path, **changes: Any) -> None:
    """Parse the file with some of its arrays replaced."""
    with np.load(path) as file:
        arrays = {**file, **changes}
    if "about" not in changes:
        weights = {name: arrays[name] for name in ARRAYS}
        about = arrays["about"].tolist()[:-1]
        arrays["about"] = np.array([*about, _digest(about, float(arrays["unit"]), weights)])
    content = BytesIO()
    np.savez(content, **arrays)
    parse_value_net(content.getvalue(), "net.npz", RULES.layout, RULES.distribution)


def test_a_net_for_others_is_refused(written: Path) -> None:
    polish = load_rules("polish")
    with pytest.raises(ValueError, match=r"net\.npz: this value net is for other tiles"):
        read_value_net(written, polish.layout, polish.distribution)
    other = replace(RULES.layout, name="no start", start=(0, 0))
    with pytest.raises(ValueError, match="another board than no start"):
        read_value_net(written, other, RULES.distribution)
