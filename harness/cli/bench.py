"""``tilewire bench``."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

from ..figures import table
from .failing import CommandFailed
from .options import (
    JsonOption,
    LeavesOption,
    LexiconOption,
    ThreadsOption,
    WinprobOption,
    check_win_probabilities,
    load_leaves,
    load_words,
    log_to_stderr,
    say,
)

if TYPE_CHECKING:
    from ..bench.selfplay import Bench, Field

__all__ = ["app"]

_SYNTHETIC = "synthetic"
_SYNTHETIC_SEED = 1

app = App(name="bench", help="Measure what this machine does; nothing is asserted.")


@app.command
def faults(*, json_: JsonOption = False) -> None:
    """Misbehave on real sockets; print each outcome and how soon it came.

    Args:
        json_: Print one JSON object.
    """
    from ..bench.faults import call_faults

    log_to_stderr(verbose=False)
    calls = asyncio.run(call_faults())
    if json_:
        print(json.dumps([dataclasses.asdict(call) for call in calls]))
        return
    rows = [
        (
            call.case,
            call.outcome + ("" if call.outcome == call.expected else f" (not {call.expected})"),
            "–" if call.late_ms is None else f"{call.late_ms} ms",
            call.what,
        )
        for call in calls
    ]
    print(table(("case", "outcome", "called after", "counted from"), rows))


@app.command
def server(
    *,
    connections: int = 200,
    rate: float = 1_000.0,
    seconds: float = 15.0,
    searching: int = 2,
    json_: JsonOption = False,
) -> None:
    """Load a server with small messages while seats search; print the round trips.

    Args:
        connections: How many at once.
        rate: Messages a second, all connections together.
        seconds: How long.
        searching: Seats that search meanwhile.
        json_: Print one JSON object.
    """
    from ..bench.load import measure_load

    log_to_stderr(verbose=False)
    load = asyncio.run(measure_load(connections, rate, seconds, searching))
    if json_:
        print(json.dumps(dataclasses.asdict(load)))
        return
    rows = [(name, str(value)) for name, value in dataclasses.asdict(load).items()]
    print(table(("figure", "value"), rows))


@app.command
def selfplay(
    *,
    lexicon: LexiconOption = "scowl",
    words: int | None = None,
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    games: int = 2_000,
    threads: ThreadsOption = 1,
    seed: int = 0,
    json_: JsonOption = False,
) -> None:
    """Play games between two static players; print how many a second.

    Args:
        lexicon: An embedded lexicon, or a word list or KWG file.
        words: Play with so many of its words, chosen by the seed. [default: all]
        leaves: A leave table (KLV2), or ``synthetic``: made up. [default: the usual one]
        winprob: A table of win probabilities (CSV); static players do not look at it.
        games: How many.
        threads: Games at once.
        seed: For the bags; the same games in any number of threads.
        json_: Print one JSON object.
    """
    from ..bench.selfplay import measure_selfplay

    field = _field(lexicon, words, leaves, seed)
    check_win_probabilities(winprob)
    try:
        bench = measure_selfplay(field, games, threads, seed)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    _print(bench, as_json=json_)


@app.command
def generate(
    *,
    lexicon: LexiconOption = "scowl",
    words: int | None = None,
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    games: int = 200,
    threads: ThreadsOption = 1,
    seed: int = 0,
    json_: JsonOption = False,
) -> None:
    """List all placements in each position of static games; print how long one takes.

    Args:
        lexicon: An embedded lexicon, or a word list or KWG file.
        words: Play with so many of its words, chosen by the seed. [default: all]
        leaves: A leave table (KLV2), or ``synthetic``: made up. [default: the usual one]
        winprob: A table of win probabilities (CSV); static players do not look at it.
        games: Whose positions.
        threads: Side by side, each with games of its own.
        seed: For the bags.
        json_: Print one JSON object.
    """
    from ..bench.selfplay import measure_generation

    field = _field(lexicon, words, leaves, seed)
    check_win_probabilities(winprob)
    try:
        bench = measure_generation(field, games, threads, seed)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    _print(bench, as_json=json_)


@app.command
def sim(
    *,
    lexicon: LexiconOption = "scowl",
    words: int | None = None,
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    rollouts: int = 20_000,
    threads: ThreadsOption = 1,
    seed: int = 0,
    json_: JsonOption = False,
) -> None:
    """Roll the static choice of some positions out; print how many rollouts a second.

    Args:
        lexicon: An embedded lexicon, or a word list or KWG file.
        words: Play with so many of its words, chosen by the seed. [default: all]
        leaves: A leave table (KLV2), or ``synthetic``: made up. [default: the usual one]
        winprob: A table of win probabilities (CSV); static players do not look at it.
        rollouts: How many in each stage of the game, for two turns and for four.
        threads: Side by side.
        seed: For games and draws.
        json_: Print one JSON object.
    """
    from ..bench.sim import measure_sim

    field = _field(lexicon, words, leaves, seed)
    check_win_probabilities(winprob)
    try:
        bench = measure_sim(field, rollouts, threads, seed)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    _print(bench, as_json=json_)


@app.command
def adjustments(
    *,
    lexicon: LexiconOption = "scowl",
    words: int | None = None,
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    games: int = 20_000,
    threads: ThreadsOption = 1,
    seed: int = 0,
    json_: JsonOption = False,
) -> None:
    """Play with and without each adjustment of the static evaluation; print what it is worth.

    Args:
        lexicon: An embedded lexicon, or a word list or KWG file.
        words: Play with so many of its words, chosen by the seed. [default: all]
        leaves: A leave table (KLV2), or ``synthetic``: made up. [default: the usual one]
        winprob: A table of win probabilities (CSV); static players do not look at it.
        games: How many for each, in pairs with the same draws.
        threads: Games at once.
        seed: For the bags.
        json_: Print one JSON object.
    """
    from ..bench.adjustments import measure_adjustments

    field = _field(lexicon, words, leaves, seed)
    check_win_probabilities(winprob)
    try:
        found = measure_adjustments(field, games, threads, seed)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    if json_:
        print(json.dumps([dataclasses.asdict(one) for one in found]))
        return
    rows = [
        (one.name, f"{one.spread:+.2f} ± {one.error:.2f}", f"{one.wins:.2%}", f"{one.games:,}")
        for one in found
    ]
    print(table(("with it", "points a game", "wins", "games"), rows))


def _field(name: str, words: int | None, leaves: Path | None, seed: int) -> Field:
    """Load what is played with, or fail with a sentence."""
    lexicon = load_words(name)
    from engine.rules import standard_rules
    from lexicons.jit import tell_of_compiling

    from ..bench.selfplay import Field, sample_words

    tell_of_compiling(say)
    if words is not None:
        try:
            lexicon = sample_words(lexicon, words, seed)
        except ValueError as error:
            raise CommandFailed(f"--words: {error}") from None
    rules = standard_rules()
    if str(leaves) == _SYNTHETIC:
        from lexicons.leaves import synthetic_leaves

        table = synthetic_leaves(rules.distribution, _SYNTHETIC_SEED)
        return Field(lexicon, rules, table, f"{_SYNTHETIC}, seed {_SYNTHETIC_SEED}")
    return Field.of(lexicon, rules, load_leaves(leaves, rules.distribution), str(leaves))


def _print(bench: Bench, *, as_json: bool) -> None:
    figures = dataclasses.asdict(bench)
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
        return
    rows = [row for name, value in figures.items() for row in _rows(name, value)]
    print(table(("figure", "value"), rows))


def _rows(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(_words(f"{name}: {part}"), _text(one)) for part, one in value.items()]
    return [(_words(name), _text(value))]


def _words(name: str) -> str:
    return name.replace("_", " ").replace(" per s", " a second")


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
