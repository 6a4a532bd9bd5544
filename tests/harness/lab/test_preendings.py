"""Ends of games that are compared: pre-endgames judged, late games on clocks, and the commands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from bot.player import Budget, Choice, Observed, Result, View
from bot.players.static import StaticPlayer, generator_for
from engine.endgame import EndgameSolver, least_memory
from engine.movegen.generator import RankedMove
from engine.notation.move_text import parse_move
from engine.rules.game import Game
from engine.rules.moves import PASS
from engine.rules.rules import standard_rules
from harness.lab.in_process import play_by_clock, view_of
from harness.lab.late_positions import Wanted, as_game, late_position, read_late
from harness.lab.studies.late_games import (
    LATE_BAG,
    LateGames,
    clocks_left,
    late_games,
    late_row,
    taken_up,
    thinking_rows,
)
from harness.lab.studies.preendings import PreEndings, judged, preendings_row
from harness.lab.study_context import Field
from lexicons.store import load_lexicon
from protocol.parts import TimeControl

RULES = standard_rules()


@pytest.fixture(scope="module")
def field() -> Field:
    return Field.of(load_lexicon(), RULES, None, "")


# --- pre-endgames ---------------------------------------------------------------------------------


def test_choices_are_compared(tilewire: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "preendings.jsonl"
    command = ("experiment", "preendings", "--time", "100ms", "--proof", "20ms", "--seed", 3)
    kept = ("--memory", "32M", "--within", 60, "--out", out)
    assert tilewire(*command, *kept, "--positions", 1) == 0, tilewire.err
    one = out.read_bytes()
    assert tilewire(*command, *kept, "--positions", 3) == 0, tilewire.err
    assert out.read_bytes().startswith(one)
    for figure in ("choices differ in", "of all positions (95 %)", "whose points are proven"):
        assert figure in tilewire.out
    _, *records = map(json.loads, out.read_text().splitlines())
    for record in records:
        late = read_late(record["cgp"], RULES)
        assert len(late.bag) == 1
        assert abs(late.position.scores[0] - late.position.scores[1]) <= 60
        sim, exact = record["sim"], record["exact"]
        assert (
            (sim["judged"] is None) == (exact["judged"] is None) == (sim["move"] == exact["move"])
        )
        for worth in filter(None, (sim["judged"], exact["judged"])):
            assert 0 <= worth["proven"] <= worth["decided"] <= 1 + 1e-9


def test_a_choice_is_judged_in_every_case(field: Field) -> None:
    wanted = Wanted(range(1, 2))
    late = late_position(field.lexicon, RULES, field.leaves, 3, 0, wanted)
    game = as_game(late.position, RULES, late.bag)
    view = view_of(game, field.lexicon, late.position.on_turn)
    solver = EndgameSolver(field.lexicon, RULES, memory=least_memory(1))
    comparing = PreEndings(field, 3, 1, 1, 20, "preendgame", "static", least_memory(1))
    kinds = sum(count > 0 for count in view.unseen)
    (best,) = generator_for(view).best(view.position)
    placed = judged(comparing, view, solver, _choice(best))
    assert (placed.cases, placed.by) == (kinds, "solver")
    passed = judged(comparing, view, solver, Choice(PASS))
    assert (passed.cases, passed.by, passed.proven) == (kinds, "static", 0)
    for one in (placed, passed):
        assert 0 <= one.win <= 1


def _clocks() -> tuple[TimeControl, tuple[int, int]]:
    return TimeControl(initial_ms=60_000), (60_000, 60_000)


def _choice(ranked: RankedMove) -> Choice:
    return Choice(ranked.move, score=ranked.score)


def _chosen(sim: tuple[float, float] | None, exact: tuple[float, float] | None) -> dict[str, Any]:
    def one(worth: tuple[float, float] | None) -> dict[str, Any]:
        known = {"cases": 8, "proven": 0.5, "decided": 1.0, "by": "solver"}
        return {"judged": worth and {"win": worth[0], "spread": worth[1], **known}}

    return {"sim": one(sim), "exact": one(exact)}


def test_choices_by_hand() -> None:
    records = [
        _chosen((0.5, 10), (1.0, 4)),
        _chosen((0.25, 3), (0.25, 9)),
        _chosen((0.75, 0), (0.5, -2)),
        _chosen(None, None),
    ]
    records[2]["exact"]["judged"]["by"] = "rational"
    found = preendings_row(records)
    assert (found.positions, found.differ, found.modelled) == (4, 3, 1)
    assert (found.sim_win, found.exact_win) == pytest.approx((0.5, 1.75 / 3))
    assert (found.win_gain, found.points_gain) == pytest.approx((0.25 / 4, -2 / 4))
    assert (found.more_wins, found.fewer_wins) == (1, 1)
    assert (found.more_points, found.fewer_points) == (1, 0)
    assert (found.proven, found.decided) == (0.5, 1)
    # 0.5, 0, −0.25 and 0 deviate from their mean by 0.297 in sum of squares; t is 3.182.
    assert found.win_gain_error == pytest.approx(3.18245 * (0.296875 / 3 / 4) ** 0.5, rel=1e-4)
    nothing = preendings_row([])
    assert (nothing.win_gain, nothing.sim_win, nothing.proven) == (None, None, None)


# --- late games -----------------------------------------------------------------------------------


def _replayed(game: Game, moves: list[str]) -> Game:
    for text in moves:
        game = game.play(parse_move(text, game.position.board, RULES.distribution.alphabet), None)
    return game


def test_a_late_position_is_played_in_either_seat(field: Field) -> None:
    playing = LateGames(("sim?iterations=2", "static"), field, 1, 60_000)
    record = late_games(playing, 0)
    game = taken_up(field, 1, 0)
    assert (
        0 < len(game.bag) == record["bag"] <= LATE_BAG < len(game.bag) + len(game.turns[-1].drawn)
    )
    assert read_late(record["cgp"], RULES).position.board == game.position.board
    mover = game.position.on_turn
    for began, played in enumerate(record["games"]):
        assert played["began"] == began
        end = _replayed(game, played["moves"])
        assert end.over is not None
        seats = (mover, 1 - mover) if began == 0 else (1 - mover, mover)
        assert played["scores"] == [end.position.scores[seat] for seat in seats]
        lead = game.position.scores[seats[0]] - game.position.scores[seats[1]]
        assert played["changed"] == played["scores"][0] - played["scores"][1] - lead
        for who in (0, 1):
            took = [round(ms) for ms in played["took"][(who + began) % 2 :: 2]]
            off = played["left"][who] - record["clocks"][(who + began) % 2] + sum(took)
            assert abs(off) <= len(took), "each turn is rounded once"


def test_equals_gain_nothing(field: Field) -> None:
    playing = LateGames(("static", "static"), field, 1, 60_000)
    records = [late_games(playing, number) for number in range(3)]
    found = late_row(playing.seats, records)
    assert (found.positions, found.games, found.gain, found.won) == (3, 6, 0, 0.5)
    assert (found.better, found.worse, found.overtime) == (0, 0, (0, 0))
    once = [late_games(playing._replace(once=True), number) for number in range(2)]
    assert [[game["began"] for game in one["games"]] for one in once] == [[0], [1]]


def test_what_is_left_on_the_clock(field: Field) -> None:
    game = taken_up(field, 1, 0)
    begun = replace(game, turns=game.turns[:1])
    # With 86 tiles in the bag 11 turns are planned: 59,950 ms less a reserve of 1,500 is shared.
    assert clocks_left(begun, field, 60_000) == (60_000 - 58_450 // 11, 60_000)
    at_the_end = [clocks_left(taken_up(field, 1, number), field, 60_000) for number in range(8)]
    for left in at_the_end:
        assert all(3_000 < one < 20_000 for one in left)


class _Noting(StaticPlayer):
    """Sees whether what it is told makes sense."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[View] = []
        self.result: Result | None = None

    def new_game(self, view: View) -> None:
        assert not view.history
        self.seen.append(view)

    def observe(self, view: View, play: Observed) -> None:
        assert (view.history[-1], view.history[:-1]) == (play, self.seen[-1].history)
        assert (view.bag, view.clocks[1 - play.seat]) == (play.bag, self._clock(1 - play.seat))
        assert view.clocks[play.seat] == self._clock(play.seat) - play.think_ms
        assert play.scores[play.seat] == self.seen[-1].position.scores[play.seat] + play.score
        self.seen.append(view)

    def _clock(self, seat: int) -> int:
        return self.seen[-1].clocks[seat]

    def choose(self, view: View, budget: Budget) -> Choice:
        assert view == self.seen[-1]
        assert view.rack
        assert not view.position.racks[view.opponent]
        assert 0 < budget.remaining_ms() < view.clocks[view.seat]
        return super().choose(view, budget)

    def game_over(self, view: View, result: Result) -> None:
        self.result = result


