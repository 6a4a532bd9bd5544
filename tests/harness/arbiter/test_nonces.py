"""Which nonce is fixed when, and what it costs to keep one back."""

from __future__ import annotations

import pytest
from tables import DIGESTS, GAME, NONCES, SECRET, SHORT, Play, outcome, words

from engine.rules.bag import Bag, DrawStream
from harness.arbiter.records import Began, Commitments, Draws, Record
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.table import REVEAL_MS
from protocol.errors import PeerError
from protocol.messages import Committed, Decline, NewGame, Ready, Reveal, Started

OTHER = "c3" * 16
READY_MS = SHORT.ready_ms


def offered(play: Play) -> Play:
    for seat in (0, 1):
        play.come(seat)
    return play


def committed(play: Play | None = None) -> Play:
    """Two strangers that are committed, and are to reveal their nonces."""
    play = offered(play or Play(SHORT))
    for seat in (0, 1):
        play.commit(seat)
    return play


def restored(play: Play, own_nonces: tuple[str | None, str | None] = (None, None)) -> Play:
    """The same game after the host was killed."""
    book = Scorebook.restored(play.records, None, words())
    return Play(book=book, own_nonces=own_nonces)


def kinds(play: Play) -> list[type[Record]]:
    return [type(record) for record in play.records[1:]]


def is_dealt_by(play: Play, nonces: tuple[str, str]) -> bool:
    assert play.book.game is not None
    stream = DrawStream(SECRET, (bytes.fromhex(nonces[0]), bytes.fromhex(nonces[1])))
    bag = Bag.shuffled(play.book.rules.distribution, stream)
    return tuple(play.book.game.opening_racks[0]) == bag.order[:7]


# --- two that commit themselves -------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_both_commitments_are_out_before_either_nonce_is_in(order: tuple[int, int]) -> None:
    play = offered(Play(SHORT))
    assert [play.offered(seat).commitments for seat in (0, 1)] == [("", ""), ("", "")]
    play.commit(order[0])
    assert play.told(order[0], Committed) == [], "the other may still choose"
    play.commit(order[1])
    both = Committed(game=GAME, commitments=(DIGESTS[0], DIGESTS[1]))
    assert [play.told(seat, Committed) for seat in (0, 1, None)] == [[both], [both], []]
    assert kinds(play) == [Commitments]
    for seat in order:
        assert play.told(seat, Started) == []
        play.reveal(seat)
    assert kinds(play) == [Commitments, Began]
    assert play.book.nonces == NONCES
    assert is_dealt_by(play, NONCES)
    play.play_out(lambda _play: "-")
    for recipient in (0, 1, None):
        *before, last = play.frames[recipient]
        for nonce in NONCES:
            assert all(nonce.encode() not in frame for frame in before)
            assert nonce.encode() in last, "and in none before"


# --- who keeps back its nonce ---------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("goes", [False, True])
def test_who_does_not_reveal_its_nonce_loses(seat: int, *, goes: bool) -> None:
    play = committed()
    play.reveal(1 - seat)
    if goes:
        play.leave(seat)
    play.wait(REVEAL_MS - 1)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("time", 1 - seat)
    assert play.faults == [(seat, "unrevealed")]


def test_who_has_revealed_its_nonce_and_goes_before_the_start_loses_too() -> None:
    # The host, which knows all, may have told it what it would draw.
    play = committed()
    play.reveal(0)
    play.leave(0)
    play.reveal(1)
    play.wait(REVEAL_MS)
    assert outcome(play) == ("time", 1)
    assert play.faults == [(0, "unrevealed")]


def test_if_neither_reveals_its_nonce_there_is_no_game() -> None:
    play = committed()
    play.wait(REVEAL_MS)
    assert outcome(play) == ("no_show", None)
    assert sorted(play.faults) == [(s, c) for s in (0, 1) for c in ("no_show", "unrevealed")]


def test_who_declines_after_it_has_committed_itself_loses() -> None:
    play = committed()
    play.reveal(0)
    play.say(1, play.resume(1))
    play.say(1, Decline(game=GAME, code="busy", message="I don't like it"))
    assert outcome(play) == ("resign", 0)


