"""All that the corpus holds, and the inputs that it is made from."""

from __future__ import annotations

from corpus import (
    champion_games,
    positions,
    siu_conversation,
    static_games,
    tables_played,
)

EVERY = (
    *static_games.ARTEFACTS,
    *champion_games.ARTEFACTS,
    *positions.ARTEFACTS,
    *tables_played.ARTEFACTS,
    *siu_conversation.ARTEFACTS,
)

MAKE_INPUTS = {
    "positions": positions.make_inputs,
    "wire": tables_played.make_inputs,
}
"""What other inputs are made by; a game was put there by hand."""
