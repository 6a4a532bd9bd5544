"""One small message of each kind, all of one game."""

from __future__ import annotations

from typing import Any, cast

from protocol.messages import (
    Accept,
    Challenge,
    Committed,
    Decline,
    Drawn,
    GameMessage,
    GameOver,
    Info,
    Move,
    NewGame,
    Played,
    Ready,
    Refused,
    Resign,
    Resume,
    Reveal,
    Started,
    YourTurn,
)

CLOCKS = (60_000, 60_000)


def offer(seq: int = 0, history: tuple[Played, ...] = (), game: str = "g") -> NewGame:
    return NewGame(game=game, seq=seq, players=("a", "b"), you=0, lexicon="words", history=history)


def committed() -> Committed:
    return Committed(game="g", commitments=("aa" * 32, "bb" * 32))


def started() -> Started:
    return Started(game="g", seq=0, bag=86, clocks=CLOCKS)


def played(seq: int, seat: int = 0, game: str = "g") -> Played:
    return Played(
        game=game, seq=seq, seat=seat, move="-", score=0, scores=(0, 0), bag=86, clocks=CLOCKS
    )


def your_turn(seq: int, attempt: int = 1) -> YourTurn:
    now: Any = {"position": "", "rack": "", "bag": 86, "clocks": CLOCKS, "deadline_ms": 1}
    return YourTurn(game="g", seq=seq, attempt=attempt, **now)


def refusal(seq: int, attempt: int) -> Refused:
    said: Any = {"code": "not_a_word", "message": "no", "attempts_left": 2, "deadline_ms": 1}
    return Refused(game="g", seq=seq, attempt=attempt, **said)


def over(seq: int, game: str = "g") -> GameOver:
    return GameOver(game=game, seq=seq, outcome="zeroes", winner=None, scores=(0, 0), message="")


ONE_OF_EACH: dict[type, GameMessage] = {
    type(message): message
    for message in cast(
        "list[GameMessage]",
        [
            *(offer(), Ready(game="g"), Decline(game="g", code="busy", message="no"), started()),
            *(committed(), Reveal(game="g", nonce="cc" * 32)),
            *(your_turn(0), Move(game="g", seq=0, move="-"), Resign(game="g", seq=0)),
            *(Challenge(game="g", seq=0), Accept(game="g", seq=0)),
            Drawn(game="g", seq=0, rack=""),
            *(Info(game="g", seq=0), played(0), refusal(0, 1), Resume(game="g"), over(0)),
        ],
    )
}
