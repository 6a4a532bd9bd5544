"""Words looked up: valid or not, hooks, anagrams, and what their tiles are worth as a leave."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from lexicons.alphabet import BLANK, BLANK_FLAG
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

_MOST = 50  # words in a list


def look_up(word: str, rack: str, lexicon: Lexicon, leaves: LeaveTable) -> dict[str, Any]:
    """Look a word up, written as on a board.

    ``anagrams`` are words of all tiles of ``rack``, or else of the word; ``with_blank`` those of
    these tiles and one more letter; at most 50 of each. ``worth`` is what these tiles are worth as
    a leave, in points; None if they are too many.

    Raises:
        ValueError: the text has what is no tile.
    """
    alphabet = lexicon.distribution.alphabet
    letters = [tile & ~BLANK_FLAG for tile in alphabet.tiles(word)]
    tiles = [BLANK if tile & BLANK_FLAG else tile for tile in alphabet.tiles(rack)] or letters
    is_word, all_tiles = lexicon.graph.contains, range(1, len(alphabet) + 1)

    def spelled(length: int) -> list[str]:
        rows = lexicon.word_map.rows
        words = rows[rows[:, -1] == length][:, :length]
        for letter, count in Counter(tiles).items():
            if letter != BLANK:
                words = words[np.count_nonzero(words == letter, axis=1) >= count]
        return sorted({alphabet.text(each) for each in words.tolist()} - {alphabet.text(letters)})

    return {
        "word": alphabet.text(letters),
        "valid": is_word(letters),
        "front": [alphabet.tile_text(tile) for tile in all_tiles if is_word([tile, *letters])],
        "back": [alphabet.tile_text(tile) for tile in all_tiles if is_word([*letters, tile])],
        "anagrams": spelled(len(tiles))[:_MOST],
        "with_blank": spelled(len(tiles) + 1)[:_MOST],
        "worth": leaves.value(tiles) if len(tiles) < leaves.rack_size else None,
    }
