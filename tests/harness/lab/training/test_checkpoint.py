"""Checkpoints: real files, a real disk limit, real locks of other processes."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.lab.training.checkpoint import (
    CheckpointError,
    locked,
    read_checkpoint,
    write_checkpoint,
)

TRAINED: dict[str, npt.NDArray[Any]] = {
    "counts": np.arange(5_000, dtype=np.int64),
    "values": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3),
    "none": np.zeros((0, 3), np.uint8),
    "one": np.array(7),
}
ABOUT: dict[str, Any] = {"seed": 1, "progress": {"games": 7, "tables": [0.5]}, "words": "œuvre\n"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "out.klv2.checkpoint"
    write_checkpoint(path, ABOUT, TRAINED)
    return path


def holds_what_was_written(path: Path) -> bool:
    about, arrays = read_checkpoint(path)
    return (
        about == ABOUT
        and arrays.keys() == TRAINED.keys()
        and all(arrays[name].dtype == array.dtype for name, array in TRAINED.items())
        and all(np.array_equal(arrays[name], array) for name, array in TRAINED.items())
    )


def run(function: Callable[..., object], *arguments: object) -> subprocess.Popen[str]:
    """Call a function of this file in a process of its own."""
    code = f"import runpy, sys; runpy.run_path({__file__!r})[{function.__name__!r}](*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_what_is_written_is_read(path: Path) -> None:
    assert holds_what_was_written(path)
    assert list(path.parent.iterdir()) == [path]


def test_a_later_state_replaces_an_earlier_one(path: Path) -> None:
    write_checkpoint(path, {"seed": 2}, {})
    assert read_checkpoint(path) == ({"seed": 2}, {})
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_was_cut_short_or_is_something_else_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    short = (whole[:length] for length in (0, 1, 20, 60, 86, 87, 100, 500, -8, -1))
    others = (whole + b"\0", b"\n", b"AA 3.5\n" * 99, b"\x89PNG\r\n\x1a\n", b"{}")
    for content in (*short, *others):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=f"^{path} is "):
            read_checkpoint(path)


def test_a_bit_that_is_flipped_anywhere_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    places = [*range(600), *range(600, len(whole), 997), len(whole) - 1]
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(CheckpointError, match=f"^{path} is "):
            read_checkpoint(path)


def test_there_is_no_file(path: Path) -> None:
    path.unlink()
    with pytest.raises(FileNotFoundError, match=str(path)):
        read_checkpoint(path)


# --- what may fail when one is written ----------------------------------------------------------


def write_beyond_the_limit(path: str) -> None:
    """Write more than the system allows this process; print what is said about it."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        write_checkpoint(Path(path), {}, {"much": np.zeros(1_000_000)})
    except CheckpointError as error:
        print(error)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_full_disk_leaves_what_was_there(path: Path, is_first: bool) -> None:
    if is_first:
        path.unlink()
    said, _ = run(write_beyond_the_limit, path).communicate()
    assert said.startswith(f"{path} can't be written: File too large")
    assert ("--resume" in said) == (not is_first)
    assert list(path.parent.iterdir()) == ([] if is_first else [path])
    assert is_first or holds_what_was_written(path)


def test_there_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "none" / "out"
    with pytest.raises(CheckpointError, match=f"^{path} can't be written: No such file"):
        write_checkpoint(path, {}, {})


def test_what_cannot_be_said_in_json_leaves_what_was_there(path: Path) -> None:
    with pytest.raises(TypeError):
        write_checkpoint(path, {"path": path}, {})
    assert holds_what_was_written(path)


# --- one training at a time ---------------------------------------------------------------------


def hold_the_lock(out: str) -> None:
    """Hold it until killed or asked to stop."""
    with locked(Path(out)):
        print("held", flush=True)
        sys.stdin.read()


def test_only_one_training_writes_a_table(tmp_path: Path) -> None:
    out = tmp_path / "out.klv2"
    with run(hold_the_lock, out) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        sentence = rf"^another training \(process {other.pid}\) writes {out}; wait for it"
        for _ in range(2):
            with pytest.raises(CheckpointError, match=sentence), locked(out):
                pass
        with locked(tmp_path / "other.klv2"):
            pass
    with locked(out):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_killed_training_holds_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out.klv2"
    with run(hold_the_lock, out) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        other.kill()
        other.wait()
    with locked(out):
        pass
    assert list(tmp_path.iterdir()) == []
