"""``sim`` and ``champion``: their options, every phase of a game, and pondering."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from lexicon_parts import without_words
from rollout_positions import RULES, late_position, position_of, scowl
from search_views import Clock, Offers, opening, unlimited, view_at

from bot.player import Budget, Choice, ExchangedCount, Observed, Player, Refusal, View
from bot.players.champion import champion as new_champion
from bot.players.sim import sim
from bot.registry import SeatError, create_player
from bot.search.simulating import SimulationSearch, seed_of
from bot.search.static_choice import generator_for, static_choice
from bot.search.strategy import GUESSES, LIKELY, Strategy
from bot.seat_text import parse_seat
from engine.movegen.candidates import guess_replies
from engine.movegen.generator import ScoredMove, legal_moves
from engine.rules.moves import PASS, Exchange
from engine.rules.position import Position, unseen
from engine.simulation.rollout_input import TO_THE_END
from lexicons.tables import trained_leaves, trained_win_probabilities

QUICK: dict[str, Any] = {"candidates": "5", "iterations": "12"}


def players() -> list[Player]:
    return [sim(**QUICK), sim(time="1ms"), new_champion(time="20ms")]


def samples_of(choice: Choice) -> int:
    return sum(one.samples or 0 for one in choice.candidates)


# --- options --------------------------------------------------------------------------------------


def test_options_say_how_it_is_searched() -> None:
    usual = sim().settings
    assert (usual.candidates, usual.plies, usual.iterations) == (None, None, None)
    assert usual.rule == "top-two"
    quackle = create_player(parse_seat("sim?candidates=23&iterations=300&plies=2"))
    assert isinstance(quackle, Strategy)
    settings = quackle.settings
    assert (settings.candidates, settings.iterations, settings.plies) == (23, 300, 2)
    assert settings.rule == "equal"
    assert isinstance(create_player(parse_seat("champion?time=2s")), Strategy)


@pytest.mark.parametrize(
    ("seat", "says"),
    [
        ("sim?candidates=0", "candidates"),
        ("sim?candidates=many", "'many'"),
        ("sim?plies=65", "plies"),
        ("sim?iterations=1000001", "iterations"),
        ("sim?time=0s", "time"),
        ("champion?time=soon", "'soon'"),
        ("sim?bag=7-1", "'7-1'"),
        ("sim?iterations=5&time=1s", "give iterations or time, not both"),
        ("sim?rule=equal", "it takes: candidates, plies, iterations, time, bag"),
        ("champion?candidates=5", "it takes: time, exact"),
        ("champion?exact=maybe", "'maybe'"),
    ],
)
def test_options_that_make_no_sense(seat: str, says: str) -> None:
    with pytest.raises(SeatError) as caught:
        create_player(parse_seat(seat))
    assert says in str(caught.value)


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


def test_each_turn_and_each_try_has_a_seed_of_its_own() -> None:
    view = view_at(position_of(5, 9))
    turn = Observed(1, 0, ExchangedCount(2), 0, (0, 0), 86, 5)
    refusal = Refusal(PASS, "no", "no")
    views = [
        replace(view, history=(turn,) * n, refused=(refusal,) * k)
        for n in range(9)
        for k in (0, 1, 2)
    ]
    assert len({seed_of(each) for each in views}) == len(views)


@pytest.mark.parametrize("budget", [Budget(0, clock=Clock()), Budget(-5, 10**6, Clock())])
def test_without_time_the_static_choice_is_given_at_once(budget: Budget) -> None:
    view = view_at(position_of(5, 9))
    for player in players():
        assert player.choose(view, budget) == static_choice(view)


def test_who_is_not_waited_for_any_more_answers_at_once() -> None:
    view, budget = view_at(position_of(5, 9)), unlimited()
    budget.cancel()
    for player in players():
        assert player.choose(view, budget) == static_choice(view)


def test_with_another_bag_it_plays_as_static_does() -> None:
    player = sim(**QUICK, bag="1-7")
    for bag, searched in ((9, False), (7, True), (1, True), (0, False)):
        choice = player.choose(view_at(late_position(bag)), unlimited())
        assert (samples_of(choice) > 0) is searched
    assert samples_of(sim(**QUICK, bag="9").choose(view_at(late_position(9)), unlimited()))


def test_with_little_time_something_legal_is_given() -> None:
    view = view_at(position_of(5, 9))
    legal = {one.move for one in legal_moves(view.position, scowl(), RULES)}
    for player in (sim(), new_champion()):
        for looks in (2, 3, 5, 9):
            choice = player.choose(view, Budget(looks, clock=Clock(step_ms=1)))
            assert choice.move in legal


@pytest.mark.parametrize("bag", range(7))
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


def test_the_more_likely_a_reply_the_more_it_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.search.simulating.ENOUGH", -1.0)  # nothing is ever settled
    view, champion = waiting(), new_champion()
    champion.ponder(view, pondering(GUESSES + 100))
    guesses = guess_replies(generator_for(view), view.position, seed_of(view))
    times = Counter(islice(guesses, GUESSES)).most_common(LIKELY)
    searches = [champion.pondering.begun[_key_after(view, played)] for played, _ in times]
    odds = [count for _, count in times]
    assert odds[0] > 1.5 * odds[-1]
    assert searches[0].rollouts > searches[-1].rollouts > 0


def _key_after(view: View, played: ScoredMove) -> tuple[Position, int]:
    then = view_after(view, played)
    return then.position, then.bag


def test_another_reply_begins_a_search_of_its_own() -> None:
    view, champion = waiting(), new_champion()
    champion.ponder(view, pondering(GUESSES + 50))
    begun = list(champion.pondering.begun.values())
    other = view_after(view, ScoredMove(Exchange((1, 2)), 0))
    assert champion.begin(other) not in begun
    assert champion.pondering.begun == {}
    assert champion.begin(view_after(view, likely_replies(view)[0])) not in begun


def test_with_another_score_or_bag_it_is_another_position() -> None:
    view, champion = waiting(), new_champion()
    played = likely_replies(view)[0]
    then = view_after(view, played)
    ahead = (then.position.scores[0] + 1, then.position.scores[1])
    for other in (
        replace(then, position=replace(then.position, scores=ahead)),
        replace(then, bag=then.bag + 1),
        replace(then, refused=(Refusal(PASS, "no", "no"),)),
    ):
        champion.ponder(view, pondering(GUESSES + 20))
        begun = champion.pondering.begun[then.position, then.bag]
        assert champion.begin(other) is not begun
    champion.ponder(view, pondering(GUESSES + 20))
    begun = champion.pondering.begun[then.position, then.bag]
    assert champion.begin(then) is begun


@pytest.mark.parametrize("looks", [0, 1, 40, GUESSES + 3])
def test_pondering_ends_when_it_is_told_to(looks: int) -> None:
    view, champion, budget = waiting(), new_champion(), pondering(looks)
    champion.ponder(view, budget)
    assert len(champion.pondering.begun) < LIKELY
    cancelled = unlimited()
    cancelled.cancel()
    champion.ponder(view, cancelled)
    assert champion.pondering.begun == {}, "what was begun for another turn is forgotten"


def test_pondering_ends_by_itself_when_all_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search ends, so that whoever has time is not kept busy for nothing."""
    monkeypatch.setattr("bot.search.simulating.ENOUGH", 0.001)
    view, champion = waiting(5, 9), new_champion()
    champion.ponder(view, unlimited())
    assert champion.pondering.begun
    assert all(search.is_settled for search in champion.pondering.begun.values())


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: late_position(0, held=2), id="the opponent may go out"),
        pytest.param(lambda: late_position(1), id="one in the bag"),
        pytest.param(lambda: replace(late_position(9), scoreless_turns=5), id="one turn to go"),
        pytest.param(lambda: position_of(0, 0), id="opening"),
    ],
)
def test_pondering_has_nothing_against_any_phase(make: Callable[[], Position]) -> None:
    position = make()
    view = view_at(replace(position, on_turn=1 - position.on_turn))
    champion = new_champion()
    champion.ponder(view, pondering(GUESSES + 30))
    for (then, bag), search in champion.pondering.begun.items():
        assert then.on_turn == view.seat
        at = search.simulation.position
        assert bag == max(sum(unseen(at, at.on_turn, RULES)) - 7, 0)


def test_sim_does_not_ponder() -> None:
    budget = Offers()
    sim().ponder(waiting(), budget)
    assert not budget.offers
    player = sim()
    player.ponder(waiting(), budget)
    assert not player.pondering.begun, "only the champion begins searches"


# --- games ----------------------------------------------------------------------------------------


def test_searches_leave_no_threads_behind() -> None:
    gc.collect()
    before = threading.active_count()
    view = view_at(position_of(5, 9), threads=3)
    for _ in range(5):
        sim(**QUICK).choose(view, unlimited())
    gc.collect()
    assert threading.active_count() < before + 4  # the last ones may not have ended yet