def test_players_are_told_what_happens(field: Field) -> None:
    game = taken_up(field, 1, 1)
    players = _Noting(), _Noting()
    control, clocks = _clocks()
    first, second = (view_of(game, field.lexicon, seat, control, clocks) for seat in range(2))
    played = play_by_clock(game, players, (first, second))
    turns = len(played.game.turns) - len(game.turns)
    assert [len(one.seen) for one in players] == [turns + 1] * 2
    assert len(played.took_ms) == len(played.bags) == turns
    for one in players:
        assert one.result is not None
        assert one.result.scores == played.game.position.scores


def test_late_games_by_hand() -> None:
    def game(began: int, scores: tuple[int, int], changed: int, left: int) -> dict[str, Any]:
        told = {"began": began, "scores": list(scores), "changed": changed, "left": [left, 9]}
        return {**told, "took": [10, 20, 30], "bags": [3, 0, 0]}

    records = [
        {"games": [game(0, (400, 380), 6, 5), game(1, (390, 395), -2, -1)]},
        {"games": [game(0, (300, 300), 1, 5), game(1, (300, 310), -3, 5)]},
    ]
    found = late_row(("a", "b"), records)
    assert (found.gain, found.won) == (0.5, 0.375)
    assert (found.better, found.worse, found.overtime) == (1, 1, (1, 0))
    # The positions are off the mean by 3 and −3, over 4 games; t is 12.706 with one degree.
    assert found.gain_error == pytest.approx(12.7062 * (2 * 18) ** 0.5 / 4, rel=1e-4)
    full, empty = thinking_rows(records)
    assert (full.bag, full.turns, full.mean_ms) == (3, (2, 2), (10, 10))
    assert (empty.bag, empty.turns, empty.mean_ms) == (0, (4, 4), (25, 25))
    assert empty.longest_ms == (30, 30)
    assert late_row(("a", "b"), []).gain is None
    assert thinking_rows([]) == []


