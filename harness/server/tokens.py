"""Authentication of names by tokens of 256 bits, of which only hashes are stored.

With a token file only its names and invited players may play; it is read again when it changes.
Without it, a name belongs to the first peer that logs in with a token for it, so nobody can take
over another's game; unclaimed names are free. An invitation is a token without a name: it belongs
for good to the first name that it is used with. Tokens are random and long, so a plain SHA-256 is
enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.arbiter.journal import Journal
from lexicons.text import read_text
from protocol.errors import PeerError

LEAST_TOKEN = 32
"""Fewest characters of a token that claims a name: 128 bits in hexadecimal."""


def new_token() -> str:
    """Return a new token of 256 bits."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return the stored hash of a token, in hexadecimal.

    Non-ASCII bytes of an HTTP header come as lone surrogates; they hash like any other wrong token.
    """
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def is_hash(text: str) -> bool:
    """Return whether a text has the form of a hash."""
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


def read_token_file(path: Path) -> dict[str, str]:
    """Read names and token hashes: ``name sha256-in-hex``, one a line.

    Raises:
        ValueError: a line is not such a pair, or the file is not text; the message says which.
        OSError: the file cannot be read.
    """
    known: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) != 2 or not is_hash(fields[1]):
            raise ValueError(
                f"{path}, line {number}: not 'name hash'; 'tilewire token NAME' makes such a line"
            )
        known[fields[0]] = fields[1]
    return known


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read, from the first byte on."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text.encode())


class KnownTokens:
    """The names and token hashes of a file, read anew when the file changes.

    ``tell`` takes a sentence about each change. If the file can't be read any more, the names known
    so far stay.

    Raises:
        ValueError: the file can't be read at first; the message says why.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._path = path
        self._tell = tell
        self._version = self._stat()
        try:
            self._known = read_token_file(path)
        except OSError as error:
            make = f"'tilewire token NAME --tokens {path}' makes one"
            raise ValueError(f"{path}: {error.strerror}; {make}") from None

    def read(self) -> Mapping[str, str]:
        """Return token hashes by name, as the file has them now."""
        if self._stat() != self._version:
            self.reread()
        return self._known

    def reread(self) -> None:
        """Read the file again, and tell what has changed."""
        self._version = self._stat()
        try:
            known = read_token_file(self._path)
        except (ValueError, OSError) as error:
            why = f"{self._path}: {error.strerror}" if isinstance(error, OSError) else error
            self._tell(f"{why}; until that is corrected, the names read before stay valid")
            return
        changes = [
            f"{what} {', '.join(sorted(names))}"
            for what, names in (
                ("new", known.keys() - self._known.keys()),
                ("gone", self._known.keys() - known.keys()),
                ("another token for", {n for n, h in known.items() if self._known.get(n, h) != h}),
            )
            if names
        ]
        self._known = known
        self._tell(f"{self._path} was read again: {'; '.join(changes) or 'nothing is new'}")

    def _stat(self) -> tuple[int, ...] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


class Invitations:
    """The invitations of a server, whose hashes its journal keeps."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        rows = journal.rows("SELECT hash, name FROM invitations")
        self._open = {hashed for hashed, name in rows if name is None}
        self._taken = {name: hashed for hashed, name in rows if name is not None}

    @property
    def unused(self) -> int:
        """Number of invitations that have no name yet."""
        return len(self._open)

    def hash_of(self, name: str) -> str | None:
        """Return the hash of the invitation that has become a name's token."""
        return self._taken.get(name)

    async def make(self) -> str:
        """Make an invitation, and return its token."""
        token = new_token()
        statement = "INSERT INTO invitations VALUES (?, NULL)"
        await self._journal.change((statement, (hash_token(token),)))
        self._open.add(hash_token(token))
        return token

    async def take(self, name: str, token: str) -> bool:
        """Give a token to a name for good, and return True, if it is an unused invitation."""
        hashed = hash_token(token)
        if hashed not in self._open:
            return False
        self._open.remove(hashed)  # nobody else takes it, nor the name, meanwhile
        self._taken[name] = hashed
        statement = "UPDATE invitations SET name = ? WHERE hash = ?"
        try:
            await self._journal.change((statement, (name, hashed)))
        except BaseException:
            del self._taken[name]
            self._open.add(hashed)
            raise
        return True


