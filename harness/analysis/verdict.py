"""What was found out about a position or a game, in plain sentences.

Every ± is 95 %, and so are the intervals, each for itself; which moves are told apart, and named
alone by that, is said with 95 % of all together (``Findings.is_clear``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TypeAlias

from engine.rules.moves import Move
from engine.simulation.simulation import Difference, Estimate
from harness.figures import counted, number, share

from .findings import INTERVAL, Findings

__all__ = ["CAVEAT", "is_found", "plus_minus", "summary", "verdict"]

Writer: TypeAlias = Callable[[Move], str]
"""Writes a move of the position."""

CAVEAT = (
    "The bag is empty: each candidate was played on once, by static players, who do not look "
    "ahead. That compares candidates and proves nothing."
)
_MOST_NAMED = 4
_NO_WIN = 0.0005  # less than is written


def verdict(findings: Findings, write: Writer) -> str:
    """Say what to play and by how much, and what the move that was played cost."""
    if findings.question.is_forced:
        return "Pass: nothing else is legal."
    if not findings.is_known:
        few = counted(findings.rollouts, "rollout")
        by_static = write(findings.best.move)
        return f"Nothing can be told from {few}; by static equity {by_static} is best."
    return " ".join(filter(None, (_advice(findings, write), _about_played(findings, write))))


def is_found(findings: Findings) -> bool:
    """Tell whether the best move is the one that was played."""
    return findings.question.played == findings.best.move


def summary(nick: str, turns: Sequence[Findings]) -> str:
    """Say how a player did in some turns of a game; phonies and forced turns don't count.

    A loss is one against the best move that was found. Where the same samples have found that move
    and say what it is worth, it is rather too large, which *at most* stands for.
    """
    known = [
        (one, played.move)
        for one in turns
        if (played := one.played) and one.is_known
        if not (one.question.phony or one.question.is_forced)
    ]
    phonies = sum(bool(one.question.phony) for one in turns)
    besides = f"; {counted(phonies, 'phony', 'phonies')} not counted" if phonies else ""
    if not known:
        return f"{nick}: no turn to go by{besides}."
    losses = [one.ahead_of(played) for one, played in known]
    flattered = any(not (one.exact or one.compared or is_found(one)) for one, _ in known)
    mean = _loss(losses, turns[0].by_points)
    found = sum(is_found(one) for one, _ in known)
    level = sum(not is_found(one) and not one.is_clear(played) for one, played in known)
    near = f"; {level} more can't be told from it" if level else ""
    return (
        f"{nick}: mean loss {'at most ' * flattered}{mean} over "
        f"{counted(len(known), 'turn')}; the best was played in {found}{near}{besides}."
    )


def plus_minus(value: str, error: float, scale: float = 1.0) -> str:
    """Put 95 % beside a figure; nothing, where it is exact or not known."""
    if not error or not math.isfinite(error):
        return value
    return f"{value} ± {number(scale * INTERVAL * error)}"


# --- parts of sentences ---------------------------------------------------------------------------


def _loss(losses: Sequence[Difference], by_points: bool) -> str:
    """Write a loss, the mean of independent ones."""
    win, points = fmean(one.win for one in losses), fmean(one.equity for one in losses)
    win_error = math.hypot(*(one.win_error for one in losses)) / len(losses)
    error = math.hypot(*(one.equity_error for one in losses)) / len(losses)
    in_points = plus_minus(number(points, unit=" points"), error)
    return in_points if by_points else f"{plus_minus(share(win), win_error, 100)} and {in_points}"


def _advice(findings: Findings, write: Writer) -> str:
    best, others, rivals = findings.best, findings.legal[1:], findings.rivals
    if not others:
        return f"{write(best.move)} is the only candidate: {_worth(findings, best)}."
    if not rivals:
        more = _more(findings, others[0], write)
        return f"Play {write(best.move)}: {_worth(findings, best)}, {more}."
    names = [write(one.move) for one in (best, *rivals)]
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED - 1 :] = [f"one of {len(names) - _MOST_NAMED + 1} others"]
    either = f"{', '.join(names[:-1])} or {names[-1]}"
    if findings.exact:
        return f"{either}; they come to the same."
    first = "the first two are " if len(rivals) > 1 else ""
    apart = _apart(findings, findings.ahead_of(rivals[0].move))
    return f"{either}; {first}{apart} apart."


def _worth(findings: Findings, one: Estimate) -> str:
    """Say what comes of a candidate."""
    if findings.exact and findings.to_the_end:
        scores, seat = findings.question.position.scores, findings.question.position.on_turn
        spread = round(scores[seat] - scores[1 - seat] + one.equity)
        side = "ahead" if spread > 0 else "behind"
        end = counted(abs(spread), "point") + f" {side}" if spread else "level"
        return f"played on, the game ends {end}"
    if findings.by_points:
        return f"gains {plus_minus(number(one.equity) + ' points', one.equity_error)}"
    return f"wins {plus_minus(share(one.win), one.win_error, 100)}"


def _more(findings: Findings, other: Estimate, write: Writer) -> str:
    """Say how much more that is than what comes of another."""
    ahead = findings.ahead_of(other.move)
    value, error, unit = ahead.equity, ahead.equity_error, " points"
    if not (findings.exact or _points_say_it(findings, ahead)):
        value, error, unit = 100 * ahead.win, 100 * ahead.win_error, " %"
    more = f"{number(value, unit=unit)} more than {write(other.move)}"
    if not error:
        return more
    low, high = (number(value + side * INTERVAL * error) for side in (-1, 1))
    return f"{more} (95 %: {low} to {high})"


def _apart(findings: Findings, ahead: Difference) -> str:
    if _points_say_it(findings, ahead):
        return plus_minus(number(abs(ahead.equity), unit=" points"), ahead.equity_error)
    return plus_minus(share(abs(ahead.win)), ahead.win_error, 100)


def _points_say_it(findings: Findings, ahead: Difference) -> bool:
    """Tell whether the points have to be named, where both win as often or nobody knows."""
    return findings.by_points or abs(ahead.win) < _NO_WIN


def _about_played(findings: Findings, write: Writer) -> str:
    question, played = findings.question, findings.played
    if question.obstacle:
        return f"What was played can't be compared: {question.obstacle}."
    if played is None:
        return ""
    if is_found(findings):
        return "It was played."
    name, ahead = write(played.move), findings.ahead_of(played.move)
    if question.phony:
        value = ahead.equity if _points_say_it(findings, ahead) else ahead.win
        stood = f"{_apart(findings, ahead)} {'less' if value > 0 else 'more'}"
        return f"{name} was played: {question.phony}; had it stood, it would be worth {stood}."
    cost = _loss([ahead], findings.by_points)
    if findings.is_clear(played.move):
        return f"{name} was played: it cost {cost}."
    if findings.exact:
        return f"{name} was played, which comes to the same."
    # Chance may have put it ahead: the sign stays, so that the interval is the true one.
    less = "gain" if findings.by_points else "win"
    return f"{name} was played, and nothing shows it to {less} less: it cost {cost}."
