"""The best opening plays: the highest scores of a first move, over all racks that a bag can give.

Every word is tried on every run of squares that covers the start. The bag is full, so a rack may
hold any letters that the bag has, and blanks for those that it lacks. Blanks score nothing, and
stand where that costs least. No letter's points are negative, so a blank in place of a letter that
the bag has never helps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Annotated, Any, NamedTuple

import numpy as np

from .alphabet import BLANK, BLANK_FLAG, Alphabet, TileDistribution
from .arrays import I32, I64, U8, U32, highest
from .jit import helper, kernel
from .layout import BoardLayout

_IMPOSSIBLE = -1
_COLUMNS = ascii_uppercase


@dataclass(frozen=True)
class OpeningPlay:
    """A word's best opening plays; a blank's letter is lower case.

    ``squares`` are the first squares of these plays: ``8D`` is across from row 8, column D, ``D8``
    down from there. ``play`` is on the first; on the others a blank may be elsewhere in the word.
    """

    score: int
    play: str
    squares: tuple[str, ...]


@dataclass(frozen=True)
class OpeningPlays:
    """The best plays, and the number of further words that score as much as the last of them."""

    plays: tuple[OpeningPlay, ...]
    more: int


class _Run(NamedTuple):
    """Squares in a row that cover the start."""

    square: str
    letters: tuple[int, ...]  # the multiplier of each square
    word: int


class _Tried(NamedTuple):
    """Words of one length, scored on every run of that length."""

    words: U8  # [words, length]
    runs: list[_Run]
    scores: I32  # [words, runs] -1 if the bag lacks the letters
    blanks: U32  # [words, runs] bit masks of the blanks' places


def best_openings(
    words: U8,
    distribution: TileDistribution,
    layout: BoardLayout,
    rack_size: int,
    bonus: int,
    top: int,
) -> OpeningPlays:
    """Return the words, given as rows of ``spell_words``, that open with the highest scores.

    ``bonus`` is for a play of ``rack_size`` tiles.
    """
    tried = []
    for length in range(2, rack_size + 1):
        if runs := list(_runs(layout, length)):
            of_length = words[words[:, -1] == length, :length]
            scores = np.full((len(of_length), len(runs)), _IMPOSSIBLE, np.int32)
            blanks = np.zeros(scores.shape, np.uint32)
            _score(
                of_length,
                np.array([run.letters for run in runs]),
                np.array([run.word for run in runs]),
                np.array(distribution.counts),
                np.array(distribution.points),
                bonus if length == rack_size else 0,
                scores,
                blanks,
            )
            tried.append(_Tried(of_length, runs, scores, blanks))
    best = np.concatenate([each.scores.max(axis=1) for each in tried] or [np.zeros(0)])
    ends = np.cumsum([len(each.words) for each in tried])
    shown = [index for index in highest(best, top) if best[index] > _IMPOSSIBLE]
    plays = []
    for index in shown:
        table = int(np.searchsorted(ends, index, side="right"))
        row = index - int(ends[table]) + len(tried[table].words)
        plays.append(_play(tried[table], row, distribution.alphabet))
    last = best[shown[-1]] if shown else np.inf
    more = np.count_nonzero(best == last) - np.count_nonzero(best[shown] == last)
    return OpeningPlays(tuple(plays), int(more))


def _runs(layout: BoardLayout, length: int) -> Iterator[_Run]:
    """Yield the runs of ``length`` squares that cover the start, across and down."""
    letters = np.array(layout.letter_multipliers).reshape(layout.rows, layout.columns)
    words = np.array(layout.word_multipliers).reshape(layout.rows, layout.columns)
    row, column = layout.start
    for line, middle in ((0, column), (1, row)):
        in_line = letters[:, column] if line else letters[row]
        word_line = words[:, column] if line else words[row]
        for first in range(max(0, middle - length + 1), min(middle, len(in_line) - length) + 1):
            run = slice(first, first + length)
            yield _Run(
                f"{_COLUMNS[column]}{first + 1}" if line else f"{row + 1}{_COLUMNS[first]}",
                tuple(in_line[run].tolist()),
                int(word_line[run].prod()),
            )


@kernel
def _score(
    words: Annotated[U8, 2],
    letters: Annotated[I64, 2],
    word: I64,
    counts: I64,
    points: I64,
    bonus: int,
    scores: Annotated[I32, 2],
    blanks: Annotated[U32, 2],
) -> None:
    """Score each word on each run; ``scores`` and ``blanks`` are modified in place.

    ``letters`` [runs, length] and ``word`` [runs] are multipliers.
    """
    for row in range(len(words)):
        lacking = _lacking(words[row], counts)
        if lacking > counts[BLANK]:
            continue
        for run in range(len(letters)):
            if lacking:
                blanks[row, run] = _blanks(words[row], letters[run], counts)
            score = 0
            for at in range(len(words[row])):
                if not blanks[row, run] >> np.uint32(at) & np.uint32(1):
                    score += points[words[row, at]] * letters[run, at]
            scores[row, run] = score * word[run] + bonus


@helper
def _lacking(word: Any, counts: Any) -> Any:
    """Count the letters that the bag lacks for a word."""
    lacking = 0
    for at in range(len(word)):
        if np.sum(word[: at + 1] == word[at]) > counts[word[at]]:
            lacking += 1
    return lacking


@helper
def _blanks(word: Any, multipliers: Any, counts: Any) -> Any:
    """Return a bit mask of the blanks' places: where their letters would count least."""
    blanks = np.uint32(0)
    for at in range(len(word)):
        if np.sum(word[: at + 1] == word[at]) > counts[word[at]]:
            least = -1
            for place in range(len(word)):
                free = word[place] == word[at] and not blanks >> np.uint32(place) & np.uint32(1)
                if free and (least < 0 or multipliers[place] < multipliers[least]):
                    least = place
            blanks |= np.uint32(1) << np.uint32(least)
    return blanks


def _play(tried: _Tried, row: int, alphabet: Alphabet) -> OpeningPlay:
    scores = tried.scores[row]
    best = np.flatnonzero(scores == scores.max()).tolist()
    blanks = int(tried.blanks[row, best[0]])
    tiles = [
        letter | BLANK_FLAG * (blanks >> index & 1)
        for index, letter in enumerate(tried.words[row].tolist())
    ]
    return OpeningPlay(
        int(scores.max()), alphabet.text(tiles), tuple(tried.runs[run].square for run in best)
    )
