"""When a bot shows its nonce, so that neither its opponent nor the host can choose the tiles."""

from __future__ import annotations

from hashlib import sha256

import pytest

from protocol.errors import PeerError
from protocol.messages import Committed, NewGame, Ready
from protocol.nonces import SeatNonce

OTHER, THEIRS = "c3" * 16, "d4" * 32


def an_offer(commitments: tuple[str, str] | None, *, seq: int = 0) -> NewGame:
    return NewGame(
        game="g", seq=seq, players=("a", "b"), you=0, lexicon="w", commitments=commitments
    )


def digest(nonce: str) -> str:
    return sha256(bytes.fromhex(nonce)).hexdigest()


def test_a_nonce_is_shown_once_the_opponents_is_fixed() -> None:
    nonce = SeatNonce("g", 0)
    ready = nonce.ready(an_offer(("", "")))
    assert ready.nonce == ""
    reveal = nonce.reveal(Committed(game="g", commitments=(ready.commitment, THEIRS)))
    assert len(bytes.fromhex(reveal.nonce)) == 32
    assert digest(reveal.nonce) == ready.commitment
    again = nonce.ready(an_offer((ready.commitment, THEIRS)))
    assert again == Ready(game="g", nonce=reveal.nonce), "the same in the whole game"
    assert nonce.ready(an_offer((ready.commitment, THEIRS), seq=3)) == Ready(game="g")


def test_a_nonce_is_shown_at_once_to_a_host_that_is_committed_or_can_not_be() -> None:
    against_the_host = SeatNonce("g", 0).ready(an_offer(("", THEIRS)))
    of_version_1 = SeatNonce("g", 0).ready(an_offer(None))
    for ready in (against_the_host, of_version_1):
        assert len(bytes.fromhex(ready.nonce)) == 32
        assert ready.commitment == ""
    assert against_the_host.nonce != of_version_1.nonce


def test_no_nonce_is_shown_if_a_commitment_has_changed() -> None:
    nonce = SeatNonce("g", 0)
    own = nonce.ready(an_offer(("", ""))).commitment
    with pytest.raises(PeerError, match="not the one that it made"):
        nonce.reveal(Committed(game="g", commitments=(digest(OTHER), THEIRS)))
    nonce.reveal(Committed(game="g", commitments=(own, THEIRS)))
    with pytest.raises(PeerError, match="not the one that was told before"):
        nonce.ready(an_offer((own, digest(OTHER))))
