"""``tilewire check``."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from typing import TYPE_CHECKING

from harness import figures

from .failing import CommandFailed, print_json, sentences
from .options import (
    JsonOption,
    PositiveDuration,
    RulesOption,
    TableOptions,
    check_local,
    compile_first,
    load_given,
    load_rule_set,
    load_words,
    log_to_stderr,
    run,
    say_once,
    write_duration,
)

if TYPE_CHECKING:
    from harness.lab.seat_check import SeatCheck


def check(
    seat: str,
    /,
    *,
    time: PositiveDuration = 2_000,
    rules: RulesOption = "english",
    tables: TableOptions = TableOptions(),
    json_: JsonOption = False,
) -> None:
    """Ask a bot for moves in 20 positions of all phases of a game, as a match would.

    What the bot prints goes to standard error.

    The exit status is 1 if a move is illegal or late, or an exception is raised.

    Args:
        seat: A bot's name, module:factory or file.py:factory, with options: "bot.py:Bot?depth=2".
        time: The longest that a move may take.
        json_: Print one JSON object.
    """
    from bot.registry import SeatError
    from harness.lab.seat_check import check_seat
    from harness.lab.study_context import Field

    log_to_stderr(verbose=False)
    check_local(seat)
    rule_set = load_rule_set(rules)
    equipment = tables.for_rules(rule_set).equipment(rules=rules)
    lexicon = load_words(equipment.lexicon, rule_set.distribution)
    field = Field.of(lexicon, rule_set, load_given(equipment, lexicon).leaves)
    with sentences(kinds=(SeatError,)):
        check = check_seat(
            seat, equipment, field, time, say_once(), sys.stderr.write, compile_first
        )
        found = run(check)
    _print(found, as_json=json_, time_ms=time)
    if found.problems:
        raise CommandFailed("", status=1)


def _print(found: SeatCheck, *, as_json: bool, time_ms: int) -> None:
    from harness.lab import rows

    if as_json:
        print_json(dataclasses.asdict(found))
        return
    print(rows.table(found.asked), end="\n\n")
    for problem, count in Counter(asked.problem for asked in found.problems).items():
        where = next(asked.phase for asked in found.problems if asked.problem == problem)
        others = f", and {figures.counted(count - 1, 'other position')}" if count > 1 else ""
        print(f"{where}{others}:\n{problem}\n")
    fine, asked_for = len(found.asked) - len(found.problems), len(found.asked)
    positions = figures.counted(asked_for, "position")
    print(f"{fine} legal moves in time, of {positions}; {write_duration(time_ms)} for each.")
    if found.left_out:
        left_out = figures.counted(found.left_out, "position")
        print(f"Its process ended too often; {left_out} were not asked.")
    if found.slowest is not None:
        slowest = figures.duration(found.slowest.took_ms)
        print(
            f"The slowest took {slowest} ({found.slowest.phase}); the start {found.start_s:.1f} s."
        )
    if found.memory_mb is not None:
        print(f"Memory: {found.memory_mb:,.0f} MB at most.")
