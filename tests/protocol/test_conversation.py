"""What may be said in a conversation and what may not, at either end."""

from __future__ import annotations

from itertools import product
from typing import cast

import msgspec
import pytest
from msgspec import UNSET
from small_messages import ONE_OF_EACH, committed, offer, over, played, refusal, started, your_turn

from protocol.errors import PeerError
from protocol.messages import (
    Challenge,
    Decline,
    GameMessage,
    Hello,
    Info,
    Message,
    Move,
    Ready,
    Resume,
    Reveal,
)
from protocol.session import (
    _TABLE,
    KEPT_ENDED,
    ArbiterSession,
    BotSession,
    Conversation,
    Repeated,
    Side,
    State,
)


@pytest.mark.parametrize(("state", "side"), list(product(State, Side)))
def test_what_is_in_the_table_may_be_said_and_nothing_else(state: State, side: Side) -> None:
    for kind, message in ONE_OF_EACH.items():
        talk = Conversation()
        talk.state = state
        if kind in _TABLE[state][side]:
            talk.advance(side, message)
            assert talk.state is _TABLE[state][side][kind]
        else:
            with pytest.raises(PeerError) as caught:
                talk.advance(side, message)
            assert caught.value.code == "out_of_turn"
            assert talk.state is state, "a fault changes nothing"


@pytest.mark.parametrize("seq", [0, 2, 1_000_000])
def test_a_number_that_is_not_the_next_is_refused_with_the_next(seq: int) -> None:
    talk = Conversation()
    for side, message in (
        (Side.ARBITER, offer()),
        (Side.BOT, Ready(game="g")),
        (Side.ARBITER, started()),
        (Side.ARBITER, your_turn(1)),
    ):
        talk.advance(side, message)
    with pytest.raises(PeerError) as caught:
        talk.advance(Side.BOT, Move(game="g", seq=seq, move="-"))
    assert (caught.value.code, caught.value.reply.seq) == ("bad_seq", 1)


# --- the sessions ---------------------------------------------------------------------------------


def at_a_turn() -> tuple[ArbiterSession, BotSession]:
    arbiter, bot = ArbiterSession("g"), BotSession()
    bot.receive(arbiter.send(offer()))
    arbiter.receive(cast("Message", bot.send(Ready(game="g"))), 0, 1)
    for message in (started(), your_turn(1)):
        bot.receive(arbiter.send(message))
    return arbiter, bot


def test_a_nonce_comes_after_both_commitments_and_the_start_after_the_nonce() -> None:
    arbiter, bot = ArbiterSession("g"), BotSession()
    reveal = Reveal(game="g", nonce="cc" * 32)
    bot.receive(arbiter.send(offer()))
    arbiter.receive(cast("Message", bot.send(Ready(game="g", commitment="aa" * 32))), 0, 1)
    with pytest.raises(RuntimeError, match="'reveal' can't be sent now"):
        bot.send(reveal)
    with pytest.raises(PeerError, match="out_of_turn"):
        arbiter.receive(reveal, 0, 1)
    bot.receive(arbiter.send(committed()))
    with pytest.raises(RuntimeError, match="'started' can't be sent now"):
        arbiter.send(started())
    with pytest.raises(PeerError, match="out_of_turn"):
        bot.receive(started())
    assert arbiter.receive(cast("Message", bot.send(reveal)), 0, 1) == reveal
    assert bot.receive(arbiter.send(started())) == (started(), [])


def test_what_belongs_to_the_other_role_is_refused() -> None:
    arbiter, bot = at_a_turn()
    for message in (your_turn(1), Hello(role="player", name="n")):
        with pytest.raises(PeerError, match="wrong_role"):
            arbiter.receive(message, 1, 1)
    with pytest.raises(PeerError, match="wrong_role"):
        bot.receive(Move(game="g", seq=1, move="-"))


def test_games_that_were_never_offered_are_refused() -> None:
    for message in (Move(game="h", seq=1, move="-"), Ready(game="h"), Resume(game="h")):
        with pytest.raises(PeerError, match="unknown_game"):
            ArbiterSession("g").receive(message, 0, 1)
    with pytest.raises(PeerError, match="unknown_game"):
        BotSession().receive(your_turn(1))


def test_what_our_side_may_not_say_is_a_bug_of_ours() -> None:
    arbiter, bot = at_a_turn()
    with pytest.raises(RuntimeError, match="we broke the protocol"):
        arbiter.send(started())
    with pytest.raises(RuntimeError, match="we broke the protocol"):
        bot.send(Ready(game="g"))


