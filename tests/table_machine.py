"""A table and two seats that do what they please, as a state machine."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.strategies import integers, sampled_from
from tables import GAME, MINUTE, NONCES, Play, random_policy

from engine.rules.position import tiles_of
from harness.arbiter.records import Commitments, TurnRecord
from harness.arbiter.views import Recipient
from protocol.errors import PeerError
from protocol.messages import GameOver, Move, NewGame, Played, Resign, Resume, Started
from protocol.parts import TimeControl
from protocol.session import State

CONTROLS = (
    TimeControl(initial_ms=MINUTE, max_overtime_ms=MINUTE, lag_ms=150),
    TimeControl(initial_ms=20_000, increment_ms=3_000, max_overtime_ms=0, margin_ms=20),
    TimeControl(initial_ms=MINUTE, move_cap_ms=10_000, first_move_ms=8_000),
)
seats = integers(0, 1)


class AtTheTable(RuleBasedStateMachine):
    """Plays, refusals, thoughts, lost connections, crashes, repetitions, time."""

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(CONTROLS[0])
        self.here = [False, False]
        self.settled = False

    def open(self, control: TimeControl, seed: int) -> None:
        self.play = Play(control)
        self.commits = seed % 2 == 0, seed % 3 == 0
        self.policy = random_policy(seed)
        self.settled = True
        self.clocks = self.play.book.clocks(self.play.now)
        self.turns = 0
        self.last_move: tuple[int, Move] | None = None

    @rule(control=sampled_from(CONTROLS), seed=integers(0, 1_000))
    @precondition(lambda self: not self.settled)
    def a_game_is_set_up(self, control: TimeControl, seed: int) -> None:
        self.open(control, seed)

    # --- what may happen ------------------------------------------------------------------------

    @rule(seat=seats)
    @precondition(lambda self: self.settled)
    def a_seat_comes(self, seat: int) -> None:
        self.play.come(seat)
        self.here[seat] = True

    @rule()
    @precondition(lambda self: self.settled and not self.play.table.over)
    def both_are_there_and_ready(self) -> None:
        """And neither keeps back its nonce."""
        for seat in (0, 1):
            if not self.here[seat] and not self.play.table.over:
                self.a_seat_comes(seat)
            self.a_seat_is_ready(seat)
        for seat in (0, 1):
            if self.state(seat) is State.TO_REVEAL:
                self.play.reveal(seat)

    def a_seat_is_ready(self, seat: int) -> None:
        if self.state(seat) is State.OFFERED and self.commits[seat]:
            self.play.commit(seat)
        elif self.state(seat) is State.OFFERED:
            self.play.ready(seat)

    @rule(seat=seats)
    @precondition(lambda self: State.TO_REVEAL in (self.state(0), self.state(1)))
    def a_seat_reveals_its_nonce(self, seat: int) -> None:
        if self.state(seat) is State.TO_REVEAL:
            self.play.reveal(seat)

    @rule(seat=seats)
    @precondition(lambda self: any(self.here))
    def a_seat_goes(self, seat: int) -> None:
        self.play.leave(seat)
        self.here[seat] = False

    @rule(seat=seats, code=sampled_from(("crash", "stall")))
    @precondition(lambda self: self.settled and self.play.book.next_seq > 4)
    def a_process_fails(self, seat: int, code: str) -> None:
        self.play.carry_out(self.play.table.fail(seat, code, "gone", self.play.now))  # type: ignore[arg-type]
        self.here[seat] = False

    @rule(seat=seats)
    @precondition(lambda self: self.settled)
    def a_seat_asks_again(self, seat: int) -> None:
        if self.here[seat] and self.state(seat) not in (None, State.UNKNOWN):
            self.play.say(seat, self.play.resume(seat))

    def state(self, seat: int) -> State | None:
        game = self.play.bots[seat].games.get(GAME)
        return None if game is None or not self.here[seat] else game.state

    def to_move(self) -> bool:
        return self.settled and State.TO_MOVE in (self.state(0), self.state(1))

    def says(self, text: str, lag_ms: int = 0) -> None:
        seat, move = self.play.seat, self.play.the_move(text)
        self.last_move = seat, move
        self.play.say(seat, move, lag_ms=lag_ms)

    @rule(ms=integers(0, 2_500), lag_ms=integers(0, 400))
    @precondition(to_move)
    def a_move_is_made(self, ms: int, lag_ms: int) -> None:
        self.play.wait(ms)
        if self.to_move():
            self.says(self.policy(self.play), lag_ms)

    @rule()
    @precondition(to_move)
    def several_moves_are_made(self) -> None:
        for _ in range(6):
            self.both_are_there_and_ready()
            if self.to_move():
                self.says(self.policy(self.play))

    @rule(text=sampled_from(("8D QQQQQQQ", "nonsense", "-QQ", "1A A")))
    @precondition(to_move)
    def a_move_is_refused(self, text: str) -> None:
        self.says(text)

    @rule()
    @precondition(to_move)
    def a_seat_thinks(self) -> None:
        self.play.think("hm")

    @rule()
    @precondition(lambda self: self.to_move() and self.play.book.next_seq > 20)
    def a_seat_resigns(self) -> None:
        self.play.say(self.play.seat, Resign(game=GAME, seq=self.play.book.next_seq))

    @rule()
    @precondition(lambda self: self.settled and self.last_move is not None)
    def a_move_comes_twice(self) -> None:
        seat, move = self.last_move or (0, None)
        before = len(self.play.records)
        if self.here[seat] and move is not None and self.state(seat) in (State.WAITING, State.OVER):
            self.play.hear(seat, move)
            assert len(self.play.records) == before, "nothing happens twice"

    @rule(seat=seats, seq=integers(0, 6))
    @precondition(lambda self: self.settled)
    def something_out_of_place_is_said(self, seat: int, seq: int) -> None:
        before = len(self.play.records)
        if seat != self.play.book.on_turn:
            with suppress(PeerError):
                self.play.hear(seat, Move(game=GAME, seq=seq, move="-"))
            assert len(self.play.records) == before

    @rule(ms=sampled_from((10, 800, 9_000)))
    @precondition(lambda self: self.settled)
    def time_passes(self, ms: int) -> None:
        self.play.wait(ms)

    # --- what holds -----------------------------------------------------------------------------

    @invariant()
    def one_seat_at_most_is_to_move(self) -> None:
        if self.settled:
            asked = [
                seat
                for seat, side in enumerate(self.play.table._seats)
                if side.session is not None
                and side.session.state in (State.TO_MOVE, State.ANSWERED)
            ]
            assert asked in ([], [self.play.book.on_turn])

    @invariant()
    def no_game_begins_while_a_seat_that_committed_itself_keeps_its_nonce(self) -> None:
        if self.settled and self.play.book.game is not None:
            assert self.play.book.nonces == NONCES
            bound = any(isinstance(record, Commitments) for record in self.play.records)
            assert bound == any(self.commits)

    @invariant()
    def events_have_no_gaps(self) -> None:
        for recipient in (0, 1, None):
            check_sequence(self.play, recipient)

    @invariant()
    def clocks_rise_by_increment_or_credit_only(self) -> None:
        if not self.settled:
            return
        control = self.play.book.opened.time
        clocks = self.play.book.clocks(self.play.now)
        made = self.play.book.turns[self.turns :]
        for seat in (0, 1):
            own = [turn for turn in made if turn.seat == seat]
            credit = sum(control.increment_ms + turn.lag_ms for turn in own)
            assert clocks[seat] <= self.clocks[seat] + credit
            assert all(turn.lag_ms <= control.lag_ms for turn in own)
        self.clocks, self.turns = clocks, len(self.play.book.turns)

    @invariant()
    def tiles_are_conserved(self) -> None:
        game = self.play.book.game
        if game is not None:
            tiles = [*tiles_of(game.position.board, game.position.racks), *game.bag.order]
            assert Counter(tiles) == Counter(game.rules.distribution.all_tiles())

    @invariant()
    def no_seat_waits_for_ever(self) -> None:
        if self.settled:
            assert (self.play.table.deadline() is None) == self.play.table.over

    def teardown(self) -> None:
        """Left alone, every game ends, and everybody is told the same."""
        if not self.settled:
            return
        self.play.wait(10**7)
        result = self.play.result
        for seat in (0, 1):
            if not self.here[seat]:
                self.play.come(seat)
            self.play.hear(seat, Resume(game=GAME))
        verdicts = [said for _, said in self.play.sent if isinstance(said, GameOver)]
        assert len(verdicts) >= 3
        assert len(set(map(repr, verdicts))) == 1
        assert verdicts[0].scores == result.scores
        turns = [record for record in self.play.records if isinstance(record, TurnRecord)]
        for seat in (0, 1):
            earned = sum(turn.score for turn in turns if turn.seat == seat)
            settled = result.rack_adjustments[seat] - result.time_penalties[seat]
            assert result.scores[seat] == earned + settled


def check_sequence(play: Play, recipient: Recipient) -> None:
    """Every event comes in order, and again only in answer to a repetition or a new offer."""
    due = 0
    for to, said in play.sent:
        if to != recipient:
            continue
        match said:
            case NewGame(seq=seq):
                due = max(due, seq)
            case Started(seq=seq) | Played(seq=seq):
                assert seq <= due
                due = max(due, seq + 1)
            case GameOver(seq=seq):
                assert seq >= due or due == seq + 1
