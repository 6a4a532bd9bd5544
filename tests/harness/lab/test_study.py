"""Files of records: new, resumed, of something else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.lab.rows import Tables
from harness.lab.study import Record, Study, open_records


class Counting(Study):
    """Counts, for players if there are any."""

    def __init__(self, *players: str) -> None:
        self.players = list(players)

    @property
    def part(self) -> Record:
        return {"who": self.players} if self.players else {}

    def settings(self) -> dict[str, object]:
        return {"seed": 1}

    def record(self, number: int) -> Record:
        return {"number": number}

    def summary(self, records: Sequence[Record]) -> Tables:
        return {}


def test_a_file_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_records(path, {"seed": 1, "times": (5, 6)}) as lines:
        lines.add({"number": 3})
        lines.add({"number": 0, "found": [1.5]})
    with path.open("ab") as file:
        file.write(b'{"number": 1, "fou')  # killed in the middle of a line
    with open_records(path, {"seed": 1, "times": (5, 6)}) as lines:
        records = [{"number": 0, "found": [1.5]}, {"number": 3}]
        assert lines.chosen(Counting(), 5) == records
        lines.add({"number": 1})
        with (
            pytest.raises(ValueError, match="another experiment is writing"),
            open_records(path, {"seed": 1}),
        ):
            pass
    assert len(path.read_bytes().splitlines()) == 4


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"seed": 2}\n', r"with seed 2, not 1; use the same value"),
        ("no JSON\n", "line 1"),
        ('{"seed": 1}\n{"number": null}\n', r"line 2 is no result"),
        ('{"seed": 1}\n{}\n', r"line 2 is no result"),
        ("something", r"holds no results of this experiment; remove it, or name another file"),
    ],
)
def test_other_files_are_left_alone(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "other"
    path.write_text(content)
    with pytest.raises(ValueError, match=says), open_records(path, {"seed": 1}):
        pass
    assert path.read_text() == content


@pytest.mark.parametrize("content", ["", "{", '{"seed": 1}'])
def test_a_file_is_begun_again_if_its_first_line_was_cut_short(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(content)
    with open_records(path, {"seed": 1}) as lines:
        assert lines.by_number(Counting()) == {}
        lines.add({"number": 1})
    assert path.read_text() == '{"seed": 1}\n{"number": 1}\n'


def test_parts_of_an_experiment_have_numbers_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for at in (path, None):
        with open_records(at, {"seed": 1}) as lines:
            lines.add({"number": 1, "who": ["a", "b"]})
            lines.add({"number": 0, "who": ["a"]})
            assert list(lines.by_number(Counting("a", "b"))) == [1]
            assert list(lines.by_number(Counting("a"))) == [0]
    with open_records(path, {"seed": 1}) as lines:
        assert lines.chosen(Counting("a", "b"), 2) == [{"number": 1, "who": ["a", "b"]}]
