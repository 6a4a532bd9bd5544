"""``tilewire generate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from engine.notation import format_full_move, format_move
from engine.rules.moves import Move
from engine.rules.position import Position, Rack
from engine.rules.rules import Rules
from harness.figures import counted, number, table

from .failing import CommandFailed
from .options import (
    JsonOption,
    LeavesOption,
    LexiconOption,
    ThreadsOption,
    WinprobOption,
    check_counts,
    equip,
    load_given,
    load_words,
    say,
)
from .positions import game_and_line, load_rules, position_in_game, read_position

if TYPE_CHECKING:
    from engine.movegen.generator import Generator

__all__ = ["generate"]

USUAL_TOP = 15
POINT = 1_000


class _Line(NamedTuple):
    move: Move
    score: int
    equity: float  # points
    leave: Rack


class _Found(NamedTuple):
    counts: dict[str, int]  # of all moves, by kind
    lines: list[_Line]


def generate(
    what: str,
    /,
    *,
    lexicon: LexiconOption = "scowl",
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    threads: ThreadsOption = 1,
    seed: int = 0,
    top: int | None = None,
    all_: Annotated[bool, Parameter(name="--all", negative="")] = False,
    plain: Annotated[bool, Parameter(negative="")] = False,
    opening: bool = True,
    going_out: bool = True,
    late_bag: bool = True,
    distribution: str = "english",
    layout: str = "standard",
    json_: JsonOption = False,
) -> None:
    """List the moves of a position, the highest equity first.

    Equity is the score, the worth of the leave, and adjustments, each of which can be switched.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as tilewire show numbers them.
        lexicon: An embedded lexicon, or a word list or KWG file.
        leaves: trained, formula, or a leave table (KLV2). [default: the players' own]
        winprob: trained, or a table of win probabilities (CSV); moves do not depend on it.
        threads: Taken like everywhere; one is all that a list of moves needs.
        seed: Taken like everywhere; there is no chance in a list of moves.
        top: How many moves. [default: 15]
        all_: Every move.
        plain: Score and leave alone, no adjustment.
        opening: Count vowels that the first play puts beside premium squares.
        going_out: Count tiles that are left when the bag is empty.
        late_bag: Count how many tiles the bag is left with, when they are few.
        distribution: The tiles: an embedded distribution or a CSV file.
        layout: The board: an embedded layout or a text file.
        json_: Print one JSON object.
    """
    if top is not None and all_:
        raise CommandFailed("--top and --all together: it is so many moves or every one")
    check_counts(top=top)
    rules = load_rules(distribution, layout)
    named = game_and_line(what)
    position = read_position(what, rules) if named is None else position_in_game(*named, rules)
    words = load_words(lexicon, rules.distribution)
    from engine.movegen.evaluation import PLAIN, Evaluation
    from engine.movegen.generator import Generator
    from lexicons.jit import announce_compilation
    from lexicons.tables import leaves_for

    announce_compilation(say)
    evaluation = (
        PLAIN if plain else Evaluation(opening=opening, going_out=going_out, late_bag=late_bag)
    )
    given = load_given(equip(lexicon, leaves, winprob, threads), words)
    worths = given.leaves or leaves_for(rules.distribution)
    try:
        generator = Generator(words, rules, worths, evaluation)
        found = _find(generator, position, None if all_ else top or USUAL_TOP)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    print(_as_json(found, rules) if json_ else _as_text(found, position, rules))


def _find(generator: Generator, position: Position, limit: int | None) -> _Found:
    """Count every move; make values of the best only, for a rack with blanks has many more."""
    import numpy as np

    from engine.kernels.moves import EXCHANGE, PASS_MOVE
    from engine.movegen.move_codec import leaves_of, unpack

    found = generator.arrays(position)
    order = np.lexsort((found.packed, -found.equities))[:limit]
    lines = zip(
        unpack(found.packed[order], position.board),
        found.scores[order].tolist(),
        (found.equities[order] / POINT).tolist(),
        leaves_of(found.parts[order], tuple(sorted(position.racks[position.on_turn]))),
        strict=True,
    )
    placed = int(np.count_nonzero(found.packed < EXCHANGE))
    passes = int(np.count_nonzero(found.packed >= PASS_MOVE))
    counts = {"place": placed, "exchange": len(found.packed) - placed - passes, "pass": passes}
    return _Found(counts, [_Line(*line) for line in lines])


def _as_json(found: _Found, rules: Rules) -> str:
    alphabet = rules.distribution.alphabet
    moves = [
        {
            "move": format_move(line.move, alphabet),
            "score": line.score,
            "equity": line.equity,
            "leave": alphabet.text(line.leave),
        }
        for line in found.lines
    ]
    return json.dumps({"count": found.counts, "moves": moves}, ensure_ascii=False)


def _as_text(found: _Found, position: Position, rules: Rules) -> str:
    alphabet = rules.distribution.alphabet
    rows = [
        (
            format_full_move(line.move, position.board, alphabet),
            str(line.score),
            alphabet.text(line.leave),
            number(line.equity, 3),
        )
        for line in found.lines
    ]
    counts = found.counts
    kinds = counted(counts["place"], "placement"), counted(counts["exchange"], "exchange")
    shown = "" if len(rows) == sum(counts.values()) else f"; shown: the best {len(rows)}"
    head = table(("move", "score", "leave", "equity"), rows)
    return f"{head}\n{', '.join(kinds)} and the pass{shown}"
