"""Endgames: values held against plain minimax and against each other, lines played to the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from endgame_positions import FEW_TILES, as_game, mirrored, with_seats_swapped
from minimax import Minimax
from rollout_positions import scowl

from engine.endgame.solver import EndgameSolver, Solution, least_memory
from engine.movegen.generator import legal_moves
from engine.rules.moves import PASS, Exchange
from engine.rules.position import Board, Position, Rack
from engine.rules.rules import standard_rules
from harness.lab.positions import endgame_position
from harness.lab.study_context import Field

RULES = standard_rules()
MEMORY = least_memory(1)
ENOUGH = 1_000_000
"""Nodes, for any proof here."""
SEED = 5
SMALL = (6, 9, 11, 12, 21, 30, 39, 112, 125, 236, 239)
"""Numbers of small endgames that plain minimax is soon done with."""
REAL = (5, 18, 20, 21, 34)
"""… and of first positions with an empty bag that are proven in some thousand nodes."""
LONG = 29
"""… and of one that takes some ten thousand."""


@cache
def field() -> Field:
    return Field.of(scowl(), RULES)


@cache
def small(number: int) -> Position:
    return endgame_position(field(), SEED, number, FEW_TILES)


@cache
def real(number: int) -> Position:
    return endgame_position(field(), SEED, number)


def other_on_turn(position: Position) -> Position:
    return replace(position, on_turn=1 - position.on_turn)


def with_rack(position: Position, rack: Rack, *, opponent: bool = False) -> Position:
    seat = position.on_turn ^ opponent
    racks = position.racks
    return replace(position, racks=(racks[0], rack) if seat else (rack, racks[1]))


def lead(position: Position) -> int:
    return position.spread(position.on_turn)


class Solver:
    """A solver, and what it makes of positions."""

    def __init__(self, memory: int = MEMORY, threads: int = 1) -> None:
        self.solver = EndgameSolver(scowl(), RULES, memory=memory, threads=threads)

    def __call__(self, position: Position, *, nodes: int = ENOUGH, **asked: Any) -> Solution:
        """Solve, in slices of so many nodes."""
        self.solver.begin(position, **asked)
        while self.solver.advance(nodes):
            pass
        assert self.solver.is_over
        return self.solver.solution


@pytest.fixture(scope="module")
def solve() -> Solver:
    return Solver()


# --- what is proven -------------------------------------------------------------------------------


@pytest.mark.parametrize("number", SMALL)
def test_a_proven_value_is_that_of_plain_minimax(solve: Solver, number: int) -> None:
    minimax = Minimax(scowl(), RULES)
    for begun in (small(number), other_on_turn(small(number))):
        for scoreless in range(RULES.scoreless_limit):
            position = replace(begun, scoreless_turns=scoreless)
            found = solve(position)
            assert found.proven
            assert found.floor == found.value == found.ceiling == minimax.value(position)
            assert minimax.after(position, found.move) == found.value


@pytest.mark.parametrize("number", REAL)
def test_memory_threads_and_the_way_round_make_no_difference(solve: Solver, number: int) -> None:
    position = real(number)
    value = solve(position).value
    little, two = Solver(2 * MEMORY), Solver(2 * MEMORY, threads=2)
    found = {
        "more memory": little(position),
        "two threads": two(position),
        "mirrored": solve(mirrored(position)),
        "seats": solve(with_seats_swapped(position)),
        "other rack unknown": solve(with_rack(position, (), opponent=True)),
        "own rack unknown": solve(with_rack(position, ())),
        "again": solve(position),
    }
    assert {way: (one.value, one.proven) for way, one in found.items()} == dict.fromkeys(
        found, (value, True)
    )


@pytest.mark.parametrize("number", [*REAL, *SMALL])
def test_a_line_goes_to_the_end_and_gains_the_value(solve: Solver, number: int) -> None:
    position = real(number) if number in REAL else small(number)
    found = solve(position)
    line = solve.solver.line()
    assert line[0] == found.move == found.sure
    game = as_game(position, RULES)
    for move in line:
        game = game.play(move, scowl().graph.contains)
    while game.over is None and line[-1] == PASS:  # two passes are as good as six
        game = game.play(PASS, None)
    assert game.over is not None
    seat = position.on_turn
    scores = game.position.scores
    assert scores[seat] - scores[1 - seat] - lead(position) == found.value


def test_other_threads_help_with_what_takes_long(solve: Solver) -> None:
    two = Solver(2 * MEMORY, threads=2)
    assert two(real(LONG)).value == solve(real(LONG)).value


@pytest.mark.parametrize("nodes", [1, 1_000])
def test_slices_of_any_size_prove_the_same(nodes: int) -> None:
    for position in (real(REAL[0]), real(REAL[2]), small(SMALL[0])):
        at_once, sliced = Solver()(position), Solver()(position, nodes=nodes)
        assert (sliced.value, sliced.move) == (at_once.value, at_once.move)
        assert sliced.proven


def test_a_win_is_soon_known(solve: Solver) -> None:
    for number in SMALL:
        position = small(number)
        value = solve(position).value
        for ahead in (-value - 1, -value, 1 - value):  # lost by a point, drawn, won by a point
            scores = (ahead, 0) if position.on_turn == 0 else (0, ahead)
            begun = replace(position, scores=scores)
            found = solve(begun, first_win=True)
            assert found.proven
            spread, sign = lead(begun) + found.value, ahead + value
            assert (spread > 0) - (spread < 0) == sign


@pytest.mark.parametrize("ahead", [40_000, -40_000, 10**9, -(10**9)])
def test_nothing_makes_up_for_such_a_lead(solve: Solver, ahead: int) -> None:
    position = small(SMALL[0])
    scores = (ahead, 0) if position.on_turn == 0 else (0, ahead)
    found = solve(replace(position, scores=scores), first_win=True)
    assert found.proven
    bound = found.floor if ahead > 0 else found.ceiling
    assert bound is not None
    assert (ahead + bound > 0) == (ahead > 0)
    assert found.move in [one.move for one in legal_moves(position, scowl(), RULES)]


def test_moves_to_choose_from(solve: Solver) -> None:
    minimax = Minimax(scowl(), RULES)
    position = small(SMALL[0])
    every = [one.move for one in legal_moves(position, scowl(), RULES)]
    for move in every[:8]:
        alone = solve(position, only=[move])
        assert (alone.move, alone.value) == (move, minimax.after(position, move))
        others = solve(position, without=[move])
        rest = max(minimax.after(position, one) for one in every if one != move)
        assert (others.move != move, others.value) == (True, rest)


@pytest.mark.parametrize("scoreless", range(RULES.scoreless_limit))
def test_a_pass_that_is_the_only_choice_takes_no_shortcut(solve: Solver, scoreless: int) -> None:
    """Of the small position 9, where two passes in a row seemed to end the game: 13, and not 34."""
    minimax = Minimax(scowl(), RULES)
    for number in (9, 30, 125):
        position = replace(small(number), scoreless_turns=scoreless)
        assert solve(position, only=[PASS]).value == minimax.after(position, PASS)


def test_a_choice_that_is_refused_changes_nothing(solve: Solver) -> None:
    before = solve(small(9))
    few, many = (
        [one.move for one in legal_moves(of, scowl(), RULES)] for of in (small(9), real(5))
    )
    for position, asked, says in (
        (small(9), {"only": [Exchange((1,))]}, "is not legal here"),
        (small(9), {"without": few}, "no move is left"),
        (real(5), {"only": many[:65]}, "65 moves"),
    ):
        with pytest.raises(ValueError, match=says):
            solve.solver.begin(position, **asked)
        assert solve.solver.solution == before
        assert solve.solver.line()[0] == before.move


# --- what is not proven yet -----------------------------------------------------------------------


@pytest.mark.parametrize("number", REAL)
def test_there_is_a_legal_move_at_any_time(number: int) -> None:
    position = real(number)
    legal = {one.move for one in legal_moves(position, scowl(), RULES)}
    solver = EndgameSolver(scowl(), RULES, memory=MEMORY)
    solver.begin(position)
    value = Solver()(position).value
    for _ in range(30):
        found = solver.solution
        assert found.move in legal
        assert solver.line()[0] == found.move
        assert found.floor is None or found.floor <= value
        assert found.ceiling is None or found.ceiling >= value
        assert (found.sure is None) == (found.floor is None)
        if found.sure is not None and found.floor is not None:
            assert solver.line((found.sure, found.floor))[0] == found.sure
        solver.advance(20)


def test_without_room_for_what_can_be_played_there_is_a_good_move_all_the_same() -> None:
    solver = EndgameSolver(scowl(), RULES, memory=MEMORY)
    for searcher in solver._searchers:
        searcher._search["line_cache"]["room"] = 10
    position = real(REAL[0])
    solver.begin(position)
    before = solver.solution.move
    while solver.advance(1_000):
        pass
    assert solver.is_over
    assert not solver.solution.proven
    assert solver.solution.move == before != PASS
    assert solver.line() == (before,)


def test_what_was_cut_for_want_of_room_is_not_taken_for_all_there_is(solve: Solver) -> None:
    solver, position = EndgameSolver(scowl(), RULES, memory=MEMORY), real(REAL[0])
    listed = solver._searchers[0]._search["line_cache"]["gaddag"]
    for capacity in (2, int(listed["capacity"][0, 0])):
        listed["capacity"] = capacity
        solver.begin(position)
        solver.advance(ENOUGH // 50)  # more than a proof takes where there is room
    assert solver.solution.proven
    assert solver.solution.value == solve(position).value


# --- what is no endgame ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda _: with_rack(real(5), real(5).racks[real(5).on_turn][1:]), "8 tiles are unseen"),
        (lambda one: replace(one, racks=((), ())), "neither rack is given"),
        (lambda one: with_rack(one, (26,) * 3), "tiles Z are in sight"),
        (lambda one: with_rack(one, (1,) * 8), "a rack of 8 tiles"),
        (lambda one: with_rack(one, (99,)), "a tile beyond the 27"),
        (lambda one: with_rack(one, (26, 26), opponent=True), "ZZ is given"),
        (lambda one: with_rack(one, (17,), opponent=True), "the opponent holds 1"),
        (lambda one: with_rack(one, tuple(sorted(sum(one.racks, ())))), "no tiles left"),
        (lambda one: replace(one, scoreless_turns=6), "6 scoreless turns"),
        (lambda one: replace(one, board=Board.empty(RULES.layout)), "bag is not empty"),
    ],
)
def test_what_is_no_endgame(
    solve: Solver, change: Callable[[Position], Position], says: str
) -> None:
    position = small(9)  # one tile against two
    with pytest.raises(ValueError, match=says):
        solve.solver.begin(change(position))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"memory": MEMORY - 1}, "33,554,432"),
        ({"threads": 2}, "50,331,648"),
        ({"threads": 0}, "threads is 0"),
        ({"rules": replace(RULES, scoreless_limit=1)}, "where 2 or more do"),
    ],
)
def test_what_no_solver_is_made_with(asked: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"rules": RULES, "memory": MEMORY} | asked
    with pytest.raises(ValueError, match=says):
        EndgameSolver(scowl(), **given)
