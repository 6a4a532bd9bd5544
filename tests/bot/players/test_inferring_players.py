"""``infer``: what it makes of the opponent's plays, in whole games, and its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from inference_reference import leaves_in
from rollout_positions import RULES, scowl

from bot.player import Believed, Budget, Choice, ExchangedCount, Observed, Player, View
from bot.players.infer import infer
from bot.players.static import StaticPlayer
from bot.search.belief import OpponentModel, _Seen
from engine.inference.equity_loss import OpponentPlay
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import DETERMINISTIC, SIMULATING, Style, stranger
from engine.rules.game import Game
from engine.rules.moves import PASS, Direction, Exchange, Place
from engine.rules.position import Rack
from engine.rules.rules import rack_tiles
from harness.arbiter.records import Draws
from harness.lab.in_process import play_game
from harness.lab.study_context import Field

MANY, FEW = 30_000, 300  # racks


class Watcher(StaticPlayer):
    """Plays as ``static``, and follows what the opponent may hold."""

    def __init__(self, make: Callable[[View], OpponentModel], racks: int) -> None:
        super().__init__()
        self._make, self._racks = make, racks
        self.beliefs: list[tuple[int, OpponentModel, dict[Rack, float]]] = []

    def new_game(self, view: View) -> None:
        self.opponent = self._make(view)

    def observe(self, view: View, play: Observed) -> None:
        self.opponent.observe(view, play)

    def choose(self, view: View, budget: Budget) -> Choice:
        self.opponent.think(racks=self._racks)
        kept, told = self.opponent.tracker.prior, self.opponent.reported
        chances = dict(zip(leaves_in(kept), kept.weights.tolist(), strict=True))
        if view.bag and told is not None and not told.unseen:  # all were looked at
            self.beliefs.append((len(view.history), self.opponent, chances))
        return super().choose(view, budget)


def played(one: Player, other: Player, pair: int) -> Game:
    return play_game((one, other), Field.of(scowl(), RULES), Draws.seeded(5, pair).secret)


class Noting(StaticPlayer):
    """Notes what it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.views: list[View] = []
        """Of the beginning and of its own turns."""
        self.observed: list[tuple[View, Observed]] = []

    def new_game(self, view: View) -> None:
        self.views.append(view)

    def observe(self, view: View, play: Observed) -> None:
        self.observed.append((view, play))

    def choose(self, view: View, budget: Budget) -> Choice:
        self.views.append(view)
        return super().choose(view, budget)


@cache
def noted(pair: int) -> Noting:
    """Give what a player has noted of a whole game."""
    player = Noting()
    played(player, StaticPlayer(), pair)
    return player


def kept_by(game: Game, turn: int) -> Rack:
    """Give what was kept in a turn."""
    rack, move = list(game.turns[turn].rack), game.turns[turn].move
    used: Rack = ()
    if isinstance(move, Place):
        used = rack_tiles(move.placed)
    elif isinstance(move, Exchange):
        used = move.tiles
    for tile in used:
        rack.remove(tile)
    return tuple(rack)


@cache
def watched(learns: bool) -> tuple[Watcher, Game]:
    style = stranger() if learns else Style.of(DETERMINISTIC)
    watcher = Watcher(lambda view: OpponentModel(view, style, learns=learns), MANY)
    return watcher, played(watcher, StaticPlayer(), 3)


def test_what_a_static_player_kept_is_never_ruled_out_and_likelier_than_by_chance() -> None:
    watcher, game = watched(False)
    told = []
    for turns, _, chances in watcher.beliefs:
        if isinstance(game.turns[turns - 1].move, Place):
            told.append(chances[kept_by(game, turns - 1)])
            assert sum(chances.values()) == pytest.approx(1)
    assert len(told) > 5
    assert min(told) > 0
    assert np.mean(np.log(told)) > -6, "by chance it would be about -8"


def test_a_static_player_is_not_taken_for_another() -> None:
    watcher, _ = watched(True)
    odds = watcher.opponent.tracker.style.named()
    assert odds["static"] + odds["simulating"] > 0.6
    assert odds["wild"] + odds["loose"] < 0.02, "they were 0.22 to begin with"
    assert sum(odds.values()) == pytest.approx(1)


