"""The bag: an order of tiles that nobody can influence and anybody can check afterwards.

The order comes from a pseudo-random function of a secret of the host and a nonce of each seat.
The host publishes ``commitment(secret)`` before it learns the nonces, and the secret when the
game is over; then anybody can recompute every draw. A game that begins in a given position commits
the host to the racks of that position, too.

The function exactly, for reimplementation in any language:

- ``key = HMAC-SHA256(secret, "tilewire draws 1" ‖ SHA-256(nonce₀) ‖ SHA-256(nonce₁))``, the
  nonces by seat, empty where there is none.
- Block ``i`` = 0, 1, 2, … is ``HMAC-SHA256(key, i)`` with ``i`` in eight bytes, big-endian. Each
  block gives eight numbers of 32 bits, big-endian, in order.
- A number below ``n``: take the next ``x``; while ``x ≥ ⌊2³²/n⌋·n`` take the next; the result is
  ``x mod n``.
- The first order: all tiles, without those of a given position, sorted by number (the blank is 0);
  for ``i`` from the last index down to 1 swap the tiles at ``i`` and at a number below ``i + 1``
  (Fisher and Yates, as Durstenfeld 1964 gives it).
- At the start seat 0 draws what its rack lacks, then seat 1; but a seat that a given position gives
  no tile draws before one that it gives some.
- Drawing takes tiles from the front, one after another. In a *mirrored* game seat 1 takes them
  from the back.
- An exchange draws first. Then the tiles given back, sorted by number, go in one after another,
  each before the tile at a number below the count of tiles then in the bag plus 1.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lexicons.alphabet import TileDistribution

from .position import Position, Rack, tiles_of

SECRET_SIZE = 32
"""Bytes of a secret that is committed to."""

_LABEL = b"tilewire draws 1"
_PER_BLOCK = 8
_RANGE = 1 << 32


def commitment(secret: bytes, racks: str | None = None) -> bytes:
    """Return the commitment to a secret: its SHA-256.

    ``racks`` is the field of the racks in the CGP of the position that the game begins in, if one
    is given: its SHA-256 is then appended to the secret.
    """
    racks_digest = b"" if racks is None else hashlib.sha256(racks.encode()).digest()
    return hashlib.sha256(secret + racks_digest).digest()


@dataclass(frozen=True, slots=True)
class DrawStream:
    """The random numbers of one game from ``position`` on; a value, so games can be replayed."""

    secret: bytes = field(repr=False)
    nonces: tuple[bytes, bytes] = (b"", b"")
    position: int = 0  # numbers of 32 bits taken so far

    def below(self, count: int) -> tuple[int, DrawStream]:
        """Return a uniform number from 0 to ``count`` − 1, and the stream after it.

        Raises:
            ValueError: ``count`` is not from 1 to 2³².
        """
        if not 1 <= count <= _RANGE:
            raise ValueError(f"count is {count}; it must be 1 to {_RANGE}")
        fair = _RANGE // count * count
        position = self.position
        nonces = b"".join(hashlib.sha256(nonce).digest() for nonce in self.nonces)
        key = hmac.digest(self.secret, _LABEL + nonces, "sha256")
        while True:
            block, within = divmod(position, _PER_BLOCK)
            digest = hmac.digest(key, block.to_bytes(8, "big"), "sha256")
            number = int.from_bytes(digest[4 * within : 4 * within + 4], "big")
            position += 1
            if number < fair:
                return number % count, replace(self, position=position)

    def shuffled(self, tiles: Iterable[int]) -> tuple[tuple[int, ...], DrawStream]:
        """Return tiles in a uniformly random order, and the stream after it."""
        order, stream = list(tiles), self
        for last in range(len(order) - 1, 0, -1):
            other, stream = stream.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return tuple(order), stream


@dataclass(frozen=True, slots=True)
class Bag:
    """Tiles left, in the order of drawing; if ``mirrored``, seat 1 draws from the back.

    Two games with the same secret and swapped seats then give both players the same luck until
    tiles go back.
    """

    order: tuple[int, ...] = field(repr=False)
    stream: DrawStream
    mirrored: bool = False

    @classmethod
    def shuffled(
        cls,
        distribution: TileDistribution,
        stream: DrawStream,
        *,
        mirrored: bool = False,
        opening: Position | None = None,
    ) -> Bag:
        """Return a bag in random order, full but for the tiles of the opening."""
        tiles = distribution.all_tiles()
        if opening is not None:
            used = Counter(tiles_of(opening.board, opening.racks))
            tiles = tuple(sorted((Counter(tiles) - used).elements()))
        order, stream = stream.shuffled(tiles)
        return cls(order, stream, mirrored)

    def __len__(self) -> int:
        return len(self.order)

    def draw(self, count: int, seat: int) -> tuple[tuple[int, ...], Bag]:
        """Draw up to ``count`` tiles for a seat, returned in the order drawn."""
        count = min(count, len(self.order))
        if self.mirrored and seat == 1:
            remaining = len(self.order) - count
            return self.order[remaining:][::-1], replace(self, order=self.order[:remaining])
        return self.order[:count], replace(self, order=self.order[count:])

    def put_back(self, tiles: Iterable[int]) -> Bag:
        """Return the bag with tiles put back at random places."""
        order, stream = list(self.order), self.stream
        for tile in sorted(tiles):
            index, stream = stream.below(len(order) + 1)
            order.insert(index, tile)
        return replace(self, order=tuple(order), stream=stream)


def dealing_order(held: tuple[Rack, Rack]) -> tuple[int, int]:
    """Return the seats in the order of their first draws, by the racks of a given position.

    A seat without tiles is first: in a late position with an empty bag, of which only the mover's
    rack is given, all tiles left are the other rack.
    """
    return (1, 0) if held[0] and not held[1] else (0, 1)


class DrawError(ValueError):
    """Draws that do not follow from the game's secret; the message says where."""


def check_secret(secret: bytes, racks: str | None, committed: bytes) -> None:
    """Check that a secret and the racks of an opening are what a host committed to.

    With secrets of any length the host could choose between two that fit: one with racks, and one
    without racks that ends in their SHA-256.

    Raises:
        DrawError: they are not, or the secret has the wrong length.
    """
    if len(secret) != SECRET_SIZE:
        raise DrawError(f"a secret has {SECRET_SIZE} bytes, and this one {len(secret)}")
    if commitment(secret, racks) != committed:
        raise DrawError("the secret is not the one that was committed to")
