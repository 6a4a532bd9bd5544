"""The slow twin of the move generator: every placement, found by trying every word everywhere.

It shares nothing with ``engine.kernels`` and ``engine.rules``: no word graph, no anchors, no
cross-sets, a scorer of its own. For each line, each start and each word it asks what the rules
ask: is the word on the board's squares, does it agree with the tiles there, does it end where
tiles end, is something placed, does the rack have it, does it touch a tile (or cover the start
square), are the words across it words? numpy asks this of all words of a length at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.moves import PLAYED_THROUGH, Direction, Place
from lexicons.alphabet import BLANK, BLANK_FLAG

TILES = 64
Words = npt.NDArray[np.uint8]


class Dictionary:
    """A word list: a set to look words up in, and a table of tile numbers for each length."""

    def __init__(self, words: Iterable[tuple[int, ...]]) -> None:
        self.known = {bytes(word) for word in words}
        self.kinds = max((max(word) for word in self.known if word), default=0) + 1
        self.of_length: dict[int, Words] = {}
        self.counts: dict[int, Words] = {}  # for each word how often each tile is in it
        self.masks: dict[int, npt.NDArray[np.uint64]] = {}  # and which tiles are in it at all
        by_length: dict[int, list[bytes]] = {}
        for word in sorted(self.known):
            by_length.setdefault(len(word), []).append(word)
        for length, listed in by_length.items():
            table = np.frombuffer(b"".join(listed), np.uint8).reshape(-1, length)
            counts = np.zeros((len(table), self.kinds), np.uint8)
            for column in table.T:
                counts[np.arange(len(table)), column] += 1
            self.of_length[length] = table
            self.counts[length] = counts
            self.masks[length] = np.bitwise_or.reduce(np.uint64(1) << table.astype(np.uint64), 1)
        self._within = lru_cache(maxsize=1024)(self._look_through)  # the next line asks it again

    def __contains__(self, word: Iterable[int]) -> bool:
        return bytes(tile & ~BLANK_FLAG for tile in word) in self.known

    def within(self, length: int, tiles: Iterable[int], blanks: int) -> Words:
        """The words of a length that these letters and blanks suffice for."""
        return self._within(length, bytes(sorted(tiles)), blanks)

    def _look_through(self, length: int, tiles: bytes, blanks: int) -> Words:
        supplied = np.bincount(np.frombuffer(tiles, np.uint8), minlength=TILES)[: self.kinds]
        mask = sum(1 << tile for tile in set(tiles))
        # First those that lack no more kinds of letters than there are blanks: quicker.
        lacking = np.bitwise_count(self.masks[length] & ~np.uint64(mask))
        few = np.flatnonzero(lacking <= blanks)
        counts = self.counts[length][few].astype(np.int16)
        missing = np.maximum(counts - supplied.astype(np.int16), 0).sum(axis=1)
        words: Words = self.of_length[length][few[missing <= blanks]]
        return words


@dataclass
class Square:
    """A square of a line, as far as words along the line are concerned."""

    tile: int
    letter_multiplier: int
    word_multiplier: int
    is_start: bool
    crossed: bool  # a tile lies beside it, across the line
    crossing_points: int  # points of the tiles that cross here
    allowed: npt.NDArray[np.bool_]  # by letter: the word across is one


def placements(
    squares: npt.NDArray[np.uint8], rack: tuple[int, ...], dictionary: Dictionary, rules: Any
) -> dict[Place, int]:
    """Every placement with its score, each once; a single tile both ways is across only.

    ``squares`` are the board's tiles, rows × columns.
    """
    found: dict[Place, int] = {}
    for direction in Direction:
        for number, line in enumerate(_lines(squares, direction, dictionary, rules)):
            for start, tiles, score in _in_line(line, rack, dictionary, rules, not squares.any()):
                placed = [at for at, tile in enumerate(tiles, start) if tile != PLAYED_THROUGH]
                if direction is Direction.DOWN and len(placed) == 1 and line[placed[0]].crossed:
                    continue  # the same tile makes a word across
                row, column = (number, start) if direction is Direction.ACROSS else (start, number)
                place = Place(row, column, direction, tiles)
                assert place not in found
                found[place] = score
    return found


def _lines(
    squares: npt.NDArray[np.uint8], direction: Direction, dictionary: Dictionary, rules: Any
) -> Iterator[list[Square]]:
    """The board's lines in a direction, each a list of its squares."""
    layout = rules.layout
    letter = np.array(layout.letter_multipliers).reshape(squares.shape)
    word = np.array(layout.word_multipliers).reshape(squares.shape)
    is_start = np.zeros(squares.shape, bool)
    is_start[layout.start] = True
    if direction is Direction.DOWN:
        squares, letter, word, is_start = squares.T, letter.T, word.T, is_start.T
    for line in range(len(squares)):
        yield [
            Square(
                int(squares[line, at]),
                int(letter[line, at]),
                int(word[line, at]),
                bool(is_start[line, at]),
                *_crossing(squares[:, at].tolist(), line, dictionary, rules.distribution),
            )
            for at in range(squares.shape[1])
        ]


