"""``sim`` and ``champion``: their options, every phase of a game, pondering, and the last turns."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from lexicon_parts import without_words
from rollout_positions import RULES, late_position, position_of, scowl
from search_views import Clock, Offers, opening, unlimited, view_at

from bot.player import Budget, Choice, Observed, Player, Refusal, View
from bot.players.champion import champion as new_champion
from bot.players.champion import compose
from bot.players.sim import sim
from bot.search import late_game
from bot.search.analysis.solving import Solvers
from bot.search.simulating import SimulationSearch, SimulationSettings, seed_of
from bot.search.static_choice import generator_for, static_choice
from bot.search.strategy import GUESSES, LIKELY, Strategy
from engine.movegen.candidates import guess_replies
from engine.movegen.generator import ScoredMove, legal_moves
from engine.notation.cgp import read_cgp
from engine.rules.moves import PASS, Exchange
from engine.simulation.rollout_input import TO_THE_END
from lexicons.tables import trained_leaves, trained_win_probabilities
from protocol.channel import now_ms

QUICK: dict[str, Any] = {"candidates": "5", "iterations": "12"}


def players() -> list[Player]:
    return [sim(**QUICK), sim(time="1ms"), new_champion(time="20ms")]


def samples_of(choice: Choice) -> int:
    return sum(one.samples or 0 for one in choice.candidates)


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [sim, new_champion])
def test_time_is_a_limit_for_each_turn(kind: Callable[..., Strategy]) -> None:
    budget = Budget(10**9, 10**9 + 5, Clock())
    budget.on_change(budget.cancel)  # at once, so that nothing is searched
    kind(time="1m30s").choose(view_at(position_of(5, 9)), budget)
    assert budget.deadline_ms == budget.stretch_ms == 90_000
    assert 90_000 < budget.last_ms < 90_100


def test_warming_up_loads_the_tables() -> None:
    """A turn that follows asks for them, and reads no file any more."""
    tables = trained_leaves, trained_win_probabilities
    for player in (sim(**QUICK), new_champion(time="1s")):  # time to search on a busy machine, too
        for table in tables:
            table.cache_clear()
        player.warm_up(scowl(), RULES)
        before = [table.cache_info() for table in tables]
        assert [info.misses for info in before] == [1, 1]
        player.choose(view_at(position_of(5, 9)), unlimited())
        after = [table.cache_info() for table in tables]
        assert [info.misses for info in after] == [1, 1]
        assert all(info.hits > known.hits for info, known in zip(after, before, strict=True))


# --- turns ----------------------------------------------------------------------------------------


def test_a_turn_that_is_asked_again_gets_the_same_answer() -> None:
    view = view_at(position_of(5, 9))
    player = sim(**QUICK)
    choice = player.choose(view, unlimited())
    assert samples_of(choice) == 12 * 5
    for same in (view, replace(view, threads=2), replace(view, clocks=(1, 1))):
        assert sim(**QUICK).choose(same, unlimited()) == choice
    assert player.choose(view, unlimited()) == choice
    assert player.choose(replace(view, seed=2), unlimited()) != choice


def cancelled() -> Budget:
    """Give the budget of a player that is not waited for any more."""
    budget = unlimited()
    budget.cancel()
    return budget


@pytest.mark.parametrize(
    "budget", [Budget(0, clock=Clock()), Budget(-5, 10**6, Clock()), cancelled()]
)
def test_without_time_the_static_choice_is_given_at_once(budget: Budget) -> None:
    view = view_at(position_of(5, 9))
    for player in players():
        assert player.choose(view, budget) == static_choice(view)


def test_with_another_bag_it_plays_as_static_does() -> None:
    player = sim(**QUICK, bag="1-7")
    for bag, searched in ((9, False), (7, True), (1, True), (0, False)):
        choice = player.choose(view_at(late_position(bag)), unlimited())
        assert (samples_of(choice) > 0) is searched
    assert samples_of(sim(**QUICK, bag="9").choose(view_at(late_position(9)), unlimited()))


@pytest.mark.parametrize("bag", [0, 1, 6])
def test_every_last_turn_is_searched_to_the_end(bag: int) -> None:
    position = late_position(bag) if bag else late_position(0, held=4)
    view = view_at(position)
    assert view.bag == bag
    legal = {one.move: one.score for one in legal_moves(position, scowl(), RULES)}
    for player in (sim(**QUICK), new_champion(exact="no")):
        assert isinstance(player, Strategy)
        search = player.begin(view)
        assert isinstance(search, SimulationSearch)
        assert search.simulation.plies == TO_THE_END
        assert search.simulation.exact == (bag == 0)
        enough = Offers(until=lambda offers: bag > 0 and len(offers) == 3)
        choice = player.choose(view, enough)
        assert legal[choice.move] == choice.score
        if bag == 0:
            assert {one.samples for one in choice.candidates} <= {0, 1}


@pytest.mark.parametrize("player", [sim(), new_champion(exact="no")])
def test_by_an_empty_bag_all_moves_are_looked_at(player: Player) -> None:
    view = view_at(late_position(0, held=7))
    choice = player.choose(view, unlimited())
    possible = len(generator_for(view).everything(view.position)) - 1
    assert len(choice.candidates) == min(300, possible)
    assert [one.samples for one in choice.candidates] == [1] * len(choice.candidates)
    wins = [one.win for one in choice.candidates]
    assert wins == sorted(wins, key=lambda win: -(win or 0.0))


def test_with_one_move_there_is_nothing_to_search() -> None:
    wordless = without_words(RULES.distribution)
    view = view_at(late_position(0, held=3), lexicon=wordless)
    exchanging = view_at(opening("V"), lexicon=wordless)
    refused = replace(exchanging, refused=(Refusal(Exchange((22,)), "no", "no"),))
    for player in players()[1:]:
        for given, move in ((view, PASS), (exchanging, Exchange((22,))), (refused, PASS)):
            choice = player.choose(given, unlimited())
            assert choice.move == move
            assert samples_of(choice) == 0 or given.bag == 0
            assert player.choose(given, Budget(0, clock=Clock())).move == move


# --- pondering ------------------------------------------------------------------------------------


def waiting(game: int = 5, turn: int = 9) -> View:
    """Give what a player sees while the opponent thinks."""
    position = position_of(game, turn)
    return view_at(replace(position, on_turn=1 - position.on_turn))


def likely_replies(view: View) -> list[ScoredMove]:
    replies = guess_replies(generator_for(view), view.position, seed_of(view))
    return [played for played, _ in Counter(islice(replies, GUESSES)).most_common(LIKELY)]


def view_after(view: View, played: ScoredMove) -> View:
    """Give what the player sees after a reply, as the arbiter tells it."""
    then = view_at(view.position.after(played.move, played.score, (), view.rules))
    turn = Observed(1, view.opponent, played.move, played.score, then.position.scores, then.bag, 9)
    return replace(then, history=(*view.history, turn), clocks=(800_000, 700_000))


def pondering(looks: int) -> Budget:
    return Budget(looks, clock=Clock(step_ms=1))


def test_likely_replies_are_searched_and_the_search_goes_on_when_one_comes() -> None:
    view, champion = waiting(), new_champion()
    champion.ponder(view, pondering(GUESSES + 150))
    assert len(champion.pondering.begun) == LIKELY
    for played in likely_replies(view):
        then = view_after(view, played)
        begun = champion.pondering.begun[then.position, then.bag]
        assert begun.rollouts > 0
    before = begun.rollouts
    choice = champion.choose(then, pondering(12))
    assert begun.rollouts > before
    assert choice == begun.choice()
    assert champion.pondering.begun == {}
    champion.ponder(view, pondering(GUESSES + 150))
    begun = champion.pondering.begun[then.position, then.bag]
    assert begun.is_sampled
    assert champion.choose(then, cancelled()) == begun.choice(), "without time for another search"


def test_another_reply_score_or_bag_begins_a_search_of_its_own() -> None:
    view, champion = waiting(), new_champion()
    then = view_after(view, likely_replies(view)[0])
    ahead = (then.position.scores[0] + 1, then.position.scores[1])
    for came, goes_on in (
        (view_after(view, ScoredMove(Exchange((1, 2)), 0)), False),
        (replace(then, position=replace(then.position, scores=ahead)), False),
        (replace(then, bag=then.bag + 1), False),
        (replace(then, refused=(Refusal(PASS, "no", "no"),)), False),
        (then, True),
    ):
        champion.ponder(view, pondering(GUESSES + 20))
        begun = champion.pondering.begun[then.position, then.bag]
        assert (champion.begin(came) is begun) is goes_on
        assert champion.pondering.begun == {}


@pytest.mark.parametrize("looks", [0, 1, 40, GUESSES + 3])
def test_pondering_ends_when_it_is_told_to(looks: int) -> None:
    view, champion, budget = waiting(), new_champion(), pondering(looks)
    champion.ponder(view, budget)
    assert len(champion.pondering.begun) < LIKELY
    champion.ponder(view, cancelled())
    assert champion.pondering.begun == {}, "what was begun for another turn is forgotten"


def test_pondering_ends_by_itself_when_all_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search ends, so that whoever has time is not kept busy for nothing."""
    monkeypatch.setattr("bot.search.simulating.ENOUGH", 0.001)
    view, champion = waiting(5, 9), new_champion()
    champion.ponder(view, unlimited())
    assert champion.pondering.begun
    assert all(search.is_settled for search in champion.pondering.begun.values())


