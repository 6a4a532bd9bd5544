"""Who has a name: claims by a token, those that were not used yet, and entrants without a token.

A claim stays for good once its name has played; until then it expires, and those of one network may
only be a share of all. In a tournament a name without a token belongs to the address that it first
came from. What is kept of an address is a hash with a key of the journal.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from harness.arbiter.journal import Journal

from .admission import block_of, network_of
from .names import looks

_KEEP_KEY = "INSERT INTO state VALUES ('origins', ?) ON CONFLICT (key) DO NOTHING"
_KEEP = (
    "INSERT INTO origins VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE "
    "SET block = excluded.block, at = excluded.at"
)
_DROP = "DELETE FROM origins WHERE name = ?"


class _Origin(NamedTuple):
    block: str
    """A hash of the network that claimed the name, or of the address that first came with it."""
    at: float
    """When; seconds since 1970."""


class Claims:
    """The claims of names, and where they came from, which the journal keeps."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        stored = journal.rows("SELECT value FROM state WHERE key = 'origins'")
        self._hash_key = str(stored[0][0]) if stored else secrets.token_hex(16)
        if not stored:
            journal.change_soon((_KEEP_KEY, (self._hash_key,)))
        self.event = self._hashed("event")[:16]
        """The public id of what is played in this journal; it follows from the key, and so is the
        same after a restart."""
        rows = journal.rows("SELECT name, block, at FROM origins ORDER BY at")
        self._origins = {name: _Origin(block, at) for name, block, at in rows}
        """By name; that of a claim is dropped once its name has played a game."""
        self._unused = Counter(
            origin.block for name, origin in self._origins.items() if self._is_claim(name)
        )
        self._looks: dict[str, str] = {}
        """Claimed names by what they look like."""
        for name in journal.claimed_names():
            self._add_looks(name)

    def unused(self, address: str) -> int:
        """Return how many names the network of an address has claimed and not used."""
        return self._unused[self._hashed(network_of(address))]

    async def claim(self, name: str, hashed: str, address: str | None) -> None:
        """Claim a name for the holder of a token; with an address, until it expires unused.

        Raises:
            JournalError: the claim can't be written.
        """
        if address is None:
            await self._journal.claim_name(name, hashed, (_DROP, (name,)))
            self._origins.pop(name, None)
        else:
            origin = _Origin(self._hashed(network_of(address)), time.time())
            await self._journal.claim_name(name, hashed, *self._stored_names(name, origin))
            self._origins[name] = origin
            self._unused[origin.block] += 1
        self._add_looks(name)

    def like(self, name: str) -> str | None:
        """Return a claimed name that another looks like; None if there is none but itself."""
        others = {self._looks.get(look, name) for look in looks(name)} - {name}
        return min(others, default=None)

    async def come(self, name: str, address: str) -> None:
        """Note that a name without a token came from an address, unless it came from another.

        Raises:
            JournalError: that can't be written.
        """
        if name not in self._origins:
            origin = _Origin(self._hashed(block_of(address)), time.time())
            self._origins[name] = origin
            try:
                await self._journal.change(*self._stored_names(name, origin))
            except BaseException:
                self._origins.pop(name, None)
                raise

    def is_from(self, name: str, address: str) -> bool:
        """Return whether a name without a token may come from an address."""
        origin = self._origins.get(name)
        return origin is None or origin.block == self._hashed(block_of(address))

    def note_use(self, names: Iterable[str]) -> None:
        """Note that names have played a game, so that their claims stay."""
        used = [name for name in names if name in self._origins and self._is_claim(name)]
        for name in used:
            self._forget(name)
        self._journal.change_soon(*((_DROP, (name,)) for name in used))

    def expire(self, before: float, is_in_use: Callable[[str], bool]) -> None:
        """Free the names that were claimed before a time, and not used; not those in use now."""
        old = []
        for name, origin in self._origins.items():
            if origin.at >= before:
                break
            if self._is_claim(name):
                old.append(name)
        for name in old:
            if is_in_use(name):  # it is looked at again when it is as old as it is now
                self._origins[name] = self._origins.pop(name)._replace(at=time.time())
            else:
                self.release(name)

    def release(self, name: str) -> bool:
        """Forget who claimed a name, or where it first came from; return whether that was known."""
        is_known = self._is_claim(name) or name in self._origins
        self._forget(name)
        for look in looks(name):
            if self._looks.get(look) == name:
                del self._looks[look]
        if is_known:
            self._journal.forget_name(name, (_DROP, (name,)))
        return is_known

    def _add_looks(self, name: str) -> None:
        for look in looks(name):
            self._looks.setdefault(look, name)

    def _is_claim(self, name: str) -> bool:
        return self._journal.token_hash(name) is not None

    def _stored_names(
        self, name: str, origin: _Origin
    ) -> tuple[tuple[str, tuple[str | float, ...]], ...]:
        return (_KEEP_KEY, (self._hash_key,)), (_KEEP, (name, *origin))

    def _forget(self, name: str) -> None:
        origin = self._origins.pop(name, None)
        if origin is not None and self._is_claim(name):
            self._unused[origin.block] -= 1
            self._unused += Counter()  # drops networks that have none

    def _hashed(self, block: str) -> str:
        return hmac.digest(self._hash_key.encode(), block.encode(), "sha256").hex()