def _crossing(
    across: list[int], at: int, dictionary: Dictionary, distribution: Any
) -> tuple[bool, int, npt.NDArray[np.bool_]]:
    """What the tiles across an empty square allow there, and their points."""
    first = at
    while first > 0 and across[first - 1]:
        first -= 1
    end = at + 1
    while end < len(across) and across[end]:
        end += 1
    before, after = across[first:at], across[at + 1 : end]
    allowed = np.ones(TILES, bool)
    if (before or after) and not across[at]:
        for tile in range(1, len(distribution.counts)):
            allowed[tile] = [*before, tile, *after] in dictionary
    points = sum(_points(tile, distribution) for tile in before + after)
    return bool(before or after), points, allowed


def _points(tile: int, distribution: Any) -> int:
    return int(distribution.points[BLANK if tile & BLANK_FLAG else tile])


def _in_line(
    line: list[Square],
    rack: tuple[int, ...],
    dictionary: Dictionary,
    rules: Any,
    board_is_empty: bool,
) -> Iterator[tuple[int, tuple[int, ...], int]]:
    """Every placement in a line: its first square, its tiles, its score."""
    blanks = rack.count(BLANK)
    letters = Counter(tile for tile in rack if tile != BLANK)
    for length in range(2, len(line) + 1):
        starts = [
            start
            for start in range(len(line) - length + 1)
            if _can_hold_word(line, start, length, len(rack), board_is_empty)
        ]
        if not starts or length not in dictionary.of_length:
            continue
        for start in starts:
            word_squares = line[start : start + length]
            there = [square.tile & ~BLANK_FLAG for square in word_squares if square.tile]
            words = dictionary.within(length, [*letters.elements(), *there], blanks)
            for word in _fitting(words, word_squares).tolist():
                for tiles in _from_rack(word, word_squares, letters, blanks):
                    yield start, tiles, _score(tiles, word_squares, rules)


def _can_hold_word(
    line: list[Square], start: int, length: int, rack_tiles: int, board_is_empty: bool
) -> bool:
    """Whether some word might be placed on these squares."""
    end = start + length
    if (start > 0 and line[start - 1].tile) or (end < len(line) and line[end].tile):
        return False  # the word would be longer
    inside = line[start:end]
    empty = sum(not square.tile for square in inside)
    if not 1 <= empty <= rack_tiles:
        return False
    if board_is_empty:
        return any(square.is_start for square in inside)
    return any(square.tile or square.crossed for square in inside)


def _fitting(words: Words, squares: list[Square]) -> Words:
    """Those of the words that agree with the tiles and make words across."""
    for at, square in enumerate(squares):
        if square.tile:
            words = words[words[:, at] == square.tile & ~BLANK_FLAG]
    for at, square in enumerate(squares):
        if square.crossed and not square.tile:
            words = words[square.allowed[words[:, at]]]
    return words


def _from_rack(
    word: list[int], squares: list[Square], letters: Counter[int], blanks: int
) -> Iterator[tuple[int, ...]]:
    """Each way to put a word's missing letters on the board: which of them are blanks."""
    missing = [at for at, square in enumerate(squares) if not square.tile]
    # Blanks have to stand at least for what the rack lacks, and may stand for more.
    lacking = Counter(word[at] for at in missing) - letters
    for count in range(lacking.total(), blanks + 1):
        for blanked in combinations(missing, count):
            if lacking and not lacking <= Counter(word[at] for at in blanked):
                continue
            tiles = [PLAYED_THROUGH] * len(word)
            for at in missing:
                tiles[at] = word[at] | BLANK_FLAG if at in blanked else word[at]
            yield tuple(tiles)


def _score(tiles: tuple[int, ...], squares: list[Square], rules: Any) -> int:
    """The rules' words: premium squares count once, under a tile just placed, in each word it
    makes; letters first, then words; placing a full rack earns the bonus.
    """
    main, main_multiplier, across, placed = 0, 1, 0, 0
    for tile, square in zip(tiles, squares, strict=True):
        if tile == PLAYED_THROUGH:
            main += _points(square.tile, rules.distribution)
            continue
        placed += 1
        points = _points(tile, rules.distribution) * square.letter_multiplier
        main += points
        main_multiplier *= square.word_multiplier
        if square.crossed:
            across += (points + square.crossing_points) * square.word_multiplier
    bonus = rules.bingo_bonus if placed == rules.rack_size else 0
    return main * main_multiplier + across + int(bonus)
