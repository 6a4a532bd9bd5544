"""Whole games on a virtual clock: everything that SPEC.md, section 7, says can happen."""

from __future__ import annotations

import pytest
from tables import GAME, MINUTE, Play, random_policy, words

from harness.records import Failed, RefusedMove, Thought, Turn
from harness.scorebook import Scorebook
from harness.table import ATTEMPTS, MAX_THOUGHTS
from protocol.codec import MSGPACK
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    GameOver,
    Info,
    Move,
    NewGame,
    Ping,
    Played,
    Ready,
    Refused,
    Resign,
    Resume,
    Started,
    YourTurn,
)
from protocol.parts import Belief, TimeControl

SHORT = TimeControl(initial_ms=MINUTE, max_overtime_ms=2 * MINUTE, ready_ms=5_000)
ILLEGAL = "8D QQQQQQQ"


def outcome(play: Play) -> tuple[str, int | None]:
    return play.result.outcome, play.result.winner


# --- the start ------------------------------------------------------------------------------------


def test_no_clock_runs_and_no_tile_is_dealt_before_both_are_ready() -> None:
    play = Play(SHORT)
    play.come(0)
    play.come(1)
    play.ready(0)
    play.wait(4_000)
    assert not play.book.clock_runs
    assert play.told(0, Started) == []
    play.ready(1)
    assert [len(play.told(seat, Started)) for seat in (0, 1, None)] == [1, 1, 1]
    asked = play.asked()
    assert (asked.seq, asked.clocks, asked.deadline_ms) == (1, (MINUTE, MINUTE), 3 * MINUTE)
    assert play.told(1, YourTurn) == []


@pytest.mark.parametrize(
    ("ready", "winner", "faults"),
    [((), None, [0, 1]), ((0,), 0, [1]), ((1,), 1, [0])],
)
def test_who_is_not_ready_in_time_does_not_play(
    ready: tuple[int, ...], winner: int | None, faults: list[int]
) -> None:
    play = Play(SHORT)
    for seat in (0, 1):
        play.come(seat)
    for seat in ready:
        play.ready(seat)
    play.wait(4_999)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("no_show", winner)
    assert play.faults == [(seat, "no_show") for seat in faults]
    assert play.result.scores == (0, 0)
    assert play.verdict(1).racks == ("", "")


def test_who_never_comes_does_not_play_either() -> None:
    play = Play(SHORT)
    play.come(1)
    play.ready(1)
    play.wait(5_000)
    assert outcome(play) == ("no_show", 1)


def test_a_seat_may_be_ready_leave_and_come_back_before_the_start() -> None:
    play = Play(SHORT)
    play.come(0)
    play.ready(0)
    play.leave(0)
    play.come(1)
    play.ready(1)
    assert play.told(1, Started) == [], "the other is away"
    play.come(0)
    play.ready(0)
    assert len(play.told(1, Started)) == 1


def test_a_seat_that_declines_gives_the_game_to_the_other() -> None:
    play = Play()
    play.come(0)
    play.come(1)
    play.ready(0)
    play.say(1, Decline(game=GAME, code="unknown_lexicon", message="I know other words"))
    assert outcome(play) == ("no_show", 0)
    assert "declined, unknown_lexicon: I know other words" in play.result.message


def test_a_first_move_that_does_not_come_is_a_no_show() -> None:
    time = TimeControl(first_move_ms=20_000)
    play = Play(time).start()
    play.wait(20_000)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("no_show", 1)
    assert play.faults == [(0, "no_show")]
    other = Play(time).start()
    other.move(after_ms=20_000)
    other.wait(20_001)
    assert outcome(other) == ("no_show", 0), "each seat has a first move"


# --- what a seat believes of its opponent ---------------------------------------------------------


def test_what_is_known_of_an_opponent_is_told_to_the_seat_that_may_know_it_alone() -> None:
    play = Play(known_styles=(None, {"soft": 0.75})).start()
    play.move()
    play.leave(1)
    play.come(1)
    play.watch()
    offers = {to: play.told(to, NewGame) for to in (0, 1, None)}
    assert {to: len(said) for to, said in offers.items()} == {0: 1, 1: 2, None: 1}
    for to, said in offers.items():
        styles = [offer.known_style for offer in said if isinstance(offer, NewGame)]
        assert set(map(str, styles)) == {"{'soft': 0.75}" if to == 1 else "None"}


