"""A seat's nonce: its part in draws that nobody can choose (``protocol/SPEC.md``, section 8)."""

from __future__ import annotations

import secrets
from hashlib import sha256

from .errors import PeerError
from .messages import Committed, NewGame, Ready, Reveal


def new_nonce() -> str:
    """Return a nonce for a seat's draws."""
    return secrets.token_hex(32)


def digest_of(nonce: str) -> str:
    """Return the commitment to a nonce, its SHA-256; both in hexadecimal."""
    return sha256(bytes.fromhex(nonce)).hexdigest()


class SeatNonce:
    """The nonce of one seat, fresh for a game and kept for the whole of it.

    It decides when the nonce may be shown.
    """

    def __init__(self, game: str, seat: int) -> None:
        self._game, self._seat = game, seat
        self._nonce = new_nonce()
        self._other = ""
        """The opponent's commitment, once received."""

    def ready(self, offer: NewGame) -> Ready:
        """Return the answer to an offer, with our nonce if the opponent's can't change any more.

        Otherwise with the commitment to it, or with neither once the tiles are dealt.

        Raises:
            PeerError: as ``reveal``.
        """
        if offer.seq > 0:
            return Ready(game=self._game)  # the tiles are dealt
        if offer.commitments is not None:
            self._note(offer.commitments[1 - self._seat])
            if not self._other:
                return Ready(game=self._game, commitment=digest_of(self._nonce))
        return Ready(game=self._game, nonce=self._nonce)

    def reveal(self, both: Committed) -> Reveal:
        """Return the nonce, now that both are committed to.

        Raises:
            PeerError: the commitments are not those that were made.
        """
        if both.commitments[self._seat] != digest_of(self._nonce):
            raise self._fault("the commitment of this seat is not the one that it made")
        self._note(both.commitments[1 - self._seat])
        return Reveal(game=self._game, nonce=self._nonce)

    def _note(self, other: str) -> None:
        if self._other and other != self._other:
            raise self._fault("the opponent's commitment is not the one that was told before")
        self._other = other

    def _fault(self, reason: str) -> PeerError:
        return PeerError("bad_message", reason, retry="no", game=self._game)