def test_the_players_own_exchange_is_no_news_of_the_opponents_rack() -> None:
    class Exchanging(Watcher):
        def choose(self, view: View, budget: Budget) -> Choice:
            choice = super().choose(view, budget)
            return Choice(Exchange(view.rack[:5])) if len(view.history) == 2 else choice

    watcher = Exchanging(lambda view: OpponentModel(view, Style.of(SIMULATING), learns=False), FEW)
    game = played(watcher, StaticPlayer(), 4)
    assert any(isinstance(turn.move, Exchange) for turn in game.turns)
    for _, opponent, chances in watcher.beliefs:
        assert sum(chances.values()) == pytest.approx(1)
        note = (opponent.reported and opponent.reported.note) or ""
        assert not note.startswith("it contradicts")


def test_every_choice_says_what_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    player, choices = infer(iterations="2", candidates="2", racks="200"), list[Choice]()
    choose = player.choose

    def keep(view: View, budget: Budget) -> Choice:
        choices.append(choose(view, budget))
        return choices[-1]

    monkeypatch.setattr(player, "choose", keep)
    game = played(StaticPlayer(), player, 6)
    assert len(choices) == len(game.turns) // 2
    for choice in choices:
        assert choice.belief is not None
        assert sum(choice.belief.style.values()) == pytest.approx(1)
    last = choices[-1].belief
    assert last is not None
    assert last.note == "the bag is empty"
    for choice in choices[:5]:
        assert choice.belief is not None
        assert choice.belief.leaves_considered >= 1
        assert choice.belief.bingo is not None
        assert len(choice.belief.tiles) == len(RULES.distribution.counts)


def took_in(opponent: OpponentModel, view: View, play: Observed) -> Believed:
    """Have a belief take in a play, and give what it says."""
    opponent.observe(view, play)
    opponent.think(racks=FEW)
    assert opponent.reported is not None
    return opponent.reported


def test_a_game_that_is_taken_up_midway_goes_on_with_what_is_seen_from_then_on() -> None:
    (start, _), *later = noted(8).observed[3:]
    unknown = replace(start, position=replace(start.position, racks=((), ())))
    opponent = OpponentModel(unknown, stranger())
    for view, play in later:
        opponent.observe(view, play)
        opponent.think(racks=FEW)
    assert opponent.reported is not None
    assert opponent.tracker.prior.weights.sum() == pytest.approx(1)


def test_turns_are_read_as_the_opponent_made_them() -> None:
    _, view, *_ = noted(9).views
    for move, expected in ((ExchangedCount(3), 3), (PASS, PASS)):
        opponent = OpponentModel(view, Style.of(SIMULATING), learns=False)
        after = replace(view, history=())
        opponent.observe(after, Observed(2, view.opponent, move, 0, (0, 0), view.bag, 0))
        (seen,) = opponent._news
        assert isinstance(seen, _Seen)
        assert seen.play == OpponentPlay(
            view.position.board, expected, 0, RULES.rack_size, view.bag
        )
        assert seen.counts == view.unseen
        opponent.think(racks=20_000)
        assert opponent.reported is not None
        assert opponent.belief(view) is not None
        assert opponent.belief(replace(view, bag=0)) is None


def test_a_style_that_is_not_learnt_is_not_told() -> None:
    """It would be kept as what is known of him."""
    opponent = OpponentModel(begun(), Style.of(SIMULATING), learns=False)
    after = replace(begun(), history=())
    passed = Observed(1, begun().opponent, PASS, 0, (0, 0), after.bag, 0)
    assert took_in(opponent, after, passed).style == {}


