"""A game that two players take up and play to its end against the clock, in this process.

They know the position and not how it came about, as after a crash. A turn costs what ``choose``
takes: nobody overrules a player that is late, and no message is on its way. Overtime is seen on the
clocks, and takes nothing off the score.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from bot.player import Player, View
from bot.timeplan import plan
from engine.game import Game
from lexicons.store import Lexicon
from protocol.channel import now_ms
from protocol.parts import TimeControl

from ..clock import Clock
from .games import observed, result_of, seen_by

__all__ = ["Clocks", "Played", "play_on", "view_of"]

Clocks: TypeAlias = tuple[int, int]
"""Milliseconds, by seat."""


@dataclass
class Played:
    """What came of it."""

    game: Game
    clocks: list[Clock]
    """By seat."""
    took_ms: list[float] = field(default_factory=list)
    """By turn."""
    bags: list[int] = field(default_factory=list)
    """Tiles in the bag before each turn."""

    @property
    def left_ms(self) -> Clocks:
        """What the clocks show."""
        return self.clocks[0].remaining_ms, self.clocks[1].remaining_ms


def view_of(
    game: Game, lexicon: Lexicon, seat: int, control: TimeControl, clocks: Clocks, seed: int = 0
) -> View:
    """Give a game as a seat sees it that takes it up."""
    return View(
        game="experiment",
        seat=seat,
        players=("first", "second"),
        position=seen_by(game, seat),
        bag=len(game.bag),
        clocks=clocks,
        time=control,
        rules=game.rules,
        lexicon=lexicon,
        seed=seed,
    )


def play_on(game: Game, players: tuple[Player, Player], views: tuple[View, View]) -> Played:
    """Play a game to its end.

    Args:
        game: both have taken a turn in it, and it is not over.
        players: by seat; they are warmed up here.
        views: by seat, what they are told of it (``view_of``), the clocks too.

    Raises:
        IllegalMove: a player's move is against the rules.
        ValueError: as the players' ``warm_up``.
    """
    played = Played(game, [Clock(left) for left in views[0].clocks])
    seen = list(views)
    for player, view in zip(players, seen, strict=True):
        player.warm_up(view.lexicon, view.rules)
        player.make_room(view)
        player.new_game(view)
    while played.game.over is None:
        seat = played.game.position.on_turn
        _take_turn(played, players[seat], seen[seat])
        for each, player in enumerate(players):
            seen[each] = _after(seen[each], played)
            player.observe(seen[each], seen[each].history[-1])
    for player, view in zip(players, seen, strict=True):
        player.game_over(view, result_of(played.game))
    return played


def _take_turn(played: Played, player: Player, view: View) -> None:
    clock = played.clocks[view.seat]
    longest = clock.limit(view.time).ms
    began = time.perf_counter()
    choice = player.choose(view, plan(view, longest, asked_ms=now_ms()))
    took_ms = (time.perf_counter() - began) * 1_000
    played.clocks[view.seat] = clock.after(round(took_ms), view.time)
    played.took_ms.append(took_ms)
    played.bags.append(view.bag)
    played.game = played.game.play(choice.move, view.lexicon.graph.contains)


# --- what they are told ---------------------------------------------------------------------------


def _after(view: View, played: Played) -> View:
    """Give the view after the last turn."""
    game = played.game
    return replace(
        view,
        position=seen_by(game, view.seat),
        bag=len(game.bag),
        clocks=played.left_ms,
        history=(*view.history, observed(game, view.seat, round(played.took_ms[-1]))),
    )
