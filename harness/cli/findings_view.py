"""Findings as they are printed: tables of a position, a row for a turn of a game, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.search.analysis.findings import INTERVAL, Findings, SearchTools
from bot.search.analysis.over_racks import OverRacks
from engine.movegen.evaluation import POINT
from engine.notation.move_text import format_full_move
from engine.rules.moves import PASS
from engine.rules.rules import Rules
from harness.analysis.as_json import answer_json
from harness.analysis.review import ReviewedTurn, analyse_turn, review
from harness.analysis.verdict import (
    CAVEAT,
    GRADED,
    OVER_RACKS,
    Reviewed,
    closing_sentences,
    grade,
    is_found,
    is_near,
    is_played_guess,
    lead,
    opening_sentences,
    plus_minus,
    verdict_text,
)
from harness.figures import DASH, counted, fitting, number, plain, share, shortened

from .answer_text import heading
from .board_view import WIDTH, print_view, terminal_width
from .failing import print_json
from .options import working
from .study_run import telling

_PLIES_SHOWN = 4
_LONGEST_NICK = 12
_SHEET = ("line", "player", "played", "best", "before", "after", "cost", "±", "points", "grade")
_CANDIDATES = ("", "move", "score", "leave", "static", "win %", "equity", "behind", "samples")
_DROPPED = ("samples", "static", "leave", "score")
_SOLVED = (*_CANDIDATES[:-2], "value")
_TEXTS = ("move", "leave", "player", "played", "best", "value", "grade")
_BY_ROLLOUTS = (
    "win %: of rollouts won; static: points, by score and leave; equity: points gained on the "
    "opponent by the end of the rollouts, the leaves then included; behind: the lead of the best, "
    "in % of rollouts won or in points where these tell more, ± 95 % for all moves together; ≈, ?: "
    "can't be told from the best, ≈: within 3 % of it"
)
_BY_CASES = (
    "win %: of what may be drawn, a draw counts half; equity: points gained to the end of the "
    "game; ± is of what is not proven; simulated: by rollouts, not looked at in all cases"
)
_BY_SOLVER = "equity: points gained to the end of the game with the best play by both sides"
_BEFORE_AFTER = "before, after: games won in % with the best move, with the one played"
_ALONE = "if these two were compared alone, by rollouts of their own, all is by those"
_COSTS = "cost: the difference, ± 95 %; points: the same in points gained on the opponent"
_SIGNS = f"✓: the best was played; {DASH}: not known"
_BELOW_0 = (
    "below 0: when compared alone, the played move did better than the one that the search chose, "
    "by chance or since the search was short"
)


def show_position(
    turn: ReviewedTurn, settings: SearchTools, stopped: Callable[[], bool], *, as_json: bool
) -> None:
    """Analyse a position; in a terminal draw it as the search goes on, elsewhere at the end."""
    rules = settings.rules
    above = heading(turn.position, rules)
    if turn.nick:
        above = f"before line {turn.line}: {turn.nick}, {above}"
    console, width = Console(), terminal_width() or WIDTH
    with _screen(console, as_json=as_json) as live:

        def draw(findings: Findings) -> None:
            if live is not None:
                live.update(_view(findings, rules, above, width), refresh=True)

        findings = analyse_turn(settings, turn, stopped, draw)
    if as_json:
        _print_json(turn, findings, settings)
        return
    verdict = plain(verdict_text(findings, rules))
    if isinstance(findings, OverRacks):
        print_view(Group(Text(plain(above), "bold"), "", Text(verdict)), console)
        return
    by = _BY_SOLVER if findings.worths else _BY_CASES if findings.cases else _BY_ROLLOUTS
    legend = Text(by, "dim")
    print_view(Group(_view(findings, rules, above, width), legend, "", Text(verdict)), console)


def review_game(
    turns: list[ReviewedTurn], settings: SearchTools, stopped: Callable[[], bool], *, as_json: bool
) -> None:
    """Analyse every turn of which the rack or the tiles played are known, and sum up.

    JSON has a line for each turn as it is done. In a terminal the last rows are drawn meanwhile.
    """
    rules, console = settings.rules, Console()
    reviewed: list[Reviewed] = []
    with _screen(console, as_json=as_json) as live:
        if live is not None:
            live.update(_sheet([], rules, console.width), refresh=True)
        tell = telling(len(turns), "turns")
        for turn, findings in review(settings, turns, stopped):
            reviewed.append((turn, findings))
            if live is None and len(reviewed) < len(turns):
                tell(len(reviewed))
            if as_json:
                _print_json(turn, findings, settings)
            elif live is not None:
                last = reviewed[-max(console.height - 2, 1) :]
                live.update(_sheet(last, rules, console.width), refresh=True)
    if not as_json:
        width = terminal_width() or WIDTH
        opening = opening_sentences(reviewed, rules, settings.leaves)
        closing = closing_sentences(turns, reviewed)
        first, *costly = (Text(plain(sentence)) for sentence in opening)
        parts: list[RenderableType] = [first, *(Padding(turn, (0, 0, 0, 2)) for turn in costly)]
        parts += ["", _sheet(reviewed, rules, width), *_legend(reviewed), ""]
        parts += [Text(plain(sentence)) for sentence in closing]
        print_view(Group(*parts), console)


def _print_json(
    turn: ReviewedTurn, findings: Findings | OverRacks | None, settings: SearchTools
) -> None:
    if findings is None:
        known = {"line": turn.line, "player": turn.nick, "left_out": turn.obstacle}
    else:
        known = answer_json(
            findings, settings.rules, line=turn.line, nick=turn.nick, leaves=settings.leaves
        )
    print_json(known | ({"notices": [*turn.notices]} if turn.line else {}), flush=True)


@contextmanager
def _screen(console: Console, *, as_json: bool) -> Iterator[Live | None]:
    """Yield a live display for a terminal; None for JSON or without a terminal."""
    if as_json or not console.is_interactive:
        with working("searching"):
            yield None
    else:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield live


def _view(findings: Findings, rules: Rules, above: str, width: int) -> RenderableType:
    """Draw all that is known but the verdict."""
    parts: list[RenderableType] = [Text(plain(above), "bold")]
    parts += [_candidates(findings, rules, width), ""]
    if findings.after:
        board = findings.question.position.board
        best = format_full_move(findings.best.move, board, rules.distribution.alphabet)
        rows = [
            (
                f"ply {at + 1}, {'own turn' if at % 2 else 'the opponent'}",
                number(ply.score),
                number(ply.score_deviation),
                share(ply.bingos),
                f"{ply.turns:,}",
            )
            for at, ply in enumerate(findings.after[:_PLIES_SHOWN])
        ]
        head = (f"after {best}", "mean score", "deviation", "bingos", "rollouts")
        parts += [_table(head, rows, width, ("deviation", "rollouts"), gap=2), ""]
    return Group(*parts, Text(_effort(findings), "dim"))


def _candidates(findings: Findings, rules: Rules, width: int) -> Table:
    alphabet, board = rules.distribution.alphabet, findings.question.position.board
    is_solved, rows = bool(findings.worths or findings.cases), []
    has_leads = bool(findings.behind) and findings.is_known
    rivals = [row.move for row in findings.rivals] if has_leads else []
    for rank, row in enumerate(findings.estimates, start=1):
        win = equity = last = DASH
        behind: list[str] = []
        if row.samples:
            win, equity = number(100 * row.win), number(row.equity, sign=True)
        if row.samples and is_solved:
            win = plus_minus(win, row.win_error, 100)
            equity = plus_minus(equity, row.equity_error)
        if not is_solved:
            last = f"{row.samples:,}"
            apart = lead(findings, row.move) if has_leads else DASH
            sign = "≈ " if has_leads and is_near(findings, row.move) else "? "
            behind = [sign * (row.move in rivals) + apart * (row is not findings.best)]
        elif findings.is_valued(row.move):
            is_worse = findings.cases is not None and findings.cases.outcomes[row.move].beaten
            last = "worse, proven" if is_worse else "not proven"
            last = "proven" if findings.is_proven(row.move) else last
        elif findings.cases:
            last = "simulated"
        text = format_full_move(row.move, board, alphabet) + "*" * findings.is_phony(row.move)
        leave = alphabet.text(row.leave)
        static = number(None if row.move == PASS else row.static / POINT)  # a pass only ranks last
        rows.append((str(rank), text, str(row.score), leave, static, win, equity, *behind, last))
    head = _SOLVED if is_solved else _CANDIDATES
    bold = [row.move for row in findings.estimates].index(findings.best.move)
    drop = ("static", "leave", "score", "value") if is_solved else _DROPPED
    return _table(head, rows, width, drop, bold)


def _table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    drop: Sequence[str],
    bold: int | None = None,
    gap: int = 1,
) -> Table:
    """Draw a table; where it is narrow, leave out columns of ``drop``, then fold moves."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0))
    shown = fitting(head, rows, width, drop, gap)
    for at in shown:
        is_text = head[at] in _TEXTS or head[at].startswith("after ")
        justify: Literal["left", "right"] = "left" if is_text else "right"
        folds = is_text and head[at] not in ("leave", "player")
        table.add_column(head[at], justify=justify, no_wrap=not folds, overflow="fold")
    for nth, row in enumerate(rows):
        table.add_row(*(Text(row[at]) for at in shown), style="bold" if nth == bold else "")
    return table


