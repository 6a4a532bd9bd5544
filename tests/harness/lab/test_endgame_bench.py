"""``bench endgame``: positions, sums worked by hand, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from endgame_positions import FEW_TILES, mirrored, with_seats_swapped

from engine.notation.cgp import read_cgp, write_cgp
from engine.rules.position import bag_count
from engine.rules.rules import standard_rules
from harness.lab.bench.endgame import endgame_summary
from harness.lab.positions import endgame_position
from harness.lab.study_context import Field

RULES = standard_rules()


# --- positions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [RULES.rack_size, FEW_TILES])
def test_positions_have_an_empty_bag(field: Field, most: int) -> None:
    found = [endgame_position(field, 1, number, most) for number in range(8)]
    again = [endgame_position(field, 1, number, most) for number in range(8)]
    assert found == again, "chance is in seed and number"
    assert len(set(found)) == len(found)
    for position in found:
        assert bag_count(position, RULES) == 0
        assert all(0 < len(rack) <= most for rack in position.racks)
        if most == RULES.rack_size:
            own = position.racks[position.on_turn]
            assert len(own) == RULES.rack_size, "the other drew the last tile"
        first = position if position.on_turn == 0 else with_seats_swapped(position)
        assert read_cgp(write_cgp(position, RULES), RULES) == first
        assert mirrored(mirrored(position)) == position != mirrored(position)


def test_what_no_game_comes_to(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.lab.positions._MOST_GAMES", 3)
    with pytest.raises(ValueError, match="no game of 3 comes to 0 tiles at most on each rack"):
        endgame_position(field, 1, 0, 0)


# --- sums -----------------------------------------------------------------------------------------


def _endgame(number: int, trace: list[list[Any]], **more: Any) -> dict[str, Any]:
    ms, depth, value, proven = trace[-1]
    last = {"ms": ms, "depth": depth, "value": value, "proven": proven}
    return {"number": number, "trace": trace, "nodes": 1_000, "memory_mb": 9.5} | last | more


def test_proofs_by_hand() -> None:
    records = [
        _endgame(0, [[0.2, 1, 0, False], [400.0, 2, 7, True]]),
        _endgame(1, [[0.2, 1, 7, False], [900.0, 2, 5, False], [3_000.0, 4, 7, True]]),
        _endgame(2, [[0.2, 1, 7, False], [900.0, 2, 4, False], [4_000.0, 4, 7, True]]),
        _endgame(3, [[0.2, 1, 7, False], [900.0, 3, 4, False]], ms=10_000.0, memory_mb=12.0),
    ]
    found = endgame_summary(records, 10_000, 64 << 20)
    assert found is not None
    assert found.proven == {"1 s": 0.25, "5 s": 0.75, "10 s": 0.75}
    assert (found.median_ms, found.median_of_proven_ms) == (3_000, 3_000)
    assert found.nodes_per_s == round(4_000 / 17.4)
    assert (found.depth, found.memory_mb, found.memory_told_mb) == (3, 12, 64)
    # After a second the values were 7, 5 and 4, where all are 7.
    assert found.same_early == pytest.approx(1 / 3)
    assert found.near_early == pytest.approx(2 / 3)
    assert found.held_early == 0
    none = endgame_summary(records[3:], 10_000, 64 << 20)
    assert none is not None
    assert (none.median_ms, none.same_early, none.proven["10 s"]) == (None, None, 0)
    assert endgame_summary([], 10_000, 64 << 20) is None


# --- commands -------------------------------------------------------------------------------------


def test_endgames_are_solved_against_the_clock(tilewire: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "endgames.jsonl"
    command = ("bench", "endgame", "--time", "300ms", "--memory", "32M", "--seed", 5, "--out", out)
    assert tilewire(*command, "--positions", 1) == 0, tilewire.err
    one = out.read_bytes()
    assert tilewire(*command, "--positions", 2) == 0, tilewire.err
    assert out.read_bytes().startswith(one)
    for heading in ("proven in 0.3 s", "nodes a second", "memory limit", "within 2 points"):
        assert heading in tilewire.out
    assert tilewire.json(*command, "--positions", 2)["positions"] == 2
    _, *records = map(json.loads, out.read_text().splitlines())
    for record in records:
        times = [ms for ms, *_ in record["trace"]]
        assert times == sorted(times)
        assert record["trace"][-1][1:] == [record["depth"], record["value"], record["proven"]]
        assert bag_count(read_cgp(record["cgp"], RULES), RULES) == 0
