"""Whole games on a virtual clock: all the ends of SPEC.md, section 7, and what is refused."""

from __future__ import annotations

from typing import get_args

import pytest
from tables import GAME, MINUTE, Play, outcome, random_policy

from harness.arbiter.records import RefusedMove, TurnRecord
from harness.arbiter.scorebook import ATTEMPTS
from protocol.errors import PeerError
from protocol.messages import GameOver, Info, Move, NewGame, Ping, Ready, Refused, Resign, YourTurn
from protocol.parts import OUTCOMES, Outcome, RulesInPlay

ILLEGAL = "8D QQQQQQQ"


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


@pytest.mark.parametrize("limit", [2, 16])
def test_rules_say_after_how_many_scoreless_turns_a_game_ends(limit: int) -> None:
    play = Play(rules=RulesInPlay(scoreless_limit=limit)).start()
    for _ in range(limit):
        play.move("-")
    said = f"{limit} scoreless turns in a row"
    assert (play.result.outcome, play.result.message) == ("zeroes", said)


def test_passes_end_a_game_by_rules_that_limit_them() -> None:
    play = Play(rules=RulesInPlay(pass_limit=2, scoreless_limit=8)).start()
    for move in ("-", f"-{play.book.rack_text(1)[0]}", "-", "-"):
        play.move(move)
    assert (play.result.outcome, play.result.message) == ("zeroes", "2 passes in a row")


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
    assert refused.message == "no exchange is left: a player may exchange once in a game"


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
        turns = [record for record in play.records if isinstance(record, TurnRecord)]
        assert tuple(sum(t.score for t in turns if t.seat == s) for s in (0, 1)) == tuple(
            turns[-1].scores
        )
    assert "out" in seen


def test_every_outcome_has_a_meaning() -> None:
    assert OUTCOMES.keys() == set(get_args(Outcome))


def test_the_hosts_own_fault_is_nobodys_loss() -> None:
    play = Play().start()
    play.carry_out(play.table.end("host_error", "the disk is full", play.now))
    assert outcome(play) == ("host_error", None)
    assert play.result.message == "void: the disk is full"
    play.carry_out(play.table.end("host_error", "again", play.now))
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
