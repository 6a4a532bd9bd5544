"""The slow twin of the move generator: every placement, found by trying every word everywhere.

It shares nothing with ``engine.kernels`` and ``engine.rules.rules``: no word graph, no anchors, no
cross-sets, a scorer of its own. For each line, each start and each word it asks what the rules
ask: is the word on the board's squares, does it agree with the tiles there, does it end where
tiles end, is something placed, does the rack have it, does it touch a tile (or cover the start
square), are the words across it words? numpy asks this of all words of a length at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.rules.moves import PLAYED_THROUGH, Direction, Place
from lexicons.alphabet import BLANK, BLANK_FLAG

TILES = 64
Words: TypeAlias = npt.NDArray[np.uint8]
Tiles: TypeAlias = tuple[int, ...]


class Dictionary:
    """A word list: a set to look words up in, and a table of tile numbers for each length."""

    def __init__(self, words: Iterable[tuple[int, ...]]) -> None:
        self.known = {bytes(word) for word in words}
        self.kinds = max((max(word) for word in self.known if word), default=0) + 1
        self.of_length: dict[int, Words] = {}
        self.counts: dict[int, npt.NDArray[np.int8]] = {}  # for each how often each tile is in it
        self.masks: dict[int, npt.NDArray[np.uint64]] = {}  # and which tiles are in it at all
        by_length: dict[int, list[bytes]] = {}
        for word in sorted(self.known):
            by_length.setdefault(len(word), []).append(word)
        for length, listed in by_length.items():
            table = np.frombuffer(b"".join(listed), np.uint8).reshape(-1, length)
            counts = np.zeros((len(table), self.kinds), np.int8)
            for column in table.T:
                counts[np.arange(len(table)), column] += 1
            self.of_length[length] = table
            self.counts[length] = counts
            self.masks[length] = np.bitwise_or.reduce(np.uint64(1) << table.astype(np.uint64), 1)
        self._all = {length: np.arange(len(table)) for length, table in self.of_length.items()}
        # The next line, or the next position of a game, asks the same again.
        self._within = lru_cache(maxsize=1024)(self._look_through)
        self._fitting = lru_cache(maxsize=1 << 14)(self._look_for)
        self._letters_between = lru_cache(maxsize=1 << 14)(self._try_letters)

    def __contains__(self, word: Iterable[int]) -> bool:
        return bytes(tile & ~BLANK_FLAG for tile in word) in self.known

    def within(
        self, length: int, there: tuple[tuple[int, int], ...], letters: bytes, blanks: int
    ) -> Words:
        """The words of a length with these letters at these places, whose others can be supplied.

        Args:
            length: of the words.
            there: place in the word and letter, of each letter that lies there already.
            letters: what the others are taken from, sorted.
            blanks: how many of the others may be any letter.
        """
        return self._within(length, there, letters, blanks)

    def letters_between(self, before: list[int], after: list[int]) -> npt.NDArray[np.bool_]:
        """By letter, whether it makes a word between tiles."""
        before, after = ([tile & ~BLANK_FLAG for tile in tiles] for tiles in (before, after))
        return self._letters_between(bytes(before), bytes(after))

    def _look_through(
        self, length: int, there: tuple[tuple[int, int], ...], letters: bytes, blanks: int
    ) -> Words:
        rows = self._fitting(length, there) if there else self._all[length]
        if not len(rows):
            return self.of_length[length][:0]
        mask = 0
        supplied = np.zeros(TILES, np.int8)
        for letter in (*letters, *(letter for _, letter in there)):
            mask |= 1 << letter
            supplied[letter] += 1
        # First those that lack no more kinds of letters than there are blanks: quicker.
        rows = rows[np.bitwise_count(self.masks[length][rows] & np.uint64(~mask % 2**64)) <= blanks]
        if not len(rows):
            return self.of_length[length][:0]
        missing = np.maximum(self.counts[length][rows] - supplied[: self.kinds], 0)
        words: Words = self.of_length[length][rows[missing.sum(axis=1) <= blanks]]
        return words

    def _look_for(self, length: int, there: tuple[tuple[int, int], ...]) -> npt.NDArray[np.int64]:
        """The numbers of the words with these letters at these places."""
        *others, (at, letter) = there
        column = self.of_length[length][:, at]
        if not others:
            return np.flatnonzero(column == letter)
        found = self._fitting(length, tuple(others))
        return found[column[found] == letter] if len(found) else found

    def _try_letters(self, before: bytes, after: bytes) -> npt.NDArray[np.bool_]:
        return np.array([before + bytes([letter]) + after in self.known for letter in range(TILES)])


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
    squares: npt.NDArray[np.uint8], rack: Tiles, dictionary: Dictionary, rules: Any
) -> dict[Place, int]:
    """Every placement with its score, each once; a single tile both ways is across only.

    ``squares`` are the board's tiles, rows × columns.
    """
    found: dict[Place, int] = {}
    supply, some_tiles = Supply(rack), bool(squares.any())
    for direction in Direction:
        for number, line in enumerate(_lines(squares, direction, dictionary, rules)):
            for start, tiles, score in _in_line(line, supply, dictionary, rules, some_tiles):
                if direction is Direction.DOWN and tiles.count(PLAYED_THROUGH) == len(tiles) - 1:
                    (at,) = (at for at, tile in enumerate(tiles, start) if tile != PLAYED_THROUGH)
                    if line[at].crossed:
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
        allowed = dictionary.letters_between(before, after)
    points = sum(_points(tile, distribution) for tile in before + after)
    return bool(before or after), points, allowed


def _points(tile: int, distribution: Any) -> int:
    return int(distribution.points[BLANK if tile & BLANK_FLAG else tile])


class Supply:
    """A rack, and the ways to put letters on the board from it."""

    def __init__(self, rack: Tiles) -> None:
        self.size = len(rack)
        self.blanks = rack.count(BLANK)
        self.letters = bytes(sorted(tile for tile in rack if tile != BLANK))
        self.ways: Callable[[bytes], list[Tiles]] = cache(partial(_ways, self.letters, self.blanks))


def _ways(letters: bytes, blanks: int, missing: bytes) -> list[Tiles]:
    """Each way to put a word's missing letters on the board: which of them are blanks."""
    # Blanks have to stand at least for what the rack lacks, and may stand for more.
    lacking = [(tile, count - letters.count(tile)) for tile, count in Counter(missing).items()]
    lacking = [(tile, count) for tile, count in lacking if count > 0]
    fewest = sum(count for _, count in lacking)
    return [
        tuple(tile | BLANK_FLAG if at in blanked else tile for at, tile in enumerate(missing))
        for count in range(fewest, blanks + 1)
        for blanked in combinations(range(len(missing)), count)
        if all([missing[at] for at in blanked].count(tile) >= lacks for tile, lacks in lacking)
    ]


