"""Games that two players play in this process, without an arbiter between them.

They are told all that they are told in a match. A game is played from the beginning without clocks
(``play_game``); or one that stands somewhere is taken up, as after a crash, and its moves are not
told: against the clock (``play_by_clock``), or however a turn is taken (``play_on``).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from bot.equipment import Resources
from bot.player import Budget, ExchangedCount, Observed, Player, Result, View
from bot.search.time_plan import plan
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import Exchange, Move
from engine.rules.position import Position, Rack
from engine.rules.rules import Rules
from harness.arbiter.clock import Clock
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon
from protocol.channel import now_ms
from protocol.parts import TimeControl

__all__ = [
    "Clocks",
    "Played",
    "SeesRacks",
    "TakeTurn",
    "Taken",
    "dealt",
    "play_by_clock",
    "play_game",
    "play_on",
    "view_of",
]

Clocks: TypeAlias = tuple[int, int]
"""Milliseconds, by seat."""

_NEVER_MS = 1 << 60
_USUAL_CONTROL = TimeControl()
_STANDING: Clocks = (3_600_000, 3_600_000)
"""What players are told that they have left, where no clock runs."""


@runtime_checkable
class SeesRacks(Protocol):
    """A player who is shown what no arbiter would show."""

    def see(self, rack: Rack) -> None:
        """Be shown what the opponent holds; before each choice."""


class Taken(NamedTuple):
    """A turn that a player took."""

    move: Move
    clocks: Clocks
    """What they show after it."""
    think_ms: int = 0
    """What it cost on the clock."""


TakeTurn: TypeAlias = Callable[[Player, View], Taken]
"""Has a player take his turn, of which he has that view."""


# --- whole games ----------------------------------------------------------------------------------


def dealt(rules: Rules, secret: bytes) -> Game:
    """Begin a game whose bag a secret has shaken; each seat draws from an end of its own."""
    return Game.start(rules, Bag.shuffled(rules.distribution, DrawStream(secret), mirrored=True))


def play_game(
    players: tuple[Player, Player],
    lexicon: Lexicon,
    rules: Rules,
    secret: bytes,
    leaves: LeaveTable | None = None,
) -> Game:
    """Play a game to its end, without clocks; seat 0 begins.

    The chance that players are given depends on the secret and the seat. Without a leave table they
    have their own.

    Raises:
        IllegalMove: a player's move is against the rules.
        ValueError: as the players' ``warm_up``.
    """
    game = dealt(rules, secret)
    first, second = (
        view_of(game, lexicon, seat, seed=_chance(secret, seat), leaves=leaves) for seat in range(2)
    )
    return play_on(game, players, (first, second), _unhurried)


def _chance(secret: bytes, seat: int) -> int:
    return int.from_bytes(hashlib.sha256(secret + b"player %d" % seat).digest()[:8], "big")


def _unhurried(player: Player, view: View) -> Taken:
    return Taken(player.choose(view, Budget(_NEVER_MS)).move, view.clocks)


# --- against the clock ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Played:
    """What came of a game that was taken up against the clock."""

    game: Game
    left_ms: Clocks
    """What the clocks show at the end; overtime below zero."""
    took_ms: list[float]
    """By turn."""
    bags: list[int]
    """Tiles in the bag before each turn."""


def play_by_clock(game: Game, players: tuple[Player, Player], views: tuple[View, View]) -> Played:
    """Play a game to its end against the clock; arguments are those of ``play_on``.

    A turn costs what ``choose`` takes: nobody overrules a player that is late, and no message is on
    its way. Overtime is seen on the clocks, and takes nothing off the score.

    Raises:
        IllegalMove: a player's move is against the rules.
        ValueError: as the players' ``warm_up``.
    """
    clocks = [Clock(left) for left in views[0].clocks]
    took_ms: list[float] = []
    bags: list[int] = []

    def left_ms() -> Clocks:
        return clocks[0].remaining_ms, clocks[1].remaining_ms

    def hurried(player: Player, view: View) -> Taken:
        clock = clocks[view.seat]
        longest = clock.limit(view.time).ms
        began = time.perf_counter()
        choice = player.choose(view, plan(view, longest, asked_ms=now_ms()))
        took_ms.append((time.perf_counter() - began) * 1_000)
        bags.append(view.bag)
        think_ms = round(took_ms[-1])
        clocks[view.seat] = clock.after(think_ms, view.time)
        return Taken(choice.move, left_ms(), think_ms)

    ended = play_on(game, players, views, hurried)
    return Played(ended, left_ms(), took_ms, bags)


# --- any game -------------------------------------------------------------------------------------


def play_on(
    game: Game, players: tuple[Player, Player], views: tuple[View, View], take_turn: TakeTurn
) -> Game:
    """Play a game to its end.

    Args:
        game: it is not over; both have taken a turn in it, or nobody has.
        players: by seat; they are warmed up here.
        views: by seat, what they are told of it (``view_of``), the clocks too.
        take_turn: has the player on turn take his turn.

    Raises:
        IllegalMove: a player's move is against the rules.
        ValueError: as the players' ``warm_up``.
    """
    seen = list(views)
    for player, view in zip(players, seen, strict=True):
        player.warm_up(view.lexicon, view.rules)
        player.make_room(view)
        player.new_game(view)
    while game.over is None:
        seat = game.position.on_turn
        player, view = players[seat], seen[seat]
        if isinstance(player, SeesRacks):
            player.see(game.position.racks[1 - seat])
        taken = take_turn(player, view)
        game = game.play(taken.move, view.lexicon.graph.contains)
        for each, player in enumerate(players):
            play = _observed(game, each, taken.think_ms)
            seen[each] = seen[each].after(play, _seen_by(game, each), taken.clocks)
            player.observe(seen[each], play)
    for player, view in zip(players, seen, strict=True):
        player.game_over(view, _result_of(game))
    return game


# --- what players are told ------------------------------------------------------------------------


def view_of(
    game: Game,
    lexicon: Lexicon,
    seat: int,
    control: TimeControl = _USUAL_CONTROL,
    clocks: Clocks = _STANDING,
    seed: int = 0,
    leaves: LeaveTable | None = None,
) -> View:
    """Give a game as a seat sees it that begins it, or takes it up.

    Args:
        game: where it stands.
        lexicon: the words.
        seat: whose view.
        control: what its clocks are set to.
        clocks: what they show.
        seed: for whatever chance the player wants.
        leaves: what leaves are worth, if the player is not to have his own table.
    """
    return View.at(
        _seen_by(game, seat),
        seat,
        game.rules,
        Resources(lexicon, leaves),
        bag=len(game.bag),
        game="experiment",
        time=control,
        clocks=clocks,
        seed=seed,
    )


def _seen_by(game: Game, seat: int) -> Position:
    """Give the position without the other seat's rack."""
    own = game.position.racks[seat]
    return replace(game.position, racks=((), own) if seat else (own, ()))


def _observed(game: Game, seat: int, think_ms: int) -> Observed:
    """Say what a seat sees of the last turn, and how long it took."""
    turn = game.turns[-1]
    move: Move | ExchangedCount = turn.move
    if isinstance(move, Exchange) and turn.seat != seat:
        move = ExchangedCount(len(move.tiles))
    totals = [0, 0]
    for one in game.turns[-2:]:
        totals[one.seat] = one.total
    return Observed(
        seq=len(game.turns),
        seat=turn.seat,
        move=move,
        score=turn.score,
        scores=(totals[0], totals[1]),
        bag=len(game.bag),
        think_ms=think_ms,
    )


def _result_of(game: Game) -> Result:
    """Say how a game that is over ended."""
    assert game.over is not None
    first, second = game.position.scores
    winner = None if first == second else int(second > first)
    return Result(game.over.reason, winner, (first, second), game.over.racks, "")
