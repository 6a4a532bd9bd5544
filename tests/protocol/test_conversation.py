"""Both ends of the conversation against each other, with lost connections and repetitions."""

from __future__ import annotations

from collections import deque
from itertools import product
from typing import cast

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.strategies import integers

from protocol.conversation import _TABLE, Conversation, Side, State
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    Error,
    GameMessage,
    GameOver,
    Goodbye,
    Hello,
    Info,
    Message,
    Move,
    NewGame,
    Ping,
    Played,
    Pong,
    Ready,
    Refused,
    Resign,
    Resume,
    Started,
    YourTurn,
)
from protocol.session import KEPT_ENDED, ArbiterSession, BotSession, FromArbiter, Repeated

CLOCKS = (60_000, 60_000)


def offer(seq: int = 0, history: tuple[Played, ...] = (), game: str = "g") -> NewGame:
    return NewGame(game=game, seq=seq, players=("a", "b"), you=0, lexicon="words", history=history)


def started() -> Started:
    return Started(game="g", seq=0, bag=86, clocks=CLOCKS)


def played(seq: int, seat: int = 0, game: str = "g") -> Played:
    return Played(
        game=game, seq=seq, seat=seat, move="-", score=0, scores=(0, 0), bag=86, clocks=CLOCKS
    )


def your_turn(seq: int, attempt: int = 1) -> YourTurn:
    return YourTurn(
        game="g",
        seq=seq,
        position="",
        rack="",
        bag=86,
        clocks=CLOCKS,
        deadline_ms=1,
        attempt=attempt,
    )


def refusal(seq: int, attempt: int) -> Refused:
    return Refused(
        game="g",
        seq=seq,
        attempt=attempt,
        code="not_a_word",
        message="no",
        attempts_left=2,
        deadline_ms=1,
    )


def over(seq: int, game: str = "g") -> GameOver:
    return GameOver(game=game, seq=seq, outcome="zeroes", winner=None, scores=(0, 0), message="")


ONE_OF_EACH: dict[type, GameMessage] = {
    type(message): message
    for message in cast(
        "list[GameMessage]",
        [
            *(offer(), Ready(game="g"), Decline(game="g", code="busy", message="no"), started()),
            *(your_turn(0), Move(game="g", seq=0, move="-"), Resign(game="g", seq=0)),
            *(Info(game="g", seq=0), played(0), refusal(0, 1), Resume(game="g"), over(0)),
        ],
    )
}


@pytest.mark.parametrize(("state", "side"), list(product(State, Side)))
def test_what_is_in_the_table_may_be_said_and_nothing_else(state: State, side: Side) -> None:
    for kind, message in ONE_OF_EACH.items():
        talk = Conversation("g")
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
    talk = Conversation("g")
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
    arbiter, bot = ArbiterSession(), BotSession()
    bot.receive(arbiter.send(offer()))
    arbiter.receive(cast("Message", bot.send(Ready(game="g"))))
    for message in (started(), your_turn(1)):
        bot.receive(arbiter.send(message))
    return arbiter, bot


def test_small_talk_needs_no_game() -> None:
    assert ArbiterSession.small_talk(Ping(id=3)) == [Pong(id=3)]
    for quiet in (Pong(id=3), Error(code="busy", message=""), Goodbye(code="x", message="")):
        assert BotSession.small_talk(quiet) == []
    assert BotSession.small_talk(Move(game="g", seq=0, move="-")) is None


def test_what_belongs_to_the_other_role_is_refused() -> None:
    arbiter, bot = at_a_turn()
    for message in (your_turn(1), Hello(role="player", name="n")):
        with pytest.raises(PeerError, match="wrong_role"):
            arbiter.receive(message)
    with pytest.raises(PeerError, match="wrong_role"):
        bot.receive(Move(game="g", seq=1, move="-"))


def test_games_that_were_never_offered_are_refused() -> None:
    for message in (Move(game="h", seq=1, move="-"), Ready(game="h"), Resume(game="h")):
        with pytest.raises(PeerError, match="unknown_game"):
            ArbiterSession().receive(message)
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
    assert arbiter.receive(move) == move
    assert arbiter.receive(move) is None, "its verdict is on the way"
    arbiter.send(played(1))
    assert arbiter.receive(move) == Repeated(move)


def test_a_refused_move_that_comes_again_is_no_new_attempt() -> None:
    arbiter, _ = at_a_turn()
    move = Move(game="g", seq=1, move="nonsense")
    arbiter.receive(move)
    arbiter.send(refusal(1, 1))
    assert arbiter.receive(move) == Repeated(move)
    second = Move(game="g", seq=1, move="-", attempt=2)
    assert arbiter.receive(second) == second


