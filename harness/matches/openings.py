"""Openings of a match or tournament: positions that its games begin in, from a file.

The file has one opening per line; blank lines and lines that begin with ``#`` are ignored:

* a CGP, ``board racks scores zeros``; the player on turn moves first;
* ``game.gcg@LINE``, the position before that line of a score sheet, with the racks that the sheet
  gives; the path is relative to the folder of the openings file;
* first racks: ``AEINRST`` for the player that moves first, or ``AEINRST/DGILNOU`` for both.

A rack may have fewer tiles than usual: the arbiter draws the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from bot.seat_text import beside
from engine.notation.cgp import check_tile_counts, read_cgp, read_rack, write_cgp
from engine.notation.gcg import Notice, read_gcg
from engine.notation.replaying import replay
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.position import Board, Position
from engine.rules.rules import Rules, stalled
from lexicons.alphabet import BLANK_FLAG, EMPTY
from lexicons.store import Lexicon
from lexicons.text import read_text

_LINE_OF_GAME = re.compile(r"(.+)@([0-9]{1,9})")


def read_openings(path: Path, rules: Rules, tell: Callable[[str], object] = id) -> tuple[str, ...]:
    """Read a file of openings; return them as CGPs.

    Games are read as people write them; ``tell`` takes what is not taken as it is written.

    Raises:
        OSError: the file can't be read.
        ValueError: an opening is invalid; the message says where, why, and what to write.
    """
    openings = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            position = _read(text, path.parent, rules, tell)
            check_opening(position, rules)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        openings.append(write_cgp(position, rules))
    if not openings:
        raise ValueError(
            f"{path} has no opening; one a line: a CGP, game.gcg@LINE, or racks such as AEINRST"
        )
    return tuple(openings)


def check_opening(position: Position, rules: Rules) -> None:
    """Check that a game can begin in a position.

    Raises:
        ValueError: it would be over.
    """
    if turns := stalled(position, rules):
        raise ValueError(f"the game is over, after {turns}")
    bag = Bag.shuffled(rules.distribution, DrawStream(b""), opening=position)
    if not all(Game.start(rules, bag, position).position.racks):
        raise ValueError("the game is over: no tile is left for one of the racks")


def begins_empty(opening: str, rules: Rules) -> bool:
    """Return whether an opening is the usual start of a game, apart from the racks it gives."""
    position = read_cgp(opening, rules)
    return position.without_racks() == Position.empty(rules.layout)


def unknown_words(boards: Iterable[Board], lexicon: Lexicon) -> list[str]:
    """Return the words on the boards that the lexicon lacks, in alphabetical order."""
    unknown = {
        word for board in boards for word in _words_on(board) if not lexicon.graph.contains(word)
    }
    return sorted(map(lexicon.distribution.alphabet.text, unknown))


def _read(text: str, folder: Path, rules: Rules, tell: Callable[[str], object]) -> Position:
    if of_game := _LINE_OF_GAME.fullmatch(text):
        path, line = folder / of_game[1], int(of_game[2])
        with suppress(OSError):  # a text too long for a file's name
            path = beside(of_game[1], folder)
        notices: list[Notice] = []
        try:
            played = replay(read_gcg(path.read_bytes(), notices), rules, notices)
            played.check_line(line)
        except OSError as error:
            raise ValueError(f"{path} can't be read: {error.strerror}") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        if played.is_over(line - 1):
            raise ValueError(f"{path}@{line}: the game is over")
        for notice in notices:
            tell(f"{path}{', ' if notice.line else ': '}{notice}")
        position = played.after(line - 1)
        return position.swapped() if position.on_turn else position
    if len(text.split()) > 1:
        return read_cgp(text, rules)
    first, _, second = text.partition("/")
    alphabet, board = rules.distribution.alphabet, Board.empty(rules.layout)
    try:
        racks = (
            read_rack(first, "first rack", alphabet, rules.rack_size),
            read_rack(second, "second rack", alphabet, rules.rack_size),
        )
        check_tile_counts(board, racks, rules.distribution)
    except ValueError as error:
        raise ValueError(
            f"{error}; an opening is a CGP 'board racks scores zeros', game.gcg@LINE, or first "
            "racks such as AEINRST or AEINRST/DGILNOU"
        ) from None
    return Position(board, racks, (0, 0))


def _words_on(board: Board) -> Iterator[tuple[int, ...]]:
    columns = board.layout.columns
    rows = [
        board.squares[index : index + columns] for index in range(0, len(board.squares), columns)
    ]
    for line in (*rows, *map(bytes, zip(*rows, strict=True))):
        for lies, run in groupby(line, lambda tile: tile != EMPTY):
            word = tuple(tile & ~BLANK_FLAG for tile in run)
            if lies and len(word) > 1:
                yield word
