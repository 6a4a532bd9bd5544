"""``champion`` in the last turns: endgames are proven, pre-endgames taken to the end."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import pytest
from rollout_positions import RULES, late_position, scowl
from search_views import Clock, Offers, unlimited, view_at

from bot.player import Budget, Choice, Refusal, Searched, View
from bot.players.champion import champion as new_champion
from bot.players.champion import compose
from bot.search import late_game
from bot.search.analysis.solving import Solvers
from bot.search.simulating import SimulationSettings
from bot.search.static_choice import generator_for
from bot.search.strategy import Strategy
from engine.endgame.solver import EndgameSolver
from engine.movegen.generator import legal_moves
from engine.notation.cgp import read_cgp
from engine.rules.moves import PASS
from protocol.channel import now_ms

MEMORY = 64 << 20


def at_once() -> Budget:
    return Budget(now_ms())


def counted(looks: int) -> Budget:
    """Give a budget that ends when it has been looked at so often."""
    times = iter(range(looks))
    return Budget(looks - 1, clock=lambda: next(times, looks))


def closing() -> Strategy:
    """Give a strategy whose simulation takes so much work, however much time there is."""
    return Strategy(SimulationSettings(iterations=30), solvers=Solvers())


def choose(view: View, budget: Budget | None = None) -> Choice:
    return new_champion().choose(view, budget or unlimited())


def test_an_endgame_is_proven_and_its_best_move_played() -> None:
    view = view_at(late_position(0, held=4))
    choice = choose(view)
    solver = EndgameSolver(scowl(), RULES, memory=MEMORY)
    solver.begin(view.position)
    solver.advance(1_000_000)
    assert solver.solution.proven
    assert choice.equity == solver.solution.value
    assert choice.search == Searched("endgame", nodes=choice.candidates[0].samples, proven=True)
    (considered,) = choice.candidates
    final = view.spread + solver.solution.value
    assert considered.win == (final > 0) + (final == 0) / 2


@pytest.mark.parametrize("bag", [0, 1, 2, 4, 7])
def test_whatever_the_time_the_move_is_legal(bag: int) -> None:
    view = view_at(late_position(bag))
    legal = {one.move: one.score for one in legal_moves(view.position, scowl(), RULES)}
    for budget in (at_once(), counted(3), counted(40), Budget(4_000, clock=Clock(20))):
        choice = choose(view, budget)
        assert legal[choice.move] == choice.score


@pytest.mark.parametrize("bag", [0, 1])
def test_rules_that_nothing_is_solved_by_are_played_by_all_the_same(bag: int) -> None:
    view = view_at(late_position(bag))
    view = replace(view, rules=replace(view.rules, scoreless_limit=1))
    legal = [one.move for one in legal_moves(view.position, scowl(), view.rules)]
    champion = new_champion()
    champion.make_room(view)
    champion.new_game(view)
    assert champion.choose(view, counted(40)).move in legal


def test_a_refused_move_is_not_chosen_again() -> None:
    view = view_at(late_position(0, held=4))
    first = choose(view).move
    view = replace(view, refused=(Refusal(first, "not_a_word", "no word"),))
    assert choose(view).move != first
    every = tuple(
        Refusal(one.move, "not_a_word", "no word")
        for one in legal_moves(view.position, scowl(), RULES)
        if one.move != PASS
    )
    assert choose(replace(view, refused=every[:60]), counted(60)).move not in {
        one.move for one in every[:60]
    }


def test_a_pre_endgame_says_in_how_many_cases_it_wins() -> None:
    view = view_at(replace(late_position(1), scores=(0, 10)))
    choice = choose(view, counted(1_500))
    assert choice.search is not None
    assert (choice.search.phase, choice.search.plies) == ("pre-endgame", None)
    assert choice.search.compared is not None
    assert choice.search.compared >= len(choice.candidates) > 1
    assert choice.search.nodes
    wins = [one.win for one in choice.candidates]
    assert wins[0] == max(one for one in wins if one is not None)


@pytest.mark.parametrize("bag", [3, 4])
def test_with_three_or_four_tiles_moves_are_played_out_if_there_is_time(
    bag: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ENOUGH_CASES", 2), ("MOST_NODES", 20_000)):
        monkeypatch.setattr(late_game, name, value)
    view = view_at(late_position(bag))
    played_out = closing().choose(view, unlimited()).search
    assert played_out is not None
    assert played_out.phase == "pre-endgame"
    assert played_out.compared is not None
    assert played_out.compared >= late_game.COMPARED[bag]
    short = closing().choose(view, Budget(late_game.LEAST_MS - 1, clock=Clock(1))).search
    assert short is not None
    assert short.phase == "simulation"


FAR_DOWN = (
    "5MAX7/1DEITY9/2L12/1FA12/1IT12/1REFRAINS6/1ER2Q9/1BI1VUGG7/1ON2A1O2OOH2/1A5LOONIE2/"
    "1T2AVODIRE4/2CUZ2E3P3/6UNcAKING1/1BLEW2E1HIM3/LOITErER3PWNS CERSTTU/ 406/401 0"
)
"""The best move, which always wins, is the thirty-sixth by static equity; the first 32 never do."""


def test_a_move_of_low_static_equity_is_found() -> None:
    view = view_at(read_cgp(FAR_DOWN, RULES))
    budget = Offers()
    choice = closing().choose(view, budget)
    ranked = [one.move for one in generator_for(view).best(view.position, 60)]
    assert ranked.index(choice.move) >= 32
    assert (choice.candidates[0].win, choice.candidates[0].win_error) == (1, 0)
    assert choice.search is not None
    assert choice.search.proven
    assert budget.offers[0].move != choice.move


def test_a_refused_move_is_not_played_in_a_pre_endgame() -> None:
    view = view_at(late_position(1))
    every = [one.move for one in legal_moves(view.position, scowl(), RULES) if one.move != PASS]
    for kept in ([], every[-1:]):
        refused = tuple(Refusal(one, "not_a_word", "no word") for one in every if one not in kept)
        choice = closing().choose(replace(view, refused=refused), unlimited())
        assert choice.move in [*kept, PASS]
        assert kept or choice.move == PASS


def test_room_for_the_solver_is_made_before_the_game() -> None:
    view, solvers = view_at(late_position(0, held=4)), Solvers()
    champion = compose(solvers)
    champion.make_room(view)
    solver = solvers.solver(view.lexicon, view.rules)
    champion.new_game(view)
    champion.choose(view, unlimited())
    assert solvers.solver(view.lexicon, view.rules) is solver
    assert solver.is_over


def test_what_is_solved_while_the_opponent_thinks_is_there_afterwards() -> None:
    view, solvers = view_at(late_position(0, held=4)), Solvers()
    champion = compose(solvers)
    his = replace(view, position=replace(view.position, on_turn=view.opponent))
    champion.ponder(his, unlimited())
    solver = solvers.solver(view.lexicon, view.rules)
    assert solver.is_over
    assert champion.choose(view, unlimited()).search is not None
    assert solvers.solver(view.lexicon, view.rules) is solver


def test_a_champion_is_gone_with_its_last_reference_and_its_solver_with_it() -> None:
    gc.disable()  # a collection may be long in coming, and a solver has 128 MB
    try:
        solvers, view = Solvers(), view_at(late_position(0))
        champion = compose(solvers)
        champion.make_room(view)
        champion.new_game(view)
        watched = weakref.ref(champion), weakref.ref(solvers.solver(view.lexicon, view.rules))
        del champion, solvers
        assert [each() for each in watched] == [None, None]
    finally:
        gc.enable()
