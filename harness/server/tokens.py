"""Authentication of names by tokens of 256 bits, of which only hashes are stored.

With a token file only its names and invited players may play; it is read again when it changes.
Without it, a name belongs to the first peer that logs in with a token for it, so nobody can take
over another's game; unclaimed names are free, and while in use belong to their ``Holder``. An
invitation is a token without a name: it belongs for good to the first name that it is used with.
Tokens are random and long, so a plain SHA-256 is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

from msgspec import UnsetType

from harness.arbiter.journal import Journal
from lexicons.text import read_text
from protocol.errors import PeerError

from .claims import Claims
from .names import alike, check_new_name

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
    names: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) != 2 or not is_hash(fields[1]):
            raise ValueError(
                f"{path}, line {number}: not 'name hash'; 'tilewire token NAME' makes such a line"
            )
        names[fields[0]] = fields[1]
    return names


class KnownTokens:
    """The names and token hashes of a file, read anew when the file changes.

    ``tell`` takes a sentence about each change. If the file can't be read any more, the names known
    so far stay.

    Raises:
        ValueError: the file can't be read at first; the message says why.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self.changed: Callable[[], None] = lambda: None
        """Called once names or tokens are new, gone or replaced."""
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
        """Read the file again, and tell which names and tokens have changed."""
        self._version = self._stat()
        try:
            tokens = read_token_file(self._path)
        except (ValueError, OSError) as error:
            why = f"{self._path}: {error.strerror}" if isinstance(error, OSError) else error
            self._tell(f"{why}; until that is corrected, the names read before stay valid")
            return
        known = self._known
        replaced = {name for name, hashed in tokens.items() if known.get(name, hashed) != hashed}
        changes = [
            f"{what} {', '.join(sorted(names))}"
            for what, names in (
                ("new", tokens.keys() - known.keys()),
                ("gone", known.keys() - tokens.keys()),
                ("another token for", replaced),
            )
            if names
        ]
        self._known = tokens
        self._tell(f"{self._path} was read again: {'; '.join(changes) or 'nothing is new'}")
        if changes:
            self.changed()

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
        self._names_in_use = {name: hashed for hashed, name in rows if name is not None}

    @property
    def unused(self) -> int:
        """Number of invitations that have no name yet."""
        return len(self._open)

    def hash_of(self, name: str) -> str | None:
        """Return the hash of the invitation that has become a name's token."""
        return self._names_in_use.get(name)

    def names(self) -> Iterable[str]:
        """Return the names that have used one."""
        return self._names_in_use

    def release(self, name: str) -> bool:
        """Forget a name's invitation, without waiting for the commit; return whether it had one."""
        if self._names_in_use.pop(name, None) is None:
            return False
        self._journal.change_soon(("DELETE FROM invitations WHERE name = ?", (name,)))
        return True

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
        self._names_in_use[name] = hashed
        statement = "UPDATE invitations SET name = ? WHERE hash = ?"
        try:
            await self._journal.change((statement, (name, hashed)))
        except BaseException:
            del self._names_in_use[name]
            self._open.add(hashed)
            raise
        return True


class Holder(NamedTuple):
    """Whom a name without a token belongs to while it is in use; by default whoever comes next."""

    secret_hash: str = ""
    """Hash of the resume secret; empty: the client knows of none (version 1)."""
    block: str = ""
    """Of a client of version 1, the block of its address or, with a ``key``, a keyed hash of it."""
    key: str = ""

    def check(self, name: str, secret: str | UnsetType, block: str) -> None:
        """Check that a client is the holder, by what it sent and the block of its address.

        Raises:
            PeerError: ``forbidden``; the connection is to be closed.
        """
        if self.secret_hash:
            if not _is_same(self.secret_hash, hash_token(secret or "")):
                way_back = "come back with the secret of its last welcome, or choose another name"
                raise forbidden(f"the name {name!r} is in use: {way_back}")
        elif self.block and not _is_same(self.block, _keyed(block, self.key)):
            way_back = "come back from there, or choose another name"
            raise forbidden(f"the name {name!r} is in use from another address: {way_back}")

    def marks(self, key: str) -> dict[str, str]:
        """Return what the journal keeps of a holder seen since the start; it has no addresses."""
        if self.secret_hash:
            return {_SECRET_MARK: self.secret_hash}
        return {_ADDRESS_MARK: _keyed(self.block, key)} if self.block else {}

    @classmethod
    def of_marks(cls, marks: Mapping[str, object], key: str) -> Self:
        """Return the holder of whom the journal keeps ``marks``, with the key they were made by."""
        secret, block = (str(marks.get(mark) or "") for mark in (_SECRET_MARK, _ADDRESS_MARK))
        return cls(secret, block, key)


_SECRET_MARK, _ADDRESS_MARK = "secret_hash", "address_hash"


def _keyed(block: str, key: str) -> str:
    text = f"tilewire address {block}".encode()
    return hmac.digest(key.encode(), text, "sha256").hex() if key else block


def _is_same(one: str, other: str) -> bool:
    # A damaged journal may have lone surrogates.
    return hmac.compare_digest(one.encode(errors="surrogatepass"), other.encode())


