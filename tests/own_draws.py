"""The draws of a game, computed from the text of ``protocol/SPEC.md`` and nothing of ours."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from hashlib import sha256


def key_of(secret: bytes, nonces: tuple[bytes, bytes]) -> bytes:
    text = b"tilewire draws 1" + sha256(nonces[0]).digest() + sha256(nonces[1]).digest()
    return hmac.new(secret, text, sha256).digest()


def numbers(secret: bytes, nonces: tuple[bytes, bytes]) -> Iterator[int]:
    key, block = key_of(secret, nonces), 0
    while True:
        digest = hmac.new(key, block.to_bytes(8, "big"), sha256).digest()
        yield from (int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4))
        block += 1


def below(count: int, source: Iterator[int]) -> int:
    fair = 2**32 // count * count
    return next(number for number in source if number < fair) % count


def order_of(tiles: str, source: Iterator[int]) -> list[str]:
    """Shuffle tiles that come in the order of the specification: blanks first, then A to Z."""
    order = list(tiles)
    for last in range(len(order) - 1, 0, -1):
        other = below(last + 1, source)
        order[last], order[other] = order[other], order[last]
    return order


def put_back(tiles: str, bag: list[str], source: Iterator[int]) -> None:
    for tile in sorted(tiles):  # '?' sorts before the letters, as the specification wants
        bag.insert(below(len(bag) + 1, source), tile)