def test_an_attempt_that_was_not_asked_for_is_refused() -> None:
    arbiter, _ = at_a_turn()
    with pytest.raises(PeerError, match="bad_attempt"):
        arbiter.receive(Move(game="g", seq=1, move="-", attempt=2))


def test_a_thought_that_crosses_with_the_verdict_is_nobodys_fault() -> None:
    arbiter, _ = at_a_turn()
    arbiter.receive(Move(game="g", seq=1, move="-"))
    arbiter.send(played(1))
    assert arbiter.receive(Info(game="g", seq=1)) is None


def test_a_bot_that_is_asked_the_same_again_gives_the_same_answer() -> None:
    _, bot = at_a_turn()
    move = bot.send(Move(game="g", seq=1, move="8D WORD"))
    again = ArbiterSession()
    bot.receive(again.send(offer(1)))
    again.receive(cast("Message", bot.send(Ready(game="g"))))
    assert bot.receive(again.send(your_turn(1))) == (None, [move])


def test_after_asking_again_nothing_is_said_or_heard_before_the_new_offer() -> None:
    # Else a ready or a move that crosses with the offer would be taken for an answer to it.
    arbiter, bot = at_a_turn()
    arbiter.receive(cast("Message", bot.send(bot.resume("g"))))
    for message in (Move(game="g", seq=1, move="-"), Ready(game="g")):
        with pytest.raises(RuntimeError, match="not offered"):
            bot.send(cast("GameMessage", message))
        with pytest.raises(PeerError, match="out_of_turn"):
            arbiter.receive(message)
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
    arbiter, bot = ArbiterSession(), BotSession()
    for number in range(100):
        game = f"g{number}"
        bot.receive(arbiter.send(offer(game=game)))
        bot.receive(arbiter.send(over(0, game=game)))
    assert len(arbiter.games) <= KEPT_ENDED
    assert len(bot.games) + len(bot.seen) == 0


# --- both together --------------------------------------------------------------------------------


class Talk(RuleBasedStateMachine):
    """An arbiter and a bot that say what they may, over a line that breaks and repeats."""

    def __init__(self) -> None:
        super().__init__()
        self.arbiter, self.bot = ArbiterSession(), BotSession()
        self.to_bot: deque[Message] = deque()
        self.to_arbiter: deque[Message] = deque()
        self.events: list[Played] = []
        self.turn_is_on = False
        self.begun = self.ended = self.ready = False
        self.refusals: list[tuple[int, int]] = []
        self.decided: dict[tuple[int, int], Message] = {}
        self.heard: list[int] = []
        self.say(offer())

    # What the arbiter does.

    @property
    def next_seq(self) -> int:
        return len(self.events) + self.begun

    @property
    def attempt(self) -> int:
        return 1 + sum(seq == self.next_seq for seq, _ in self.refusals)

    @property
    def seat_to_move(self) -> int:
        return len(self.events) % 2

    def say(self, message: FromArbiter) -> None:
        self.to_bot.append(self.arbiter.send(message))

    def ask(self) -> None:
        self.turn_is_on = True
        if self.seat_to_move == 0 and self.ready:
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
        message = self.to_arbiter.popleft()
        if "g" not in self.arbiter.games:  # a new connection
            assert isinstance(message, Resume)
            self._offer_again(message.seen)
            return
        event = self.arbiter.receive(message)
        match event:
            case Ready():
                self._ready()
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

    def _ready(self) -> None:
        self.ready = True
        if not self.begun:
            self.say(started())
            self.begun = True
            return
        known = self.arbiter.games["g"].next_seq
        for event in self.events:
            if event.seq >= known:
                self.say(event)
        if self.turn_is_on:
            self.ask()

    def _offer_again(self, seen: int) -> None:
        self.ready = False
        if self.ended:
            self.say(over(self.next_seq))
            return
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

    @rule()
    @precondition(lambda self: self.may_say(Ready(game="g")))
    def the_bot_is_ready(self) -> None:
        self.tell(Ready(game="g"))

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
        self.tell(self.bot.resume("g"))

    # What the line does.

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
        self.arbiter = ArbiterSession()
        self.ready = False
        self.tell(self.bot.resume("g"))

    @invariant()
    def every_event_is_heard_once_and_in_order(self) -> None:
        assert self.heard in (list(range(len(self.heard))), list(range(1, len(self.heard) + 1)))

    @invariant()
    def the_bot_is_to_move_only_when_it_is_its_turn(self) -> None:
        talk = self.arbiter.games.get("g")
        if talk is not None and talk.state in (State.TO_MOVE, State.ANSWERED):
            assert self.turn_is_on
            assert self.seat_to_move == 0


Talk.TestCase.settings = settings(max_examples=150, stateful_step_count=60, deadline=None)
TestTalk = Talk.TestCase
