"""Games between static players, which make the move of the highest equity: thousands a minute."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from engine.kernels.game import new_game
from engine.kernels.moves import MAX_PLACED
from engine.kernels.selfplay import Deals, Results, play_games
from engine.movegen.evaluation import STANDARD, Evaluation
from engine.movegen.generator import Generator
from engine.movegen.move_codec import unpack
from engine.rules.moves import Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules
from lexicons.arrays import I32, U8
from lexicons.leaves import LeaveArrays, LeaveTable
from lexicons.store import Lexicon

_GAMES_A_CALL = 32
_TURNS_RECORDED = 64  # room at first; longer games are played again with more


class Forced(NamedTuple):
    """Leaves forced on movers in the first turns, as far as bag and rack have them."""

    leaves: U8  # [games, turns, tiles] each sorted, from the front
    sizes: U8  # [games, turns] tiles of each; 0 forces nothing

    @classmethod
    def none(cls, games: int) -> Forced:
        """Force nothing in any game."""
        return cls(np.zeros((games, 0, MAX_PLACED), np.uint8), np.zeros((games, 0), np.uint8))


@dataclass(frozen=True)
class StaticGames:
    """The results of games."""

    results: Results
    begins: U8  # [games] the player, 0 or 1, in seat 0, which begins

    @property
    def scores(self) -> I32:
        """[games, 2] scores by seat; seat 0 began."""
        return self.results.scores

    @property
    def bingos(self) -> I32:
        """[games, 2] bingos by seat."""
        return self.results.bingos

    @property
    def turns(self) -> I32:
        """[games] turns of both seats."""
        return self.results.turns

    def position(self, game: int, turn: int, rules: Rules) -> Position:
        """Return a recorded game's position before a turn, as the mover sees it, without scores.

        Raises:
            ValueError: the games were not recorded, or this one has no such turn.
        """
        recorded = min(int(self.turns[game]), self.results.moves.shape[1])
        if not 0 <= turn < recorded:
            raise ValueError(f"game {game} has {recorded} recorded turns; there is no turn {turn}")
        board = Board.empty(rules.layout)
        for index in range(turn):
            (move,) = unpack(self.results.moves[game, index : index + 1], board)
            if isinstance(move, Place):
                board = board.with_move(move)
        size = int(self.results.sizes[game, turn])
        rack = tuple(self.results.racks[game, turn, :size].tolist())
        racks = (rack, ()) if turn % 2 == 0 else ((), rack)
        return Position(board, racks, (0, 0), on_turn=turn % 2)


def play_static_games(
    lexicon: Lexicon,
    rules: Rules,
    leaves: LeaveTable | None = None,
    games: int = 1_000,
    *,
    seed: int = 0,
    threads: int = 1,
    opponent: LeaveTable | None = None,
    pairs: bool = False,
    mirrored: bool = False,
    record: bool = False,
    forced: Forced | None = None,
    evaluation: Evaluation = STANDARD,
    opponent_evaluation: Evaluation | None = None,
) -> StaticGames:
    """Play games between static players; the same arguments give the same games.

    ``leaves`` and ``evaluation`` are player 0's, ``opponent`` and ``opponent_evaluation`` player
    1's, by default the same; without ``leaves`` leaves are worth nothing. With ``pairs`` games 0
    and 1, 2 and 3 … share an order of the bag, and the other player begins. If ``mirrored``, seat 1
    draws from the back, so that in both games of a pair the same tiles come to each seat, until
    some go back. ``record`` keeps every turn in ``results``; ``forced`` leaves replace those that
    players hold; ``threads`` does not affect results.

    Raises:
        ValueError: as ``Generator``, a number of games or threads is below 1, or ``forced`` is for
            another number of games.
    """
    if games < 1 or threads < 1:
        raise ValueError(f"{games} games in {threads} threads; there is at least one of each")
    deals = deals_of(rules, games, seed, pairs, forced)
    tables = [
        _Table(Generator(lexicon, rules, leaves, evaluation), new_game(rules, mirrored))
        for _ in range(threads)
    ]
    other = Generator(lexicon, rules, opponent or leaves, opponent_evaluation or evaluation)
    players = _Players(
        (tables[0].generator.leaves.arrays, other.leaves.arrays),
        # Copied now, since a state that has played holds the evaluation of whoever moved last.
        np.concatenate((tables[0].generator.state["evaluation"], other.state["evaluation"])),
    )
    results = _play(tables, players, deals, _TURNS_RECORDED if record else 0)
    longest = int(results.turns.max())
    if record and longest > _TURNS_RECORDED:
        results = _play(tables, players, deals, longest)
    return StaticGames(results, deals.begins)


class _Table(NamedTuple):
    """What one thread plays with; kernels modify both."""

    generator: Generator
    game: Any


class _Players(NamedTuple):
    """What tells player 0 from player 1."""

    leaves: tuple[LeaveArrays, LeaveArrays]
    evaluations: Any  # [2]


def _play(tables: list[_Table], players: _Players, deals: Deals, room: int) -> Results:
    games = len(deals.orders)
    results = Results(
        scores=np.zeros((games, 2), np.int32),
        bingos=np.zeros((games, 2), np.int32),
        turns=np.zeros(games, np.int32),
        moves=np.zeros((games, room), np.uint64),
        racks=np.zeros((games, room, MAX_PLACED), np.uint8),
        sizes=np.zeros((games, room), np.uint8),
        equities=np.zeros((games, room), np.int32),
        spreads=np.zeros((games, room), np.int32),
        bags=np.zeros((games, room), np.int32),
        leaves=np.zeros((games, room), np.int32),
    )
    free = list(tables)

    def play(first: int) -> None:
        part = slice(first, first + _GAMES_A_CALL)
        table = generator, game = free.pop()  # each thread holds one, so one is free
        play_games(
            generator.state,
            game,
            generator.words.words,
            players.leaves,
            players.evaluations,
            Deals._make(array[part] for array in deals),
            Results._make(array[part] for array in results),
        )
        free.append(table)

    with ThreadPoolExecutor(len(tables)) as pool:
        for _ in pool.map(play, range(0, games, _GAMES_A_CALL)):
            pass  # raise what threads raised
    return results


def deals_of(
    rules: Rules, games: int, seed: int, pairs: bool = False, forced: Forced | None = None
) -> Deals:
    """Return the deals of games by a seed.

    In ``pairs`` the second game has the order and seed of the first, and the other player begins.

    Raises:
        ValueError: ``forced`` is for another number of games.
    """
    tiles = np.array(rules.distribution.all_tiles(), np.uint8)
    chance = np.random.default_rng(seed)
    orders = chance.permuted(np.tile(tiles, (games, 1)), axis=1)
    seeds = chance.integers(1 << 63, size=games, dtype=np.uint64)
    begins = np.zeros(games, np.uint8)
    if pairs:
        first = np.arange(games) // 2 * 2
        orders, seeds = orders[first], seeds[first]
        begins = (np.arange(games) % 2).astype(np.uint8)
    leaves, sizes = forced or Forced.none(games)
    if sizes.shape[0] != games or leaves.shape[:2] != sizes.shape:
        raise ValueError(f"forced leaves of {sizes.shape[0]} games for {games} games")
    return Deals(orders, seeds, begins, leaves, sizes)
