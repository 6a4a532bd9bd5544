"""Answers as JSON objects, for the page and ``--json`` alike.

Moves are in canonical form, racks are text, errors are standard errors, unknown values are null.
"""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from typing import Any, TypeAlias

from bot.search.analysis.by_cases import MODEL
from bot.search.analysis.findings import Findings
from bot.search.analysis.inferred import Inferred, written_play
from bot.search.analysis.over_racks import OverRacks
from bot.search.analysis.questions import RankedMoves
from bot.search.analysis.solving import EndgameProof, PreEndgameComparison, best_play
from engine.movegen.evaluation import POINT
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.rules.moves import Exchange, Move, Pass, Place
from engine.rules.rules import Rules
from engine.simulation.rollout_results import Difference
from engine.simulation.simulation import Estimate
from lexicons.alphabet import Alphabet
from lexicons.leaves import LeaveTable

from .verdict import grade, is_near, reasons, verdict_text, why

Answer: TypeAlias = (
    RankedMoves | Findings | OverRacks | Inferred | EndgameProof | PreEndgameComparison
)


_RANKED = "move score equity leave"
_PROOF = "value proven outcome floor ceiling depth nodes seconds move pv scores spread"
_COMPARISON = "model bag cases mass compared proven settled seconds moves"
_OUTCOME = (
    "move score leave equity win error wins draws losses spread cases proven beaten nodes by_bag"
)
_DRAW = "bag weight wins draws losses proven"
_UNKNOWN = ("win", "wins", "draws", "losses", "spread")  # of a move without a case
_CANDIDATE = "move score leave static win win_error equity equity_error samples"


def answer_json(
    answer: Answer,
    rules: Rules,
    top: int = sys.maxsize,
    *,
    line: int = 0,
    nick: str = "",
    leaves: LeaveTable | None = None,
) -> dict[str, Any]:
    """Return an answer as a JSON object that lists at most ``top`` moves or leaves.

    About a game, ``line`` is the score sheet's and ``nick`` the player then on turn. Findings need
    ``leaves`` to say why the best move is better than the played one.
    """
    alphabet = rules.distribution.alphabet
    values: dict[str, Any]
    match answer:
        case RankedMoves():
            moves = [_fields(row, _RANKED, equity=row.equity / POINT) for row in answer.moves[:top]]
            values = {"count": answer.counts, "moves": moves}
        case Findings():
            values = _findings(answer, rules, leaves)
        case OverRacks():
            values = _over_racks(answer, rules)
        case Inferred():
            values = _inferred(answer, alphabet, top)
        case EndgameProof(view, solver):
            solution, best = solver.solution, best_play(solver, view.position, rules)
            values = _fields(
                solution,
                _PROOF,
                outcome=solution.outcome(view.spread),
                seconds=round(answer.seconds, 3),
                pv=best.moves,
                scores=best.scores,
                spread=view.spread + solution.value,
            )
        case PreEndgameComparison(view, work):
            values = _fields(
                work,
                _COMPARISON,
                model=answer.model,
                bag=view.bag,
                settled=work.is_settled,
                seconds=round(answer.seconds, 3),
                moves=[
                    _fields(
                        row,
                        _OUTCOME,
                        equity=row.static / POINT,
                        by_bag=[
                            _fields(draw, _DRAW, bag=alphabet.text(draw.bag))
                            for draw in work.draws(row.move)
                        ],
                    )
                    | ({} if row.cases else dict.fromkeys(_UNKNOWN))
                    for row in work.outcomes()[:top]
                ],
            )
    values = {name: _written(value, name, alphabet) for name, value in values.items()}
    return {"line": line, "player": nick, **values} if nick else values


def progress_json(findings: Findings, rules: Rules) -> dict[str, Any]:
    """Return interim findings: the candidates and the number of rollouts."""
    candidates = [_candidate(row, findings) for row in findings.estimates]
    alphabet = rules.distribution.alphabet
    return {"candidates": _written(candidates, "", alphabet), "rollouts": findings.rollouts}


def replies_json(findings: Findings) -> dict[str, Any] | None:
    """Return the opponent's next turn after the best and after the played move, if known."""
    if findings.replies is None:
        return None
    best, played = findings.replies
    return {"best": asdict(best), "played": asdict(played)}


def _fields(value: object, names: str, **given: Any) -> dict[str, Any]:
    """Return fields of a value by name, except the given ones."""
    return {name: given[name] if name in given else getattr(value, name) for name in names.split()}


def _written(value: Any, name: str, alphabet: Alphabet) -> Any:
    """Write moves and racks as text, at any depth; ``name`` is the key of the value."""
    match value:
        case Place() | Exchange() | Pass():
            return format_move(value, alphabet)
        case tuple() if name == "leave":
            return alphabet.text(value)
        case dict():
            return {key: _written(part, key, alphabet) for key, part in value.items()}
        case list() | tuple():
            return [_written(part, "", alphabet) for part in value]
    return value