@dataclass(eq=False)
class Gatekeeper:
    """Checks names against tokens."""

    journal: Journal
    tokens: KnownTokens | None = None
    """The tokens of the token file, if there is one: other names may play only if invited."""

    def __post_init__(self) -> None:
        self.invitations = Invitations(self.journal)
        self._claiming = set[str]()
        """Names whose claim is being written down."""

    async def admit(
        self,
        name: str,
        token: str | None,
        *,
        used_from: str | None = None,
        peer: str = "",
        check_claim: Callable[[int], None] = lambda _claimed: None,
    ) -> None:
        """Admit a player or refuse; the first token for a free name claims it.

        ``used_from`` is the peer that uses the name now, empty if only a game from before the
        server's start does, None if nobody does; ``peer`` is the player's. Both have a port.
        ``check_claim`` is called, before a name is claimed, with the number of claimed names.

        Raises:
            PeerError: ``forbidden``, or as ``check_claim``; the connection is to be closed.
            JournalError: the claim can't be written.
        """
        if name in self._claiming:
            raise forbidden(f"the name {name!r} is in use")
        is_free = used_from is None and self._hash_of(name) is None
        if token is not None and is_free and await self.invitations.take(name, token):
            return
        if self.check(name, token):
            return
        # Nobody has claimed the name. While in use it belongs to its user.
        is_elsewhere = used_from and host_of(used_from) != host_of(peer)
        if used_from is not None and (token is not None or is_elsewhere):
            raise forbidden(f"the name {name!r} is in use")
        if token is not None:
            if len(token) < LEAST_TOKEN:
                raise forbidden(
                    f"a token that claims a name has {LEAST_TOKEN} characters or more; "
                    "'tilewire token NAME' makes one"
                )
            check_claim(self.journal.claimed_names)
            self._claiming.add(name)
            try:
                await self.journal.claim_name(name, hash_token(token))
            finally:
                self._claiming.discard(name)
            self.check(name, token)  # fails if it was claimed at another host meanwhile

    def check(self, name: str, token: str | None) -> bool:
        """Check the token of a name; return whether the name has a token.

        Raises:
            PeerError: ``forbidden``; the connection is to be closed.
        """
        if not self.may_come(name):
            unknown = f"nobody called {name!r} is known here"
            if token is None:
                raise forbidden(f"{unknown}, and no token was sent; this server wants one")
            raise WrongToken(f"{unknown}, and the token is not an unused invitation")
        known_hash = self._hash_of(name)
        if known_hash is None:
            return False
        if token is None:
            raise forbidden(f"the name {name!r} needs its token, and none was sent")
        if not hmac.compare_digest(known_hash, hash_token(token)):
            raise WrongToken(f"the name {name!r} needs its token, and this is not it")
        return True

    def may_come(self, name: str) -> bool:
        """Return whether a player of this name could be admitted."""
        return self.tokens is None or self._hash_of(name) is not None

    def has_token(self, name: str) -> bool:
        """Return whether a name can be used only with its token."""
        return self._hash_of(name) is not None

    def _hash_of(self, name: str) -> str | None:
        invited = self.invitations.hash_of(name)
        if self.tokens is not None:
            return self.tokens.read().get(name, invited)
        return self.journal.token_hash(name) or invited


def check_listed(hashes: Mapping[str, str], name: str, token: str | None, what: str) -> None:
    """Check that a name is listed as a ``what``, such as an admin, and that the token is its own.

    Raises:
        PeerError: ``forbidden``; the connection is to be closed.
    """
    if token is None:
        raise forbidden(f"the {what} {name!r} needs its token, and none was sent")
    if not hmac.compare_digest(hashes.get(name, ""), hash_token(token)):
        raise WrongToken(f"no {what} {name!r} has this token")


def host_of(peer: str) -> str:
    """Return the address of a peer, without its port."""
    return peer.rpartition(":")[0].removeprefix("[").removesuffix("]")


class WrongToken(PeerError):
    """The refusal of a login with a wrong token."""

    def __init__(self, message: str) -> None:
        super().__init__("forbidden", message, close=1008)


def forbidden(message: str) -> PeerError:
    """Return the refusal of a login."""
    return PeerError("forbidden", message, close=1008)