def _in_line(
    line: list[Square], supply: Supply, dictionary: Dictionary, rules: Any, some_tiles: bool
) -> Iterator[tuple[int, Tiles, int]]:
    """Every placement in a line: its first square, its tiles, its score."""
    for start, end in _spans(line, supply.size, some_tiles):
        squares = line[start:end]
        if len(squares) not in dictionary.of_length:
            continue
        tiles = [PLAYED_THROUGH] * len(squares)
        empty = [at for at, square in enumerate(squares) if not square.tile]
        there = [
            (at, square.tile & ~BLANK_FLAG) for at, square in enumerate(squares) if square.tile
        ]
        words = dictionary.within(len(squares), tuple(there), supply.letters, supply.blanks)
        if not len(words):
            continue
        for word in _fitting(words, squares)[:, empty].tolist():
            for way in supply.ways(bytes(word)):
                for at, tile in zip(empty, way, strict=True):
                    tiles[at] = tile
                yield start, tuple(tiles), _score(tiles, squares, rules)


def _spans(line: list[Square], rack_tiles: int, some_tiles: bool) -> Iterator[tuple[int, int]]:
    """Each first square on which some word might be placed, with the square behind its last."""
    for start in range(len(line)):
        if start > 0 and line[start - 1].tile:
            continue  # the word would be longer
        empty, touches = 0, False
        for end, square in enumerate(line[start:], start + 1):
            empty += not square.tile
            touches |= bool(square.tile or square.crossed) if some_tiles else square.is_start
            if empty > rack_tiles:
                break
            longer = end < len(line) and line[end].tile
            if empty and touches and end - start > 1 and not longer:
                yield start, end


def _fitting(words: Words, squares: list[Square]) -> Words:
    """Those of the words that make words across."""
    for at, square in enumerate(squares):
        if square.crossed and not square.tile:
            words = words[square.allowed[words[:, at]]]
    return words


def _score(tiles: list[int], squares: list[Square], rules: Any) -> int:
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
