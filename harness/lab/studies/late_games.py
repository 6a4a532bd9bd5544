"""One player against another in the last turns of games, against the clock.

Each position is where a game of static players first has seven tiles in the bag or fewer. Both
players take the game up there, with what is left on the clocks of players that plan their time as
those of the house do. The position is played twice, with the players in either seat and the same
bag, of which each seat draws from an end of its own; so what the position itself is worth falls
out.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bot.player import Player, View
from bot.registry import create_player, load_factory
from bot.search.time_plan import plan
from bot.seat_text import parse_seat
from engine.movegen.generator import Generator
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.rules.game import Game
from engine.rules.moves import Place
from harness.arbiter.clock import Clock
from harness.arbiter.new_game import Draws
from harness.lab.in_process import Clocks, dealt, play_by_clock, view_of
from harness.lab.study_context import Field, ready
from harness.matches.significance import mean_and_error
from protocol.parts import TimeControl

__all__ = [
    "LATE_BAG",
    "LateGames",
    "LateRow",
    "ThinkingRow",
    "clocks_left",
    "late_games",
    "late_row",
    "player_of",
    "taken_up",
    "thinking_rows",
]

LATE_BAG = 7
"""Tiles in the bag, or fewer, where games are taken up."""

_PRACTICE_MS = 1_500  # a side, of the whole game


class LateGames(NamedTuple):
    """What is played."""

    seats: tuple[str, str]
    """Local seats (``bot.registry``) of the player and the opponent, options and all."""
    field: Field
    """Its leave table is that of the games that positions are of; the two have their own."""
    seed: int
    """For those games, and for what the two leave to chance."""
    clock_ms: int
    """That each had for the whole game, without an increment."""
    once: bool = False
    """Play a position once, with the player on turn in the even ones, the opponent in the odd."""


# --- a position -----------------------------------------------------------------------------------


def late_games(playing: LateGames, number: int) -> dict[str, Any]:
    """Play a position out, with the player in the seat on turn and then in the other.

    Returns:
        The position, the ``bag``, the ``clocks`` (of the seat on turn and the other), and the games
        as JSON can say them. Of each: who ``began``, 0 being the player and 1 the opponent; the
        final ``scores`` of the two; by how much the player's spread ``changed``; what both had
        ``left`` on the clock; and turn by turn the ``moves``, the milliseconds that they ``took``,
        and the tiles in the bag before them (``bags``).

    Raises:
        IllegalMove: a player's move is against the rules.
        ValueError: a seat is none.
    """
    _practise(playing)
    game = taken_up(playing.field, playing.seed, number)
    clocks = clocks_left(game, playing.field, playing.clock_ms)
    mover = game.position.on_turn
    return {
        "number": number,
        "cgp": write_cgp(game.position, game.rules),
        "bag": len(game.bag),
        "clocks": [clocks[mover], clocks[1 - mover]],
        "games": [
            _game(playing, game, clocks, who) for who in ([number % 2] if playing.once else [0, 1])
        ],
    }


def player_of(seat: str) -> Player:
    """Make a player.

    Raises:
        SeatError: the seat is none, or not of this process.
    """
    spec = parse_seat(seat)
    return create_player(spec, load_factory(spec))


def _game(playing: LateGames, game: Game, clocks: Clocks, began: int) -> dict[str, Any]:
    """Play a game; ``began`` says which of the two is on turn."""
    mover = game.position.on_turn
    own = mover if began == 0 else 1 - mover
    who = (0, 1) if own == 0 else (1, 0)  # of the two, by seat
    players = player_of(playing.seats[who[0]]), player_of(playing.seats[who[1]])
    views = _view(playing, game, clocks, 0, who[0]), _view(playing, game, clocks, 1, who[1])
    gc.collect()  # what other games have left is not to be cleared up on the clock
    played = play_by_clock(game, players, views)
    scores, before = played.game.position.scores, game.position.scores
    alphabet = game.rules.distribution.alphabet
    moves = [turn.move for turn in played.game.turns[len(game.turns) :]]
    return {
        "began": began,
        "scores": [scores[own], scores[1 - own]],
        "changed": scores[own] - scores[1 - own] - (before[own] - before[1 - own]),
        "left": [played.left_ms[own], played.left_ms[1 - own]],
        "moves": [format_move(move, alphabet) for move in moves],
        "took": [round(ms, 1) for ms in played.took_ms],
        "bags": played.bags,
    }


def _view(playing: LateGames, game: Game, clocks: Clocks, seat: int, who: int) -> View:
    """Give one of the two his view of the game; he has the same chance in either seat."""
    named = f"{playing.seed} {who} {write_cgp(game.position, game.rules)}"
    seed = int.from_bytes(hashlib.sha256(named.encode()).digest()[:8], "big")
    control = TimeControl(initial_ms=playing.clock_ms)
    return view_of(game, playing.field.lexicon, seat, control, clocks, seed)


def _practise(playing: LateGames) -> None:
    """Play a game at speed, once a process, so that no clock pays for what happens but once.

    Kernels and tables are loaded when they are first used, whoever is to move then.
    """
    done = _practised(playing.seats)
    if (words := playing.field.lexicon.checksum) not in done:
        for seat in playing.seats:
            player_of(seat)  # or the kernels that it needs are not among those made ready
        ready()
        game = taken_up(playing.field, 0, 0)
        _game(playing, game, clocks_left(game, playing.field, _PRACTICE_MS), 0)
        done.add(words)


@cache
def _practised(_seats: tuple[str, str]) -> set[str]:
    """Give the words that these two have played with here, by checksum."""
    return set()


# --- where games are taken up ---------------------------------------------------------------------


def taken_up(field: Field, seed: int, number: int) -> Game:
    """Give the game of seed and number where its bag first has seven tiles or fewer.

    Static players have played it. A game that ends before is passed over.
    """
    generator = Generator(field.lexicon, field.rules, field.leaves)
    secret = Draws.seeded(seed, number).secret
    while True:
        game = dealt(field.rules, secret)
        while game.over is None and len(game.bag) > LATE_BAG:
            game = game.play(generator.best(game.position)[0].move, None)
        if game.over is None:
            return game
        secret = hashlib.sha256(secret).digest()


def clocks_left(game: Game, field: Field, clock_ms: int) -> Clocks:
    """Say what both clocks show if every turn so far took the whole share that was planned for it.

    Shares are those of ``bot.search.time_plan.plan``, with no increment and no time on the way. Of
    a minute the player on turn has about twelve seconds left with seven tiles in the bag or fewer,
    and the other, who has had a turn more, nine.

    Args:
        game: where it stands.
        field: with what.
        clock_ms: each had at the beginning.
    """
    control = TimeControl(initial_ms=clock_ms)
    clocks = [Clock(clock_ms), Clock(clock_ms)]
    bag = field.rules.distribution.total - 2 * field.rules.rack_size
    for turn in game.turns:
        clock = clocks[turn.seat]
        left = clocks[0].remaining_ms, clocks[1].remaining_ms
        view = replace(view_of(game, field.lexicon, turn.seat, control, left), bag=bag)
        turn_ends = plan(view, clock.limit(control).ms, asked_ms=0, clock=lambda: 0)
        clocks[turn.seat] = clock.after(turn_ends.deadline_ms, control)
        bag -= len(turn.drawn) if isinstance(turn.move, Place) else 0
    return clocks[0].remaining_ms, clocks[1].remaining_ms


# --- sums -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LateRow:
    """What came of the positions; errors are half the width of 95 % intervals, over positions."""

    player: str
    opponent: str
    positions: int
    games: int
    gain: float | None
    """Points a game that the player's spread grows by; nothing between equals."""
    gain_error: float | None
    won: float | None
    """The share of games, draws as half."""
    won_error: float | None
    better: int
    """Positions in which the player gains more than the opponent, both games together."""
    worse: int
    overtime: tuple[int, int]
    """Games in which the player, and the opponent, took more time than there was."""


