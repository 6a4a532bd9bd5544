"""Positions of games that are on: they may not be analysed here."""

from __future__ import annotations

from collections.abc import Sequence

from engine.notation.cgp import read_cgp
from engine.rules.position import Board
from harness.server.hosting import Hosting
from harness.server.players import Players

SHARED = 0.75
"""A board is that of a game if it has this share of the game's tiles, on the same squares."""


def why_not_analyse(hosting: Hosting, players: Players, cgp: str, table: str, address: str) -> str:
    """Return why a position of a table may not be analysed for an address now, or nothing.

    An empty board is the same in all games, so it is refused only to addresses of players in a game
    that has one.
    """
    board = read_cgp(cgp, hosting.tables.find(table).rules).board
    played, boards = players.games_from(address), (board.squares, _transposed(board))
    for host in hosting.games.values():
        if host.book.game is None or host.book.ended is not None:
            continue
        live = host.book.game.position.board
        is_like = any(_is_like(live, squares) for squares in boards)
        if is_like and (not live.is_empty or host.game in played):
            return "this is the position of a game that is on; look at it when that is over"
    return ""


def _transposed(board: Board) -> tuple[int, ...]:
    """Return the squares with rows and columns swapped: most boards then have the same moves."""
    columns = board.layout.columns
    return tuple(tile for column in range(columns) for tile in board.squares[column::columns])


def _is_like(live: Board, squares: Sequence[int]) -> bool:
    if live.is_empty:
        return not any(squares)
    if len(live.squares) != len(squares):
        return False
    tiles = sum(map(bool, live.squares))
    shared = sum(tile == other for tile, other in zip(live.squares, squares, strict=True) if tile)
    return shared >= SHARED * tiles
