"""Setting up a game: its first record and its draws."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from lexicons.store import Lexicon
from protocol.parts import RulesInPlay, TimeControl

from .records import Opened

__all__ = ["Draws", "new_game"]


@dataclass(frozen=True, slots=True)
class Draws:
    """The source of a bag's order.

    ``committed``: the host commits to the secret before the players add their nonces, and opens it
    at the end, so neither side can steer the draws. ``mirrored``: each seat draws from its own end,
    so both games of a pair give both players the same luck.
    """

    secret: bytes
    committed: bool
    mirrored: bool = False

    @classmethod
    def fresh(cls) -> Draws:
        """Return draws from a fresh secret: for remote and rated games."""
        return cls(secrets.token_bytes(32), committed=True)

    @classmethod
    def seeded(cls, seed: int, pair: int) -> Draws:
        """Return the draws of a pair of games from a known seed: for local, trusted matches."""
        secret = hashlib.sha256(f"tilewire pair {pair} of seed {seed}".encode()).digest()
        return cls(secret, committed=False, mirrored=True)


def new_game(
    players: tuple[str, str],
    lexicon: Lexicon,
    time: TimeControl,
    draws: Draws,
    rules: RulesInPlay | None = None,
    game: str | None = None,
) -> Opened:
    """Return a game's setup, the first record of its journal; by default with a fresh id."""
    return Opened(
        game=game or secrets.token_hex(8),
        players=players,
        lexicon=lexicon.name,
        lexicon_checksum=lexicon.checksum,
        rules=rules or RulesInPlay(),
        time=time,
        secret=draws.secret.hex(),
        committed=draws.committed,
        mirrored=draws.mirrored,
    )
