"""Tiles: their numbers, their text, and how many of each a game has.

A tile is a small integer everywhere but at the edges of the program: ``BLANK`` (0) is the blank,
1, 2, … are the letters in the order of the distribution file. On the board a blank that stands
for letter ``n`` is ``n | BLANK_FLAG``; an empty square is ``EMPTY`` (0), which is no letter.

In text a letter is upper case, a blank that stands for it lower case, an unused blank ``?``, and a
tile of several characters stands in square brackets: ``[CH]``, ``[ch]``.

The file format is the one other engines use: CSV with one row per tile, in the order of tile
numbers, the blank first: ``letter,blanked form,count,points,vowel``. Lines that begin with ``#``
are comments.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from .text import embedded_names, read_named, shown

BLANK = 0
BLANK_FLAG = 0x80
EMPTY = 0
MAX_LETTERS = 63  # six bits per tile: the limit of the widest word graph layout
TILES_OPTIONS = "--rules or --distribution"
"""Options that choose the tiles of a command that plays or reads words."""
_MOST_TILES = 500  # in a bag: what kernels have room for; the largest set sold has 200
_MOST_POINTS = 99
_LONGEST_TILE = 4  # characters; game offers to bots allow no longer tiles
_UNREADABLE = re.compile(r"[\[\]()/\s\x00-\x1f\x7f-\x9f;,.]|^[0-9?+-]$")


@dataclass(frozen=True)
class Alphabet:
    """The letters of a language, numbered from 1; number 0 is the blank.

    ``letters[n]`` is the upper-case text of tile ``n``, ``blanked[n]`` the text of a blank for it.
    """

    letters: tuple[str, ...]
    blanked: tuple[str, ...]

    def __len__(self) -> int:
        """Count the letters, without the blank."""
        return len(self.letters) - 1

    @cached_property
    def _tile_of(self) -> dict[str, int]:
        table = {text: number for number, text in enumerate(self.letters)}
        for number, text in enumerate(self.blanked[1:], start=1):
            table.setdefault(text, number | BLANK_FLAG)
        return table

    @cached_property
    def _longest(self) -> int:
        return max(len(text) for text in self._tile_of)

    @cached_property
    def _letter_of(self) -> dict[int, str]:
        """Letters that ``str.upper`` does not make of their blanked form, by its code point."""
        pairs = zip(self.blanked[1:], self.letters[1:], strict=True)
        return {ord(low): up for low, up in pairs if len(low) == 1 and low.upper() != up}

    def upper(self, text: str) -> str:
        """Return text in upper case, with the tiles' own capitals: Turkish i becomes İ."""
        return text.translate(self._letter_of).upper()

    def tile_text(self, tile: int) -> str:
        """Return a tile as text."""
        names = self.blanked if tile & BLANK_FLAG else self.letters
        text = names[tile & ~BLANK_FLAG]
        return text if len(text) == 1 else f"[{text}]"

    def text(self, tiles: Iterable[int]) -> str:
        """Return tiles as text: ``QUA[CH]e?``."""
        return "".join(map(self.tile_text, tiles))

    def tiles(self, text: str) -> tuple[int, ...]:
        """Read tiles from text.

        Raises:
            ValueError: at a character that is no tile; says which and where.
        """
        numbers: list[int] = []
        at = 0
        while at < len(text):
            name, after = text[at], at + 1
            if name == "[":
                end = text.find("]", at)
                if end < 0:
                    raise ValueError(f"'[' at character {at + 1} of {shown(text)} is never closed")
                name, after = text[at + 1 : end], end + 1
            tile = self._tile_of.get(name)
            if tile is None:
                raise ValueError(
                    f"{shown(name)} at character {at + 1} of {shown(text)} is not a tile"
                    + _remedy(name, self.letters)
                )
            numbers.append(tile)
            at = after
        return tuple(numbers)

    def word_tiles(self, word: str) -> tuple[int, ...]:
        """Read a word of a word list, in any case, the longest tile first where two fit.

        A word with brackets, as ``text`` writes it, is read as by ``tiles``.

        Raises:
            ValueError: at a character that no letter begins with; says which and where.
        """
        upper = self.upper(word)
        if "[" in upper:
            tiles = self.tiles(upper)
            if BLANK in tiles:
                raise ValueError(f"'?' in {word!r} is not a letter")
            return tiles
        numbers: list[int] = []
        at = 0
        while at < len(upper):
            for length in range(min(self._longest, len(upper) - at), 0, -1):
                tile = self._tile_of.get(upper[at : at + length], 0)
                if 0 < tile < BLANK_FLAG:
                    numbers.append(tile)
                    at += length
                    break
            else:
                raise ValueError(
                    f"{upper[at]!r} at character {at + 1} of {word!r} is not a letter"
                    + _remedy(upper[at], self.letters)
                )
        return tuple(numbers)


