"""``tilewire bench``."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cyclopts import App, Parameter

from ..figures import table
from .failing import CommandFailed
from .options import (
    JsonOption,
    LeavesOption,
    LexiconOption,
    ThreadsOption,
    WinprobOption,
    load_given,
    load_words,
    log_to_stderr,
    say,
)

if TYPE_CHECKING:
    from ..bench.selfplay import Bench, Field

__all__ = ["app"]

_T = TypeVar("_T")
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


@Parameter(name="*")
@dataclass(frozen=True)
class _Playing:
    """What is played with, and how it is shown."""

    lexicon: LexiconOption = "scowl"
    """An embedded lexicon, or a word list or KWG file."""
    words: int | None = None
    """Play with so many of its words, chosen by the seed. [default: all]"""
    leaves: LeavesOption = None
    """trained, formula, a leave table (KLV2), or synthetic: made up. [default: the players' own]"""
    winprob: WinprobOption = None
    """trained, or a table of win probabilities (CSV); static players do not look at it."""
    threads: ThreadsOption = 1
    """How many work side by side; games are the same in any number of them."""
    seed: int = 0
    """For the bags, and all else that chance does."""
    json_: JsonOption = False
    """Print one JSON object."""

    def field(self) -> Field:
        """Load it, or fail with a sentence."""
        lexicon = load_words(self.lexicon)
        from bot.equipment import Equipment
        from engine.rules import standard_rules
        from lexicons.jit import tell_of_compiling
        from lexicons.tables import FORMULA, leaves_name

        from ..bench.selfplay import Field, sample_words

        tell_of_compiling(say)
        if self.words is not None:
            try:
                lexicon = sample_words(lexicon, self.words, self.seed)
            except ValueError as error:
                raise CommandFailed(f"--words: {error}") from None
        rules = standard_rules()
        made_up = self.leaves == _SYNTHETIC  # for no words, like the formula
        named = FORMULA if made_up else self.leaves
        given = load_given(Equipment(leaves=named, win_probabilities=self.winprob), lexicon)
        if made_up:
            from lexicons.leaves import synthetic_leaves

            table = synthetic_leaves(rules.distribution, _SYNTHETIC_SEED)
            return Field(lexicon, rules, table, f"{_SYNTHETIC}, seed {_SYNTHETIC_SEED}")
        name = leaves_name(named, rules.distribution)
        return Field.of(lexicon, rules, given.leaves, name)

    def measure(self, measure: Callable[[Field, int, int, int], _T], number: int) -> _T:
        """Measure so many of something, or fail with a sentence."""
        field = self.field()
        try:
            return measure(field, number, self.threads, self.seed)
        except ValueError as error:
            raise CommandFailed(str(error)) from None


@app.command
def selfplay(*, games: int = 2_000, playing: _Playing | None = None) -> None:
    """Play games between two static players; print how many a second.

    Args:
        games: How many.
        playing: With what.
    """
    from ..bench.selfplay import measure_selfplay

    playing = playing or _Playing()
    _print(playing.measure(measure_selfplay, games), as_json=playing.json_)


@app.command
def generate(*, games: int = 200, playing: _Playing | None = None) -> None:
    """List all placements in each position of static games; print how long one takes.

    Args:
        games: Whose positions; each thread has some of its own.
        playing: With what.
    """
    from ..bench.selfplay import measure_generation

    playing = playing or _Playing()
    _print(playing.measure(measure_generation, games), as_json=playing.json_)


@app.command
def sim(*, rollouts: int = 20_000, playing: _Playing | None = None) -> None:
    """Roll the static choice of some positions out; print how many rollouts a second.

    Args:
        rollouts: How many in each stage of the game, for two turns and for four.
        playing: With what.
    """
    from ..bench.sim import measure_sim

    playing = playing or _Playing()
    _print(playing.measure(measure_sim, rollouts), as_json=playing.json_)


@app.command
def adjustments(*, games: int = 20_000, playing: _Playing | None = None) -> None:
    """Play with and without each adjustment of the static evaluation; print what it is worth.

    Args:
        games: How many for each, in pairs with the same draws.
        playing: With what.
    """
    from ..bench.adjustments import measure_adjustments

    playing = playing or _Playing()
    found = playing.measure(measure_adjustments, games)
    if playing.json_:
        print(json.dumps([dataclasses.asdict(one) for one in found]))
        return
    rows = [
        (one.name, f"{one.spread:+.2f} ± {one.error:.2f}", f"{one.wins:.2%}", f"{one.games:,}")
        for one in found
    ]
    print(table(("with it", "points a game", "wins", "games"), rows))


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