def test_sim_does_not_ponder() -> None:
    budget, player = Offers(), sim()
    player.ponder(waiting(), budget)
    assert not budget.offers
    assert not player.pondering.begun, "only the champion begins searches"


# --- the last turns -------------------------------------------------------------------------------


def counted(looks: int) -> Budget:
    """Give a budget that ends when it has been looked at so often."""
    times = iter(range(looks))
    return Budget(looks - 1, clock=lambda: next(times, looks))


def closing() -> Strategy:
    """Give a strategy whose simulation takes so much work, however much time there is."""
    return Strategy(SimulationSettings(iterations=30), solvers=Solvers())


def choose(view: View, budget: Budget | None = None) -> Choice:
    return new_champion().choose(view, budget or unlimited())


@pytest.mark.parametrize("bag", [0, 1, 2, 4, 7, 20])
def test_whatever_the_time_the_move_is_legal(bag: int) -> None:
    view = view_at(late_position(bag))
    legal = {one.move: one.score for one in legal_moves(view.position, scowl(), RULES)}
    for budget in (Budget(now_ms()), counted(3), counted(40), Budget(4_000, clock=Clock(20))):
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


def test_of_many_refused_moves_none_is_chosen_again() -> None:
    view = view_at(late_position(0, held=4))
    every = [one.move for one in legal_moves(view.position, scowl(), RULES) if one.move != PASS]
    refused = tuple(Refusal(move, "not_a_word", "no word") for move in every[:60])
    assert choose(replace(view, refused=refused), counted(60)).move not in every[:60]


