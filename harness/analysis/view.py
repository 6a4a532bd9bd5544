"""How findings look: a table for people, a line for a turn of a game, an object for programs."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine.kernels.equity_terms import POINT
from engine.notation import format_full_move, format_move, write_cgp
from engine.rules.moves import Move
from engine.rules.position import Position, unseen
from engine.rules.rules import Rules
from engine.simulation.simulation import Estimate
from harness.figures import DASH, counted, number, plain, share

from .findings import Findings
from .verdict import CAVEAT, is_found, plus_minus, verdict

__all__ = ["TURN_HEAD", "findings_json", "findings_view", "heading", "turn_row", "verdict_text"]

_PLIES_SHOWN = 4
_TURN = "{:>4} {:<9.9} {:<16} {:<16} {:>6} {:>5} {:>5} {:>5} {:>6}"
TURN_HEAD = _TURN.format(
    "line", "player", "played", "best", "before", "after", "cost", "±", "points"
)
"""Stands above ``turn_row``; win % of the best move, those that are left, and what that cost."""


# --- for people ---------------------------------------------------------------------------------


def heading(position: Position, rules: Rules) -> str:
    """Say in a line who holds what, and how it stands."""
    alphabet, seat = rules.distribution.alphabet, position.on_turn
    own, other = (position.scores[one] for one in (seat, 1 - seat))
    known = alphabet.text(position.racks[1 - seat])
    bag = max(sum(unseen(position, seat, rules)) - rules.rack_size, 0)
    return (
        f"{alphabet.text(position.racks[seat])}, {number(own, 0)} : {number(other, 0)}, "
        f"{bag} in the bag" + (f", the opponent holds {known}" if known else "")
    )


def verdict_text(findings: Findings, rules: Rules) -> str:
    """Write the verdict, moves with the tiles that they play through in parentheses."""
    board, alphabet = findings.question.position.board, rules.distribution.alphabet
    return verdict(findings, lambda move: format_full_move(move, board, alphabet))


def findings_view(findings: Findings, rules: Rules, heading: str = "") -> RenderableType:
    """Draw all that is known, without the verdict, so that it fits 80 columns."""
    parts: list[RenderableType] = [Text(plain(heading), "bold")] if heading else []
    parts += [_candidates(findings, rules), ""]
    if findings.after:
        parts += [_after(findings, rules), ""]
    return Group(*parts, Text(_effort(findings), "dim"))


def _candidates(findings: Findings, rules: Rules) -> Table:
    alphabet, board = rules.distribution.alphabet, findings.question.position.board
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    table.add_column("", justify="right", style="dim")
    table.add_column("move", overflow="fold", max_width=20)
    for name in ("score", "leave", "static", "win %", "equity", "samples"):
        table.add_column(name, justify="left" if name == "leave" else "right", no_wrap=True)
    for rank, one in enumerate(findings.estimates, start=1):
        sampled = one.samples > 0
        name = format_full_move(one.move, board, alphabet) + (
            "*" if findings.is_phony(one.move) else ""
        )
        win = plus_minus(number(100 * one.win), one.win_error, 100)
        equity = plus_minus(number(one.equity, sign=True), one.equity_error)
        table.add_row(
            str(rank),
            Text(name, "bold" if one.move == findings.best.move else ""),
            str(one.score),
            Text(alphabet.text(one.leave)),
            number(one.static / POINT),
            win if sampled and not findings.by_points else DASH,
            equity if sampled else DASH,
            f"{one.samples:,}",
        )
    return table


def _after(findings: Findings, rules: Rules) -> Table:
    """Draw what the next turns are like."""
    board = findings.question.position.board
    best = format_full_move(findings.best.move, board, rules.distribution.alphabet)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(Text(f"after {best}"), overflow="fold", max_width=30)
    for name in ("mean score", "deviation", "bingos", "rollouts"):
        table.add_column(name, justify="right")
    for at, ply in enumerate(findings.after[:_PLIES_SHOWN]):
        table.add_row(
            f"ply {at + 1}, {'own turn' if at % 2 else 'the opponent'}",
            number(ply.score),
            number(ply.score_deviation),
            share(ply.bingos),
            f"{ply.turns:,}",
        )
    return table


def _effort(findings: Findings) -> str:
    """Say in a line or two what it is all drawn from."""
    plies = counted(findings.plies, "ply", "plies")
    if findings.to_the_end:
        plies = "to the end of the game"
    done = counted(findings.rollouts, "rollout")
    rate = f"{findings.rollouts / findings.seconds:,.0f} a second, " if findings.seconds else ""
    said = f"{done}, {rate}{findings.seconds:.1f} s; {plies}; seed {findings.seed}; ± is 95 %"
    if findings.compared:
        said += f"\n{findings.compared:,} of them compare the best and what was played alone"
    if findings.question.phony:
        said += f"\n* {findings.question.phony}; reckoned as if it stood"
    return f"{said}\n{CAVEAT}" if findings.exact and findings.rollouts else said


def turn_row(line: int, nick: str, played: str, findings: Findings, rules: Rules) -> str:
    """Write a turn of a game as a row."""
    board, alphabet = findings.question.position.board, rules.distribution.alphabet
    best = "✓" if is_found(findings) else format_full_move(findings.best.move, board, alphabet)
    before = after = cost = error = points = DASH
    # What is left after the played move is the best's less what it cost, which may have been found
    # by samples of its own: then it is not what JSON says of that candidate.
    told = findings.is_known and not findings.by_points
    if told:
        before = number(100 * findings.best.win)
    if findings.is_known and findings.played is not None:
        loss = findings.ahead_of(findings.played.move)
        points = number(loss.equity)
        if told:
            left = min(max(findings.best.win - loss.win, 0.0), 1.0)
            after, cost = number(100 * left), number(100 * loss.win)
            error = plus_minus("", loss.win_error, 100).removeprefix(" ± ") or error
    mark = "*" if findings.question.phony else ""
    return _TURN.format(
        line, plain(nick), played + mark, best, before, after, cost, error, points
    ).rstrip()


# --- for programs -------------------------------------------------------------------------------


def findings_json(findings: Findings, rules: Rules) -> dict[str, Any]:
    """Give all that is known as an object; errors are standard errors, what isn't known is null.

    Of the rollouts so many have *compared* the best with the move that was played, alone: what
    ``ahead_of_played`` says is drawn from these, and the figures of the candidates from the others.
    """
    return {
        "cgp": write_cgp(findings.question.position, rules),
        "candidates": [
            {"rank": rank, **_candidate(one, findings, rules)}
            for rank, one in enumerate(findings.estimates, start=1)
        ],
        "after_best": [
            {
                "turns": ply.turns,
                "score": ply.score,
                "score_deviation": ply.score_deviation,
                "bingos": ply.bingos,
            }
            for ply in findings.after
        ],
        "verdict": _verdict(findings, rules),
        "plies": None if findings.to_the_end else findings.plies,
        "exact": findings.exact,
        "seed": findings.seed,
        "rollouts": findings.rollouts,
        "compared": findings.compared,
        "seconds": round(findings.seconds, 3),
    }


def _verdict(findings: Findings, rules: Rules) -> dict[str, Any]:
    alphabet, question = rules.distribution.alphabet, findings.question
    others = findings.legal[1:] if findings.is_known else []
    played = findings.played if findings.is_known else None
    return {
        "text": verdict_text(findings, rules),
        "best": format_move(findings.best.move, alphabet),
        "rivals": [format_move(one.move, alphabet) for one in findings.rivals],
        "certain": findings.is_certain,
        "ahead_of_next": _behind(findings, others[0].move, rules) if others else None,
        "ahead_of_played": _behind(findings, played.move, rules) if played else None,
        "phony": question.phony or None,
        "not_compared": question.obstacle or None,
    }


def _candidate(one: Estimate, findings: Findings, rules: Rules) -> dict[str, Any]:
    alphabet, sampled = rules.distribution.alphabet, one.samples > 0
    wins = sampled and not findings.by_points
    return {
        "move": format_move(one.move, alphabet),
        "score": one.score,
        "leave": alphabet.text(one.leave),
        "static": one.static / POINT,
        "win": one.win if wins else None,
        "win_error": _finite(one.win_error, findings) if wins else None,
        "equity": one.equity if sampled else None,
        "equity_error": _finite(one.equity_error, findings) if sampled else None,
        "samples": one.samples,
    }


def _behind(findings: Findings, move: Move, rules: Rules) -> dict[str, Any]:
    ahead, by_points = findings.ahead_of(move), findings.by_points
    return {
        "move": format_move(move, rules.distribution.alphabet),
        "win": None if by_points else ahead.win,
        "win_error": None if by_points else _finite(ahead.win_error, findings),
        "points": ahead.equity,
        "points_error": _finite(ahead.equity_error, findings),
    }


def _finite(error: float, findings: Findings) -> float | None:
    if findings.exact:
        return 0.0
    return error if math.isfinite(error) else None
