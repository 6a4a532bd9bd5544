"""Findings about a position or a game in plain sentences.

A ± is a 95 % interval: of a mean by itself, of a lead over a candidate for all candidates together
(``Findings.doubt``). So moves differ clearly where the interval that is shown excludes 0. The page
says the same (``harness/page/verdict.js``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias

from bot.search.analysis.by_cases import MODEL
from bot.search.analysis.findings import INTERVAL, Findings
from bot.search.analysis.over_racks import OverRacks
from bot.search.analysis.questions import as_seen
from engine.notation.move_text import format_full_move
from engine.preendgame.replies import Model
from engine.preendgame.solver import Draw
from engine.rules.moves import Exchange, Move, Pass, Place
from engine.rules.position import Position, Rack, bag_count
from engine.rules.rules import Rules, score_play
from engine.simulation.rollout_results import Difference
from engine.simulation.simulation import Estimate
from harness.figures import counted, number, share
from lexicons.leaves import LeaveTable

from .review import ReviewedTurn

Writer: TypeAlias = Callable[[Move], str]
Reviewed: TypeAlias = tuple[ReviewedTurn, Findings | OverRacks | None]
"""A turn and its findings; None if it was left out."""

CAVEAT = (
    "The bag is empty: each candidate was played on once, by static players, who do not look "
    "ahead. That compares candidates and proves nothing."
)
SOLVED = "With an empty bag points are those of the best play by both sides, found by a solver"
IN_ALL_CASES = (
    "With one or two tiles in the bag a solver looked at the moves with everything that may be "
    "drawn, against an opponent that sees everything"
)
MODELS: Mapping[Model, str] = {
    "perfect": "which knows the bag and your rack",
    "rational": "the best by what it can know",
    "static": "the best by static equity",
}
"""What is said of the opponent of a pre-endgame."""
_MORE = "Give more by --rollouts or --time, or fewer --candidates."
_MOST_NAMED = 4
_MOST_COSTLY = 3
GRADES = {"good": 0.01, "small": 0.03, "medium": 0.08, "large": math.inf}
"""Grades of turns that were not the best, each with the chance to win below which a loss has it."""
MISTAKES = ("small", "medium", "large")
GRADED = "by a cost that is clear: " + ", ".join(
    f"{name} below {100 * below:g} %" if below < 1 else name for name, below in GRADES.items()
)
OVER_RACKS = (
    "✓ 3/12: the rack is not recorded; over 12 racks that it may have been, by what the play "
    "tells, the best was played in 3"
)
_LEAST_WORTH = 1.0  # points by which leaves differ enough to be mentioned


def verdict(findings: Findings, write: Writer) -> str:
    """Return the move to play, its lead, and the cost of the played move."""
    if findings.question.is_forced:
        return "Pass: nothing else is legal."
    if not findings.is_known:
        few = counted(findings.rollouts, "rollout")
        nothing = f"can be told from {few}" if findings.rollouts else "is known yet"
        return f"Nothing {nothing}; by static equity {write(findings.best.move)} is best."
    said = (_advice(findings, write), _about_played(findings, write), _about_cases(findings, write))
    return " ".join(filter(None, said))


def by_tile(draws: Sequence[Draw], write: Callable[[Rack], str]) -> str:
    """Say with which tile in the bag a move wins, ties and loses."""

    def is_so(draw: Draw, sign: int, is_proven: bool) -> bool:
        shares = {1: draw.wins, 0: draw.draws, -1: draw.losses}
        return draw.proven == is_proven and max(shares, key=shares.__getitem__) == sign

    return "; ".join(
        f"{verb}{' perhaps' * (not certain)} with {', '.join(write(each.bag) for each in found)}"
        for verb, sign in (("wins", 1), ("ties", 0), ("loses", -1))
        for certain in (True, False)
        if (found := [each for each in draws if is_so(each, sign, certain)])
    )


def verdict_text(findings: Findings | OverRacks, rules: Rules) -> str:
    """Return the verdict, with played-through tiles of moves in parentheses."""
    if isinstance(findings, OverRacks):
        return _over_racks(findings, rules)
    board, alphabet = findings.question.position.board, rules.distribution.alphabet

    def named(move: Move) -> str:
        match move:
            case Pass():
                return "a pass"
            case Exchange(tiles):
                return f"an exchange of {alphabet.text(tiles)}"
        return format_full_move(move, board, alphabet)

    said = verdict(findings, named)
    if findings.cases and bag_count(as_seen(findings.question.position), rules) == 1:
        best = findings.best.move
        for move in dict.fromkeys((best, findings.question.played or best)):
            name = format_full_move(move, board, alphabet)
            told = by_tile(findings.cases.by_bag[move], alphabet.text)
            said += f" By the tile in the bag {name} {told}."
    return said


def _over_racks(findings: OverRacks, rules: Rules) -> str:
    alphabet, position = rules.distribution.alphabet, findings.position
    play = format_full_move(findings.played, position.board, alphabet)
    held = alphabet.text(position.racks[position.on_turn])
    if not findings.is_known:
        return f"The rack is not recorded, only {held}, and nothing is known yet of {play}. {_MORE}"
    count = len(findings.each)
    racks = f"all {count} racks that are possible" if findings.is_complete else f"{count} racks"
    return (
        f"The rack is not recorded, only {held} of it: over {racks} that it may have been, by what "
        f"the play tells, {play} cost {_loss([findings.cost])}; it was the best in "
        f"{findings.best_in or 'none'} of them."
    )


def is_found(findings: Findings) -> bool:
    """Check whether the best move was played."""
    return findings.question.played == findings.best.move


def grade(findings: Findings) -> str | None:
    """Return ``best`` or one of ``GRADES`` for the played move; None for a phony or if unknown.

    A move that is not clearly worse than the best is ``good`` at least. With an empty bag a cost
    that is not proven is a guess, perhaps of a whole game, and counts as unknown.
    """
    played, question = findings.played, findings.question
    if not played or not findings.is_known or question.phony or question.is_forced:
        return None
    if is_played_guess(findings):
        return None
    if is_found(findings):
        return "best"
    is_by_win = findings.exact or not findings.is_by_points(played.move)
    is_lost = is_by_win and findings.is_clear(played.move)
    lost = findings.ahead_of(played.move).win if is_lost else 0.0
    return next(name for name, below in GRADES.items() if lost < below)


def summary(nick: str, turns: Sequence[Findings]) -> str:
    """Return a player's result over turns of a game, without phonies and forced turns.

    A loss is measured against the best move of the search. If the same samples chose and valued
    that move, the loss is overestimated, hence *at most*.
    """
    known = [(turn, played.move) for turn in turns if (played := turn.played) and grade(turn)]
    phonies = sum(bool(turn.question.phony) for turn in turns)
    besides = f"; {counted(phonies, 'phony', 'phonies')} not counted" if phonies else ""
    if not known:
        return f"{nick}: no turn to judge{besides}."
    losses = [turn.ahead_of(played) for turn, played in known]
    flattered = any(
        not (turn.exact or turn.cases or turn.compared or is_found(turn)) for turn, _ in known
    )
    best = sum(is_found(turn) for turn, _ in known)
    level = sum(not is_found(turn) and not turn.is_clear(played) for turn, played in known)
    near = f"; {level} more can't be told from it" if level else ""
    grades = [grade(turn) for turn, _ in known]
    mistakes = [f"{count} {size}" for size in MISTAKES if (count := grades.count(size))]
    near += f"; mistakes: {', '.join(mistakes) or 'none'}"
    return (
        f"{nick}: mean loss {'at most ' * flattered}{_loss(losses)} over "
        f"{counted(len(known), 'turn')}; the best was played in {best}{near}{besides}."
    )


def closing_sentences(turns: Sequence[ReviewedTurn], reviewed: Sequence[Reviewed]) -> Iterator[str]:
    """Yield each player's summary, and the turns left out."""
    if len(reviewed) < len(turns):
        yield f"stopped before line {turns[len(reviewed)].line}"
    by_nick: dict[str, list[Findings]] = {}
    over_racks: dict[str, list[Difference]] = {}
    left_out: dict[str, list[str]] = {}
    for turn, findings in reviewed:
        if findings is None:
            left_out.setdefault(turn.obstacle, []).append(str(turn.line))
        elif isinstance(findings, OverRacks):
            if findings.is_known:
                over_racks.setdefault(turn.nick, []).append(findings.cost)
        else:
            by_nick.setdefault(turn.nick, []).append(findings)
    for nick, analysed in by_nick.items():
        yield summary(nick, analysed)
    for nick, costs in over_racks.items():
        turns_of = counted(len(costs), "turn whose rack is", "turns whose racks are")
        yield f"{nick}: mean loss {_loss(costs)} over {turns_of} not recorded."
    pairs = [(turn, each) for turn, each in reviewed if isinstance(each, Findings)]
    if any(findings.question.phony for _, findings in pairs):
        yield "* a phony, or taken back: shown as if it stood; in no mean nor costliest turn"
    if solved := [(turn, findings) for turn, findings in pairs if findings.worths]:
        guesses = [str(turn.line) for turn, findings in solved if is_played_guess(findings)]
        yield f"{SOLVED}; {f'not proven (?): {_lines(guesses)}' if guesses else 'proven'}."
    if by_cases := [(turn, each) for turn, each in pairs if each.cases]:
        open_ = [str(turn.line) for turn, each in by_cases if not _is_all_proven(each)]
        rest = f"not proven in full: {_lines(open_)}" if open_ else "proven"
        yield f"{IN_ALL_CASES} ({_lines([str(turn.line) for turn, _ in by_cases])}); {rest}."
    if any(findings.exact and not findings.worths for _, findings in pairs):
        yield f"With an empty bag: {CAVEAT.partition(': ')[2]}"
    unknown = [str(turn.line) for turn, each in reviewed if each and _lacks_rollouts(each)]
    if unknown and len(unknown) < sum(each is not None for _, each in reviewed):
        yield f"Nothing can be told of {_lines(unknown)}: their rollouts are too few. {_MORE}"
    for reason, lines in left_out.items():
        yield f"left out: {_lines(lines)}: {reason}"


