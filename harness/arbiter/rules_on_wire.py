"""The rules of a game as the arbiter sends and records them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from engine.rules.rules import NUMBERS, WORDS, Rules, square_name, standard_rules
from lexicons.layout import layout_rows
from protocol.parts import RulesInPlay, TileKind


@lru_cache(maxsize=8)
def rules_on_wire(rules: Rules) -> RulesInPlay:
    """Return the engine's rules as ``new_game`` has them; ``rules_in_play`` reads them again.

    Tiles and board are sent in full unless every bot knows them, so that bots need no files of
    ours. Unknown ones never get a known name, so that a bot that looks at names alone is not
    misled.
    """
    usual, tiles, layout = standard_rules(), rules.distribution, rules.layout
    fields: dict[str, Any] = {
        "name": rules.name[:256],
        "distribution": tiles.name[:256],
        "layout": layout.name[:256],
    }
    for name in (*NUMBERS, *WORDS):
        if getattr(rules, name) != getattr(usual, name):
            fields[name] = getattr(rules, name)
    if tiles != usual.distribution:
        fields["distribution"] = _other_name(tiles.name, usual.distribution.name)
        alphabet = tiles.alphabet
        fields["tiles"] = tuple(
            TileKind(
                letter=alphabet.letters[tile],
                blanked=alphabet.blanked[tile],
                count=tiles.counts[tile],
                points=tiles.points[tile],
                vowel=tiles.vowels[tile],
            )
            for tile in range(len(tiles.counts))
        )
    if layout != usual.layout:
        fields["layout"] = _other_name(layout.name, usual.layout.name)
        fields["board"], fields["start"] = layout_rows(layout), square_name(*layout.start)
    return RulesInPlay(**fields)


def _other_name(name: str, known: str) -> str:
    return f"own-{name}" if name == known else name[:256]
