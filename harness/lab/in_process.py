"""Games between two players in this process, without arbiter and clocks.

Players get all the information of a match. *full-knowledge* gets more, which no arbiter would show,
and so plays here only.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from bot.equipment import Resources
from bot.player import Budget, ExchangedCount, Observed, Player, Result, View
from bot.players.sim import settings_of
from bot.search.anytime import WorkClock
from bot.search.strategy import Searching, Strategy
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import Exchange
from engine.rules.position import Rack
from engine.rules.rules import Rules
from harness.lab.positions import Situation
from harness.lab.study_context import Field

_NEVER_MS = 1 << 60


class FullKnowledgePlayer(Strategy):
    """Simulates like ``sim``, with its options, but sees the opponent's rack.

    Its advantage is the most that any belief about the rack could gain (Richards and Amir 2007).

    Raises:
        ValueError: an option is invalid.
    """

    def __init__(
        self,
        candidates: str = "",
        plies: str = "",
        iterations: str = "",
        time: str = "",
        bag: str = "",
    ) -> None:
        # The options of a seat, as text; ``settings_of`` has their defaults.
        super().__init__(settings_of(candidates, plies, iterations, time, bag))
        self._opponent_rack: Rack | None = None

    def see(self, rack: Rack) -> None:
        """Look at the opponent's rack, before each choice."""
        self._opponent_rack = rack

    def begin(self, view: View) -> Searching:
        """Begin a search with both racks known.

        Raises:
            RuntimeError: ``see`` was not called.
        """
        if self._opponent_rack is None:
            raise RuntimeError("full-knowledge was not shown its opponent's rack; see play_game")
        return super().begin(view.holding(view.rack, self._opponent_rack))


def dealt(rules: Rules, secret: bytes) -> Game:
    """Return a new game with the bag shuffled by a secret; each seat draws from its own end."""
    return Game.start(rules, Bag.shuffled(rules.distribution, DrawStream(secret), mirrored=True))


def last_turn(game: Game) -> Observed:
    """Return a game's last turn, with the tiles that were exchanged."""
    turn = game.turns[-1]
    totals = {last.seat: last.total for last in game.turns[-2:]}
    scores = totals.get(0, 0), totals.get(1, 0)
    return Observed(
        len(game.turns), turn.seat, turn.move, turn.score, scores, len(game.bag), think_ms=0
    )


def unhurried(*, by_work: bool = False) -> Budget:
    """Return a turn's budget without a deadline; ``by_work``: limits on it count work, not time."""
    if not by_work:
        return Budget(_NEVER_MS)
    clock = WorkClock()  # a new one each turn, which so depends on no earlier one
    return Budget(_NEVER_MS, clock=clock.ms, seconds=clock)


def play_game(
    players: tuple[Player, Player], field: Field, secret: bytes, *, by_work: bool = False
) -> Game:
    """Play a game to its end; seat 0 begins, and random seeds come from the secret and the seat.

    ``by_work`` is as for ``unhurried``.

    Raises:
        IllegalMove: a player's move is against the rules.
        ValueError: as the players' ``warm_up``.
    """
    game, views = dealt(field.rules, secret), list[View]()
    first = view_of(Situation(game.position, len(game.bag), ()), field)
    for seat, player in enumerate(players):
        seed = int.from_bytes(hashlib.sha256(secret + b"player %d" % seat).digest()[:8], "big")
        seen = game.position.with_rack(1 - seat, ())
        views.append(view := replace(first, seat=seat, position=seen, seed=seed))
        player.warm_up(view.lexicon, view.rules)
        player.make_room(view)
        player.new_game(view)
    while game.over is None:
        seat = game.position.on_turn
        player = players[seat]
        if isinstance(player, FullKnowledgePlayer):
            player.see(game.position.racks[1 - seat])
        choice = player.choose(views[seat], unhurried(by_work=by_work))
        game = game.play(choice.move, field.lexicon.graph.contains)
        for watching, player in enumerate(players):
            view = views[watching]
            views[watching] = view = replace(
                view,
                position=game.position.with_rack(1 - watching, ()),
                bag=len(game.bag),
                history=(*view.history, _as_seen(last_turn(game), watching)),
            )
            player.observe(view, view.history[-1])
    one, other = game.position.scores
    winner = None if one == other else int(other > one)
    result = Result(game.over.reason, winner, (one, other), game.over.racks, "")
    for player, view in zip(players, views, strict=True):
        player.game_over(view, result)
    return game


def view_of(situation: Situation, field: Field, seed: int = 0) -> View:
    """Return the view of the player on turn in a position with its history, as when resuming."""
    resources = Resources(field.lexicon, None if field.own_leaves else field.leaves)
    view = View.of(situation.position, field.rules, resources, seed)
    history = tuple(_as_seen(turn, view.seat) for turn in situation.turns)
    return replace(view, bag=situation.bag, history=history)


def _as_seen(turn: Observed, viewer: int) -> Observed:
    """Hide which tiles the other seat exchanged."""
    move = turn.move
    if isinstance(move, Exchange) and turn.seat != viewer:
        return replace(turn, move=ExchangedCount(len(move.tiles)))
    return turn
