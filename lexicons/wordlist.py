"""Word lists: reading them, packing them into arrays, and their checksums.

A word list is UTF-8 text (a byte order mark, CRLF line ends and combining accents do no harm), one
word per line in any case. Blank lines and lines that begin with ``#`` are left out. Anything else,
such as a definition after a word, is refused with its line number: a misread list costs games
silently.

Many words are kept as a *word matrix*: ``uint8``, one row per word, padded with 0 (no letter).
"""

from __future__ import annotations

import hashlib
import io
import lzma
import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .alphabet import Alphabet
from .arrays import U8
from .kwg import MAX_TILE, MAX_WORD
from .text import decode_text

MOST_BYTES = 256 << 20
"""Limit of the text in a compressed file; a small file may hold gigabytes."""

SHORTEST_WORD = 2  # a single letter is no play

_MOST_CHARACTERS = 16 * MAX_WORD  # letters of several characters stand in brackets
_OLDER_ENCODINGS = ("ISO-8859-2", "CP1250", "ISO-8859-1", "CP1252")
_SHOWN = 20  # characters of a wrong line in an error

WordMatrix: TypeAlias = Annotated[U8, 2]


@dataclass(frozen=True, eq=False)
class WordList:
    """Distinct words; ``matrix`` is sorted by tile numbers."""

    alphabet: Alphabet
    matrix: WordMatrix

    def __len__(self) -> int:
        return len(self.matrix)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        for row in self.matrix.tolist():
            yield tuple(tile for tile in row if tile)

    def text(self) -> str:
        """Return the list as ``checksum`` hashes it: sorted, upper case, brackets, LF line ends."""
        letters = self.alphabet.letters
        if max(map(len, letters)) > 1:
            return "".join(f"{self.alphabet.text(word)}\n" for word in self)
        count, width = self.matrix.shape
        # UTF-32 text of all words at once; the 0 that ends a word becomes its line end.
        padded = np.zeros((count, width + 1), np.uint8)
        padded[:, :width] = self.matrix
        codes = np.array([ord("\n"), *map(ord, letters[1:])], "<u4")[padded]
        lengths = np.count_nonzero(padded, axis=1)
        wanted = np.arange(width + 1) <= lengths[:, np.newaxis]
        text: str = codes[wanted].tobytes().decode("utf-32-le")
        return text

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of ``text()`` in UTF-8, in hexadecimal: the same for any file of these words."""
        return hashlib.sha256(self.text().encode()).hexdigest()


def parse_word_list(content: bytes, alphabet: Alphabet, source: str) -> WordList:
    """Read a word list from a file's content; ``source`` names it in errors.

    The content is text, compressed by xz if ``source`` ends in ``.xz``.

    Raises:
        ValueError: names ``source``, the line and what is wrong with it.
    """
    if source.endswith(".xz"):
        try:
            with lzma.open(io.BytesIO(content)) as file:
                content = file.read(MOST_BYTES + 1)
        except (lzma.LZMAError, EOFError) as error:
            raise ValueError(f"{source}: not a whole xz file ({error})") from None
        if len(content) > MOST_BYTES:
            raise ValueError(f"{source}: more than {MOST_BYTES:,} bytes of text are in it")
    text = unicodedata.normalize("NFC", _decode(content, source, alphabet))
    lines = _Lines([], [])
    for number, line in enumerate(alphabet.upper(text).split("\n"), start=1):
        word = line.strip()
        if word and not word.startswith("#"):
            lines.words.append(word)
            lines.numbers.append(number)
    if not lines.words:
        raise ValueError(f"{source}: no words in it; a word list has one word a line")
    matrix = _read_tiles(lines, alphabet, source)
    rows = _as_strings(matrix)
    order = np.argsort(rows, kind="stable")
    repeats = np.flatnonzero(rows[order[1:]] == rows[order[:-1]])
    if repeats.size:
        row = int(repeats[np.argmin(order[repeats + 1])])
        first, second = int(order[row]), int(order[row + 1])
        raise ValueError(
            f"{source}, line {lines.numbers[second]}: {lines.words[second]!r} is in line "
            f"{lines.numbers[first]} already"
        )
    return WordList(alphabet, np.ascontiguousarray(matrix[order]))


class _Lines(NamedTuple):
    words: list[str]  # upper case
    numbers: list[int]  # of their lines, from 1


def _decode(content: bytes, source: str, alphabet: Alphabet) -> str:
    end = content.find(b"\0")
    if end >= 0:
        line = content.count(b"\n", 0, end) + 1
        raise ValueError(
            f"{source}, line {line}: not text but binary data; a word list is UTF-8 text (and "
            "the name of a word graph ends in .kwg)"
        )
    try:
        return decode_text(content, source)
    except ValueError as error:
        sentence = str(error)
    # Tell how to convert it from the first older encoding in which all its letters are tiles.
    letters = {letter for text in (*alphabet.letters, *alphabet.blanked) for letter in text}
    bytes_beyond_ascii = bytes(sorted({byte for byte in content if byte > 0x7F}))
    for encoding in _OLDER_ENCODINGS:
        with suppress(UnicodeDecodeError):
            if letters.issuperset(bytes_beyond_ascii.decode(encoding).upper()):
                text, convert = source.removesuffix(".xz"), f"iconv -f {encoding} -t UTF-8"
                out = shlex.quote(f"{text.removesuffix('.txt')}.utf-8.txt")
                quoted = shlex.quote(source)
                is_packed = text != source
                command = f"xz -dc {quoted} | {convert}" if is_packed else f"{convert} {quoted}"
                raise ValueError(f"{sentence}; it seems to be {encoding}: {command} > {out}")
    raise ValueError(sentence)


def _read_tiles(lines: _Lines, alphabet: Alphabet, source: str) -> WordMatrix:
    if max(map(len, alphabet.letters)) > 1 or any("[" in word for word in lines.words):
        pairs = zip(lines.words, lines.numbers, strict=True)
        return pack_words([_tiles_of(word, alphabet, f"{source}, line {n}") for word, n in pairs])
    lengths = np.fromiter(map(len, lines.words), np.int64, len(lines.words))
    codes = np.frombuffer("".join(lines.words).encode("utf-32-le"), "<u4")
    tile_of = np.zeros(0x110000, np.uint8)  # by code point
    tile_of[list(map(ord, alphabet.letters[1:]))] = np.arange(1, len(alphabet.letters))
    tiles = tile_of[codes]
    unfit = (lengths < SHORTEST_WORD) | (lengths > MAX_WORD)
    # Words with a letter that is no tile, found by where that letter stands in all words' letters.
    unfit[np.searchsorted(np.cumsum(lengths), np.flatnonzero(tiles == 0), side="right")] = True
    if unfit.any():
        row = int(unfit.argmax())
        # This reads the word on its own, and so raises an error about it.
        _tiles_of(lines.words[row], alphabet, f"{source}, line {lines.numbers[row]}")
    matrix = np.zeros((len(lengths), int(lengths.max())), np.uint8)
    matrix[np.arange(matrix.shape[1]) < lengths[:, np.newaxis]] = tiles
    return matrix


def _tiles_of(word: str, alphabet: Alphabet, where: str) -> tuple[int, ...]:
    first, *behind = word.split()
    if behind:
        raise ValueError(
            f"{where}: {first[:_SHOWN]!r} has something behind it; a line holds one word and no "
            "definition"
        )
    if len(word) > _MOST_CHARACTERS:
        raise ValueError(
            f"{where}: {word[:_SHOWN]!r}… has {len(word):,} characters; a word has {SHORTEST_WORD} "
            f"to {MAX_WORD} letters"
        )
    try:
        tiles = alphabet.word_tiles(word)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if not SHORTEST_WORD <= len(tiles) <= MAX_WORD:
        raise ValueError(
            f"{where}: {word!r} has {len(tiles)} letter{'' if len(tiles) == 1 else 's'}; "
            f"a word has {SHORTEST_WORD} to {MAX_WORD}"
        )
    return tiles


def pack_words(words: Sequence[Sequence[int]]) -> WordMatrix:
    """Put words into a matrix, in their order.

    Raises:
        ValueError: a word has no letters or too many, or a number that is no letter.
    """
    width = max(map(len, words), default=0)
    if width > MAX_WORD:
        raise ValueError(f"a word of {width} letters; {MAX_WORD} are possible")
    matrix = np.zeros((len(words), width), np.uint8)
    for row, word in enumerate(words):
        if not word or min(word) < 1 or max(word) > MAX_TILE:
            raise ValueError(f"word {row} is {tuple(word)}; letters are numbered 1 to {MAX_TILE}")
        matrix[row, : len(word)] = word
    return matrix


def sorted_words(words: WordMatrix) -> WordMatrix:
    """Return the distinct words, sorted by tile numbers; raises as ``pack_words``."""
    count, width = words.shape
    if not count:
        return np.zeros((0, 0), np.uint8)
    letters = words != 0
    gaps = (letters[:, 1:] & ~letters[:, :-1]).any(axis=1) | ~letters[:, 0]
    if width > MAX_WORD or gaps.any() or int(words.max()) > MAX_TILE:
        raise ValueError(
            f"a word is 1 to {MAX_WORD} letters numbered 1 to {MAX_TILE}, and zeros behind them"
        )
    return np.unique(_as_strings(words)).view(np.uint8).reshape(-1, width)


def _as_strings(words: WordMatrix) -> npt.NDArray[np.bytes_]:
    """View rows as byte strings, which numpy sorts, ignoring zeros at the end."""
    return np.ascontiguousarray(words).view(f"S{words.shape[1]}").ravel()