def _effort(findings: Findings) -> str:
    plies = counted(findings.plies, "ply", "plies")
    if findings.to_the_end:
        plies = "to the end of the game"
    done = counted(findings.rollouts, "rollout")
    rate = f"{findings.rollouts / findings.seconds:,.0f} a second, " if findings.seconds else ""
    said = f"{done}, {rate}{findings.seconds:.1f} s; {plies}; seed {findings.seed}; ± is 95 %"
    if findings.worths:
        said = f"{counted(findings.nodes, 'node')}, {findings.seconds:.1f} s; {plies}"
    if findings.cases:
        done += f", then {counted(findings.nodes, 'node')} of a solver"
        said = f"{done}; {findings.seconds:.1f} s; {plies}; seed {findings.seed}"
    if findings.compared:
        said += f"\n{findings.compared:,} of them compare the best and what was played alone"
    if findings.question.phony:
        said += f"\n* {findings.question.phony}; counted as if it stood"
    return f"{said}\n{CAVEAT}" if findings.exact and findings.rollouts else said


def _sheet(reviewed: Sequence[Reviewed], rules: Rules, width: int) -> Table:
    """Draw a row for each turn."""
    rows = [_turn_row(turn, findings, rules) for turn, findings in reviewed if findings]
    return _table(_SHEET, rows, width, ("before", "after", "player", "±"))