def test_a_belief_is_kept_and_its_style_is_known_to_a_restored_game_too() -> None:
    play = Play().start()
    for style in ({"soft": 1.0}, {"soft": 0.25, "greedy": 0.75}, {}):
        belief = Belief(leaves_considered=3, style=style)
        play.say(0, Info(game=GAME, seq=play.book.next_seq, belief=belief))
        play.move()
        play.move()
    thoughts = [record for record in play.records if isinstance(record, Thought)]
    assert [thought.belief and thought.belief.style for thought in thoughts] == [
        *({"soft": 1.0}, {"soft": 0.25, "greedy": 0.75}, {}),
    ]
    again = Scorebook.restored(play.records, None, play.book.rules, words())
    for book in (play.book, again):
        assert book.styles == [{"soft": 0.25, "greedy": 0.75}, None]
    told = [MSGPACK.decode(frame) for to in (1, None) for frame in play.frames[to]]
    assert not any("greedy" in str(message) for message in told)


# --- time -----------------------------------------------------------------------------------------


def test_a_silent_seat_loses_on_time_whatever_the_score() -> None:
    play = Play(SHORT).start()
    play.wait(3 * MINUTE)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("time", 1)
    assert play.faults == [(0, "time")]
    assert play.result.message == "lost on time: 180001 ms used where 180000 ms were left"


def test_a_seat_that_talks_for_ever_loses_on_time_all_the_same() -> None:
    play = Play(SHORT).start()
    began = play.now
    while not play.table.over:
        play.think("still thinking")
        play.wait(50)
    assert outcome(play) == ("time", 1)
    assert play.now - began == 3 * MINUTE + 50
    kept = [record for record in play.records if isinstance(record, Thought)]
    assert len(kept) == MAX_THOUGHTS, "the journal does not grow with them"


def test_a_move_exactly_on_time_counts_and_a_millisecond_later_does_not() -> None:
    for late_ms, over in ((0, False), (1, True)):
        play = Play(SHORT).start()
        seat, move = play.seat, play.the_move("-")
        play.now += 3 * MINUTE + late_ms  # the bytes are in before anybody looks at the clock
        play.say(seat, move)
        assert play.table.over is over
    assert outcome(play) == ("time", 1)


def test_what_lies_between_a_move_and_the_next_turn_is_charged_to_nobody() -> None:
    play = Play(SHORT).start()
    move = play.the_move("-")
    play.bots[0].send(move)
    effects = play.table.receive(0, move, play.now + 1_000)
    assert not play.book.clock_runs
    play.now += 31_000  # the disk took that long
    play.carry_out(effects)
    assert play.asked().clocks == (59_000, 60_000)


@pytest.mark.parametrize(("think_ms", "penalty"), [(0, 0), (1, 10), (MINUTE, 10), (60_001, 20)])
def test_overtime_costs_points_at_the_end(think_ms: int, penalty: int) -> None:
    play = Play(SHORT).start()
    play.move(after_ms=MINUTE + think_ms)
    for _ in range(5):
        play.move()
    result = play.result
    assert result.outcome == "zeroes"
    assert result.time_penalties == (penalty, 0)
    assert result.scores == (result.rack_adjustments[0] - penalty, result.rack_adjustments[1])
    assert result.clocks == (-think_ms, MINUTE)


def test_overtime_is_taken_off_before_the_winner_is_decided() -> None:
    quick, slow = Play(SHORT).start(), Play(SHORT).start()
    for play, first_ms in ((quick, 0), (slow, 3 * MINUTE)):
        play.move("-" + play.book.rack_text(0)[:1], after_ms=first_ms)
        for _ in range(5):
            play.move()
    ahead = quick.result.winner
    assert ahead is not None
    assert slow.result.scores[0] == quick.result.scores[0] - 20
    assert slow.result.winner == 1


def test_the_overtime_of_a_turn_in_hand_counts_when_the_other_resigns_or_the_host_fails() -> None:
    play = Play(SHORT).start()
    play.wait(MINUTE + 1)
    play.carry_out(play.table.void("the disk is full", play.now))
    assert play.result.time_penalties == (10, 0)


def test_a_turn_has_a_cap() -> None:
    capped = TimeControl(initial_ms=MINUTE, move_cap_ms=5_000)
    play = Play(capped).start()
    assert play.asked().deadline_ms == 5_000
    play.move(after_ms=5_000)
    play.wait(5_000)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("time", 0)


