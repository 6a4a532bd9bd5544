"""``tilewire check``."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from harness import figures

from . import options
from .failing import CommandFailed, print_json, sentences, stop_status

if TYPE_CHECKING:
    from harness.lab.seat_check import Asked, SeatCheck


def check(
    seat: str,
    /,
    *,
    time: options.PositiveDuration = 2_000,
    games: Annotated[int, Meta(ge=0)] = 2,
    rules: options.RulesOption = None,
    tables: options.TableOptions = options.TableOptions(),
    json_: options.JsonOption = False,
) -> None:
    """Ask a bot for moves in 20 positions of all phases of a game, then have it play two games.

    What the bot prints is shown with the position or game in which it printed it.

    The exit status is 1 if a move is illegal or late, or an exception is raised.

    Args:
        seat: A bot's name, module:factory or file.py, with options: "bot.py:Bot?depth=2".
        time: The longest that a move may take.
        games: How many whole games it plays against greedy.
        json_: Print one JSON object.
    """
    from bot.registry import SeatError
    from harness.lab.seat_check import PLANNED, SeatCheck, check_seat
    from harness.lab.study_context import Field

    options.log_to_stderr(verbose=False)
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