def _lines(lines: Sequence[str]) -> str:
    return f"line{'s' * (len(lines) > 1)} {', '.join(lines)}"


def _lacks_rollouts(findings: Findings | OverRacks) -> bool:
    """Check whether nothing is known of a turn that has a choice, for lack of rollouts."""
    if isinstance(findings, OverRacks):
        return not findings.is_known
    return not findings.is_known and not findings.question.is_forced


def is_played_guess(findings: Findings) -> bool:
    """Check whether the cost of the played move is the guess of a solver, not proven."""
    return findings.played is not None and findings.is_guess(findings.played.move)


# --- a review's costliest turns -------------------------------------------------------------------


def opening_sentences(
    reviewed: Sequence[Reviewed], rules: Rules, leaves: LeaveTable
) -> Iterator[str]:
    """Yield the turns that cost most, the costliest first, and why, as far as is known.

    Phonies and turns that are not clearly worse than the best are not among them.
    """
    clear = [
        (turn, findings, played)
        for turn, findings in reviewed
        if isinstance(findings, Findings) and (played := _clearly_worse(findings))
    ]
    analysed = [(turn, each) for turn, each in reviewed if isinstance(each, Findings)]
    unknown = [turn for turn, findings in analysed if _lacks_rollouts(findings)]
    if unknown and len(unknown) == len(analysed):
        most = max(findings.rollouts for _, findings in analysed)
        candidates = max(len(findings.estimates) for _, findings in analysed)
        yield (
            f"Nothing can be told of any turn: {counted(most, 'rollout')} a turn are too few for "
            f"{counted(candidates, 'candidate')}. {_MORE}"
        )
        return
    unrecorded = [
        (turn, each)
        for turn, each in reviewed
        if isinstance(each, OverRacks)
        if each.is_known and each.cost.win > INTERVAL * each.cost.win_error
    ]
    if not clear and not unrecorded:
        yield "No turn is clearly worse than the best move that was found."
        return
    clear.sort(key=lambda found: -found[1].utility_lost(found[2].move))
    count = min(len(clear), _MOST_COSTLY)
    if clear:
        yield "The costliest turn:" if count == 1 else f"The {count} costliest turns:"
    for turn, findings, played in clear[:count]:
        known = list(_reasons(findings, played, rules, leaves))
        yield (
            f"line {turn.line}, {turn.nick}: {_named(played, findings, rules, done=True)}; best "
            f"was {_named(findings.best, findings, rules)}: {why(known, rules)}. "
            f"It cost {_cost(findings, played)}."
        )
    unrecorded.sort(key=lambda each: -each[1].cost.win)
    for turn, over in unrecorded[:_MOST_COSTLY]:
        yield f"line {turn.line}, {turn.nick}: {_over_racks(over, rules)}"


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
        text = rules.distribution.alphabet.text
        kept, instead = (
            f"{text(each.leave)} (worth {number(each.worth, sign=True)})"
            if each.leave
            else "nothing"
            for each in reason.kept
        )
        return f"it keeps {kept}, not {instead}"
    match reason.code:
        case "score":
            return f"{counted(round(points), 'point')} {'more' if is_for else 'less'} now"
        case "reply":
            less = "less" if is_for else "more"
            return f"the opponent's next turn scores {number(points)} points {less}"
    return "a missed bingo"