def test_a_margin_forgives_a_move_that_is_a_little_late() -> None:
    time = TimeControl(initial_ms=1_000, max_overtime_ms=0, margin_ms=40)
    play = Play(time).start()
    assert play.asked().deadline_ms == 1_040
    play.move(after_ms=1_040)
    assert not play.table.over
    play.wait(1_041)
    assert outcome(play) == ("time", 0)


def test_lag_is_let_off_up_to_the_quota_and_no_further() -> None:
    time = TimeControl(initial_ms=10_000, lag_ms=200)
    play = Play(time).start()
    play.move(after_ms=1_000, lag_ms=150)
    play.move(after_ms=1_000, lag_ms=5_000)
    first, second = (record for record in play.records if isinstance(record, Turn))
    assert (first.think_ms, first.lag_ms, first.clocks) == (850, 150, (9_150, 10_000))
    assert (second.think_ms, second.lag_ms, second.clocks) == (800, 200, (9_150, 9_200))


@pytest.mark.parametrize(
    ("after_ms", "lag_ms", "over"),
    [(1_100, 100, False), (1_100, 99, True), (1_200, 5_000, False), (1_201, 5_000, True)],
)
def test_a_move_held_up_on_its_way_is_waited_for(after_ms: int, lag_ms: int, over: bool) -> None:
    # The lag of a move is known once it is here: the game is not called before it could be.
    play = Play(TimeControl(initial_ms=1_000, max_overtime_ms=0, lag_ms=200)).start()
    assert play.asked().deadline_ms == 1_000
    if after_ms > 1_200:
        play.wait(after_ms)
    else:
        play.move(after_ms=after_ms, lag_ms=lag_ms)
    assert play.table.over is over


def test_an_increment_comes_after_each_move() -> None:
    play = Play(TimeControl(initial_ms=5_000, increment_ms=2_000, max_overtime_ms=0)).start()
    play.move(after_ms=1_500)
    play.move(after_ms=5_000)
    assert play.book.clocks(play.now) == (5_500, 2_000)
    play.wait(5_501)
    assert outcome(play) == ("time", 1)


# --- moves against the rules ----------------------------------------------------------------------


def test_the_third_refusal_in_one_turn_loses() -> None:
    play = Play().start()
    for left in (2, 1):
        play.move(ILLEGAL, after_ms=1_000)
        refused = play.events[0][-1]
        assert isinstance(refused, Refused)
        assert refused.attempts_left == left
        assert refused.code in ("not_on_rack", "not_a_word")
        assert refused.deadline_ms == play.book.time_left(play.now)
    assert play.book.clocks(play.now)[0] == 25 * MINUTE - 2_000, "the clock runs on"
    play.move(ILLEGAL)
    assert outcome(play) == ("illegal", 1)
    assert play.faults == [(0, "illegal")]
    assert len([record for record in play.records if isinstance(record, RefusedMove)]) == ATTEMPTS
    assert play.told(1, Refused) == play.told(None, Refused) == []


def test_a_new_turn_has_three_attempts_again() -> None:
    play = Play().start()
    for _ in range(4):
        play.move(ILLEGAL)
        play.move("no move at all")
        play.move("-")
    assert not play.table.over
    assert play.book.faults == []


def test_a_refused_move_that_is_repeated_is_no_further_attempt() -> None:
    play = Play().start()
    move = play.the_move(ILLEGAL)
    play.say(0, move)
    for _ in range(10):
        play.hear(0, move)
    assert not play.table.over
    assert play.book.attempt == 2
    assert len(play.told(0, Refused)) == 11
    assert len([event for event in play.events[0] if isinstance(event, Refused)]) == 1


@pytest.mark.parametrize(
    ("move", "code"),
    [
        ("8D", "not_a_move"),
        ("-3", "not_a_move"),
        ("8D Ä", "not_a_move"),
        ("99Z AB", "not_a_move"),
        ("-QQQQ", "not_on_rack"),
    ],
)
def test_any_text_is_refused_with_a_code(move: str, code: str) -> None:
    play = Play().start()
    play.move(move)
    refused = play.events[0][-1]
    assert isinstance(refused, Refused)
    assert refused.code == code


# --- lost connections -----------------------------------------------------------------------------


def test_a_seat_that_comes_back_has_lost_time_and_nothing_else() -> None:
    play = Play(SHORT).start()
    play.move("-")
    play.move("-")
    play.leave(0)
    play.wait(30_000)
    play.come(0)
    offer = play.offered(0)
    assert (offer.seq, offer.you, offer.rack) == (3, 0, play.book.rack_text(0))
    assert offer.clocks == (30_000, MINUTE), "its clock ran"
    assert offer.history == (), "it has seen everything"
    play.ready(0)
    asked = play.asked()
    assert (asked.seq, asked.clocks, asked.deadline_ms) == (3, (30_000, MINUTE), 150_000)
    assert not play.table.over


