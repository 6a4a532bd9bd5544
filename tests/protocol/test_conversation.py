"""What may be said in a conversation and what may not, at either end."""

from __future__ import annotations

from collections import deque
from itertools import product
from typing import cast

import msgspec
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.strategies import integers, sampled_from
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
    NewGame,
    Played,
    Ready,
    Resign,
    Resume,
    Reveal,
    Started,
)
from protocol.session import (
    _TABLE,
    KEPT_ENDED,
    ArbiterSession,
    BotSession,
    Conversation,
    FromArbiter,
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


def test_a_refused_move_or_its_refusal_that_comes_again_is_no_new_attempt() -> None:
    arbiter, bot = at_a_turn()
    move = Move(game="g", seq=1, move="nonsense")
    bot.send(move)
    arbiter.receive(move, 1, 1)
    bot.receive(arbiter.send(refusal(1, 1)))
    assert bot.receive(refusal(1, 1)) == (None, [])
    assert bot.games["g"].attempt == 2
    assert arbiter.receive(move, 1, 2) == Repeated(move)
    second = Move(game="g", seq=1, move="-", attempt=2)
    assert arbiter.receive(second, 1, 2) == second


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


def test_the_end_of_a_game_may_come_twice_or_to_who_never_heard_of_it() -> None:
    # A move crosses with game_over and, being late, gets game_over as its answer.
    for bot in (at_a_turn()[1], BotSession()):
        assert bot.receive(over(1)) == (over(1), [])
        assert bot.receive(over(1)) == (None, [])


def test_a_connection_of_many_games_stays_small() -> None:
    played_on, declining = BotSession(), BotSession()
    for number in range(100):
        game = f"g{number}"
        for bot in (played_on, declining):
            bot.receive(offer(game=game))
        played_on.receive(over(0, game=game))
        declining.send(Decline(game=game, code="busy", message=""))
    assert not played_on.games
    assert len(declining.games) <= KEPT_ENDED
    assert declining.receive(over(0, game="g0")) == (over(0, game="g0"), []), "it still counts"


# --- both ends against each other, with lost connections and repetitions --------------------------


class Talk(RuleBasedStateMachine):
    """An arbiter and a bot that say what they may, over a line that breaks and repeats."""

    def __init__(self) -> None:
        super().__init__()
        self.arbiter, self.bot = ArbiterSession("g"), BotSession()
        self.to_bot: deque[Message] = deque()
        self.to_arbiter: deque[Message] = deque()
        self.events: list[Played] = []
        self.turn_is_on = False
        self.begun = self.ended = self.ready = False
        self.refusals: list[tuple[int, int]] = []
        self.decided: dict[tuple[int, int], Message] = {}
        self.heard: list[int] = []
        self.offered_seq = 0
        self.say(offer())

    # What the arbiter does.

    @property
    def next_seq(self) -> int:
        return len(self.events) + self.begun

    @property
    def attempt(self) -> int:
        return 1 + sum(seq == self.next_seq for seq, _ in self.refusals)

    @property
    def bot_is_to_move(self) -> bool:
        return self.turn_is_on and self.seat_to_move == 0

    @property
    def seat_to_move(self) -> int:
        return len(self.events) % 2

    def say(self, message: FromArbiter) -> None:
        self.to_bot.append(self.arbiter.send(message))

    def ask(self) -> None:
        self.turn_is_on = True
        if self.bot_is_to_move and self.ready:
            self.say(your_turn(self.next_seq, self.attempt))

    def verdict(self, message: Move, *, is_legal: bool) -> None:
        key = (message.seq, message.attempt)
        assert key not in self.decided, "a move was judged twice"
        if is_legal or message.attempt >= 3:
            answer: FromArbiter = played(message.seq)
            self.events.append(played(message.seq))
            self.turn_is_on = False
        else:
            self.refusals.append(key)
            answer = refusal(*key)
        self.decided[key] = answer
        self.say(answer)

    @rule(is_legal=integers(0, 3).map(bool))
    @precondition(lambda self: self.to_arbiter)
    def the_arbiter_hears(self, is_legal: bool) -> None:
        attempt = self.attempt if self.bot_is_to_move else 1
        next_seq = self.next_seq + self.ended
        event = self.arbiter.receive(self.to_arbiter.popleft(), next_seq, attempt)
        match event:
            case Ready():
                self._ready(event)
            case Reveal():
                assert not self.begun
                self._start()
            case Move():
                assert not self.ended
                self.verdict(event, is_legal=is_legal)
            case Resign():
                self._end()
            case Resume(seen=seen):
                self._offer_again(seen)
            case Repeated(message=Move() as move) if (move.seq, move.attempt) in self.decided:
                self.to_bot.append(self.decided[move.seq, move.attempt])
            case Repeated():
                assert self.ended

    def _start(self) -> None:
        self.say(started())
        self.begun = True

    def _ready(self, ready: Ready) -> None:
        self.ready = True
        if not self.begun:
            if ready.commitment:
                self.say(committed())
            else:
                self._start()
            return
        for event in self.events:
            if event.seq >= self.offered_seq:
                self.say(event)
        if self.turn_is_on:
            self.ask()

    def _offer_again(self, seen: int) -> None:
        self.ready = False
        if self.ended:
            self.say(over(self.next_seq))
            return
        self.offered_seq = self.next_seq
        history = tuple(event for event in self.events if event.seq > seen)
        self.say(offer(self.next_seq, history))

    def _end(self) -> None:
        self.ended, self.turn_is_on = True, False
        self.say(over(self.next_seq))

    @rule()
    @precondition(lambda self: self.begun and not self.turn_is_on and not self.ended)
    def a_turn_begins(self) -> None:
        self.ask()

    @rule()
    @precondition(lambda self: self.turn_is_on and self.seat_to_move == 1)
    def the_opponent_moves(self) -> None:
        event = played(self.next_seq, 1)
        if self.ready:
            self.say(event)
        self.events.append(event)
        self.turn_is_on = False

    @rule()
    @precondition(lambda self: len(self.events) > 6 and not self.ended)
    def the_game_ends(self) -> None:
        self._end()

    # What the bot does.

    @property
    def bot_waits_for_an_offer(self) -> bool:
        return self.bot.games["g"].state is State.UNKNOWN

    @rule()
    @precondition(lambda self: self.to_bot)
    def the_bot_hears(self) -> None:
        event, replies = self.bot.receive(self.to_bot.popleft())
        self.to_arbiter.extend(replies)
        match event:
            case NewGame():
                known = self.heard[-1] if self.heard else -1
                self.heard.extend(turn.seq for turn in event.history if turn.seq > known)
            case Started() | Played():
                self.heard.append(event.seq)

    def may_say(self, message: GameMessage) -> bool:
        talk = self.bot.games.get("g")
        return talk is not None and type(message) in _TABLE[talk.state][Side.BOT]

    def tell(self, message: GameMessage) -> None:
        self.to_arbiter.append(cast("Message", self.bot.send(message)))

    @rule(commitment=sampled_from(("", "aa" * 32)))
    @precondition(lambda self: self.may_say(Ready(game="g")))
    def the_bot_is_ready(self, commitment: str) -> None:
        self.tell(Ready(game="g", commitment=commitment))

    @rule()
    @precondition(lambda self: self.may_say(ONE_OF_EACH[Reveal]))
    def the_bot_reveals_its_nonce(self) -> None:
        self.tell(ONE_OF_EACH[Reveal])

    @rule()
    @precondition(lambda self: self.may_say(Info(game="g", seq=0)))
    def the_bot_thinks(self) -> None:
        self.tell(Info(game="g", seq=self.bot.games["g"].next_seq))

    @rule()
    @precondition(lambda self: self.may_say(ONE_OF_EACH[Move]))
    def the_bot_moves(self) -> None:
        talk = self.bot.games["g"]
        self.tell(Move(game="g", seq=talk.next_seq, move="-", attempt=talk.attempt))

    @rule()
    @precondition(lambda self: self.may_say(ONE_OF_EACH[Resign]) and len(self.events) > 4)
    def the_bot_resigns(self) -> None:
        self.tell(Resign(game="g", seq=self.bot.games["g"].next_seq))

    @rule()
    @precondition(lambda self: "g" in self.bot.games and not self.bot_waits_for_an_offer)
    def the_bot_has_missed_something(self) -> None:
        self.tell(self.asks_again())

    def asks_again(self) -> Resume:
        talk = self.bot.games.get("g")
        return Resume(game="g", seen=-1 if talk is None else talk.next_seq - 1)

    # What the line does.

    @rule()
    @precondition(lambda self: self.ended and "g" not in self.bot.games and not self.to_bot)
    def nothing_is_left_to_do(self) -> None:
        """Both ends may have forgotten the game before the run is over."""

    @rule()
    @precondition(lambda self: any(isinstance(said, Move) for said in self.to_arbiter))
    def a_move_comes_twice(self) -> None:
        self.to_arbiter.append(next(said for said in self.to_arbiter if isinstance(said, Move)))

    @rule()
    @precondition(lambda self: not self.ended or "g" in self.bot.games)
    def the_line_breaks(self) -> None:
        """What was under way is lost; the bot connects again and asks for the game."""
        self.to_bot.clear()
        self.to_arbiter.clear()
        self.arbiter = ArbiterSession("g")
        self.ready = False
        self.tell(self.asks_again())

    @invariant()
    def every_event_is_heard_once_and_in_order(self) -> None:
        assert self.heard in (list(range(len(self.heard))), list(range(1, len(self.heard) + 1)))

    @invariant()
    def the_bot_is_to_move_only_when_it_is_its_turn(self) -> None:
        if self.arbiter.state in (State.TO_MOVE, State.ANSWERED):
            assert self.bot_is_to_move


Talk.TestCase.settings = settings(max_examples=60, stateful_step_count=60)
TestTalk = Talk.TestCase
