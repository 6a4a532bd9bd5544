"""The seats' nonces until the tiles are dealt: each known, committed to, or open.

A seat that reveals its nonce after seeing the other's could choose the draws together with the
host, which knows the secret. So the host fixes the nonces of its own seats before it offers the
game, and those of other seats by their commitments before either is revealed
(``protocol/SPEC.md``, section 8).
"""

from __future__ import annotations

from protocol.errors import PeerError
from protocol.messages import Ready
from protocol.nonces import digest_of

from .records import Commitments
from .scorebook import Scorebook


class Nonces:
    """The nonces of one game, new or restored; ``own`` are those of the host's own seats."""

    def __init__(self, book: Scorebook, own: tuple[str | None, str | None]) -> None:
        self._book = book
        self._own = own
        self._known: list[str | None] = list(book.commitments.nonces)
        self._digests = list(book.commitments.digests)

    def knows(self, seat: int) -> bool:
        """Return whether a seat's nonce is known."""
        return self._known[seat] is not None

    @property
    def both(self) -> tuple[str, str] | None:
        """The nonces by seat, once both are known."""
        first, second = self._known
        return None if first is None or second is None else (first, second)

    def fixed(self) -> Commitments:
        """Return the record after which neither nonce can change."""
        (first, second), digests = self._known, self._digests
        return Commitments(digests=(digests[0], digests[1]), nonces=(first, second))

    def fix_own(self) -> Commitments | None:
        """Return the record that fixes the nonces of the host's own seats, if one is due."""
        book = self._book
        is_due = book.opened.committed and book.game is None and not any(self._digests)
        for seat, nonce in enumerate(self._own if is_due else ()):
            if nonce is not None:
                self._admit(seat, nonce)
        return self.fixed() if is_due and any(self._digests) else None

    def take_ready(self, seat: int, ready: Ready) -> None:
        """Take a seat's nonce or commitment; one that is fixed stays as it is."""
        digest = self._book.commitments.digests[seat]
        if not digest and ready.commitment and not ready.nonce:
            self._known[seat], self._digests[seat] = None, ready.commitment
        elif not digest or (not self.knows(seat) and digest_of(ready.nonce) == digest):
            self._admit(seat, ready.nonce)

    def reveal(self, seat: int, nonce: str) -> None:
        """Take the nonce that a seat had committed itself to.

        Raises:
            PeerError: it does not match the commitment.
        """
        if digest_of(nonce) != self._digests[seat]:
            raise PeerError(
                "bad_nonce",
                "the nonce is not the one that was committed to; send 'resume', then 'ready' with "
                "the right one",
                game=self._book.opened.game,
            )
        self._known[seat] = nonce

    def _admit(self, seat: int, nonce: str) -> None:
        self._known[seat], self._digests[seat] = nonce, digest_of(nonce)