def test_what_a_seat_has_missed_is_told_when_it_comes_back() -> None:
    play = Play().start()
    play.move("-")
    play.leave(0)
    play.move("-" + play.book.rack_text(1)[:2])
    play.wait(1_000)
    play.come(0)
    offer = play.offered(0)
    assert [(turn.seq, turn.seat, turn.move) for turn in offer.history] == [(2, 1, "-2")]
    assert all(turn.rack is None for turn in offer.history)


def test_a_turn_that_is_taken_before_the_seat_is_ready_again_is_told_then() -> None:
    play = Play().start()
    play.move("-")
    play.leave(0)
    play.come(0)
    play.move("-")
    play.ready(0)
    last = play.events[0][-2:]
    assert [type(event) for event in last] == [Played, YourTurn]
    assert [event.seq for event in last if isinstance(event, Played | YourTurn)] == [2, 3]


def test_a_move_whose_answer_was_lost_is_not_made_twice() -> None:
    play = Play().start()
    move = play.the_move("-")
    play.say(0, move)
    for _ in range(3):
        play.hear(0, move)
    assert len(play.book.turns) == 1
    assert len(play.told(0, Played)) == 4
    assert len(set(map(repr, play.told(0, Played)))) == 1, "the same answer each time"
    assert len(play.told(1, Played)) == 1


def test_a_move_that_never_arrived_is_given_again_when_asked_again() -> None:
    play = Play().start()
    play.bots[0].send(play.the_move("-"))  # lost on its way
    play.leave(0)
    play.come(0)
    play.ready(0)
    while play.replies:
        play.hear(*play.replies.pop(0))
    assert [turn.seat for turn in play.book.turns] == [0]


def test_the_newest_login_counts() -> None:
    play = Play().start()
    play.come(0)  # the older connection is still there
    play.hear(0, play.the_move("-"))  # it crossed with the new offer
    assert play.book.turns == []
    play.ready(0)
    play.move("-")
    assert len(play.book.turns) == 1


def test_a_seat_that_is_away_when_its_time_runs_out_loses_on_time() -> None:
    play = Play(SHORT).start()
    play.wait(1_000)
    play.leave(0)
    play.wait(3 * MINUTE)
    assert outcome(play) == ("time", 1)
    assert play.faults == [(0, "disconnect"), (0, "time")]
    assert play.verdict(1).outcome == "time"
    assert play.told(0, GameOver) == []
    play.come(0)
    assert play.verdict(0).outcome == "time", "who comes back late learns how it ended"


def test_a_seat_may_ask_for_the_game_again_on_the_same_connection() -> None:
    play = Play().start()
    play.move("-")
    play.say(0, Resume(game=GAME, seen=-1))
    assert [turn.seq for turn in play.offered(0).history] == [1]
    play.ready(0)
    play.move("-")
    play.move("-")
    assert len(play.book.turns) == 3


def test_the_opponent_goes_on_while_a_seat_is_away() -> None:
    play = Play(SHORT).start()
    play.move("-")
    play.leave(0)
    play.move("-", after_ms=1_000)
    assert play.book.clock_runs, "the clock of the seat that is away runs"
    play.wait(3 * MINUTE + 1)
    assert outcome(play) == ("time", 1)


# --- processes that fail --------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["crash", "stall"])
def test_a_process_is_started_again_once_with_its_clock_running(code: str) -> None:
    play = Play(SHORT).start()
    play.carry_out(play.table.fail(0, code, "it is gone", play.now))  # type: ignore[arg-type]
    assert play.restarts == [0]
    play.wait(10_000)
    play.come(0)
    play.ready(0)
    assert play.asked().clocks == (50_000, MINUTE)
    play.move("-")
    play.carry_out(play.table.fail(0, code, "again", play.now))  # type: ignore[arg-type]
    assert outcome(play) == (code, 1)
    assert play.faults == [(0, code), (0, code)]
    assert play.restarts == [0]


def test_one_crash_is_noted_in_a_game_that_is_played_to_its_end() -> None:
    play = Play().start()
    play.carry_out(play.table.fail(1, "crash", "signal 11", play.now))
    play.come(1)
    play.ready(1)
    for _ in range(6):
        play.move("-")
    assert play.result.outcome == "zeroes"
    assert play.faults == [(1, "crash")]


