"""One player against another in whole games, turn by turn: for players that no kernel plays.

The games are those of a match without clocks and processes. They come in pairs with the same draws,
the seats swapped, and the bags are those of ``tilewire match`` with the same seed.

What came of them may be kept in a file (``lines``), and games that are there already are not played
again; so one file has many duels, and a duel that was stopped goes on. A game's record has the
``players``, its ``number``, the ``scores`` of the player and the opponent, and the ``turns`` that
both took. The file knows a player by the text of its seat: one that plays differently now needs
another file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bot.player import Budget, ExchangedCount, Observed, Player, Result, View
from bot.registry import create_player, load_factory, parse_seat
from engine.bag import Bag, DrawStream
from engine.game import Game
from engine.moves import Exchange, Move
from engine.position import Position
from engine.rules import Rules
from lexicons.store import Lexicon
from protocol.messages import TimeControl

from ..setup import Draws
from .duel import Duel, add_up
from .lines import open_lines

__all__ = ["play_game", "play_seats"]

_Maker: TypeAlias = Callable[[], Player]

_NEVER_MS = 1 << 60
_CLOCK_MS = 3_600_000  # what players are told that they have left


def play_seats(
    seats: tuple[str, str],
    lexicon: Lexicon,
    rules: Rules,
    games: int,
    *,
    threads: int = 1,
    seed: int = 0,
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
) -> Duel:
    """Play so many games between two players.

    Args:
        seats: local seats (``bot.registry``) of the player and the opponent, options and all.
        lexicon: the words.
        rules: the rules.
        games: how many.
        threads: how many at once; it makes no difference to them.
        seed: for the bags, and for what players leave to chance.
        out: a file that has, or gets, what came of each game.
        progress: told after each game how many there are by now.

    Raises:
        ValueError: fewer than four games, an odd number of them, no thread, a seat that is none,
            a file that holds something else, or one that another process is at.
        OSError: the file can't be read or written.
        IllegalMove: a player's move is against the rules.
    """
    if games < 4 or games % 2:
        raise ValueError(f"{games} games; they come in pairs, two pairs or more")
    if threads < 1:
        raise ValueError(f"{threads} threads; one is the least")
    play = partial(_play, (_maker(seats[0]), _maker(seats[1])), lexicon, rules, seed)
    settings = {"experiment": "games", "lexicon": lexicon.checksum, "seed": seed}
    with open_lines(out, settings) as every, ThreadPoolExecutor(threads) as pool:
        lines = every.of(players=list(seats))
        missing = lines.missing(games)
        for there, record in enumerate(pool.map(play, missing), games - len(missing) + 1):
            lines.add(record)
            if progress is not None:
                progress(there)
        scores = np.array([one["scores"] for one in lines.records[:games]])
    return add_up(*seats, scores[:, 0], scores[:, 1])


def _play(
    makers: tuple[_Maker, _Maker], lexicon: Lexicon, rules: Rules, seed: int, number: int
) -> dict[str, Any]:
    """Play one game; 0 and 1, 2 and 3 … share their draws, and the player begins the even ones."""
    begins = number % 2
    players = makers[begins](), makers[1 - begins]()
    game = play_game(players, lexicon, rules, Draws.seeded(seed, number // 2).secret)
    scores = game.position.scores
    return {
        "number": number,
        "scores": [scores[begins], scores[1 - begins]],
        "turns": len(game.turns),
    }


def _maker(seat: str) -> _Maker:
    spec = parse_seat(seat)
    factory = load_factory(spec)
    create_player(spec, factory)  # what is wrong with its options is said before any game
    return lambda: create_player(spec, factory)


# --- a game -------------------------------------------------------------------------------------


def play_game(
    players: tuple[Player, Player], lexicon: Lexicon, rules: Rules, secret: bytes
) -> Game:
    """Play a game to its end; seat 0 begins, and each seat draws from an end of the bag of its own.

    The players are told all that they are told in a match, and have no clock. The chance that they
    are given depends on the secret and the seat.

    Raises:
        IllegalMove: a player's move is against the rules.
        ValueError: as the players' ``warm_up``.
    """
    bag = Bag.shuffled(rules.distribution, DrawStream(secret), mirrored=True)
    game = Game.start(rules, bag)
    views = [_opening(game, lexicon, seat, secret) for seat in range(2)]
    for player, view in zip(players, views, strict=True):
        player.warm_up(lexicon, rules)
        player.new_game(view)
    while game.over is None:
        seat = game.position.on_turn
        choice = players[seat].choose(views[seat], Budget(_NEVER_MS))
        game = game.play(choice.move, lexicon.graph.contains)
        for each, player in enumerate(players):
            play = _observed(game, each)
            views[each] = _after(views[each], game, play)
            player.observe(views[each], play)
    for player, view in zip(players, views, strict=True):
        player.game_over(view, _result(game))
    return game


def _opening(game: Game, lexicon: Lexicon, seat: int, secret: bytes) -> View:
    chance = hashlib.sha256(secret + b"player %d" % seat).digest()
    return View(
        game="experiment",
        seat=seat,
        players=("first", "second"),
        position=_seen(game, seat),
        bag=len(game.bag),
        clocks=(_CLOCK_MS, _CLOCK_MS),
        time=TimeControl(),
        rules=game.rules,
        lexicon=lexicon,
        seed=int.from_bytes(chance[:8], "big"),
    )


def _after(view: View, game: Game, play: Observed) -> View:
    return replace(
        view,
        position=_seen(game, view.seat),
        bag=len(game.bag),
        history=(*view.history, play),
    )


def _seen(game: Game, seat: int) -> Position:
    """Give the position without the other seat's rack."""
    own = game.position.racks[seat]
    return replace(game.position, racks=((), own) if seat else (own, ()))


def _observed(game: Game, seat: int) -> Observed:
    """Say what a seat sees of the last turn."""
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
        think_ms=0,
    )


def _result(game: Game) -> Result:
    assert game.over is not None
    first, second = game.position.scores
    winner = None if first == second else int(second > first)
    return Result(game.over.reason, winner, (first, second), game.over.racks, "")
