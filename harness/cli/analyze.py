"""``tilewire analyze``."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from engine.rules.rules import Rules
from harness.figures import plain

from . import options
from .board_view import print_view
from .failing import CommandFailed, sentences
from .positions import Judge, game_and_line, interruptible, read_position, replay_file

if TYPE_CHECKING:
    from harness.analysis.findings import Findings, Settings
    from harness.analysis.review import Turn

__all__ = ["analyze"]


def analyze(
    what: str,
    /,
    *,
    time: options.PositiveDuration | None = None,
    rollouts: options.Count | None = None,
    plies: options.Count | None = None,
    candidates: options.Count = 15,
    tables: options.TableOptions = options.TableOptions(),
    threads: options.ThreadsOption = 1,
    seed: options.SeedOption = 0,
    board: options.BoardOptions = options.BoardOptions(),
    json_: options.JsonOption = False,
) -> None:
    """Find the best move of a position by simulation, or review a game.

    Moves are played and followed by turns of static players, again and again, with other tiles
    each time. The last fifth compares the move that was played, if it isn't the best, with the
    best alone. Ctrl-C ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them; GAME.gcg, every turn.
        time: How long at most; it ends before if it is certain. [default: 10s; 1s for each turn
            of a game]
        rollouts: How many of all candidates together, instead of a time, for each turn of a game;
            then the result is the same everywhere.
        plies: Turns after a candidate. [default: 2; to the end of the game when the bag is low]
        candidates: How many moves, the best by static equity.
        json_: Print one JSON object, or one for each turn of a game.
    """
    if time is not None and rollouts is not None:
        raise CommandFailed("--time and --rollouts together: one of them ends it")
    rules = board.rules()
    turns, is_review = _turns(what, rules)
    judge = Judge.load(tables, rules)
    from harness.analysis.findings import Settings

    usual_ms = 1_000 if is_review else 10_000
    settings = Settings(
        [judge.generator() for _ in range(threads)],
        judge.words,
        judge.win_probabilities,
        candidates=candidates,
        plies=plies,
        seed=seed,
        seconds=(usual_ms if time is None else time) / 1_000,
        rollouts=rollouts,
    )
    stop = threading.Event()
    with sentences(), interruptible(stop.set):
        if is_review:
            _review(turns, settings, rules, json_, stop.is_set)
        else:
            _show(turns[0], settings, rules, json_, stop.is_set)


def _turns(what: str, rules: Rules) -> tuple[list[Turn], bool]:
    """Read a position, or all turns of a game, and whether it is the game."""
    from harness.analysis.review import Turn, turn_before, turns_of

    named = game_and_line(what)
    if named is None:
        return [Turn(read_position(what, rules, has_choice=True))], False
    path, line = named
    gcg, played = replay_file(path, rules)
    if line is None:
        with sentences(f"{path}: "):
            return turns_of(gcg, played, rules), True
    last = len(played.steps) + 1
    if not 1 <= line <= last:
        raise CommandFailed(
            f"{path} has lines 1 to {last - 1}; @{last} is the position after them, and there is "
            f"no {line}"
        )
    turn = turn_before(gcg, played, line, rules)
    if turn.obstacle:
        raise CommandFailed(f"{path}, before line {line} of the score sheet: {turn.obstacle}")
    return [turn], False


def _show(
    turn: Turn, settings: Settings, rules: Rules, as_json: bool, stopped: Callable[[], bool]
) -> None:
    """Analyse a position: drawn as it goes on in a terminal, elsewhere at its end."""
    from harness.analysis.review import analyse_turn
    from harness.analysis.verdict import verdict_text

    from .answer_text import heading
    from .findings_view import findings_view

    above = heading(turn.position, rules)
    if turn.nick:
        above = f"before line {turn.line}: {turn.nick}, {above}"
    console = Console()
    drawn = console.is_terminal and not console.is_dumb_terminal and not as_json
    screen = Live(console=console, auto_refresh=False, transient=True) if drawn else nullcontext()
    with screen as live:

        def draw(findings: Findings) -> None:
            if live is not None:
                live.update(findings_view(findings, rules, above), refresh=True)

        findings = analyse_turn(settings, turn, stopped, draw)
    if as_json:
        _print_json(turn, findings, rules)
        return
    verdict = plain(verdict_text(findings, rules))
    print_view(Group(findings_view(findings, rules, above), "", Text(verdict)), console)


def _review(
    turns: list[Turn], settings: Settings, rules: Rules, as_json: bool, stopped: Callable[[], bool]
) -> None:
    """Analyse every turn whose rack is known, a row each as it is done; then sum up."""
    from harness.analysis.review import review
    from harness.analysis.verdict import closing_sentences

    from .findings_view import TURN_HEAD, turn_row

    if not as_json:
        print(TURN_HEAD)
    reviewed = []
    for done in review(settings, turns, stopped):
        reviewed.append(done)
        if as_json:
            _print_json(done.turn, done.findings, rules)
        elif done.findings:
            print(turn_row(done.turn, done.findings, rules), flush=True)
    if not as_json:
        closing = (Text(plain(sentence)) for sentence in closing_sentences(turns, reviewed))
        print_view(Group("", *closing))


def _print_json(turn: Turn, findings: Findings | None, rules: Rules) -> None:
    from harness.analysis.as_json import answer_json

    if findings is None:
        known = {"line": turn.line, "player": turn.nick, "left_out": turn.obstacle}
    else:
        known = answer_json(findings, rules, line=turn.line, nick=turn.nick)
    print(json.dumps(known, ensure_ascii=False), flush=True)
