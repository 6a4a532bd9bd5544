"""A text file that is no UTF-8 is refused with its name, the line and the byte."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from lexicons.alphabet import load_distribution
from lexicons.layout import load_layout
from lexicons.text import read_text
from lexicons.win_probability import read_win_probabilities


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "marked.txt"
    path.write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9\n")
    assert read_text(path) == "café\n"


def test_a_file_that_cannot_be_read_is_not_told_as_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tiles.csv"
    path.touch()

    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(PermissionError, match="Permission denied"):
        load_distribution(path)
    with pytest.raises(FileNotFoundError, match="no file is there"):
        load_distribution("x" * 5_000)


@pytest.mark.parametrize(
    ("name", "load"),
    [
        ("tiles.csv", load_distribution),
        ("board.txt", load_layout),
        ("wins.csv", read_win_probabilities),
    ],
)
def test_what_is_not_utf_8_is_named(
    tmp_path: Path, name: str, load: Callable[[Path], object]
) -> None:
    path = tmp_path / name
    path.write_bytes(b"?,?,2,0,0\n\xc4,a,1,1,1\n")
    with pytest.raises(ValueError, match=f"{name}, line 2: byte 0xC4 is not UTF-8"):
        load(path)
