"""Setting a game up: what is written down of it, and where the order of its bag comes from."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from lexicons.store import Lexicon
from protocol.parts import RulesInPlay, TimeControl

from .records import Opened

__all__ = ["Draws", "new_game", "new_game_id"]


@dataclass(frozen=True, slots=True)
class Draws:
    """Where the order of a bag comes from.

    ``committed``: the secret is committed to before the players add their nonces, and opened at
    the end, so that neither side can steer it. ``mirrored``: each seat draws from an end of its
    own, so that the two games of a pair give both players the same luck.
    """

    secret: bytes
    committed: bool
    mirrored: bool = False

    @classmethod
    def fresh(cls) -> Draws:
        """A secret that nobody knows yet: for remote and rated games."""
        return cls(secrets.token_bytes(32), committed=True)

    @classmethod
    def seeded(cls, seed: int, pair: int) -> Draws:
        """The order of a pair's bag from a known seed: for local, trusted matches."""
        secret = hashlib.sha256(f"tilewire pair {pair} of seed {seed}".encode()).digest()
        return cls(secret, committed=False, mirrored=True)


def new_game_id() -> str:
    """Name a game as no other is named."""
    return secrets.token_hex(8)


def new_game(
    players: tuple[str, str],
    lexicon: Lexicon,
    time: TimeControl,
    draws: Draws,
    rules: RulesInPlay | None = None,
    game: str | None = None,
) -> Opened:
    """Write down the setup of a game: the first record of its journal."""
    return Opened(
        game=game or new_game_id(),
        players=players,
        lexicon=lexicon.name,
        lexicon_checksum=lexicon.checksum,
        rules=rules or RulesInPlay(),
        time=time,
        secret=draws.secret.hex(),
        committed=draws.committed,
        mirrored=draws.mirrored,
    )