def test_another_nonce_is_refused_and_the_right_one_still_taken() -> None:
    play = committed()
    with pytest.raises(PeerError, match=r"bad_nonce.*not the one that was committed to"):
        play.say(0, Reveal(game=GAME, nonce=OTHER))
    play.reveal(1)
    assert play.book.game is None
    play.say(0, play.resume(0))
    play.ready(0)
    assert play.book.nonces == NONCES


# --- lost connections, and a host that is killed --------------------------------------------------


def test_before_both_are_committed_a_seat_that_comes_back_may_choose_anew() -> None:
    play = offered(Play(SHORT))
    play.say(0, Ready(game=GAME, commitment="ab" * 32))
    play.leave(0)
    play.come(0)
    play.commit(0)
    play.commit(1)
    assert play.book.commitments.digests == DIGESTS


@pytest.mark.parametrize("again", ["ready", "commit"])
def test_a_host_that_is_killed_between_commitments_and_nonces_goes_on(again: str) -> None:
    before = committed()
    before.reveal(0)
    play = restored(before)
    for seat in (0, 1):
        play.come(seat)
        assert play.offered(seat).commitments == (DIGESTS[0], DIGESTS[1])
        getattr(play, again)(seat)
        if again == "commit":
            play.reveal(seat)
    assert kinds(play)[-1] is Began
    assert is_dealt_by(play, NONCES)


def test_after_the_host_was_killed_no_other_nonce_is_taken() -> None:
    play = restored(committed())
    offered(play)
    play.say(0, Ready(game=GAME, nonce=OTHER))
    play.commit(1)
    play.reveal(1)
    assert play.told(0, Committed), "it is asked for the one that it is bound to"
    play.wait(READY_MS)
    assert outcome(play) == ("time", 1)
    assert play.faults == [(0, "unrevealed")]


def test_after_the_start_a_bot_that_has_lost_its_nonce_plays_on() -> None:
    play = committed()
    for seat in (0, 1):
        play.reveal(seat)
    play.leave(0)
    play.come(0)
    play.say(0, play.resume(0))
    play.say(0, Ready(game=GAME, nonce=OTHER))
    assert play.book.nonces == NONCES
    assert len(play.told(0, Committed)) == 1
    play.play_out(lambda _play: "-")


# --- a seat of the host's own ---------------------------------------------------------------------


@pytest.mark.parametrize("own", [0, 1])
def test_the_nonce_of_the_hosts_own_seat_is_fixed_before_anybody_is_offered_the_game(
    own: int,
) -> None:
    nonces = (NONCES[0], None) if own == 0 else (None, NONCES[1])
    play = Play(SHORT, own_nonces=nonces)
    play.come(1 - own)
    assert kinds(play) == [Commitments]
    expected = (DIGESTS[0], "") if own == 0 else ("", DIGESTS[1])
    assert play.offered(1 - own).commitments == expected
    play.come(own)
    play.say(own, Ready(game=GAME, nonce=OTHER))
    play.ready(1 - own)
    assert play.book.nonces == NONCES, "whatever the process says"
    assert play.told(1 - own, Committed) == []
    assert is_dealt_by(play, NONCES)


def test_a_host_that_is_killed_before_the_start_keeps_to_its_nonce() -> None:
    before = Play(SHORT, own_nonces=(NONCES[0], None))
    before.come(1)
    play = restored(before, own_nonces=(OTHER, None))
    offered(play)
    assert play.offered(1).commitments == (DIGESTS[0], "")
    play.say(0, Ready(game=GAME))
    play.ready(1)
    assert play.book.nonces == NONCES


def test_if_both_seats_are_the_hosts_own_nothing_is_to_be_revealed() -> None:
    play = offered(Play(SHORT, own_nonces=NONCES))
    play.say(0, Ready(game=GAME, commitment=DIGESTS[0]))
    play.wait(READY_MS)
    assert outcome(play) == ("no_show", 0), "not unrevealed: it is not there"


# --- bots that know nothing of it -----------------------------------------------------------------


def test_a_known_seed_needs_no_nonces() -> None:
    play = Play(SHORT, draws=Draws.seeded(7, 1), own_nonces=NONCES).start()
    offers = [offer for seat in (0, 1) for offer in play.told(seat, NewGame)]
    assert [getattr(offer, "commitments", 0) for offer in offers] == [None, None]
    assert kinds(play) == [Began]