def _reasons(
    findings: Findings, played: Estimate, rules: Rules, leaves: LeaveTable
) -> Iterator[Reason]:
    best, position = findings.best, findings.question.position
    missed = is_bingo(best, position, rules) and not is_bingo(played, position, rules)
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


def is_bingo(row: Estimate, position: Position, rules: Rules) -> bool:
    """Check whether a candidate is a bingo."""
    return isinstance(row.move, Place) and score_play(position.board, row.move, rules).bingo


# --- sentences ------------------------------------------------------------------------------------


def plus_minus(value: str, error: float, scale: float = 1.0, width: float = INTERVAL) -> str:
    """Write a figure with its interval, ``width`` errors to each side, or without if exact."""
    if not error or not math.isfinite(error):
        return value
    return f"{value} ± {number(scale * width * error)}"


def _loss(losses: Sequence[Difference]) -> str:
    win, points = fmean(loss.win for loss in losses), fmean(loss.equity for loss in losses)
    win_error = math.hypot(*(loss.win_error for loss in losses)) / len(losses)
    error = math.hypot(*(loss.equity_error for loss in losses)) / len(losses)
    in_points = plus_minus(number(points, unit=" points"), error)
    return f"{plus_minus(share(win), win_error, 100)} and {in_points}"


def lead(findings: Findings, move: Move, *, in_points: bool | None = None) -> str:
    """Write the lead of the best over a candidate with its interval, in what tells them apart."""
    ahead, width = findings.ahead_of(move), findings.doubt(move)
    if findings.is_by_points(move) if in_points is None else in_points:
        return plus_minus(number(ahead.equity, unit=" points"), ahead.equity_error, width=width)
    return plus_minus(share(ahead.win), ahead.win_error, 100, width)


