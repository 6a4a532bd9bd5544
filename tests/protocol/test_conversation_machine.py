"""Both ends of the conversation against each other, with lost connections and repetitions."""

from __future__ import annotations

from collections import deque
from typing import cast

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.strategies import integers, sampled_from
from small_messages import ONE_OF_EACH, committed, offer, over, played, refusal, started, your_turn

from protocol.messages import (
    GameMessage,
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
from protocol.session import _TABLE, ArbiterSession, BotSession, FromArbiter, Repeated, Side, State


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
