"""Tasks of an analysis process, as both ends of its pipe know them."""

from __future__ import annotations

import struct

from msgspec import Struct

LENGTH = struct.Struct("<I")
"""Before each message: its length in bytes."""


class AnalysisTask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game or a position to read, a turn of it to analyse or to list moves of; or a word."""

    data: bytes = b""
    """A GCG or a CGP, as it was given."""
    line: int | None = None
    """The line of the score sheet before which to analyse, 0 of a CGP; None: only read it."""
    most: int = 0
    """Most moves to list in place of an analysis; 0: analyse."""
    word: str = ""
    """A word to look up; then the rest does not count."""
    rack: str = ""
    """Tiles whose words are looked up in place of those of the word's."""
    move: str = ""
    """A move to compare with the best, in place of the played one."""
    moves: tuple[str, ...] = ()
    """Moves to compare alone."""
    believes: bool = False
    """Whether to infer the opponent's leave from its last play."""
    threads: int = 1
    seconds: float = 2.0
    rollouts: int | None = None
    """Number of rollouts in place of a time; then the findings are the same everywhere."""
    seed: int = 0
    table: str | None = None
    """The table whose words and rules apply; None: the one whose lexicon the game names."""
