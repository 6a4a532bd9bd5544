"""Whole games on a virtual clock: starts, lost connections, time, refusals, and every end."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from tables import GAME, MINUTE, SHORT, Play, outcome, random_policy, words

from harness.arbiter.records import Failed, RefusedMove, Thought, TurnRecord
from harness.arbiter.scorebook import ATTEMPTS, Scorebook
from harness.arbiter.table import MAX_THOUGHTS, MOST_THOUGHT_BYTES
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
    Started,
    YourTurn,
)
from protocol.parts import OUTCOMES, Belief, Outcome, RulesInPlay, Style, TimeControl

ILLEGAL = "8D QQQQQQQ"

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
    ("ready", "winner", "faults", "told"),
    [((), None, [0, 1], "no game"), ((0,), 0, [1], "two lost"), ((1,), 1, [0], "one lost")],
)
def test_who_is_not_ready_in_time_does_not_play(
    ready: tuple[int, ...], winner: int | None, faults: list[int], told: str
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
    assert play.result.message.startswith(told)
    assert (play.result.scores, play.verdict(1).racks) == ((0, 0), ("", ""))
    offer, verdict = play.watched()
    assert isinstance(offer, NewGame)
    assert isinstance(verdict, GameOver)
    assert (offer.seq, offer.clocks, offer.rack, verdict.seq) == (0, None, None, 0)


@pytest.mark.parametrize("is_ready", [True, False])
@pytest.mark.parametrize("how", ["fails", "declines"])
def test_who_fails_or_declines_at_the_start_gives_the_game_to_the_other(
    how: str, is_ready: bool
) -> None:
    play = Play()
    play.come(0)
    play.come(1)
    if is_ready:
        play.ready(0)
    if how == "declines":
        play.say(1, Decline(game=GAME, code="unknown_lexicon", message="I know other words"))
        assert "declined, unknown_lexicon: I know other words" in play.result.message
    else:
        for _ in range(2):
            play.come(1)
            play.carry_out(play.table.fail(1, "crash", "it ended", play.now))
        assert play.faults == [(1, "crash"), (1, "crash"), (1, "no_show")]
    assert outcome(play) == ("no_show", 0)


def test_who_has_seen_its_rack_and_makes_no_first_move_has_lost() -> None:
    time = TimeControl(first_move_ms=20_000)
    play = Play(time).start()
    play.wait(20_000)
    assert not play.table.over
    play.wait(1)
    assert outcome(play) == ("time", 1)
    assert play.faults == [(0, "time")]
    other = Play(time).start()
    other.move(after_ms=20_000)
    other.wait(20_001)
    assert outcome(other) == ("time", 0), "each seat has a first move"


# --- what a seat believes of its opponent ---------------------------------------------------------


def test_what_is_known_of_an_opponent_is_told_to_the_seat_that_may_know_it_alone() -> None:
    play = Play(known_styles=(None, {"soft": 0.75})).start()
    play.move()
    play.leave(1)
    play.come(1)
    play.watch()
    for to in (0, 1, None):
        offers = play.told(to, NewGame)
        styles = [offer.known_style for offer in offers if isinstance(offer, NewGame)]
        assert styles == ([{"soft": 0.75}] * 2 if to == 1 else [None])


def test_a_belief_is_kept_and_its_style_is_known_to_a_restored_game_too() -> None:
    play = Play().start()
    styles: tuple[Style, ...] = ({"soft": 1.0}, {"soft": 0.25, "greedy": 0.75}, {})
    for style in styles:
        belief = Belief(leaves_considered=3, style=style)
        play.say(0, Info(game=GAME, seq=play.book.next_seq, belief=belief))
        play.move()
        play.move()
    thoughts = [record for record in play.records if isinstance(record, Thought)]
    assert tuple(thought.belief and thought.belief.style for thought in thoughts) == styles
    for book in (play.book, Scorebook.restored(play.records, None, words())):
        assert book.styles == [{"soft": 0.25, "greedy": 0.75}, None]
    assert not any(b"greedy" in frame for to in (1, None) for frame in play.frames[to])


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


def test_what_a_seat_has_missed_is_told_when_it_comes_back_or_is_ready() -> None:
    play = Play().start()
    play.move("-")
    play.leave(0)
    play.move("-" + play.book.rack_text(1)[:2])
    play.come(0)
    offer = play.offered(0)
    assert [(turn.seq, turn.seat, turn.move) for turn in offer.history] == [(2, 1, "-2")]
    assert all(turn.rack is None for turn in offer.history)
    play.ready(0)
    play.move("-")
    play.leave(0)
    play.come(0)
    play.move("-")
    play.ready(0)
    played, asked = play.events[0][-2:]
    assert isinstance(played, Played)
    assert isinstance(asked, YourTurn)
    assert (played.seq, asked.seq) == (4, 5)


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


# --- processes that fail --------------------------------------------------------------------------


def test_a_process_is_started_again_once_with_its_clock_running() -> None:
    play = Play(SHORT).start()
    play.carry_out(play.table.fail(0, "crash", "it is gone", play.now))
    assert play.restarts == [0]
    play.wait(10_000)
    play.come(0)
    play.ready(0)
    assert play.asked().clocks == (50_000, MINUTE)
    play.move("-")
    play.carry_out(play.table.fail(0, "stall", "again", play.now))
    assert outcome(play) == ("stall", 1)
    assert play.faults == [(0, "crash"), (0, "stall")]
    assert play.restarts == [0]


def test_one_crash_is_noted_in_a_game_that_is_played_to_its_end() -> None:
    play = Play().start()
    play.carry_out(play.table.fail(1, "crash", "signal 11", play.now, "its last words"))
    assert [text.partition(", ")[2] for text in play.book.evidence] == [
        "crash: signal 11\nits last words\n"
    ]
    play.come(1)
    play.ready(1)
    for _ in range(6):
        play.move("-")
    assert play.result.outcome == "zeroes"
    assert play.faults == [(1, "crash")]


def test_the_last_words_of_a_process_are_cut_to_what_a_message_may_carry() -> None:
    play = Play().start()
    for _ in range(2):
        play.carry_out(play.table.fail(0, "crash", "𝔞" * 50_000, play.now))
    assert play.verdict(1).outcome == "crash", "it could be read by the other seat"
    assert any(isinstance(record, Failed) for record in play.records)


# --- who loses on time, and who does not ---------------------------------------------------------


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


def test_of_a_seats_long_thoughts_a_game_keeps_a_mebibyte() -> None:
    play, texts = Play(SHORT).start(), ("x" * 8_000, "short")
    while not play.table.over:
        for _ in range(MAX_THOUGHTS):
            play.think(texts[play.seat])
        play.move("-")
    kept = [record for record in play.records if isinstance(record, Thought)]
    size = sum(len(msgspec.json.encode(record)) for record in kept if record.seat == 0)
    assert MOST_THOUGHT_BYTES - 10_000 < size <= MOST_THOUGHT_BYTES
    assert sum(record.seat for record in kept) == 3 * MAX_THOUGHTS, (
        "and all short ones of the other"
    )


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


@pytest.mark.parametrize("waited_ms", [0, 250])
def test_the_time_of_a_refusal_is_excused_and_what_it_waited_for_is_not(waited_ms: int) -> None:
    play = Play(SHORT).start()
    move = play.the_move("8D QQQQ")
    play.bots[0].send(move)
    arrived = play.now + 1_000
    effects = play.table.receive(0, move, arrived, taken_ms=arrived + waited_ms)
    play.now = arrived + waited_ms + 700  # the disk took that long
    play.table.excuse(play.now)
    play.carry_out(effects)
    (refused,) = play.told(0, Refused)
    assert isinstance(refused, Refused)
    assert refused.deadline_ms == 3 * MINUTE - 1_000 - waited_ms
    assert play.table.book.time_left(play.now) == refused.deadline_ms
    play.move("-")
    assert play.asked().clocks == (MINUTE - 1_000 - waited_ms, MINUTE)


@pytest.mark.parametrize(
    ("think_ms", "penalty"), [(0, 0), (1, 10), (MINUTE, 10), (60_001, 20), (4 * MINUTE, 40)]
)
def test_overtime_costs_points_at_the_end_before_the_winner_is_decided(
    think_ms: int, penalty: int
) -> None:
    play = Play(TimeControl(initial_ms=MINUTE, max_overtime_ms=5 * MINUTE)).start()
    play.move()
    play.move(after_ms=MINUTE + think_ms)
    for _ in range(4):
        play.move()
    result = play.result
    assert result.outcome == "zeroes"
    assert result.time_penalties == (0, penalty)
    assert result.scores == (result.rack_adjustments[0], result.rack_adjustments[1] - penalty)
    assert result.clocks == (MINUTE, -think_ms)
    assert result.winner == int(penalty < 40), "by its tiles alone seat 1 is 25 points ahead"


def test_the_overtime_of_a_turn_in_hand_counts_when_the_other_resigns_or_the_host_fails() -> None:
    play = Play(SHORT).start()
    play.wait(MINUTE + 1)
    play.carry_out(play.table.end("host_error", "the disk is full", play.now))
    assert play.result.time_penalties == (10, 0)


def test_lag_is_let_off_up_to_the_quota_and_no_further() -> None:
    time = TimeControl(initial_ms=10_000, lag_ms=200)
    play = Play(time).start()
    play.move(after_ms=1_000, lag_ms=150)
    play.move(after_ms=1_000, lag_ms=5_000)
    first, second = (record for record in play.records if isinstance(record, TurnRecord))
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


@pytest.mark.parametrize("move", ["8D", "-3", "8D Ä", "99Z AB", "-QQQQ"])
def test_any_text_is_refused_with_a_code(move: str) -> None:
    play = Play().start()
    play.move(move)
    refused = play.events[0][-1]
    assert isinstance(refused, Refused)
    assert refused.code == ("not_on_rack" if move == "-QQQQ" else "not_a_move")


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
    assert play.result.message == "six scoreless turns in a row"


@pytest.mark.parametrize(
    ("rules", "moves", "said"),
    [
        (RulesInPlay(scoreless_limit=16), "-" * 16, "16 scoreless turns in a row"),
        (RulesInPlay(pass_limit=2, scoreless_limit=8), "-x--", "2 passes in a row"),
    ],
)
def test_rules_say_when_turns_without_points_end_a_game(
    rules: RulesInPlay, moves: str, said: str
) -> None:
    play = Play(rules=rules).start()
    for move in moves:
        play.move("-" if move == "-" else f"-{play.book.rack_text(play.seat)[0]}")
    assert (play.result.outcome, play.result.message) == ("zeroes", said)


def test_who_has_made_all_its_exchanges_is_told_so_and_refused() -> None:
    play = Play(rules=RulesInPlay(pass_limit=4, exchange_limit=1)).start()
    for seat in (0, 1):
        play.move(f"-{play.book.rack_text(seat)[0]}")
    play.move("-")
    told = [play.told(seat, YourTurn)[-1] for seat in (0, 1)]
    counts = [asked.position.partition(" 0/0 ")[2] for asked in told if isinstance(asked, YourTurn)]
    assert counts == ["2 exchanges 1/1;", "3 passes 1; exchanges 1/1;"]
    play.move(f"-{play.book.rack_text(1)[0]}")
    (refused,) = play.told(1, Refused)
    assert isinstance(refused, Refused)
    assert refused.code == "exchange_limit"


def test_a_game_is_played_out_and_everybody_agrees_on_it() -> None:
    seen = set()
    for seed in range(6):
        play = Play().start()
        result = play.play_out(random_policy(seed))
        seen.add(result.outcome)
        if result.outcome == "out":
            winner, other = max(result.scores), min(result.scores)
            assert result.winner == (None if winner == other else result.scores.index(winner))
            assert "" in result.racks
            assert sum(result.rack_adjustments) > 0 or result.racks == ("", "")
        for recipient in (0, 1, None):
            totals = [0, 0]
            begun, *played, verdict = (
                said
                for to, said in play.sent
                if to == recipient and isinstance(said, Started | Played | GameOver)
            )
            assert isinstance(begun, Started)
            for number, event in enumerate(played, start=1):
                assert isinstance(event, Played)
                totals[event.seat] += event.score
                assert (event.seq, event.scores) == (number, tuple(totals))
            assert isinstance(verdict, GameOver)
            assert (verdict.seq, verdict.scores) == (len(played) + 1, result.scores)
            assert result.scores == tuple(
                map(sum, zip(totals, verdict.rack_adjustments, strict=True))
            )
    assert "out" in seen


def test_every_outcome_has_a_meaning() -> None:
    assert OUTCOMES.keys() == set(get_args(Outcome))


def test_after_the_end_nothing_happens_any_more() -> None:
    play = Play().start()
    play.say(0, Resign(game=GAME, seq=1))
    count = len(play.sent)
    for effects in (
        play.table.tick(play.now + 10**9),
        play.table.begin_turn(play.now),
        play.table.detach(1, "bye"),
        play.table.fail(1, "crash", "late", play.now),
        play.table.end("host_error", "late", play.now),
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
    play.leave(0)
    with pytest.raises(PeerError, match="nobody sits here"):
        play.hear(0, play.the_move("-"))