def test_the_first_copy_of_a_move_is_taken_and_later_ones_get_its_answer() -> None:
    arbiter, _ = at_a_turn()
    move = Move(game="g", seq=1, move="-")
    assert arbiter.receive(move, 1, 1) == move
    assert arbiter.receive(move, 1, 1) is None, "its verdict is on the way"
    arbiter.send(played(1))
    assert arbiter.receive(move, 2, 1) == Repeated(move)


def test_a_refused_move_that_comes_again_is_no_new_attempt() -> None:
    arbiter, bot = at_a_turn()
    move = Move(game="g", seq=1, move="nonsense")
    bot.send(move)
    arbiter.receive(move, 1, 1)
    bot.receive(arbiter.send(refusal(1, 1)))
    assert bot.games["g"].attempt == 2
    assert arbiter.receive(move, 1, 2) == Repeated(move)
    second = Move(game="g", seq=1, move="-", attempt=2)
    assert arbiter.receive(second, 1, 2) == second


def test_a_second_copy_of_a_refusal_is_no_fault() -> None:
    _, bot = at_a_turn()
    bot.send(Move(game="g", seq=1, move="nonsense"))
    bot.receive(refusal(1, 1))
    assert bot.receive(refusal(1, 1)) == (None, [])
    assert bot.games["g"].attempt == 2


def test_an_attempt_that_was_not_asked_for_is_refused() -> None:
    arbiter, _ = at_a_turn()
    with pytest.raises(PeerError, match="bad_attempt"):
        arbiter.receive(Move(game="g", seq=1, move="-", attempt=2), 1, 1)


def test_a_thought_that_crosses_with_the_verdict_is_nobodys_fault() -> None:
    arbiter, _ = at_a_turn()
    arbiter.receive(Move(game="g", seq=1, move="-"), 1, 1)
    arbiter.send(played(1))
    assert arbiter.receive(Info(game="g", seq=1), 2, 1) is None


def test_a_bot_that_is_asked_the_same_again_gives_the_same_answer() -> None:
    _, bot = at_a_turn()
    move = bot.send(Move(game="g", seq=1, move="8D WORD"))
    again = ArbiterSession("g")
    bot.receive(again.send(offer(1)))
    again.receive(cast("Message", bot.send(Ready(game="g"))), 1, 1)
    assert bot.receive(again.send(your_turn(1))) == (None, [move])


def test_a_challenge_is_not_said_again_when_it_is_too_late_to_challenge() -> None:
    for allowed_ms, said in ((1_000, 1), (UNSET, 0)):
        _, bot = at_a_turn()
        bot.send(Challenge(game="g", seq=1))
        again = ArbiterSession("g")
        bot.receive(again.send(offer(1)))
        again.receive(cast("Message", bot.send(Ready(game="g"))), 1, 1)
        asked = msgspec.structs.replace(your_turn(1), challenge_ms=allowed_ms)
        assert len(bot.receive(again.send(asked))[1]) == said


def test_after_asking_again_nothing_is_said_or_heard_before_the_new_offer() -> None:
    # Else a ready or a move that crosses with the offer would be taken for an answer to it.
    arbiter, bot = at_a_turn()
    arbiter.receive(cast("Message", bot.send(Resume(game="g", seen=0))), 1, 1)
    for message in (Move(game="g", seq=1, move="-"), Ready(game="g")):
        with pytest.raises(RuntimeError, match="not offered"):
            bot.send(cast("GameMessage", message))
        with pytest.raises(PeerError, match="out_of_turn"):
            arbiter.receive(message, 1, 1)
    assert bot.receive(refusal(1, 1)) == (None, []), "sent before the arbiter heard of it"
    assert bot.receive(arbiter.send(offer(1))) == (offer(1), [])


def test_a_second_copy_of_the_end_is_no_fault() -> None:
    # A move crosses with game_over and, being late, gets game_over as its answer.
    _, bot = at_a_turn()
    assert bot.receive(over(1)) == (over(1), [])
    assert bot.receive(over(1)) == (None, [])


def test_a_bot_that_never_heard_of_a_game_may_be_told_that_it_is_over() -> None:
    assert BotSession().receive(over(9)) == (over(9), [])


def test_a_connection_of_many_games_stays_small() -> None:
    bot = BotSession()
    for number in range(100):
        bot.receive(offer(game=f"g{number}"))
        bot.receive(over(0, game=f"g{number}"))
    assert not bot.games


def test_a_connection_of_many_declined_games_stays_small() -> None:
    bot = BotSession()
    for number in range(100):
        game = f"g{number}"
        bot.receive(offer(game=game))
        bot.send(Decline(game=game, code="busy", message=""))
    assert len(bot.games) <= KEPT_ENDED
    assert bot.receive(over(0, game="g0")) == (over(0, game="g0"), []), "it still counts"
