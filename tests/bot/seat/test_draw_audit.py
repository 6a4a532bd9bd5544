"""What a bot does so that nobody can choose the tiles, and what it finds out if somebody did."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import msgspec
import pytest
from tables import DIGESTS, GAME, NONCES, SECRET, Play, book_of, random_policy, words

from bot.seat.draw_audit import DrawsWitness
from engine.rules.bag import DrawError
from harness.arbiter.records import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.views import Recipient
from protocol.messages import Committed, GameOver, Message, NewGame, Ready
from protocol.parts import TimeControl

OTHER = "c3" * 16
Tamper = Callable[[GameOver], GameOver]


class Watched(Play):
    """A table of which a witness at each seat hears everything."""

    def __init__(self, **given: object) -> None:
        self.witnesses: dict[int, DrawsWitness] = {}
        super().__init__(**given)  # type: ignore[arg-type]

    def _deliver(self, recipient: Recipient, message: Message) -> None:
        if recipient is not None and isinstance(message, NewGame):
            self.witnesses.setdefault(recipient, DrawsWitness(message))
        if recipient is not None and not isinstance(message, GameOver):
            self.witnesses[recipient].hear(message)
        super()._deliver(recipient, message)

    def hear(self, seat: int, message: Message, *, lag_ms: int = 0) -> None:
        self.witnesses[seat].hear(message)
        super().hear(seat, message, lag_ms=lag_ms)

    def both_come(self) -> Watched:
        for seat in (0, 1):
            self.come(seat)
        return self

    def found(self, seat: int) -> str:
        return self.witnesses[seat].check(self.verdict(seat))


def strangers(**given: object) -> Watched:
    play = Watched(**given).both_come()
    for seat in (0, 1):
        play.commit(seat)
    return play


def play_on(play: Watched, seed: int = 3) -> Watched:
    play.play_out(random_policy(seed))
    return play


def played(seed: int = 3, **given: object) -> Watched:
    play = strangers(**given)
    for seat in (0, 1):
        play.reveal(seat)
    return play_on(play, seed)


def test_nobody_chose_the_tiles_if_two_or_one_and_the_host_committed_themselves() -> None:
    both = played()
    assert [both.found(seat) for seat in (0, 1)] == ["", ""]
    play = Watched(own_nonces=(NONCES[0], None)).both_come()
    play.say(0, Ready(game=GAME))
    play.ready(1)
    assert play_on(play).found(1) == ""


def test_a_host_that_chooses_its_nonce_after_the_guests_is_found_out() -> None:
    play = Watched(own_nonces=(NONCES[0], None)).both_come()
    play.say(0, Ready(game=GAME))
    play.table._nonces._known[0] = OTHER
    play.ready(1)
    with pytest.raises(DrawError, match="the opponent's nonce is not the one that was committed"):
        play_on(play).found(1)


@pytest.mark.parametrize(("changed", "whose"), [(0, "our"), (1, "the opponent's")])
def test_a_host_in_league_with_a_stranger_is_found_out(changed: int, whose: str) -> None:
    play = strangers()
    play.reveal(changed)
    play.table._nonces._known[changed] = OTHER
    play.reveal(1 - changed)
    with pytest.raises(DrawError, match=f"{whose} nonce is not the one that"):
        play_on(play).found(0)


def test_other_commitments_after_the_nonce_was_shown_are_found_out() -> None:
    play = strangers()
    play.reveal(0)
    other = sha256(bytes.fromhex(OTHER)).hexdigest()
    play.witnesses[0].hear(Committed(game=GAME, commitments=(DIGESTS[0], other)))
    play.reveal(1)
    with pytest.raises(DrawError, match="the commitment to the opponent's nonce has changed"):
        play_on(play).found(0)


def test_what_a_bot_of_version_1_can_not_know() -> None:
    play = Watched().both_come()
    play.ready(0)
    play.commit(1)
    play.reveal(1)
    play_on(play)
    assert "not committed to before ours" in play.found(0)
    assert play.found(1) == "", "the host fixed the other's nonce for it"


def moves_with(over: GameOver, number: int, text: str) -> GameOver:
    moves = (*over.moves[:number], text, *over.moves[number + 1 :])
    return msgspec.structs.replace(over, moves=moves)


TAMPERED: dict[str, tuple[Tamper, str]] = {
    "secret": (
        lambda over: msgspec.structs.replace(over, secret="00" * 32),
        "the secret is not the one",
    ),
    "no secret": (lambda over: msgspec.structs.replace(over, secret=None), "does not open"),
    "mirrored": (lambda over: msgspec.structs.replace(over, mirrored=True), "from the back"),
    "racks": (
        lambda over: msgspec.structs.replace(over, racks=("Q", over.racks[1])),
        "at the end they hold Q and ",
    ),
    "a move": (lambda over: moves_with(over, 1, "-"), "turn 2 was told as "),
    "no tile": (lambda over: moves_with(over, 1, "-QQQ"), r"in turn 2 seat 1 can't play -QQQ"),
    "a turn": (
        lambda over: msgspec.structs.replace(over, moves=over.moves[:-1]),
        r"turns were played, and \d+ are told",
    ),
}


@pytest.mark.parametrize(("tamper", "reason"), TAMPERED.values(), ids=TAMPERED.keys())
def test_what_was_tampered_with_is_found_out(tamper: Tamper, reason: str) -> None:
    play = played()
    with pytest.raises(DrawError, match=reason):
        play.witnesses[0].check(tamper(play.verdict(0)))


def test_a_rack_that_was_not_drawn_is_found_out() -> None:
    play = played()
    play.witnesses[0]._racks[0] = "?AEINST"
    with pytest.raises(DrawError, match="event 0"):
        play.found(0)


def test_an_opening_with_racks_is_checked_too() -> None:
    text = f"{'15/' * 7}3HOUSE7{'/15' * 7} AEIQ/ 20/5 0"
    draws = Draws(SECRET, committed=True)
    opened = new_game(("one", "two"), words(), TimeControl(), draws, opening=text)
    play = Watched(book=book_of(msgspec.structs.replace(opened, game=GAME)))
    play.start()
    play_on(play)
    assert "before ours" in play.found(0)
    other = msgspec.structs.replace(play.verdict(0), opening_racks=("AEIS", ""))
    with pytest.raises(DrawError, match="the secret is not the one"):
        play.witnesses[0].check(other)


def test_a_commitment_opens_in_one_way_only() -> None:
    # Its host might take the longer secret, without racks, where the tiles of that suit it better.
    ambiguous = SECRET + sha256(b"/").digest()
    play = played(draws=Draws(ambiguous, committed=True))
    assert play.verdict(0).secret == ambiguous.hex()
    with pytest.raises(DrawError, match="32 bytes"):
        play.found(0)


def test_a_game_that_goes_on_after_the_host_was_killed_is_checked_too() -> None:
    before = strangers()
    for seat in (0, 1):
        before.reveal(seat)
    for _ in range(4):
        before.move(random_policy(1)(before))
    play = Watched(book=Scorebook.restored(before.records, before.note(), words()))
    play.witnesses, play.bots = before.witnesses, before.bots
    for seat in (0, 1):
        play.come(seat)
        play.say(seat, Ready(game=GAME))
    play_on(play)
    assert [play.found(seat) for seat in (0, 1)] == ["", ""]


def test_nothing_is_to_be_checked_of_a_game_that_was_never_dealt_or_is_void() -> None:
    play = strangers()
    play.wait(10_000)
    assert play.found(0) == ""
    void = strangers()
    for seat in (0, 1):
        void.reveal(seat)
    void.carry_out(void.table.end("host_error", "a fault", void.now))
    assert void.found(0) == ""


def test_a_known_seed_proves_nothing() -> None:
    play = Watched(draws=Draws.seeded(7, 1))
    play.start()
    assert play_on(play).found(0) == "the server committed itself to nothing"
