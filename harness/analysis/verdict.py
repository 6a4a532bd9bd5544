"""Findings about a position or a game in plain sentences.

Every ± is an individual 95 % interval. Statements that moves differ, or that only one can be best,
hold with 95 % all together (``Findings.is_clear``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import Literal, TypeAlias

from bot.search.analysis.findings import INTERVAL, Findings
from engine.notation.move_text import format_full_move
from engine.rules.moves import Exchange, Move, Pass, Place
from engine.rules.position import Position, Rack, bag_count
from engine.rules.rules import Rules, score_play
from engine.simulation.rollout_results import Difference
from engine.simulation.simulation import Estimate
from harness.figures import counted, number, share
from lexicons.leaves import LeaveTable

from .review import Turn

Writer: TypeAlias = Callable[[Move], str]

CAVEAT = (
    "The bag is empty: each candidate was played on once, by static players, who do not look "
    "ahead. That compares candidates and proves nothing."
)
SOLVED = "With an empty bag points are those of the best play by both sides, found by a solver"
_MORE = "Give more by --rollouts or --time, or fewer --candidates."
_MOST_NAMED = 4
_MOST_COSTLY = 3
_LEAST_WORTH = 1.0  # points by which leaves differ enough to be mentioned
_NO_WIN = 0.0005  # less than the shown precision


def verdict(findings: Findings, write: Writer) -> str:
    """Return the move to play, its lead, and the cost of the played move."""
    if findings.question.is_forced:
        return "Pass: nothing else is legal."
    if not findings.is_known:
        few = counted(findings.rollouts, "rollout")
        nothing = f"can be told from {few}" if findings.rollouts else "is known yet"
        return f"Nothing {nothing}; by static equity {write(findings.best.move)} is best."
    return " ".join(filter(None, (_advice(findings, write), _about_played(findings, write))))


def verdict_text(findings: Findings, rules: Rules) -> str:
    """Return the verdict, with played-through tiles of moves in parentheses."""
    board, alphabet = findings.question.position.board, rules.distribution.alphabet
    return verdict(findings, lambda move: format_full_move(move, board, alphabet))


def is_found(findings: Findings) -> bool:
    """Check whether the best move was played."""
    return findings.question.played == findings.best.move


def summary(nick: str, turns: Sequence[Findings]) -> str:
    """Return a player's result over turns of a game, without phonies and forced turns.

    A loss is measured against the best move of the search. If the same samples chose and valued
    that move, the loss is overestimated, hence *at most*.
    """
    known = [
        (turn, played.move)
        for turn in turns
        if (played := turn.played) and turn.is_known
        if not (turn.question.phony or turn.question.is_forced)
    ]
    phonies = sum(bool(turn.question.phony) for turn in turns)
    besides = f"; {counted(phonies, 'phony', 'phonies')} not counted" if phonies else ""
    if not known:
        return f"{nick}: no turn to judge{besides}."
    losses = [turn.ahead_of(played) for turn, played in known]
    flattered = any(not (turn.exact or turn.compared or is_found(turn)) for turn, _ in known)
    mean = _loss(losses)
    best = sum(is_found(turn) for turn, _ in known)
    level = sum(not is_found(turn) and not turn.is_clear(played) for turn, played in known)
    near = f"; {level} more can't be told from it" if level else ""
    return (
        f"{nick}: mean loss {'at most ' * flattered}{mean} over "
        f"{counted(len(known), 'turn')}; the best was played in {best}{near}{besides}."
    )


def closing_sentences(
    turns: Sequence[Turn], reviewed: Sequence[tuple[Turn, Findings | None]]
) -> Iterator[str]:
    """Yield each player's summary, and the turns left out."""
    if len(reviewed) < len(turns):
        yield f"stopped before line {turns[len(reviewed)].line}"
    by_nick: dict[str, list[Findings]] = {}
    left_out: dict[str, list[str]] = {}
    for turn, findings in reviewed:
        if findings is None:
            left_out.setdefault(turn.obstacle, []).append(str(turn.line))
        else:
            by_nick.setdefault(turn.nick, []).append(findings)
    for nick, analysed in by_nick.items():
        yield summary(nick, analysed)
    every = list(chain.from_iterable(by_nick.values()))
    if any(findings.question.phony for findings in every):
        yield "* a phony, or taken back; counted as if it stood"
    yield from _about_endgames(reviewed)
    unknown = [
        str(turn.line) for turn, findings in reviewed if findings and _lacks_rollouts(findings)
    ]
    if unknown and len(unknown) < len(every):
        yield f"Nothing can be told of {_lines(unknown)}: their rollouts are too few. {_MORE}"
    for reason, lines in left_out.items():
        yield f"left out: {_lines(lines)}: {reason}"