def _turn_row(turn: ReviewedTurn, findings: Findings | OverRacks, rules: Rules) -> tuple[str, ...]:
    board, alphabet = turn.position.board, rules.distribution.alphabet
    best = before = after = cost = error = points = graded = DASH
    loss, played, guess, mark, width = None, "", "", "", INTERVAL
    if isinstance(findings, OverRacks):
        if findings.is_known:
            best, loss = f"✓ {findings.best_in}/{len(findings.each)}", findings.cost
    else:
        graded, mark = grade(findings) or DASH, "*" * bool(findings.question.phony)
        made = findings.played
        if findings.question.is_forced or (findings.is_known and is_found(findings)):
            best = "✓"
        elif findings.is_known:
            best = format_full_move(findings.best.move, board, alphabet)
        if findings.is_known:
            before = number(100 * findings.best.win)
        if findings.is_known and made:
            loss, guess = findings.ahead_of(made.move), "?" * is_played_guess(findings)
            after, width = number(100 * made.win), findings.doubt(made.move)
    if loss:
        points, cost = number(loss.equity) + guess, number(100 * loss.win)
        error = plus_minus("", loss.win_error, 100, width).removeprefix(" ± ") or error
    if turn.played is not None:
        played = format_full_move(turn.played, board, alphabet)
    elif turn.step is not None:
        played = plain(f"-{turn.step.event.detail}")
    nick = shortened(plain(turn.nick), _LONGEST_NICK)
    return (str(turn.line), nick, played + mark, best, before, after, cost, error, points, graded)


def _legend(every: Sequence[Reviewed]) -> Iterator[Text]:
    """Yield what the columns of the sheet mean, and their units."""
    reviewed = [(turn, each) for turn, each in every if isinstance(each, Findings)]
    losses = [
        findings.ahead_of(findings.played.move)
        for _, findings in reviewed
        if findings.is_known and findings.played and not findings.question.phony
    ]
    below = any(min(round(loss.win, 3), round(loss.equity, 1)) < 0 for loss in losses)
    alone = any(findings.compared for _, findings in reviewed)
    partly = any(isinstance(each, OverRacks) for _, each in every)
    said = (
        *(_BEFORE_AFTER, _COSTS, *[_ALONE] * alone, f"grade: {GRADED}", _SIGNS),
        *[_BELOW_0] * below,
        *[OVER_RACKS] * partly,
    )
    for sentence in said:
        yield Text(sentence, "dim")
