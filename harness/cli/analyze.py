"""``tilewire analyze``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from engine.notation import EventKind, GcgGame, Replay, ReplayStep, format_full_move
from engine.rules.moves import Move
from engine.rules.position import Position
from engine.rules.rules import Rules, why_not
from harness.figures import plain

from .board_view import print_view
from .failing import CommandFailed
from .interrupt import Interrupt
from .options import (
    Duration,
    JsonOption,
    LeavesOption,
    LexiconOption,
    ThreadsOption,
    WinprobOption,
    check_counts,
    check_durations,
    equip,
    load_given,
    load_words,
    say,
)
from .positions import (
    check_turn,
    game_and_line,
    load_rules,
    position_after,
    read_position,
    replay_file,
)

if TYPE_CHECKING:
    from harness.analysis.findings import Findings, Settings

__all__ = ["analyze"]

USUAL_MS = 10_000
USUAL_MS_A_TURN = 1_000


def analyze(
    what: str,
    /,
    *,
    time: Duration | None = None,
    rollouts: int | None = None,
    plies: int | None = None,
    candidates: int = 15,
    lexicon: LexiconOption = "scowl",
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    threads: ThreadsOption = 1,
    seed: int = 0,
    distribution: str = "english",
    layout: str = "standard",
    json_: JsonOption = False,
) -> None:
    """Find the best move of a position by simulation, or review a game.

    Moves are played and followed by turns of static players, again and again, with other tiles
    each time. The last fifth compares the move that was played, if it isn't the best, with the
    best alone. Ctrl-C ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them; GAME.gcg, every turn.
        time: At most so long; it ends before if it is certain. [default: 10s; 1s for each turn of
            a game]
        rollouts: So many of all candidates together, instead of a time, for each turn of a game;
            what comes of it is then the same everywhere.
        plies: Turns after a candidate. [default: 2; to the end of the game when the bag is low]
        candidates: So many moves, the best by static equity.
        lexicon: An embedded lexicon, or a word list or KWG file.
        leaves: trained, formula, or a leave table (KLV2). [default: the players' own]
        winprob: trained, or a table of win probabilities (CSV). [default: the players' own]
        threads: How many search at once.
        seed: For what is drawn.
        distribution: The tiles: an embedded distribution or a CSV file.
        layout: The board: an embedded layout or a text file.
        json_: Print one JSON object, or one for each turn of a game.
    """
    _check(time, rollouts, plies, candidates)
    rules = load_rules(distribution, layout)
    cases, line = _cases(what, rules)
    review = line is None
    usual = USUAL_MS_A_TURN if review else USUAL_MS
    seconds = (usual if time is None else time) / 1_000
    settings = _settings(
        rules, (lexicon, leaves, winprob, threads), candidates, plies, seed, (seconds, rollouts)
    )
    try:
        with Interrupt() as interrupt:
            if review:
                _review(cases, settings, rules, json_, interrupt)
            else:
                _show(cases[0], settings, rules, json_, interrupt)
    except ValueError as error:
        raise CommandFailed(str(error)) from None


class _Case(NamedTuple):
    """A position that is asked about, as the player on turn sees it."""

    position: Position
    line: int = 0  # the one of the score sheet that comes next
    nick: str = ""
    step: ReplayStep | None = None
    taken_back: bool = False  # in the next line
    why_not: str = ""

    @property
    def played(self) -> Move | None:
        return self.step.move if self.step else None


def _check(time: int | None, rollouts: int | None, plies: int | None, candidates: int) -> None:
    if time is not None and rollouts is not None:
        raise CommandFailed("--time and --rollouts together: one of them ends it")
    check_durations(time=time)
    check_counts(rollouts=rollouts, plies=plies, candidates=candidates)


def _settings(
    rules: Rules,
    named: tuple[str, str | None, str | None, int],
    candidates: int,
    plies: int | None,
    seed: int,
    limit: tuple[float, int | None],
) -> Settings:
    """Load what was named, a generator for each thread."""
    from engine.movegen.generator import Generator
    from harness.analysis.findings import Limit, Settings
    from lexicons.jit import announce_compilation
    from lexicons.tables import leaves_for, win_probabilities_for

    words = load_words(named[0], rules.distribution)
    announce_compilation(say)
    equipment = equip(*named)
    given = load_given(equipment, words)
    worths = given.leaves or leaves_for(rules.distribution)
    try:
        generators = [Generator(words, rules, worths) for _ in range(equipment.threads)]
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    return Settings(
        generators,
        words,
        given.win_probabilities or win_probabilities_for(rules.distribution),
        candidates=candidates,
        plies=plies,
        seed=seed,
        limit=Limit(*limit),
    )


# --- what is asked about ------------------------------------------------------------------------


def _cases(what: str, rules: Rules) -> tuple[list[_Case], int | None]:
    """Read what was named: one position, or all turns of a game, which has no line then."""
    named = game_and_line(what)
    if named is None:
        position = read_position(what, rules)
        check_turn(position, rules)
        return [_Case(position)], 0
    path, line = named
    gcg, played = replay_file(path, rules)
    if line is None:
        return _turns(path, gcg, played, rules), None
    last = len(played.steps) + 1
    if not 1 <= line <= last:
        raise CommandFailed(
            f"{path} has lines 1 to {last - 1}; @{last} is the position after them, and there is "
            f"no {line}"
        )
    case = _case(gcg, played, line, rules)
    if case.why_not:
        raise CommandFailed(f"{path}, before line {line} of the score sheet: {case.why_not}")
    return [case], line


def _case(gcg: GcgGame, played: Replay, line: int, rules: Rules) -> _Case:
    from harness.analysis.questions import as_seen

    position = as_seen(position_after(played, line - 1))
    step = played.steps[line - 1] if line <= len(played.steps) else None
    nick = gcg.players[position.on_turn].nick
    if any(step.event.kind.is_end for step in played.steps[: line - 1]):
        return _Case(position, line, nick, why_not="the game is over")
    if step is not None and not step.event.kind.is_turn:
        return _Case(position, line, nick, why_not=f"a line '{step.event.kind.value}' is no turn")
    following = played.steps[line].event.kind if line < len(played.steps) else None
    taken_back = following is EventKind.WITHDRAWN
    return _Case(position, line, nick, step, taken_back, why_not(position, rules))


def _turns(path: Path, gcg: GcgGame, played: Replay, rules: Rules) -> list[_Case]:
    lines = (at for at, step in enumerate(played.steps, start=1) if step.event.kind.is_turn)
    cases = [_case(gcg, played, line, rules) for line in lines]
    if all(case.why_not for case in cases):
        found = "no turn's rack is given in full" if cases else "there are no turns"
        raise CommandFailed(f"{path}: {found}, so that there is nothing to review")
    return cases


# --- one position -------------------------------------------------------------------------------


def _show(
    case: _Case, settings: Settings, rules: Rules, as_json: bool, interrupt: Interrupt
) -> None:
    """Analyse a position: drawn as it goes on a terminal, elsewhere at its end."""
    from harness.analysis.view import findings_json, findings_view, heading, verdict_text

    above = heading(case.position, rules)
    if case.nick:
        above = f"before line {case.line}: {case.nick}, {above}"
    console = Console()
    drawn = console.is_terminal and not console.is_dumb_terminal and not as_json
    screen = Live(console=console, auto_refresh=False, transient=True) if drawn else nullcontext()
    with screen as live:

        def told(findings: Findings) -> None:
            if live is not None:
                live.update(findings_view(findings, rules, above), refresh=True)

        findings = _analysis(case, settings, interrupt, told)
    if as_json:
        print(json.dumps(_object(case, findings_json(findings, rules)), ensure_ascii=False))
        return
    said = verdict_text(findings, rules)
    print_view(Group(findings_view(findings, rules, above), "", Text(plain(said))), console)


def _analysis(
    case: _Case,
    settings: Settings,
    interrupt: Interrupt,
    told: Callable[[Findings], None] | None = None,
) -> Findings:
    from harness.analysis.findings import analyse

    findings = analyse(
        settings,
        case.position,
        case.played,
        taken_back=case.taken_back,
        told=told,
        stopped=interrupt,
    )
    if case.step is None or case.played is not None:
        return findings
    question = replace(findings.question, obstacle="which tiles it was is not recorded")
    return replace(findings, question=question)


def _object(case: _Case, known: dict[str, Any]) -> dict[str, Any]:
    """Put where it is from before what is known."""
    return {"line": case.line, "player": case.nick, **known} if case.nick else known


# --- a game -------------------------------------------------------------------------------------


def _review(
    cases: list[_Case], settings: Settings, rules: Rules, as_json: bool, interrupt: Interrupt
) -> None:
    """Analyse every turn whose rack is known, a row each as it is done; then sum up."""
    from harness.analysis.view import TURN_HEAD, findings_json, turn_row

    if not as_json:
        print(TURN_HEAD)
    turns: dict[str, list[Findings]] = {}
    done = 0
    for case, findings in _analysed(cases, settings, interrupt):
        done += 1
        if as_json:
            known = findings_json(findings, rules) if findings else {"left_out": case.why_not}
            print(json.dumps(_object(case, known), ensure_ascii=False), flush=True)
        elif findings:
            row = turn_row(case.line, case.nick, _played(case, rules), findings, rules)
            print(row, flush=True)
        if findings:
            turns.setdefault(case.nick, []).append(findings)
    if not as_json:
        print_view(Group("", *map(Text, _closing(cases, done, turns))))


def _analysed(
    cases: list[_Case], settings: Settings, interrupt: Interrupt
) -> Iterator[tuple[_Case, Findings | None]]:
    for case in cases:
        if interrupt():
            return
        findings = None
        if not case.why_not:
            findings = _analysis(case, settings, interrupt)
        yield case, findings


def _played(case: _Case, rules: Rules) -> str:
    """Write what was played, as far as it is recorded."""
    if case.played is None:
        return plain(f"-{case.step.event.detail}") if case.step else ""
    return format_full_move(case.played, case.position.board, rules.distribution.alphabet)


def _closing(cases: list[_Case], done: int, turns: dict[str, list[Findings]]) -> Iterator[str]:
    """Sum up for each player, and name what was left out; so many cases were looked at."""
    from harness.analysis.verdict import CAVEAT, summary

    if done < len(cases):
        yield f"stopped before line {cases[done].line}"
    for nick, findings in turns.items():
        yield plain(summary(nick, findings))
    every = [one for some in turns.values() for one in some]
    if any(one.question.phony for one in every):
        yield "* a phony, or taken back; reckoned as if it stood"
    if any(one.exact for one in every):
        yield f"With an empty bag: {CAVEAT.partition(': ')[2]}"
    left_out: dict[str, list[str]] = {}
    for case in cases[:done]:
        if case.why_not:
            left_out.setdefault(case.why_not, []).append(str(case.line))
    for reason, lines in left_out.items():
        yield f"left out: line{'s' * (len(lines) > 1)} {', '.join(lines)}: {plain(reason)}"
