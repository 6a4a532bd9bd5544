"""Endgames that are measured: positions, plain minimax, sums worked by hand, and the commands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import CommandLine

from engine.endgame.minimax import Minimax
from engine.movegen.generator import legal_moves
from engine.rules.game import Game
from engine.rules.moves import PASS
from engine.rules.position import Position, bag_count
from engine.rules.rules import standard_rules
from harness.lab.bench.endgame import endgame_summary
from harness.lab.bench.endgame_check import _orders, _Prover, check_rows, differences
from harness.lab.late_positions import (
    EMPTY_BAG,
    FEW_TILES,
    Late,
    Wanted,
    as_game,
    late_position,
    mirrored,
    read_late,
    with_seats_swapped,
)
from harness.lab.studies.played_out import played_out_row
from harness.lab.study_context import Field
from lexicons.kwg import WordGraph
from lexicons.store import Lexicon, load_lexicon

RULES = standard_rules()


@pytest.fixture(scope="module")
def field() -> Field:
    return Field.of(load_lexicon(), RULES, None, "")


def _some(field: Field, wanted: Wanted, count: int = 8) -> list[Late]:
    return [
        late_position(field.lexicon, RULES, field.leaves, 1, number, wanted)
        for number in range(count)
    ]


# --- positions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [EMPTY_BAG, FEW_TILES, Wanted(range(1, 2)), Wanted(range(1, 8))])
def test_late_positions_are_as_wanted(field: Field, wanted: Wanted) -> None:
    found = _some(field, wanted)
    assert found == _some(field, wanted), "chance is in seed and number"
    assert len({one.position for one in found}) == len(found)
    for one in found:
        position = one.position
        assert len(one.bag) == bag_count(position, RULES)
        assert len(one.bag) in wanted.bag
        assert all(0 < len(rack) <= wanted.tiles for rack in position.racks)
        assert read_late(one.cgp(RULES), RULES).bag == one.bag
        first = position if position.on_turn == 0 else with_seats_swapped(position)
        assert read_late(one.cgp(RULES), RULES).position == first
        assert mirrored(mirrored(position)) == position != mirrored(position)


def test_the_first_position_with_an_empty_bag(field: Field) -> None:
    for one in _some(field, EMPTY_BAG):
        own = one.position.racks[one.position.on_turn]
        assert len(own) == RULES.rack_size, "the other drew the last tile"


def test_what_no_game_comes_to(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.lab.late_positions._MOST_GAMES", 3)
    with pytest.raises(ValueError, match="no game of 3 has a turn with 0 to 0 tiles in the bag"):
        _some(field, Wanted(tiles=0), 1)


# --- plain minimax --------------------------------------------------------------------------------


def test_minimax_where_nobody_can_move(field: Field) -> None:
    minimax = Minimax(Lexicon("none", RULES.distribution, _no_words(), ""), RULES)
    for one in _some(field, FEW_TILES, 3):
        own, other = map(RULES.distribution.value, _racks(one))
        for scoreless in range(RULES.scoreless_limit):
            # Whoever makes the last pass, each loses his own tiles.
            position = replace(one.position, scoreless_turns=scoreless)
            assert minimax.value(position) == minimax.after(position, PASS) == other - own


def test_minimax_is_what_the_best_moves_come_to(field: Field) -> None:
    one = late_position(field.lexicon, RULES, field.leaves, 1, 6, FEW_TILES)
    minimax = Minimax(field.lexicon, RULES)
    game, value = as_game(one.position, RULES), minimax.value(one.position)
    mover = one.position.on_turn
    while game.over is None:
        to_come = minimax.value(game.position)
        gained = _lead(game.position, mover) - _lead(one.position, mover)
        assert gained + (to_come if game.position.on_turn == mover else -to_come) == value
        game = _played(minimax, game)
    assert _lead(game.position, mover) - _lead(one.position, mover) == value


def _lead(position: Position, seat: int) -> int:
    return position.scores[seat] - position.scores[1 - seat]


def _played(minimax: Minimax, game: Game) -> Game:
    """Make the best move by plain minimax."""
    moves = [one.move for one in legal_moves(game.position, load_lexicon(), RULES)]
    return game.play(max(moves, key=lambda move: minimax.after(game.position, move)), None)


def _no_words() -> WordGraph:
    return WordGraph(np.zeros(2, np.uint32))


def _racks(one: Late) -> tuple[tuple[int, ...], tuple[int, ...]]:
    seat = one.position.on_turn
    return one.position.racks[seat], one.position.racks[1 - seat]


# --- sums -----------------------------------------------------------------------------------------


def _endgame(number: int, trace: list[list[Any]], **more: Any) -> dict[str, Any]:
    ms, depth, value, proven = trace[-1]
    last = {"ms": ms, "depth": depth, "value": value, "proven": proven}
    return {"number": number, "trace": trace, "nodes": 1_000, "memory_mb": 9.5} | last | more


def test_a_move_that_is_the_only_one_is_not_left_out(field: Field) -> None:
    wordless = replace(field, lexicon=Lexicon("none", RULES.distribution, _no_words(), ""))
    solver = _Prover(wordless, 1_000)
    for one in _some(field, FEW_TILES, 3):
        found = solver.prove(one.position)
        assert found is not None
        assert found.move == PASS
        (what, *_), *others = _orders(wordless, one.position, found, solver)
        assert (what, others) == ("first win", [])


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


def _game(spread: int, *known: tuple[int, bool, int | None]) -> dict[str, Any]:
    return {"spread": spread, "moves": [], "known": [list(one) for one in known]}


def test_games_by_hand() -> None:
    records = [
        # As the mover, 10 ahead, it gains 15; as the second, 10 behind, it loses 5.
        {
            "lead": 10,
            "games": [
                _game(25, (25, True, 25)),
                _game(-15, (-20, False, None), (-15, True, -15)),
            ],
        },
        {"lead": -4, "games": [_game(0, (-3, True, -3)), _game(6)]},
    ]
    found = played_out_row(records)
    assert found.positions == 2
    assert found.gain == pytest.approx((15 - 5 + 4 + 2) / 4)
    assert found.won == pytest.approx((1 + 0 + 0.5 + 1) / 4)
    assert (found.with_turn, found.proven) == (3, 2)
    assert (found.won_for_sure, found.lost_nonetheless, found.short) == (1, 0, 0)
    # Both positions are off the mean by 2 in all, over 4 games; t is 12.706 with one degree.
    assert found.gain_error == pytest.approx(12.7062, rel=1e-4)
    lost = [{"lead": 0, "games": [_game(-1, (5, True, 5)), _game(3, (4, True, 4))]}]
    assert (played_out_row(lost).lost_nonetheless, played_out_row(lost).short) == (1, 2)
    assert played_out_row([]).gain is None
    likely = [{"lead": 0, "games": [_game(2, (9, False, 1)), _game(-3, (9, False, -5))]}]
    assert (played_out_row(likely).won_for_sure, played_out_row(likely).short) == (1, 0)
    earlier = [{"lead": 0, "games": [{"spread": 4, "known": [[9, False], [4, True]]}] * 2}]
    assert played_out_row(earlier).won_for_sure == 2


def test_comparisons_by_hand() -> None:
    checks = [["mirrored", "3", "3"], ["two threads", "3", None], ["once more", "3", "4"]]
    records = [{"number": 7, "endgames": "real", "cgp": "a board", "checks": checks}] * 2
    found = {row.what: (row.compared, row.differ, row.unproven) for row in check_rows(records)}
    assert found == {"mirrored": (2, 0, 0), "two threads": (0, 0, 2), "once more": (2, 2, 0)}
    (one, _) = differences(records)
    assert (one.number, one.expected, one.found, one.cgp) == (7, "3", "4", "a board")


# --- commands -------------------------------------------------------------------------------------


def test_endgames_are_solved_against_the_clock(tilewire: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "endgames.jsonl"
    command = ("bench", "endgame", "--time", "300ms", "--memory", "32M", "--seed", 5, "--out", out)
    assert tilewire(*command, "--positions", 1) == 0, tilewire.err
    one = out.read_bytes()
    assert tilewire(*command, "--positions", 2) == 0, tilewire.err
    assert out.read_bytes().startswith(one)
    for heading in ("proven in 0.3 s", "nodes a second", "memory it was told  ", "within 2 points"):
        assert heading in tilewire.out
    assert tilewire(*command, "--positions", 2, "--json") == 0
    assert json.loads(tilewire.out)["positions"] == 2
    _, *records = map(json.loads, out.read_text().splitlines())
    for record in records:
        times = [ms for ms, *_ in record["trace"]]
        assert times == sorted(times)
        assert record["trace"][-1][1:] == [record["depth"], record["value"], record["proven"]]
        assert read_late(record["cgp"], RULES).bag == ()


def test_proofs_are_compared(tilewire: CommandLine) -> None:
    command = ("bench", "endgame-check", "--small", 1, "--real", 1, "--seed", 7, "--nodes", 3_000)
    assert tilewire(*command) == 0, tilewire.err
    rows = [line.split() for line in tilewire.out.splitlines()[2:]]
    assert {row[0] for row in rows} == {"small", "real"}
    assert {tuple(row[-3:]) for row in rows} == {("1", "0", "0")}


def test_endings_are_played_out(tilewire: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "endings.jsonl"
    command = ("experiment", "endings", "--time", "100ms", "--memory", "32M", "--seed", 1)
    assert tilewire(*command, "--positions", 3, "--out", out) == 0, tilewire.err
    assert "gain, points a game (95 %)" in tilewire.out
    _, *records = map(json.loads, out.read_text().splitlines())
    assert len(records) == 3
    for record in records:
        late = read_late(record["cgp"], RULES)
        assert late.position.scores[0] - late.position.scores[1] == record["lead"]
        for game in record["games"]:
            sure = [spread for spread, proven, _ in game["known"] if proven]
            assert all(spread <= game["spread"] for spread in sure), "it came true"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("bench endgame --positions 0", "--positions 0: it is 1 or more"),
        ("bench endgame --time 0ms", "--time 0s: it is 1ms or more"),
        ("bench endgame --threads 0", "--threads 0: it is 1 or more"),
        ("bench endgame --memory 31M", "--memory: with so many threads (1) it is 32M or more"),
        ("bench endgame --memory 900000G", "not enough memory"),
        ("bench endgame --workers 999", "need a core each"),
        ("bench endgame --threads 998", "--workers 1 with --threads 998: searches"),
        ("bench endgame --seed -1", "--seed -1: it is 0 or more"),
        ("bench endgame-check --small 0 --real 0", "there is at least one endgame"),
        ("bench endgame-check --nodes 0", "--nodes 0: it is 1 or more"),
        (
            "bench endgame-check --small 0 --real 1 --nodes 1",
            "proven with 1 nodes; ask for more",
        ),
        ("experiment endings --positions 0", "--positions 0: it is 1 or more"),
        ("experiment endings --memory 1M", "--memory: with so many threads (1) it is 32M or more"),
        ("experiment endings --out /nowhere/at/all", "--out /nowhere/at/all: No such file"),
    ],
)
def test_what_can_not_be_asked(tilewire: CommandLine, command: str, says: str) -> None:
    assert tilewire(*command.split()) == 2
    assert says in tilewire.err
