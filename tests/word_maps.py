"""Have a process lay out the words of a graph once, however often its commands load them."""

from __future__ import annotations

from hashlib import sha256

import lexicons.word_map
from lexicons.search_graph import SearchNodes
from lexicons.word_map import WordMap

_lay_out = lexicons.word_map.word_map
_made: dict[tuple[str, int, int], WordMap] = {}


def share_word_maps() -> None:
    """Have lexicons that are loaded from now on share what is read-only, and 0.1 s of work each."""
    lexicons.word_map.word_map = _shared


def _shared(nodes: SearchNodes, letters: int, longest: int) -> WordMap:
    key = sha256(nodes.tobytes()).hexdigest(), letters, longest
    if key not in _made:
        _made[key] = _lay_out(nodes, letters, longest)
    return _made[key]
