"""``tilewire warm``."""

from __future__ import annotations

from bot.registry import known_bots
from bot.seat_text import parse_seat
from lexicons.kernel_cache import cache_problem

from . import options
from .failing import CommandFailed, sentences
from .preparing import prepare
from .serving import ANALYST


def warm(
    *seats: str,
    rules: options.RulesOption = "english",
    tables: options.TableOptions = options.TableOptions(),
) -> None:
    """Compile all that seats need, so that their first game begins at once.

    Every command does so for its own seats, before they are offered a game. This is for images,
    class rooms and servers. The kernels of this version are compiled for this processor, and word
    graphs are built.

    The exit status is 1 if nothing can be kept.

    Args:
        seats: Bots, as in ``match``. [default: all built-in bots, and the analysis of the page]
    """
    if problem := cache_problem():
        raise CommandFailed(problem, status=1)
    rule_set = options.load_rule_set(rules)
    equipment = tables.for_rules(rule_set).equipment(rules=rules)
    words = options.load_words(equipment.lexicon, rule_set.distribution)
    with sentences():
        specs = {seat: parse_seat(seat) for seat in seats or known_bots()}
    prepare(
        [("", name, spec) for name, spec in specs.items()],
        equipment,
        *(() if seats else (ANALYST,)),
    )
    from engine.movegen.generator import Generator

    with sentences():
        Generator(words, rule_set)  # lays the words out, and keeps them for all processes
    options.say("all is compiled")
