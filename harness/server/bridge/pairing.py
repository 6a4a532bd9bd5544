"""Pages that the user has let in: one-time codes, and the tokens that pages get for them.

A code is shown at the bridge's terminal when a page asks for it, and is good on that page's
connection alone, once, for two minutes and three tries. A token has 256 bits; its hash is stored
with the page's origin, for which it is good until revoked.
"""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import datetime
from pathlib import Path

from harness.server.tokens import hash_token, is_hash, new_token
from harness.writing import write_file
from lexicons.text import decode_text

CODE_S = 120
"""Lifetime of a code, in seconds."""

MAX_TRIES = 3
MAX_CODES = 6  # per CODE_S, against flooding the terminal and guessing
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # no look-alikes: 39 bits in 8
_LENGTH = 8


@dataclass
class Code:
    """A code shown at the terminal."""

    text: str
    until: float
    """In seconds, on a monotonic clock."""
    tries: int = MAX_TRIES

    def accepts(self, guess: str, now: float) -> bool:
        """Return whether a guess is right, at most once, ignoring case and hyphens."""
        if self.tries < 1 or now >= self.until:
            return False
        right = hmac.compare_digest(_bare(self.text), _bare(guess))
        self.tries = 0 if right else self.tries - 1
        return right


class Codes:
    """Makes codes at a limited rate."""

    def __init__(self) -> None:
        self._ends: list[float] = []

    def make(self, now: float) -> Code | None:
        """Return a new code at the time ``now`` (seconds); None if too many are valid."""
        self._ends = [end for end in self._ends if end > now]
        if len(self._ends) >= MAX_CODES:
            return None
        self._ends.append(now + CODE_S)
        return Code(random_code(), now + CODE_S)


def random_code() -> str:
    """Return a code to be typed."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return f"{letters[:4]}-{letters[4:]}"


def _bare(text: str) -> bytes:
    return text.replace("-", "").upper().encode(errors="surrogatepass")


@dataclass(frozen=True)
class PairedPage:
    """A page that was let in."""

    id: str
    origin: str
    made: str
    """ISO 8601 time."""
    hash: str


@dataclass(frozen=True)
class TokenFile:
    """The pages that were let in, one a line: id, origin, time, hash of the token.

    It is read anew each time, so revocations by other processes take effect at once. A missing file
    is empty.
    """

    path: Path

    def read(self) -> dict[str, PairedPage]:
        """Read it, by id.

        Raises:
            ValueError: a line is invalid, or others could have written it.
            OSError: it can't be read.
        """
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_mode & 0o022 or status.st_uid not in (0, os.geteuid()):
                    raise ValueError(
                        f"{self.path} may be changed by others; make it yours and run chmod 600"
                    )
                lines = decode_text(file.read(), str(self.path)).splitlines()
        except FileNotFoundError:
            return {}
        paired = {}
        for number, line in enumerate(lines, start=1):
            fields = line.split()
            if len(fields) != 4 or not is_hash(fields[3]):
                raise ValueError(f"{self.path}, line {number}: not 'id origin time hash'")
            paired[fields[0]] = PairedPage(*fields)
        return paired

    def find(self, token: str, origin: str) -> PairedPage | None:
        """Return the page of this origin with this token; raises as ``read`` does."""
        hashed = hash_token(token)
        pages = (page for page in self.read().values() if page.origin == origin)
        return next((page for page in pages if hmac.compare_digest(page.hash, hashed)), None)

    def add(self, origin: str, now: datetime) -> tuple[str, PairedPage]:
        """Let a page in; return its token, which is stored nowhere. Raises as ``read`` does."""
        token = new_token()
        with self._changed() as paired:
            page = PairedPage(
                secrets.token_hex(4), origin, now.isoformat(timespec="seconds"), hash_token(token)
            )
            paired[page.id] = page
        return token, page

    def revoke(self, *ids: str) -> list[PairedPage]:
        """Remove pages; return those that were known. Raises as ``read`` does."""
        with self._changed() as paired:
            return [paired.pop(id) for id in ids if id in paired]

    @contextmanager
    def _changed(self) -> Iterator[dict[str, PairedPage]]:
        """Yield the pages for changes, under a lock, and write them."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            paired = self.read()
            yield paired
            lines = (f"{' '.join(astuple(page))}\n" for page in paired.values())
            write_file(self.path, "".join(lines), private=True)
        finally:
            os.close(folder)
