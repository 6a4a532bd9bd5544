"""Who may use a name: tokens of 256 bits, of which only hashes are kept.

With a token file only its names may play. Without one, a name belongs to whoever first came with
a token for it, so that nobody takes over another's game; a name that nobody has claimed is free.
Tokens are random and long, so a plain SHA-256 is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from pathlib import Path

from harness.arbiter.journal import Journal
from lexicons.text import read_text
from protocol.errors import PeerError

__all__ = ["Gatekeeper", "hash_token", "new_token", "read_token_file"]


def new_token() -> str:
    """Return a new token of 256 bits."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return the hash of a token that is kept, in hexadecimal.

    Bytes of an HTTP header that are not ASCII come as lone surrogates; they hash like any other
    wrong token.
    """
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def read_token_file(path: Path) -> dict[str, str]:
    """Read names and the hashes of their tokens: ``name sha256-in-hex``, one a line.

    Raises:
        ValueError: a line is no such pair, or the file no text; the message says which.
        OSError: the file cannot be read.
    """
    known: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) != 2 or len(fields[1]) != 64 or set(fields[1]) - set("0123456789abcdef"):
            raise ValueError(
                f"{path}, line {number}: not 'name hash'; 'tilewire token NAME' makes such a line"
            )
        known[fields[0]] = fields[1]
    return known


class Gatekeeper:
    """Checks names against tokens.

    Args:
        journal: keeps the names that were claimed.
        known: names and hashes of a token file; then no other name may play.
    """

    def __init__(self, journal: Journal, known: Mapping[str, str] | None = None) -> None:
        self._journal = journal
        self._known = known

    async def admit(
        self, name: str, token: str | None, *, used_from: str | None = None, peer: str = ""
    ) -> None:
        """Let a player in, or not; a token that comes first with a free name claims it.

        Args:
            name: who the player says that it is.
            token: its secret, if it gave one.
            used_from: the address where the name is in use just now, if it is.
            peer: its address.

        Raises:
            PeerError: ``forbidden``; the connection is to be closed.
        """
        if self.check(name, token):
            return
        # Nobody has claimed the name. While it is in use it is kept for whoever uses it.
        if used_from is not None and (token is not None or _host(used_from) != _host(peer)):
            raise _forbidden(f"the name {name!r} is in use")
        if token is not None:
            await self._journal.claim_name(name, hash_token(token))
            self.check(name, token)  # it is another's, if two came at the same time

    def check(self, name: str, token: str | None) -> bool:
        """Check the token of a name; return whether the name has one.

        Raises:
            PeerError: ``forbidden``; the connection is to be closed.
        """
        kept = self._journal.token_hash(name) if self._known is None else self._known.get(name)
        if kept is None and self._known is not None:
            raise _forbidden(f"nobody called {name!r} is known here")
        if kept is None:
            return False
        if token is None or not hmac.compare_digest(kept, hash_token(token)):
            raise _forbidden(f"the name {name!r} needs its token, and this is not it")
        return True


def _host(peer: str) -> str:
    return peer.rpartition(":")[0]


def _forbidden(message: str) -> PeerError:
    return PeerError("forbidden", message, retry="corrected", close=1008)
