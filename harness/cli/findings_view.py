"""Findings as they are printed: tables of a position, a row for a turn of a game, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from engine.movegen.evaluation import POINT
from engine.notation.move_text import format_full_move
from engine.rules.rules import Rules
from harness.analysis.as_json import answer_json
from harness.analysis.findings import Findings, Settings
from harness.analysis.review import Turn, analyse_turn, review
from harness.analysis.verdict import CAVEAT, closing_sentences, is_found, plus_minus, verdict_text
from harness.figures import DASH, counted, number, plain, share

from .answer_text import heading
from .board_view import print_view

_PLIES_SHOWN = 4
_TURN = "{:>4} {:<9.9} {:<16} {:<16} {:>6} {:>5} {:>5} {:>5} {:>6}"
_TURN_HEAD = _TURN.format(
    "line", "player", "played", "best", "before", "after", "cost", "±", "points"
)
"""Stands above ``_turn_row``: win % with the best move, with the one played, and the loss."""


def show_position(
    turn: Turn, settings: Settings, stopped: Callable[[], bool], *, as_json: bool
) -> None:
    """Analyse a position: drawn as it goes on in a terminal, elsewhere at its end."""
    rules = settings.generators[0].rules
    above = heading(turn.position, rules)
    if turn.nick:
        above = f"before line {turn.line}: {turn.nick}, {above}"
    console = Console()
    drawn = console.is_terminal and not console.is_dumb_terminal and not as_json
    screen = Live(console=console, auto_refresh=False, transient=True) if drawn else nullcontext()
    with screen as live:

        def draw(findings: Findings) -> None:
            if live is not None:
                live.update(_view(findings, rules, above), refresh=True)

        findings = analyse_turn(settings, turn, stopped, draw)
    if as_json:
        _print_json(turn, findings, rules)
        return
    verdict = plain(verdict_text(findings, rules))
    print_view(Group(_view(findings, rules, above), "", Text(verdict)), console)


def review_game(
    turns: list[Turn], settings: Settings, stopped: Callable[[], bool], *, as_json: bool
) -> None:
    """Analyse every turn whose rack is known, a row each as it is done; then sum up."""
    rules = settings.generators[0].rules
    if not as_json:
        print(_TURN_HEAD)
    reviewed = []
    for done in review(settings, turns, stopped):
        reviewed.append(done)
        turn, findings = done
        if as_json:
            _print_json(turn, findings, rules)
        elif findings:
            print(_turn_row(turn, findings, rules), flush=True)
    if not as_json:
        closing = (Text(plain(sentence)) for sentence in closing_sentences(turns, reviewed))
        print_view(Group("", *closing))


def _print_json(turn: Turn, findings: Findings | None, rules: Rules) -> None:
    if findings is None:
        known = {"line": turn.line, "player": turn.nick, "left_out": turn.obstacle}
    else:
        known = answer_json(findings, rules, line=turn.line, nick=turn.nick)
    print(json.dumps(known, ensure_ascii=False), flush=True)


def _view(findings: Findings, rules: Rules, above: str) -> RenderableType:
    """Draw all that is known but the verdict, in 80 columns."""
    parts: list[RenderableType] = [Text(plain(above), "bold")]
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
    for rank, row in enumerate(findings.estimates, start=1):
        sampled = row.samples > 0
        mark = "*" if findings.is_phony(row.move) else ""
        name = format_full_move(row.move, board, alphabet) + mark
        win = plus_minus(number(100 * row.win), row.win_error, 100)
        equity = plus_minus(number(row.equity, sign=True), row.equity_error)
        table.add_row(
            str(rank),
            Text(name, "bold" if row.move == findings.best.move else ""),
            str(row.score),
            Text(alphabet.text(row.leave)),
            number(row.static / POINT),
            win if sampled and not findings.by_points else DASH,
            equity if sampled else DASH,
            f"{row.samples:,}",
        )
    return table


def _after(findings: Findings, rules: Rules) -> Table:
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


def _turn_row(turn: Turn, findings: Findings, rules: Rules) -> str:
    board, alphabet = turn.position.board, rules.distribution.alphabet
    best = "✓" if is_found(findings) else format_full_move(findings.best.move, board, alphabet)
    before = after = cost = error = points = DASH
    has_win = findings.is_known and not findings.by_points
    if has_win:
        before = number(100 * findings.best.win)
    if findings.is_known and findings.played is not None:
        loss = findings.ahead_of(findings.played.move)
        points = number(loss.equity)
        if has_win:
            # The loss may come from samples of its own: then the best's win less the loss is not
            # what JSON says of the candidate.
            left = min(max(findings.best.win - loss.win, 0.0), 1.0)
            after, cost = number(100 * left), number(100 * loss.win)
            error = plus_minus("", loss.win_error, 100).removeprefix(" ± ") or error
    played = ""
    if turn.played is not None:
        played = format_full_move(turn.played, board, alphabet)
    elif turn.step is not None:
        played = plain(f"-{turn.step.event.detail}")
    mark = "*" if findings.question.phony else ""
    return _TURN.format(
        turn.line, plain(turn.nick), played + mark, best, before, after, cost, error, points
    ).rstrip()
