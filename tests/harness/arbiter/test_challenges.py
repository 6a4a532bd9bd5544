"""Challenges at a table: every rule, its times, lost connections, and what is told to whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec
import pytest
from tables import GAME, NONCES, SECRET, Play, book_of, outcome, words

from bot.seat.draw_audit import DrawsWitness
from harness.arbiter.records import Accepted, Draws, new_game
from harness.arbiter.scorebook import CHALLENGE_MS, Scorebook
from protocol.messages import (
    Accept,
    Challenge,
    Drawn,
    GameOver,
    Message,
    NewGame,
    Played,
    Ready,
    Refused,
    YourTurn,
)
from protocol.parts import RulesInPlay, TimeControl

ZEK, PHONY = "8G ZEK", "8G QXZ"  # of seat 0, which holds EKLQTXZ; seat 1 holds AGHIOSS
RULES = ("single", "double", "5-point", "10-point", "triple")


def rules_of(challenge: str, by: str | None = None, ms: int = 8_000) -> RulesInPlay:
    rules = RulesInPlay(challenge=challenge, challenge_ms=ms)  # type: ignore[arg-type]
    return msgspec.structs.replace(rules, challenge_by=by) if by else rules


def play_of(challenge: str = "double", by: str | None = None, **given: object) -> Play:
    return Play(rules=rules_of(challenge, by), **given).start()  # type: ignore[arg-type]


def last_event(play: Play) -> Played:
    """The last event that seat 0 was told of."""
    told = play.told(0, Played)[-1]
    assert isinstance(told, Played)
    return told


class Case(NamedTuple):
    """What a challenge comes to, by rule, unit and what was played."""

    rule: str
    by: str | None
    move: str
    event: str
    gain: int
    on_turn: int | None  # None: the game is over
    winner: int | None = None


QXZ, SCORE = 2 * (10 + 8 + 10), 2 * 16
CASES = [
    *(Case(rule, by, PHONY, "--", -QXZ, 1) for rule in RULES[:4] for by in (None, "word")),
    Case("single", None, ZEK, "(challenge)", 0, 1),
    Case("double", None, ZEK, "-", 0, 0),
    Case("5-point", None, ZEK, "(challenge)", 5, 1),
    Case("5-point", "word", ZEK, "(challenge)", 5, 1),
    Case("10-point", None, ZEK, "(challenge)", 10, 1),
    Case("triple", None, PHONY, "--", -QXZ, None, winner=1),
    Case("triple", None, ZEK, "(challenge)", 0, None, winner=0),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule} {case.by} {case.move}")
def test_what_a_challenge_comes_to(case: Case) -> None:
    play = play_of(case.rule, case.by)
    play.move(case.move)
    before = play.book.scores
    opened = play.told(1, Played)[-1]
    assert isinstance(opened, Played)
    assert opened.challenge == "open"
    assert play.book.bag_count == opened.bag == 83, "as many as are left when it stands"
    play.challenge(after_ms=1_000)
    told = last_event(play)
    won = case.event == "--"
    assert (told.move, told.score, told.challenge) == (
        case.event,
        case.gain,
        "won" if won else "lost",
    )
    assert told.seat == (1 if case.event == "-" else 0)
    assert play.book.scores == (before[0] + case.gain, before[1]) == told.scores
    assert play.book.on_turn == case.on_turn
    assert play.book.clocks(play.now) == (25 * 60_000, 25 * 60_000 - 1_000)
    if case.on_turn is None:
        assert outcome(play) == ("challenge", case.winner)
    else:
        assert play.asked().challenge_ms is msgspec.UNSET
        assert play.asked().seq == 3
    game = play.book.game
    assert game is not None
    assert bool(game.position.board.squares.strip(b"\0")) is not won
    assert game.turns[0].withdrawn is won
    assert len(game.bag) == (86 if won else 83)
    assert len(play.told(0, Drawn)) == (0 if won else 1)
    assert Scorebook.restored(play.records, None, words()).game == game


@pytest.mark.parametrize(
    ("by", "named", "event", "words_"),
    [("word", ("AI", "ZA"), "(challenge)", ("AI", "ZA")), ("turn", ("ZA",), "--", ("EI",))],
)
def test_words_that_are_named_are_judged_alone_unless_a_turn_is_judged(
    by: str, named: tuple[str, ...], event: str, words_: tuple[str, ...]
) -> None:
    play = play_of("5-point", by)
    play.move(ZEK)
    play.move("9G AI")  # EI is a phony
    assert last_event(play).words == ("AI", "ZA", "EI")
    play.challenge(*named)
    told = last_event(play)
    assert (told.move, told.words) == (event, words_)
    assert told.score == 10 or event == "--"


def test_a_withdrawn_phony_is_a_scoreless_turn() -> None:
    play = play_of("single")
    for seat in (0, 1, 0, 1, 0):
        play.move({0: PHONY, 1: "8G GHSS"}[seat])
        play.challenge()
    assert play.book.game is not None
    assert play.book.game.position.scoreless_turns == 5
    play.move("8G GHSS")
    assert not play.table.over
    play.challenge()
    assert outcome(play)[0] == "zeroes"


# --- acceptance -----------------------------------------------------------------------------------

ACCEPTANCES: dict[str, Callable[[Play], None]] = {
    "a word": Play.accept,
    "a move": lambda play: play.move("-"),
    "time": lambda play: play.wait(8_001),
}


@pytest.mark.parametrize("how", ACCEPTANCES)
def test_the_draw_comes_after_acceptance(how: str) -> None:
    play = play_of("double")
    play.move(PHONY)
    assert play.book.rack_text(0) == "EKLT"
    ACCEPTANCES[how](play)
    (drawn,) = play.told(0, Drawn)
    assert isinstance(drawn, Drawn)
    assert (drawn.seq, drawn.rack) == (1, play.book.rack_text(0))
    assert len(words().distribution.alphabet.tiles(drawn.rack)) == 7
    assert play.told(1, Drawn) == play.told(None, Drawn) == []
    assert [record for record in play.records if isinstance(record, Accepted)] == [
        Accepted(seq=1, rack_after=drawn.rack)
    ]
    assert play.book.game is not None
    assert Scorebook.restored(play.records, None, words()).game == play.book.game


def test_a_journal_whose_acceptance_is_not_that_of_the_game_is_not_taken_up() -> None:
    play = play_of("double")
    play.move(PHONY)
    play.accept()
    *before, accepted = play.records
    assert isinstance(accepted, Accepted)
    other = msgspec.structs.replace(accepted, rack_after="AEINRST")
    with pytest.raises(ValueError, match=r"event 1: .*AEINRST"):
        Scorebook.restored([*before, other], None, words())
    with pytest.raises(ValueError, match=r"event 1 .*not an open play"):
        Scorebook.restored([*before, accepted, accepted], None, words())


def test_a_refused_move_accepts_nothing() -> None:
    play = play_of("double")
    play.move(PHONY)
    play.move("8G AH")
    assert play.book.is_open
    play.challenge()
    assert last_event(play).move == "--"


def refusal(play: Play) -> str:
    """The code with which seat 1 was refused last."""
    refused = play.events[1][-1]
    assert isinstance(refused, Refused)
    return refused.code


@pytest.mark.parametrize(
    ("prepare", "words_", "code"),
    [
        (lambda play: play.wait(8_001), (), "no_challenge"),
        (lambda play: play.accept(), (), "no_challenge"),
        (lambda _: None, ("ZEK",), "not_its_word"),
    ],
)
def test_a_challenge_that_cant_be_made_is_refused_and_the_turn_goes_on(
    prepare: Callable[[Play], None], words_: tuple[str, ...], code: str
) -> None:
    play = play_of("double")
    play.move(PHONY)
    prepare(play)
    play.challenge(*words_)
    assert refusal(play) == code
    play.move("-")
    assert play.book.on_turn == 0


def test_within_the_lag_quota_a_challenge_is_too_late_by_its_own_time() -> None:
    play = play_of("double", time=TimeControl(lag_ms=500))
    play.move(PHONY)
    play.challenge(after_ms=8_200)
    assert refusal(play) == "too_late"


@pytest.mark.parametrize("rule", ["void", "double"])
def test_nothing_can_be_challenged_under_the_void_rule_nor_after_a_pass(rule: str) -> None:
    play = play_of(rule)
    play.move("-")
    assert play.asked().challenge_ms is msgspec.UNSET
    play.challenge()
    assert refusal(play) == "no_challenge"
    play.accept()
    assert play.seat == 1


def test_a_repeated_challenge_gets_the_same_answer() -> None:
    play = play_of("5-point")
    play.move(PHONY)
    challenge = Challenge(game=GAME, seq=2)
    play.say(1, challenge)
    before = len(play.records)
    play.hear(1, challenge)
    assert len(play.records) == before
    first, second = (
        said for said in play.told(1, Played) if isinstance(said, Played) and said.seq == 2
    )
    assert first == second


# --- out-plays ------------------------------------------------------------------------------------


def out_play(tile: str, rule: str = "double", **time: int) -> Play:
    """A table at which seat 0 has just gone out, with ZE and its last tile; the bag is empty."""
    alphabet = words().distribution.alphabet
    left = Counter(words().distribution.all_tiles())
    left -= Counter(alphabet.tiles(f"ZEAG{tile}"))
    text = "".join("a" if each == 0 else alphabet.text((each,)) for each in left.elements())
    rows = [text[15 * row : 15 * row + 15] for row in range(6)]
    board = "/".join((*rows, f"{text[90:]}10", "15/15", "ZE13", "15/15/15/15/15"))
    opened = new_game(
        ("one", "two"),
        words(),
        TimeControl(**{"max_overtime_ms": 0, **time}),
        Draws(SECRET, committed=True),
        GAME,
        f"{board} {tile}/AG 100/90 0",
    )
    opened = msgspec.structs.replace(opened, rules=rules_of(rule))
    play = Play(book=book_of(opened)).start()
    play.move(f"10A ..{tile}")
    return play


def fail(play: Play, code: Literal["crash", "stall"]) -> None:
    """Have the process of seat 1 fail, and fail again when it is restarted."""
    for _ in range(2):
        play.carry_out(play.table.fail(1, code, "it died", play.now))


ENDS: dict[str, Callable[[Play], None]] = {
    **ACCEPTANCES,
    "the flag": lambda play: play.wait(60_001),
    "a crash": lambda play: fail(play, "crash"),
    "a stall": lambda play: fail(play, "stall"),
}


@pytest.mark.parametrize("how", ENDS)
def test_an_out_play_waits_for_acceptance_or_its_opponents_flag_or_failure(how: str) -> None:
    play = out_play("K", initial_ms=3_000 if how == "the flag" else 60_000)
    assert not play.table.over
    assert play.asked().challenge_ms == 8_000
    ENDS[how](play)
    assert outcome(play) == ("out", 0)
    assert play.result.rack_adjustments == (6, 0)
    faults = {"a crash": ["crash"] * 2, "a stall": ["stall"] * 2}
    assert [fault.code for fault in play.result.faults] == faults.get(how, [])


def test_an_out_play_that_is_challenged() -> None:
    play = out_play("Q")
    play.challenge()
    assert play.book.rack_text(0) == "Q"
    assert play.seat == 1
    for rule, bonus in (("5-point", 5), ("double", 0), ("triple", 0)):
        play = out_play("K", rule)
        before = play.book.scores[0]
        play.challenge()
        assert play.book.scores[0] == before + bonus + 6
        assert outcome(play) == ("challenge" if rule == "triple" else "out", 0)
        assert last_event(play).move == "(challenge)"


def test_an_out_play_costs_its_opponent_the_time_to_challenge_at_most() -> None:
    limits = {"initial_ms": 8_400, "max_overtime_ms": 60_000, "lag_ms": 1_000}
    silent = out_play("K", "double", **limits)
    silent.wait(9_002)
    late = out_play("K", "double", **limits)
    late.wait(7_900)
    late.now += 600
    late.hear(1, Accept(game=GAME, seq=late.book.next_seq), lag_ms=600)
    for play, left_ms in ((silent, 400), (late, 500)):
        assert outcome(play) == ("out", 0)
        assert play.result.clocks[1] == left_ms
        assert play.result.time_penalties == (0, 0)


# --- flags and lost connections -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lag_ms", "after_ms", "over"), [(0, 3_000, False), (0, 3_001, True), (50, 3_010, True)]
)
def test_a_flag_falls_while_a_play_may_be_challenged(
    lag_ms: int, after_ms: int, over: bool
) -> None:
    time = TimeControl(initial_ms=3_000, max_overtime_ms=0, lag_ms=lag_ms)
    play = play_of("double", time=time)
    play.move(PHONY)
    if after_ms == 3_001:
        play.wait(after_ms)
    else:
        play.challenge(after_ms=after_ms)
    assert play.table.over is over
    if over:
        assert outcome(play) == ("time", 0)
        assert len(play.told(0, Drawn)) == 1, "the play stands"


def test_a_challenge_during_a_lost_connection() -> None:
    """The time to challenge runs on; who is back in time may still challenge."""
    play = play_of("double")
    play.move(PHONY)
    play.leave(1)
    play.wait(2_000)
    play.come(1)
    play.ready(1)
    assert play.asked().challenge_ms == 6_000
    play.leave(0)
    play.challenge(after_ms=1_000)
    play.come(0)
    assert play.offered(0).history[-1].move == "--"
    assert play.offered(0).rack == "EKLQTXZ"


@pytest.mark.parametrize("when", ["before it is offered again", "while it gets ready"])
def test_a_draw_that_is_missed_is_told_again(when: str) -> None:
    play = play_of("double")
    play.move(PHONY)
    play.leave(0)
    if when == "before it is offered again":
        play.accept()
        play.come(0)
    else:
        play.come(0)
        play.accept()
    play.ready(0)
    rack = play.book.rack_text(0)
    assert len(rack) == 7
    drawn = [said.rack for said in play.told(0, Drawn) if isinstance(said, Drawn)]
    assert rack in (play.offered(0).rack, *drawn)


def test_a_host_that_dies_while_a_play_is_open_goes_on_with_it() -> None:
    before = play_of("double", time=TimeControl(initial_ms=60_000, ready_ms=5_000))
    before.move(PHONY, after_ms=1_000)
    before.wait(3_000)
    restored = Scorebook.restored(before.records, before.note(), words())
    assert restored.is_open
    play = Play(book=restored)
    for seat in (0, 1):
        play.come(seat)
        play.ready(seat)
    assert play.offered(0).rack == "EKLT"
    assert play.asked().challenge_ms == 5_000
    play.challenge(after_ms=1_000)
    assert play.book.rack_text(0) == "EKLQTXZ"
    assert play.book.clocks(play.now) == (59_000, 56_000)


# --- what is told ---------------------------------------------------------------------------------


def messages_to(play: Play, seat: int | None) -> list[Message]:
    return [said for to, said in play.sent if to == seat]


def test_a_withdrawn_phony_shows_its_own_tiles_and_nothing_more() -> None:
    play = play_of("double")
    play.watch()
    play.move(PHONY)
    play.challenge(after_ms=500)
    after = [
        said
        for said in (*messages_to(play, 1), *messages_to(play, None))
        if getattr(said, "seq", 0) > 0
    ]
    told = "".join(map(repr, after))
    assert "QXZ" in told
    assert "EKLT" not in told
    assert "EKLQTXZ" not in told
    for said in after:
        match said:
            case Played(rack=rack):
                assert rack is None
            case YourTurn(rack=rack, position=position):
                assert rack == "AGHIOSS"
                assert position.split(" ")[1] == "AGHIOSS/"
            case _:
                assert isinstance(said, NewGame), said


def test_spectators_see_that_a_play_is_open_and_what_becomes_of_it() -> None:
    play = play_of("5-point")
    play.watch()
    play.move(ZEK)
    play.challenge()
    events = [said for said in play.told(None, Played) if isinstance(said, Played)]
    assert [(event.move, event.challenge, event.rack) for event in events] == [
        (ZEK, "open", None),
        ("(challenge)", "lost", None),
    ]
    (late,) = (said for said in play.watched() if isinstance(said, NewGame))
    assert [event.challenge for event in late.history] == [msgspec.UNSET, "lost"]


def test_under_the_void_rule_nothing_is_different_on_the_wire() -> None:
    play = Play().start()
    play.move(ZEK)
    play.leave(0)
    play.come(0)
    play.ready(0)
    assert play.told(0, Drawn) == []
    frames = b"".join(frame for frames in play.frames.values() for frame in frames)
    assert b"challenge_" not in frames
    offers = sum(isinstance(said, NewGame) for _, said in play.sent)
    assert frames.count(b"challenge") == offers, "the rule in each, as ever"


def test_the_draws_of_a_challenged_game_can_be_checked() -> None:
    play = play_of("double", time=TimeControl(initial_ms=60_000, max_overtime_ms=0))
    play.move(PHONY)
    play.challenge()
    play.move("8G GHSS")
    play.accept()
    play.move("-")
    play.wait(60_001)
    over = play.verdict(0)
    assert over.moves == (PHONY, "--", "8G GHSS", "-")
    for seat in (0, 1):
        witness = DrawsWitness(play.offered(seat))
        witness.hear(Ready(game=GAME, nonce=NONCES[seat]))
        for said in messages_to(play, seat):
            witness.hear(said)
        assert isinstance(over, GameOver)
        witness.check(over)


def test_the_time_to_challenge_is_20_s_unless_the_rules_say_so() -> None:
    play = Play(rules=RulesInPlay(challenge="double")).start()
    play.move(PHONY)
    assert play.asked().challenge_ms == CHALLENGE_MS == 20_000