@dataclass(frozen=True)
class ThinkingRow:
    """How long the two think with so many tiles in the bag; means, in milliseconds."""

    bag: int
    turns: tuple[int, int]
    """Of the player and the opponent."""
    mean_ms: tuple[float | None, float | None]
    longest_ms: tuple[float | None, float | None]


def late_row(seats: tuple[str, str], records: Sequence[dict[str, Any]]) -> LateRow:
    """Add positions up."""
    games = [(at, game) for at, one in enumerate(records) for game in one["games"]]
    position_of = np.array([at for at, _ in games], np.int64)
    changed = np.array([game["changed"] for _, game in games], np.float64)
    scores = np.array([game["scores"] for _, game in games], np.int64).reshape(-1, 2)
    wins = (np.sign(scores[:, 0] - scores[:, 1]) + 1) / 2
    together = np.bincount(position_of, weights=changed, minlength=len(records))
    late = [sum(game["left"][who] < 0 for _, game in games) for who in (0, 1)]
    return LateRow(
        *seats,
        len(records),
        len(games),
        *mean_and_error(changed, position_of, len(records)),
        *mean_and_error(wins, position_of, len(records)),
        better=int((together > 0).sum()),
        worse=int((together < 0).sum()),
        overtime=(late[0], late[1]),
    )


def thinking_rows(records: Sequence[dict[str, Any]]) -> list[ThinkingRow]:
    """Say how long the two think, with the fullest bag first."""
    took: dict[int, tuple[list[float], list[float]]] = {}
    for game in (game for one in records for game in one["games"]):
        for nth, (bag, ms) in enumerate(zip(game["bags"], game["took"], strict=True)):
            took.setdefault(bag, ([], []))[(game["began"] + nth) % 2].append(ms)
    return [_thinking(bag, *took[bag]) for bag in sorted(took, reverse=True)]


def _thinking(bag: int, own: list[float], other: list[float]) -> ThinkingRow:
    both = [np.array(one) for one in (own, other)]
    means = [float(one.mean()) if one.size else None for one in both]
    longest = [float(one.max()) if one.size else None for one in both]
    return ThinkingRow(bag, (len(own), len(other)), (means[0], means[1]), (longest[0], longest[1]))