def is_near(findings: Findings, move: Move) -> bool:
    """Check whether a candidate is known to win about as often as the best: less than 3 % apart."""
    ahead = findings.ahead_of(move)
    return abs(ahead.win) + findings.doubt(move) * ahead.win_error < GRADES["small"]


def _cost(findings: Findings, played: Estimate) -> str:
    """Write what the played move cost, in points alone if it cost no chance to win."""
    move = played.move
    cost = lead(findings, move, in_points=True)
    if not findings.is_level(move):
        cost = f"{lead(findings, move, in_points=False)} and {cost}"
    return f"{cost} (not proven)" if findings.is_guess(move) else cost


def _advice(findings: Findings, write: Writer) -> str:
    best, others, rivals = findings.best, findings.legal[1:], findings.rivals
    name = write(best.move)
    if not others:
        return f"The only candidate is {name}: {_worth(findings, best)}."
    names = [write(row.move) for row in rivals]
    are_same = findings.exact or not any(any(findings.ahead_of(row.move)) for row in rivals)
    if rivals and are_same:
        return f"The best is {_joined([name, *names], 'or')}; they come to the same thing."
    said = f"The best is {name}: {_worth(findings, best)}"
    if rivals:
        return f"{said}; {_joined(names, 'and')} can't be told from it."
    if findings.is_valued(others[0].move):
        said += f", {lead(findings, others[0].move)} more than {write(others[0].move)}"
    return f"{said}."


def _joined(names: list[str], word: str) -> str:
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED - 1 :] = [f"{len(names) - _MOST_NAMED + 1} others"]
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


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
    return f"it wins {share(row.win)}"


def _is_all_proven(findings: Findings) -> bool:
    """Check whether the shares of wins of the best and the played move are proven."""
    moves = [findings.best.move, *([findings.played.move] if findings.played else [])]
    return findings.is_proven(*moves)


def _about_cases(findings: Findings, write: Writer) -> str:
    """Say how many moves were looked at in all cases, and what is proven."""
    cases = findings.cases
    if cases is None:
        return ""
    best = "" if findings.is_proven(findings.best.move) else " What it wins is not proven in full."
    more = "" if cases.is_settled else f" Another may be better than {write(findings.best.move)}."
    return (
        f"{cases.compared:,} of {counted(cases.moves, 'move')} compared with everything that may "
        f"be drawn, {cases.proven:,} proven, against a {MODEL} opponent, "
        f"{MODELS[MODEL]}.{more or best}"
    )


def _about_played(findings: Findings, write: Writer) -> str:
    question, played = findings.question, findings.played
    if question.obstacle:
        return f"What was played can't be compared: {question.obstacle}."
    if played is None:
        return ""
    if is_found(findings):
        return "It was played."
    name, ahead = write(played.move), findings.ahead_of(played.move)
    name = name[0].upper() + name[1:]
    if question.phony:
        less, apart = "less", lead(findings, played.move)
        if apart.startswith("−"):
            less, apart = "more", apart[1:]
        stood = f"had it stood, it would be worth {apart} {less}"
        return f"{name} was played: {question.phony}; {stood}."
    cost = _cost(findings, played)
    if findings.is_clear(played.move):
        return f"{name} was played: it cost {cost}."
    if findings.is_guess(played.move):
        return f"{name} was played, and nothing proves it worse: it cost {cost}."
    if findings.exact or not any(ahead):
        return f"{name} was played, which comes to the same thing."
    # Chance may have put it ahead: the sign stays, so that the interval stays correct.
    return f"{name} was played, and nothing shows it to win less: it cost {cost}."