@pytest.fixture
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pre-endgame whose choice counts after few cases, and that ends after few nodes."""
    for name, value in (("ENOUGH_CASES", 2), ("MOST_NODES", 20_000)):
        monkeypatch.setattr(late_game, name, value)


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("bag", [3, 4])
def test_with_three_or_four_tiles_moves_are_played_out_if_there_is_time(bag: int) -> None:
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


@pytest.mark.usefixtures("little_work")
def test_a_refused_move_is_not_played_in_a_pre_endgame() -> None:
    view = view_at(late_position(1))
    every = [one.move for one in legal_moves(view.position, scowl(), RULES) if one.move != PASS]
    for kept in ([], every[-1:]):
        refused = tuple(Refusal(one, "not_a_word", "no word") for one in every if one not in kept)
        choice = closing().choose(replace(view, refused=refused), unlimited())
        assert choice.move in [*kept, PASS]
        assert choice.search is not None
        assert (choice.search.phase == "pre-endgame") == bool(kept), "else nothing is to be chosen"


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


# --- games ----------------------------------------------------------------------------------------


def test_searches_leave_no_threads_behind() -> None:
    gc.collect()
    before = threading.active_count()
    view = view_at(position_of(5, 9), threads=3)
    for _ in range(5):
        sim(**QUICK).choose(view, unlimited())
    gc.collect()
    assert threading.active_count() < before + 4  # the last ones may not have ended yet