@dataclass(eq=False)
class Gatekeeper:
    """Checks names against tokens."""

    journal: Journal
    tokens: KnownTokens | None = None
    """The tokens of the token file, if there is one: other names may play only if invited."""
    entrants: Mapping[str, str] | None = None
    """Hashes of the tokens that registered entrants of a tournament were given, by name.

    None: no tournament is played.
    """
    reserved: Collection[str] = ()
    """Names that no new name may look like, beside those that have a token."""

    def __post_init__(self) -> None:
        self.invitations = Invitations(self.journal)
        self.claims = Claims(self.journal)
        self._claiming = set[str]()
        """Names whose claim is being written down."""

    async def admit(
        self,
        name: str,
        token: str | None,
        *,
        is_in_use: bool = False,
        address: str = "",
        check_claim: Callable[[int, int], None] = lambda _claimed, _unused: None,
        is_new: bool = True,
    ) -> None:
        """Admit a player or refuse; the first token for a free name claims it.

        In a tournament a registered name is claimed by the token that it was given, wherever it was
        used before; without a token a name is used from the address only that it first came from.

        A name that ``is_in_use`` can't be claimed; ``Player.hold`` says whether its holder is back.
        ``address`` is the player's. ``check_claim`` is called, before a name is claimed, with the
        number of claimed names, and of those that its network has claimed and not used. ``is_new``
        is false if the name is an entrant's or a person's, whatever it looks like.

        Raises:
            PeerError: ``forbidden``, or as ``check_claim``; the connection is to be closed.
            JournalError: the claim can't be written.
        """
        if name in self._claiming:
            raise forbidden(f"the name {name!r} is in use")
        is_free = not is_in_use and self.hash_of(name) is None
        if is_free and is_new:
            check_new_name(name, self.claims.like(name) or alike(name, self._names_in_use()))
        if token is not None and is_free and await self.invitations.take(name, token):
            return
        if self.check(name, token):
            return
        if self.entrants is not None and await self._admit_entrant(name, token, address):
            return
        if token is not None:  # nobody has claimed the name
            if is_in_use:
                why = f"the name {name!r} is in use without a token, so it can't be claimed now"
                raise forbidden(f"{why}: leave the token out, or choose another name")
            if len(token) < LEAST_TOKEN:
                why = f"a token that claims a name has {LEAST_TOKEN} characters or more"
                raise forbidden(f"{why}; 'tilewire token NAME' makes one")
            check_claim(len(self.journal.claimed_names()), self.claims.unused(address))
            await self._claim(name, token, address)
        elif self.entrants is not None:
            await self.claims.come(name, address)
            self.check(name, token)  # fails if it was claimed meanwhile

    async def _admit_entrant(self, name: str, token: str | None, address: str) -> bool:
        """Admit a name by the token that it was given, or refuse; return whether it was admitted.

        If not, and it is not refused, it may come as other names do.
        """
        entry = (self.entrants or {}).get(name)
        if token is not None and entry is not None:
            if not hmac.compare_digest(entry, hash_token(token)):
                raise WrongToken(
                    f"{name!r} is registered, and this is not the token that it was given; "
                    "whoever runs the tournament has it"
                )
            await self._claim(name, token, None)
            return True
        if not self.claims.is_from(name, address):
            raise forbidden(
                f"{name!r} came from another address before; come from there, with the token that "
                "it was given, or ask whoever runs the tournament to release the name"
            )
        return False

    async def _claim(self, name: str, token: str, address: str | None) -> None:
        self._claiming.add(name)
        try:
            lasts = address is None or self.entrants is not None
            await self.claims.claim(name, hash_token(token), None if lasts else address)
        finally:
            self._claiming.discard(name)
        self.check(name, token)  # fails if it was claimed at another host meanwhile

    def release(self, name: str) -> bool:
        """Forget whose a name is; return whether it was anybody's.

        Raises:
            ValueError: it stands in the token file.
        """
        if self.tokens is not None and name in self.tokens.read():
            raise ValueError(
                f"the token of {name} is in the server's file; replace it there, by 'tilewire "
                f"token {name} --tokens FILE --replace', or remove its line"
            )
        was_invited = self.invitations.release(name)
        return self.claims.release(name) or was_invited

    def _names_in_use(self) -> Iterator[str]:
        """Yield the names that no new one may look like, but for claimed ones."""
        token_names = self.tokens.read() if self.tokens is not None else {}
        return chain(self.reserved, token_names, self.invitations.names())

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
        known_hash = self.hash_of(name)
        if known_hash is None:
            return False
        if token is None:
            raise forbidden(f"the name {name!r} needs its token, and none was sent")
        if not hmac.compare_digest(known_hash, hash_token(token)):
            raise WrongToken(f"the name {name!r} needs its token, and this is not it")
        return True

    def may_come(self, name: str) -> bool:
        """Return whether a player of this name could be admitted."""
        return self.tokens is None or self.hash_of(name) is not None

    def has_token(self, name: str) -> bool:
        """Return whether a name can be used only with its token."""
        return self.hash_of(name) is not None

    def hash_of(self, name: str) -> str | None:
        """Return the hash of a name's token; None if it has none."""
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
