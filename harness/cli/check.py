"""``tilewire check``: a bot of one's own, and whoever speaks the protocol."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from harness import figures

from . import options
from .asking import read_token
from .failing import CommandFailed, print_json, sentences, stop_status

if TYPE_CHECKING:
    from harness.lab.conformance.clauses import Report
    from harness.lab.seat_check import Asked, SeatCheck


def check(
    seat: str | None = None,
    /,
    *,
    connects: str | None = None,
    time: options.PositiveDuration | None = None,
    games: Annotated[int, Meta(ge=0)] = 2,
    rules: options.RulesOption = None,
    tables: options.TableOptions = options.TableOptions(),
    opponent: str | None = None,
    name: str = "conformance",
    token_file: Path | None = None,
    ca: Path | None = None,
    json_: options.JsonOption = False,
) -> None:
    """Ask a bot for moves in 20 positions of all phases of a game, then have it play two games.

    What the bot prints is shown with the position or game in which it printed it. A server, and
    a bot in any language that connects to one, are tried by the clauses of protocol/SPEC.md.

    The exit status is 1 if a move is illegal or late, an exception is raised, or a clause fails.

    Args:
        seat: A bot's name, module:factory or file.py, with options: "bot.py:Bot?depth=2"; or a
            server, ws://host:port or wss://host:port.
        connects: A command that starts a bot which connects to {url}, in place of SEAT.
        time: The longest that a move may take. [default: 2s; with --connects 1m]
        games: How many whole games it plays against greedy.
        opponent: Whom to play against on the server. [default: one of its bots]
        name: As whom to play on the server.
        token_file: A file with the token of that name. [default: $TILEWIRE_TOKEN, if set]
        ca: Certificates (PEM) to trust for wss, instead of the system's.
        json_: Print one JSON object.
    """
    options.log_to_stderr(verbose=False)
    if (seat is None) == (connects is None):
        raise CommandFailed("name one: a bot, a server (ws://…), or --connects COMMAND")
    is_server = seat is not None and seat.startswith(("ws://", "wss://"))
    if is_server and (time, rules, tables) != (None, None, options.TableOptions()):
        raise CommandFailed("--time, --rules, --lexicon, --leaves and --winprob are for a bot")
    if games != 2 and (is_server or connects):
        raise CommandFailed("--games is for a bot in Python")
    if is_server and seat:
        _show(_try_server(seat, name, opponent, token_file, ca), as_json=json_)
        return
    if (opponent, name, token_file, ca) != (None, "conformance", None, None):
        raise CommandFailed("--opponent, --name, --token-file and --ca are for a server (ws://…)")
    if seat is None:
        _show(_try_bot(connects or "", time or 60_000, rules, tables), as_json=json_)
        return
    time = time or 2_000
    from bot.registry import SeatError
    from harness.lab.seat_check import PLANNED, SeatCheck, check_seat
    from harness.lab.study_context import Field

    options.check_local(seat)
    equipment = tables.for_game(rules)
    rule_set = options.load_rule_set(equipment.rules)
    lexicon = options.load_words(equipment.lexicon, rule_set.distribution)
    field = Field.of(lexicon, rule_set, options.load_given(equipment, lexicon).leaves)
    asked: list[Asked] = []
    on = options.working(lambda: f"asked {seat} for {len(asked)} positions and games")
    check_it = check_seat(
        *(seat, equipment, field, time, games, options.say_once(), options.compile_first, asked)
    )
    stopped, found = None, SeatCheck(seat, asked, 0, None, None)  # as far as it came
    try:
        with sentences(kinds=(SeatError,)), on:
            found = options.run(check_it)
    except KeyboardInterrupt as stop:
        stopped = stop
    if json_:
        print_json(dataclasses.asdict(found))
    elif asked:
        _print(found, time)
    if stopped is not None:
        planned = f"{sum(PLANNED.values()) + games} positions and games"
        raise CommandFailed(f"stopped after {len(asked)} of {planned}", stop_status(stopped))
    if found.problems:
        raise CommandFailed("", status=1)


def _print(found: SeatCheck, time_ms: int) -> None:
    from harness.lab.rows import table

    print(table(found.asked), end="\n\n")
    printed = list[tuple[str, ...]]()
    for each in found.asked:
        if lines := each.printed.splitlines():
            lines[:-6] = ["…"] * (len(lines) > 6)
            printed += zip_longest([each.phase], [each.move], lines, fillvalue="")
    if printed:
        print(figures.table(("position", "move", "printed"), printed), end="\n\n")
    for problem, count in Counter(asked.problem for asked in found.problems).items():
        first = next(asked for asked in found.problems if asked.problem == problem)
        view = f'\n  View.from_cgp("{first.position}", seed={first.seed})  # turn {first.turn}'
        view *= bool(first.position) and first.position not in problem
        others = f", and {figures.counted(count - 1, 'other')}" if count > 1 else ""
        print(f"{first.phase}{others}:\n{problem}{view}\n")
    fine, asked_for = len(found.asked) - len(found.problems), len(found.asked)
    print(
        f"Without a fault: {fine} of {asked_for} positions and games; "
        f"{options.write_duration(time_ms)} for each move."
    )
    if found.left_out:
        more = figures.counted(found.left_out, "more position")
        print(f"Its process ended too often to ask {more} of the same phases.")
    if found.slowest is not None and found.start_s is not None:
        slowest, phase = figures.duration(found.slowest.took_ms), found.slowest.phase
        print(f"The slowest took {slowest} ({phase}); the start {found.start_s:.1f} s.")
    if found.memory_mb is not None:
        print(f"Memory: {found.memory_mb:,.0f} MB at most.")


def _try_server(
    url: str, name: str, opponent: str | None, token_file: Path | None, ca: Path | None
) -> Report:
    """Try a server, as a player of a name."""
    from bot.seat.worker_main import TOKEN
    from harness.lab.conformance.clauses import Report
    from harness.lab.conformance.server_check import ServerCheck
    from protocol.channel import ChannelClosed

    tls, report = options.client_tls(url, ca), Report("server")
    token = os.environ.get(TOKEN) if token_file is None else read_token(token_file)
    options.warn_of_readers(url, token)
    checking = ServerCheck(url, report, name=name, opponent=opponent, token=token, tls=tls)
    with sentences(kinds=(ChannelClosed,), status=1), options.working(report.progress):
        options.run(checking.run())
    return report


def _try_bot(command: str, time_ms: int, rules: str | None, tables: options.TableOptions) -> Report:
    """Try a bot that a command starts."""
    from harness.lab.conformance.bot_check import BotCheck
    from harness.lab.conformance.clauses import Report

    if "{url}" not in command:
        raise CommandFailed(
            f"--connects {command!r} has no {{url}}, where the address of the server goes"
        )
    equipment = tables.for_game(rules)
    rule_set = options.load_rule_set(equipment.rules)
    lexicon = options.load_words(equipment.lexicon, rule_set.distribution)
    report = Report("bot")
    where = f"--connects {command!r}: "
    with sentences(where, kinds=(OSError, ValueError)), options.working(report.progress):
        options.run(BotCheck(command, time_ms, report).run(lexicon, rule_set))
    return report


def _show(report: Report, *, as_json: bool) -> None:
    """Print a line for each clause; fail if one has failed."""
    from harness.lab.conformance.clauses import NOT_REACHED

    results = report.results()
    if as_json:
        print_json(
            [
                {"section": clause.section, "demand": clause.demand, **result._asdict()}
                for clause, result in results.items()
            ]
        )
    else:
        for clause, result in results.items():
            why = f". {result.why[0].upper()}{result.why[1:]}" if result.why else ""
            if result is not NOT_REACHED:
                print(f"§{clause.section} {result.verdict}: {clause.demand}{why}")
        left = [f"§{clause.section}" for clause, it in results.items() if it is NOT_REACHED]
        if left:
            print(f"not tried, since an earlier step failed: {', '.join(dict.fromkeys(left))}")
        count = Counter(result.verdict for result in results.values())
        print(f"\n{count['pass']} pass, {count['FAIL']} fail, {count['skipped']} skipped.")
    if any(result.verdict == "FAIL" for result in results.values()):
        raise CommandFailed("", status=1)