def _remedy(name: str, known: Iterable[str]) -> str:
    """Return advice, for the end of an error, on a letter that is no tile; empty for other text."""
    letter = name.upper()
    if not letter.isalpha():
        return ""
    if others := _tile_sets_with(letter):
        return f"; it is a tile of {', '.join(others)} ({TILES_OPTIONS})"
    base = unicodedata.normalize("NFD", letter)[0]
    if base != letter and base in known:
        return f"; these tiles have {base} for it"
    return "; no tile set here has it (a file of tiles can: --distribution FILE)"


@lru_cache(maxsize=256)  # bounded, since strangers choose the letters
def _tile_sets_with(letter: str) -> tuple[str, ...]:
    """Name the embedded tile sets with a letter."""
    names = sorted(embedded_names(".csv"))
    return tuple(name for name in names if letter in load_distribution(name).alphabet.letters)


@dataclass(frozen=True)
class TileDistribution:
    """Counts, points and vowels of a game's tiles, indexed by tile number."""

    name: str
    alphabet: Alphabet
    counts: tuple[int, ...]
    points: tuple[int, ...]
    vowels: tuple[bool, ...]

    @property
    def total(self) -> int:
        """Count the tiles of a full bag."""
        return sum(self.counts)

    def all_tiles(self) -> tuple[int, ...]:
        """List a full bag's tiles, sorted by number."""
        return as_tiles(self.counts)

    def value(self, tiles: Iterable[int]) -> int:
        """Add up the points of tiles; a used blank counts as a blank."""
        return sum(self.points[BLANK if tile & BLANK_FLAG else tile] for tile in tiles)


def as_tiles(counts: Sequence[int]) -> tuple[int, ...]:
    """List tiles in sorted order, given the count of each by tile number."""
    return tuple(tile for tile, count in enumerate(counts) for _ in range(count))


def load_distribution(name_or_path: str | Path = "english") -> TileDistribution:
    """Read an embedded tile distribution by name, or a CSV file.

    Raises:
        ValueError: names the file, the line and what is wrong with it.
        FileNotFoundError: neither an embedded name nor a file.
    """
    form = "a CSV file with a row for each tile: letter,blanked form,count,points,vowel (0 or 1)"
    return parse_distribution(*read_named(name_or_path, ".csv", "tile distribution", form))


def parse_distribution(name: str, text: str, source: str) -> TileDistribution:
    """Read a tile distribution from CSV text; ``source`` names it in errors (ValueError)."""
    text = unicodedata.normalize("NFC", text)  # as word lists are
    lines = ["" if line.startswith("#") else line for line in text.splitlines()]
    reader = csv.reader(lines)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"{source} is no table of tiles: {error}") from None
    tiles: list[tuple[str, str, int, int, bool]] = []
    for number, row in rows:
        where = f"{source}, line {number}"
        if len(row) != 5:
            raise ValueError(
                f"{where}: {len(row)} fields; a row is letter,blanked,count,points,vowel"
            )
        try:
            count, value, vowel = (int(field) for field in row[2:])
        except ValueError:
            raise ValueError(f"{where}: count, points and vowel are whole numbers") from None
        in_range = 0 <= count <= _MOST_TILES and 0 <= value <= _MOST_POINTS and vowel in (0, 1)
        if not in_range:
            raise ValueError(
                f"{where}: a count is 0 to {_MOST_TILES}, points are 0 to {_MOST_POINTS} and "
                "vowel is 0 or 1"
            )
        tiles.append((row[0], row[1], count, value, bool(vowel)))
    if not tiles or tiles[0][0] != "?":
        raise ValueError(f"{source}: the blank, written ?, is the first tile")
    letters, blanked, counts, points, vowels = zip(*tiles, strict=True)
    if not 1 < len(letters) <= MAX_LETTERS + 1:
        raise ValueError(f"{source}: {len(letters) - 1} letters; 1 to {MAX_LETTERS} are possible")
    if sum(counts) > _MOST_TILES:
        raise ValueError(f"{source}: {sum(counts)} tiles; a bag holds {_MOST_TILES} at most")
    seen = [*letters[1:], *blanked[1:]]
    if len(set(seen)) != len(seen) or not all(seen):
        raise ValueError(f"{source}: every letter and every blanked form is written differently")
    if wrong := next((text for text in seen if len(text) > _LONGEST_TILE), None):
        raise ValueError(f"{source}: {wrong!r} has over {_LONGEST_TILE} characters")
    if wrong := next((text for text in seen if _UNREADABLE.search(text)), None):
        raise ValueError(
            f"{source}: {wrong!r} can't be a tile's text, which has no brackets, spaces, digits or "
            "signs that moves and positions are written with"
        )
    return TileDistribution(name, Alphabet(letters, blanked), counts, points, vowels)