def _lines(lines: Sequence[str]) -> str:
    return f"line{'s' * (len(lines) > 1)} {', '.join(lines)}"


def _lacks_rollouts(findings: Findings) -> bool:
    """Check whether nothing is known of a turn that has a choice, for lack of rollouts."""
    return not findings.is_known and not findings.question.is_forced


def _about_endgames(reviewed: Sequence[tuple[Turn, Findings | None]]) -> Iterator[str]:
    """Yield the source of points with an empty bag, and the lines where they are not proven."""
    solved = [(turn, findings) for turn, findings in reviewed if findings and findings.worths]
    if solved:
        guesses = [str(turn.line) for turn, findings in solved if is_played_guess(findings)]
        yield f"{SOLVED}; {f'not proven (?): {_lines(guesses)}' if guesses else 'proven'}."
    if any(findings.exact and not findings.worths for _, findings in reviewed if findings):
        yield f"With an empty bag: {CAVEAT.partition(': ')[2]}"


def is_played_guess(findings: Findings) -> bool:
    """Check whether the cost of the played move is the guess of a solver, not proven."""
    return findings.played is not None and findings.is_guess(findings.played.move)


# --- a review's costliest turns -------------------------------------------------------------------


def opening_sentences(
    reviewed: Sequence[tuple[Turn, Findings | None]], rules: Rules, leaves: LeaveTable
) -> Iterator[str]:
    """Yield the turns that cost most, the costliest first, and why, as far as is known.

    Phonies and turns that are not clearly worse than the best are not among them.
    """
    clear = [
        (turn, findings, played)
        for turn, findings in reviewed
        if findings and (played := _clearly_worse(findings))
    ]
    analysed = [(turn, findings) for turn, findings in reviewed if findings]
    unknown = [turn for turn, findings in analysed if _lacks_rollouts(findings)]
    if unknown and len(unknown) == len(analysed):
        most = max(findings.rollouts for _, findings in analysed)
        candidates = max(len(findings.estimates) for _, findings in analysed)
        yield (
            f"Nothing can be told of any turn: {counted(most, 'rollout')} a turn are too few for "
            f"{counted(candidates, 'candidate')}. {_MORE}"
        )
        return
    if not clear:
        yield "No turn is clearly worse than the best move that was found."
        return
    clear.sort(key=lambda found: -found[1].utility_lost(found[2].move))
    count = min(len(clear), _MOST_COSTLY)
    yield "The costliest turn:" if count == 1 else f"The {count} costliest turns:"
    for turn, findings, played in clear[:count]:
        known = list(_reasons(findings, played, rules, leaves))
        yield (
            f"line {turn.line}, {turn.nick}: {_named(played, findings, rules, done=True)}; best "
            f"was {_named(findings.best, findings, rules)}: {why(known, rules)}. "
            f"It cost {_cost(findings, played)}."
        )


@dataclass(frozen=True)
class Kept:
    """What a move keeps, and what that is worth in points."""

    leave: Rack
    worth: float


@dataclass(frozen=True)
class Reason:
    """What the best move has that the played one has not."""

    code: Literal["bingo", "score", "leave", "reply"]
    """It is a bingo, scores more now, keeps what is worth more, leaves the opponent less."""
    value: float
    """In points (1 for a bingo); below 0 it speaks against the best move."""
    kept: tuple[Kept, Kept] | None = None
    """By the best and the played move, for ``leave``."""