def test_late_games_are_gone_on_with(tilewire: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "late.jsonl"
    command = ("experiment", "late", "--seats", "static", "greedy", "--clock", "20s", "--out", out)
    assert tilewire(*command, "--positions", 1) == 0, tilewire.err
    one = out.read_bytes()
    assert tilewire(*command, "--positions", 3) == 0, tilewire.err
    assert out.read_bytes().startswith(one)
    assert tilewire.out.splitlines()[2].split()[:5] == ["static", "–", "greedy", "3", "6"]
    assert "in the bag" in tilewire.out
    assert tilewire(*command, "--positions", 3, "--json") == 0
    assert json.loads(tilewire.out)["games"] == 6
    assert tilewire(*command, "--positions", 3, "--once") == 2
    assert "go on with the same, or name another file" in tilewire.err


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("preendings --positions 0", "--positions 0: it is 1 or more"),
        ("preendings --bag 8", "--bag 8: a pre-endgame has 1 to 7 tiles in it"),
        ("preendings --time 0ms", "--time 0s: it is 1ms or more"),
        ("preendings --memory 1M", "--memory: with so many threads (1) it is 32M or more"),
        ("preendings --workers 999", "need a core each"),
        ("late --clock 0ms", "--clock 0s: it is 1ms or more"),
        ("late --seats static nobody", "no bot is called 'nobody'"),
        ("late --seats static ws://somewhere/bot", "it is dialled, not loaded"),
        ("late --out /nowhere/at/all", "--out /nowhere/at/all: No such file"),
    ],
)
def test_what_can_not_be_asked(tilewire: CommandLine, command: str, says: str) -> None:
    assert tilewire("experiment", *command.split()) == 2
    assert says in tilewire.err