@pytest.mark.parametrize("bag", [0, 79, 93, 200])
def test_bags_and_plays_that_can_not_be_are_said_and_play_goes_on(bag: int) -> None:
    view = replace(begun(), bag=bag)
    opponent = OpponentModel(view, stranger())
    passed = Observed(1, view.opponent, PASS, 0, (0, 0), 80, 0)
    said = took_in(opponent, replace(view, bag=80), passed)
    assert "the opponent can't have" in (said.note or "")
    assert opponent.belief(begun()) is None
    opponent = OpponentModel(begun(), stranger())
    zs = Place(7, 7, Direction.ACROSS, (26, 26, 26))
    three_z = Observed(1, view.opponent, zs, 60, (0, 60), begun().bag - 3, 0)
    assert "tiles that it can't have had" in (took_in(opponent, begun(), three_z).note or "")
    assert opponent.belief(begun()) is None


def test_what_can_not_be_held_is_left_out_of_simulations() -> None:
    """As after draws that were missed: there is one Z, and not two."""
    opponent, zs, es = OpponentModel(begun(), stranger()), (26, 26), (5, 5)
    opponent.tracker.prior = LeavePrior(np.array([zs], np.uint8), np.ones(1))
    assert opponent.belief(begun()) is None
    opponent.tracker.prior = LeavePrior(np.array([es, zs], np.uint8), np.array([0.5, 0.5]))
    belief = opponent.belief(begun())
    assert belief is not None
    assert belief.tiles.tolist() == [list(es)]


def test_several_plays_share_the_time() -> None:
    """As when a game is taken up; each look at this clock takes ten milliseconds."""
    looks = iter(range(10_000))
    opponent = missing(3)
    opponent.think(ms=300, clock=lambda: next(looks) / 100)
    assert 240 <= 10 * next(looks) < 400


def test_a_turn_without_time_takes_nothing_in_and_forgets_nothing() -> None:
    opponent = missing(1)
    opponent.think(racks=FEW)
    known = opponent.tracker.prior
    assert known.size
    opponent.observe(begun(), an_exchange(3))
    opponent.think(ms=0)
    assert opponent.tracker.prior is known
    assert opponent.reported is None
    opponent.think(racks=FEW)
    assert opponent.tracker.prior is not known
    assert opponent.reported is not None


def test_racks_that_there_was_no_time_for_are_unseen_and_have_no_bingo_odds() -> None:
    opponent = missing(1)
    opponent.think(racks=FEW, remaining_ms=lambda: 0.0)
    assert opponent.reported is not None
    assert (opponent.reported.leaves_considered, opponent.reported.unseen) == (0, 1.0)
    assert opponent.reported.bingo is None


def an_exchange(seq: int) -> Observed:
    """Give a turn in which the opponent exchanged a tile."""
    return Observed(seq, begun().opponent, ExchangedCount(1), 0, (0, 0), begun().bag, 0)


def missing(plays: int) -> OpponentModel:
    """Give a belief that has so many plays to take in."""
    opponent = OpponentModel(begun(), stranger())
    for seq in range(1, 2 * plays, 2):
        opponent.observe(begun(), an_exchange(seq))
    return opponent


def test_bingo_odds_take_no_more_than_the_time_of_the_belief() -> None:
    """As above each look at the clock takes ten milliseconds; too few for all racks are left.

    A slice of work has four looks, and one that has begun is done.
    """
    looks = iter(range(10_000))
    opponent = missing(1)
    opponent.think(ms=300, clock=lambda: next(looks) / 100)
    assert 10 * next(looks) < 300 + 40
    assert opponent.reported is not None
    assert opponent.reported.leaves_considered
    assert opponent.reported.bingo is None


def test_the_papers_player_has_the_papers_model() -> None:
    for options, model in (
        ({"memory": "last"}, ["deterministic"]),
        ({"memory": "last", "model": "soft"}, ["simulating"]),
        ({"model": "margin"}, ["margin"]),
        ({}, list(stranger().named())),
    ):
        player = infer(**options)
        player.new_game(begun())
        opponent = player.opponent
        assert opponent is not None
        assert list(opponent.tracker.style.named()) == model
        assert opponent.tracker.remembers == ("memory" not in options)


def begun() -> View:
    """Give the view of a game that begins."""
    return noted(10).views[0]