def reasons(findings: Findings, rules: Rules, leaves: LeaveTable) -> list[Reason] | None:
    """Return why the best move is better than the played one; None if it is not clearly so."""
    played = _clearly_worse(findings)
    return [*_reasons(findings, played, rules, leaves)] if played else None


def why(known: Sequence[Reason], rules: Rules) -> str:
    """Join what speaks for the best move and what speaks against it."""
    more = [_reason(each, rules) for each in known if each.value > 0]
    less = [_reason(each, rules) for each in known if each.value < 0]
    better = ", ".join(more) or "it gains more in later turns"
    return f"{better}, though {', '.join(less)}" if less else better


def _clearly_worse(findings: Findings) -> Estimate | None:
    """Return the played move, if it is no phony and clearly worse than the best."""
    played = findings.played
    if not played or not findings.is_known or findings.question.phony:
        return None
    return played if findings.is_clear(played.move) else None


def _named(row: Estimate, findings: Findings, rules: Rules, *, done: bool = False) -> str:
    """Name a move, as one that was made (``done``) or should be."""
    board, alphabet = findings.question.position.board, rules.distribution.alphabet
    match row.move:
        case Exchange(tiles):
            return f"{'exchanged' if done else 'to exchange'} {alphabet.text(tiles)}"
        case Pass():
            return "passed" if done else "to pass"
        case move:
            name = f"{format_full_move(move, board, alphabet)} for {row.score}"
            return f"played {name}" if done else name


def _reason(reason: Reason, rules: Rules) -> str:
    is_for, points = reason.value > 0, abs(reason.value)
    if reason.kept:
        kept, instead = (_kept_text(each, rules) for each in reason.kept)
        return f"it keeps {kept}, not {instead}"
    match reason.code:
        case "score":
            return f"{counted(round(points), 'point')} {'more' if is_for else 'less'} now"
        case "reply":
            less = "less" if is_for else "more"
            return f"the opponent's next turn scores {number(points)} points {less}"
    return "a missed bingo"


def _kept_text(kept: Kept, rules: Rules) -> str:
    if not kept.leave:
        return "nothing"
    text = rules.distribution.alphabet.text(kept.leave)
    return f"{text} (worth {number(kept.worth, sign=True)})"


def _reasons(
    findings: Findings, played: Estimate, rules: Rules, leaves: LeaveTable
) -> Iterator[Reason]:
    best, position = findings.best, findings.question.position
    missed = _is_bingo(best, position, rules) and not _is_bingo(played, position, rules)
    if missed:
        yield Reason("bingo", 1)
    if scored := best.score - played.score:
        yield Reason("score", scored)
    longest = max(len(best.leave), len(played.leave))  # a pass keeps a rack, which has no value
    if bag_count(position, rules) and longest < leaves.rack_size and not missed:
        kept, instead = (Kept(row.leave, leaves.value(row.leave)) for row in (best, played))
        worth = kept.worth - instead.worth
        if abs(worth) >= _LEAST_WORTH:
            yield Reason("leave", worth, (kept, instead))
    if findings.replies and not findings.exact:
        after, after_played = findings.replies
        spared = after_played.score - after.score
        error = math.hypot(
            *(ply.score_deviation / math.sqrt(ply.turns) for ply in findings.replies)
        )
        if abs(spared) > INTERVAL * error:
            yield Reason("reply", spared)


def _is_bingo(row: Estimate, position: Position, rules: Rules) -> bool:
    return isinstance(row.move, Place) and score_play(position.board, row.move, rules).bingo


# --- sentences ------------------------------------------------------------------------------------


def plus_minus(value: str, error: float, scale: float = 1.0) -> str:
    """Write a figure with its 95 % interval, without it if exact or unknown."""
    if not error or not math.isfinite(error):
        return value
    return f"{value} ± {number(scale * INTERVAL * error)}"


def _loss(losses: Sequence[Difference]) -> str:
    win, points = fmean(loss.win for loss in losses), fmean(loss.equity for loss in losses)
    win_error = math.hypot(*(loss.win_error for loss in losses)) / len(losses)
    error = math.hypot(*(loss.equity_error for loss in losses)) / len(losses)
    in_points = plus_minus(number(points, unit=" points"), error)
    return f"{plus_minus(share(win), win_error, 100)} and {in_points}"


