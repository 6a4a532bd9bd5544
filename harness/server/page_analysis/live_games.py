"""Positions of games that are on: they are neither analysed here nor played by a lent bot.

Boards are compared wherever their tiles lie: shifted by columns or rows, or with rows and columns
swapped, most boards have the same moves.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from engine.notation.cgp import read_cgp
from engine.rules.position import Position
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import Rules
from harness.server.admission import block_of
from harness.server.hosting import Hosting
from harness.server.players import Players
from lexicons.alphabet import BLANK_FLAG, Alphabet
from protocol.errors import PeerError
from protocol.messages import Decline, GameOver, Message, NewGame, YourTurn

SHARED = 0.75
"""A board is that of a game if it has this share of the game's tiles, lying as in the game."""

SHARED_PAIRS = 1 / 3
"""The least share of its pairs of neighbours that is left then, whichever tiles differ."""

SHIFTS_TRIED = 3

ON = "this is the position of a game that is on; look at it when that is over"

_Square = tuple[int, int]


class _Shape(NamedTuple):
    """The tiles on a board, as text, blanks as the letters that they stand for."""

    letters: dict[_Square, str]
    pairs: dict[str, list[_Square]]
    """Where a letter stands beside another (``AB-``) or above it (``AB|``)."""


@lru_cache(maxsize=4_096)
def _shape(squares: bytes, columns: int, alphabet: Alphabet) -> _Shape:
    letters = {
        divmod(square, columns): alphabet.tile_text(tile & ~BLANK_FLAG)
        for square, tile in enumerate(squares)
        if tile
    }
    pairs: dict[str, list[_Square]] = {}
    for (row, column), letter in letters.items():
        for beside, way in ((row, column + 1), "-"), ((row + 1, column), "|"):
            if beside in letters:
                pairs.setdefault(f"{letter}{letters[beside]}{way}", []).append((row, column))
    return _Shape(letters, pairs)


def _is_like(live: _Shape, other: _Shape) -> bool:
    if not live.letters:
        return not other.letters
    needed = max(SHARED * len(live.letters), len(other.letters) / 2)
    both = live.pairs.keys() & other.pairs.keys()
    if needed > len(other.letters) or len(both) < SHARED_PAIRS * len(live.pairs):
        return False  # so most boards cost microseconds
    shifts = Counter(
        (row - at_row, column - at_column)
        for pair in both
        for row, column in live.pairs[pair]
        for at_row, at_column in other.pairs[pair]
    )
    return any(
        sum(
            other.letters.get((row - down, column - right)) == letter
            for (row, column), letter in live.letters.items()
        )
        >= needed
        for (down, right), _ in shifts.most_common(SHIFTS_TRIED)
    )


def held(position: Position, seat: int, rules: Rules) -> Counter[str]:
    """Count the tiles of a seat's rack by their text."""
    return Counter(map(rules.distribution.alphabet.tile_text, position.racks[seat]))


def is_on(
    hosting: Hosting, players: Players, position: Position, rules: Rules, address: str
) -> bool:
    """Return whether a position is that of a game here, and so not for an address to know more of.

    A board with no more tiles than one play may be that of several games. So it counts only if a
    player of the address has such a board, and a rack like that of the player on turn.
    """
    alphabet, board = rules.distribution.alphabet, position.board
    rows, columns = board.layout.rows, board.layout.columns
    swapped = b"".join(board.squares[column::columns] for column in range(columns))
    shape = _shape(board.squares, columns, alphabet)
    transposed = _shape(swapped, rows, alphabet)
    rack = held(position, position.on_turn, rules)
    for host in hosting.games.values():
        game, of_game = host.book.game, host.book.rules
        if game is None or host.book.ended is not None or host.is_casual:
            continue
        live = game.position.board
        its = _shape(live.squares, live.layout.columns, of_game.distribution.alphabet)
        if (_is_like(its, shape) or _is_like(its, transposed)) and (
            len(its.letters) > of_game.rack_size
            or any(
                (held(game.position, seat, of_game) & rack).total() >= SHARED * rack.total()
                for seat, name in enumerate(host.book.opened.players)
                if name in players and block_of(players[name].address) == block_of(address)
            )
        ):
            return True
    return False


def why_not_analyse(hosting: Hosting, players: Players, cgp: str, table: str, address: str) -> str:
    """Return why a position of a table may not be analysed for an address now, or nothing."""
    rules = hosting.tables.find(table).rules
    return ON if is_on(hosting, players, read_cgp(cgp, rules), rules, address) else ""


@dataclass(eq=False)
class LentGames:
    """The games that an arbiter plays with a bot that is lent to it."""

    hosting: Hosting
    players: Players
    address: str
    """The arbiter's."""
    _rules: dict[str, Rules] = field(default_factory=dict)
    """By game."""

    def check(self, message: Message) -> None:
        """Take a message to or from the bot.

        Raises:
            PeerError: it asks about a position of a game that is on here; the arbiter's connection
                is to be closed.
        """
        match message:
            case NewGame(game=game):
                with suppress(ValueError):  # else the bot declines
                    self._rules[game] = rules_in_play(message.rules)
                    if message.opening is not None:
                        self._check_position(message.opening, game)
            case YourTurn(game=game) if game in self._rules:
                with suppress(ValueError):  # else the bot refuses it
                    self._check_position(message.position, game)
            case GameOver(game=game) | Decline(game=game):
                self._rules.pop(game, None)
            case _:
                pass

    def _check_position(self, cgp: str, game: str) -> None:
        rules = self._rules[game]
        if is_on(self.hosting, self.players, read_cgp(cgp, rules), rules, self.address):
            raise PeerError("forbidden", ON, retry="later", game=game, close=1008)
