"""The slow twin of the move generator: every placement, found by trying every word everywhere.

It shares nothing with ``engine.kernels`` and ``engine.rules.rules``: no word graph, no anchors, no
cross-sets, a scorer of its own. For each line, each start and each word it asks what the rules
ask: is the word on the board's squares, does it agree with the tiles there, does it end where
tiles end, is something placed, does the rack have it, does it touch a tile (or cover the start
square), are the words across it words? numpy asks this of all words of a length on all runs of so
many squares at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.rules.moves import PLAYED_THROUGH, Direction, Place
from lexicons.alphabet import BLANK, BLANK_FLAG

TILES = 64
ANY_LETTER = 2**TILES - 1
Words: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Masks: TypeAlias = npt.NDArray[np.uint64]  # of tiles, a bit each
Tiles: TypeAlias = tuple[int, ...]


class Dictionary:
    """A word list: a set to look words up in, and a table of tile numbers.

    The table has the shorter words first; behind a word its row is 0.
    """

    def __init__(self, words: Iterable[tuple[int, ...]]) -> None:
        self.known = {bytes(word) for word in words}
        self.kinds = max((max(word) for word in self.known if word), default=0) + 1
        in_order = sorted(self.known, key=lambda word: (len(word), word))
        lengths = [len(word) for word in in_order]
        self.of_length = {  # which words are of a length
            length: slice(bisect_left(lengths, length), bisect_right(lengths, length))
            for length in sorted(set(lengths))
        }
        self.longest = max(lengths, default=1)
        table = b"".join(word.ljust(self.longest, b"\0") for word in in_order)
        self.words = np.frombuffer(table, np.uint8).reshape(len(lengths), self.longest)
        # How often each tile is in each word.
        self.counts = np.zeros((len(lengths), self.kinds), np.int8)
        for column in self.words.T:
            self.counts[np.arange(len(lengths)), column] += column > 0
        self.masks = _masks(self.counts)
        # The next line, or the next position of a game, asks the same again.
        self._having = cache(self._look_through)
        self.crossings = lru_cache(maxsize=1 << 12)(self._cross)
        self._letters_between = lru_cache(maxsize=1 << 14)(self._try_letters)

    def __contains__(self, word: Iterable[int]) -> bool:
        return bytes(tile & ~BLANK_FLAG for tile in word) in self.known

    def agreeing(self, there: bytes) -> Ints:
        """The numbers of the words that have the rarest of some letters at its place.

        ``there`` is a letter for each place of the word; 0 is any.
        """
        having = [self._having(len(there), at, letter) for at, letter in enumerate(there) if letter]
        return min(having, key=len)

    def _look_through(self, length: int, at: int, letter: int) -> Ints:
        of_length = self.of_length[length]
        return of_length.start + np.flatnonzero(self.words[of_length, at] == letter)

    def _cross(self, line: bytes, points: tuple[int, ...]) -> tuple[list[bool], list[int], Masks]:
        """What a line of tiles means for words across it, by square.

        That is: whether a tile lies beside the square, the points of the tiles that cross there,
        and, on an empty square, which letters make a word of them.
        """
        crossed, crossing_points = [False] * len(line), [0] * len(line)
        allowed = np.full(len(line), ANY_LETTER, np.uint64)
        for at, tile in enumerate(line):
            before = line[:at].rpartition(b"\0")[2]
            after = line[at + 1 :].partition(b"\0")[0]
            if before or after:
                crossed[at] = True
                crossing_points[at] = sum(
                    points[BLANK if tile & BLANK_FLAG else tile] for tile in before + after
                )
                if not tile:
                    allowed[at] = self._letters_between(before, after)
        return crossed, crossing_points, allowed

    def _try_letters(self, before: bytes, after: bytes) -> int:
        """The letters that make a word between tiles, a bit each."""
        first, last = (bytes(tile & ~BLANK_FLAG for tile in tiles) for tiles in (before, after))
        words = [first + bytes([letter]) + last for letter in range(TILES)]
        return sum(1 << letter for letter, word in enumerate(words) if word in self.known)


class Placements(NamedTuple):
    """Placements as arrays."""

    directions: Ints
    rows: Ints
    columns: Ints
    lengths: Ints  # of the main word
    tiles: Words  # a row each, as in ``Place`` as far as the word goes
    scores: Ints


SQUARE = np.dtype(
    [
        ("direction", np.int64),  # of the line that this is a square of
        ("row", np.int64),
        ("column", np.int64),
        ("is_wall", np.bool_),
        ("is_empty", np.bool_),
        ("letter", np.uint8),  # that lies there, or 0
        ("points", np.int64),  # of the tile there
        ("letter_multiplier", np.int64),
        ("word_multiplier", np.int64),
        ("touches", np.bool_),  # a word over it may be placed
        ("crossed", np.bool_),  # a tile lies beside it, across the line
        ("crossing_points", np.int64),  # of the tiles that cross here
        ("allowed", np.uint64),  # letters, a bit each: the word across is one
    ]
)
Squares: TypeAlias = npt.NDArray[Any]  # of ``SQUARE``


def placements(board: Words, rack: Tiles, dictionary: Dictionary, rules: Any) -> dict[Place, int]:
    """Every placement with its score, each once; a single tile both ways is across only.

    ``board`` has the board's tiles, rows × columns.
    """
    found: dict[Place, int] = {}
    for group in placement_arrays(board, rack, dictionary, rules):
        entries = zip(*(field.tolist() for field in group), strict=True)
        for direction, row, column, length, tiles, score in entries:
            place = Place(row, column, Direction(direction), tuple(tiles[:length]))
            assert place not in found
            found[place] = score
    return found


def placement_arrays(
    board: Words, rack: Tiles, dictionary: Dictionary, rules: Any
) -> Iterator[Placements]:
    """Every placement as ``placements`` has it, in arrays."""
    spans = _spans(board, len(rack), dictionary, rules)
    span, word, missing = _words_on(spans, rack, dictionary)
    placed = spans["is_empty"]
    # Blanks have to stand for the letters missing, and may stand for more.
    for count in range(rack.count(BLANK) + 1):
        for blanked in map(list, combinations(range(spans.shape[1]), count)):
            can = np.flatnonzero(np.all(placed[:, blanked], axis=1)[span])
            still_missing = missing[can]
            for at in blanked:
                still_missing[np.arange(len(can)), dictionary.words[word[can], at]] -= 1
            can = can[np.all(still_missing <= 0, axis=1)]
            on = spans.take(span[can], axis=0)
            tiles = np.where(on["is_empty"], dictionary.words[word[can]], PLAYED_THROUGH)
            tiles[:, blanked] |= BLANK_FLAG
            first, lengths = on[:, 0], (~on["is_wall"]).sum(axis=1)
            where = first["direction"], first["row"], first["column"]
            yield Placements(*where, lengths, tiles, _scores(tiles, on, rules))


def _spans(board: Words, rack_tiles: int, dictionary: Dictionary, rules: Any) -> Squares:
    """The spans on which some word might be placed: spans × squares, filled up with walls."""
    lines = np.concatenate([_lines(board, each, dictionary, rules) for each in Direction])
    has_tile = lines["letter"] != 0
    so_far = np.cumsum([lines["is_empty"], lines["is_wall"], lines["touches"]], axis=1)
    spans = []
    for length in dictionary.of_length:
        if 2 <= length <= max(board.shape):
            # From the second square on: the first is a wall.
            empty, walls, touching = so_far[:, length:-1] - so_far[:, : -length - 1]
            longer = has_tile[: -length - 1] | has_tile[length + 1 :]
            fits = (empty >= 1) & (empty <= rack_tiles) & (walls == 0) & (touching > 0) & ~longer
            starts = 1 + np.flatnonzero(fits)
            squares = np.zeros((len(starts), dictionary.longest), np.int64)
            squares[:, :length] = starts[:, None] + np.arange(length)
            spans.append(squares)
    nothing = np.empty((0, dictionary.longest), np.int64)
    found = lines.take(np.concatenate([nothing, *spans]))  # of records, quicker than an index
    # A single tile that makes a word both ways is across.
    single = found["is_empty"].sum(axis=1) == 1
    both_ways = single & (found["is_empty"] & found["crossed"]).any(axis=1)
    once = ~both_ways | (found["direction"][:, 0] == Direction.ACROSS)
    return found.take(np.flatnonzero(once), axis=0)


def _lines(board: Words, direction: Direction, dictionary: Dictionary, rules: Any) -> Squares:
    """The squares of all lines in a direction, one line after another, each between walls."""
    layout, points = rules.layout, rules.distribution.points
    squares = np.zeros(board.shape, SQUARE)
    squares["direction"] = direction
    squares["row"], squares["column"] = np.indices(board.shape)
    squares["is_empty"] = board == 0
    squares["letter"] = board & ~np.uint8(BLANK_FLAG)
    squares["points"] = np.where(board, _points(board, rules), 0)
    squares["letter_multiplier"] = np.reshape(layout.letter_multipliers, board.shape)
    squares["word_multiplier"] = np.reshape(layout.word_multipliers, board.shape)
    squares["touches"] = board != 0
    squares["touches"][layout.start] |= not board.any()
    if direction is Direction.DOWN:
        squares, board = squares.T, board.T
    for at, across in enumerate(board.T):
        crossed, crossing_points, allowed = dictionary.crossings(across.tobytes(), points)
        squares["crossed"][:, at] = crossed
        squares["crossing_points"][:, at] = crossing_points
        squares["allowed"][:, at] = allowed
    squares["touches"] |= squares["crossed"]
    wall = np.zeros((len(squares), 1), SQUARE)
    wall["is_wall"] = True
    wall["allowed"] = ANY_LETTER
    return np.hstack([wall, squares, wall]).ravel()


def _words_on(
    spans: Squares, rack: Tiles, dictionary: Dictionary
) -> tuple[Ints, Ints, npt.NDArray[np.int8]]:
    """Each span and word that can be placed there, and which of its letters blanks stand for."""
    blanks = rack.count(BLANK)
    letters = np.bincount([tile for tile in rack if tile != BLANK], minlength=TILES)
    # What the words of each span are made of, blanks apart: the letters there, and the rack.
    keys = np.arange(len(spans))[:, None] * TILES + spans["letter"]
    supplied = np.bincount(keys.ravel(), minlength=len(spans) * TILES).reshape(-1, TILES) + letters
    supplied = supplied[:, : dictionary.kinds].astype(np.int8)

    # Those that agree with a letter there ...
    free = {
        length: words.start
        + np.flatnonzero(np.bitwise_count(dictionary.masks[words] & ~_masks(letters)) <= blanks)
        for length, words in dictionary.of_length.items()
        if length <= len(rack)
    }
    nothing = bytes(dictionary.longest)
    letters_there = [line.tobytes() for line in spans["letter"]]
    lengths = (~spans["is_wall"]).sum(axis=1).tolist()
    fitting = [
        free[length] if there == nothing else dictionary.agreeing(there[:length])
        for there, length in zip(letters_there, lengths, strict=True)
    ]
    sizes = list(map(len, fitting))
    word = np.concatenate([np.empty(0, np.int64), *fitting])
    # ... of no more kinds of other letters than there are blanks, which is quicker ...
    lacked = np.repeat(~_masks(supplied), sizes)
    few = np.bitwise_count(dictionary.masks[word] & lacked) <= blanks
    span, word = np.repeat(np.arange(len(spans)), sizes)[few], word[few]
    # ... and of no more other letters at all ...
    missing = np.maximum(dictionary.counts[word] - supplied[span], 0)
    few = missing.sum(axis=1) <= blanks
    span, word, missing = span[few], word[few], missing[few]
    # ... that have all the letters there, and make words across.
    there = spans["letter"][span]
    agrees = ((there == dictionary.words[word]) | (there == 0)).all(axis=1)
    across = spans["allowed"][span] >> dictionary.words[word].astype(np.uint64) & np.uint64(1)
    can = agrees & across.all(axis=1)
    return span[can], word[can], missing[can]


def _masks(counts: npt.NDArray[Any]) -> Masks:
    """Which tiles there are, a bit each; ``counts`` are by tile, on the last axis."""
    bits = np.uint64(1) << np.arange(counts.shape[-1], dtype=np.uint64)
    masks: Masks = ((counts > 0) * bits).sum(axis=-1, dtype=np.uint64)
    return masks


def _scores(tiles: Words, spans: Squares, rules: Any) -> Ints:
    """The rules' words: premium squares count once, under a tile just placed, in each word it
    makes; letters first, then words; placing a full rack earns the bonus.
    """
    placed = spans["is_empty"]
    points = _points(tiles, rules) * spans["letter_multiplier"]
    main = np.where(placed, points, spans["points"]).sum(axis=1)
    main *= np.where(placed, spans["word_multiplier"], 1).prod(axis=1)
    across = (points + spans["crossing_points"]) * spans["word_multiplier"]
    main += np.where(placed & spans["crossed"], across, 0).sum(axis=1)
    scores: Ints = main + np.where(placed.sum(axis=1) == rules.rack_size, rules.bingo_bonus, 0)
    return scores


def _points(tiles: Words, rules: Any) -> Ints:
    points: Ints = np.array(rules.distribution.points)[
        np.where(tiles & BLANK_FLAG, BLANK, tiles & ~np.uint8(BLANK_FLAG))
    ]
    return points