def _cost(findings: Findings, played: Estimate) -> str:
    """Write what the played move cost, and whether that is not proven."""
    cost = _loss([findings.ahead_of(played.move)])
    return f"{cost} (not proven)" if findings.is_guess(played.move) else cost


def _compared_alone(findings: Findings) -> str:
    """Write both moves' shares of wins by the rollouts of these two alone, if there are any."""
    if findings.alone is None or findings.question.phony:
        return ""
    best, played = (number(100 * row.win, unit=" %") for row in findings.alone)
    rollouts = counted(findings.compared, "rollout")
    return f" By {rollouts} of these two alone: {best} against {played}."


def _advice(findings: Findings, write: Writer) -> str:
    best, others, rivals = findings.best, findings.legal[1:], findings.rivals
    if not others:
        return f"{write(best.move)} is the only candidate: {_worth(findings, best)}."
    if not rivals:
        is_compared = not findings.worths or others[0].move in findings.worths
        more = f", {_more(findings, others[0], write)}" if is_compared else ""
        return f"Play {write(best.move)}: {_worth(findings, best)}{more}."
    names = [write(row.move) for row in (best, *rivals)]
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED - 1 :] = [f"one of {len(names) - _MOST_NAMED + 1} others"]
    either = f"{', '.join(names[:-1])} or {names[-1]}"
    if findings.exact:
        return f"{either}; they come to the same thing."
    first = "the first two are " if len(rivals) > 1 else ""
    apart = _apart(findings.ahead_of(rivals[0].move))
    return f"{either}; {first}{apart} apart."


def _worth(findings: Findings, row: Estimate) -> str:
    if findings.exact and findings.to_the_end:
        scores, seat = findings.question.position.scores, findings.question.position.on_turn
        spread = round(scores[seat] - scores[1 - seat] + row.equity)
        side = "ahead" if spread > 0 else "behind"
        end = counted(abs(spread), "point") + f" {side}" if spread else "level"
        if findings.worths:
            guess = " (not proven)" if findings.is_guess(row.move) else ""
            return f"with the best play by both, the game ends {end}{guess}"
        return f"played on, the game ends {end}"
    return f"wins {plus_minus(share(row.win), row.win_error, 100)}"


def _more(findings: Findings, other: Estimate, write: Writer) -> str:
    ahead = findings.ahead_of(other.move)
    value, error, unit = ahead.equity, ahead.equity_error, " points"
    if not (findings.exact or _points_say_it(ahead)):
        value, error, unit = 100 * ahead.win, 100 * ahead.win_error, " %"
    more = f"{number(value, unit=unit)} more than {write(other.move)}"
    if not error:
        return more
    low, high = (number(value + side * INTERVAL * error) for side in (-1, 1))
    return f"{more} (95 %: {low} to {high})"


def _apart(ahead: Difference) -> str:
    if _points_say_it(ahead):
        return plus_minus(number(abs(ahead.equity), unit=" points"), ahead.equity_error)
    return plus_minus(share(abs(ahead.win)), ahead.win_error, 100)


def _points_say_it(ahead: Difference) -> bool:
    """Check whether to give points, since wins are equal."""
    return abs(ahead.win) < _NO_WIN


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
        value = ahead.equity if _points_say_it(ahead) else ahead.win
        stood = f"{_apart(ahead)} {'less' if value > 0 else 'more'}"
        return f"{name} was played: {question.phony}; had it stood, it would be worth {stood}."
    cost = _cost(findings, played)
    alone = _compared_alone(findings)
    if findings.is_clear(played.move):
        return f"{name} was played: it cost {cost}.{alone}"
    if findings.is_guess(played.move):
        return f"{name} was played, and nothing proves it worse: it cost {cost}."
    if findings.exact:
        return f"{name} was played, which comes to the same thing."
    # Chance may have put it ahead: the sign stays, so that the interval stays correct.
    return f"{name} was played, and nothing shows it to win less: it cost {cost}.{alone}"