def test_a_process_that_never_gets_ready_gives_no_game() -> None:
    play = Play()
    play.come(0)
    play.ready(0)
    for _ in range(2):
        play.carry_out(play.table.fail(1, "crash", "no module named x", play.now))
    assert outcome(play) == ("no_show", 0)
    assert play.faults == [(1, "crash"), (1, "crash"), (1, "no_show")]


def test_the_last_words_of_a_process_are_cut_to_what_a_message_may_carry() -> None:
    play = Play().start()
    for _ in range(2):
        play.carry_out(play.table.fail(0, "crash", "𝔞" * 50_000, play.now))
    assert play.verdict(1).outcome == "crash", "it could be read by the other seat"
    assert any(isinstance(record, Failed) for record in play.records)


# --- other ends -----------------------------------------------------------------------------------


def test_a_seat_may_resign() -> None:
    play = Play().start()
    play.say(0, Resign(game=GAME, seq=1))
    assert outcome(play) == ("resign", 1)
    assert play.faults == []
    play.hear(0, Resign(game=GAME, seq=1))
    assert len(play.told(0, GameOver)) == 2, "the same answer again"


def test_six_scoreless_turns_end_the_game() -> None:
    play = Play().start()
    racks = [play.book.rack_text(seat) for seat in (0, 1)]
    for _ in range(6):
        play.move("-")
    value = play.book.rules.distribution.value
    tiles = play.book.rules.distribution.alphabet.tiles
    losses = tuple(-value(tiles(rack)) for rack in racks)
    assert play.result.outcome == "zeroes"
    assert play.result.rack_adjustments == losses == play.result.scores
    assert play.result.racks == tuple(racks)


def test_a_game_is_played_out() -> None:
    seen = set()
    for seed in range(12):
        play = Play().start()
        result = play.play_out(random_policy(seed))
        seen.add(result.outcome)
        if result.outcome == "out":
            winner, other = max(result.scores), min(result.scores)
            assert result.winner == (None if winner == other else result.scores.index(winner))
            assert "" in result.racks
            assert sum(result.rack_adjustments) > 0 or result.racks == ("", "")
        turns = [record for record in play.records if isinstance(record, Turn)]
        assert tuple(sum(t.score for t in turns if t.seat == s) for s in (0, 1)) == tuple(
            turns[-1].scores
        )
    assert "out" in seen


def test_the_hosts_own_fault_is_nobodys_loss() -> None:
    play = Play().start()
    play.carry_out(play.table.void("the disk is full", play.now))
    assert outcome(play) == ("host_error", None)
    assert play.result.message == "void by the host's own fault: the disk is full"
    play.carry_out(play.table.void("again", play.now))
    assert len(play.told(0, GameOver)) == 1


def test_after_the_end_nothing_happens_any_more() -> None:
    play = Play().start()
    play.say(0, Resign(game=GAME, seq=1))
    count = len(play.sent)
    for effects in (
        play.table.tick(play.now + 10**9),
        play.table.begin_turn(play.now),
        play.table.detach(1, "bye"),
        play.table.fail(1, "crash", "late", play.now),
    ):
        play.carry_out(effects)
    assert play.table.deadline() is None
    assert len(play.sent) == count


# --- messages out of place ------------------------------------------------------------------------


def test_what_may_not_be_said_now_changes_nothing() -> None:
    play = Play().start()
    before = len(play.records), len(play.sent)
    for seat, message in (
        (1, Move(game=GAME, seq=1, move="-")),
        (1, Resign(game=GAME, seq=1)),
        (0, Ready(game=GAME)),
        (0, Move(game=GAME, seq=2, move="-")),
        (0, Move(game=GAME, seq=0, move="-")),
        (0, Move(game=GAME, seq=1, move="-", attempt=2)),
        (0, Move(game="another", seq=1, move="-")),
        (0, Info(game=GAME, seq=5)),
        (0, Ping(id=1)),
        (0, NewGame(game=GAME, seq=0, players=("", ""), you=0, lexicon="")),
    ):
        with pytest.raises(PeerError):
            play.table.receive(seat, message, play.now)
    assert (len(play.records), len(play.sent)) == before
    assert play.book.attempt == 1


def test_who_is_not_connected_can_not_speak() -> None:
    play = Play().start()
    play.leave(0)
    with pytest.raises(PeerError, match="nobody sits here"):
        play.hear(0, play.the_move("-"))