def _findings(findings: Findings, rules: Rules, leaves: LeaveTable | None) -> dict[str, Any]:
    """Return findings; ``compared`` rollouts are those behind ``ahead_of_played`` alone."""
    question, others, rivals = findings.question, findings.legal[1:], findings.rivals
    played, phony = findings.played, question.phony
    move_reasons = reasons(findings, rules, leaves) if leaves else None
    proven = None
    if findings.worths or findings.cases:
        proven = findings.is_proven(findings.best.move, (played or findings.best).move)
    return {
        "cgp": write_cgp(question.position, rules),
        "candidates": [
            {"rank": rank, **_candidate(row, findings)}
            | {"behind": None if row is findings.best else _ahead_of(row.move, findings)}
            for rank, row in enumerate(findings.estimates, start=1)
        ],
        "after_best": [asdict(ply) for ply in findings.after],
        "verdict": {
            "text": verdict_text(findings, rules),
            "best": findings.best.move,
            "rivals": [rival.move for rival in rivals],
            "known": findings.is_known,
            "certain": findings.is_certain,
            "ahead_of_next": _ahead_of(others[0].move, findings) if others else None,
            "ahead_of_rival": _ahead_of(rivals[0].move, findings) if rivals else None,
            "ahead_of_played": _ahead_of(played.move, findings) if played else None,
            "grade": grade(findings),
            "why": None if move_reasons is None else why(move_reasons, rules),
            "reasons": move_reasons and [asdict(reason) for reason in move_reasons],
            "proven": proven,
            "phony": phony
            and {"code": "not_words" if phony.words else "taken_back", **asdict(phony)},
            "not_compared": question.obstacle or None,
        },
        "pre_endgame": _cases(findings, rules.distribution.alphabet),
        **_fields(
            findings,
            "plies exact seed rollouts compared nodes seconds",
            plies=None if findings.to_the_end else findings.plies,
            seconds=round(findings.seconds, 3),
        ),
    }


def _cases(findings: Findings, alphabet: Alphabet) -> dict[str, Any] | None:
    """Return the counts of all cases, and what the best and the played move get by bag."""
    cases = findings.cases
    if cases is None:
        return None
    best, played = (
        {alphabet.text(draw.bag): draw for draw in cases.by_bag[move]} if move else {}
        for move in (findings.best.move, findings.question.played)
    )
    return _fields(
        cases,
        "model cases moves compared proven settled by_bag",
        model=MODEL,
        settled=cases.is_settled,
        by_bag=[
            {"bag": bag, "weight": draw.weight}
            | {
                name: draws.get(bag) and _fields(draws[bag], "wins draws losses proven")
                for name, draws in (("best", best), ("played", played))
            }
            for bag, draw in best.items()
        ],
    )


def _over_racks(answer: OverRacks, rules: Rules) -> dict[str, Any]:
    text = rules.distribution.alphabet.text
    return {
        "cgp": write_cgp(answer.position, rules),
        "played": answer.played,
        "text": verdict_text(answer, rules),
        "cost": _lead(answer.played, answer.cost) if answer.is_known else None,
        "best_in": answer.best_in,
        "all_racks": answer.is_complete,
        "racks": [
            {
                "rack": text(findings.question.position.racks[answer.position.on_turn]),
                "weight": weight,
                "best": findings.best.move,
                "ahead_of_played": _ahead_of(answer.played, findings),
            }
            for findings, weight in zip(answer.each, answer.weights, strict=True)
        ],
    }


def _candidate(row: Estimate, findings: Findings) -> dict[str, Any]:
    values = _fields(
        row,
        _CANDIDATE,
        static=row.static / POINT,
        win_error=_finite(row.win_error, findings.exact),
        equity_error=_finite(row.equity_error, findings.exact),
    )
    if findings.worths or findings.cases:
        values["proven"] = findings.is_proven(row.move)
    if findings.is_phony(row.move):
        values["phony"] = True
    unknown = ("win", "win_error", "equity", "equity_error")
    return values if row.samples else values | dict.fromkeys(unknown)


def _ahead_of(move: Move, findings: Findings) -> dict[str, Any] | None:
    if not (findings.is_known and findings.is_valued(move)):
        return None
    return _lead(move, findings.ahead_of(move), findings.exact) | {
        "width": findings.doubt(move),
        "clear": findings.is_clear(move),
        "by_points": findings.is_by_points(move),
        "level": findings.is_level(move),
        "near": is_near(findings, move),
    }


def _lead(move: Move, ahead: Difference, exact: bool = False) -> dict[str, Any]:
    return {
        "move": move,
        "win": ahead.win,
        "win_error": _finite(ahead.win_error, exact),
        "points": ahead.equity,
        "points_error": _finite(ahead.equity_error, exact),
    }


def _finite(error: float, exact: bool) -> float | None:
    if exact:
        return 0.0
    return error if math.isfinite(error) else None


def _inferred(inferred: Inferred, alphabet: Alphabet, top: int) -> dict[str, Any]:
    posterior, model, truth = inferred.posterior, inferred.model, inferred.truth
    before, after = inferred.bingo
    leaves = posterior.top(top)
    tiles = zip(alphabet.letters, *(chances.tolist() for chances in inferred.tiles), strict=True)
    return {
        "leaves_considered": posterior.considered,
        "leaves_surviving": posterior.surviving,
        "top": [dict(zip(("leave", "prior", "posterior"), row, strict=True)) for row in leaves],
        "mass_top10": posterior.mass_of_top(10),
        "entropy_prior": posterior.entropy_prior,
        "entropy": posterior.entropy,
        "seconds": inferred.seconds,
        "model": model.name,
        "margin": model.margin,
        "temperatures": model.temperatures,
        "play": written_play(inferred.observed.move, alphabet),
        "score": inferred.observed.play.score,
        "unseen_mass": posterior.unseen,
        "effective": posterior.effective,
        "tiles": [dict(zip(("tile", "prior", "posterior"), row, strict=True)) for row in tiles],
        "bingo": {
            "prior": before.chance,
            "prior_error": before.error,
            "posterior": after.chance,
            "posterior_error": after.error,
        },
        "true": None if truth is None else truth._asdict(),
        "note": posterior.note,
    }
